"""Where a rollout stands still until a person says that it goes on (design, section 7). Pure.

A pause is written down nowhere: it shows in the records. A wave with a pause after it holds this commit, nothing is
left to do there, and behind it something is, in members that do not hold the commit yet. So it outlives whoever made
it: a daemon that is started anew, another one that takes over, an apply by hand.
"""

from __future__ import annotations

from msgspec import Struct

from kadm.compare.drift import is_drift
from kadm.model.plan import Change, PlannedWave
from kadm.model.planned import Planned


class Pause(Struct, frozen=True, kw_only=True):
    """A rollout stands after ``wave``. ``members`` (sorted) were behind it with something to do when it came there."""

    commit: str
    wave: str
    members: tuple[str, ...]


class Stood(Struct, frozen=True, kw_only=True):
    """What a daemon keeps of a rollout. ``through`` is the commit that it carried out to the end last: what changes of
    that one later waits at no pause. Empty: none is known."""

    pause: Pause | None = None
    through: str = ""


def shown_by_records(planned: Planned) -> Pause | None:
    """The pause at which the rollout of this commit stands, by what members hold; None where it stands at none.

    Where the files belong to no commit, nothing can be told.
    """
    plan, commits = planned.plan, _commits(planned)
    if not plan.commit:
        return None
    found: Pause | None = None
    news = _news(planned)
    for index, wave in enumerate(plan.waves):
        if any(change.cluster in wave.members for change in news):
            break  # it has not come to this wave's end
        later = _after(plan.waves, index)
        waiting = sorted({change.cluster for change in news if change.cluster in later})
        begun = any(commits.get(name) == plan.commit for name in wave.members)
        if wave.pause and begun and any(commits.get(name) != plan.commit for name in waiting):
            found = Pause(commit=plan.commit, wave=wave.name, members=tuple(waiting))
    return found


def behind(planned: Planned, pause: Pause) -> tuple[Change, ...]:
    """What waits for a person. Empty: the pause is over, for a person applied what was behind it, or took it away."""
    for index, wave in enumerate(planned.plan.waves):
        if wave.name == pause.wave and wave.pause:
            later = _after(planned.plan.waves, index)
            if any(change.cluster in later for change in _news(planned)):
                return tuple(change for change in planned.plan.changes if change.cluster in later)
    return ()


def _after(waves: tuple[PlannedWave, ...], index: int) -> frozenset[str]:
    return frozenset(name for wave in waves[index + 1 :] for name in wave.members)


def _commits(planned: Planned) -> dict[str, str]:
    """Member → the commit that was applied there last."""
    return {name: state.record.commit for name, state in planned.observation.read.items() if state.record is not None}


def _news(planned: Planned) -> list[Change]:
    """The changes that do not only undo what somebody did in a member."""
    recorded = {
        name: {entry.key: entry for entry in state.record.objects} if state.record is not None else {}
        for name, state in planned.observation.read.items()
    }
    return [change for change in planned.plan.changes if not is_drift(change, recorded.get(change.cluster, {}))]
