"""Whether two memories say the same, or contradict each other.

They say the same only if what differs between their texts carries nothing. Closeness in meaning never decides that, because a
sentence and its opposite are close. Contradictions are found by negations, numbers and words, and reported, never merged.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from functools import cache, lru_cache

from rag_ls.model import Memory
from rag_ls.search import content_terms
from rag_ls.storage import stem
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

_NEGATION = lazy_pattern(
    r"\b(?:no longer|not|never|no|nobody|nothing|none|without|cannot|stop(?:ped|s)?|avoid(?:s|ed)?|forbid(?:s|den)?|"
    r"deprecated|removed?|dropped|abandoned|discontinued|disabled?|obsolete|instead of|replaced by|moved away from|"
    # German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Norwegian, Russian.
    r"nicht|nie(?:mals|mand)?|kein(?:e[mnrs]?)?|ohne|ne|pas|jamais|aucune?|sans|nunca|ningún|ninguna?|sin|non|mai|"
    r"nessun[ao]?|senza|não|nenhum|sem|niet|nooit|geen|zonder|inte|aldrig|utan|ikke|aldri|uten|uden|не|никогда|нет|без)\b|"
    r"n['\u2019]t\b|\bn['\u2019](?=\w)|[不没未]",
    re.IGNORECASE,
)
_OPPOSITES = (
    ("enable", "disable"), ("enabled", "disabled"), ("allow", "forbid"), ("allowed", "forbidden"), ("always", "never"),
    ("sync", "async"), ("synchronous", "asynchronous"), ("tabs", "spaces"), ("before", "after"), ("on", "off"),
    ("true", "false"), ("required", "optional"), ("mandatory", "optional"), ("ascending", "descending"),
    ("public", "private"), ("mutable", "immutable"), ("safe", "unsafe"), ("started", "stopped"), ("up", "down"),
    ("accept", "reject"), ("accepted", "rejected"), ("included", "excluded"), ("monolith", "microservices"),
)  # fmt: skip
# If a text has one of these words, the same words in another order may say the opposite.
_TURNING = frozenset("not never before after from to over than instead rather into by on imports calls".split())
# Two texts are on the same subject if they share at least this part of the shorter one's words.
_MIN_SHARED = 0.5
_MIN_SHARED_BY_NEGATION = 0.6
# Versions as well: v2, V1.4.
_DIGITS = lazy_pattern(r"(?<![\w.])v?(\d+(?:[.,:]\d+)*)(?=\D|$)", re.IGNORECASE)
_GROUPED = lazy_pattern(r"\d{1,3}(?:,\d{3})+")
_VALUES = {
    **{word: value for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen".split()
    )},
    **{word: 10 * tens for tens, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)},
    "once": 1, "twice": 2,
}  # fmt: skip
_FACTORS = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_WORD = "|".join((*_VALUES, *_FACTORS))
_WORDS = lazy_pattern(rf"\b(?:{_WORD})(?:(?:[\s-]+(?:and\s+)?)(?:{_WORD}))*\b", re.IGNORECASE)
# Base units: seconds and bytes; rates are per second, written as they are.
_UNITS = {
    **dict.fromkeys(("ms", "millisecond"), ("s", 0.001)), **dict.fromkeys(("s", "sec", "second"), ("s", 1.0)),
    **dict.fromkeys(("min", "minute"), ("s", 60.0)), **dict.fromkeys(("h", "hr", "hour"), ("s", 3600.0)),
    "day": ("s", 86_400.0), "week": ("s", 604_800.0), "month": ("s", 2_592_000.0), "year": ("s", 31_536_000.0),
    **dict.fromkeys(("kb", "kib", "kilobyte"), ("B", 1e3)), **dict.fromkeys(("mb", "mib", "megabyte"), ("B", 1e6)),
    **dict.fromkeys(("gb", "gib", "gigabyte"), ("B", 1e9)), **dict.fromkeys(("%", "percent"), ("%", 1.0)),
}  # fmt: skip
_QUANTITY = lazy_pattern(
    rf"(?P<number>(?<![\d.,])\d+(?:[.,]\d+){{0,4}}|\b(?:{_WORD})(?:[\s-]{{1,3}}(?:and\s+)?(?:{_WORD})){{0,5}}|\b(?:an?|one)(?:\s+(?:full|whole|single))?)"
    rf"[\s-]*(?P<unit>{'|'.join(sorted((re.escape(unit) for unit in _UNITS), key=len, reverse=True))})s?(?![\w])",
    re.IGNORECASE | re.ASCII,
)
_DAILY = {"hourly": 3600.0, "daily": 86_400.0, "weekly": 604_800.0, "monthly": 2_592_000.0, "yearly": 31_536_000.0}
_GROUPS = (
    "postgresql|postgres mysql|mariadb sqlite mongodb oracle cockroachdb dynamodb",
    "npm yarn pnpm bun",
    "argon2|argon2id bcrypt scrypt pbkdf2",
    "kubernetes|k8s|gke|eks|aks ecs|fargate nomad|swarm heroku",
    "squash|squashed|squash-merged rebase|rebased|rebasing",
    "utc local|berlin|cet|cest|pst|est",
    "monday|mondays tuesday|tuesdays wednesday|wednesdays thursday|thursdays friday|fridays saturday|saturdays sunday|sundays",
    "alpine debian|bookworm|bookworm-slim|bullseye ubuntu distroless",
    "localstorage|sessionstorage cookie|cookies",
    "vault secrets-manager|secretsmanager|ssm",
    "tailwind css-modules|modules styled-components sass|scss",
    "dark light",
    "celery sidekiq lambda rq",
    "rabbitmq kafka sqs nats",
    "rest graphql grpc",
    "pytest unittest nose",
    "jest vitest mocha",
    "black ruff autopep8 yapf",
    "flake8 pylint",
    "uuid|uuidv4|uuidv7|ulid bigint|auto-increment|auto-incrementing|autoincrement|serial|identity",
    "tabs spaces",
    "main master develop trunk",
    "camelcase snake_case kebab-case pascalcase",
    "github gitlab bitbucket",
    "jenkins circleci travis",
    "poetry uv pipenv pip-tools|pip",
    "maven gradle bazel",
    "react vue svelte angular",
    "redux zustand mobx",
    "aws|s3 gcp|gcs azure",
    "redis memcached",
    "json xml protobuf yaml",
    "monorepo polyrepo",
    "offset|page-based cursor|keyset",
    "english german french spanish",
    "optimistic pessimistic",
    "soft-delete|soft-deleted|deleted_at hard-delete|hard-deleted",
    "terraform pulumi cloudformation cdk",
    "nginx caddy traefik apache",
    "sqlalchemy django-orm peewee",
    "structured unstructured|plain",
)
_CHOICE = lazy_pattern(r"[a-z0-9]+(?:[-_][a-z0-9]+)*", re.IGNORECASE)
_FILLERS = frozenset(("the", "please"))
_STRAIGHT = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
# In code, quotations and tables, white space may count.
_LAYOUT = lazy_pattern(r"[`\"|]|\n[ \t]")
_FULL_STOP = lazy_pattern(r"(?<=\w)[.\u3002]$")
# Words that are names wherever they stand: with a digit, a mark or a capital inside, or of capitals alone.
_NAME = lazy_pattern(r"(?<!\w)(?=\S*[\d_./:@#=-]|\w+[A-Z])[\w./:@#=-]*\w")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two memories that cannot both be true, and the reason."""

    one: Memory
    other: Memory
    reason: str


@dataclass(frozen=True, slots=True)
class _Claim:
    """The words, negations and numbers of a text."""

    tokens: frozenset[str]
    words: frozenset[str]
    """The content words, without negations and numbers."""
    negations: tuple[str, ...]
    numbers: Mapping[str, str]
    """By their value, as they are written: "fifteen" and "15" are the same number. Without those of quantities."""
    quantities: Mapping[tuple[str, float], str]
    """By base unit and value: "60 s" and "one minute" are the same."""
    order: tuple[str, ...]
    """The tokens as they come."""


def find_contradiction(one: Memory, other: Memory) -> Contradiction | None:
    """Find the contradiction between two memories that are close in meaning; None if there is none.

    A heuristic: only one of them negates, they use opposite words, or they give different numbers, while they share
    most of their other words.
    """
    first, second = _read_claim(one.content), _read_claim(other.content)
    opposed = _find_opposites(first.tokens, second.tokens)
    words, others = first.words.difference(opposed), second.words.difference(opposed)
    # "Use tabs" and "use spaces" contradict each other though they share no other words.
    if not opposed and not (words and others):
        return None
    smaller, larger = sorted((len(words), len(others)))
    shared = len(words & others) / smaller if smaller else 1.0
    # A negation may be about a subject that only one of them has.
    same_subject = shared >= _MIN_SHARED_BY_NEGATION and len(words & others) >= _MIN_SHARED * larger
    reason = _explain(first, second, opposed, same_subject=same_subject) if shared >= _MIN_SHARED else ""
    reason = reason or _other_value(one.content, other.content, first, second)
    return Contradiction(one, other, reason) if reason else None


def _other_value(one: str, other: str, first: _Claim, second: _Claim) -> str:
    """Another quantity of the same unit, or another choice: the unit or the group of choices is the common subject."""
    units = {unit for unit, _ in first.quantities} & {unit for unit, _ in second.quantities}
    for unit in sorted(units):
        left = {key: text for key, text in first.quantities.items() if key[0] == unit}
        right = {key: text for key, text in second.quantities.items() if key[0] == unit}
        if not left.keys() & right.keys():
            return f"{', '.join(left.values())} against {', '.join(right.values())}"
    if bool(first.negations) == bool(second.negations) and (found := find_alternatives(one, other)):
        return f"{found[0]!r} against {found[1]!r}"
    return ""


def _explain(one: _Claim, other: _Claim, opposed: tuple[str, ...], *, same_subject: bool) -> str:
    if same_subject and bool(one.negations) != bool(other.negations):
        return f"one of them says {', '.join(map(repr, one.negations or other.negations))}"
    if opposed:
        return f"{opposed[0]!r} against {opposed[1]!r}"
    if one.tokens == other.tokens and one.order != other.order and one.tokens & _TURNING:
        return f"the same words in another order, around {', '.join(map(repr, sorted(one.tokens & _TURNING)))}"
    if (gone := one.numbers.keys() - other.numbers) and (come := other.numbers.keys() - one.numbers):
        return f"{_word_numbers(gone, one)} against {_word_numbers(come, other)}"
    return ""


def _word_numbers(numbers: Collection[str], claim: _Claim) -> str:
    return ", ".join(claim.numbers[number] for number in sorted(numbers))


def _find_opposites(one: frozenset[str], other: frozenset[str]) -> tuple[str, ...]:
    """The first pair of opposite words of which each text has one; empty for none."""
    gone, come = one - other, other - one
    for left, right in _OPPOSITES:
        for first, second in ((left, right), (right, left)):
            if first in gone and second in come:
                return first, second
    return ()


# Each memory is compared with many others.
@lru_cache(maxsize=16384)
def _read_claim(content: str) -> _Claim:
    tokens = frozenset(re.findall(r"\w+", content.lower()))
    return _Claim(
        tokens=tokens,
        words=frozenset(stem(term) for term in content_terms(_NEGATION.sub(" ", content)) if not is_number(term)),
        negations=tuple(sorted({match[0].lower() for match in _NEGATION.finditer(content)})),
        numbers=numbers_in(without_quantities(content)),
        quantities=quantities_in(content),
        order=tuple(re.findall(r"\w+", content.lower())),
    )


def numbers_in(text: str) -> dict[str, str]:
    """The numbers of a text as they are written, by their value in digits: {"15": "fifteen"}."""
    found = {_drop_grouping(number): number for number in _DIGITS.findall(text)}
    for match in _WORDS.finditer(text):
        found.setdefault(str(_value(match[0])), match[0])
    return found


def quantities_in(text: str) -> dict[tuple[str, float], str]:
    """The quantities of a text as they are written, by (base unit, value): {("s", 60.0): "one minute"}."""
    found: dict[tuple[str, float], str] = {}
    for match in _QUANTITY.finditer(text):
        unit, factor = _UNITS[match["unit"].lower()]
        found.setdefault((unit, round(_amount(match["number"]) * factor, 6)), match[0])
    for word in re.findall(r"\w+", text.lower()):
        if word in _DAILY:
            found.setdefault(("s", _DAILY[word]), word)
    return found


def without_quantities(text: str) -> str:
    """The text without its quantities."""
    return _QUANTITY.sub(" ", text)


def _amount(number: str) -> float:
    if not number[0].isdigit():
        return 1.0 if re.match(r"an?\b", number, re.IGNORECASE) else float(_value(number))
    plain = _drop_grouping(number)
    return float(plain.replace(",", ".")) if plain.count(".") + plain.count(",") <= 1 else 0.0


def is_number(term: str) -> bool:
    """Whether a word is a number or a part of one."""
    return term.isdigit() or term in _VALUES or term in _FACTORS


def _drop_grouping(number: str) -> str:
    return number.replace(",", "") if _GROUPED.fullmatch(number) else number


def _value(words: str) -> int:
    """ "two hundred and five thousand" is 205,000."""
    total = current = 0
    for word in re.findall(r"[a-z]+", words.lower()):
        if word in _VALUES:
            current += _VALUES[word]
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in _FACTORS:
            total += max(current, 1) * _FACTORS[word]
            current = 0
    return total + current


def find_alternatives(one: str, other: str) -> tuple[str, str] | None:
    """Two choices of one group, if each text names exactly one of them, another one; else None."""
    first, second = _find_choices(one), _find_choices(other)
    for group in sorted(first.keys() & second.keys()):
        if len(first[group]) == len(second[group]) == 1:
            ((left, shown), (right, shown_too)) = (*first[group].items(), *second[group].items())
            if left != right:
                return shown, shown_too
    return None


@lru_cache(maxsize=4096)
def _find_choices(text: str) -> dict[int, dict[str, str]]:
    """The choices that a text names, as they are written, by their group."""
    found: dict[int, dict[str, str]] = {}
    for word in _CHOICE.findall(text):
        for group, choice in _choices().get(word.lower(), ()):
            found.setdefault(group, {}).setdefault(choice, word)
    return found


@cache
def _choices() -> dict[str, list[tuple[int, str]]]:
    known: dict[str, list[tuple[int, str]]] = {}
    for number, group in enumerate(_GROUPS):
        for choice in group.split():
            for name in choice.split("|"):
                known.setdefault(name, []).append((number, choice))
    return known


@lru_cache(maxsize=16384)
def canonical_text(text: str) -> str:
    """The text without what carries nothing; equal for two texts that say the same."""
    text = unicodedata.normalize("NFC", text.strip()).translate(_STRAIGHT)
    if _LAYOUT.search(text):
        return text
    first, *others = _FULL_STOP.sub("", text).split() or [""]
    # A capital begins the sentence; anywhere else it makes a name.
    words = (first.lower() if first.istitle() and len(first) > 1 else first, *others)
    return " ".join(word for word in words if word not in _FILLERS)


def may_say_the_same(one: Memory, other: Memory) -> bool:
    """Whether two memories that are close in meaning are worth a look: no known difference carries something."""
    first, second = _find_names(one.content), _find_names(other.content)
    return not (first - second and second - first) and find_contradiction(one, other) is None


def _find_names(text: str) -> frozenset[str]:
    return frozenset(name.lower().removesuffix("s") for name in _NAME.findall(text))
