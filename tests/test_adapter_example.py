"""The example of docs/ADAPTERS.md works as it stands there."""

from __future__ import annotations

import json
import re
from pathlib import Path

from erstwhile.adapters.base import Adapter
from erstwhile.history import Message, Resume, Session
from erstwhile.model import Root

TEXT = (Path(__file__).parents[1] / "docs" / "ADAPTERS.md").read_text(encoding="utf-8")


def test_the_documented_adapter_reads_a_log_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", TEXT, re.S)
    assert found
    space: dict[str, type[Adapter]] = {}
    exec(compile(found[1], "docs/ADAPTERS.md", "exec"), space)
    adapter = space["Acme"]()
    log = tmp_path / "logs" / "one.jsonl"
    log.parent.mkdir()
    log.write_text(json.dumps({"role": "user", "content": "why is it slow?", "time": 1793693700}) + "\n", "utf-8")
    source = next(iter(adapter.sources(Root(str(tmp_path)))))
    head, message, resume = adapter.read(source)
    assert head == Session("acme:one")
    assert isinstance(message, Message)
    assert (message.index, message.parts[0].text) == (0, "why is it slow?")
    with log.open("a", encoding="utf-8") as file:
        file.write('{"role": "assistant", "content": "the cache is cold"}\nbroken\n')
    assert isinstance(resume, Resume)
    _, answer, skipped, _ = adapter.read(source, resume.state)
    assert isinstance(answer, Message)
    assert (answer.index, answer.parts[0].kind) == (1, "assistant_text")
    assert skipped[0] == 3
