"""How many secrets are masked, how many other texts are left alone, and how fast; beside `detect-secrets` if installed.

    python benchmarks/redaction.py

The texts are those of tests/secret_corpus.py; speed is measured over them repeated among lines of code.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from secret_corpus import false_examples, true_examples  # pyright: ignore[reportMissingImports]

from erstwhile.redact import redact, redact_all


def main() -> None:
    """Prints one row for each tool."""
    secrets, others = true_examples(), false_examples()
    print(f"{len(secrets)} texts with a secret, {len(others)} without")
    tools: list[tuple[str, Callable[[str], bool]]] = [("erstwhile", lambda text: redact(text) != text)]
    if oracle := _oracle():
        tools.append(("detect-secrets", oracle))
    for name, finds in tools:
        found = sum(finds(text) for text, _ in secrets) / len(secrets)
        alarms = sum(finds(text) for text in others) / len(others)
        print(f"{name:16} found {found:6.1%}   false alarms {alarms:6.1%}")
    print(f"{_speed():.0f} MB/s of CPU time, no line seen before")


def _oracle() -> Callable[[str], bool] | None:
    try:
        from detect_secrets.core.secrets_collection import SecretsCollection
        from detect_secrets.settings import default_settings
    except ImportError:
        print("detect-secrets is not installed: `pip install detect-secrets` to compare")
        return None

    def finds(text: str) -> bool:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file, default_settings():
            file.write(text + "\n")
            file.flush()
            found = SecretsCollection()
            found.scan_file(file.name)
            return bool(found.data)

    return finds


def _speed() -> float:
    """Megabytes a second over this project's own text and code, each line numbered so that none was seen before."""
    files = [file for kind in ("*.py", "*.md") for file in sorted(Path(__file__).parents[1].rglob(kind))]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").split("\n")]
    texts = [
        "\n".join(f"{turn} {at + n} {line}" for n, line in enumerate(lines[at : at + 40]))
        for turn in range(10)
        for at in range(0, len(lines), 40)
    ]
    start = time.process_time()
    for at in range(0, len(texts), 40):
        redact_all(texts[at : at + 40])
    return sum(map(len, texts)) / (time.process_time() - start) / 1e6


if __name__ == "__main__":
    main()
