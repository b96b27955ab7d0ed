"""Finds the forms of frameworks in a file, and reads its facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rag_ls.rules.survey import nodes
from rag_ls.rules.survey.file_facts import FileFacts
from rag_ls.rules.survey.file_reading import FileReading
from rag_ls.rules.survey.frameworks import FACTS, Form, Framework, frameworks_of, words_of
from rag_ls.rules.survey.nodes import Call
from rag_ls.rules.survey.terms import FoundForm

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_NEW_OF_VALUE = re.compile(r"\bnew\((?=[\w.]+\()")
"""`new(time.Now())`, which Go has since 1.26, and its grammar takes for a type: a call of another name parses."""
_MAX_BROKEN_SHARE = 0.3
_MAX_BROKEN_CHARACTERS = 200

_Forms = Sequence[tuple[Framework, Form]]


def read_facts(path: str, language: str, text: str) -> FileFacts:
    """The facts of a file; none where no framework's marks stand in its text."""
    text = text.removeprefix("\ufeff")
    known = frameworks_of(language)
    likely = [each for each in known if each.is_named(path, text)]
    words = words_of(text) if likely else ""
    chosen = [each for each in likely if each.has_forms(text, words)]
    if not chosen or language not in nodes.LANGUAGES:
        return FileFacts()
    forms = [
        (each, form)
        for each in chosen
        for form in each.forms
        if (not form.languages or language in form.languages)
        and (not form.marks or any(mark in text for mark in form.marks))
    ]
    if not forms:
        return FileFacts()
    # Imported here: it takes a while, and most files are not for any framework.
    from ast_grep_py import SgRoot

    if language == "go":
        text = _NEW_OF_VALUE.sub("neW(", text)
    root = SgRoot(text, language).root()
    places = root.find_all(any=_rules(language, forms))
    broken = sum(len(node.text()) for node in places if node.kind() == "ERROR")
    # A fragment of a few lines may have no meaning by itself.
    if broken > max(_MAX_BROKEN_CHARACTERS, _MAX_BROKEN_SHARE * len(text)):
        return FileFacts(is_broken=True)
    found = list(_found_in(root, forms, places))
    if language == "rust":
        found = list(_without_tests(root, found))
    reading = FileReading(path, text, root)
    for fact in FACTS:
        for each in found:
            if each.form.fact == fact:
                reading.read(each)
    read = reading.facts()
    read.judged = frozenset(form.sort for _, form in forms if form.fact == "handler")
    return read


def _rules(language: str, forms: _Forms) -> list[Any]:
    """Rules of ast-grep for the calls and the annotations of all forms, and for what does not parse: one search finds all."""
    calls = [form.call.pattern for _, form in forms if form.call]
    annotations = [form.annotation.pattern for _, form in forms if form.annotation]
    rules: list[Any] = [{"kind": "ERROR"}]
    rules += [nodes.call_rule(language, "|".join(dict.fromkeys(calls)))] if calls else []
    return rules + ([nodes.annotation_rule(language, "|".join(dict.fromkeys(annotations)))] if annotations else [])


def _found_in(root: SgNode, forms: _Forms, places: Sequence[SgNode]) -> Iterator[FoundForm]:
    for node in places:
        is_annotation = nodes.is_annotation(node)
        call = nodes.read_call(node) if node.kind() != "ERROR" else None
        for framework, form in forms if call else ():
            pattern = form.annotation if is_annotation else form.call
            if call and pattern and pattern.fullmatch(call.name):
                yield FoundForm(framework, form, call)
    for framework, form in forms:
        if form.rule is not None:
            for node in root.find_all(dict(form.rule)):  # type: ignore[call-overload]
                yield FoundForm(framework, form, Call(node, "", None, (), nodes.start_of(node)))


def _without_tests(root: SgNode, found: Sequence[FoundForm]) -> Iterator[FoundForm]:
    """Rust's unit tests stand at the end of the code that they test."""
    attribute = {"kind": "attribute_item"}
    test: Any = {**attribute, "regex": r"cfg\(test\)", "stopBy": {"not": attribute}}
    tests = root.find_all(kind="mod_item", follows=test)
    spans = [(nodes.start_of(node), nodes.end_of(node)) for node in tests]
    for each in found:
        if not any(start <= nodes.start_of(each.call.node) < end for start, end in spans):
            yield each
