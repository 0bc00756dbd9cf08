"""The readers that every adapter shares, over live, torn and broken files."""

from __future__ import annotations

import io
import math
import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from erstwhile.adapters.base import (
    BLOCK,
    JsonLines,
    Reread,
    ZstdLines,
    compact,
    decode,
    fields,
    items,
    prefix_hash,
    seconds,
    split_lines,
    text_of,
    walk,
)
from erstwhile.errors import SourceError
from erstwhile.model import Skipped


def packed(text: bytes | str) -> bytes:
    """One zstd frame with a checksum."""
    import sys

    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    data = text.encode() if isinstance(text, str) else text
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


def write(path: Path, data: bytes | str) -> str:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


def append(path: Path, data: bytes | str) -> None:
    with path.open("ab") as file:
        file.write(data.encode() if isinstance(data, str) else data)


def rows(lines: JsonLines) -> list[tuple[int, dict[str, Any]]]:
    return list(lines)


def chunks(data: bytes, size: int) -> Iterable[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


# -- lines -------------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=12).map(lambda b: b.replace(b"\n", b"\r"))), st.integers(1, 9), st.booleans())
def test_lines_are_the_same_however_the_file_is_cut_into_blocks(parts: list[bytes], size: int, closed: bool) -> None:
    data = b"\n".join(parts) + (b"\n" if closed and parts else b"")
    got = list(split_lines(chunks(data, size)))
    assert sum(line.size for line in got) == len(data)
    whole = data.split(b"\n")
    assert [line.text for line in got] == (whole[:-1] if not whole[-1] else whole)
    assert [line.torn for line in got[:-1]] == [False] * (len(got) - 1 if got else 0)
    assert not got or got[-1].torn == bool(whole[-1])


def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    text = "a\u2028b\u0085c\fd"
    path = write(tmp_path / "x.jsonl", f'{{"t":"{text[:-2]}"}}\r\n\r\n\n{{"t":"e"}}\r\n')
    assert rows(JsonLines(path)) == [(1, {"t": text[:-2]}), (4, {"t": "e"})]


def test_an_over_long_line_is_skipped_and_named_and_the_next_one_is_read(tmp_path: Path) -> None:
    class Short(JsonLines):
        longest = 100

    lines = Short(write(tmp_path / "x.jsonl", '{"a":1}\n{"b":"' + "x" * 200 + '"}\n{"c":3}\n'))
    assert rows(lines) == [(1, {"a": 1}), (3, {"c": 3})]
    assert [s.line for s in lines.skipped] == [2]


def test_an_over_long_line_is_not_kept_in_memory() -> None:
    blocks = (b"x" * BLOCK for _ in range(64))
    assert [(line.text, line.torn) for line in split_lines(blocks, longest=1000)] == [(None, True)]


# -- values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b'{"a":"\\ud83d\\ude00"}', {"a": "😀"}),
        (b'{"a":"x\\udcb2y"}', {"a": "x\ufffdy"}),
        (b'{"\\ud800":["\\ud800A"]}', {"\ufffd": ["\ufffdA"]}),
        (b'{"a":"x\\u0000y"}', {"a": "x\0y"}),
        (b'{"a":"x\0y\x1b"}', {"a": "x\0y\x1b"}),
        (b'{"a":"x\xffy"}', {"a": "x\ufffdy"}),
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b'{"a":123456789012345678901234567890,"b":Infinity}', {"a": 123456789012345678901234567890, "b": math.inf}),
    ],
)
def test_a_line_is_decoded_to_something_that_can_be_stored(line: bytes, value: object) -> None:
    got = decode(line)
    assert got == value
    compact(got).encode()


@pytest.mark.parametrize("line", [b"", b"{", b"nope", b'{"a":1}{"b":2}', b"[" * 100_000])
def test_what_is_not_one_value_is_a_value_error(line: bytes) -> None:
    with pytest.raises(ValueError):
        decode(line)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-11-03T08:15:00Z", 1793693700.0),
        ("2026-11-03T17:15:00.123456789+09:00", 1793693700.123456),
        (1793693700, 1793693700.0),
        (1793693700.5, 1793693700.5),
        (1793693700500, 1793693700.5),
        (0, None),
        (-5, None),
        (True, None),
        (float("nan"), None),
        (float("inf"), None),
        (10**30, None),
        pytest.param(10**400, None, id="huge"),
        ("0001-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59-23:59", None),
        ("", None),
        ("yesterday", None),
        (None, None),
        ([], None),
    ],
)
def test_times_come_in_many_shapes(value: object, expected: float | None) -> None:
    assert seconds(value) == expected


def test_odd_shapes_are_empty_ones() -> None:
    assert (fields([1]), fields(None), items({"a": 1}), items("abc"), text_of("  "), text_of(5)) == (
        {},
        {},
        [],
        [],
        None,
        None,
    )
    assert (fields({"a": 1}), items([1]), text_of(" a ")) == ({"a": 1}, [1], " a ")


# -- a live file -------------------------------------------------------------------------------------------------------


def test_a_broken_middle_line_is_named_with_its_number(tmp_path: Path) -> None:
    lines = JsonLines(write(tmp_path / "x.jsonl", '\ufeff{"a":1}\n{"b":\n[1]\n\n{"c":3}\n'))
    assert rows(lines) == [(1, {"a": 1}), (5, {"c": 3})]
    assert lines.skipped == [Skipped(2, "not valid JSON"), Skipped(3, "a JSON list, not an object")]


def test_a_torn_last_line_is_reported_and_read_once_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    whole = '{"t":"登录"}\n'.encode()
    first = JsonLines(write(path, b'{"a":1}\n' + whole[:8]))  # cut inside a character
    assert rows(first) == [(1, {"a": 1})]
    assert first.skipped == [Skipped(2, "truncated last line")]
    append(path, whole[8:])
    second = JsonLines(str(path), first.state)
    assert rows(second) == [(2, {"t": "登录"})]
    assert second.skipped == []
    assert rows(JsonLines(str(path), second.state)) == []


@pytest.mark.parametrize("rest", ["\n", "\r\n", "  \n"])
def test_a_valid_last_line_without_newline_counts_and_lines_keep_their_numbers(tmp_path: Path, rest: str) -> None:
    path = tmp_path / "x.jsonl"
    first = JsonLines(write(path, '{"a":1}\n{"b":2}'))
    assert rows(first) == [(1, {"a": 1}), (2, {"b": 2})]
    append(path, rest + '{"c":3}\n')
    assert rows(JsonLines(str(path), first.state)) == [(3, {"c": 3})]


def test_more_than_a_newline_behind_an_unterminated_value_is_a_reread(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    first = JsonLines(write(path, '{"a":1}\n{"b":2}'))
    rows(first)
    append(path, ' x\n{"c":3}\n')
    with pytest.raises(Reread):
        rows(JsonLines(str(path), first.state))


def test_a_file_that_shrank_or_changed_or_was_replaced_is_a_reread(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    text = '{"a":1}\n{"b":2}\n'
    first = JsonLines(write(path, text))
    rows(first)
    write(path, text[:8])
    with pytest.raises(Reread):
        rows(JsonLines(str(path), first.state))
    write(path, text.replace("1", "7") + '{"c":3}\n')
    with pytest.raises(Reread):
        rows(JsonLines(str(path), first.state))
    os.replace(write(tmp_path / "y", text), path)
    with pytest.raises(Reread):
        rows(JsonLines(str(path), first.state))


def test_an_unreadable_file_is_a_source_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot read"):
        rows(JsonLines(str(tmp_path / "none.jsonl")))
    with pytest.raises(SourceError):
        rows(ZstdLines(str(tmp_path)))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_two_reads_cut_anywhere_give_what_one_read_gives(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    kinds = st.sampled_from(['{"t":"é登😀"}', '{"a":{"b":[1,2]}}', "", '{"broken', '{"u":"\u2028"}', "7"])
    ends = st.sampled_from(["\n", "\r\n"])
    text = "".join(a + b for a, b in data.draw(st.lists(st.tuples(kinds, ends), max_size=8)))
    whole = (text + data.draw(st.sampled_from(["", '{"last":1}', '{"torn']))).encode()
    cut = data.draw(st.integers(0, len(whole)))
    path = tmp_path_factory.mktemp("cut") / "x.jsonl"
    first = JsonLines(write(path, whole[:cut]))
    got = rows(first)
    append(path, whole[cut:])
    full = JsonLines(str(path))
    expected = rows(full)
    try:
        second = JsonLines(str(path), first.state)
        got += rows(second)
    except Reread:
        return
    assert got == expected
    assert second.state == full.state


# -- zstd --------------------------------------------------------------------------------------------------------------


def test_every_frame_is_read_not_only_the_first(tmp_path: Path) -> None:
    frames = [packed(f'{{"n":{n}}}\n') for n in range(300)]  # many frames in one block
    lines = ZstdLines(write(tmp_path / "x.zstd", b"".join(frames)))
    assert rows(lines) == [(n + 1, {"n": n}) for n in range(300)]
    assert lines.skipped == []


def test_skippable_and_empty_frames_are_passed_over(tmp_path: Path) -> None:
    skippable = struct.pack("<II", 0x184D2A53, 5) + b"hello"
    data = skippable + packed('{"a":1}\n') + skippable + packed("") + packed('{"b":2}\n') + skippable
    lines = ZstdLines(write(tmp_path / "x.zstd", data))
    assert rows(lines) == [(1, {"a": 1}), (2, {"b": 2})]
    assert lines.skipped == []
    append(tmp_path / "x.zstd", packed('{"c":3}\n'))
    assert rows(ZstdLines(lines.path, lines.state)) == [(3, {"c": 3})]


def test_a_frame_larger_than_a_block_is_read(tmp_path: Path) -> None:
    noise = os.urandom(3 * BLOCK // 2).hex()
    lines = ZstdLines(write(tmp_path / "x.zstd", packed(f'{{"a":"{noise}"}}\n{{"b":2}}\n') + packed('{"c":3}\n')))
    assert rows(lines) == [(1, {"a": noise}), (2, {"b": 2}), (3, {"c": 3})]


def test_a_torn_last_frame_gives_its_whole_lines_and_one_report(tmp_path: Path) -> None:
    path = tmp_path / "x.zstd"
    noise = os.urandom(200_000).hex()
    frame = packed(f'{{"b":"{noise}"}}\n{{"c":"{noise[::-1]}"}}\n')
    first = ZstdLines(write(path, packed('{"a":1}\n') + frame[:-50]))
    got = rows(first)
    assert got[:1] == [(1, {"a": 1})]
    assert first.skipped == [Skipped(None, "last zstd frame torn")]
    append(path, frame[-50:])
    # What the torn frame gave already must not be given twice.
    if len(got) > 1:
        with pytest.raises(Reread):
            rows(ZstdLines(str(path), first.state))
    full = ZstdLines(str(path))
    assert [line for line, _ in rows(full)] == [1, 2, 3]
    assert full.skipped == []


def test_a_torn_frame_without_a_whole_line_is_read_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "x.zstd"
    frame = packed('{"b":2}\n{"c":3}\n')
    first = ZstdLines(write(path, packed('{"a":1}\n') + frame[: len(frame) // 2]))
    assert rows(first) == [(1, {"a": 1})]
    append(path, frame[len(frame) // 2 :])
    assert rows(ZstdLines(str(path), first.state)) == [(2, {"b": 2}), (3, {"c": 3})]


def test_a_frame_that_ends_inside_a_line_costs_a_reread_not_a_line(tmp_path: Path) -> None:
    path = tmp_path / "x.zstd"
    first = ZstdLines(write(path, packed('{"a":1}\n{"b"')))
    assert rows(first) == [(1, {"a": 1})]
    append(path, packed(":2}\n"))
    with pytest.raises(Reread):
        rows(ZstdLines(str(path), first.state))
    assert rows(ZstdLines(str(path))) == [(1, {"a": 1}), (2, {"b": 2})]


def test_an_unterminated_line_at_the_end_of_a_frame_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "x.zstd"
    first = ZstdLines(write(path, packed('{"a":1}')))
    assert rows(first) == [(1, {"a": 1})]
    append(path, packed('\n{"b":2}\n'))
    assert rows(ZstdLines(str(path), first.state)) == [(2, {"b": 2})]


def test_a_broken_frame_is_reported_and_what_came_before_it_is_kept(tmp_path: Path) -> None:
    bad = bytearray(packed('{"b":2}\n'))
    bad[-1] ^= 0xFF  # the checksum
    lines = ZstdLines(write(tmp_path / "x.zstd", packed('{"a":1}\n') + bytes(bad) + packed('{"c":3}\n')))
    assert rows(lines)[0] == (1, {"a": 1})
    assert [s.line for s in lines.skipped] == [None]
    assert lines.state["offset"] == len(packed('{"a":1}\n'))


def test_frames_read_in_two_goes_are_those_of_one_go(tmp_path: Path) -> None:
    path = tmp_path / "x.zstd"
    frames = [packed(f'{{"n":{n}}}\n{{"m":{n}}}\n') for n in range(6)]
    for cut in range(len(frames) + 1):
        first = ZstdLines(write(path, b"".join(frames[:cut])))
        got = rows(first)
        append(path, b"".join(frames[cut:]))
        second = ZstdLines(str(path), first.state)
        got += rows(second)
        full = ZstdLines(str(path))
        assert got == rows(full)
        assert second.state == full.state


# -- files -------------------------------------------------------------------------------------------------------------


def test_the_hash_covers_exactly_the_prefix() -> None:
    data = os.urandom(3000)
    assert prefix_hash(io.BytesIO(data), 2000) == prefix_hash(io.BytesIO(data[:2000] + b"x"), 2000)  # type: ignore[arg-type]
    assert prefix_hash(io.BytesIO(data), 2000) != prefix_hash(io.BytesIO(data), 1999)  # type: ignore[arg-type]


def test_a_walk_leaves_out_links_and_pipes_and_is_sorted(tmp_path: Path) -> None:
    (tmp_path / "root" / "b").mkdir(parents=True)
    write(tmp_path / "root" / "b" / "2.jsonl", "")
    write(tmp_path / "root" / "a.jsonl", "")
    write(tmp_path / "outside.jsonl", "")
    os.symlink(tmp_path / "outside.jsonl", tmp_path / "root" / "link.jsonl")
    os.symlink(tmp_path, tmp_path / "root" / "up")
    os.mkfifo(tmp_path / "root" / "pipe.jsonl")
    found = walk(str(tmp_path / "root"), lambda name: name.endswith(".jsonl"))
    assert [entry.name for entry in found] == ["a.jsonl", "2.jsonl"]
    with pytest.raises(OSError):
        list(walk(str(tmp_path / "none"), bool))
