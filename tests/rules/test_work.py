"""A change and a section of rules may speak of one kind of work without a word in common."""

from __future__ import annotations

import pytest

from rag_ls.rules.work import StatedWork, judge_work, read_asked_work, read_stated_work, weigh_work


@pytest.mark.parametrize(
    ("change", "path", "kind"),
    [
        ("preallocate the slices with their known sizes", "", "performance"),
        ("pull in a package for maps", "", "packages"),
        ("use another parser", "go.mod", "packages"),
        ("describe what I did in the pull request", "", "submitting"),
        ("German wording for the archive", "", "translations"),
        ("rename the unit", "app/migrations/0007_unit.py", "migrations"),
        ("cover the runners", "core/tests/test_jobs.py", "tests"),
        ("say it in two columns", "web/src/List.tsx", "interface"),
        ("two receptionists overwrite each other's notes", "", "concurrency"),
        ("the carrier answers 503 now and then, just try once more", "", "retries"),
        ("protect the sign-in against brute force", "", "limits"),
        ("run the stock report every Monday at six", "", "schedules"),
        ("pass the a11y audit", "", "accessibility"),
        ("turn on the new search for a few shoppers first", "", "rollout"),
    ],
)
def test_a_change_tells_its_kind_of_work_by_words_and_files(change: str, path: str, kind: str) -> None:
    assert kind in read_asked_work(change, [path] if path else [])


def test_a_request_over_http_is_no_pull_request() -> None:
    assert "submitting" not in read_asked_work("allocate the id of a request on demand", ())
    assert "submitting" not in read_stated_work("Handlers", "Each request has an id.").paragraphs


def test_the_section_that_speaks_of_the_kind_comes_first_and_one_that_is_headed_so_counts_more() -> None:
    gates = read_stated_work("Quality Gates", "Benchmarks are required for optimizations.")
    headed = read_stated_work("Performance", "Measure first.")
    other = read_stated_work("Mission", "Every site on HTTPS.")
    asked = weigh_work(read_asked_work("preallocate the slices", ()), [gates, headed, other])
    assert judge_work(asked, headed) == 1.0 > judge_work(asked, gates) > judge_work(asked, other) == 0.0


def test_a_kind_of_which_every_section_speaks_counts_little() -> None:
    tests, both = StatedWork(frozenset({"tests"}), frozenset()), StatedWork(frozenset({"tests", "docs"}), frozenset())
    asked = weigh_work(frozenset({"tests", "docs"}), [tests, tests, both])
    assert asked.weights["docs"] > asked.weights["tests"] > 0.0
    assert judge_work(weigh_work(frozenset(), [tests]), tests) == 0.0


def test_a_kind_of_which_no_section_speaks_takes_nothing_from_the_others() -> None:
    tests = StatedWork(frozenset({"tests"}), frozenset())
    assert judge_work(weigh_work(frozenset({"tests", "money"}), [tests]), tests) == 1.0


def test_words_tell_a_kind_only_where_they_stand_together() -> None:
    assert "limits" not in read_asked_work("force a refresh of the brute index", ())
    assert "limits" in read_stated_work("Rate limits of partners", "").heading


def test_numbers_and_names_that_only_look_like_it_tell_no_kind() -> None:
    assert "translations" not in read_asked_work("retry the upload 10 times on Node 18", ())
    assert "translations" in read_asked_work("mend the i18n of the archive", ())
    assert not {"packages", "releases"} & read_asked_work("", ["src/clock.py", "src/changes_view.py"])
    assert "packages" in read_asked_work("", ["uv.lock"])
