"""Plays recorded conversations with an API server against another one, and tells where the answers differ.

The format is that of ``vectors/apiserver.json`` (format ``kadm-conversations/1``; its README defines it). A
conversation is played in a fresh namespace as a cluster administrator; tokens such as ``$uid1`` are bound at first
sight.

Usage: ``python -m tests.sandbox.conversations [ID…]`` plays against a sandbox member in this process and prints what
fails.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

Json = Any
USER_AGENT = "conv/1"
CONTROLLERS = "controllers"
STEP_TIMEOUT_S = 60.0
RETRY_EVERY_S = 0.05
READY_WITHIN_S = 20.0


@dataclass(frozen=True, slots=True)
class Conversation:
    """One recorded conversation."""

    id: str
    tags: frozenset[str]
    steps: tuple[Mapping[str, Json], ...]


@dataclass(frozen=True, slots=True)
class Server:
    """Where to play: base URL, the administrator's token, and how to check the server's certificate."""

    url: str
    token: str
    ssl: ssl.SSLContext | bool = True


def data_directory() -> Path | None:
    """The directory that holds the recorded data (``vectors/``), or None if this machine has none."""
    named = os.environ.get("KADM_TEST_DATA")
    return Path(named) if named else None


def load(directory: Path) -> tuple[Conversation, ...]:
    """All conversations, in the file's order."""
    document = json.loads((directory / "vectors" / "apiserver.json").read_text(encoding="utf-8"))
    assert document["format"] == "kadm-conversations/1"
    return tuple(
        Conversation(item["id"], frozenset(item.get("tags", ())), tuple(item["steps"]))
        for item in document["conversations"]
    )


# Tokens

_BOUND = re.compile(r"\$(?:NS|(?:uid|rv|lrv|ip|nodePort|rand|hash|jwt|continue)\d+)")
_ANY = re.compile(r"\$(?:NS|(?:uid|rv|lrv|ip|nodePort|rand|hash|jwt|continue)\d+|microtime|time|ip|rand|any)")
_PATTERNS = {
    "uid": r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "rv": r"\d+",
    "lrv": r"\d+",
    "ip": r"\d+\.\d+\.\d+\.\d+",
    "nodePort": r"\d+",
    "rand": r"[bcdfghjklmnpqrstvwxz2456789]{5}",
    "hash": r"[bcdfghjklmnpqrstvwxz2456789]{1,10}",
    "jwt": r"[A-Za-z0-9_.\-]+",
    "continue": r".+?",
    "time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
    "microtime": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z",
    "any": r"(?s:.*)",
}

Bindings = dict[str, str]


def substituted(value: Json, bindings: Mapping[str, str]) -> Json:
    """A request's value with tokens in place of what they were bound to, in keys too."""
    if isinstance(value, str):
        if value.startswith("$nodePort") and _BOUND.fullmatch(value):
            return int(bindings[value])
        return _BOUND.sub(lambda found: bindings.get(found[0], found[0]), value)
    if isinstance(value, dict):
        return {substituted(str(key), bindings): substituted(item, bindings) for key, item in value.items()}
    if isinstance(value, list):
        return [substituted(item, bindings) for item in value]
    return value


def match_text(expected: str, actual: str, bindings: Bindings) -> bool:
    """Whether a text is as expected; binds tokens that are seen for the first time."""
    pattern = ""
    fresh: dict[str, str] = {}
    position = 0
    for found in _ANY.finditer(expected):
        pattern += re.escape(expected[position : found.start()])
        position = found.end()
        token = found[0]
        kind = token[1:].rstrip("0123456789")
        if token in bindings and kind != "lrv":
            pattern += re.escape(bindings[token])
        elif token in fresh.values():
            pattern += f"(?P={next(name for name, seen in fresh.items() if seen == token)})"
        elif token[-1].isdigit():
            name = f"t{len(fresh)}"
            fresh[name] = token
            pattern += f"(?P<{name}>{_PATTERNS[kind]})"
        else:
            pattern += f"(?:{_PATTERNS[kind]})"
    pattern += re.escape(expected[position:])
    matched = re.fullmatch(pattern, actual)
    if matched is None:
        return False
    taken = {value for token, value in bindings.items() if token.startswith("$rv")}
    for name, token in fresh.items():
        if token.startswith("$rv") and matched[name] in taken:
            return False  # distinct tokens are distinct versions
    bindings.update({token: matched[name] for name, token in fresh.items()})
    return True


# Comparing


@dataclass(frozen=True, slots=True)
class Mode:
    """How a body is compared."""

    subset: bool = False
    contains: bool = False
    unordered: bool = False


EXACT = Mode()


def differences(expected: Json, actual: Json, bindings: Bindings, mode: Mode = EXACT, path: str = "") -> Iterator[str]:
    """What differs, as ``path: expected …, got …``; binds tokens on the way."""
    if isinstance(expected, str):
        yield from _text_differences(expected, actual, bindings, path)
    elif isinstance(expected, dict):
        if not isinstance(actual, dict):
            yield _differs(path, expected, actual)
            return
        wanted = {substituted(key, bindings): item for key, item in expected.items()}
        for key, item in wanted.items():
            below = f"{path}.{key}"
            if key not in actual:
                yield f"{below}: missing, expected {_shown(item)}"
            elif key == "managedFields" and isinstance(item, list):
                yield from _list_differences(_by_manager(item), _by_manager(actual[key]), bindings, EXACT, below)
            elif key == "causes" and isinstance(item, list):
                yield from _unordered_differences(item, actual[key], bindings, EXACT, below)
            else:
                yield from differences(item, actual[key], bindings, mode, below)
        if not mode.subset:
            yield from (f"{path}.{key}: unexpected {_shown(actual[key])}" for key in actual if key not in wanted)
    elif isinstance(expected, list):
        if mode.contains:
            yield from _contained_differences(expected, actual, bindings, mode, path)
        elif mode.unordered and path.endswith(".items"):
            yield from _unordered_differences(expected, actual, bindings, mode, path)
        else:
            yield from _list_differences(expected, actual, bindings, mode, path)
    elif expected != actual or isinstance(expected, bool) != isinstance(actual, bool):
        yield _differs(path, expected, actual)


def _text_differences(expected: str, actual: Json, bindings: Bindings, path: str) -> Iterator[str]:
    if expected.startswith("$nodePort"):
        if not isinstance(actual, int) or not match_text(expected, str(actual), bindings):
            yield _differs(path, expected, actual)
    elif not isinstance(actual, str) or not match_text(expected, actual, bindings):
        yield _differs(path, f"{expected!r}, that is {substituted(expected, bindings)!r}", actual)


def _list_differences(expected: list[Json], actual: Json, bindings: Bindings, mode: Mode, path: str) -> Iterator[str]:
    if not isinstance(actual, list) or len(actual) != len(expected):
        yield _differs(path, expected, actual)
        return
    for index, (item, found) in enumerate(zip(expected, actual, strict=True)):
        yield from differences(item, found, bindings, mode, f"{path}[{index}]")


def _unordered_differences(
    expected: list[Json], actual: Json, bindings: Bindings, mode: Mode, path: str
) -> Iterator[str]:
    if not isinstance(actual, list) or len(actual) != len(expected):
        yield _differs(path, expected, actual)
        return
    left = list(actual)
    for item in expected:
        index = _first_match(item, left, bindings, mode)
        if index is None:
            yield f"{path}: nothing matches {_shown(item)} in {_shown(left)}"
        else:
            del left[index]


def _contained_differences(
    expected: list[Json], actual: Json, bindings: Bindings, mode: Mode, path: str
) -> Iterator[str]:
    if not isinstance(actual, list):
        yield _differs(path, expected, actual)
        return
    for item in expected:
        if _first_match(item, actual, bindings, mode) is None:
            yield f"{path}: nothing matches {_shown(item)}"


def _first_match(expected: Json, candidates: Sequence[Json], bindings: Bindings, mode: Mode) -> int | None:
    for index, candidate in enumerate(candidates):
        tried = dict(bindings)
        if next(differences(expected, candidate, tried, mode), None) is None:
            bindings.update(tried)
            return index
    return None


def _by_manager(entries: Json) -> list[Json]:
    if not isinstance(entries, list):
        return []
    keys = ("manager", "operation", "subresource", "apiVersion")
    return sorted(entries, key=lambda entry: tuple(entry.get(key, "") for key in keys))


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 1500 else f"{text[:1500]}…"


def _differs(path: str, expected: Json, actual: Json) -> str:
    shown = expected if isinstance(expected, str) else _shown(expected)
    return f"{path or 'body'}: expected {shown}, got {_shown(actual)}"


# Playing


@dataclass(slots=True)
class Reply:
    """An answer as it was read. ``events`` is None unless a watch was read."""

    status: int
    headers: Mapping[str, str]
    warnings: list[str]
    media_type: str
    text: str
    events: list[Json] | None = None

    @property
    def body(self) -> Json:
        try:
            return json.loads(self.text)
        except json.JSONDecodeError:
            return self.text


@dataclass(slots=True)
class Player:
    """Plays one conversation on one server."""

    session: aiohttp.ClientSession
    server: Server
    namespace: str
    bindings: Bindings = field(default_factory=dict)
    highest_version: int = 0
    open_watches: dict[str, tuple[asyncio.Task[Reply], asyncio.Event]] = field(default_factory=dict)
    created: list[str] = field(default_factory=list)

    async def play(self, conversation: Conversation) -> list[str]:
        """The differences of the first step that has any; empty if the server answers as recorded."""
        self.bindings = {"$NS": self.namespace}
        await self._prepare(conversation)
        try:
            for number, step in enumerate(conversation.steps, start=1):
                try:
                    async with asyncio.timeout(STEP_TIMEOUT_S):
                        found = await self._step(step)
                except TimeoutError:
                    found = [f"no answer within {STEP_TIMEOUT_S} s"]
                if found:
                    what = step.get("collect") or f"{step['method']} {substituted(step['path'], self.bindings)}"
                    return [f"step {number}: {what} {_shown(step.get('query', {}))}", *found]
            return []
        finally:
            for task, _ in self.open_watches.values():
                task.cancel()

    async def clean(self) -> None:
        """Delete what the conversation may have left: its cluster-scoped objects, and its namespace last."""
        for path in reversed(self.created):
            await self._send("DELETE", path, {}, {}, None)

    async def _prepare(self, conversation: Conversation) -> None:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        reply = await self._send("POST", "/api/v1/namespaces", {}, {"Content-Type": "application/json"}, body)
        assert reply.status == 201, reply.text
        if CONTROLLERS in conversation.tags:
            for path in ("serviceaccounts/default", "configmaps/kube-root-ca.crt"):
                step = {
                    "method": "GET",
                    "path": f"/api/v1/namespaces/$NS/{path}",
                    "eventually": READY_WITHIN_S,
                    "expect": {"status": 200, "statusOnly": True},
                }
                assert await self._step(step) == []

    async def _step(self, step: Mapping[str, Json]) -> list[str]:
        if "collect" in step:
            task, _ = self.open_watches.pop(step["collect"])
            return self._compare(step, await task, self.bindings)
        if "open" in step:
            answered = asyncio.Event()
            task = asyncio.create_task(self._ask(step, answered))
            self.open_watches[step["open"]] = (task, answered)
            await answered.wait()
            return []
        deadline = asyncio.get_running_loop().time() + step.get("eventually", 0)
        while True:
            tried = dict(self.bindings)
            reply = await self._ask(step)
            found = self._compare(step, reply, tried)
            if not found or asyncio.get_running_loop().time() >= deadline:
                self.bindings = tried
                self._note_version(step, reply)
                return found
            await asyncio.sleep(RETRY_EVERY_S)

    async def _ask(self, step: Mapping[str, Json], answered: asyncio.Event | None = None) -> Reply:
        return await self._send(
            step["method"],
            substituted(step["path"], self.bindings),
            substituted(step.get("query", {}), self.bindings),
            substituted(step.get("headers", {}), self.bindings),
            substituted(step["body"], self.bindings) if "body" in step else None,
            answered=answered,
            is_watch="events" in step["expect"] or "open" in step,
        )

    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        body: Json,
        *,
        answered: asyncio.Event | None = None,
        is_watch: bool = False,
    ) -> Reply:
        sent = {"Accept": "application/json", "User-Agent": USER_AGENT, "Authorization": f"Bearer {self.server.token}"}
        sent.update(headers)
        if sent["Authorization"] == "none":
            del sent["Authorization"]
        data = body.encode() if isinstance(body, str) else None if body is None else json.dumps(body).encode()
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        async with self.session.request(
            method,
            self.server.url + path,
            params=query,
            data=data,
            headers=sent,
            ssl=self.server.ssl,
            skip_auto_headers=("Content-Type",),
        ) as response:
            if answered is not None:
                answered.set()
            text = await response.text()
            events = None
            if is_watch and response.status == 200:
                events = [json.loads(line) for line in text.splitlines() if line]
            reply = Reply(
                response.status,
                {name.lower(): value for name, value in response.headers.items()},
                list(response.headers.getall("Warning", [])),
                response.content_type,
                text,
                events,
            )
        if method == "POST" and reply.status == 201 and "dryRun" not in query:
            self._note_created(path, reply)
        return reply

    def _note_created(self, path: str, reply: Reply) -> None:
        if "/namespaces/" not in path and isinstance(reply.body, dict) and reply.body.get("metadata", {}).get("uid"):
            self.created.append(f"{path}/{reply.body['metadata']['name']}")

    def _note_version(self, step: Mapping[str, Json], reply: Reply) -> None:
        version = _version(reply)
        if step["method"] in ("POST", "PUT", "PATCH") and version is not None:
            self.highest_version = max(self.highest_version, version)

    def _compare(self, step: Mapping[str, Json], reply: Reply, bindings: Bindings) -> list[str]:
        expect = step["expect"]
        found = []
        if "status" in expect and reply.status != expect["status"]:
            return [f"status: expected {expect['status']}, got {reply.status}: {reply.text[:1500]}"]
        if "contentType" in expect and reply.media_type != expect["contentType"]:
            found.append(f"contentType: expected {expect['contentType']}, got {reply.media_type}")
        for name, value in expect.get("headers", {}).items():
            if not match_text(value, reply.headers.get(name.lower(), ""), bindings):
                found.append(f"header {name}: expected {value!r}, got {reply.headers.get(name.lower())!r}")
        if not expect.get("statusOnly"):
            found.extend(_list_differences(expect.get("warnings", []), reply.warnings, bindings, EXACT, "warnings"))
            mode = Mode(
                subset=bool(expect.get("subset") or expect.get("contains") or expect.get("unordered")),
                contains=bool(expect.get("contains")),
                unordered=bool(expect.get("unordered")),
            )
            if "events" in expect:
                found.extend(_event_differences(expect, reply, bindings, mode))
            elif "text" in expect:
                if not match_text(expect["text"], reply.text, bindings):
                    found.append(f"text: expected {expect['text']!r}, got {reply.text!r}")
            elif "body" in expect:
                found.extend(differences(expect["body"], reply.body, bindings, mode))
        if expect.get("rvIncreases"):
            version = _version(reply)
            if version is None or version <= self.highest_version:
                found.append(f"resourceVersion {version} is not greater than {self.highest_version}")
        return found


def _version(reply: Reply) -> int | None:
    body = reply.body
    version = body.get("metadata", {}).get("resourceVersion") if isinstance(body, dict) else None
    return int(version) if isinstance(version, str) and version.isdigit() else None


def _event_differences(expect: Mapping[str, Json], reply: Reply, bindings: Bindings, mode: Mode) -> Iterator[str]:
    if reply.events is None:
        yield f"expected a watch, got {reply.status} {reply.text[:500]}"
        return
    events = reply.events
    if "bookmarksAtLeast" in expect:
        bookmarks = [event for event in events if event["type"] == "BOOKMARK"]
        events = [event for event in events if event["type"] != "BOOKMARK"]
        if len(bookmarks) < expect["bookmarksAtLeast"]:
            yield f"expected {expect['bookmarksAtLeast']} bookmarks, got {len(bookmarks)}"
        for bookmark in bookmarks:
            yield from differences(expect["bookmark"], bookmark["object"], bindings, mode, "bookmark")
    yield from _list_differences(expect["events"], events, bindings, mode, "events")


# Servers in this process


@asynccontextmanager
async def sandbox_member() -> AsyncIterator[Server]:
    """A member without controllers, on a free loopback port."""
    from kadm.sandbox.server import Member

    token = secrets.token_urlsafe(16)
    member = Member("member1", admin_token=token, clock=lambda: datetime.now(UTC))
    server = web.Server(member.handle)
    listening = await asyncio.get_running_loop().create_server(server, "127.0.0.1", 0)
    try:
        yield Server(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", token)
    finally:
        listening.close()
        await server.shutdown(0.5)


@asynccontextmanager
async def controlled_member() -> AsyncIterator[Server]:
    """A member with controllers and two nodes of 4 CPU and 8Gi."""
    from kadm.sandbox.options import SandboxOptions
    from kadm.sandbox.running import running

    options = SandboxOptions(members=1, nodes=2, cpu="4", memory="8Gi")
    async with running(options) as sandbox:
        member = next(iter(sandbox.members.values()))
        yield Server(member.url, member.token, ssl.create_default_context(cadata=sandbox.ca))


async def play(conversation: Conversation) -> list[str]:
    """Play a conversation against a fresh sandbox member; the differences, empty if there are none."""
    member = controlled_member() if CONTROLLERS in conversation.tags else sandbox_member()
    async with member as server:
        return await play_on(server, conversation)


async def play_on(server: Server, conversation: Conversation) -> list[str]:
    """Play a conversation on a server and remove what it made; the differences, empty if there are none."""
    async with aiohttp.ClientSession() as session:
        player = Player(session, server, f"kc-{secrets.token_hex(4)}")
        try:
            return await player.play(conversation)
        finally:
            await player.clean()


async def play_all(
    conversations: Sequence[Conversation], *, at_once: int, report: Callable[[str, list[str]], None] | None = None
) -> dict[str, list[str]]:
    """Id → differences of each conversation; ``at_once`` of them run at the same time, as most of them mostly wait."""
    limit = asyncio.Semaphore(at_once)
    results: dict[str, list[str]] = {}

    async def one(conversation: Conversation) -> None:
        async with limit:
            results[conversation.id] = await play(conversation)
        if report is not None:
            report(conversation.id, results[conversation.id])

    async with asyncio.TaskGroup() as tasks:
        for conversation in conversations:
            tasks.create_task(one(conversation), name=conversation.id)
    return results


def main(wanted: list[str]) -> int:
    """Play the conversations of these ids (or prefixes of ids; none: all without controllers); 1 if any fails."""
    directory = data_directory()
    if directory is None:
        print("KADM_TEST_DATA is not set", file=sys.stderr)
        return 1
    chosen = [
        item
        for item in load(directory)
        if (any(item.id.startswith(prefix) for prefix in wanted) if wanted else CONTROLLERS not in item.tags)
    ]

    def report(name: str, found: list[str]) -> None:
        if found:
            print(f"FAILED {name}", *found, sep="\n    ")

    results = asyncio.run(play_all(chosen, at_once=20, report=report))
    failed = sorted(name for name, found in results.items() if found)
    print(f"{len(results) - len(failed)} of {len(results)} passed; failed: {' '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
