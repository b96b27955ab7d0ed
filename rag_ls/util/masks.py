"""Hides the passwords and keys that an address may hold, for everything that shows one."""

from __future__ import annotations

import re

from rag_ls.util.patterns import lazy_pattern

_MASK = "***"
# To a database, a user's name is no secret; a web server may use it as the key.
_NAMES_ARE_KNOWN = ("postgres", "postgresql")
_SECRET_NAMES = r"[\w.-]*(?:password|passwd|pwd|secret|token|key|sig|signature|auth|credential)s?"
_PARAMETER = lazy_pattern(rf"(?i)(?<![\w.-])({_SECRET_NAMES})(\s*=\s*)('(?:[^'\\]|\\.)*'|[^&\s#]+)")
# A password may hold an unescaped `@`, `/` or `#`: it goes up to the last `@` of the text.
_USER = lazy_pattern(r"(?s)\b([a-zA-Z][\w+.-]*)://(.*)@")
_USER_WITHOUT_SCHEME = lazy_pattern(r"(?s)^([^:]*):.*@")


def mask_secrets(address: str) -> str:
    """An address (a URL, or `name=value` pairs) without its passwords and keys, well formed or not."""
    pattern, masked = (_USER, _masked_user) if "://" in address else (_USER_WITHOUT_SCHEME, rf"\1:{_MASK}@")
    return _PARAMETER.sub(rf"\1\2{_MASK}", pattern.sub(masked, address))


def _masked_user(found: re.Match[str]) -> str:
    scheme, user = found.groups()
    name, separator, _ = user.partition(":")
    if scheme.lower() in _NAMES_ARE_KNOWN:
        return f"{scheme}://{name}{separator and ':' + _MASK}@"
    return f"{scheme}://{_MASK}@"
