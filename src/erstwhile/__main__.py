"""`python -m erstwhile` is the command `erst`."""

from __future__ import annotations

from .cli import command

if __name__ == "__main__":
    command()
