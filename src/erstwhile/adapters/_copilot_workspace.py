"""The few facts of a Copilot CLI session's `workspace.yaml`: plain `key: value` lines at its top level."""

from __future__ import annotations

import json

from .base import regular

MAX_FILE = 1 << 20


def workspace(path: str) -> dict[str, str]:
    """The text values at the top level; none when there is no such file."""
    if not regular(path):
        return {}
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            lines = file.read(MAX_FILE).splitlines()
    except OSError:
        return {}
    found: dict[str, str] = {}
    for number, line in enumerate(lines):
        key, colon, value = line.partition(":")
        if colon and key and not key[0].isspace() and key[0] not in "#-":
            found.setdefault(key, _value(value.strip(), lines[number + 1 :]))
    return {key: value for key, value in found.items() if value}


def _value(written: str, below: list[str]) -> str:
    """A plain, quoted or folded scalar; empty for anything else."""
    if written[:1] in ("|", ">") and len(written) <= 3:
        inside: list[str] = []
        for line in below:
            if line.strip() and not line[0].isspace():
                break
            inside.append(line.strip())
        return ("\n" if written[0] == "|" else " ").join(inside).strip()
    if written[:1] == '"':
        try:
            return str(json.loads(written, strict=False))
        except ValueError:
            return ""
    if written[:1] == "'":
        return written[1:-1].replace("''", "'") if written.endswith("'") and len(written) > 1 else ""
    plain = written.partition(" #")[0].strip()
    return "" if plain in ("null", "~") or plain[:1] in ("[", "{") else plain
