"""Finds the content words of a text, and synonyms of a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from rag_ls.storage import is_marked, plain_text, split_identifier, stem

_WORD = re.compile(r"\w+")

_STOP_WORDS = frozenset(
    """a about after again all also always am an and any anybody anyone anything are as at be because been before being but
    by can cannot could did do does doing done each either else ever every few for from get gets give given go goes going
    got had has have having he her here him his how i if in into is it its just let like made make makes many may me might
    more most much must my need needs never no nor not now of off on one only or other our out over own please same say
    says she should so some somebody something such take takes than that the their them then there these they thing things
    this those through to too under until up us use used uses using very want wants was way we well were what when where
    whether which while who whom whose why will with within without would yes yet you your
    aber als am an auch auf aus bei bin bis da das dass dem den der des die dies ein eine einem einen einer es fuer fur hat
    ich im in ist ja kein mit nach nicht noch nur oder sich sie sind um und uns vom von wann war was wenn wer wie wir wird
    wo zu zum zur
    au aux avec ce ces cette dans de des du elle en est et il ils je la le les leur mais ne nous ou par pas pour qu que
    qui sa se ses son sur un une vous""".split()
)

# Each line holds words that mean the same to a programmer; the first is the usual full form.
_SAME = """
authentication auth authn login signin
authorization authz permission permissions
configuration config cfg conf settings
database db
kubernetes k8s
environment env
repository repo
implementation impl
performance perf
internationalization i18n
localization l10n
accessibility a11y
observability o11y
documentation docs doc
application app
parameter param arg argument
arguments args params parameters
context ctx
request req
response resp res
message msg
error err exception failure
directory dir folder
directories dirs folders
function func fn method
library lib package dependency
dependencies deps libraries packages
development dev
production prod
staging stage
specification spec
administrator admin
temporary tmp temp
maximum max limit
minimum min
average avg mean
number num count
index idx
identifier id
pointer ptr
reference ref
string str
integer int
boolean bool
character char
object obj
variable var
value val
attribute attr property prop
properties props attributes
initialize init setup initialise
synchronous sync
asynchronous async
transaction tx txn
transmission tx
command cmd
source src
destination dest dst target
previous prev former
current curr
operation op
operations ops
infrastructure infra
continuous ci pipeline
pull pr merge mr
user account customer
delete remove drop
create add insert make
fetch get load retrieve read
write save store persist
update change modify edit
retry retries attempt attempts again
timeout deadline expiry expire expires
cache caching cached memoize
queue broker kafka rabbitmq
log logging logs logger
test tests testing spec
deploy deployment release rollout ship
rollback revert undo
migrate migration migrations
schema table tables
endpoint route url api
server backend service
client frontend ui
thread threads concurrency parallel
lock mutex locking
latency slow slowness delay
memory ram heap
bug defect issue
crash panic segfault
secret credential credentials password token key
encrypt encryption tls ssl
certificate cert certs
container docker image
cluster k8s kubernetes
node host machine instance vm
metric metrics monitoring telemetry
alert alerts paging oncall pager
schedule cron scheduled job
worker job task
payment payments billing invoice charge
currency money amount price
rounding round
date time timestamp datetime
timezone tz utc
format formatting formatter style
lint linter linting
type types typing typed
version versions versioning semver
branch branches
commit commits
convention rule guideline standard
naming name names called
decision decided decide chose chosen
reason why because rationale
pagination paging page pages cursor
upload uploads
download downloads
image picture photo
email mail
notification notifications push
search query lookup find
webhook callback hook
feature flag toggle flags
""".strip().splitlines()


def plain_terms(text: str) -> list[str]:
    """All terms of a text in order, in the form of the full-text index: without diacritics.

    Known abbreviations (k8s) are not split, nor are words with letters that no diacritic explains (ß, ø).
    """
    return [term for word in _WORD.findall(plain_text(text)) for term in _terms_of(word)]


def content_terms(text: str) -> list[str]:
    """The distinct terms of a text that are not stop words, in order; all terms if there are only stop words."""
    found = list(dict.fromkeys(plain_terms(text)))
    return [term for term in found if term not in _STOP_WORDS] or found


def says_something(text: str) -> bool:
    """Whether a text has a word that is not a stop word."""
    return any(term not in _STOP_WORDS for term in plain_terms(text))


def others(word: str) -> tuple[str, ...]:
    """Synonyms of a word: abbreviations, the full form, and programmers' synonyms."""
    return tuple(dict.fromkeys(other for line in _same().get(word, ()) for other in line if other != word))


def stems_of(text: str) -> set[str]:
    """The stems of all terms of a text."""
    return {stem(term) for term in plain_terms(text)}


def _terms_of(word: str) -> Sequence[str]:
    return (word.lower(),) if word.lower() in _same() or is_marked(word) else split_identifier(word)


@cache
def _same() -> dict[str, list[tuple[str, ...]]]:
    table: dict[str, list[tuple[str, ...]]] = {}
    for line in _SAME:
        group = tuple(line.split())
        for word in group:
            table.setdefault(word, []).append(group)
    return table
