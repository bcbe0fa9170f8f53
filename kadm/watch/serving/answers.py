"""Documents as bytes with an ETag, computed once per snapshot and only when somebody asks: polling is cheap.

An ETag is a hash of the document, so it holds over restarts, and a poller that sends it back is told 304 until
something changed. That of the members leaves out when each was heard last: it is weak, and changes when a member does.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kadm.model.objects import JsonObject, ObjectKey
from kadm.watch.serving.changes import settled
from kadm.watch.serving.documents import (
    clusters_document,
    events_document,
    plan_document,
    unread_fields,
    watch_document,
    workload_fields,
    workloads_document,
)
from kadm.watch.serving.pages import etag_of
from kadm.watch.state import Board, Snapshot, WorkloadView


class Answer(Struct, frozen=True):
    """A body and its ETag."""

    body: bytes
    etag: str


class Answers:
    """The answers of one daemon. Workloads that did not change are not encoded again."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._known: dict[str, tuple[Snapshot, Answer]] = {}
        self._encoded: dict[ObjectKey, tuple[WorkloadView, bytes]] = {}

    def watch(self) -> Answer:
        return self._once("fleet", lambda snapshot: _answer(watch_document(snapshot)))

    def clusters(self) -> Answer:
        return self._once("clusters", _clusters)

    def workloads(self) -> Answer:
        return self._once("workloads", self._workloads)

    def native_workloads(self) -> Answer:
        """The workloads with their native objects, encoded anew each time."""
        return _answer(workloads_document(self._board.latest, self._board.native))

    def events(self, *, after: int = 0) -> Answer:
        if after:
            return _answer(events_document(self._board.latest, after=after))
        return self._once("events", lambda snapshot: _answer(events_document(snapshot)))

    def plan(self) -> Answer:
        return self._once("plan", lambda snapshot: _answer(plan_document(snapshot)))

    def _once(self, name: str, make: Callable[[Snapshot], Answer]) -> Answer:
        snapshot = self._board.latest
        known = self._known.get(name)
        if known is None or known[0] is not snapshot:
            known = snapshot, make(snapshot)
            self._known[name] = known
        return known[1]

    def _workloads(self, snapshot: Snapshot) -> Answer:
        """The same bytes as ``workloads_document`` encoded, put together from those of each workload."""
        encoded: dict[ObjectKey, tuple[WorkloadView, bytes]] = {}
        for one in snapshot.workloads:
            known = self._encoded.get(one.key)
            if known is None or known[0] is not one:
                known = one, msgspec.json.encode(workload_fields(one))
            encoded[one.key] = known
        self._encoded = encoded
        head = msgspec.json.encode(workloads_document(replace(snapshot, workloads=(), members=())))
        start, _, _ = head.partition(b'"workloads":[')
        parts = b",".join(body for _, body in encoded.values())
        body = b"".join(
            (start, b'"workloads":[', parts, b'],"unread":', msgspec.json.encode(unread_fields(snapshot)), b"}")
        )
        return Answer(body, etag_of(body))


def _answer(document: JsonObject) -> Answer:
    body = msgspec.json.encode(document)
    return Answer(body, etag_of(body))


def _clusters(snapshot: Snapshot) -> Answer:
    body = msgspec.json.encode(clusters_document(snapshot))
    lasting = replace(snapshot, members=tuple(settled(one) for one in snapshot.members))
    return Answer(body, f"W/{etag_of(msgspec.json.encode(clusters_document(lasting)))}")
