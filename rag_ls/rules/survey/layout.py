"""Finds where tests lie, how their files are named, and what they are written with."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from rag_ls.rules.survey.findings import MIN_COUNT, Finding, Place, Tally, shares
from rag_ls.rules.survey.naming import title_of
from rag_ls.rules.survey.sources import CODE, JAVASCRIPT, Source, is_vendored
from rag_ls.search.roles import is_secondary, is_test

TOPIC = "tests"
_LEAST_SHARE = 0.15
_MAX_READ = 3000
# What a test is written with shows in its first lines.
_MAX_CHARACTERS = 20_000

_NAMES = (
    ("python", "test_*.py", re.compile(r"^test_.*\.py$")),
    ("python", "*_test.py", re.compile(r"_test\.py$")),
    ("python", "tests.py", re.compile(r"^tests\.py$")),
    ("go", "*_test.go", re.compile(r"_test\.go$")),
    ("ruby", "*_spec.rb", re.compile(r"_spec\.rb$")),
    ("ruby", "*_test.rb", re.compile(r"_test\.rb$")),
    ("elixir", "*_test.exs", re.compile(r"_test\.exs$")),
    *((language, f"*{end}.{suffix}", re.compile(rf"[a-z0-9]{end}\.{suffix}$"))
      for language, suffix in (("java", "java"), ("kotlin", "kt"), ("php", "php"), ("csharp", "cs"), ("scala", "scala"))
      for end in ("Test", "Tests", "IT", "Spec", "TestCase")),
)  # fmt: skip
_JAVASCRIPT_NAME = re.compile(r"\.((?:\w+-)?(?:test|spec))\.([cm]?[jt]sx?)$")
_FOLDERS = re.compile(r"(^|/)(__tests__|src/test|tests?|specs?|e2e|cypress)/")
_FRAMEWORKS: dict[str, tuple[tuple[str, str], ...]] = {
    "python": (
        ("pytest", r"\bimport pytest\b|^def test_|^async def test_|from pytest\b"),
        ("unittest", r"\bTestCase\b"),
    ),
    "go": (("testify", r"stretchr/testify"), ("ginkgo", r"onsi/ginkgo")),
    "java": (
        ("JUnit 5", r"org\.junit\.jupiter"),
        ("JUnit 4", r"org\.junit\.(?:Test|Assert|Before|runner)"),
        ("Mockito", r"org\.mockito"),
        ("TestNG", r"org\.testng"),
        ("Spring's test support", r"org\.springframework\.(?:boot\.)?test"),
    ),
    "kotlin": (
        ("JUnit 5", r"org\.junit\.jupiter"),
        ("JUnit 4", r"org\.junit\.(?:Test|Assert|Before)"),
        ("kotlin.test", r"kotlin\.test"),
        ("Kotest", r"io\.kotest"),
        ("MockK", r"io\.mockk"),
    ),
    "php": (("PHPUnit", r"PHPUnit\\|extends \w*TestCase"), ("Pest", r"^[ \t]*(?:it|test)\(")),
    "ruby": (
        ("RSpec", r"\bRSpec\.|\bdescribe\b.*\bdo\b"),
        ("Minitest", r"Minitest|ActiveSupport::TestCase|ActionDispatch::IntegrationTest"),
    ),
    "csharp": (
        ("xUnit", r"using Xunit\b|\[Fact\b|\[Theory\b"),
        ("NUnit", r"using NUnit\b"),
        ("MSTest", r"VisualStudio\.TestTools"),
    ),
    "elixir": (("ExUnit", r"ExUnit\.Case|use \w+\.(?:ConnCase|DataCase)"),),
    "typescript": (
        ("Vitest", r"from [\"']vitest[\"']"),
        ("Jest", r"@jest/globals|\bjest\.\w"),
        ("node:test", r"[\"']node:test[\"']"),
        ("Playwright", r"@playwright/test"),
        ("Mocha", r"[\"']mocha[\"']"),
        ("Chai", r"[\"']chai[\"']"),
        ("Testing Library", r"@testing-library/"),
        ("Cypress", r"\bcy\.\w"),
        ("supertest", r"[\"']supertest[\"']"),
        ("`describe` blocks", r"^[ \t]*describe(?:\.\w+)?\("),
    ),
}
_COMPILED = {
    language: [(name, re.compile(pattern, re.MULTILINE)) for name, pattern in frameworks]
    for language, frameworks in _FRAMEWORKS.items()
}
_TESTS = {
    "csharp": re.compile(r"^[ \t]*\[(?:Fact|Theory|Test|TestMethod|TestCase)\b", re.MULTILINE),
    "java": re.compile(r"^[ \t]*@(?:Test|ParameterizedTest)\b", re.MULTILINE),
    "kotlin": re.compile(r"^[ \t]*@(?:Test|ParameterizedTest)\b", re.MULTILINE),
    "php": re.compile(r"^[ \t]*public function test\w|#\[Test\]|^(?:it|test)\(", re.MULTILINE),
    "python": re.compile(r"^[ \t]*(?:async )?def test_", re.MULTILINE),
    "typescript": re.compile(r"^[ \t]*(?:it|test|describe)(?:\.\w+)?\(\s*[\"'`]", re.MULTILINE),
    "ruby": re.compile(r"^[ \t]*(?:RSpec\.describe|describe|test|it)\s+[\"'A-Z]", re.MULTILINE),
}
_NO_TESTS = re.compile(r"(?!)")
_OTHER = "other"
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

    def read_product(self, source: Source) -> None:
        """Rust's tests stand in the files of the product."""
        if source.language == "rust":
            self.rust_files += 1
            if match := next(source.find(_RUST_INLINE), None):
                self.inline.add("inline", source.place(match))

    def read_tests(self, paths: Iterable[str], language: Callable[[str], str], read: Callable[[str], str]) -> None:
        every = frozenset(paths)
        beside = {(posixpath.dirname(path), _family(language(path))) for path in every if not is_test(path)}
        for path in sorted(every):
            family = _family(language(path))
            name = _name(family, posixpath.basename(path))
            if family not in CODE or is_secondary(path) or _is_foreign(path) or not (name or is_test(path)):
                continue
            text = read(path)[:_MAX_CHARACTERS] if self.files.get(family, 0) < _MAX_READ else ""
            if not name and not _holds_tests(family, text):
                continue
            self.files[family] = self.files.get(family, 0) + 1
            self.names.setdefault(family, Tally()).add(name or _OTHER, Place(path, 1))
            home = _home(path, (posixpath.dirname(path), family) in beside)
            if home:
                self.homes.setdefault(family, Tally()).add(home, Place(path, 1))
            self._frameworks(path, family, text)

    def _frameworks(self, path: str, family: str, text: str) -> None:
        for name, pattern in _COMPILED.get(family, ()):
            if match := pattern.search(text):
                shown = match.start() + len(match[0]) - len(match[0].lstrip())
                place = Place(path, text.count("\n", 0, shown) + 1)
                self.frameworks.setdefault(family, Tally()).add(name, place)

    def findings(self) -> Iterator[Finding]:
        for family, total in sorted(self.files.items(), key=lambda item: -item[1]):
            title = title_of(family)
            for name in (name for name in shares(self.names[family], _LEAST_SHARE) if name != _OTHER):
                yield self.names[family].finding(TOPIC, f"{title} test files are named `{name}`", name, total)
            homes = self.homes.get(family, Tally())
            for home in shares(homes, _LEAST_SHARE):
                yield homes.finding(TOPIC, f"{title} test files lie {home}", home, total)
            frameworks = self.frameworks.get(family, Tally())
            for name in frameworks.most_common():
                if frameworks.count(name) >= _LEAST_SHARE * total:
                    yield frameworks.finding(TOPIC, f"{title} test files use {name}", name, total)
        if self.inline.total >= MIN_COUNT:
            claim = "Rust files hold their unit tests themselves, in a module under `#[cfg(test)]`"
            yield self.inline.finding(TOPIC, claim, "inline", self.rust_files)


def _family(language: str) -> str:
    return "typescript" if language in JAVASCRIPT else language


def _name(family: str, name: str) -> str:
    """The pattern that the name of a test file follows; "" for a file that only serves tests."""
    if family == "typescript":
        match = _JAVASCRIPT_NAME.search(name)
        return f"*.{match[1]}.{match[2]}" if match else ""
    return next((shown for language, shown, pattern in _NAMES if language == family and pattern.search(name)), "")


def _home(path: str, has_code_beside: bool) -> str:
    """Where a test lies, in words; "" where it is in no folder for tests, and no code lies beside it."""
    if match := _FOLDERS.search(path):
        folder = path[: match.end()].rstrip("/")
        return "in folders named `__tests__`" if folder.endswith("__tests__") else f"below `{folder}/`"
    return "beside the code that they test" if has_code_beside else ""


def _holds_tests(family: str, text: str) -> bool:
    """Whether a file in a folder of tests holds some, whatever its name."""
    return bool(_TESTS.get(family, _NO_TESTS).search(text))


def _is_foreign(path: str) -> bool:
    return is_vendored(re.sub(r"(^|/)(e2e|cypress)/", "/", path))
