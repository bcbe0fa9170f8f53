"""Plays one conversation with any API server and says what was answered, in words that do not depend on the server.

What differs from run to run gets a token that is the same wherever the value is: a uid that comes back is seen to be
the same, a resourceVersion that moved is seen to have moved.
"""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tests.e2e.access import JSON, Access

Json = Any

ANSWER_WITHIN_S = 60.0
EVENTUALLY_S = 30.0
ASK_AGAIN_S = 0.2

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")
_REFERENCE = re.compile(r"\$\{([a-z0-9 -]+)((?:\.\w+)*)\}")
_TOO_OLD = re.compile(r"(?<=too old resource version: )(\d+) \(\d+\)")
_GENERATED = re.compile(r"(?<=made-)[bcdfghjklmnpqrstvwxz2456789]{5}\b")


@dataclass(frozen=True, kw_only=True)
class Step:
    """One request. ``path`` is below the server's root; ``$NS`` is the namespace's name anywhere, and
    ``${step.metadata.uid}`` a value of an earlier answer. ``until``: the request is repeated until the answer has this
    status, for what happens by itself. ``watch``: the answer is a stream of events. ``moving``: fields that controllers
    may have changed by then.
    """

    name: str
    path: str
    method: str = "GET"
    body: Json = None
    media_type: str = JSON
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    until: int | None = None
    watch: bool = False
    moving: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Talk:
    """A conversation in a namespace of its own. ``leaves``: paths of what it leaves outside of it."""

    id: str
    steps: Sequence[Step]
    leaves: Sequence[str] = ()


@dataclass(frozen=True)
class Answer:
    """What came back: status, media type without parameters, warnings, and the decoded body or the events."""

    status: int
    media_type: str
    warnings: tuple[str, ...]
    body: Json

    def said(self) -> Json:
        return {"status": self.status, "type": self.media_type, "warnings": list(self.warnings), "body": self.body}


def play(access: Access, talk: Talk, namespace: str) -> dict[str, Json]:
    """Step → what was answered, with tokens."""
    access.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    try:
        _wait_for_namespace(access, namespace)
        answers: dict[str, Answer] = {}
        for step in talk.steps:
            answers[step.name] = _take(access, step, namespace, answers)
    finally:
        for path in talk.leaves:
            access.ask("DELETE", path.replace("$NS", namespace))
        access.ask("DELETE", f"/api/v1/namespaces/{namespace}")
    tokens = _Tokens(namespace)
    return {step.name: _without(tokens.of(answers[step.name].said()), step.moving) for step in talk.steps}


def _without(said: Json, moving: Sequence[str]) -> Json:
    metadata = said["body"].get("metadata", {}) if moving else {}
    for name in moving:
        metadata.pop(name, None)
    return said


def _wait_for_namespace(access: Access, namespace: str) -> None:
    """Until its controllers have made what every namespace holds: it must not come in between."""
    deadline = time.monotonic() + EVENTUALLY_S
    for path in ("serviceaccounts/default", "configmaps/kube-root-ca.crt"):
        while access.there(f"/api/v1/namespaces/{namespace}/{path}") is None:
            assert time.monotonic() < deadline, f"{namespace} has no {path}"
            time.sleep(ASK_AGAIN_S)


def _take(access: Access, step: Step, namespace: str, answers: Mapping[str, Answer]) -> Answer:
    deadline = time.monotonic() + EVENTUALLY_S
    while True:
        answer = _ask(access, step, namespace, answers)
        if step.until in (None, answer.status) or time.monotonic() > deadline:
            return answer
        time.sleep(ASK_AGAIN_S)


def _ask(access: Access, step: Step, namespace: str, answers: Mapping[str, Answer]) -> Answer:
    def filled(value: Json) -> Json:
        if isinstance(value, str):
            return _REFERENCE.sub(lambda found: _referred(answers, found), value.replace("$NS", namespace))
        if isinstance(value, Mapping):
            return {filled(name): filled(child) for name, child in value.items()}
        return [filled(child) for child in value] if isinstance(value, list | tuple) else value

    address = urlsplit(access.url)
    connection = http.client.HTTPSConnection(
        address.hostname or "", address.port, context=access.trust, timeout=ANSWER_WITHIN_S
    )
    headers = {"Accept": JSON, "User-Agent": "talk/1"}
    if access.token:
        headers["Authorization"] = f"Bearer {access.token}"
    if step.body is not None:
        headers["Content-Type"] = step.media_type
    body = filled(step.body)
    target = quote(filled(step.path)) + (f"?{urlencode(filled(step.query))}" if step.query else "")
    try:
        data = body if body is None or isinstance(body, str) else json.dumps(body)
        connection.request(step.method, target, data, {**headers, **filled(step.headers)})
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    media_type = answer.headers.get_content_type()
    if step.watch and answer.status == 200:
        content: Json = [json.loads(line) for line in text.splitlines() if line]
    else:
        content = json.loads(text) if media_type == JSON and text else text
    return Answer(answer.status, media_type, tuple(answer.headers.get_all("Warning") or ()), content)


def _referred(answers: Mapping[str, Answer], found: re.Match[str]) -> str:
    value = answers[found[1]].body
    for part in found[2].split(".")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return str(value)


class _Tokens:
    """Puts tokens in place of what differs from run to run."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._seen: dict[tuple[str, str], str] = {}

    def of(self, value: Json, field_name: str = "", parent: Json = None) -> Json:
        if isinstance(value, dict):
            return {
                self._text(name): self._field(name, child, value)
                for name, child in sorted(value.items())
                if child is not None
            }
        if isinstance(value, list):
            if field_name == "managedFields":
                value = sorted(value, key=_by_manager)
            if field_name in ("causes", "resources"):
                value = sorted(value, key=json.dumps)  # their order says nothing
            return [self.of(child, field_name, parent) for child in value]
        if isinstance(value, str):
            return self._text(value)
        return value

    def _field(self, name: str, value: Json, parent: Json) -> Json:
        if name == "resourceVersion" and isinstance(value, str):
            # That of a list moves with whatever else happens in the member.
            return "$list" if "uid" not in parent and "name" not in parent else self._token("rv", value)
        if name == "continue" and value:
            return "$continue"
        if name in ("clusterIP", "podIP") and value not in ("", "None"):
            return "$ip"
        if name == "clusterIPs" and value != ["None"]:
            return ["$ip"]
        if name == "nodePort":
            return "$port"
        return self.of(value, name, parent)

    def _text(self, text: str) -> str:
        text = text.replace(self._namespace, "$NS")
        text = _GENERATED.sub("$rand", text)
        text = _TOO_OLD.sub(r"\1 ($list)", text)
        text = _UID.sub(lambda found: self._token("uid", found[0]), text)
        return _TIME.sub(lambda found: "$microtime" if found[1] else "$time", text)

    def _token(self, kind: str, value: str) -> str:
        count = sum(one == kind for one, _ in self._seen)
        return self._seen.setdefault((kind, value), f"${kind}{count + 1}")


def _by_manager(entry: Json) -> tuple[str, ...]:
    return tuple(entry.get(part, "") for part in ("manager", "operation", "subresource", "apiVersion"))
