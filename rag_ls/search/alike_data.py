"""Folds data files that answer by the text of the same key, such as the locales of an application."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from rag_ls.search.terms import word_stems
from rag_ls.util.patterns import lazy_pattern

# A key of JSON, YAML, TOML or properties; `name`, `id` or `key` of an element; a message of gettext.
_KEY = lazy_pattern(
    r"""\s*(?:[-{,]\s*)?(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)'|(?P<bare>[^\s:=<"'{}\[\]][^:=]*?))\s*(?:=>|[:=])"""
    r"""|\s*<[^>]*?\b(?:name|id|key)\s*=\s*"(?P<element>[^"]*)"|\s*msgid\s+"(?P<message>.*)"\s*$"""
)


def find_answering_keys(language: str, text: str, asked: AbstractSet[str]) -> frozenset[tuple[str, str]]:
    """The keys, each with the `language` of its document, of the lines that hold most of the `asked` stems.

    Empty where no key holds all that its line holds of them.
    """
    # A stem may end with another letter than its word: `copi` of copy.
    beginnings = tuple(stem[:-1] or stem for stem in asked)
    lines = [line for line in text.splitlines() if any(each in line.lower() for each in beginnings)]
    held = {line: len(asked & word_stems(line)) for line in lines}
    most = max(held.values(), default=0)
    keys = [_find_key(line) for line in lines if most and held[line] == most]
    return frozenset((language, key) for key in keys if len(asked & word_stems(key)) == most)


def fold_alike(keys: Mapping[str, AbstractSet[tuple[str, str]]]) -> dict[str, list[str]]:
    """The paths that are left, in the order of `keys`, each with those that answer by one of its keys.

    Alike are files of one name, as `de/app.json` and `fr/app.json`, and files of one folder, as `i18n/de.yml` and `i18n/fr.yml`.
    """
    left: dict[str, list[str]] = {}
    first: dict[tuple[tuple[str, str], str], str] = {}
    for path, answering in keys.items():
        folder, _, name = path.rpartition("/")
        traits = [(key, trait) for key in sorted(answering) for trait in (f"{folder}/", name)]
        known = next((first[trait] for trait in traits if trait in first), path)
        if known == path:
            left[path] = []
        else:
            left[known].append(path)
        for trait in traits:
            first.setdefault(trait, known)
    return left


def _find_key(line: str) -> str:
    match = _KEY.match(line)
    return next(filter(None, match.groups()), "") if match else ""
