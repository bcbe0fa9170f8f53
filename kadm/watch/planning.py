"""One plan after the other, each carried out where this daemon writes; and what is remembered from one to the next."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from kadm.errors import Problem
from kadm.execute import Delivery, deliver
from kadm.execute.locking import Unchanged
from kadm.execute.stop import Stop
from kadm.members.pool import MemberPool
from kadm.model.decision import Decision
from kadm.model.objects import ObjectKey
from kadm.model.plan import Move, PlannedWave
from kadm.model.planned import Planned
from kadm.model.report import Report
from kadm.model.repository import Repo
from kadm.pipeline import Choices
from kadm.watch.outcome import Drifted, drifted, held_views, plan_view, unfinished, untold
from kadm.watch.rollout import Pause, Stood, behind, shown_by_records
from kadm.watch.state import HeldView, PlanView
from kadm.watch.tally import Tally
from kadm.watch.trail import Trail, time_text

_log = logging.getLogger(__name__)

READY_WITHIN_S = 20.0
"""How long an apply waits for what it changed, unless there is something else to do: watches see what comes later, and
a move is resumed when it has come."""

LOCK_TIMEOUT_S = 5.0

_NUMBER = re.compile(r"\d+")

MOST_TOLD = 3
"""Reasons of a plan that the log tells."""


class Round(Struct, frozen=True, kw_only=True):
    """What one plan came to. ``clean``: nothing is left that could be done by itself. ``changed``: something was done.

    ``planning_s`` is how long it took to plan.
    """

    clean: bool = True
    changed: bool = False
    planning_s: float = 0.0


class Planning:
    """The plans of one daemon. ``planned`` is the last one, ``view`` the same in short; ``held`` is not done by itself,
    ``moving`` are moves that go on, ``stands`` is where the rollout stands, at first where it stood when the daemon
    ended. ``on_plan`` is given each plan, ``touched`` the objects about which something changed."""

    def __init__(
        self,
        trail: Trail,
        tally: Tally,
        *,
        leave_drift: bool,
        stood: Stood,
        on_plan: Callable[[Planned], None],
        touched: Callable[[Collection[ObjectKey]], None],
    ) -> None:
        self.planned: Planned | None = None
        self.delivery: Delivery | None = None
        self.view: PlanView | None = None
        self.held: tuple[HeldView, ...] = ()
        self.drifted: Drifted = {}
        self.moving: dict[ObjectKey, Move] = {}
        self._trail = trail
        self._tally = tally
        self._leave_drift = leave_drift
        self._on_plan = on_plan
        self._touched = touched
        self._failures: set[tuple[str, ObjectKey, str]] = set()
        self._problems: tuple[Problem, ...] = ()
        self.pause = stood.pause
        self._through = stood.through
        self._carried_out = stood.through
        self._unchanged: Unchanged = {}
        self._stop = Stop()
        self._ending = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def busy(self) -> bool:
        """Whether something is planned or applied."""
        return not self._idle.is_set()

    @property
    def stands(self) -> Stood:
        """Where the rollout stands: to be kept for the next run."""
        return Stood(pause=self.pause, through=self._through)

    def decision(self, key: ObjectKey) -> Decision | None:
        """The last one about an object, None before the first."""
        return self.planned.decisions.by_key.get(key) if self.planned is not None else None

    def hurry(self) -> None:
        """An apply that only waits for what it changed does not wait any longer: there is something else to do."""
        if self._stop.working:
            self._stop.ask()

    def end(self) -> None:
        """Begin nothing more; what was sent is waited for."""
        self._ending = True
        self._stop.ask()

    async def until_idle(self) -> None:
        """Return when nothing is planned or applied."""
        await self._idle.wait()

    async def round(
        self, repo: Repo, pool: MemberPool, reasons: tuple[str, ...], *, writes: Callable[[], bool]
    ) -> Round:
        """One plan, carried out where ``writes`` says that this daemon writes.

        Raises KadmError where nothing could be planned, or another run holds a member.
        """
        more = f", and {len(reasons) - MOST_TOLD} more" if len(reasons) > MOST_TOLD else ""
        _log.info("planning: %s%s", "; ".join(reasons[:MOST_TOLD]), more)
        began_s = asyncio.get_running_loop().time()
        planning_s, paused_after = 0.0, ""
        self._stop = Stop()
        self._idle.clear()

        async def accept(planned: Planned, why_again: str) -> bool:
            nonlocal planning_s
            planning_s = asyncio.get_running_loop().time() - began_s
            if why_again:
                _log.info("%s", why_again)
            self._take(planned, reasons)
            if self._waits_for_a_person(planned) or self._ending or not writes():
                return False
            self._carried_out = planned.plan.commit
            return True

        async def go_on(wave: PlannedWave) -> bool:
            nonlocal paused_after
            paused_after = wave.name
            return False

        try:
            self.delivery = await deliver(
                repo,
                pool,
                Choices(leave_drift=self._leave_drift),
                accept=accept,
                timeout_s=READY_WITHIN_S,
                lock_timeout_s=LOCK_TIMEOUT_S,
                unchanged=self._unchanged,
                go_on=go_on,
                stays=lambda wave: self.pause is not None and self.pause.wave == wave.name,
                stop=self._stop,
            )
        finally:
            self._idle.set()
        planned, report = self.delivery.planned, self.delivery.report
        unread = planned.plan.unread if report is None else report.unread
        # Of those that were known to be lost it is heard when they are back; whoever else could not be read is tried.
        answered = all(problem.member in pool.unread for problem in unread)
        if report is None:
            return Round(clean=answered, planning_s=planning_s)
        self._pauses(planned, report, paused_after)
        clean, changed = self._take_report(planned, report)
        if clean and answered and self.pause is None:
            self._through = planned.plan.commit
        return Round(clean=clean and answered, changed=changed, planning_s=planning_s)

    def _take(self, planned: Planned, reasons: tuple[str, ...]) -> None:
        """What is new since the last plan: drift, what is held back, moves that begin and moves that are over."""
        plan = planned.plan
        before, self.planned = self.planned, planned
        self.view = plan_view(planned, reasons, at=time_text(datetime.now(UTC)))
        self._tally.add(plans=1)
        found = drifted(planned)
        for key, by_member in sorted(found.items()):
            for member, fields in by_member.items():
                if fields != self.drifted.get(key, {}).get(member):
                    text = f"it is not as git says: {', '.join(fields)}"
                    self._trail.add("drift", text, severity="warning", member=member, about=str(key))
        self._touched(_decided_anew(before, planned) | {*found, *self.drifted, *(move.key for move in plan.moves)})
        self.drifted = found
        held = held_views(planned)
        known = {_gist(one) for one in self.held}
        for one in held:
            if _gist(one) not in known:
                text = f"held back ({one.action or 'change'}): {one.why}; released by: {one.release}"
                self._trail.add("held", text, severity="warning", member=one.member, about=one.object)
        self.held = held
        problems = untold(planned, held)
        for problem in problems:
            if problem not in self._problems:  # what every plan finds is told once
                self._trail.add(
                    "problem",
                    _problem_text(problem),
                    severity=problem.severity,
                    member=problem.member,
                    about=problem.object,
                )
        self._problems = problems
        for move in plan.moves:
            if move.key not in self.moving:
                self._trail.add("moved", _move_text(move), about=str(move.key))
        self._moved(frozenset(move.key for move in plan.moves))
        self.moving |= {move.key: move for move in plan.moves}
        self._on_plan(planned)

    def _take_report(self, planned: Planned, report: Report) -> tuple[bool, bool]:
        """What became of a plan: whether nothing is left, and whether something was done."""
        done = [one for one in report.results if one.result in ("done", "not ready")]
        left = [one for one in report.results if one.result in ("failed", "skipped", "held")]
        failed = sum(one.result == "failed" for one in report.results)
        self._tally.add(applies=int(bool(report.results)), changes=len(done), failed_changes=failed)
        if done:
            self._trail.add("applied", f"{len(done)} of {len(planned.plan.changes)} changes are done")
        failures, self._failures = self._failures, set()
        for result in report.results:
            problem = result.problem
            told = result.result == "failed" or (result.result == "not ready" and not self._stop.asked)
            if told and problem is not None:
                text = f"{problem.what}: {problem.why}" if problem.why else problem.what
                change = result.change
                failure = (change.cluster, change.key, text)
                self._failures.add(failure)
                if failure not in failures:  # what fails again and again is told once
                    self._trail.add("failed", text, severity="warning", member=change.cluster, about=str(change.key))
        if self.view is not None:
            self.view = replace(self.view, applied=True)
        moving = unfinished(planned, report)
        self._moved(moving)
        self.held = held_views(planned, report)
        return not left and not moving, bool(done)

    def _waits_for_a_person(self, planned: Planned) -> bool:
        """Whether all that is left to do is behind a pause of the rollout: a person has to say that it goes on.

        Another commit changes nothing about that, but that its own changes come as far.
        """
        found = self.pause
        if found is None and self._carried_out != planned.plan.commit:
            found = shown_by_records(planned)  # whoever began this commit, it was not this daemon
        waiting = behind(planned, found) if found is not None else ()
        self._stand(found if waiting else None)
        self.held += tuple(
            HeldView(
                member=change.cluster,
                object=str(change.key),
                action=change.action,
                why="the rollout is at a pause",
                release="kadm apply",
            )
            for change in waiting
        )
        return bool(waiting) and len(waiting) == len(planned.plan.changes)

    def _pauses(self, planned: Planned, report: Report, wave: str) -> None:
        """The apply came to the pause after this wave; empty: it came to none."""
        members = {one.change.cluster for one in report.results if one.result == "paused"}
        if wave and members:
            self._stand(Pause(commit=planned.plan.commit, wave=wave, members=tuple(sorted(members))))

    def _stand(self, pause: Pause | None) -> None:
        """The rollout stands here now; it is told once."""
        if pause is not None and pause != self.pause:
            self._trail.add("held", f"a pause of the rollout: {', '.join(pause.members)} wait for kadm apply")
        self.pause = pause

    def _moved(self, still: frozenset[ObjectKey]) -> None:
        """Moves that do not go on any more are over."""
        for key in sorted(self.moving.keys() - still):
            del self.moving[key]
            self._touched((key,))
            self._trail.add("moved", "its replicas have moved", about=str(key))


def _decided_anew(before: Planned | None, planned: Planned) -> set[ObjectKey]:
    """The objects of which something that is shown was decided otherwise than before."""
    now, then = planned.decisions.by_key, before.decisions.by_key if before is not None else {}
    return {
        key
        for key, decision in now.items()
        if (known := then.get(key)) is None
        or (known.placement, known.replicas, known.policy) != (decision.placement, decision.replicas, decision.policy)
    }


def _gist(held: HeldView) -> HeldView:
    """What is held back, without the numbers of why: how much of a quota is used is another one each time."""
    return replace(held, why=_NUMBER.sub("#", held.why))


def _problem_text(problem: Problem) -> str:
    """The problem without its member and object, which an event names by itself."""
    return str(replace(problem, member="", object=""))


def _move_text(move: Move) -> str:
    if move.whole:
        return f"begins to move from {', '.join(move.leaves)} to {', '.join(move.arrives)}"
    leaves = ", ".join(f"{number} from {name}" for name, number in move.leaves.items())
    arrives = ", ".join(f"{number} to {name}" for name, number in move.arrives.items())
    return f"replicas begin to move: {leaves}; {arrives}"
