"""Filter, score, select, divide: where one unit goes (scheduling spec, section 3).

The idea: most units share their rules, and most members do not hold most units. What filters, scores and selection say
depends only on a unit's rules, type, request and migration, on the members, and on which of them hold it already: so it
is computed once per distinct combination, and shared by all units that agree in these, down to the reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec

from kadm.model.decision import MemberDecision, Verdict
from kadm.schedule.framework import Answer, AsksAtOnce, CapacityUnknown, Scored, ScorePlugin, Shares
from kadm.schedule.member import Member
from kadm.schedule.plugins.max_cluster import MaxCluster
from kadm.schedule.plugins.priority_sort import PrioritySort, fills_in_order, ranks_by_priority
from kadm.schedule.profile import Profile
from kadm.schedule.ranking import Ranking
from kadm.schedule.unit import SchedulingUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the filters say of all members for one unit. Members are in the order of their names.

    ``unknown``: members that were not read, and that no filter refuses for certain. ``decisions`` has every member.
    """

    fitting: tuple[Member, ...]
    unknown: tuple[Member, ...]
    decisions: tuple[MemberDecision, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The members that a unit goes to, in the order of selection; ``decisions`` has every member, by name.

    ``how`` they were chosen, in words.
    """

    members: tuple[Member, ...]
    decisions: tuple[MemberDecision, ...]
    how: str = ""


class Pipeline:
    """The pipeline over one set of members. Holds what was computed, and nothing else that changes."""

    def __init__(self, members: Iterable[Member]) -> None:
        self._members = tuple(members)
        self._index = {member.name: index for index, member in enumerate(self._members)}
        self._classes: dict[Any, _Class] = {}

    def judge(self, unit: SchedulingUnit, profile: Profile, *, held_by: Iterable[str]) -> Judged:
        """What the filters say. ``held_by`` are the members to be treated as holding the unit already.

        Raises PluginError.
        """
        return self._class(unit, profile).judged(unit, self._known(held_by))

    def select(self, unit: SchedulingUnit, profile: Profile, *, held_by: Iterable[str]) -> Selected:
        """The members that are selected among the fitting ones. Raises PluginError."""
        return self._class(unit, profile).selected(unit, self._known(held_by))

    def without(self, selected: Selected, refused: Mapping[str, str]) -> Selected:
        """The selection without some members: name → why, in words."""
        decisions = list(selected.decisions)
        for name, why in refused.items():
            index = self._index[name]
            decisions[index] = msgspec.structs.replace(decisions[index], selected=False, notes=(why,))
        members = tuple(member for member in selected.members if member.name not in refused)
        return replace(selected, members=members, decisions=tuple(decisions))

    def divide(self, unit: SchedulingUnit, profile: Profile, selected: Selected) -> tuple[Shares, Selected]:
        """The unit's replicas divided over the selected members, and the selection with numbers and reasons.

        Raises PluginError.
        """
        shares = profile.replicas[unit.rules.strategy].plugin.divide(unit, selected.members)
        decisions = list(selected.decisions)
        for member in selected.members:
            index = self._index[member.name]
            decisions[index] = msgspec.structs.replace(
                decisions[index],
                replicas=shares.replicas.get(member.name, 0),
                notes=(*decisions[index].notes, *shares.notes.get(member.name, ())),
                steps=shares.steps.get(member.name, ()),
            )
        return shares, replace(selected, decisions=tuple(decisions))

    def all_of(self, names: Iterable[str], note: str) -> Selected:
        """The members of these names that are in the fleet, in this order, without being judged; ``note`` says why."""
        wanted = [name for name in names if name in self._index]
        return Selected(
            members=tuple(self._members[self._index[name]] for name in wanted),
            decisions=tuple(
                MemberDecision(member=member.name, selected=True, notes=(note,))
                if member.name in wanted
                else MemberDecision(member=member.name)
                for member in self._members
            ),
            how=f"no member was judged anew: {note}",
        )

    def _known(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(name for name in names if name in self._index)

    def _class(self, unit: SchedulingUnit, profile: Profile) -> _Class:
        key = (
            unit.rules,
            unit.gvk,
            profile,
            tuple((unit.pod_request if profile.per_pod_request else unit.request).items()),
            tuple(unit.migration.unavailable.items()),
            unit.key if profile.per_unit else None,
        )
        found = self._classes.get(key)
        if found is None:
            found = self._classes[key] = _Class(unit, profile, self._members, self._index)
        return found


class _Class:
    """Units that the filters, scores and selection cannot tell apart, but for who holds them."""

    def __init__(
        self, unit: SchedulingUnit, profile: Profile, members: tuple[Member, ...], index: Mapping[str, int]
    ) -> None:
        self._profile = profile
        self._members = members
        self._index = index
        self._nowhere = replace(unit, current={})
        self._everywhere = replace(unit, current=dict.fromkeys(index))
        self._absent: list[_Judgement] | None = None
        self._holding: dict[int, _Judgement] = {}
        self._judged: dict[frozenset[str], Judged] = {}
        self._selected: dict[frozenset[str], Selected] = {}

    def judged(self, unit: SchedulingUnit, held_by: frozenset[str]) -> Judged:
        found = self._judged.get(held_by)
        if found is None:
            found = self._judged[held_by] = self._judge(unit, held_by)
        return found

    def selected(self, unit: SchedulingUnit, held_by: frozenset[str]) -> Selected:
        found = self._selected.get(held_by)
        if found is None:
            found = self._selected[held_by] = self._select(unit, self.judged(unit, held_by))
        return found

    def _judge(self, unit: SchedulingUnit, held_by: frozenset[str]) -> Judged:
        judgements = self._of_this(unit, held_by) if self._profile.per_unit else self._of_all(held_by)

        def those(code: Literal["fits", "unknown"]) -> tuple[Member, ...]:
            return tuple(
                member for member, judgement in zip(self._members, judgements, strict=True) if judgement.code == code
            )

        return Judged(
            fitting=those("fits"),
            unknown=those("unknown"),
            decisions=tuple(judgement.decision for judgement in judgements),
        )

    def _of_this(self, unit: SchedulingUnit, held_by: frozenset[str]) -> list[_Judgement]:
        """The judgements of one unit, of which nothing can be shared."""
        cases = [(self._everywhere if member.name in held_by else self._nowhere, member) for member in self._members]
        return _judge(self._profile, cases, unit)

    def _of_all(self, held_by: frozenset[str]) -> list[_Judgement]:
        """The judgements put together from those of members that hold the unit, and of members that do not."""
        if self._absent is None:
            self._absent = _judge(self._profile, [(self._nowhere, member) for member in self._members], self._nowhere)
        new = sorted(index for name in held_by if (index := self._index[name]) not in self._holding)
        cases = [(self._everywhere, self._members[index]) for index in new]
        self._holding.update(zip(new, _judge(self._profile, cases, self._everywhere), strict=True))
        judgements = list(self._absent)
        for name in held_by:
            judgements[self._index[name]] = self._holding[self._index[name]]
        return judgements

    def _select(self, unit: SchedulingUnit, judged: Judged) -> Selected:
        scored: Sequence[Scored] = [Scored(member, 0) for member in judged.fitting]
        scores: Mapping[str, Mapping[str, int]] = {}
        if _scores_decide(self._profile, unit, len(scored)):
            scores = _scores(self._profile, unit, judged.fitting)
            scored = [
                Scored(
                    member,
                    sum(scores[entry.name][member.name] * entry.weight for entry in self._profile.scores),
                )
                for member in judged.fitting
            ]
        ranking = Ranking(unit, self._profile, scores)
        for entry in self._profile.selects:
            scored = ranking.after(scored, entry.plugin.select(unit, scored))
        members = tuple(entry.member for entry in scored)
        decisions = list(judged.decisions)
        chosen = {member.name for member in members}
        places = ranking.places
        for member in judged.fitting:
            index = self._index[member.name]
            rank, score = places.get(member.name, (None, None))
            decisions[index] = msgspec.structs.replace(
                decisions[index],
                selected=member.name in chosen,
                scores={name: by_member[member.name] for name, by_member in scores.items()},
                score=score,
                rank=rank,
                notes=() if member.name in chosen else ("it fits, but others come first",),
            )
        how = ranking.in_words(len(judged.fitting), len(members))
        return Selected(members=members, decisions=tuple(decisions), how=how)


@dataclass(frozen=True, slots=True)
class _Judgement:
    code: Literal["fits", "refused", "unknown"]
    decision: MemberDecision


def _judge(profile: Profile, cases: Sequence[tuple[SchedulingUnit, Member]], asked: SchedulingUnit) -> list[_Judgement]:
    """The filters in order, for each case up to the first that refuses. Plugins from outside see the unit ``asked``.

    A member that was not read is refused or unknown. Where capacities are missing, all such members are named.
    """
    codes: list[Literal["fits", "refused", "unknown"]] = ["unknown" if member.unread else "fits" for _, member in cases]
    verdicts: list[list[Verdict]] = [[] for _ in cases]
    left = list(range(len(cases)))
    for entry in profile.filters:
        members = [cases[index][1] for index in left]
        try:
            if isinstance(entry.plugin, AsksAtOnce):
                answers = entry.plugin.filter_all(asked, members)
            else:
                answers = [
                    entry.plugin.filter(asked if entry.outside else cases[index][0], cases[index][1]) for index in left
                ]
        except CapacityUnknown as error:
            raise _lacking(members) from error
        for index, answer in zip(left, answers, strict=True):
            verdicts[index].append(_verdict(entry.name, answer))
            if answer.code != "fits":
                codes[index] = answer.code
        left = [index for index in left if codes[index] != "refused"]
    return [
        _Judgement(code, MemberDecision(member=member.name, verdicts=tuple(found)))
        for code, found, (_, member) in zip(codes, verdicts, cases, strict=True)
    ]


def _verdict(plugin: str, answer: Answer) -> Verdict:
    return Verdict(plugin, answer.code == "fits", answer.reason)


def _scores(profile: Profile, unit: SchedulingUnit, members: Sequence[Member]) -> dict[str, Mapping[str, int]]:
    """Plugin → member → score, normalised. Where one member's capacity is missing, all such members are named."""
    try:
        return {entry.name: entry.plugin.normalize(_raw(entry.plugin, unit, members)) for entry in profile.scores}
    except CapacityUnknown as error:
        raise _lacking(members) from error


def _raw(plugin: ScorePlugin, unit: SchedulingUnit, members: Sequence[Member]) -> dict[str, int]:
    if isinstance(plugin, AsksAtOnce):
        scores = plugin.score_all(unit, members)
        return {member.name: score for member, score in zip(members, scores, strict=True)}
    return {member.name: plugin.score(unit, member) for member in members}


def _lacking(members: Sequence[Member]) -> CapacityUnknown:
    """All members whose capacity was not observed: one further reading must be enough."""
    return CapacityUnknown([member.name for member in members if member.capacity is None and not member.unread])


def _scores_decide(profile: Profile, unit: SchedulingUnit, fitting: int) -> bool:
    """Whether the selection depends on scores. Where it does not, no member's capacity needs to be read for them."""
    plugins = [entry.plugin for entry in profile.selects]
    if not all(isinstance(plugin, PrioritySort | MaxCluster) for plugin in plugins):
        return True
    if ranks_by_priority(unit) and any(isinstance(plugin, PrioritySort) for plugin in plugins):
        return False
    limited = any(isinstance(plugin, MaxCluster) for plugin in plugins)
    if limited and fills_in_order(unit):
        return fitting > 1  # the order of selection is that of filling
    return limited and unit.rules.max_clusters is not None and 0 < unit.rules.max_clusters < fitting
