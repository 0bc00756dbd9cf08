"""What every adapter shares: its two facts and two methods, and the readers for live, torn and broken files.

Knows nothing about the store or about search. Heavy decoders are imported by the function that decodes, because listing
sources happens on every search and decoding does not.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime

from ..errors import NotFound, SourceError
from ..model import Root, Skipped, Source
from ..values import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from typing import BinaryIO

    from ..model import Event, RawRecord

BLOCK = 1 << 20
PACKED = 1 << 16
"""Compressed bytes read at a time: what follows a frame is copied once a frame, and a log has thousands of frames."""
MAX_LINE = 64 << 20
"""A longer line is skipped and named: no agent writes one that a person could have meant (images are the longest)."""
MAX_UNPACKED = 8 << 30
"""Where one compressed log stops being read: a bomb, not a conversation."""
BOMB_SIZE, BOMB_RATIO = 4 << 20, 1000
"""A log that unpacks beyond BOMB_SIZE by more than this ratio is no conversation: text comes to 3 to 30."""
HASHED = 4 << 20
"""The prefix is hashed whole up to twice this size, else its first and last HASHED bytes."""
LATEST = 253402300800
"""The year 10000, from which on no calendar can show a time."""


class Reread(Exception):
    """The resume state does not fit the file any more: read it from the start."""


class Adapter:
    """A reader for one agent's format: set `name` and `roots`, write `sources` and `read`."""

    name = ""
    roots: tuple[str, ...] = ()
    """Default homes, `~` allowed; all that exist are used."""
    env: str | None = None
    """The agent's own variable that moves its home; when it is set, it replaces `roots`."""
    follows = False
    """Whether the folder is the truth and not we: what is deleted there leaves the results, whatever the policy."""

    aside: tuple[str, ...] = ()
    """Names (globs) of files below a home that look like logs and are known to be none: `erst doctor` passes them."""
    more_env: tuple[str, ...] = ()
    """Further variables that `homes` honours."""
    formats = ""
    """What is read, in a few words for the table of supported agents."""
    also = ""
    """Where else than in `roots` it looks, for that table."""
    file_roots = False
    """Whether a root may be a single file, for logs that lie anywhere."""

    def homes(self, environ: Mapping[str, str]) -> list[str]:
        """The folders to look in, from the agent's variable or its default roots."""
        moved = environ.get(self.env) if self.env else None
        home = environ.get("HOME") or environ.get("USERPROFILE") or ""
        return [os.path.expanduser(moved)] if moved else [r.replace("~", home, 1) for r in self.roots]

    def sources(self, root: Root) -> Iterable[Source]:
        """What lies under `root`, cheaply: names and stat, one query at most. Never parses a session."""
        raise NotImplementedError

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        """The source's events in order (see model.Event). With `since`, only what came after that resume state; raises
        Reread when that cannot give exactly what a full read gives."""
        raise NotImplementedError

    def content(self, source: Source) -> int | None:
        """A hash of the whole source, where a file that was renamed is to be recognised by it. Raises SourceError."""
        return None

    def records(self, source: Source) -> Iterator[RawRecord]:
        """The records of the source's file as they stand there, those without a message and injected ones too, for
        `erst show --raw`. An adapter whose records are no lines of JSON or text gives its own; NotFound without."""
        yield from _lines_of(source)

    def slug(self, folder: str) -> str | None:
        """The agent's folder name for a project, encoded forward from its path; None where it keeps no such folders."""
        return None

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        """The agent's own command that continues the session `native`, as arguments; None where it has none."""
        return None


def _lines_of(source: Source) -> Iterator[RawRecord]:
    from ..model import RawRecord

    if source.path.endswith((".zst", ".zstd")):
        lines = ZstdLines(source.path)
    elif source.path.endswith(".jsonl"):
        lines = JsonLines(source.path)
    elif source.path.endswith((".md", ".txt")):
        with open(source.path, encoding="utf-8", errors="replace", newline="\n") as file:
            for number, text in enumerate(file, 1):
                yield RawRecord(None, None, number, text.rstrip("\r\n"))
        return
    else:
        raise NotFound(f"the records of {source.agent} are no lines of text: `erst show` shows what was read of them")
    yield from (RawRecord(None, None, line, record) for line, record in lines)


# -- listing ---------------------------------------------------------------------------------------------------------


class Entry(NamedTuple):
    """One regular file below a root."""

    path: str
    name: str
    size: int
    mtime_ns: int

    @property
    def stamp(self) -> str:
        return f"{self.size}:{self.mtime_ns}"


def walk(folder: str, wanted: Callable[[str], bool], depth: int = 12) -> Iterator[Entry]:
    """Regular files below `folder` whose name is `wanted`, sorted by name in each folder.

    Links, devices and FIFOs are left out, so that nothing outside the root is read. A folder that cannot be listed is
    an OSError only when it is the root itself.
    """
    for entry in listing(folder):
        if entry.is_dir(follow_symlinks=False):
            if depth:
                try:
                    yield from walk(entry.path, wanted, depth - 1)
                except OSError:
                    continue
        elif wanted(entry.name) and entry.is_file(follow_symlinks=False):
            try:
                stat = entry.stat(follow_symlinks=False)
            except OSError:  # gone between listing and stat
                continue
            yield Entry(entry.path, entry.name, stat.st_size, stat.st_mtime_ns)


def regular(path: str) -> bool:
    """Whether `path` is a regular file: neither a link, which may leave the root, nor a FIFO, which never ends."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def file_of(path: str) -> str:
    """The file of a source, whose path may be `FILE#native-id`; a file's own name may hold a `#`, too."""
    while "#" in path and not os.path.lexists(path):
        path = path.rpartition("#")[0]
    return path


def side_object(path: str, limit: int) -> dict[str, Any]:
    """The JSON object of a small file that lies beside transcripts; empty when there is none that can be read.

    A link is not followed; of the file at most `limit` bytes are read.
    """
    if not regular(path):
        return {}
    try:
        with open(path, "rb") as file:
            return fields(decode(file.read(limit)))
    except (OSError, ValueError):
        return {}


def listing(folder: str) -> list[os.DirEntry[str]]:
    """The entries of a folder by name; raises OSError."""
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda e: e.name)


# -- values ----------------------------------------------------------------------------------------------------------


def seconds(value: object) -> float | None:
    """Seconds since 1970 from ISO-8601 text, epoch seconds or epoch milliseconds; None for anything else.

    Times before 1970 are None too: Go writes the year 1 where it has no time.
    """
    number: float = 0
    if isinstance(value, str):
        try:
            number = datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and value < LATEST * 1000:
        number = value / 1000 if value > 1e11 else float(value)
    return number if 0 < number < LATEST else None


ODD = (TypeError, ValueError, RecursionError, OverflowError)
"""What a record of an unheard-of shape may raise while it is taken apart: it costs only itself."""


def odd(line: int, error: Exception) -> Skipped:
    """Names such a record."""
    return Skipped(line, f"a record of an odd shape ({type(error).__name__})")


def text_of(value: object) -> str | None:
    """`value` if it is a non-blank string."""
    return value if isinstance(value, str) and value.strip() else None


def compact(value: object) -> str:
    """`value` as JSON without spaces, keys in their order, as agents write tool arguments."""
    import orjson

    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode("utf-8", "replace")
    except TypeError:  # an integer of more than 64 bits
        import json

        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def fields(value: object) -> dict[str, Any]:
    """`value` if it is an object, else an empty one: formats drift, and no field may be assumed."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """`value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def decode(line: bytes) -> object:
    """The JSON value of one line; broken UTF-8 and lone surrogates are replaced, control codes kept. Or ValueError."""
    import orjson

    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        import json

        try:
            return whole(json.loads(line.decode("utf-8", "replace").lstrip("\ufeff"), strict=False))
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


def whole(value: Any) -> Any:
    """The decoded value with every lone surrogate replaced, so that it can be stored as UTF-8."""
    from ..nested import each_text  # seldom: listing, which every search does, decodes nothing

    return each_text(value, lambda text: text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


# -- lines of a live file --------------------------------------------------------------------------------------------


class JsonLines:
    """The JSON objects of a growing `.jsonl` file as (line number from 1, object).

    Reads from the resume state on, if one is given and the bytes before it are still the same, else raises Reread.
    Broken lines go to `skipped`. After the loop `state` is where the next read starts: behind the last whole line, so a
    torn last line is read again, and a valid last line without its newline counts.
    """

    longest = MAX_LINE

    def __init__(self, path: str, since: dict[str, Any] | None = None) -> None:
        self.path = path
        self.skipped: list[Skipped] = []
        self.line = int(since["line"]) if since else 0
        self.offset = int(since["offset"]) if since else 0
        self._since = since or {}
        self._inode = 0
        self._hash = 0
        self._open = bool(self._since.get("open"))
        self._exact = True

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        try:
            with open(self.path, "rb") as file:
                stat = os.fstat(file.fileno())
                self._inode = stat.st_ino
                if self._since and not self._continues(file, stat):
                    raise Reread(self.path)
                file.seek(self.offset)
                yield from self._objects(file)
                self._hash = prefix_hash(file, self.offset)
        except OSError as error:
            raise SourceError(f"cannot read {self.path}: {error.strerror or error}") from error

    @property
    def state(self) -> dict[str, Any]:
        """For `since` of the next read. JSON values only; adapters add their own keys.

        `open`: the last value had no newline yet. `exact`: the lines given so far end where `offset` is.
        """
        return {
            "offset": self.offset,
            "line": self.line,
            "inode": self._inode,
            "hash": self._hash,
            "open": self._open,
            "exact": self._exact,
        }

    def _continues(self, file: BinaryIO, stat: os.stat_result) -> bool:
        return (
            bool(self._since.get("exact", True))
            and stat.st_size >= self.offset
            and self._since.get("inode") == stat.st_ino
            and self._since.get("hash") == prefix_hash(file, self.offset)
        )

    def _objects(self, file: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
        for raw in self._closed(split_lines(iter(lambda: file.read(BLOCK), b""), self.longest)):
            value = self._value(raw)
            if raw.torn and value is None:
                return
            self._taken(raw)
            self.offset += raw.size
            del raw  # its bytes, while the value is worked on
            if value is not None:
                yield self.line, value

    def _taken(self, raw: Line) -> None:
        self.line += 1
        self._open = raw.torn

    def _closed(self, lines: Iterator[Line]) -> Iterator[Line]:
        """The lines, without the rest of the one that the last read took before its newline was written."""
        rest = next(lines, None) if self._open else None
        if rest is not None:
            if rest.text is None or rest.text.strip():
                raise Reread(self.path)  # more than a newline came: the value was not whole, or is not valid now
            self.offset += rest.size
            self._open = rest.torn
        yield from lines

    def _value(self, raw: Line) -> dict[str, Any] | None:
        """The line's object; None (and a reason in `skipped`) when it has none. Blank lines need no reason."""
        if raw.text is None:
            reason = f"line of {raw.size >> 20} MB is longer than {self.longest >> 20} MB"
            self.skipped.append(Skipped(self.line + 1, reason))
            return None
        text = raw.text.strip().removeprefix(b"\xef\xbb\xbf")
        if not text:
            return None
        try:
            value = decode(text)
        except ValueError:
            reason = "truncated last line" if raw.torn else "not valid JSON"
            self.skipped.append(Skipped(self.line + 1, reason))
            return None
        return value if isinstance(value, dict) else self._other(value)

    def _other(self, value: object) -> dict[str, Any] | None:
        """What a line means whose JSON is no object: nothing, and that is said."""
        self.skipped.append(Skipped(self.line + 1, f"a JSON {type(value).__name__}, not an object"))
        return None


class ZstdLines(JsonLines):
    """As JsonLines, over zstd: any number of frames, decompressed in small pieces, never whole.

    A torn or broken last frame gives the complete lines it still holds and one entry in `skipped`. `offset` counts
    compressed bytes and stays at the end of the last whole frame. What was read may end elsewhere (lines of a torn
    frame, a frame that ends inside a line); then the next read is a Reread.
    """

    def _objects(self, file: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
        frames = _Frames(file, self.offset)
        before = 0
        for raw in split_lines(frames, self.longest):
            torn = raw.torn and not frames.whole
            if before == 0 and self._open:
                if torn or raw.text is None or raw.text.strip():
                    raise Reread(self.path)
                self._open, before = raw.torn, raw.size
                continue
            value = None if torn else self._value(raw)
            if raw.torn and value is None:
                break
            self._taken(raw)
            before += raw.size
            if value is not None:
                yield self.line, value
        self.offset, self._exact = frames.end, before == frames.unpacked_end
        if frames.fault:
            self.skipped.append(Skipped(None, frames.fault))


class _Frames:
    """Iterates over the decompressed pieces of consecutive zstd frames. `end` is the offset behind the last whole one,
    `unpacked_end` how many bytes it and those before it gave."""

    def __init__(self, file: BinaryIO, offset: int) -> None:
        self.file, self.end, self.unpacked_end, self.fault, self.whole = file, offset, 0, "", True

    def __iter__(self) -> Iterator[bytes]:
        import sys

        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd

        total, rest, read = 0, b"", self.end
        decoder = zstd.ZstdDecompressor()
        while True:
            if decoder.eof:
                rest, decoder = decoder.unused_data, zstd.ZstdDecompressor()
                self.end, self.unpacked_end, self.whole = read - len(rest), total, True
            if not rest and (decoder.needs_input or self.whole):
                rest = self.file.read(PACKED)
                read += len(rest)
                if not rest:
                    break
            try:
                piece = decoder.decompress(rest, BLOCK)
            except zstd.ZstdError as error:
                self.fault, self.whole = f"broken zstd frame: {error}", False
                return
            rest, self.whole = b"", False
            total += len(piece)
            if total > BOMB_SIZE and total > BOMB_RATIO * max(read, 1):
                self.fault = f"unpacks to more than {BOMB_RATIO} times its size"
                return
            if total > MAX_UNPACKED:
                self.fault = f"unpacks to more than {MAX_UNPACKED >> 30} GB"
                return
            yield piece
        if not self.whole:
            self.fault = "last zstd frame torn"


class Line(NamedTuple):
    """One line: its bytes (None when too long), its size with the newline, and whether the newline is missing."""

    text: bytes | None
    size: int
    torn: bool


def split_lines(blocks: Iterable[bytes], longest: int = MAX_LINE) -> Iterator[Line]:
    """The lines of a byte stream, split at newlines only: U+2028, U+0085 and form feeds are legal in JSON strings."""
    parts: list[bytes] = []
    size = 0
    for block in blocks:
        start = 0
        while (end := block.find(b"\n", start)) >= 0:
            size += end + 1 - start
            parts.append(block[start:end])
            yield Line(_taken(parts, size <= longest), size, False)
            size, start = 0, end + 1
        size += len(block) - start
        if size <= longest:
            parts.append(block[start:])
        else:
            parts.clear()
    if size:
        yield Line(_taken(parts, size <= longest), size, True)


def _taken(parts: list[bytes], wanted: bool) -> bytes | None:
    """The parts as one if `wanted`. Lets go of them: a line of 60 MB shall not be held twice."""
    text = (parts[0] if len(parts) == 1 else b"".join(parts)) if wanted else None
    parts.clear()
    return text


def prefix_hash(file: BinaryIO, end: int) -> int:
    """CRC-32 of the first `end` bytes, whole up to 2 x HASHED, else of their first and last HASHED bytes."""
    spans = [(0, end)] if end <= 2 * HASHED else [(0, HASHED), (end - HASHED, end)]
    crc = 0
    for start, stop in spans:
        file.seek(start)
        left = stop - start
        while left and (block := file.read(min(BLOCK, left))):
            crc = zlib.crc32(block, crc)
            left -= len(block)
    return crc
