"""A verb that needs no function of its own shows its operation's answer as it is."""

from __future__ import annotations

from rag_ls.cli.render import format_values


def test_each_value_and_each_record_of_a_list_is_a_line() -> None:
    answer = {"total": 2, "languages": [{"language": "python", "documents": 3}, {"language": "go", "documents": 1}]}
    assert list(format_values(answer)) == ["total: 2", "languages:", "  python  3", "  go  1"]
    assert list(format_values({"names": ["a", "b"]})) == ["names:", "  a", "  b"]
    nested = {"healthy": False, "bytes": {"project": {"before": 1234, "after": 7}}, "issues": [], "note": ""}
    assert list(format_values(nested)) == [
        "healthy: False", "bytes:", "  project:", "    before: 1,234", "    after: 7",
    ]  # fmt: skip
