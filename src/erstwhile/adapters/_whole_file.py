"""Sessions that an agent keeps as one JSON file, which it writes anew at every change."""

from __future__ import annotations

from typing import Any

from ..errors import SourceError
from .base import MAX_LINE, decode


def whole_file(path: str) -> dict[str, Any]:
    """The file's object. Raises SourceError, also when it is caught half written: the earlier version stays then."""
    value = whole_value(path)
    if not isinstance(value, dict):
        raise SourceError(f"cannot read {path}: a JSON {type(value).__name__}, not an object")
    return value


def whole_value(path: str) -> object:
    """The file's JSON value. Raises SourceError."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_LINE + 1)
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror or error}") from error
    if len(data) > MAX_LINE:
        raise SourceError(f"cannot read {path}: longer than {MAX_LINE >> 20} MB")
    try:
        return decode(data.strip())
    except ValueError as error:
        raise SourceError(f"cannot read {path}: not valid JSON") from error
