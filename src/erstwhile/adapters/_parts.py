"""The smallest step from a value of somebody else's format to a part. Pure; knows no format."""

from __future__ import annotations

from ..model import Part


def said(kind: str, text: object, tool: str | None = None) -> list[Part]:
    """One part, or none where `text` is not text or blank."""
    return [Part(kind, text, tool)] if isinstance(text, str) and text.strip() else []
