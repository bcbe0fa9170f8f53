"""Which members a plan writes to. Pure: the Leases of all of them are taken before the first write."""

from __future__ import annotations

from kadm.execute.bookkeeping import intended, trimmed
from kadm.model.observation import MemberState
from kadm.model.planned import Planned
from kadm.model.record import Record
from kadm.render import is_released


def reached(planned: Planned) -> dict[str, MemberState]:
    """The members that were read and that nobody switched writes off for, by name, sorted."""
    if planned.repo.fleet.spec.suspend:
        return {}
    suspended = {cluster.name for cluster in planned.repo.clusters if cluster.suspended}
    return {name: state for name, state in sorted(planned.observation.read.items()) if name not in suspended}


def written(planned: Planned) -> dict[str, MemberState]:
    """The members that something is written to: an object, the record, or stamps."""
    touched = {change.cluster for change in planned.plan.changes}
    touched |= {name for move in planned.plan.moves for name in (*move.leaves, *move.arrives)}
    touched |= planned.gone.keys() | planned.found.keys() | planned.unproved.keys()
    return {
        name: state
        for name, state in reached(planned).items()
        if name in touched or _settled(planned, intent(planned, state)) != state.record
    }


def _settled(planned: Planned, record: Record) -> Record:
    """The record after a run that changes no object of the member."""
    return trimmed(record, removed=(), decisions=planned.decisions, moves=planned.plan.moves, unfinished=())


def intent(planned: Planned, state: MemberState) -> Record:
    """The record of a member before its first change (``bookkeeping.intended``)."""
    return intended(
        state.record,
        fleet=planned.repo.fleet.name,
        member=state.name,
        member_uid=state.uid,
        commit=planned.plan.commit,
        changes=[change for change in planned.plan.changes if change.cluster == state.name],
        decisions=planned.decisions,
        moves=planned.plan.moves,
        gone=planned.gone.get(state.name, ()),
        kept={manifest.key: is_released(manifest) for manifest in planned.repo.manifests},
    )
