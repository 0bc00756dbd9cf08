"""Which tokens does the index have that begin like this, or are spelled almost like that? Asked when a question names a
prefix, or a word that no text has.

Looks into the index's own dictionary, never through documents; the documents that the index has not seen yet are few.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from .plan import Want
from .store import reading
from .text import analyse, stemmed
from .values import TYPE_CHECKING

if TYPE_CHECKING:
    from .lexical_contract import Index

MOST = 64
"""Tokens that stand for a prefix at most, the commonest; more are no longer a word that somebody remembers."""
LATE = 300
"""Documents behind the index whose words are looked at."""
SHORTEST = 5
"""Letters from which a word is worth correcting: most shorter ones are a letter away from several others."""
LONGEST = 32
LONG = 8
"""Letters from which two faults in a word are looked for."""
CLOSE = 4
"""Spellings that stand for one word at most."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяё"
SMALL = 400_000
"""Documents up to which a look at every token of the index takes a fraction of a second."""
ENDINGS = (
    "s es d ed n ns ng ing ings e er ers or ors y ly r rs on ons ion ions tion tions ation ations ate ates ated ating"
    " te tes ted ting able ble ible al als ally ity ities ty ment ments ness ive ives ful ic ics ical ize ized izes"
    " izing ise ised ising ance ence ant ent ents ies ied ous"
).split()
"""How words go on that are cut short: their stems may be shorter than what was typed of them (`certific*`)."""


class Vocabulary:
    """The tokens of an index and of the documents behind it."""

    def __init__(self, db: sqlite3.Connection, index: Index) -> None:
        self.db, self.index = db, index
        self.cut: list[str] = []
        """Prefixes that more tokens have than are looked for."""
        self._late: set[str] | None = None

    def has(self, token: str) -> bool:
        return self.index.frequency_of(Want((token,))) > 0 or token in self._tail()

    def starting(self, prefix: str) -> tuple[str, ...]:
        """The tokens of words that begin so, the commonest first; `prefix` is folded."""
        found = self.beginning(prefix, MOST + 1)
        if len(found) > MOST:
            self.cut.append(prefix)
        short = (stem for ending in ENDINGS if not (stem := stemmed(prefix + ending)).startswith(prefix))
        shorter = [stem for stem in dict.fromkeys(short) if len(stem) > 1 and self.has(stem)]
        return (*shorter, *found[:MOST])

    def beginning(self, prefix: str, most: int) -> list[str]:
        """The tokens that begin so themselves, `most` of them and those of late documents."""
        late = sorted(token for token in self._tail() if token.startswith(prefix))
        return list(dict.fromkeys([*self.index.terms(prefix, most), *late]))

    @property
    def small(self) -> bool:
        """Whether the whole dictionary may be looked through for a part of a word."""
        return reading.totals(self.db).documents <= SMALL

    def near(self, word: str) -> tuple[str, ...]:
        """The tokens of words that are spelled like `word` but for one fault, or two in a long one; the first letter is
        taken as right."""
        if not SHORTEST <= len(word) <= LONGEST or not word.isalnum():
            return ()
        alphabet = LETTERS if word.isascii() else CYRILLIC if word[0] in CYRILLIC else "".join(sorted(set(word)))
        if not word.isalpha():
            alphabet += "0123456789"
        tokens = dict.fromkeys(stemmed(variant) for variant in _variants(word, alphabet))
        found = [token for token in tokens if len(token) > 2 and self.has(token)]
        if not found and len(word) >= LONG:
            found = list(self._twice(word))
        found.sort(key=lambda token: -self.index.frequency_of(Want((token,))))
        return tuple(found[:CLOSE])

    def _twice(self, word: str) -> Iterator[str]:
        """Tokens at a distance of two from the word's own, among those that begin with its first three letters."""
        stem = stemmed(word)
        for token in self.beginning(word[:3], 5000):
            if len(token) > LONG - 3 and abs(len(token) - len(stem)) <= 2 and distance(token, stem, 2) <= 2:
                yield token

    def _tail(self) -> set[str]:
        if self._late is None:
            texts = reading.texts_after(self.db, self.index.mark, LATE)
            self._late = {token for text in texts for tokens in analyse(text) for token in tokens}
        return self._late


def _variants(word: str, alphabet: str) -> Iterator[str]:
    """Everything that is one fault away and has the same first letter, the first two swapped excepted."""
    for at in range(1, len(word) + 1):
        head, tail = word[:at], word[at:]
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in alphabet if letter != tail[0])
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        yield from (head + letter + tail for letter in alphabet)
    yield word[1] + word[0] + word[2:]


def distance(one: str, other: str, limit: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between the two; more than `limit` is not counted
    out."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if earlier and j > 1 and a == other[j - 2] and b == one[i - 2]:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]
