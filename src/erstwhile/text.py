"""The one tokenizer: every word that is indexed, searched, highlighted or compared as a phrase is split here.

Knows text only. Every step is a function of one chunk alone, so that a chunk gives the same tokens wherever it stands,
in a document as in a query.

    chunk       src/lib/i18n.ts,            between spaces and the ASCII punctuation that joins nothing
    parts       src/lib/i18n.ts             compounds, words and CJK runs
    pieces      src  lib  i 18 n  ts        the smallest parts, in reading order: the stream (stemmed)
    wholes      src/lib/i18n.ts  i18n       what the pieces were cut from: beside the stream, whose neighbours stay so
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from itertools import chain, pairwise
from operator import add

import Stemmer

from .values import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

__all__ = [
    "STOP_WORDS",
    "VERSION",
    "Term",
    "Tokens",
    "analyse",
    "exact",
    "folded",
    "indexed",
    "key",
    "pack",
    "packed_unstemmed",
    "positions",
    "spans",
    "stemmed",
    "terms",
    "unstemmed",
]

VERSION = 1
"""Goes up whenever any text gives other tokens; the index records it."""

STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below both but by can could
    did do does doing don down during each few for from further get got had has have having he her here him his how i
    if in into is it its just may me might more most must my no not of off on once only or other our out over own s
    same shall she should so some such t than that the their them then there these they this to too under until up very
    was we were what when where which while who whom why will with would you your
    """.split()
)

PIECE_LIMIT = 64
WHOLE_LIMIT = 200
BLOB_LENGTH = 128
BLOB_MEAN = 20
SHORT = 24
MEMO_LIMIT = 200_000

Region = tuple[int, int, str]
"""Start, end (exclusive) and the token there."""


class Tokens(NamedTuple):
    stream: list[str]
    """Words and pieces in reading order, stemmed; a CJK run c1c2c3 stands as `c1 c1c2 c2 c2c3 c3`."""
    wholes: list[str]
    """Whole forms of compounds. One of ASCII letters only (`GitHub`) is stemmed, as the word `github` would be."""


class Indexed(NamedTuple):
    packed: bytes
    """As `pack` of the tokens."""
    words: str
    """The tokens joined by spaces, in any order."""


class Term(NamedTuple):
    """One part of query text.

    A word is in a text whose tokens, stream or wholes, hold its one stream token. A compound is in a text whose tokens,
    stream or wholes, hold `whole`, or whose stream holds `stream` side by side if that is longer than one. A CJK run is
    in a text whose stream holds all of `strong`, and unbroken there if the stream holds `stream` side by side.
    """

    text: str
    """As typed."""
    kind: str
    """word, compound or cjk."""
    whole: str | None
    """The whole of a compound; None when it is too long to be kept."""
    stream: tuple[str, ...]
    stop: bool = False
    strong: tuple[str, ...] = ()
    """The pairs of a CJK run, or its character when it has only one; the stream of a word or compound."""


# -- patterns and tables -----------------------------------------------------------------------------------------------

# Compiling counts in every search, and a class of all CJK characters or combining marks takes 1 to 5 ms in Python 3.11.
# So the patterns are small and run over a *shape*: the text itself or, where that is not ASCII, one letter a character.
_CHUNK = re.compile(r"""[^\x00-"$-*,;-?\[\]\^`{-\x7f]+""")
"""Letters, digits, `_`, joiners, and all that is not ASCII."""
_PARTS = re.compile(r"一+|[a-zA-Z0-9_][a-zA-Z0-9_\-./:@\\#+]*")
_WORDS = re.compile(r"[a-zA-Z0-9_]+|\+\+|\#\Z")
_PIECES = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_COLOURS = r"\x1b\[[0-9;:?]*[A-Za-z]"
_JOINERS = "-./:@\\#+"
_CJK_RANGES = (
    ("\u1100", "\u11ff"),  # Hangul letters; NFKC has composed modern syllables
    ("\u3005", "\u3007"),  # 々〆〇
    ("\u3021", "\u3029"),
    ("\u3031", "\u3035"),
    ("\u303b", "\u303c"),
    ("\u3041", "\u3096"),
    ("\u309d", "\u309f"),
    ("\u30a1", "\u30fa"),  # without the middle dot ・, which separates
    ("\u30fc", "\u30ff"),
    ("\u3131", "\u318e"),
    ("\u31f0", "\u31ff"),
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\ua960", "\ua97c"),
    ("\uac00", "\ud7fb"),
    ("\uf900", "\ufaff"),
    ("\U0001aff0", "\U0001b16f"),
    ("\U00020000", "\U0003ffff"),
)
_CJK_MARKS = "\u302a\u302b\u302c\u302d\u302e\u302f\u3099\u309a" + "".join(
    map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
_CJK_RUN = "[" + "".join(map("-".join, _CJK_RANGES)) + "\u302a-\u302f\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef]+"
"""Compiled at the first long CJK text: it takes 2 ms, and is ten times faster than shapes are."""
_IGNORED = dict.fromkeys((0xAD, 0x20E3, 0x200C, 0x200D, 0x2060, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
"""Invisible inside a word, as in Unicode's case folding for identifiers: soft hyphen, joiners, variant selectors."""
_HEX = frozenset("0123456789abcdefABCDEF")

_stem = Stemmer.Stemmer("english", 0).stemWord


# -- what others call --------------------------------------------------------------------------------------------------


def analyse(text: str) -> Tokens:
    """The tokens of a document."""
    stream: list[str] = []
    wholes: list[str] = []
    for some, others, _ in map(_MEMO.__getitem__, _CHUNK.findall(_normal(text))):
        stream += some
        if others:
            wholes += others
    return Tokens(stream, wholes)


def indexed(text: str) -> Indexed:
    """`analyse` as the store and the index keep it, without making the lists: three times as fast."""
    chunks = _CHUNK.findall(_normal(text))
    if not chunks:
        return Indexed(b"", "")
    streams, wholes, words = zip(*map(_FORMS.__getitem__, chunks))
    return Indexed(b"".join(streams) + b"".join(wholes), " ".join(words))


def exact(text: str) -> list[str]:
    """The stream without stems: what a quoted phrase is compared with."""
    return [token for chunk in _CHUNK.findall(_normal(text)) for token in _MEMO[chunk][2]]


def folded(text: str) -> str:
    """The text as tokens are spelled before they are stemmed."""
    form = _fold(_normal(text))
    return form.replace("\\", "/") if "\\" in form else form


def unstemmed(text: str) -> list[str]:
    """The tokens of `analyse` without stems, in another order."""
    return [token for chunk in _CHUNK.findall(_normal(text)) for token in _unstemmed(chunk)]


def packed_unstemmed(text: str) -> bytes:
    """`unstemmed`, four bytes a token."""
    return b"".join(map(_PLAIN_FORMS.__getitem__, _CHUNK.findall(_normal(text))))


def key(token: str) -> bytes:
    """The four bytes that stand for a token in `pack`."""
    return zlib.crc32(token.encode("utf-8", "surrogatepass")).to_bytes(4, "little")


def pack(tokens: Tokens) -> bytes:
    """Four bytes a token: the stream, then the wholes."""
    return _packed(tokens.stream) + _packed(tokens.wholes)


def _packed(tokens: Iterable[str]) -> bytes:
    return b"".join(map(_KEYS.__getitem__, tokens))


def terms(text: str) -> list[Term]:
    """The parts of query text in order; each of their tokens is among those of `analyse(text)`."""
    return [_term(text[place.start : place.end], place) for place in _places(text) if place.pieces]


def positions(text: str) -> Iterator[Region]:
    """Each token of the stream, in stream order, with its place in the text as given."""
    for place in _places(text):
        yield from place.pieces


def spans(text: str, wanted: Collection[str] | None = None) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """The places of all tokens, stream and wholes, in the text as given; ordered by start, the wider first.

    With `wanted`, chunks that hold none of these tokens are passed over, which is much faster.
    """
    for place in _places(text, wanted):
        found: dict[tuple[int, int], tuple[str, ...]] = {}
        for start, end, token in chain(place.wholes, place.pieces):
            found[start, end] = (*found.get((start, end), ()), token)
        for start, end in sorted(found, key=lambda at: (at[0], -at[1])):
            yield start, end, found[start, end]


# -- text to parts -----------------------------------------------------------------------------------------------------


def _normal(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    if "\x1b[" in text:
        # Colour codes become spaces, so that `ESC[31mFAIL` holds `FAIL` and not `31mFAIL`.
        text = re.sub(_COLOURS, lambda code: " " * len(code[0]), text)
    return text


def _parts(chunk: str) -> Iterator[tuple[int, str, str]]:
    """The CJK runs, compounds and words in a chunk: where they start, what they are, and their shape."""
    if chunk.isascii():
        yield from _shaped_parts(0, chunk, chunk)
    elif len(chunk) <= SHORT:
        yield from _shaped_parts(0, chunk, _shape(chunk))
    else:
        last = 0
        for match in re.finditer(_CJK_RUN, chunk):
            if run := match[0].lstrip(_CJK_MARKS):
                start = match.end() - len(run)
                yield from _shaped_parts(last, chunk[last:start], _shape(chunk[last:start]))
                yield start, run, "一"
                last = match.end()
        yield from _shaped_parts(last, chunk[last:], _shape(chunk[last:]))


def _shaped_parts(offset: int, chunk: str, shape: str) -> Iterator[tuple[int, str, str]]:
    for match in _PARTS.finditer(shape):
        start, end = match.start(), match.start() + len(match[0].rstrip(_JOINERS))
        if shape.startswith("++", end):
            end += 2
        elif shape.startswith("#", end):
            end += 1
        yield offset + start, chunk[start:end], shape[start:end]


def _shape(chunk: str) -> str:
    """One letter a character: itself if ASCII, `A` for upper case, `a` for other letters, `0` for digits, `一` for CJK,
    else a space; a combining mark has the letter of its base."""
    shape = "".join(map(_KINDS.__getitem__, chunk))
    if "'" in shape:
        kinds = [" ", *shape]
        for at, kind in enumerate(kinds):
            if kind == "'":
                kinds[at] = kinds[at - 1] if kinds[at - 1] != "一" or chunk[at - 1] in _CJK_MARKS else " "
        shape = "".join(kinds[1:])
    return shape


def _kind(character: str) -> str:
    if character.isascii():
        return character
    if any(low <= character <= high for low, high in _CJK_RANGES):
        return "一"
    if character.isalnum():
        return "A" if character.isupper() else "0" if character.isdecimal() else "a"
    return "'" if _continues(character) else " "


def _continues(character: str) -> bool:
    # Python's \w has no combining marks, but Devanagari vowels and Thai tones are parts of words.
    return ord(character) in _IGNORED or unicodedata.category(character)[0] == "M"


class _Place(NamedTuple):
    """A part of a text with its pieces (stemmed) and wholes, all at their places in the text as given."""

    start: int
    end: int
    cjk: bool
    stop: bool
    pieces: list[Region]
    wholes: list[Region]


def _places(text: str, wanted: Collection[str] | None = None) -> Iterator[_Place]:
    normal, origin = _aligned(text)
    holding = None if wanted is None else _holding(set(_CHUNK.findall(normal)), frozenset(wanted))
    for match in _CHUNK.finditer(normal) if holding is None or holding else ():
        if holding is not None and match[0] not in holding:
            continue
        if _is_plain(match[0]):
            word, (start, end) = match[0].lower(), _original(*match.span(), origin)
            yield _Place(start, end, False, word in STOP_WORDS, [(start, end, _stem(word))], [])
            continue
        for offset, part, shape in _parts(match[0]):
            start = match.start() + offset
            pieces, wholes = _parse(part, shape)
            yield _Place(
                *_original(start, start + len(part), origin),
                cjk=shape[0] == "一",
                stop=len(pieces) == 1 and not wholes and pieces[0][2] in STOP_WORDS,
                pieces=[(*_original(start + low, start + high, origin), stemmed(token)) for low, high, token in pieces],
                wholes=[(*_original(start + low, start + high, origin), stemmed(token)) for low, high, token in wholes],
            )


def _holding(chunks: set[str], wanted: frozenset[str]) -> set[str]:
    return {chunk for chunk in chunks if not all(map(wanted.isdisjoint, _MEMO[chunk][:2]))}


def _original(start: int, end: int, origin: list[tuple[int, int]] | None) -> tuple[int, int]:
    return (start, end) if origin is None else (origin[start][0], origin[end - 1][1])


def _aligned(text: str) -> tuple[str, list[tuple[int, int]] | None]:
    """The normal form and, where it differs, the place in the text of each of its characters."""
    normal = _normal(text)
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return normal, None
    origin: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and _merges(text[end]):
            end += 1
        origin += [(start, end)] * len(unicodedata.normalize("NFKC", text[start:end]))
        start = end
    return normal, origin


def _merges(character: str) -> bool:
    """Whether normalisation may merge the character with the one before it."""
    return character > "\u02ff" and (
        unicodedata.category(character)[0] == "M" or "\u1160" <= character <= "\u11ff" or character in "\uff9e\uff9f"
    )


# -- a part to its tokens ----------------------------------------------------------------------------------------------


def _is_plain(chunk: str) -> bool:
    """Whether the chunk is one word without structure, as most are: a short cut to what `_parse` makes of it."""
    return chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk.istitle()) and len(chunk) <= PIECE_LIMIT


def _parse(part: str, shape: str) -> tuple[list[Region], list[Region]]:
    """The pieces and the wholes of a part, none of them stemmed, the widest whole first."""
    if shape[0] == "一":
        return _cjk_run(part), []
    pieces: list[Region] = []
    wholes: list[Region] = []
    words = 0
    for match in _WORDS.finditer(shape):
        start, end = match.span()
        words += 1
        if shape[start] in "+#":
            pieces.append((start, end, match[0]))
            continue
        places = [(start + low, start + high) for low, high in _cut_word(match[0])]
        pieces += [(low, high, token) for low, high in places if (token := _cut(_fold(part[low:high])))]
        if places and places[0] != (start, end) and end - start <= WHOLE_LIMIT:
            wholes.append((start, end, _whole(part[start:end])))
    if len(part) > BLOB_LENGTH and len(part) >= BLOB_MEAN * len(pieces):
        return [(0, len(part), _cut(_fold(part)))], []
    if pieces and words > 1 and len(part) <= WHOLE_LIMIT:
        wholes.insert(0, (0, len(part), _whole(part)))
    return pieces, wholes


def _cjk_run(run: str) -> list[Region]:
    tokens, starts = _cjk_tokens(run)
    ends = [*starts[1:], len(run)]
    return [(starts[at // 2], ends[(at + 1) // 2], token) for at, token in enumerate(tokens)]


def _cjk_tokens(run: str) -> tuple[list[str], Sequence[int]]:
    """Each character and each pair, and where the characters start."""
    starts: Sequence[int] = range(len(run))
    units: Sequence[str] = run
    if not run.isalpha():
        starts = [at for at in starts if not _continues(run[at])]
        units = [run[low:high].translate(_IGNORED) for low, high in pairwise([*starts, len(run)])]
    tokens = [""] * (2 * len(units) - 1)
    tokens[::2] = units
    tokens[1::2] = map(add, units, units[1:])
    return tokens, starts


def _cut_word(shape: str) -> list[tuple[int, int]]:
    """Where the pieces of a word lie: between underscores, at the humps of camelCase, between letters and digits."""
    places: list[tuple[int, int]] = []
    start = 0
    for segment in shape.split("_"):
        if segment:
            places += [(start + low, start + high) for low, high in _cut_segment(segment)]
        start += len(segment) + 1
    return places


def _cut_segment(shape: str) -> list[tuple[int, int]]:
    uncut = [(0, len(shape))]
    if len(shape) > WHOLE_LIMIT or (shape.isalpha() and (shape.islower() or shape.istitle())):
        return uncut
    places = [match.span() for match in _PIECES.finditer(shape)]
    digits = [shape[low] <= "9" for low, _ in places]
    runs = 1 + sum(a != b for a, b in pairwise(digits))
    if runs >= 3 and _HEX.issuperset(shape):
        return uncut
    least = 2 if len(places) > 3 else 0
    if runs > 3:
        # getV2ApiK8sClient is cut at its humps; a hash or base64 has humps too, but close together.
        humps = [0, *(low for low, _ in places[1:] if shape[low].isupper()), len(shape)]
        places, least = list(pairwise(humps)), 3
    return places if len(shape) >= least * len(places) else uncut


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text.translate(_IGNORED).casefold())


def _cut(token: str) -> str:
    """The token, or its beginning with a checksum: blobs are found by themselves and do not fill the index."""
    if len(token) <= PIECE_LIMIT:
        return token
    return f"{token[:PIECE_LIMIT]}~{zlib.crc32(token.encode()):08x}"


def _whole(text: str) -> str:
    """The whole form, one for `C:\\src` and `c:/src`; one of letters only is what its lower case would be alone, and
    is stemmed like it."""
    folded = _fold(text)
    if folded.isalpha():
        return _cut(folded)
    return "/".join(filter(None, folded.split("\\"))) if "\\" in folded else folded


def stemmed(token: str) -> str:
    """The token that a folded word is indexed by."""
    return _stem(token) if token.isascii() and token.isalpha() else token


def _term(text: str, place: _Place) -> Term:
    stream = tuple(token for _, _, token in place.pieces)
    if place.cjk:
        return Term(text, "cjk", None, stream, False, stream[1::2] or stream)
    whole = place.wholes[0][2] if place.wholes and place.wholes[0][:2] == (place.start, place.end) else None
    kind = "compound" if whole is not None or len(stream) > 1 else "word"
    return Term(text, kind, whole, stream, place.stop, stream)


# -- memory of what was seen before ------------------------------------------------------------------------------------


def _unstemmed(chunk: str) -> list[str]:
    _, wholes, plain = _MEMO[chunk]
    if not wholes:
        return list(plain)
    parts = (_parse(part, shape)[1] for _, part, shape in _parts(chunk))
    return [*plain, *(token for found in parts for _, _, token in found)]


Entry = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""A chunk's stream, its wholes, and its stream without stems."""


def _entry(chunk: str) -> Entry:
    if _is_plain(chunk):
        folded = chunk.lower()
        return (_stem(folded),), (), (folded,)
    stream: list[str] = []
    wholes: list[str] = []
    plain: list[str] = []
    for _, part, shape in _parts(chunk):
        if shape[0] == "一":
            tokens = _cjk_tokens(part)[0]
            stream += tokens
            plain += tokens
        else:
            pieces, others = _parse(part, shape)
            stream += [stemmed(token) for _, _, token in pieces]
            wholes += [stemmed(token) for _, _, token in others]
            plain += [token for _, _, token in pieces]
    return tuple(stream), tuple(wholes), tuple(plain)


class _Memo(dict[str, Entry]):
    """Computes what it does not hold. Emptied when full; what is seldom seen twice, long or CJK, is not kept."""

    def __missing__(self, chunk: str) -> Entry:
        entry = _entry(chunk)
        if len(chunk) <= (160 if chunk.isascii() else 16):
            if len(self) >= MEMO_LIMIT:
                self.clear()
            self[chunk] = entry
        return entry


class _Forms(dict[str, tuple[bytes, bytes, str]]):
    """A chunk's packed stream, its packed wholes, and all its tokens joined by spaces."""

    def __missing__(self, chunk: str) -> tuple[bytes, bytes, str]:
        stream, wholes, _ = _MEMO[chunk]
        form = (_packed(stream), _packed(wholes), " ".join((*stream, *wholes)))
        if chunk in _MEMO:  # what is not worth keeping there is not worth it here
            if len(self) >= MEMO_LIMIT:
                self.clear()
            self[chunk] = form
        return form


class _PlainForms(dict[str, bytes]):
    """A chunk's tokens without stems, packed."""

    def __missing__(self, chunk: str) -> bytes:
        form = _packed(_unstemmed(chunk))
        if chunk in _MEMO:
            if len(self) >= MEMO_LIMIT:
                self.clear()
            self[chunk] = form
        return form


class _Kinds(dict[str, str]):
    def __missing__(self, character: str) -> str:
        kind = self[character] = _kind(character)
        return kind


class _Keys(dict[str, bytes]):
    def __missing__(self, token: str) -> bytes:
        if len(self) >= MEMO_LIMIT:
            self.clear()
        packed = self[token] = key(token)
        return packed


_MEMO = _Memo()
_FORMS = _Forms()
_PLAIN_FORMS = _PlainForms()
_KINDS = _Kinds()
_KEYS = _Keys()
