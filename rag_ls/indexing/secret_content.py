"""Recognises text that holds secrets, whatever the file's name: private keys, tokens of a distinctive form, and variables.

The rules are few and cheap, because each file passes them. Files with other secrets belong into an ignore file.
"""

from __future__ import annotations

import os
import re

_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\s")
# Only tokens whose form says that they are alive somewhere. Test keys of services do not count.
# Each begins with a literal, because that is found ten times as fast as an alternative.
_TOKENS = tuple(
    map(
        re.compile,
        (
            rb"gh[opsur]_[A-Za-z0-9]{36}\b", rb"github_pat_\w{60,}", rb"glpat-[\w-]{20}\b", rb"npm_[A-Za-z0-9]{36}\b",
            rb"xox[abprs]-\d{10,}-[\w-]{20,}", rb"sk-(?:ant|proj|svcacct)-[\w-]{40,}", rb"k_live_\w{20,}",
            rb"AIza[\w-]{35}\b", rb"pypi-AgEI[\w-]{50,}", rb"SG\.[\w-]{22}\.[\w-]{43}",
            rb"aws_secret_access_key\W{1,6}[A-Za-z0-9/+]{40}\b", rb"AWS_SECRET_ACCESS_KEY\W{1,6}[A-Za-z0-9/+]{40}\b",
        ),
    )
)  # fmt: skip
_EXAMPLE = re.compile(
    rb"example|sample|dummy|fake|placeholder|changeme|your|redacted|0123456|1234567|abcdef|x{6}|(.)\1{5}", re.I
)

# A file of variables, as `.env` is, under another name.
_PLAIN_SUFFIXES = frozenset(
    " .txt .conf .cfg .ini .properties .sh .bash .zsh .fish .envrc .vars .local .prod .production .dev .development .staging "
    ".test .bak .old .backup .save .orig .secret .secrets".split(" ")
)
_TEMPLATE = re.compile(r"example|sample|template|dist\b|default|schema", re.I)
_MAX_VARIABLES_BYTES = 50_000
_ASSIGNMENT = re.compile(rb"(?:export\s+|set\s+(?:-\w+\s+)*)?[A-Za-z_][\w.]*\s*=")
_SET_SECRET = re.compile(
    rb"""(?:export\s+|set\s+(?:-\w+\s+)*)?\w*
    (?:SECRET|PASSWORD|PASSWD|PASSPHRASE|TOKEN|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?|DATABASE_URL)\w*+
    \s*+=\s*+["']?(?P<value>[^\s"'#$<{%]{8,})""",
    re.I | re.X,
)


def holds_secrets(path: str, data: bytes) -> bool:
    """Whether a file's bytes hold a private key, a token, or variables that are set to secrets."""
    if _PRIVATE_KEY.search(data):
        return True
    found = (token for pattern in _TOKENS for token in pattern.finditer(data))
    if any(not _EXAMPLE.search(token[0]) for token in found):
        return True
    name = path.rpartition("/")[2]
    is_plain = os.path.splitext(name)[1].lower() in _PLAIN_SUFFIXES
    return is_plain and not _TEMPLATE.search(name) and len(data) <= _MAX_VARIABLES_BYTES and _sets_secrets(data)


def _sets_secrets(data: bytes) -> bool:
    """Whether a text is nothing but variables, and one of them is a secret."""
    lines = [line for raw in data.splitlines() if (line := raw.strip()) and not line.startswith((b"#", b";", b"["))]
    if not lines or not all(map(_ASSIGNMENT.match, lines)):
        return False
    values = (found["value"] for line in lines if (found := _SET_SECRET.match(line)))
    return any(_is_secret(value) for value in values)


def _is_secret(value: bytes) -> bool:
    has_both = re.search(rb"[A-Za-z]", value) and re.search(rb"\d", value)
    return bool(has_both) and not _EXAMPLE.search(value)
