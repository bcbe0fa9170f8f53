"""From a case to its decision: placed by the pipeline, kept as recorded, or frozen where it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kadm.errors import Problem
from kadm.model.decision import Decision, MemberDecision, Outcome
from kadm.model.repository import Manifest
from kadm.schedule.case import Case
from kadm.schedule.fleet import FleetView
from kadm.schedule.history import History, Past
from kadm.schedule.journal import Journal
from kadm.schedule.ordinals import assigned, cannot_number, has_ordinals, overlapping
from kadm.schedule.pipeline import Selected
from kadm.schedule.unit import SchedulingUnit
from kadm.schedule.wording import joined, refusals, shares

Members = tuple[MemberDecision, ...]


class Placing:
    """Makes decisions over one view of the fleet. Problems go to ``journal``."""

    def __init__(self, fleet: FleetView, history: History, journal: Journal, *, allow_empty: bool) -> None:
        self._fleet = fleet
        self._history = history
        self._journal = journal
        self._allow_empty = allow_empty

    def place(self, case: Case, why: tuple[str, ...]) -> Decision:
        """The decision of the pipeline; ``why`` it runs. Raises PluginError."""
        unit = case.unit
        current = [name for name in unit.current if name in self._fleet]
        if unit.rules.sticky and current:
            return self._stuck(case, current, why)
        # Of an object that no record knows, it is not known either whether an unread member holds it.
        held_by = current if case.past else [*current, *self._fleet.unread]
        judged = self._fleet.pipeline.judge(unit, case.profile, held_by=held_by)
        unknown = [member.name for member in judged.unknown]
        staying = [name for name in unknown if name in unit.current]
        if unknown and (not does_without_unread(unit) or not (judged.fitting or staying)):
            return self._wait(case, unknown, judged.decisions)
        if not judged.fitting and not staying:
            return self._fits_nowhere(case, current, judged.decisions)
        selected = self._fleet.pipeline.select(unit, case.profile, held_by=held_by)
        if unit.rules.mode == "Divide" and selected.members:
            refused: Mapping[str, str] = {}
            if has_ordinals(unit):
                refused = cannot_number(case.blocks, selected.members, held_by=self._ever_holding(case))
                selected = self._fleet.pipeline.without(selected, refused)
            if not selected.members:
                return self._kept_back(case, current, "no member takes it", joined(refused), selected.decisions)
            return self._divided(case, selected, current, why)
        names = sorted([*(member.name for member in selected.members), *staying])
        if not names:
            why = (self._none_selected(case), *why)
        return _decision(case, "scheduled", dict.fromkeys(names), selected, why)

    def keep(self, case: Case, past: Past, why: tuple[str, ...], *, joined: tuple[str, ...] = ()) -> Decision:
        """What was recorded stays, with its inputs as they were: a change that does not count yet, such as that members
        ``joined``, stays pending."""
        total = case.unit.replicas
        unplaced = 0
        if total and past.triggers.get("replicas") == case.triggers.get("replicas"):
            unplaced = max(total - sum(case.unit.replicas_of(past.placement).values()), 0)
        if unplaced:
            why = (self._report_unplaced(case, unplaced, "nothing changed since they found none"), *why)
        return Decision(
            key=case.key,
            outcome="kept",
            policy=case.manifest.propagation,
            placement=past.placement,
            blocks=case.blocks,
            members=self._fleet.kept(case.unit, case.profile, past.placement),
            unplaced_replicas=unplaced,
            joined=joined,
            reasons=why,
            triggers=past.triggers,
        )

    def freeze(self, manifest: Manifest, past: tuple[Past, ...], problem: Problem, members: Members = ()) -> Decision:
        """Left as it is live, everywhere where the records say that it is."""
        self._journal.problems.append(problem)
        why = f"{problem.what}: {problem.why}" if problem.why else problem.what
        return self._left(manifest, past, why, members)

    def _stuck(self, case: Case, current: Sequence[str], why: tuple[str, ...]) -> Decision:
        """A sticky object keeps its members; a changed total is divided among them (design, section 12, row 5)."""
        unit = case.unit
        why = ("it is sticky: it keeps its members", *why)
        selected = self._fleet.pipeline.all_of(_by_priority(unit, current), "it is sticky, and here already")
        placement = {name: unit.current[name] for name in sorted(current)}
        if unit.rules.mode == "Duplicate":
            return _decision(case, "kept", dict.fromkeys(placement), selected, why)
        numbers = [number for number in placement.values() if number is not None]
        if len(numbers) == len(placement) and sum(numbers) == unit.replicas:
            return _decision(case, "kept", placement, selected, why)
        unread = [name for name in current if name in self._fleet.unread]
        if unread:
            return self._wait(case, unread, selected.decisions)
        return self._divided(case, selected, current, why)

    def _divided(self, case: Case, selected: Selected, current: Sequence[str], why: tuple[str, ...]) -> Decision:
        total = case.unit.replicas or 0
        names = sorted(member.name for member in selected.members)
        if total == 0:  # KubeAdmiral deletes it everywhere (design, section 12, row 4)
            stays: list[str] = [name for name in names if name in current] or names
            why = ("it is scaled to 0: the objects stay", *why)
            return self._numbered(case, _decision(case, "scheduled", dict.fromkeys(stays, 0), selected, why))
        divided, selected = self._fleet.pipeline.divide(case.unit, case.profile, selected)
        placement: dict[str, int | None] = {
            name: replicas for name in names if (replicas := divided.replicas.get(name, 0)) > 0
        }
        unplaced = max(total - sum(divided.replicas.values()), 0)
        details = shares(divided.notes)
        if not placement and not self._allow_empty:
            return self._kept_back(
                case, current, f"no member gets any of its {total} replicas", details, selected.decisions
            )
        if unplaced:
            why = (self._report_unplaced(case, unplaced, details), *why)
        decision = _decision(case, "scheduled", placement, selected, why, unplaced=unplaced)
        return self._numbered(case, decision)

    def _ever_holding(self, case: Case) -> frozenset[str]:
        """Members where the object may be live: by any decision that some record still tells of."""
        decided = (name for past in case.past for name in past.placement)
        return frozenset((*decided, *self._history.holders(case.key)))

    def _numbered(self, case: Case, decision: Decision) -> Decision:
        """A StatefulSet's decision with a block of ordinals for each member; any other one as it is."""
        if not has_ordinals(case.unit):
            return decision
        members = [self._fleet.member(name) for name in decision.placement]
        blocks = assigned(case.blocks, members, held_by=self._ever_holding(case))
        doubles = overlapping(blocks, decision.placement)
        if doubles:
            self._journal.problems.append(
                Problem(
                    what=f"its pods have the same ordinals in {', '.join(doubles)}",
                    severity="warning",
                    where=case.manifest.location,
                    object=str(case.key),
                    why="it was there before it was divided, and the ordinals of a live StatefulSet never change",
                )
            )
        return msgspec.structs.replace(decision, blocks=blocks)

    def _fits_nowhere(self, case: Case, current: Sequence[str], members: Members) -> Decision:
        """No member takes it: it stays where it is, unless that is permitted to end (design, section 12, row 2)."""
        why = refusals(members)
        if self._allow_empty and current:
            nobody = Selected(members=(), decisions=members)
            return _decision(case, "scheduled", {}, nobody, (f"no member takes it, which is permitted: {why}",))
        return self._kept_back(case, current, "no member takes it", why, members)

    def _kept_back(self, case: Case, current: Sequence[str], what: str, why: str, members: Members) -> Decision:
        """Frozen where it is; unplaced where it is nowhere."""
        somewhere = current or self._history.holders(case.key)
        problem = Problem(
            what=what,
            where=case.manifest.location,
            object=str(case.key),
            why=why,
            hint="--allow-empty removes it everywhere"
            if somewhere
            else "let its policy allow more members, or make one fit",
        )
        if somewhere:
            return self.freeze(case.manifest, case.past, problem, members)
        self._journal.problems.append(problem)
        return Decision(
            key=case.key,
            outcome="unplaced",
            policy=case.manifest.propagation,
            members=members,
            reasons=(f"{what}: {why}",),
        )

    def _wait(self, case: Case, unknown: Iterable[str], members: Members) -> Decision:
        """Left as it is, because members are unknown that could hold or take it."""
        names = list(unknown)
        for name in names:
            self._journal.waiting.setdefault(name, []).append(case.key)
        why = f"it depends on {', '.join(names)}: {self._fleet.why_unknown(names[0], members)}"
        return self._left(case.manifest, case.past, why, members)

    def _left(self, manifest: Manifest, past: tuple[Past, ...], why: str, members: Members) -> Decision:
        placement = dict(past[0].placement) if past else {}
        for name in self._history.holders(manifest.key):
            placement.setdefault(name, None)
        return Decision(
            key=manifest.key,
            outcome="frozen",
            policy=manifest.propagation,
            placement=dict(sorted(placement.items())),
            blocks=past[0].blocks if past else {},
            members=members,
            reasons=(why,),
            triggers=past[0].triggers if past else {},
        )

    def _report_unplaced(self, case: Case, unplaced: int, why: str) -> str:
        """Name replicas that no member takes (design, section 12, row 8); gives the same in one line."""
        what = f"{unplaced} of {case.unit.replicas} replicas find no place"
        self._journal.problems.append(
            Problem(
                what=what,
                where=case.manifest.location,
                object=str(case.key),
                why=why,
                hint="raise a maximum, or allow more members",
            )
        )
        return f"{what}: {why}"

    def _none_selected(self, case: Case) -> str:
        """Warn that members fit, and none is selected; gives the same in one line."""
        zero = case.unit.rules.max_clusters == 0
        what, why = "it goes nowhere", "maxClusters is 0" if zero else "the plugins of its profile select no member"
        self._journal.problems.append(
            Problem(what=what, severity="warning", where=case.manifest.location, object=str(case.key), why=why)
        )
        return f"{what}: {why}"


def does_without_unread(unit: SchedulingUnit) -> bool:
    """Whether each member is decided by itself, so that one which is unknown leaves the others alone."""
    return unit.rules.mode == "Duplicate" and unit.rules.max_clusters is None


def _decision(
    case: Case,
    outcome: Outcome,
    placement: Mapping[str, int | None],
    selected: Selected,
    reasons: tuple[str, ...],
    *,
    unplaced: int = 0,
) -> Decision:
    return Decision(
        key=case.key,
        outcome=outcome,
        policy=case.manifest.propagation,
        placement=placement,
        blocks=case.blocks,
        unplaced_replicas=unplaced,
        members=selected.decisions,
        reasons=reasons,
        selection=selected.how,
        triggers=case.triggers,
    )


def _by_priority(unit: SchedulingUnit, names: Iterable[str]) -> list[str]:
    priorities = unit.rules.placements.priorities
    return sorted(names, key=lambda name: (-priorities.get(name, 0), name.encode()))
