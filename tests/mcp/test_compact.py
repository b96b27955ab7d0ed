"""Agents get what they need of an answer, and hear what to try where it is empty or partial."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_ls.mcp.compact import asks_for_all
from rag_ls.operations.code import lookup
from rag_ls.operations.code.hits import CodeAnswer, CodeRecord
from rag_ls.operations.code.lookup import SymbolRecord, SymbolsAnswer
from rag_ls.operations.memories.listing import MemoryPage
from rag_ls.operations.memories.memory_records import AnchorRecord, MemoryRecord, MetadataRecord
from rag_ls.operations.memories.recalling import MemoryAnswer
from rag_ls.operations.rules.constraints import ConstraintsAnswer, ExampleRecord, RuleRecord
from rag_ls.operations.stats import Stats
from tests.agents import compact

_HIT = CodeRecord(
    kind="chunk", id="a1", path="src/cart.py", start_line=1, end_line=3, language="python", symbol="total",
    node_type="function_definition", score=0.73951, matched_by=("dense",), freshness="disk",
    file="/work/shop/src/cart.py", text="def total(): ...",
)  # fmt: skip
_STATS = Stats(took_ms=1.0, dense=True, candidates=3, complete=True)
_MEMORY = MemoryRecord(
    kind="memory", id="m1", content="Net of tax", scope="project", memory_type="semantic", version=3,
    metadata=MetadataRecord(source_file="src/cart.py", importance_score=0.5), created_at="2026-01-01T00:00:00Z",
    updated_at="2026-01-02T00:00:00Z", anchor=AnchorRecord("src/cart.py", "fresh"), score=0.9,
)  # fmt: skip


def _hits(*hits: CodeRecord, stats: Stats = _STATS) -> CodeAnswer:
    return CodeAnswer("q", hits, stats)


def _remembered(*memories: MemoryRecord, stats: Stats = _STATS) -> MemoryAnswer:
    return MemoryAnswer("q", memories, stats, "Net of tax")


def test_a_hit_is_its_place_its_symbol_and_its_text() -> None:
    assert compact("search_code", _hits(_HIT)) == {
        "results": [
            {"id": "a1", "path": "src/cart.py", "start_line": 1, "end_line": 3, "symbol": "total", "score": 0.74,
             "text": "def total(): ..."}
        ],
        "stats": {},
    }  # fmt: skip


def test_what_is_not_as_usual_is_told() -> None:
    stats = replace(_STATS, complete=False, dense=False, pending_documents=2)
    answer = compact("search_code", _hits(replace(_HIT, freshness="buffer", truncated=True), stats=stats))
    assert (answer["results"][0]["freshness"], answer["results"][0]["truncated"]) == ("buffer", True)
    assert answer["stats"]["complete"] is False
    assert answer["stats"]["pending_documents"] == 2
    assert "index_status" in answer["stats"]["note"]


def test_hits_of_other_projects_have_their_whole_paths() -> None:
    other = replace(_HIT, path="main.go", file="/work/api/main.go")
    assert [hit["path"] for hit in compact("search_code", _hits(_HIT, other))["results"]] == [
        "/work/shop/src/cart.py",
        "/work/api/main.go",
    ]
    (named,) = compact("search_code", _hits(_HIT), names_project=True)["results"]
    assert named["path"] == "/work/shop/src/cart.py"


def test_a_memory_is_what_it_says_where_and_since_when() -> None:
    answer = compact("search_memory", _remembered(_MEMORY))
    assert answer["results"] == [
        {"id": "m1", "content": "Net of tax", "scope": "project", "updated_at": "2026-01-02", "score": 0.9,
         "anchor": {"path": "src/cart.py", "state": "fresh"}}
    ]  # fmt: skip
    assert "context" not in answer
    metadata = MetadataRecord(tags=("tax",), importance_score=0.9)
    tagged = replace(_MEMORY, metadata=metadata, memory_type="procedural")
    (memory,) = compact("list_memories", MemoryPage((tagged,), total=1, limit=50, offset=0))["memories"]
    assert (memory["metadata"], memory["memory_type"]) == ({"tags": ["tax"], "importance_score": 0.9}, "procedural")


def test_a_declaration_is_one_line() -> None:
    symbol = SymbolRecord(
        path="a.py", symbol="Cart.total", kind="function", start_line=2, end_line=9,
        signature="def total(self, rate) -> float", exported=True,
    )  # fmt: skip
    listed = (
        symbol,
        replace(symbol, symbol="RATE", kind="value", signature="RATE = 1"),
        replace(symbol, path="a.md", symbol="Set-up > Install it.", kind="section", signature="## Install it."),
    )
    assert compact("list_symbols", SymbolsAnswer(listed, 3))["symbols"] == [
        "a.py:2-9 function Cart.total(rate) -> float",
        "a.py:2-9 value RATE",
        "a.md:2-9 section Set-up > Install it.",
    ]


def test_an_example_of_a_rule_is_its_first_lines() -> None:
    example = ExampleRecord("\n".join(f"line {number}" for number in range(9)), "a.py", "1-9", "code", 0.5)
    answer = ConstraintsAnswer("q", (), (), (example,), "1 example")
    (shown,) = compact("rag_check_constraints", answer)["examples"]
    assert shown["content"] == "line 0\nline 1\nline 2\nline 3\n…"
    assert (shown["filePath"], shown["lines"]) == ("a.py", "1-9")


def _section(relevance: float, content: str = "", *, path: str = "a.md", names_path: bool = False) -> RuleRecord:
    content = content or f"# Mail {relevance}\n\nIt is sent.\n- NEVER twice."
    return RuleRecord(content, path, "constraint", relevance, ("NEVER twice.",), "1-4", namesPath=names_path)


def _shown_rules(*sections: RuleRecord) -> list[tuple[str, list[str]]]:
    lean = compact("rag_check_constraints", ConstraintsAnswer("q", sections, (), (), "5 sections"))
    return [(record["content"], record["keyRules"]) for record in lean["constraints"]]


def test_of_rules_beyond_the_nearest_three_the_first_lines_of_key_rules_are_left() -> None:
    long = replace(_section(0.01), keyRules=("NEVER twice.\n  Not even if asked.",))
    shown = _shown_rules(_section(0.9), _section(0.3), _section(0.2), _section(0.1, names_path=True), long)
    assert [content for content, _ in shown] == [
        *(f"# Mail {relevance}\n\nIt is sent.\n- NEVER twice." for relevance in (0.9, 0.3, 0.2, 0.1)),
        "# Mail 0.01\n…",
    ]
    assert [rules for _, rules in shown] == [["NEVER twice."]] * 4 + [["NEVER twice.\n…"]]


def test_a_rule_is_told_once() -> None:
    bare = "# Mail\n\n- NEVER\n  twice."
    assert _shown_rules(_section(0.9, bare), _section(0.8, bare, path="b.md")) == [
        ("# Mail", ["NEVER twice."]),
        ("as a.md:1-4", []),
    ]


def test_an_example_far_below_the_best_is_its_first_line() -> None:
    near, far = (ExampleRecord("a = 1\nb = 2", "a.py", "1-2", "code", score) for score in (0.7, 0.4))
    lean = compact("rag_check_constraints", ConstraintsAnswer("q", (), (), (near, far), "2 examples"))
    assert [record["content"] for record in lean["examples"]] == ["a = 1\nb = 2", "a = 1\n…"]


_NOTED = replace(_STATS, note="a filter matches nothing")


@pytest.mark.parametrize(
    ("tool", "empty", "noted", "hint"),
    [
        ("search_code", _hits(), _hits(stats=_NOTED), "list_symbols"),
        ("search_memory", _remembered(), _remembered(stats=_NOTED), "list_memories"),
        ("list_memories", MemoryPage((), 0, 50, 0), MemoryPage((), 0, 50, 0, hint="a wider scope"), "store_memory"),
        ("related_tests", lookup.TestsAnswer(()), lookup.TestsAnswer((), "none is near"), "search_code"),
        ("list_symbols", SymbolsAnswer((), 0), SymbolsAnswer((), 0, "none is called so"), "search_code"),
        ("find_related", _hits(), _hits(stats=_NOTED), "snippet"),
    ],
)
def test_an_empty_answer_says_what_to_try(tool: str, empty: object, noted: object, hint: str) -> None:
    assert hint in compact(tool, empty)["note"]
    assert compact(tool, noted).get("note", "") == getattr(noted, "note", "")


def test_all_fields_are_there_for_an_agent_that_asks() -> None:
    assert asks_for_all({"query": "q", "detail": "full"}) == ({"query": "q"}, True)
    assert asks_for_all({"query": "q"}) == ({"query": "q"}, False)
