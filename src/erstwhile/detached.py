"""The indexer that goes on after its search has answered: `python -m erstwhile.detached`."""

from __future__ import annotations

import os
import sys

RUNNING_LOG = "indexer.log"
DETACHED_PROCESS = 0x00000208
"""Windows: no console, and a process group of its own."""


def spawn(folder: str) -> None:
    """Starts the indexer in a process of its own that outlives this one; its talk goes to indexer.log in `folder`."""
    import subprocess
    from threading import Thread

    windows = sys.platform == "win32"
    log = os.open(os.path.join(folder, RUNNING_LOG), os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    try:
        child = subprocess.Popen(
            [sys.executable, "-m", "erstwhile.detached"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "ERST_HOME": folder},
            start_new_session=not windows,
            creationflags=DETACHED_PROCESS if windows else 0,
        )
    finally:
        os.close(log)
    # Somebody must take its status, or a server that lives for days keeps its dead children.
    Thread(target=child.wait, name="erst-indexer", daemon=True).start()


def main() -> int:
    """Indexes what is pending; at once when another process is at it."""
    from .config import load
    from .errors import ErstError
    from .library import Library

    try:
        with Library(config=load()) as library:
            library.sync(wait_seconds=0)
    except ErstError as error:
        sys.stderr.write(f"erst: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
