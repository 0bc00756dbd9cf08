"""Reads Roo Code, which was made from Cline and keeps its tasks as Cline does."""

from __future__ import annotations

from .cline import Cline


class RooCode(Cline):
    name = "roo-code"
    roots = ("~/.roo",)
    env = None
    more_env = ()
    formats = "as Cline, and `history_item.json`"
    also = "`rooveterinaryinc.roo-cline` in the same editors"
    extension = "rooveterinaryinc.roo-cline"
