"""Made-up secrets of each form: they open nothing, and are put together here so that no scanner takes this file for a leak."""

from __future__ import annotations

import base64
import random
import string

_CHOSEN = random.Random(58)
LOWER, DIGITS = string.ascii_lowercase, string.digits
HEX, WORD = DIGITS + "abcdef", string.ascii_letters + DIGITS


def draw(count: int, letters: str = WORD) -> str:
    """Random characters, with a letter and a digit where the alphabet has both."""
    drawn = "".join(_CHOSEN.choices(letters, k=count))
    return drawn[:-4] + "".join(
        _CHOSEN.choice([each for each in letters if each in part] or letters) for part in (LOWER, DIGITS) * 2
    )


def encode(text: str) -> str:
    """A text in base64 as tokens have it."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def make_key(name: str = "PRIVATE KEY", end: str = "\n", lines: int = 4) -> str:
    """A key of several lines, with line ends of a kind."""
    body = end.join(draw(64, WORD + "+/") for _ in range(lines))
    return f"-----BEGIN {name}-----{end}{body}{end}-----END {name}-----"


def make_putty_key(version: int = 3) -> str:
    """A key as PuTTY keeps it."""
    public, private = (f"{each}-Lines: 2\n{draw(64)}\n{draw(40)}\n" for each in ("Public", "Private"))
    head = f"PuTTY-User-Key-File-{version}: ssh-ed25519\nEncryption: none\nComment: mine\n"
    return f"{head}{public}{private}Private-MAC: {draw(40, HEX)}"


_CLAIMS = f'{{"sub":"{draw(8)}","exp":1893456000}}'
TOKENS = {
    "private key in base64": [base64.b64encode(make_key("RSA PRIVATE KEY").encode()).decode()],
    "age key": ["AGE-SECRET-" + "KEY-1" + draw(58).upper()],
    "rag-ls token": ["ragls" + "_" + draw(43)],
    "GitHub token": [*(f"gh{each}_" + draw(36) for each in "pousr"), "github_" + "pat_" + draw(82)],
    "GitLab token": ["glpat" + "-" + draw(20), "GR1348941" + draw(20), "gldt" + "-" + draw(20)],
    "npm token": ["npm" + "_" + draw(36), "//registry.npmjs.org/:_auth" + f"Token={draw(8, HEX)}-{draw(4, HEX)}-{draw(12, HEX)}"],
    "PyPI token": ["pypi-" + "AgEIcHlwaS5vcmc" + draw(70)],
    "Docker token": ["dckr" + "_pat_" + draw(27)],
    "Hugging Face token": ["hf" + "_" + "aB" + draw(32, string.ascii_letters)],
    "Anthropic API key": ["sk-" + "ant-api03-" + draw(80)],
    "OpenAI API key": ["sk-" + "proj-" + draw(60), "sk-" + draw(20) + "T3Blbk" + "FJ" + draw(20)],
    "Google API key": ["AI" + "za" + draw(35)],
    "Google OAuth secret": ["GOC" + "SPX-" + draw(28)],
    "AWS access key": ["AK" + "IA" + draw(16, string.ascii_uppercase + DIGITS).upper()],
    "secret key": [f"aws_secret_access_key = {draw(40)}", f"AWS_SECRET_ACCESS_KEY={draw(40)}", f"secretKey: '{draw(48, HEX)}'"],
    "Azure storage key": ["Account" + "Key=" + draw(86) + "=="],
    "DigitalOcean token": ["dop" + "_v1_" + draw(64, HEX)],
    "Databricks token": ["da" + "pi" + draw(32, HEX)],
    "Vault token": ["hv" + "s." + draw(90)],
    "Slack token": ["xox" + f"b-{draw(11, DIGITS)}-{draw(12, DIGITS)}-{draw(24)}", "xapp" + f"-1-{draw(11).upper()}-{draw(64, HEX)}"],
    "Slack hook": ["https://hooks.slack" + f".com/services/T{draw(8)}/B{draw(8)}/{draw(24)}"],
    "Discord hook": ["https://discord.com/api" + f"/webhooks/{draw(18, DIGITS)}/{draw(68)}"],
    "Discord token": [encode("1" + draw(17, DIGITS)) + f".G{draw(5)}.{draw(38)}"],
    "Telegram token": [draw(10, DIGITS) + ":A" + "A" + draw(33)],
    "Stripe key": ["sk" + "_live_" + draw(24), "rk" + "_live_" + draw(24)],
    "Square secret": ["sq0" + "csp-" + draw(43)],
    "Shopify token": ["shp" + "at_" + draw(32, HEX)],
    "SendGrid key": ["S" + f"G.{draw(22)}.{draw(43)}"],
    "Mailchimp key": [draw(32, HEX) + "-us" + "12"],
    "Twilio key": ["S" + "K" + draw(32, HEX)],
    "Artifactory key": ["AK" + "C" + draw(60)],
    "JSON web token": [".".join((encode('{"alg":"HS256","typ":"JWT"}'), encode(_CLAIMS), draw(43)))],
    "password in a URL": ["https://deploy:" + f"{draw(12)}@git.acme.org/x.git", "postgres://admin:" + "hunter2@db.acme.org/shop"],
    "Basic credentials": ["Authorization: " + "Basic " + base64.b64encode(b"deploy:correct horse").decode()],
    "Bearer token": ["Authorization: " + "Bearer " + draw(32)],
}  # fmt: skip
"""Secrets of one line, by kind."""

_NAMES = (
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
)
KEYS = {
    **{name: make_key(name) for name in _NAMES},
    "SSH2": make_key("SSH2 ENCRYPTED PRIVATE KEY").replace("-----", "---- ").replace("---- BEGIN", "---- BEGIN"),
    "line ends of Windows": make_key(end="\r\n"),
    "one line with escaped ends": make_key(end="\\n"),
    "one line with ends escaped twice": make_key(end="\\\\n"),
    "strings that are joined": make_key(end='\\n" +\n    "'),
    "lines of a notebook": make_key(end='\\n",\n    "'),
    "lines of a page": make_key(end="<br>\n"),
    "line ends of XML": make_key(end="&#10;"),
    "no end": make_key().rpartition("\n")[0],
    "PuTTY 2": make_putty_key(2),
    "PuTTY 3": make_putty_key(3),
}
"""Keys, by how they are written."""

ALL = {f"{kind} {at}": secret for kind, secrets in TOKENS.items() for at, secret in enumerate(secrets)} | KEYS
