"""Reads Kilo Code, as far as it keeps its tasks as Cline does, from which it was made."""

from __future__ import annotations

from .cline import Cline


class KiloCode(Cline):
    name = "kilo-code"
    roots = ()
    env = None
    more_env = ()
    formats = "as Cline"
    also = "`kilocode.kilo-code` in the same editors as Cline"
    extension = "kilocode.kilo-code"
