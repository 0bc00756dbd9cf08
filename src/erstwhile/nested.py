"""The texts in decoded JSON. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def each_text(value: Any, change: Callable[[str], str], keys: bool = True) -> Any:
    """The value with every text in it changed; the keys of objects too, unless `keys` is false."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [each_text(one, change, keys) for one in value]
    if isinstance(value, dict):
        return {change(str(key)) if keys else key: each_text(one, change, keys) for key, one in value.items()}
    return value
