"""Words that mean the same to a programmer: abbreviations, full forms, synonyms."""

from __future__ import annotations

from functools import cache

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
argument arg
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


def synonyms_of(word: str) -> tuple[str, ...]:
    """Synonyms of a word: abbreviations, the full form, and programmers' synonyms."""
    return tuple(dict.fromkeys(other for line in _same().get(word, ()) for other in line if other != word))


@cache
def spellings_of(word: str) -> tuple[str, ...]:
    """The abbreviations of a word, or the word that it abbreviates with the others of that: the same word, no synonyms."""
    found: list[str] = []
    for full, *others in _same().get(word, ()):
        same = [full, *(other for other in others if _abbreviates(other, full))]
        found += same if word in same else ()
    return tuple(other for other in dict.fromkeys(found) if other != word)


def _abbreviates(word: str, full: str) -> bool:
    """Whether a word is the beginning of a longer one, or some of its letters in their order."""
    letters = iter(full)
    return len(word) < len(full) and word[0] == full[0] and all(letter in letters for letter in word)


def is_known(word: str) -> bool:
    """Whether a lower-case word is in the table."""
    return word in _same()


@cache
def _same() -> dict[str, list[tuple[str, ...]]]:
    table: dict[str, list[tuple[str, ...]]] = {}
    for line in _SAME:
        group = tuple(line.split())
        for word in group:
            table.setdefault(word, []).append(group)
    return table
