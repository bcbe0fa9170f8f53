"""Which members a plan writes to. Pure: the Leases of all of them are taken before the first write."""

from __future__ import annotations

from kadm.execute.bookkeeping import intended, trimmed
from kadm.model.observation import MemberState
from kadm.model.plan import Change
from kadm.model.planned import Planned
from kadm.model.record import Record
from kadm.render import is_released


class Extent:
    """A plan by member. What is the same for all members is looked at once."""

    def __init__(self, planned: Planned) -> None:
        self._planned = planned
        self._kept = {manifest.key: is_released(manifest) for manifest in planned.repo.manifests}
        changes: dict[str, list[Change]] = {}
        for change in planned.plan.changes:
            changes.setdefault(change.cluster, []).append(change)
        self._changes = {name: tuple(own) for name, own in changes.items()}

    def changes(self, member: str) -> tuple[Change, ...]:
        """What changes in one member, in the plan's order."""
        return self._changes.get(member, ())

    def reached(self) -> dict[str, MemberState]:
        """The members that were read and that nobody switched writes off for, by name, sorted."""
        repo, read = self._planned.repo, self._planned.observation.read
        if repo.fleet.spec.suspend:
            return {}
        suspended = {cluster.name for cluster in repo.clusters if cluster.suspended}
        return {name: state for name, state in sorted(read.items()) if name not in suspended}

    def written(self) -> dict[str, MemberState]:
        """The members that something is written to: an object, the record, or stamps."""
        planned = self._planned
        touched = set(self._changes)
        touched |= {name for move in planned.plan.moves for name in (*move.leaves, *move.arrives)}
        touched |= planned.gone.keys() | planned.found.keys() | planned.unproved.keys()
        return {
            name: state
            for name, state in self.reached().items()
            if name in touched or self._settled(self.intent(state)) != state.record
        }

    def intent(self, state: MemberState) -> Record:
        """The record of a member before its first change (``bookkeeping.intended``)."""
        planned = self._planned
        return intended(
            state.record,
            fleet=planned.repo.fleet.name,
            member=state.name,
            member_uid=state.uid,
            commit=planned.plan.commit,
            changes=self.changes(state.name),
            decisions=planned.decisions,
            moves=planned.plan.moves,
            gone=planned.gone.get(state.name, ()),
            kept=self._kept,
        )

    def _settled(self, record: Record) -> Record:
        """The record after a run that changes no object of the member."""
        decisions, moves = self._planned.decisions, self._planned.plan.moves
        return trimmed(record, removed=(), decisions=decisions, moves=moves, unfinished=())
