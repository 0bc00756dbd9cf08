"""Takes secrets out of text before it is stored. Knows text and the rules of `redact_rules`, nothing else.

What has a shape of its own is found by its rule. What has none is found by the name it is assigned to, and masked only
if the value looks like a secret and not like code, prose or a placeholder.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import chain
from math import log2
from typing import TYPE_CHECKING

from erstwhile.redact_rules import (
    ASSIGNED_WORDS,
    ENVIRONMENT_WORDS,
    PLACEHOLDERS,
    PUBLIC_NAMES,
    RULES,
    SPACED_RULES,
    VERSION,
    Rule,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

__all__ = ["VERSION", "redact", "redact_all"]

SHORTEST = 16
"""Characters of the shortest secret with a shape, but for passwords in URLs and blocks of many lines."""

LONGEST_NAME = max(map(len, PUBLIC_NAMES)) + 2

WINDOW = 1 << 18
"""Characters of a text that are looked at together: its lines and words take many times its size."""
LONG_LINE = 1 << 16
"""Characters of a line that is looked at by itself, for the same reason."""
SHORT_LINE, REMEMBERED = 200, 100_000
"""Characters and number of the lines, and of the words, without secrets that are remembered and not looked at again."""

_CLEAN: set[str] = set()
_CLEAN_WORDS: set[str] = set()
_MASK = "[redacted:"
_BLOCK = "PRIVATE KEY"
_BLOCKS = next(rule for rule in RULES if _BLOCK in rule.literals)
"""The one rule for secrets of several lines."""
_URL = next(rule for rule in RULES if "://" in rule.literals)
"""The one rule for secrets that may be short."""
_LINE_RULES = tuple(rule for rule in RULES if rule is not _BLOCKS)
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
_HEX = re.compile("[0-9a-f]{32,}|[0-9A-F]{32,}")
ENTROPY = 3.2
"""Bits a character: random hex has 3.3 at 16 characters and 3.7 at 32, names and paths have digits rarely and stay
below where they repeat."""
_CODE = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+\.?|[a-z]+(?:[_-][a-z]+)*[0-9]?|[A-Z]+(?:_[A-Z]+)*")


def redact(text: str) -> str:
    """The text with `[redacted:kind]` in place of each secret; `redact` of that is the same text."""
    return redact_all((text,))[0]


def redact_all(texts: Sequence[str]) -> list[str]:
    """`redact` of each, several times as fast as one by one: only lines that were not seen before are looked at, all of
    them at once, and agents read the same files again and again."""
    whole = [_mask_blocks(text) if _BLOCK in text else text for text in texts]
    if any(len(text) > WINDOW for text in whole):
        return ["\n".join([_lines_masked([window])[0] for window in _windows(text)]) for text in whole]
    return _lines_masked(whole)


def _lines_masked(whole: list[str]) -> list[str]:
    """The texts with the secrets of single lines masked."""
    cut = [text.split("\n") for text in whole]
    fresh = set(chain.from_iterable(cut)).difference(_CLEAN)
    masked = {line: mask for line in _suspects(fresh) if (mask := _mask_line(line)) != line}
    _remember(_CLEAN, fresh.difference(masked))
    if not masked:
        return whole
    return [
        text if masked.keys().isdisjoint(lines) else "\n".join([masked.get(line, line) for line in lines])
        for text, lines in zip(whole, cut, strict=True)
    ]


def _windows(text: str) -> Iterator[str]:
    """The text in stretches of whole lines; joined by line ends they are the text."""
    start = 0
    while (end := text.find("\n", start + WINDOW)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


# -- lines that may hold a secret --------------------------------------------------------------------------------------


def _remember(known: set[str], lines: Iterable[str]) -> None:
    """Keeps the short ones of lines or words that hold no secret."""
    if len(known) > REMEMBERED:
        known.clear()
    known.update([line for line in lines if len(line) <= SHORT_LINE])


def _suspects(lines: Collection[str]) -> set[str]:
    """The lines that hold a secret by the first look, and the very long ones."""
    long = {line for line in lines if len(line) > LONG_LINE}
    text = "\n".join([line for line in lines if len(line) <= LONG_LINE])
    places = [start for start, _, _ in _assigned(text, _folded(text))]
    places += [match.start() for match in _compiled(_URL.pattern).finditer(text)] if "@" in text else ()
    for rule in _spaced(text):
        # not its start: a look behind may be the end of the line before
        places += [match.start("secret") for match in _compiled(rule.pattern).finditer(text)]
    for word in _shaped_words(text):
        places += _places(text, word)
    return long.union(text[text.rfind("\n", 0, at) + 1 : _end(text, at)] for at in places)


def _shaped_words(text: str) -> set[str]:
    """The words that hold a secret with a shape."""
    # A hundred literals take long to look for, so they are looked for in the long words alone: no token is a short one.
    words = {word for word in text.split() if len(word) >= SHORTEST}.difference(_CLEAN_WORDS)
    joined = "\n".join(words)
    found: set[str] = set()
    for rule in _LINE_RULES if joined else ():
        for literal in rule.literals if rule is not _URL else ():
            for at in _places(joined, literal):
                word = joined[joined.rfind("\n", 0, at) + 1 : _end(joined, at)]
                if word not in found and any(_is_masked(m, rule) for m in _compiled(rule.pattern).finditer(word)):
                    found.add(word)
    _remember(_CLEAN_WORDS, words.difference(found))
    return found


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _mask_line(line: str) -> str:
    while True:
        masked = _mask_assigned(_mask_spaced(_mask_shaped(line)))
        if masked == line:
            return line
        # A mask may uncover a secret that touched the one it covers. Each round leaves less to mask, so this ends.
        line = masked


# -- secrets with a shape ----------------------------------------------------------------------------------------------


def _mask_blocks(text: str) -> str:
    return _compiled(_BLOCKS.pattern).sub(lambda match: _masked(match, _BLOCKS), text)


def _mask_shaped(text: str) -> str:
    for rule in _LINE_RULES:
        if any(map(text.__contains__, rule.literals)):
            text = _compiled(rule.pattern).sub(lambda match, rule=rule: _masked(match, rule), text)
    return text


def _mask_spaced(text: str) -> str:
    for rule in _spaced(text):
        text = _compiled(rule.pattern).sub(lambda match, rule=rule: _masked(match, rule), text)
    return text


def _spaced(text: str) -> list[Rule]:
    """The rules of several words that may fit."""
    return [rule for rule in SPACED_RULES if any(map(text.__contains__, rule.literals))]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _masked(match: re.Match[str], rule: Rule) -> str:
    if not _is_masked(match, rule):
        return match[0]
    group = _group(match)
    start, end = (at - match.start() for at in match.span(group))
    return f"{match[0][:start]}{_MASK}{rule.kind}]{match[0][end:]}"


def _is_masked(match: re.Match[str], rule: Rule) -> bool:
    secret = match[_group(match)]
    named_after_its_user = match[0].startswith(f"://{secret}:")  # as in every manual
    return _is_secret(secret, rule) and not named_after_its_user


def _group(match: re.Match[str]) -> str | int:
    return "secret" if "secret" in match.re.groupindex else 0


def _is_secret(secret: str, rule: Rule) -> bool:
    if rule.kind == "private-key":
        return True
    folded = secret.lower()
    if rule.kind == "url-password":
        return folded not in _PASSWORDS_OF_MANUALS and not _is_placeholder(secret)
    if rule in SPACED_RULES and (folded in _PASSWORDS_OF_MANUALS or _is_placeholder(secret)):
        return False
    return _digits(secret) >= rule.digits and not any(word in folded for word in _SHAPED_PLACEHOLDERS)


# -- secrets by the name they are assigned to --------------------------------------------------------------------------


def _folded(text: str) -> str:
    """The text in lower case and of the same length, so that places are the same in both: only İ would grow."""
    return text.lower() if text.isascii() else text.replace("İ", "I").lower()


def _mask_assigned(text: str) -> str:
    pieces: list[str] = []
    last = 0
    for start, end, kind in sorted(_assigned(text, _folded(text))):
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
    for word, kind in ENVIRONMENT_WORDS.items():
        for at in _places(text, word):
            match = _ASSIGNED.match(text, at + len(word))
            if match and _is_random(value := match["quoted"] or match["bare"]) and not _is_placeholder(value):
                yield *match.span("quoted" if match["quoted"] else "bare"), kind


def _is_random(value: str) -> bool:
    """Whether a value has the look and the entropy of a key: no words and no numbers of its own."""
    mixed = value.lower() != value and value.upper() != value and _digits(value) >= 2
    return len(value) >= SHORTEST and (mixed or _HEX.fullmatch(value) is not None) and _entropy(value) >= ENTROPY


def _entropy(value: str) -> float:
    """Shannon's, in bits a character."""
    return -sum(n / len(value) * log2(n / len(value)) for n in Counter(value).values())


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
