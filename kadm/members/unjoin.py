"""Taking a member out of the fleet: its objects first, then kadm's record, then the file that describes it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from kadm.errors import GuardError, MemberError, MemberRefused, Problem, UsageError
from kadm.members import resources
from kadm.members.cluster_file import file_of, remove_cluster, shown
from kadm.members.connection import DEFAULT_REQUEST_TIMEOUT_S, Connection
from kadm.members.contents import foreign_or_unknown
from kadm.members.credentials import Credentials
from kadm.members.kubeconfig import Kubeconfigs
from kadm.members.live import served
from kadm.members.observe import observe_member
from kadm.members.record import delete_record, record_name
from kadm.members.release import release
from kadm.members.stamps import delete_stamps
from kadm.members.together import together
from kadm.model.applyset import PART_OF, applyset_id, other_set
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.observation import ApiResource, MemberState
from kadm.model.record import RecordedObject
from kadm.model.repository import Repo

Objects = Literal["refuse", "release", "delete"]
"""What happens to what kadm placed in the member."""

_PROTECT = "kadm.io/protect"
_ATTEMPTS = 3
_CONTAINERS: tuple[tuple[str, str], ...] = (("", "Namespace"), ("apiextensions.k8s.io", "CustomResourceDefinition"))
"""(group, kind) of what others' objects live in, deleted after everything else, in this order."""

_NEVER_DELETED = frozenset({"kube-system", "kube-public", "kube-node-lease", "default", "kadm-system"})


class Unjoined(Struct, frozen=True, kw_only=True):
    """What became of the member's objects, each sorted. ``kept``: released although deletion was asked for → why."""

    name: str
    file: str
    released: tuple[ObjectKey, ...] = ()
    deleted: tuple[ObjectKey, ...] = ()
    kept: Mapping[ObjectKey, str] = {}


class UnjoinFailed(MemberError):
    """Some objects could not be let go of: the member stays in the fleet, and unjoin can be run again."""

    def __init__(self, member: str, problems: tuple[Problem, ...]) -> None:
        super().__init__(
            f"{len(problems)} objects could not be let go of; the member stays in the fleet",
            member=member,
            why=str(problems[0]),
            hint="run it again when the cause is gone",
        )
        self._problems = problems

    @property
    def problems(self) -> tuple[Problem, ...]:
        return (self.problem, *self._problems)


async def unjoin(
    repo: Repo,
    name: str,
    *,
    objects: Objects = "refuse",
    request_timeout_s: float = DEFAULT_REQUEST_TIMEOUT_S,
    environ: Mapping[str, str] | None = None,
) -> Unjoined:
    """Take member ``name`` out of the fleet.

    ``release`` lets every object run on, without kadm; ``delete`` deletes what kadm created and releases the rest:
    adopted objects, those marked ``kadm.io/protect``, volume claims, and namespaces and CRDs that hold anything else.

    Raises UsageError for a name that is none; GuardError where the record still lists objects and ``objects`` is
    ``refuse``; UnjoinFailed where some could not be let go of; MemberError where the member cannot be read. Killed or
    failed at any point, it can be run again.
    """
    cluster = repo.cluster(name)
    if cluster is None:
        raise UsageError(
            f"no such member: {name}", hint=f"members are: {', '.join(one.name for one in repo.clusters) or 'none'}"
        )
    environment = os.environ if environ is None else environ
    credentials = Credentials(Kubeconfigs(repo.root, environment), environment)
    access = await credentials.access(cluster, timeout_s=request_timeout_s)
    async with Connection(name, access, request_timeout_s=request_timeout_s, read_only=False) as connection:
        state = await observe_member(connection, repo.fleet.name)
        recorded = state.record.objects if state.record else ()
        if recorded and objects == "refuse":
            raise GuardError(
                f"the member still holds {len(recorded)} objects of this fleet",
                flag="--release (they run on, without kadm) or --delete",
                held=[str(entry.key) for entry in recorded],
                member=name,
            )
        leave = _Leave(connection, state, repo.fleet.field_manager, applyset_id(record_name(repo.fleet.name)), objects)
        await leave.all_of(recorded)
        if leave.problems:
            raise UnjoinFailed(name, tuple(leave.problems[key] for key in sorted(leave.problems)))
        await delete_stamps(connection, repo.fleet.name)  # first: stamps without a record mean that it was lost
        await delete_record(connection, repo.fleet.name)
    file = file_of(repo, name)
    remove_cluster(file, name)
    return Unjoined(
        name=name,
        file=shown(repo, file),
        released=tuple(sorted(leave.released)),
        deleted=tuple(sorted(leave.deleted)),
        kept=dict(sorted(leave.kept.items())),
    )


class _Leave:
    """Lets go of recorded objects, and notes what became of each."""

    def __init__(self, connection: Connection, state: MemberState, manager: str, set_id: str, objects: Objects) -> None:
        self._connection, self._state, self._manager, self._set_id = connection, state, manager, set_id
        self._deleting = objects == "delete"
        self._own_uids: frozenset[str] = frozenset()
        self.released: set[ObjectKey] = set()
        self.deleted: set[ObjectKey] = set()
        self.kept: dict[ObjectKey, str] = {}
        self.problems: dict[ObjectKey, Problem] = {}

    async def all_of(self, recorded: tuple[RecordedObject, ...]) -> None:
        """Everything side by side, but containers only after what is in them."""
        self._own_uids = frozenset(entry.uid for entry in recorded if entry.uid)
        containers = {
            container: [entry for entry in recorded if _kind(entry) == container] for container in _CONTAINERS
        }
        plain = [entry for entry in recorded if _kind(entry) not in containers]
        for group in (plain, *containers.values()):
            await together({str(entry.key): self._let_go(entry) for entry in group})

    async def _let_go(self, entry: RecordedObject) -> None:
        try:
            await self._tried(entry)
        except MemberError as error:
            self.problems[entry.key] = error.problem

    async def _tried(self, entry: RecordedObject) -> None:
        """One object, read anew where it changed under our hands."""
        key = entry.key
        resource = served(self._state, key, entry.version)
        if resource is None:
            self._check_unserved(key)
            return
        for attempt in range(1, _ATTEMPTS + 1):
            live = await resources.get(self._connection, resource, key.namespace, key.name)
            if live is None or not self._is_ours(entry, live):
                return
            try:
                await self._finish(entry, resource, live)
            except MemberRefused as refused:
                if refused.status == 404 or (refused.status == 409 and attempt < _ATTEMPTS):
                    continue
                raise
            return

    async def _finish(self, entry: RecordedObject, resource: ApiResource, live: JsonObject) -> None:
        key = entry.key
        why_kept = await self._why_kept(entry, live) if self._deleting else ""
        if self._deleting and not why_kept:
            uid = live["metadata"]["uid"]
            await resources.delete(self._connection, resource, key.namespace, key.name, uid=uid)
            self.deleted.add(key)
            return
        await release(self._connection, resource, live, manager=self._manager, set_id=self._set_id)
        self.released.add(key)
        if why_kept:
            self.kept[key] = why_kept

    async def _why_kept(self, entry: RecordedObject, live: JsonObject) -> str:
        """Why an object is not deleted although that was asked for; empty where it is."""
        key = entry.key
        if entry.origin == "adopted":
            return "it existed before kadm"
        if not entry.uid:
            return "it is not certain that kadm created it"
        if other := other_set(live, self._set_id):
            return f"it is in ApplySet {other} now"
        if (live["metadata"].get("annotations") or {}).get(_PROTECT) == "true":
            return f"it is marked {_PROTECT}"
        if (key.group, key.kind) == ("", "PersistentVolumeClaim"):
            return "it holds data"
        if (key.group, key.kind) not in _CONTAINERS:
            return ""
        if key.kind == "Namespace" and key.name in _NEVER_DELETED:
            return "Kubernetes or kadm needs it"
        foreign, unknown = await foreign_or_unknown(
            self._connection, self._state, key.kind, key.name, own_uids=self._own_uids
        )
        if unknown:
            return f"what it holds is unknown: {unknown}"
        return f"it still holds {', '.join(foreign)}" if foreign else ""

    def _is_ours(self, entry: RecordedObject, live: JsonObject) -> bool:
        """Whether the live object is the recorded one; an intent has no uid, so the set's label decides."""
        if entry.uid:
            return bool(live["metadata"]["uid"] == entry.uid)
        return bool((live["metadata"].get("labels") or {}).get(PART_OF) == self._set_id)

    def _check_unserved(self, key: ObjectKey) -> None:
        """Raise MemberError where it is unknown whether the member serves the kind: it may hold the object."""
        for group_version, reason in self._state.undiscovered.items():
            if group_version.rpartition("/")[0] == key.group:
                raise MemberError(
                    "it is unknown whether this kind is served", member=self._state.name, object=str(key), why=reason
                )


def _kind(entry: RecordedObject) -> tuple[str, str]:
    return entry.group, entry.kind
