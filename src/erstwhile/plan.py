"""From the pieces of a question to what is asked of the index and what is counted in documents. Pure."""

from __future__ import annotations

from .query import Item
from .text import Term, exact, folded, key, stemmed, terms
from .values import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Protocol

    class Words(Protocol):
        """What is known of the words there are."""

        def has(self, token: str) -> bool: ...

        def starting(self, prefix: str) -> tuple[str, ...]: ...

        def beginning(self, prefix: str, most: int) -> list[str]: ...

        def near(self, word: str) -> tuple[str, ...]: ...

        @property
        def small(self) -> bool: ...


EXACT, SCATTERED, CLOSE, INSIDE = range(4)
"""The tiers of an answer: as typed; compounds taken apart; words that no text has as those spelled almost so; last, the
text itself as a run of characters."""
MANY = 200
"""Tokens that a part of an expression may stand for; more of them narrow nothing."""
CREDIT = 0.8
"""What a word of another spelling counts."""


class Want(NamedTuple):
    """One piece of a question as the index sees it: a document has it when it holds `any_of` one token, or `all_of`
    them, or a token with `inside` in it."""

    any_of: tuple[str, ...]
    all_of: tuple[str, ...] = ()
    required: bool = False
    excluded: bool = False
    inside: str = ""


class Piece(NamedTuple):
    """One piece of a question: how it is proposed, and how it is counted in packed tokens."""

    want: Want
    pattern: bytes
    whole: bytes | None = None
    strong: bool = True
    weight: float = 1.0
    text: str = ""
    """As typed, for explanations."""
    forms: tuple[bytes, ...] = ()
    """Other packed tokens that count as the piece: what a prefix stands for, or other spellings."""


class Plan(NamedTuple):
    scored: tuple[Piece, ...]
    excluded: tuple[Piece, ...]
    phrases: tuple[tuple[str, ...], ...]
    """Unstemmed words that must stand side by side in the stored text."""
    compounds: bool
    """Whether the question names compounds, which a second try may take apart."""
    prefixes: tuple[str, ...] = ()
    """Folded beginnings of words that must stand in the stored text."""
    patterns: tuple[tuple[str, bool], ...] = ()
    """Regular expressions, and whether a text must match (else must not)."""
    corrected: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Words that no text has, and the tokens that stand for them."""
    narrowing: tuple[Want, ...] = ()
    """What a text must hold for the expressions to match; it does not count in scores."""
    pairs: tuple[tuple[int, int], ...] = ()
    """Places in `scored` of plain words that stand side by side in the question, stop words left out."""

    @property
    def verified(self) -> bool:
        """Whether the stored texts have to be read before anything is known to fit."""
        return bool(self.phrases or self.prefixes or self.patterns)


def plan(items: tuple[Item, ...], tier: int = EXACT, words: Words | None = None) -> Plan:
    """How to look for the pieces. Stop words count only when there is nothing else. Prefixes and the tier CLOSE need
    `words`."""
    items = tuple(map(_unstarred, items))
    found = [(item, term) for item in items if item.form == "words" for term in terms(item.text)]
    others = any(item.form != "words" and not item.excluded for item in items)
    kept = [(item, term) for item, term in found if item.quoted or item.excluded or item.required or not term.stop]
    if not others and not any(not item.excluded for item, _ in kept):
        kept = found
    pieces: list[Piece] = []
    corrected: dict[str, tuple[str, ...]] = {}
    for item, term in kept:
        made = _pieces(term, item, tier >= SCATTERED)
        if tier >= CLOSE and words and not (item.quoted or item.required or item.excluded):
            made = [_respelled(piece, word, words, corrected) for piece, word in zip(made, exact(term.text))]
        pieces += made
    prefixes: list[str] = []
    for item in items:
        if item.form == "prefix" and words and (piece := _prefix(item, words)):
            pieces.append(piece)
            if piece.want.required:
                prefixes.append(folded(item.text))
    scored: dict[tuple[bytes, bytes | None], Piece] = {}
    for piece in pieces:
        if not piece.want.excluded:
            same = scored.get((piece.pattern, piece.whole))
            scored[piece.pattern, piece.whole] = (
                piece._replace(weight=piece.weight + same.weight, want=_stricter(piece.want, same.want))
                if same
                else piece
            )
    if not prefixes and len(scored) == 1:
        prefixes = [folded(item.text) for item in items if item.form == "prefix" and not item.excluded]
    phrases = tuple(tuple(said) for item in items if item.quoted and not item.excluded and (said := exact(item.text)))
    return Plan(
        tuple(scored.values()),
        tuple(piece for piece in pieces if piece.want.excluded),
        phrases,
        any(term.kind == "compound" for _, term in kept),
        tuple(prefixes),
        tuple((item.text, not item.excluded) for item in items if item.form == "regex"),
        tuple(corrected.items()),
        tuple(
            want
            for item in items
            if item.form == "regex" and not item.excluded and words
            for want in _narrowing(item.text, words)
        ),
        _pairs([term for item, term in kept if not item.excluded], list(scored)),
    )


def _pairs(asked: list[Term], scored: list[tuple[bytes, bytes | None]]) -> tuple[tuple[int, int], ...]:
    places = [
        scored.index((key(term.stream[0]), None)) if term.kind == "word" and len(term.stream) == 1 else -1
        for term in asked
    ]
    return tuple(dict.fromkeys((a, b) for a, b in zip(places, places[1:]) if a >= 0 and b >= 0))


def _unstarred(item: Item) -> Item:
    """The item, as words where its star says nothing: a CJK run is found inside a longer one anyway."""
    run = item.form == "prefix" and (parts := terms(item.text)) and parts[-1].kind == "cjk"
    return item._replace(form="words") if run else item


def _stricter(one: Want, other: Want) -> Want:
    return one if one.required else other


def _respelled(piece: Piece, word: str, words: Words, corrected: dict[str, tuple[str, ...]]) -> Piece:
    """The piece, or what stands for it when no text has it."""
    token = stemmed(word)
    if words.has(token) or not (near := words.near(word)):
        return piece
    corrected[word] = near
    return _of_forms(piece._replace(weight=CREDIT * piece.weight), near)


def _prefix(item: Item, words: Words) -> Piece | None:
    """The piece of a word that is cut short: the last word of a compound goes on, those before it stand."""
    spelled = exact(item.text)
    if not spelled:
        return None
    whole = folded(item.text)
    piece = Piece(Want((whole,), (), item.required, item.excluded), key(whole), text=f"{item.text}*")
    tokens = words.starting(whole)
    if len(spelled) == 1:
        return _of_forms(piece, tokens)
    before = tuple(map(stemmed, spelled[:-1]))
    piece = _of_forms(piece, tokens)
    sides = tuple(_packed((*before, token)) for token in words.starting(spelled[-1]))
    return piece._replace(want=piece.want._replace(all_of=before), forms=piece.forms + sides)


def _narrowing(pattern: str, words: Words) -> list[Want]:
    """What the index is asked for an expression's sake: its words, what begins like a word of it, or, where it has only
    parts of words, what holds the longest."""
    from .patterns import STRIPPED, core, needed

    wants: list[Want] = []
    parts: list[str] = []
    for need in needed(pattern):
        if need.opens:
            parts.append(core(need))
        elif not need.goes_on:
            wants.append(Want((stemmed(need.text),), (), True))
        elif len(tokens := words.beginning(core(need), MANY)) < MANY:
            text = need.text
            fit = [
                t for t in tokens if t.startswith(text) or text.startswith(t) or len(t) <= len(core(need)) + STRIPPED
            ]
            wants.append(Want(tuple(fit) or (text,), (), True))
    if not wants and parts and words.small:
        wants.append(Want((), (), True, inside=max(parts, key=len)))
    return wants


def _of_forms(piece: Piece, tokens: tuple[str, ...]) -> Piece:
    any_of = tuple(dict.fromkeys((*tokens, *piece.want.any_of)))
    return piece._replace(want=piece.want._replace(any_of=any_of), forms=tuple(map(key, tokens)))


def _pieces(term: Term, item: Item, relaxed: bool) -> list[Piece]:
    required, excluded = item.required, item.excluded
    if term.kind == "compound" and not relaxed and not item.quoted:
        any_of = (term.whole,) if term.whole else ()
        if len(term.stream) == 1:
            any_of = (*any_of, *term.stream)
        want = Want(any_of, term.stream if len(term.stream) > 1 else (), required, excluded)
        return [Piece(want, _packed(term.stream), key(term.whole) if term.whole else None, text=term.text)]
    if term.kind == "cjk" and excluded:
        return [Piece(Want((), term.strong, False, True), _packed(term.stream), text=term.text)]
    strong = set(term.strong) if term.kind == "cjk" else set(term.stream)
    return [
        Piece(Want((token,), (), required and token in strong, excluded), key(token), None, token in strong, text=token)
        for token in term.stream
    ]


def _packed(tokens: tuple[str, ...]) -> bytes:
    return b"".join(map(key, tokens))
