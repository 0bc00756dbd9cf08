"""Writes the invented history of `erst demo` in the agents' own formats: `python tests/make_sample.py FOLDER`.

The conversations are data; one function an agent writes them as that agent does. The same every time.
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SHOP, SITE, LAB = "/home/dev/shop", "/home/dev/site", "/home/dev/lab"


class Say(NamedTuple):
    role: str
    text: str


class Call(NamedTuple):
    tool: str
    arguments: dict[str, Any]
    output: str
    failed: bool = False


class Talk(NamedTuple):
    """One invented conversation."""

    id: str
    title: str | None
    cwd: str
    start: str
    turns: tuple[Say | Call, ...]
    model: str
    branch: str = "main"
    parent: str | None = None
    inherited: int = 0
    """How many turns were copied from the parent."""

    def clock(self) -> Iterator[datetime]:
        """The time of each turn: half a minute apart."""
        now = datetime.fromisoformat(self.start).replace(tzinfo=UTC)
        while True:
            yield now
            now += timedelta(seconds=37)


def user(text: str) -> Say:
    return Say("user", text)


def agent(text: str) -> Say:
    return Say("assistant", text)


# -- the story -------------------------------------------------------------------------------------------------------

CERTIFICATE = Talk(
    "5b1f7c52-3c1e-4c8e-9b7a-0d5a0c0ffee1",
    "Checkout fails: certificate has expired",
    SHOP,
    "2026-11-24T08:05:00",
    (
        user("Checkout on staging fails since this morning, the payment webhook says the certificate has expired."),
        agent("I'll look at what the server really presents before touching the configuration."),
        Call(
            "Bash",
            {"command": "openssl s_client -connect staging.shop.example:443 </dev/null | openssl x509 -noout -dates"},
            "Exit code 1\nverify error:num=10:certificate has expired\nnotAfter=Nov 23 23:59:59 2026 GMT",
            True,
        ),
        Call("Bash", {"command": "systemctl list-timers certbot.timer"}, "0 timers listed."),
        agent(
            "The certificate expired at midnight because certbot.timer was never enabled on the new staging host. "
            "I will renew once by hand and enable the timer."
        ),
        Call(
            "Bash",
            {"command": "certbot renew && systemctl enable --now certbot.timer && systemctl reload nginx"},
            "Congratulations, all renewals succeeded: /etc/letsencrypt/live/staging.shop.example/fullchain.pem",
        ),
        user("Why did nobody notice? Add a check that warns two weeks before."),
        Call(
            "Edit",
            {"file_path": f"{SHOP}/ops/checks/tls.py", "new_string": "WARN_DAYS = 14"},
            "The file ops/checks/tls.py has been updated.",
        ),
        agent(
            "ops/checks/tls.py now fails when any certificate has fewer than 14 days left; it runs every night "
            "with the other checks. Checkout works again."
        ),
    ),
    "claude-sonnet-4-5",
    "fix/staging-tls",
)
HOSTS = Talk(
    "agent-a9f31c2d",
    "Check every virtual host for expiring certificates",
    SHOP,
    "2026-11-24T08:09:00",
    (
        user("Check every virtual host on staging for a certificate that expires within 30 days."),
        Call("Grep", {"pattern": "ssl_certificate ", "path": "/etc/nginx/conf.d"}, "blog.conf\nshop.conf\nwiki.conf"),
        agent("wiki.conf still points to a self-signed certificate from 2024; blog.conf and shop.conf are fine."),
    ),
    "claude-haiku-4-5",
    "fix/staging-tls",
    CERTIFICATE.id,
)
FLAKY = Talk(
    "7c0a2d1e-8f4b-4d55-a1c3-2b6e9f0d4a11",
    "test_export fails one time in ten",
    SHOP,
    "2026-11-18T14:20:00",
    (
        user("test_export is flaky: it fails about one time in ten, only in CI. Find the cause, don't add a retry."),
        Call(
            "Bash",
            {"command": "pytest -n 4 --count 50 tests/test_export.py"},
            "Exit code 1\nE   FileExistsError: [Errno 17] File exists: '/tmp/export/orders.csv'\n3 failed, 47 passed",
            True,
        ),
        agent(
            "Two workers write the same /tmp/export folder. With one worker it never fails, which is why it only "
            "shows in CI."
        ),
        Call(
            "Edit",
            {"file_path": f"{SHOP}/tests/test_export.py", "new_string": "def test_export(tmp_path):"},
            "The file tests/test_export.py has been updated.",
        ),
        Call("Bash", {"command": "pytest -n 4 --count 200 tests/test_export.py"}, "200 passed in 31.4s"),
        agent("test_export now uses tmp_path; 200 runs on four workers pass."),
    ),
    "claude-sonnet-4-5",
    "fix/flaky-export",
)
HEADER = Talk(
    "c2d4e6f8-1a3b-4c5d-8e7f-90a1b2c3d4e5",
    "Search box in the header",
    SITE,
    "2026-11-12T10:00:00",
    (
        user("Move the search box into the header and keep the keyboard shortcut."),
        Call(
            "Read",
            {"file_path": f"{SITE}/src/components/Header.tsx"},
            "export function Header() {\n  return <header><Logo /><Nav /></header>;\n}",
        ),
        agent("Header.tsx renders SearchBox after Nav now; the / shortcut moved into useSearchShortcut()."),
        user("The focus ring is cut off in Safari."),
        agent("overflow: hidden on the header clipped the outline. I replaced it by overflow: clip with a margin."),
    ),
    "claude-sonnet-4-5",
)
INDEX = Talk(
    "019f7d52-4c10-7a31-8e02-5b7c9d1e3f24",
    "Unique index on orders.email without downtime",
    SHOP,
    "2026-11-20T09:00:00",
    (
        user("The migration that adds a unique index on orders(email) runs into a lock timeout. Make it safe."),
        agent("A plain CREATE UNIQUE INDEX blocks writes while it builds. Let me see the migration and the error."),
        Call(
            "exec_command",
            {"cmd": "cat db/migrations/0042_orders_email.sql", "workdir": SHOP},
            "CREATE UNIQUE INDEX orders_email ON orders(email);",
        ),
        Call(
            "exec_command",
            {"cmd": "psql -f db/migrations/0042_orders_email.sql", "workdir": SHOP},
            "psql: ERROR:  canceling statement due to lock timeout",
            True,
        ),
        agent(
            "Use CREATE UNIQUE INDEX CONCURRENTLY outside a transaction, with lock_timeout = 2s, and check "
            "pg_index.indisvalid afterwards: a failed build leaves an invalid index behind."
        ),
        user("There are duplicate emails in production."),
        agent("Then merge them first: keep the newest order row per email and move the invoices over, in batches."),
    ),
    "gpt-5.2-codex",
    "db/unique-email",
)
ROLLBACK = Talk(
    "019f7d90-91b2-7c44-9a15-6c8d0e2f4a35",
    None,
    SHOP,
    "2026-11-20T10:10:00",
    (
        *INDEX.turns[:2],
        user("Now write the rollback for that index."),
        agent("The rollback is DROP INDEX CONCURRENTLY IF EXISTS orders_email; it takes no lock that blocks writes."),
    ),
    "gpt-5.2-codex",
    "db/unique-email",
    INDEX.id,
    2,
)
BORROW = Talk(
    "019f5b00-7e21-7d11-b0a4-1c2d3e4f5a6b",
    None,
    LAB,
    "2026-11-02T16:40:00",
    (
        user("借用チェッカーのエラー E0502 の原因を教えてください。src/cache.rs です。"),
        Call(
            "exec_command",
            {"cmd": "cargo check", "workdir": LAB},
            "error[E0502]: cannot borrow `self.items` as mutable because it is also borrowed as immutable",
            True,
        ),
        agent(
            "不変参照 `entry` が生きている間に `self.items.insert` を呼んでいます。値を複製してから挿入してください。"
        ),
    ),
    "gpt-5.2-codex",
)
OLD_CHAIN = Talk(
    "20261125-071500.123456789-deepseek-v4-flash",
    "nginx serves the old certificate after renewal",
    SHOP,
    "2026-11-25T07:15:00",
    (
        user("The certificate was renewed yesterday, but nginx in production still serves the old one. Why?"),
        Call(
            "bash",
            {"command": "nginx -T | grep ssl_certificate"},
            "ssl_certificate /etc/nginx/tls/fullchain.pem;\nssl_certificate_key /etc/nginx/tls/shop key.pem;",
        ),
        Call(
            "bash",
            {"command": "systemctl reload nginx"},
            'error: exit status 1\nnginx: [emerg] cannot load certificate key "/etc/nginx/tls/shop": No such file',
            True,
        ),
        agent(
            "The reload fails because the path of ssl_certificate_key contains a space and is not quoted, so nginx "
            "keeps running with the certificate it loaded at start. Quote the path and reload."
        ),
        user("Did that. Keep HSTS off for now."),
        agent("Quoted and reloaded; the new certificate is served. HSTS stays off."),
    ),
    "deepseek-v4-flash",
)
TIMEOUT = Talk(
    "20261121-100000.000000001-deepseek-v4-pro",
    "迁移超时",
    LAB,
    "2026-11-21T10:00:00",
    (
        user("Postgres 迁移脚本在加唯一索引时超时，怎么办？"),
        agent("先用 CREATE UNIQUE INDEX CONCURRENTLY，再调大 statement_timeout，并检查是否留下无效索引。"),
        user("重跑gen-report后再试，还是超时。"),
        agent("gen-report 持有长事务。先结束它，再建索引；登录超时的问题也会一起消失。"),
    ),
    "deepseek-v4-pro",
)
FOLDED = Talk(
    "20260914-083000.000000002-deepseek-v4-flash",
    "Import of the 2025 invoices",
    SHOP,
    "2026-09-14T08:30:00",
    (
        user("Import the 2025 invoices; the CSV has decimal commas."),
        agent("parse_amount() swaps comma and point when the locale column says de; 41,208 invoices imported."),
    ),
    "deepseek-v4-flash",
)
CACHE = Talk(
    "session-2f0c9a64-7f0e-4a41-9b1d-1a2b3c4d5e6f",
    "CI cache is never restored",
    SITE,
    "2026-11-27T13:00:00",
    (
        user("CI takes 14 minutes because the npm cache is never restored. What is wrong with the key?"),
        Call(
            "grep",
            {"pattern": "hashFiles", "path": ".github/workflows"},
            "ci.yml:18: key: npm-${{ hashFiles('package-lock.json') }}",
        ),
        agent(
            "The lock file lies in web/, so hashFiles() hashes nothing and every key is `npm-`. Use "
            "hashFiles('web/package-lock.json') and add a restore-keys prefix."
        ),
        user("Works: four minutes."),
    ),
    "deepseek-v4-flash",
)
LOGIN = Talk(
    "session-0b7b1b1e-52f5-4c86-8c57-9f00aa11bb22",
    "登录超时",
    SHOP,
    "2026-11-28T02:30:00",
    (
        user("用户反馈登录超时，日志里有 connection pool exhausted。"),
        Call(
            "bash",
            {"command": "grep -c 'pool exhausted' logs/app.log"},
            "grep: logs/app.log: Permission denied",
            True,
        ),
        agent("修复了登录超时的问题：会话查询缺少索引，连接被占满。已加 sessions(user_id) 索引，连接池上限保持 20。"),
    ),
    "deepseek-v4-pro",
)

# -- the agents' own formats -----------------------------------------------------------------------------------------


def claude_code(root: Path) -> None:
    """One file a session below projects/<slug>; sub-agents beside it."""
    for talk in (CERTIFICATE, FLAKY, HEADER):
        _claude_file(root / "projects" / talk.cwd.replace("/", "-") / f"{talk.id}.jsonl", talk)
    below = root / "projects" / SHOP.replace("/", "-") / CERTIFICATE.id / "subagents"
    _claude_file(below / f"{HOSTS.id}.jsonl", HOSTS)
    _json(below / f"{HOSTS.id}.meta.json", {"agentType": "Explore", "description": HOSTS.title})


def _claude_file(path: Path, talk: Talk) -> None:
    sidechain = talk.parent is not None
    session = talk.parent or talk.id
    rows: list[dict[str, Any]] = []
    last: str | None = None

    def add(time: datetime, message: dict[str, Any], **more: Any) -> None:
        nonlocal last
        here = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{talk.id}/{len(rows)}"))
        rows.append(
            {"parentUuid": last, "isSidechain": sidechain, "userType": "external", "cwd": talk.cwd}
            | {"sessionId": session, "version": "2.1.278", "gitBranch": talk.branch, "uuid": here}
            | {"timestamp": _iso(time), "type": message["role"], "message": message}
            | ({"agentId": talk.id.removeprefix("agent-")} if sidechain else {})
            | more
        )
        last = here

    def assistant(number: int, block: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": f"msg_{number:02}",
            "type": "message",
            "role": "assistant",
            "model": talk.model,
            "content": [block],
        }

    for number, (turn, time) in enumerate(zip(talk.turns, talk.clock())):
        if isinstance(turn, Call):
            call = f"toolu_{number:02}"
            block = {"type": "tool_use", "id": call, "name": turn.tool, "input": turn.arguments}
            add(time, assistant(number, block))
            result = {"type": "tool_result", "tool_use_id": call, "content": turn.output}
            add(time + timedelta(seconds=9), {"role": "user", "content": [result | {"is_error": turn.failed}]})
        elif turn.role == "user":
            add(time, {"role": "user", "content": turn.text})
        else:
            add(time, assistant(number, {"type": "text", "text": turn.text}))
    if talk.title and not sidechain:
        rows.append({"type": "custom-title", "customTitle": talk.title, "sessionId": talk.id})
    _lines(path, rows)


def codex(root: Path) -> None:
    """One rollout a session below sessions/year/month/day, and the index with the titles."""
    for talk in (INDEX, ROLLBACK, BORROW):
        time = datetime.fromisoformat(talk.start)
        name = f"rollout-{time:%Y-%m-%dT%H-%M-%S}-{talk.id}.jsonl"
        rows = list(_codex_rows(talk))
        if talk.parent:  # a newer history numbers its records, and a fork says where its own begin
            rows = [{"timestamp": row["timestamp"], "ordinal": number, **row} for number, row in enumerate(rows)]
        _lines(root / "sessions" / f"{time:%Y/%m/%d}" / name, rows)
    titles = [{"id": t.id, "thread_name": t.title, "updated_at": f"{t.start}Z"} for t in (INDEX,)]
    _lines(root / "session_index.jsonl", titles)


def _codex_rows(talk: Talk) -> Iterator[dict[str, Any]]:
    clock = talk.clock()
    start = next(clock)

    def meta(of: Talk, **more: Any) -> dict[str, Any]:
        git = {"branch": of.branch, "commit_hash": "0f" * 20, "repository_url": "https://git.example.test/shop.git"}
        facts = {"id": of.id, "timestamp": f"{of.start}.000Z", "cwd": of.cwd, "originator": "codex-tui"}
        return facts | {"cli_version": "0.144.3", "source": "cli", "model_provider": "openai", "git": git} | more

    def row(kind: str, payload: dict[str, Any], time: datetime = start) -> dict[str, Any]:
        return {"timestamp": _iso(time), "type": kind, "payload": payload}

    if talk.parent:
        own = {"subagent_history_start_ordinal": 2 + talk.inherited}
        yield row("session_meta", meta(talk, forked_from_id=talk.parent, history_mode="paginated", **own))
        yield row("session_meta", meta(INDEX))
    else:
        yield row("session_meta", meta(talk))
    context = {"cwd": talk.cwd, "model": talk.model, "approval_policy": "on-request", "summary": "auto"}
    for number, (turn, time) in enumerate(zip(talk.turns, clock)):
        if number == talk.inherited:
            yield row("turn_context", context)
        if isinstance(turn, Call):
            call = f"call_{number:02}"
            arguments = json.dumps(turn.arguments, separators=(",", ":"))
            function = {"type": "function_call", "name": turn.tool, "arguments": arguments, "call_id": call}
            yield row("response_item", function, time)
            said = f"Chunk ID: {number:04x}\nWall time: 0.4 seconds\nProcess exited with code {int(turn.failed)}\n"
            output = {"type": "function_call_output", "call_id": call, "output": f"{said}Output:\n{turn.output}\n"}
            yield row("response_item", output, time + timedelta(seconds=1))
        else:
            kind = "input_text" if turn.role == "user" else "output_text"
            content = [{"type": kind, "text": turn.text}]
            yield row("response_item", {"type": "message", "role": turn.role, "content": content}, time)


def reasonix(root: Path) -> None:
    """One file a session with its meta beside it; an event log that is ahead of it; an archive of a compaction."""
    shop = root / "projects" / SHOP.replace("/", "-") / "sessions"
    lab = root / "projects" / LAB.replace("/", "-") / "sessions"
    _lines(shop / f"{OLD_CHAIN.id}.jsonl", _reasonix_messages(OLD_CHAIN))
    _reasonix_meta(shop, OLD_CHAIN)
    messages = _reasonix_messages(TIMEOUT)
    _lines(lab / f"{TIMEOUT.id}.jsonl", messages[:3])
    event = {"schema_version": 1, "writer_id": "w1", "created_at": f"{TIMEOUT.start}Z"}
    first = {"type": "replace", "revision": 1, "base_revision": 0, "message_index": 0, "messages": messages[:3]}
    second = {"type": "append", "revision": 2, "base_revision": 1, "message_index": 3, "messages": messages[3:]}
    _lines(lab / f"{TIMEOUT.id}.events.jsonl", [event | first, event | second])
    _reasonix_meta(lab, TIMEOUT)
    _lines(root / "archive" / f"{FOLDED.id}.jsonl", _reasonix_messages(FOLDED))


def _reasonix_messages(talk: Talk) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You are Reasonix, a coding agent."}]
    for number, (turn, time) in enumerate(zip(talk.turns, talk.clock())):
        created = int(time.timestamp() * 1000)
        if isinstance(turn, Call):
            call = f"call_{number:02}"
            arguments = json.dumps(turn.arguments, separators=(",", ":"))
            wanted = [{"id": call, "name": turn.tool, "arguments": arguments}]
            messages.append({"role": "assistant", "content": "", "tool_calls": wanted, "createdAt": created})
            messages.append(
                {
                    "role": "tool",
                    "content": turn.output,
                    "tool_call_id": call,
                    "name": turn.tool,
                    "createdAt": created + 900,
                }
            )
        else:
            origin = {"origin": "user"} if turn.role == "user" else {}
            messages.append({"role": turn.role, **origin, "content": turn.text, "createdAt": created})
    return messages


def _reasonix_meta(folder: Path, talk: Talk) -> None:
    end = [time for _, time in zip(talk.turns, talk.clock())][-1]
    _json(
        folder / f"{talk.id}.jsonl.meta",
        {"id": talk.id, "created_at": f"{talk.start}Z", "updated_at": _iso(end), "scope": "project"}
        | {"workspace_root": talk.cwd, "topic_title": talk.title, "model": talk.model, "schema_version": 1},
    )


def dsh(root: Path) -> None:
    """One log a session, a zstd frame for its header and one for each turn."""
    for talk in (CACHE, LOGIN):
        folder = root / "sessions" / f"--{talk.cwd.strip('/').replace('/', '-')}--" / talk.id
        batches = ["".join(_line(row) for row in batch) for batch in _dsh_batches(talk)]
        path = folder / "session.v4.jsonl.zstd"
        path.parent.mkdir(parents=True, exist_ok=True)
        flag = zstd.CompressionParameter.checksum_flag
        path.write_bytes(b"".join(zstd.compress(batch.encode(), options={flag: 1}) for batch in batches))


def _dsh_batches(talk: Talk) -> Iterator[list[dict[str, Any]]]:
    clock = talk.clock()
    created = int(next(clock).timestamp() * 1000)
    yield [
        {"type": "session", "version": 4, "id": talk.id, "createdAt": created, "cwd": talk.cwd}
        | {"isSeeded": False, "delegationDepth": 0}
    ]
    seq = 0

    def event(kind: str, data: dict[str, Any], time: datetime, **more: Any) -> dict[str, Any]:
        nonlocal seq
        seq += 1
        return {"type": kind, "seq": seq - 1, "time": int(time.timestamp() * 1000), "data": data, **more}

    def text(said: str) -> list[dict[str, Any]]:
        return [{"type": "text", "text": said}]

    model = {"kind": "model", "provider": "deepseek-official", "model": talk.model}
    for number, (turn, time) in enumerate(zip(talk.turns, clock)):
        place: dict[str, Any] = {"turn": 1, "step": number}
        if isinstance(turn, Call):
            call = f"call_{number:02}"
            arguments = json.dumps(turn.arguments, separators=(",", ":"))
            wanted = [{"type": "tool-call", "id": call, "name": turn.tool, "arguments": arguments}]
            message = {"id": f"m{number}", "role": "assistant", "content": wanted, "source": model}
            result = {"id": f"r{number}", "role": "tool", "toolCallId": call, "isError": turn.failed}
            result |= {"content": text(turn.output), "source": {"kind": "tool", "callId": call}}
            yield [
                event("assistant/message", place | {"message": message, "stream": []}, time, surfaceOp="append"),
                event("tool/call", place | {"callId": call, "name": turn.tool, "arguments": arguments}, time),
                event("tool/result", place | {"message": result}, time, surfaceOp="append"),
            ]
        elif turn.role == "user":
            message = {"id": f"m{number}", "role": "user", "content": text(turn.text), "source": {"kind": "user"}}
            yield [event("user/message", message, time, surfaceOp="append")]
        else:
            message = {"id": f"m{number}", "role": "assistant", "content": text(turn.text), "source": model}
            yield [event("assistant/message", place | {"message": message, "stream": []}, time, surfaceOp="append")]
    title = {"title": talk.title, "messageSeqs": [], "source": {"kind": "user"}}
    yield [event("session/title", title, next(clock))]


# -- files -----------------------------------------------------------------------------------------------------------


def _iso(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"


def _lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(map(_line, rows)), encoding="utf-8", newline="\n")


def _json(path: Path, value: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")


def make(folder: Path) -> None:
    """Writes all homes below `folder`, one for each agent, named as the agent."""
    claude_code(folder / "claude-code")
    codex(folder / "codex")
    reasonix(folder / "reasonix")
    dsh(folder / "dsh")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
