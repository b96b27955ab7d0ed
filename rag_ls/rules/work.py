"""Recognises the kinds of work that changes and rules speak of: "preallocate the slices" is performance, and so is a
section that asks for benchmarks, though they share no word."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache

from rag_ls.retrieval.asked import AskedTerms, rarity
from rag_ls.retrieval.terms import words_of
from rag_ls.search import BY_PATH
from rag_ls.storage import stem
from rag_ls.util.records import dataclass

# A section speaks of a kind half as clearly in its paragraphs as in its heading.
_PARAGRAPH_WEIGHT = 0.5
# Otherwise each "10" and "18" would mean translations.
_NUMERONYMS = {
    re.compile(r"\b(?:i18n|l10n)\b", re.IGNORECASE): "internationalization",
    re.compile(r"\ba11y\b", re.IGNORECASE): "accessibility",
}
_PULL_REQUEST = re.compile(r"\bpull[ -]request(s?)\b", re.IGNORECASE)
# The kind; words of changes; words of rules; paths of its files. Tests have no paths here, because `Roles` knows them.
_KINDS = (
    (
        "tests", "test tests testing tested spec specs fixture fixtures mock mocks cover coverage assertion assertions snapshot",
        "test tests testing tested spec specs fixture fixtures coverage", "",
    ),
    (
        "migrations", "migration migrations migrate schema column columns table tables index backfill",
        "migration migrations makemigrations alembic", r"(^|/)(migrations?|migrate|alembic)/|\.sql$",
    ),
    (
        "queries", "query queries sql orm join joins prefetch transaction transactions commit database",
        "query queries sql orm transaction transactions session repository database",
        r"(^|/)(models?|repositor(y|ies)|entities)(/|\.)",
    ),
    (
        "packages", "dependency dependencies package packages library libraries npm pip gem crate upgrade",
        "dependency dependencies",
        r"(^|/)(go\.mod|package\.json|cargo\.toml|pyproject\.toml|requirements[\w.-]*\.txt|gemfile|pom\.xml|build\.gradle|composer\.json|go\.sum|[\w.-]*[.-]lock(\.\w+)?)$",
    ),
    (
        "docs", "documentation docs document describe readme guide website wiki docstring docstrings comment comments",
        "documentation docs docstrings readme comments", r"\.(md|mdx|rst|adoc)$|(^|/)docs?/",
    ),
    (
        "translations", "translate translation translations translated locale locales internationalization wording "
        "german french japanese spanish chinese",
        "translation translations translatable locale locales internationalization",
        r"(^|/)(locales?|i18n|l10n|translations?|lang)/|\.(po|pot|xliff)$",
    ),
    (
        "style", "lint linter linting format formatter formatting prettier eslint ruff black rubocop clippy gofmt indent rename "
        "naming_convention quotes",
        "lint linter linting format formatter formatting prettier eslint ruff rubocop clippy naming_convention naming_conventions",
        r"(^|/)\.(eslint|prettier|rubocop|editorconfig)",
    ),
    (
        "performance", "performance fast faster slow slower speed allocation allocations allocate preallocate lazy lazily "
        "optimize optimization efficient efficiency",
        "performance performant benchmark benchmarks optimization optimizations optimize efficient slow", "",
    ),
    (
        "security", "security secure vulnerability vulnerabilities secret secrets credential credentials password passwords "
        "exploit bypass bypassed sanitize sanitizes csrf xss injection smuggling",
        "security secure vulnerability vulnerabilities secret secrets credentials sensitive", "",
    ),
    (
        "access", "authentication authenticate auth login logged signin signup authorization authorize permission permissions policy "
        "anonymous role roles",
        "authentication authenticated auth authorization permission permissions policy policies",
        r"(^|/)(auth|authz|polic(y|ies)|permissions?)[/._]",
    ),
    (
        "errors", "error errors exception exceptions panic panics fail fails failed failure conflict invalid 400 401 403 404 409 422 500",
        "error errors exception exceptions", r"(^|/)(errors?|exceptions?)[/._]",
    ),
    ("logging", "log logs logged logging logger", "log logs logging logger", r"(^|/)(logging|logs?)[/._]"),
    (
        "endpoints", "api rest endpoint endpoints route routes response responses payload",
        "api rest endpoint endpoints route routes controller controllers openapi",
        r"(^|/)(api|routes?|controllers?|endpoints?)(/|\.)",
    ),
    (
        "interface", "ui page pages dialog modal button buttons form forms component components layout css color colors theme dark "
        "menu card tooltip icon toast message",
        "ui component components css styling frontend design tailwind",
        r"\.(tsx|jsx|vue|svelte|css|scss|html|erb)$|(^|/)(components?|ui)/",
    ),
    (
        "jobs", "job jobs background task tasks worker workers queue queues enqueue enqueues cron schedule",
        "job jobs background tasks worker workers queue", r"(^|/)(jobs?|tasks?|workers?)(/|\.)",
    ),
    (
        "submitting", "commit commits pr prs pullrequest branch branches merge push review issue",
        "commit commits pr prs pullrequest pullrequests branch branches merge issue issues", "",
    ),
    (
        "releases", "release releases version bump tag publish changelog", "release releases changelog versioning",
        r"(^|/)(changelog|changes|releases?)(\.\w+)?$",
    ),
    ("ci", "ci workflow workflows pipeline", "ci workflow workflows actions", r"(^|/)\.(github/workflows|gitlab-ci|circleci)"),
    (
        "setup", "setup set install installation environment docker machine laptop",
        "setup install installation environment docker prerequisites", r"(^|/)(dockerfile|docker-compose)",
    ),
    (
        "decisions", "architecture decision decisions adr replace rewrite everywhere",
        "architecture decision decisions adr adrs", r"(^|/)(adrs?|decisions)/",
    ),
    (
        "settings", "config configuration setting settings option options env flag flags",
        "config configuration setting settings", r"(^|/)(config|settings)[/._]",
    ),
    (
        "validation", "validate validates validation validator validators bound",
        "validate validation validator validators schema schemas", r"schemas?\.|validat",
    ),
    (
        "concurrency",
        "concurrent concurrently simultaneously parallel race races deadlock lock locks locked twice double_click double_clicking "
        "overwrite overwrites same_moment same_time each_other at_once nobody_interferes",
        "concurrency concurrent race races lock locks locking lease leases idempotent idempotency optimistic atomic mutex "
        "goroutines threads", "",
    ),
    (
        "retries", "retry retries retried flaky transient reconnect 502 503 504 try_again once_more give_up gives_up",
        "retry retries backoff transient", "",
    ),
    (
        "limits", "throttle quota abuse spam flood 429 too_often rate_limit rate_limits brute_force blocked_by",
        "throttle throttling quota rate_limit rate_limits rate_limiting", "",
    ),
    ("timeouts", "hang hangs hung stuck forever timeout timeouts deadline", "timeout timeouts deadline deadlines", ""),
    (
        "schedules", "monday tuesday wednesday thursday friday saturday sunday weekly nightly daily hourly monthly cron every_day "
        "every_night every_week every_hour every_month",
        "schedule scheduled cron periodic", "",
    ),
    (
        "time", "timezone timezones utc utcnow daylight midnight datetime timestamp timestamps clock time_zone time_zones",
        "timezone timezones utc datetime timestamps daylight time_zone time_zones", "",
    ),
    (
        "privacy", "street birthday personal gdpr privacy tracking analytics telemetry phone_number email_address ip_address",
        "privacy personal gdpr pii telemetry consent", "",
    ),
    (
        "rollout", "gradually rollout toggle experiment beta roll_out turn_on switch_on to_everyone for_everyone feature_flag",
        "rollout toggle toggles experiment feature_flag feature_flags rolling_out", "",
    ),
    (
        "money", "price prices cent cents currency currencies tax taxes vat money euro dollar rounding",
        "money currency currencies cents vat monetary rounding", "",
    ),
    (
        "accessibility", "accessible accessibility aria contrast keyboard screen_reader alt_text only_an to_read",
        "accessible accessibility wcag aria contrast screen_reader", "",
    ),
    (
        "screens", "phone phones mobile tablet narrow desktop viewport responsive small_screen",
        "mobile viewport responsive breakpoint breakpoints", "",
    ),
    (
        "generated", "generated regenerate codegen protobuf stubs",
        "generated regenerate codegen regenerated", r"(^|/)(generated|gen)/|\.pb\.go$|[._]generated\.",
    ),
    (
        "events", "event events publish publishes subscribe subscriber broadcast emit emits broker listener without_calling",
        "event events publish publishing subscriber subscribers listeners", "",
    ),
    ("outside scripts", "widget embed iframe pixel cdn third_party", "iframe csp third_party external_scripts", ""),
    ("cleaning", "leftover leftovers orphaned garbage prune cleanup clean_up", "cleanup garbage prune retention cleaning_up", ""),
    ("progress", "percentage progress stream streams streaming", "stream streams streaming progress", ""),
    ("globals", "global globals singleton var module_level top_of", "globals singleton singletons global_state mutable_state", ""),
    ("caching", "cache caches cached memoize invalidate ttl", "cache caching cached invalidate invalidation", ""),
    ("waiting", "spinner skeleton flash flashes loading_state empty_state", "spinner skeleton loading empty_state empty_states", ""),
    (
        "compatibility", "breaking deprecate deprecated incompatible compatible compatibility backward older_than old_clients old_version",
        "breaking deprecated deprecation compatibility backward backwards semver", "",
    ),
    (
        "types", "cast as_any with_any of_any typed typing generics annotation annotations type_hints",
        "typing generics annotations type_hints any_type explicit_types", "",
    ),
    ("state", "redux zustand slice global_store", "redux zustand state_management", ""),
    ("platforms", "on_windows macos linux android ios", "on_windows macos linux platforms cross_platform", ""),
    (
        "imports", "circular private internal imports import_from import_cycle",
        "circular cyclic private internal layering layers boundaries imports", "",
    ),
    ("shutdown", "shutdown sigterm graceful gracefully restart restarts systemctl", "shutdown graceful sigterm", ""),
    (
        "wording", "wording sentence sentences tooltip capital uppercase punctuation dash phrase",
        "wording punctuation sentence capitalization prose tone sentence_case", "",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    of_changes: frozenset[str]
    of_rules: frozenset[str]
    """The stems of the words."""
    of_files: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class StatedWork:
    """The kinds of work that a section of rules speaks of."""

    heading: frozenset[str]
    paragraphs: frozenset[str]

    def clarity(self, kind: str) -> float:
        """The clarity with which it speaks of a kind, 0 to 1."""
        return 1.0 if kind in self.heading else _PARAGRAPH_WEIGHT if kind in self.paragraphs else 0.0


def _read_stems(text: str) -> frozenset[str]:
    text = _PULL_REQUEST.sub(r"pullrequest\1", text)
    for pattern, word in _NUMERONYMS.items():
        text = pattern.sub(word, text)
    stems = [stem(word) for word in words_of(text)]
    return frozenset((*stems, *map("_".join, itertools.pairwise(stems))))


def _read_listed(words: str) -> frozenset[str]:
    return frozenset("_".join(map(stem, word.split("_"))) for word in words.split())


_TABLE = tuple(
    _Kind(name, _read_listed(changes), _read_listed(rules), re.compile(files, re.IGNORECASE) if files else None)
    for name, changes, rules, files in _KINDS
)


def read_asked_work(text: str, paths: Iterable[str]) -> frozenset[str]:
    """The kinds of work that a change is, by its words and its files."""
    stems, files = _read_stems(text), tuple(paths)
    return frozenset(each.name for each in _TABLE if each.of_changes & stems or _holds_files(each, files))


@lru_cache(maxsize=1024)
def read_stated_work(heading: str, paragraphs: str) -> StatedWork:
    """The kinds of work that a section speaks of."""
    return StatedWork(_find_kinds(_read_stems(heading)), _find_kinds(_read_stems(paragraphs)))


def weigh_work(asked: AbstractSet[str], sections: Iterable[StatedWork]) -> AskedTerms:
    """The kinds of a change of which some section speaks, by their rarity among the sections."""
    known = list(sections)
    counts = {kind: sum(each.clarity(kind) > 0 for each in known) for kind in sorted(asked)}
    return AskedTerms({kind: rarity(len(known), count) for kind, count in counts.items() if count})


def judge_work(asked: AskedTerms, stated: StatedWork) -> float:
    """The part of a change's kinds that a section speaks of, by their rarity and its clarity, 0 to 1."""
    weights: Mapping[str, float] = asked.weights
    return sum(weight * stated.clarity(kind) for kind, weight in weights.items()) / asked.total if asked.total else 0.0


def _find_kinds(stems: frozenset[str]) -> frozenset[str]:
    return frozenset(each.name for each in _TABLE if each.of_rules & stems)


def _holds_files(kind: _Kind, paths: tuple[str, ...]) -> bool:
    if kind.name == "tests":
        return any(map(BY_PATH.is_test, paths))
    return kind.of_files is not None and any(map(kind.of_files.search, paths))
