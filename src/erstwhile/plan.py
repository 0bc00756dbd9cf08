"""From the pieces of a question to what is asked of the index and what is counted in documents. Pure."""

from __future__ import annotations

from .query import Item
from .text import Term, exact, key, terms
from .values import NamedTuple


class Want(NamedTuple):
    """One piece of a question as the index sees it: a document has it when it holds `any_of` one token, or `all_of`
    them."""

    any_of: tuple[str, ...]
    all_of: tuple[str, ...] = ()
    required: bool = False
    excluded: bool = False


class Piece(NamedTuple):
    """One piece of a question: how it is proposed, and how it is counted in packed tokens."""

    want: Want
    pattern: bytes
    whole: bytes | None = None
    strong: bool = True
    weight: float = 1.0
    text: str = ""
    """As typed, for explanations."""


class Plan(NamedTuple):
    scored: tuple[Piece, ...]
    excluded: tuple[Piece, ...]
    phrases: tuple[tuple[str, ...], ...]
    """Unstemmed words that must stand side by side in the stored text."""
    compounds: bool
    """Whether the question names compounds, which a second try may take apart."""
    pairs: tuple[tuple[int, int], ...] = ()
    """Places in `scored` of plain words that stand side by side in the question, stop words left out."""


def plan(items: tuple[Item, ...], relaxed: bool = False) -> Plan:
    """How to look for the pieces. Stop words count only when there is nothing else. `relaxed` takes compounds apart."""
    found = [(item, term) for item in items for term in terms(item.text)]
    kept = [(item, term) for item, term in found if item.quoted or item.excluded or item.required or not term.stop]
    if not any(not item.excluded for item, _ in kept):
        kept = found
    scored: dict[tuple[bytes, bytes | None], Piece] = {}
    excluded: list[Piece] = []
    for item, term in kept:
        for piece in _pieces(term, item, relaxed):
            if item.excluded:
                excluded.append(piece)
            else:
                same = scored.get((piece.pattern, piece.whole))
                scored[piece.pattern, piece.whole] = (
                    piece._replace(weight=piece.weight + same.weight, want=_stricter(piece.want, same.want))
                    if same
                    else piece
                )
    pairs = _pairs([term for item, term in kept if not item.excluded], list(scored))
    phrases = tuple(tuple(words) for item in items if item.quoted and not item.excluded and (words := exact(item.text)))
    return Plan(
        tuple(scored.values()), tuple(excluded), phrases, any(term.kind == "compound" for _, term in kept), pairs
    )


def _pairs(asked: list[Term], scored: list[tuple[bytes, bytes | None]]) -> tuple[tuple[int, int], ...]:
    places = [
        scored.index((key(term.stream[0]), None)) if term.kind == "word" and len(term.stream) == 1 else -1
        for term in asked
    ]
    return tuple(dict.fromkeys((a, b) for a, b in zip(places, places[1:]) if a >= 0 and b >= 0))


def _stricter(one: Want, other: Want) -> Want:
    return one if one.required else other


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
