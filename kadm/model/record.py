"""The record: what kadm wrote down, in a member, about what it put there (design, section 5)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from kadm.model.objects import ObjectKey

RECORD_FORMAT = 1


class RecordedObject(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One object that kadm placed in the member.

    ``uid`` is empty for an intent: recorded before the create was sent, and not yet confirmed. ``version`` is the API
    version last applied. ``digest`` is that of the desired object as last applied, and only of a Job that the member
    removes once it has finished: gone, it is done. ``keep``: its manifest asks that it is released, never deleted.
    ``adopting``: recorded before it was adopted, and not yet confirmed; a run that is killed in between leaves to the
    next one what an adoption does and an update does not. ``recreating``: recorded before it was deleted to be made
    anew, and not yet confirmed; ``uid`` is still that of the old one.
    """

    group: str = ""
    version: str
    kind: str
    namespace: str = ""
    name: str
    uid: str = ""
    origin: Literal["created", "adopted"] = "created"
    digest: str = ""
    keep: bool = False
    adopting: bool = False
    recreating: bool = False

    @property
    def key(self) -> ObjectKey:
        return ObjectKey(self.group, self.kind, self.namespace, self.name)


class RecordedWorkload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the scheduler decided for one workload in this member.

    ``replicas`` is this member's number, None where the workload is not divided. ``policy`` is the policy key as text.
    ``triggers`` holds the inputs that the decision was made from, each as a short hash or text (scheduling spec,
    section 6).

    ``placement`` is the whole decision, member → replicas: records are written member by member, and a run that is
    killed in between leaves old and new decisions side by side. The next run finds one whose triggers are the present
    inputs, and takes it whole, instead of dividing anew from a mix. It is also in the record of a member that the
    workload leaves, until it has left. ``blocks`` is of the whole decision, too: member → number of its block of
    ordinals, only of a StatefulSet (design, section 7). ``moving`` is the division before this decision, member →
    replicas, while a move that the decision began is unfinished; then it is empty.
    """

    group: str = ""
    kind: str
    namespace: str = ""
    name: str
    replicas: int | None = None
    policy: str = ""
    triggers: dict[str, str] = {}
    placement: dict[str, int | None] = {}
    blocks: dict[str, int] = {}
    moving: dict[str, int] = {}

    @property
    def key(self) -> ObjectKey:
        return ObjectKey(self.group, self.kind, self.namespace, self.name)


class Record(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that kadm recorded in one member; ``resource_version`` is the ConfigMap's, for the fence, and not stored."""

    fleet: str
    member_uid: str
    """uid of the member's namespace kube-system: a record with another one stops everything for that member."""
    member: str = ""
    commit: str = ""
    objects: tuple[RecordedObject, ...] = ()
    workloads: tuple[RecordedWorkload, ...] = ()
    format: int = RECORD_FORMAT
    resource_version: str = ""
