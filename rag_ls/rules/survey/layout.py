"""Finds where tests lie, how their files are named, and what they are written with."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from rag_ls.languages import family_of, find_language
from rag_ls.languages.conventions import Tests
from rag_ls.languages.patterns import compile_lines
from rag_ls.rules.survey.findings import MIN_COUNT, SourceLine, SurveyFinding, Tally, shares
from rag_ls.rules.survey.naming import title_of
from rag_ls.rules.survey.sources import CODE, SurveyedFile, is_vendored
from rag_ls.search.roles import Roles

TOPIC = "tests"
_MIN_OTHER_SHARE = 0.15
_MAX_READ = 3000
# What a test is written with shows in its first lines.
_MAX_CHARACTERS = 20_000

_FOLDERS = re.compile(r"(^|/)(__tests__|src/test|tests?|specs?|e2e|cypress)/")
_OTHER = "other"
_NONE = Tests()
_RUST_INLINE = re.compile(r"^[ \t]*#\[cfg\((?:all\()?test\b", re.MULTILINE)


@dataclass(slots=True)
class TestLayout:
    """Gathers the tests of a project, by language."""

    names: dict[str, Tally] = field(default_factory=dict)
    homes: dict[str, Tally] = field(default_factory=dict)
    frameworks: dict[str, Tally] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    inline: Tally = field(default_factory=Tally)
    rust_files: int = 0

    def read_product(self, source: SurveyedFile) -> None:
        """Rust's tests stand in the files of the product."""
        if source.language == "rust":
            self.rust_files += 1
            if match := next(source.find(_RUST_INLINE), None):
                self.inline.add("inline", source.place(match))

    def read_tests(
        self, paths: Iterable[str], language: Callable[[str], str], read: Callable[[str], str], roles: Roles
    ) -> None:
        every = frozenset(paths)
        beside = {(posixpath.dirname(path), family_of(language(path))) for path in every if not roles.is_test(path)}
        for path in sorted(every):
            family = family_of(language(path))
            tests = find_language(family).tests or _NONE
            name = tests.name_of(posixpath.basename(path))
            if family not in CODE or roles.is_secondary(path) or _is_foreign(path) or not (name or roles.is_test(path)):
                continue
            text = read(path)[:_MAX_CHARACTERS] if self.files.get(family, 0) < _MAX_READ else ""
            if not name and not _holds_tests(tests, text):
                continue
            self.files[family] = self.files.get(family, 0) + 1
            self.names.setdefault(family, Tally()).add(name or _OTHER, SourceLine(path, 1))
            home = _home(path, (posixpath.dirname(path), family) in beside)
            if home:
                self.homes.setdefault(family, Tally()).add(home, SourceLine(path, 1))
            self._frameworks(path, family, tests, text)

    def _frameworks(self, path: str, family: str, tests: Tests, text: str) -> None:
        for name, match in tests.libraries_in(text):
            shown = match.start() + len(match[0]) - len(match[0].lstrip())
            place = SourceLine(path, text.count("\n", 0, shown) + 1)
            self.frameworks.setdefault(family, Tally()).add(name, place)

    def findings(self) -> Iterator[SurveyFinding]:
        for family, total in sorted(self.files.items(), key=lambda item: -item[1]):
            title = title_of(family)
            for name in (name for name in shares(self.names[family], _MIN_OTHER_SHARE) if name != _OTHER):
                yield self.names[family].finding(
                    TOPIC, f"{title} test files are named `{name}`", name, total, self._every(family)
                )
            homes = self.homes.get(family, Tally())
            for home in shares(homes, _MIN_OTHER_SHARE):
                yield homes.finding(TOPIC, f"{title} test files lie {home}", home, total, self._every(family))
            frameworks = self.frameworks.get(family, Tally())
            for name in frameworks.most_common():
                if frameworks.count(name) >= _MIN_OTHER_SHARE * total:
                    claim = f"{title} test files use {name}"
                    yield frameworks.finding(TOPIC, claim, name, total, self._every(family))
        if self.inline.total >= MIN_COUNT:
            claim = "Rust files hold their unit tests themselves, in a module under `#[cfg(test)]`"
            yield self.inline.finding(TOPIC, claim, "inline", self.rust_files)

    def _every(self, family: str) -> list[str]:
        return [path for files in self.names[family].files.values() for path in files]


def _home(path: str, has_code_beside: bool) -> str:
    """The place of a test, in words; "" where it is in no folder for tests, and no code lies beside it."""
    if match := _FOLDERS.search(path):
        folder = path[: match.end()].rstrip("/")
        return "in folders named `__tests__`" if folder.endswith("__tests__") else f"below `{folder}/`"
    return "beside the code that they test" if has_code_beside else ""


def _holds_tests(tests: Tests, text: str) -> bool:
    """Whether a file in a folder of tests holds some, whatever its name."""
    return bool(tests.declared and compile_lines(tests.declared).search(text))


def _is_foreign(path: str) -> bool:
    return is_vendored(re.sub(r"(^|/)(e2e|cypress)/", "/", path))
