"""Agents get what they need of an answer, and hear what to try where it is empty or partial."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_ls.mcp.compact import asks_for_all
from rag_ls.operations.code import lookup
from rag_ls.operations.code.hits import CodeAnswer, CodeRecord
from rag_ls.operations.code.lookup import SymbolRecord, SymbolsAnswer
from rag_ls.operations.memories.memory_records import AnchorRecord, MemoryRecord, MetadataRecord
from rag_ls.operations.memories.recalling import MemoryAnswer, MemoryPage
from rag_ls.operations.rules.constraints import ConstraintsAnswer, ExampleRecord, RuleRecord
from rag_ls.operations.rules.impact import ChangeRecord, DependentRecord, ImpactAnswer, UseRecord
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


def test_a_key_rule_stands_once_and_of_rules_beyond_the_nearest_three_a_line_is_left() -> None:
    def section(relevance: float, *, names_path: bool = False) -> RuleRecord:
        return RuleRecord(
            "# Mail\n\nIt is sent.\n- NEVER twice.\n- NEVER late.\n\nBy post.", "a.md", "constraint", relevance,
            ("NEVER twice.", "NEVER late."), "1-7", namesPath=names_path,
        )  # fmt: skip

    constraints = (section(0.9), section(0.3), section(0.2), section(0.1, names_path=True))
    lean = compact(
        "rag_check_constraints",
        ConstraintsAnswer("by post", constraints, (section(0.8), section(0.01)), (), "5 sections"),
    )
    of_rules = [record["content"] for record in (*lean["constraints"], *lean["patterns"])]
    whole, line = "# Mail\n\nIt is sent.\n…\nBy post.", "# Mail\n…"
    assert of_rules == [whole, whole, line, whole, whole, line]
    assert all(len(record["keyRules"]) == 2 for record in (*lean["constraints"], *lean["patterns"]))


def test_a_key_rule_that_was_cut_stands_once_too() -> None:
    rule = RuleRecord(
        "# Mail\n\n- NEVER twice, as said before.", "a.md", "constraint", 0.9, ("NEVER twice, as…",), "1-3"
    )
    (record,) = compact("rag_check_constraints", ConstraintsAnswer("q", (rule,), (), (), "1 section"))["constraints"]
    assert record["content"] == "# Mail\n\n- … said before."


def test_a_copy_of_a_rule_names_the_place_of_the_first() -> None:
    first = RuleRecord("# Mail\n\n- NEVER twice.", "a.md", "constraint", 0.9, ("NEVER twice.",), "1-3")
    copy = replace(first, filePath="b.md", relevance=0.8)
    lean = compact("rag_check_constraints", ConstraintsAnswer("q", (first, copy), (), (), "2 sections"))
    assert [(record["content"], record["keyRules"]) for record in lean["constraints"]] == [
        ("# Mail\n\n…", ["NEVER twice."]),
        ("as a.md:1-3", []),
    ]


def test_a_rule_that_obliges_is_never_left_out_or_cut_and_others_are_counted() -> None:
    near = [RuleRecord(f"# Mail {at}", "a.md", "constraint", 0.9, (), f"{at}-{at}") for at in (1, 2, 3)]
    obliging = tuple(
        f"Part {at} MUST be {'very ' * 40}so.\n  {word}" for at, word in enumerate(("NEVER", "else", "SHALL"))
    )
    far = RuleRecord("# Far", "a.md", "constraint", 0.01, ("Use a.", "Use b.", "Use c.", *obliging), "9-40")
    lean = compact("rag_check_constraints", ConstraintsAnswer("part a", (*near, far), (), (), "4 sections"))
    shown = lean["constraints"][-1]["keyRules"]
    assert [rule for rule in shown if "MUST" in rule] == [*obliging]
    assert shown[-1] == f"… {6 - len(shown) + 1} more in a.md:9-40"


def test_the_count_of_examples_is_that_of_the_summary() -> None:
    examples = tuple(ExampleRecord(f"net_{at} = 1", "a.py", "1-1", "code", 0.9) for at in range(5))
    lean = compact("rag_check_constraints", ConstraintsAnswer("net", (), (), examples, "5 examples"))
    assert lean["note"] == f"{5 - len(lean['examples'])} examples left out: detail = full has all"
    assert "note" not in compact("rag_check_constraints", ConstraintsAnswer("net", (), (), examples[:2], "2 examples"))


def test_a_part_of_a_section_without_its_heading_is_told_with_it() -> None:
    later = RuleRecord("It is sent.", "a.md", "constraint", 0.9, (), "5-5", section="Rules > Mail")
    first = replace(later, content="# Mail\n\nIt is sent.")
    lean = compact("rag_check_constraints", ConstraintsAnswer("q", (later, first), (), (), "2 sections"))
    assert [record.get("section") for record in lean["constraints"]] == ["Rules > Mail", None]


def test_long_sections_are_whole_as_far_as_there_is_room() -> None:
    long = RuleRecord("# Mail\n\nIt is sent." + "\nA word and another." * 60, "a.md", "constraint", 0.9, (), "1-63")
    further = replace(long, relevance=0.8)
    lean = compact("rag_check_constraints", ConstraintsAnswer("is sent", (long, further), (), (), "2 sections"))
    assert [record["content"] for record in lean["constraints"]] == [long.content, "# Mail\n…"]


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


def _impact(*dependents: DependentRecord, changes: tuple[ChangeRecord, ...] = ()) -> ImpactAnswer:
    return ImpactAnswer(
        "src/cart.py", ("total",), (), (), dependents, (), "src/cart.py exports 1 name", changes=changes
    )


_DEPENDENT = DependentRecord(
    "src/shop.py", ("cart",), ("total", "Cart"), (1, 4, 9), (UseRecord(4, "total"), UseRecord(9, "total"))
)


def test_a_dependent_tells_each_line_and_name_once() -> None:
    (dependent,) = compact("rag_query_impact", _impact(_DEPENDENT))["dependents"]
    assert dependent == {
        "filePath": "src/shop.py", "imports": ["cart"], "names": ["Cart"], "lines": [1], "uses": ["total 4,9"],
    }  # fmt: skip
    unused = replace(_DEPENDENT, names=("total",), lines=(1,), uses=())
    assert compact("rag_query_impact", _impact(unused))["dependents"] == [
        {"filePath": "src/shop.py", "imports": ["cart"], "names": ["total"], "lines": [1]}
    ]


def test_of_a_name_that_a_file_uses_often_the_first_lines_are_told() -> None:
    often = replace(_DEPENDENT, lines=(), uses=tuple(UseRecord(line, "total") for line in range(1, 31)))
    (dependent,) = compact("rag_query_impact", _impact(often))["dependents"]
    assert dependent["uses"] == [f"total {','.join(map(str, range(1, 7)))} and 24 more"]


def test_of_many_dependents_the_first_are_told_and_tests_among_the_tests_alone() -> None:
    paths = ["a_test.py", *(f"src/{number}.py" for number in range(31))]
    many = [replace(_DEPENDENT, filePath=path) for path in paths]
    answer = compact("rag_query_impact", replace(_impact(*many), tests=("a_test.py",)))
    assert [each["filePath"] for each in answer["dependents"]] == paths[1:21]
    assert not any("imports" in each for each in answer["dependents"]), "the lines of uses are enough"
    assert answer["notes"] == ["detail = full lists 11 dependents more"], "a test among the tests is none of them"
    exports = tuple(f"total{number}" for number in range(30))
    assert compact("rag_query_impact", replace(_impact(*many[:1]), exports=exports))["exports"] == list(exports[:20])
    tests = tuple(f"{number}_test.py" for number in range(50))
    tested = compact("rag_query_impact", replace(_impact(*many[:10]), tests=("a_test.py", *tests)))
    assert [each["filePath"] for each in tested["dependents"]] == paths[:10]
    assert tested["tests"] == ["a_test.py", *tests[:9]]
    assert tested["notes"] == ["detail = full lists 41 tests more"]
    few = compact("rag_query_impact", _impact(*many[:10]))
    assert (len(few["dependents"]), few.get("notes")) == (10, None)


def test_a_changed_file_names_what_must_change_along_and_the_dependents_have_the_lines() -> None:
    change = ChangeRecord("src/cart.py", "changed", mustChange=(_DEPENDENT,))
    (changed,) = compact("rag_query_impact", _impact(_DEPENDENT, changes=(change,)))["changes"]
    assert changed["mustChange"] == ["src/shop.py"]


def test_examples_far_from_the_closest_and_those_that_show_the_same_line_are_left_out() -> None:
    examples = [
        ExampleRecord(content=content, filePath=f"src/{at}.py", lines="1-1", type="code", relevance=relevance)
        for at, (content, relevance) in enumerate(
            [("total = 1", 0.8), ("import tax", 0.7), ("import tax", 0.6), ("print()", 0.1)]
        )
    ]
    answer = compact("rag_check_constraints", ConstraintsAnswer("total", (), (), tuple(examples), "4 examples"))
    assert [each["filePath"] for each in answer["examples"]] == ["src/0.py", "src/1.py"]
    several = tuple(replace(examples[0], content=f"total = {at}") for at in range(5))
    shown = compact("rag_check_constraints", ConstraintsAnswer("total", (), (), several, "5 examples"))["examples"]
    assert [each["content"] for each in shown] == ["total = 0", "total = 1"]
