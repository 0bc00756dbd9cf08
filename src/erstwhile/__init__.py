"""Search over what coding agents said and did, in the session logs they leave on disk."""

from __future__ import annotations

from .values import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .library import Library
    from .model import Answer, Hit, Note, Query, Root

__all__ = ["Answer", "Hit", "Library", "Note", "Query", "Root"]


def __getattr__(name: str) -> Any:
    """The public names, loaded when they are used: `python -m erstwhile` must not load what it does not need."""
    if name == "Library":
        from .library import Library

        return Library
    if name in __all__:
        from . import model

        return getattr(model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
