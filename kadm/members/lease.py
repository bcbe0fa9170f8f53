"""The Lease by which one run of kadm at a time writes to a member: ``kadm-<fleet>`` in namespace ``kadm-system``.

Written only with POST, or with PUT and its resourceVersion: of two that write at once, one gets 409 (api-servers, 28).
Whether it has expired is judged by whoever waits for it, with a clock of its own, since it last saw a change: the times
in it were written with another machine's clock, and are for people.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from kadm.errors import MemberError, MemberRefused
from kadm.members import resources
from kadm.members.connection import Connection, Method
from kadm.members.document import MANAGER, ensure_namespace
from kadm.members.process import Holder
from kadm.members.record import record_name
from kadm.members.refusal import missing_namespace
from kadm.model.repository import RECORD_NAMESPACE

DURATION_S = 15
"""How long a Lease lives after its holder's last renewal."""

_MARK = "kadm.io/process"


class LeaseTaken(MemberError):
    """Somebody else wrote the Lease since it was read."""


class Lease(Struct, frozen=True, kw_only=True):
    """The Lease as it was read. ``version`` is its resourceVersion, empty where there is no Lease.

    ``holder`` is its holderIdentity, empty where nobody holds it; ``mark`` names the holder's process (``Holder``);
    ``since`` is when it was taken, by the holder's clock, for people.
    """

    version: str = ""
    holder: str = ""
    mark: str = ""
    since: str = ""
    duration_s: float = DURATION_S
    transitions: int = 0

    @property
    def held_by(self) -> str:
        """Who holds it, in words: ``alice@ci-7 (process 4242) since 2026-11-29T14:03:12Z``."""
        who = self.holder.rpartition("/")[0] or self.holder
        process = self.mark.split("/")[2:3]
        told = f"{who} (process {process[0]})" if process else who
        return f"{told} since {self.since}" if self.since else told


async def read_lease(connection: Connection, fleet: str, *, timeout_s: float | None = None) -> Lease:
    """The fleet's Lease in this member. Raises MemberError where it could not be read."""
    path = resources.url_path(resources.LEASES, RECORD_NAMESPACE, record_name(fleet))
    try:
        answer = await connection.request("GET", path, about=_place(fleet), timeout_s=timeout_s)
    except MemberRefused as refused:
        if refused.status == 404 and refused.reason == "NotFound":
            return Lease()
        raise
    return _lease(connection.decode(answer.body, dict[str, Any], path=path, about=_place(fleet)))


async def write_lease(
    connection: Connection, fleet: str, seen: Lease, holder: Holder | None, *, now: datetime, timeout_s: float | None
) -> Lease:
    """The Lease, taken or renewed by ``holder``, or given back (None), in place of the version that was seen.

    Creates the namespace where it is missing. Raises LeaseTaken where the member has another version by now,
    MemberError where it could not be written.
    """
    body = _body(fleet, seen, holder, now)
    path = resources.url_path(resources.LEASES, RECORD_NAMESPACE, record_name(fleet) if seen.version else "")
    method: Method = "PUT" if seen.version else "POST"

    async def send() -> Lease:
        answer = await connection.request(
            method,
            path,
            query={"fieldManager": MANAGER},
            body=body,
            about=_place(fleet),
            timeout_s=timeout_s,
        )
        return _lease(connection.decode(answer.body, dict[str, Any], path=path, about=_place(fleet)))

    try:
        try:
            return await send()
        except MemberRefused as refused:
            if seen.version or not missing_namespace(refused):
                raise
        await ensure_namespace(connection)
        return await send()
    except MemberRefused as refused:
        if refused.status == 409 or (refused.status == 404 and seen.version):
            raise LeaseTaken(
                "another run of kadm wrote the Lease meanwhile", member=connection.name, object=_place(fleet)
            ) from refused
        raise


def _body(fleet: str, seen: Lease, holder: Holder | None, now: datetime) -> dict[str, Any]:
    time = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")  # without microseconds the API server refuses it
    metadata: dict[str, Any] = {
        "name": record_name(fleet),
        "namespace": RECORD_NAMESPACE,
        "labels": {"app.kubernetes.io/managed-by": "kadm"},
    }
    if seen.version:
        metadata["resourceVersion"] = seen.version
    spec: dict[str, Any] = {"leaseDurationSeconds": DURATION_S, "renewTime": time, "leaseTransitions": seen.transitions}
    if holder is not None:
        takes = holder.identity != seen.holder
        spec["holderIdentity"] = holder.identity
        spec["acquireTime"] = time if takes or not seen.since else _full(seen.since)
        spec["leaseTransitions"] = seen.transitions + (takes and bool(seen.version))
        if holder.mark:
            metadata["annotations"] = {_MARK: holder.mark}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def _lease(found: dict[str, Any]) -> Lease:
    metadata, spec = found["metadata"], found.get("spec") or {}
    duration = spec.get("leaseDurationSeconds")
    return Lease(
        version=metadata["resourceVersion"],
        holder=spec.get("holderIdentity") or "",
        mark=(metadata.get("annotations") or {}).get(_MARK, ""),
        since=_to_the_second(spec.get("acquireTime") or ""),
        duration_s=duration if isinstance(duration, int) and duration > 0 else DURATION_S,
        transitions=spec.get("leaseTransitions") or 0,
    )


def _to_the_second(time: str) -> str:
    """A MicroTime without its fraction, for people."""
    whole, dot, _ = time.partition(".")
    return f"{whole}Z" if dot else time


def _full(time: str) -> str:
    """The MicroTime of ``_to_the_second`` again."""
    return f"{time.removesuffix('Z')}.000000Z"


def _place(fleet: str) -> str:
    return f"Lease.coordination.k8s.io {RECORD_NAMESPACE}/{record_name(fleet)}"
