"""What auto-migration learned of one member, as it is kept there (design, section 5; propagation spec, section 7).

It lives beside the record, in a document of its own: plans read it, and only the daemon writes it. Times are RFC 3339
in UTC with seconds.
"""

from __future__ import annotations

from msgspec import Struct

from kadm.model.objects import ObjectKey

MIGRATION_FORMAT = 1


class Estimate(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one member is believed to run of one workload.

    ``capacity`` None: it is believed to run all that it is given, and only remembered to have been full. Nothing about
    it changes for the better before ``until``. ``strikes`` counts how often it was found full again soon after it was
    trusted again: each doubles the time until the next trust; so does each of ``looks``, fresh looks in a row that
    changed nothing. ``raised``: the last change was for the better. ``why`` says in words what did not run.
    """

    capacity: int | None = None
    since: str
    until: str
    strikes: int = 0
    looks: int = 0
    raised: bool = False
    why: str = ""


class Eviction(Struct, frozen=True, kw_only=True):
    """A member that one workload left because it was lost; it gets nothing of it before ``until``."""

    member: str
    since: str
    until: str


class MigrationEvent(Struct, frozen=True, kw_only=True):
    """Something that was learned or decided, in words."""

    at: str
    text: str


class LearnedWorkload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of one workload in this member.

    ``scheduled`` are the replicas that arrived here, while that counts: Binpack gives up what waits in a full member
    only when it is known to have arrived elsewhere (scheduling spec 4.14). ``evictions`` are of other members: a lost
    one cannot be written to, so the members that hold the workload keep what was decided. ``events`` are the latest,
    oldest first.
    """

    group: str = ""
    kind: str
    namespace: str = ""
    name: str
    estimate: Estimate | None = None
    scheduled: int | None = None
    evictions: tuple[Eviction, ...] = ()
    events: tuple[MigrationEvent, ...] = ()

    @property
    def key(self) -> ObjectKey:
        return ObjectKey(self.group, self.kind, self.namespace, self.name)


class MigrationState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that was learned in one member, sorted by key; ``resource_version`` is the document's, and not stored."""

    fleet: str
    member_uid: str
    workloads: tuple[LearnedWorkload, ...] = ()
    format: int = MIGRATION_FORMAT
    resource_version: str = ""

    def of(self, key: ObjectKey) -> LearnedWorkload | None:
        """What is known of one workload, or None."""
        return next((one for one in self.workloads if one.key == key), None)
