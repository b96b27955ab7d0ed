"""`find_references` for members of types: keys of objects, what is taken apart, attributes of elements, by the type that is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.operations import Operations
from tests.conftest import IndexedProjects
from tests.operations.code.projects import index_project
from tests.support import PATIENCE_S

pytestmark = pytest.mark.usefixtures("words_alone")

_SHOP = """export interface Options {
  retry: number
  nested: { deep: Deep }
  onDone?: (result: Result) => void
}
export interface Deep { level: number }
export interface Result { ok: boolean }
export type Added = { kind: 'added'; item: string }
export type Removed = { kind: 'removed'; item: string; reason: string }
export type Change = Added | Removed
export type Wide = Omit<Options, 'nested'> & { extra: string }
type Save = (options: Partial<Options>) => Result
export const save = null as unknown as Save
export function open(path: string, options: Options): Result { return { ok: true } }
export class Shop {
  constructor(private options: Options) {}
  send(change: Change) {}
}
export function pick<T extends Result>(value: T): T { return value }
export type Chosen<T> = T extends string ? Options : Result
export const choose = (chosen: Chosen<string>) => chosen
"""
_USE = """import { open, pick, save, choose, Shop, Options, Wide, Result, Change } from './shop'

const options: Options = { retry: 1, nested: { deep: { level: 2 } } }
open('a', { retry: 2, nested: options.nested })
save({ retry: 3 })
const wide: Wide = { retry: 4, extra: '' }
const { retry } = options
const shop = new Shop({ retry, nested: { deep: { level: 5 } } })
shop.send({ kind: 'added', item: 'x' })
shop.send({ kind: 'removed', item: 'y', reason: 'z' })
function make(): Result { return { ok: true } }
const last = { retry: 6 } satisfies Partial<Options>
save({ onDone: (result) => { console.log(result.ok) } })
save({ onDone: ({ ok }) => ok })
const other = { retry: 7, ok: false }
pick({ ok: true })
choose({ ok: true })
type Count = Options['retry']
const kind = 'added'
shop.send({ kind, item: 'z' })
function show(what: boolean): Result { return what ? { ok: what } : { ok: !what } }
"""
_VIEW = """import { Result } from './shop'

interface Props { size: number; result: Result }
export function Card({ size, result }: Props) { return <b title={size}>{result.ok}</b> }
export const Row = (props: Props) => <Card size={props.size} result={{ ok: true }} />
"""
_PATHS = """export interface Path { size: number }
interface PathTools { join(a: Path): Path; cut(a: Path): Path }
interface More { split(a: Path): Path }
export const Path: PathTools & More = {
  join(a) { return a },
  cut(a) { return Path.join(a) },
  split(a) { return Path.cut(a) },
}
export const draw = (path: { size: string; show: (path: Path) => void; at: (path: Other) => void }) => {
  const { size } = path
  return size
}
export const run = (path: Path) => Path.split(Path.join(path)).size
"""
_COMMON = "const { open: start, close } = require('./common')\nstart()\nclose()\n"
FILES = {
    "src/shop.ts": _SHOP,
    "src/use.ts": _USE,
    "src/view.tsx": _VIEW,
    "src/common.js": "function open() {}\nfunction close() {}\nmodule.exports = { open, close }\n",
    "src/run.js": _COMMON,
    "src/path.ts": _PATHS,
}


@pytest.fixture
def operations(client: Client, indexed_projects: IndexedProjects, tmp_path: Path) -> Operations:
    """The operations on a shop."""
    client.open(indexed_projects.copy(FILES, tmp_path / "contexts-shop"))
    index_project(client, embeddings=False)
    return Operations(client, wait_for_model_s=PATIENCE_S)


def _lines(operations: Operations, symbol: str, path: str = "src/use.ts") -> dict[int, str]:
    answer = operations.run("find_references", {"symbol": symbol})
    uses = [each for each in answer["references"] if each["kind"] not in ("definition", "override", "docs")]
    return {each["line"]: each["sure"] for each in uses if each["path"] == path}


def test_a_key_is_of_the_type_that_its_object_has(operations: Operations) -> None:
    lines = _lines(operations, "Options.retry")
    assert {line for line, sure in lines.items() if sure == "resolved"} == {3, 4, 5, 6, 7, 8, 12, 18}
    # Nothing says which type this object has.
    assert lines[15] == "by name"


def test_a_key_within_keys_is_followed(operations: Operations) -> None:
    assert {line for line, sure in _lines(operations, "Deep.level").items() if sure == "resolved"} == {3, 8}


def test_what_an_alias_omits_is_not_of_its_type(operations: Operations) -> None:
    assert 6 not in _lines(operations, "Options.nested")
    assert _lines(operations, "Wide.extra") == {6: "resolved"}


def test_a_text_tells_the_members_of_a_union_apart(operations: Operations) -> None:
    # Line 20 gives a variable: which of the types is meant is not seen.
    assert _lines(operations, "Added.item") == {9: "resolved", 20: "by name"}
    assert _lines(operations, "Removed.item") == {10: "resolved", 20: "by name"}


def test_results_and_parameters_of_functions_expect_types(operations: Operations) -> None:
    lines = _lines(operations, "Result.ok")
    assert {line for line, sure in lines.items() if sure == "resolved"} == {11, 13, 14, 21}
    # Of a type that is inferred from the very object, or that a condition chooses, the name alone is known.
    assert {line for line, sure in lines.items() if sure == "by name"} == {15, 16, 17}


def test_attributes_are_members_of_what_a_component_takes(operations: Operations) -> None:
    assert _lines(operations, "Props.size", "src/view.tsx") == {4: "resolved", 5: "resolved"}
    assert _lines(operations, "Result.ok", "src/view.tsx") == {4: "resolved", 5: "resolved"}


def test_what_a_module_exports_is_taken_out_of_it(operations: Operations) -> None:
    answer = operations.run("find_references", {"path": "src/common.js", "line": 2})
    uses = {(each["path"], each["line"]) for each in answer["references"] if each["sure"] == "resolved"}
    assert uses >= {("src/common.js", 3), ("src/run.js", 1), ("src/run.js", 3)}


def test_a_key_that_is_asked_for_stands_for_the_member_of_the_type(operations: Operations) -> None:
    answer = operations.run("find_references", {"path": "src/use.ts", "line": 13, "column": 8})
    assert ("src/use.ts", 14) in {(each["path"], each["line"]) for each in answer["references"]}


def test_an_object_with_the_name_of_a_type_has_members_of_its_own(operations: Operations) -> None:
    # The object is of the types that it is annotated with: its keys are theirs, and so are what it is asked for.
    assert _lines(operations, "PathTools.join", "src/path.ts") == {5: "resolved", 6: "resolved", 13: "resolved"}
    assert _lines(operations, "PathTools.cut", "src/path.ts") == {6: "resolved", 7: "resolved"}
    assert _lines(operations, "More.split", "src/path.ts") == {7: "resolved", 13: "resolved"}
    # A parameter of a function in the type of another parameter is not the variable.
    lines = _lines(operations, "Path.size", "src/path.ts")
    assert {line for line, sure in lines.items() if sure == "resolved"} == {13}
