"""Takes secrets out of text before it is stored. Knows text and the rules of `redact_rules`, nothing else.

What has a shape of its own is found by its rule. What has none is found by the name it is assigned to, and masked only
if the value looks like a secret and not like code, prose or a placeholder.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from erstwhile.redact_rules import ASSIGNED_WORDS, PLACEHOLDERS, PUBLIC_NAMES, RULES, VERSION, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["VERSION", "redact"]

SHORTEST = 16
"""Characters of the shortest secret with a shape, but for passwords in URLs and blocks of many lines."""

LONGEST_NAME = max(map(len, PUBLIC_NAMES)) + 2

_MASK = "[redacted:"
_LITERALS_OF_SHORT = ("PRIVATE KEY", "://")
_LITERALS = tuple(dict.fromkeys(literal for rule in RULES for literal in rule.literals))
_WORDS = tuple(ASSIGNED_WORDS)
_SHAPED_PLACEHOLDERS = ("example", "xxxx", "placeholder", "redacted")
_PASSWORDS_OF_MANUALS = frozenset(
    ("pass", "passwd", "password", "pw", "pwd", "secret", "token", "key", "apikey", "api_key", "mypassword", "mysecret")
)

_NAME_END = r"(?i:(?:ord|d|s)?(?:[_-]?(?:access)?[_-]?key)?[0-9]{0,2})"
_ASSIGNED = re.compile(
    rf"{_NAME_END}(?:\\{{0,3}}[\"'`])?\]?"
    r"(?P<sign>[ \t]{0,4}(?::[ ]?(?:&?str|[Ss]tring|Optional\[str\])[ ]{0,2})?(?::=|=>|[:=])[ \t]{0,4})"
    r"(?:[bru]?(?P<quote>\\{0,3}[\"'`])(?P<quoted>[^\"'`\s\\]{8,512}+)(?P=quote)"
    r"|(?P<bare>[^\"'`\s\\,;()\[\]{}<>&|]{8,512}+)(?![\"'`(\[{<]))"
)
_AUTHORIZATION = re.compile(
    r"(?:(?:\\{0,3}[\"'])?[ \t]{0,3}[:=,][ \t]{0,3}(?:\\{0,3}[\"'`])?(?i:basic|bearer|token|apikey|digest))?[ \t]{1,3}"
    r"(?P<bare>[A-Za-z0-9._~+/=-]{16,4096})"
)
_CODE = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+\.?|[a-z]+(?:[_-][a-z]+)*[0-9]?|[A-Z]+(?:_[A-Z]+)*")


def redact(text: str) -> str:
    """The text with `[redacted:kind]` in place of each secret; `redact` of that is the same text."""
    while True:
        masked = _mask_assigned(_mask_shaped(text))
        if masked == text:
            return text
        # A mask may uncover a secret that touched the one it covers. Each round leaves less to mask, so this ends.
        text = masked


# -- secrets with a shape ----------------------------------------------------------------------------------------------


def _mask_shaped(text: str) -> str:
    # Seventy literals take long to look for, so they are looked for in the long words alone: no token is a short one.
    words = "\n".join([word for word in text.split() if len(word) >= SHORTEST])
    if not any(map(words.__contains__, _LITERALS)) and not any(map(text.__contains__, _LITERALS_OF_SHORT)):
        return text
    for rule in RULES:
        if any(map(text.__contains__, rule.literals)):
            text = _compiled(rule.pattern).sub(lambda match, rule=rule: _masked(match, rule), text)
    return text


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _masked(match: re.Match[str], rule: Rule) -> str:
    secret = match["secret"] if "secret" in match.re.groupindex else match[0]
    if not _is_secret(secret, rule):
        return match[0]
    start, _ = match.span("secret") if secret != match[0] else match.span()
    start -= match.start()
    return f"{match[0][:start]}{_MASK}{rule.kind}]{match[0][start + len(secret) :]}"


def _is_secret(secret: str, rule: Rule) -> bool:
    if rule.kind == "private-key":
        return True
    folded = secret.lower()
    if rule.kind == "url-password":
        return folded not in _PASSWORDS_OF_MANUALS and not _is_placeholder(secret)
    return _digits(secret) >= rule.digits and not any(word in folded for word in _SHAPED_PLACEHOLDERS)


# -- secrets by the name they are assigned to --------------------------------------------------------------------------


def _mask_assigned(text: str) -> str:
    # Lower case has the same length, so that places are the same in both: only İ would grow.
    folded = text.lower() if text.isascii() else text.replace("İ", "I").lower()
    pieces: list[str] = []
    last = 0
    for start, end, kind in sorted(_assigned(text, folded)):
        if start >= last:
            pieces += (text[last:start], _MASK, kind, "]")
            last = end
    return "".join((*pieces, text[last:])) if pieces else text


def _assigned(text: str, folded: str) -> Iterator[tuple[int, int, str]]:
    for word, kind in ASSIGNED_WORDS.items():
        at = folded.find(word)
        while at >= 0:
            end = at + len(word)
            if kind == "authorization":
                match = _AUTHORIZATION.match(text, end)
                if match and _is_credential(match["bare"]):
                    yield *match.span("bare"), kind
            elif match := _ASSIGNED.match(text, end):
                group = "quoted" if match["quoted"] else "bare"
                before = folded[max(0, at - LONGEST_NAME) : at].rstrip("_-")
                if not before.endswith(PUBLIC_NAMES) and _is_value(
                    match[group], kind, group == "quoted", text[at:end].isupper() and match["sign"] == "="
                ):
                    yield *match.span(group), kind
            at = folded.find(word, end)


def _is_credential(value: str) -> bool:
    return _digits(value) >= 2 and not _is_placeholder(value)


def _is_value(value: str, kind: str, quoted: bool, environment: bool) -> bool:
    """Whether a value assigned to a telling name is a secret: random enough for how it stands there."""
    digits = _digits(value)
    if value.isdecimal() or not (digits or quoted or environment) or _is_placeholder(value):
        return False
    mixed = digits > 0 and value.lower() != value and value.upper() != value
    if quoted and kind == "password":
        return digits > 0 or mixed or not _names_itself(value)
    if environment:
        return digits > 0 or not _names_itself(value)
    return (digits >= 2 or mixed) and not _CODE.fullmatch(value)


def _names_itself(value: str) -> bool:
    """`password = "new_password"` is a field's name or a manual's word."""
    folded = value.lower()
    return any(word in folded for word in ("pass", "pwd", "secret", "token", "key"))


def _is_placeholder(value: str) -> bool:
    folded = value.lower()
    return (
        value[0] in "$%*/.~@#<{[("
        or len(set(value)) < 4
        or "://" in value
        or "${" in value
        or "{" in value
        or any(word in folded for word in PLACEHOLDERS)
    )


def _digits(text: str) -> int:
    return len(re.findall("[0-9]", text))
