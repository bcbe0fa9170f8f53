"""In which order members were taken that fit, and why only so many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kadm.schedule.framework import Scored
from kadm.schedule.plugins.max_cluster import MaxCluster
from kadm.schedule.plugins.priority_sort import PrioritySort, ranks_by_priority
from kadm.schedule.profile import Profile
from kadm.schedule.unit import SchedulingUnit


class Ranking:
    """Follows the members of one unit through the select plugins."""

    def __init__(self, unit: SchedulingUnit, profile: Profile, scores: Mapping[str, Mapping[str, int]]) -> None:
        self._unit = unit
        self._scores = scores
        self._plugins = profile.selects
        self._own = all(isinstance(entry.plugin, PrioritySort | MaxCluster) for entry in profile.selects)
        self._by_priority = ranks_by_priority(unit) and any(
            isinstance(entry.plugin, PrioritySort) for entry in profile.selects
        )
        self._chosen: Sequence[Scored] = ()
        self._left_out: list[Scored] = []
        """The best first: whoever was left out by a later plugin comes before those of an earlier one."""

    def after(self, before: Sequence[Scored], chosen: Sequence[Scored]) -> Sequence[Scored]:
        """What one plugin made of ``before``; gives ``chosen`` back."""
        names = {entry.member.name for entry in chosen}
        left_out = [entry for entry in before if entry.member.name not in names]
        self._left_out = [*sorted(left_out, key=lambda entry: -entry.score), *self._left_out]
        self._chosen = chosen
        return chosen

    @property
    def places(self) -> Mapping[str, tuple[int, int]]:
        """Member → its place from 1, and what it was ranked by; empty where the order decided nothing."""
        if self._own and not self._scores and not self._by_priority:
            return {}
        ranked = (*self._chosen, *self._left_out)
        return {entry.member.name: (place, entry.score) for place, entry in enumerate(ranked, start=1)}

    def in_words(self, fitting: int, selected: int) -> str:
        """How ``selected`` of ``fitting`` members were chosen; empty where none fit."""
        if not fitting:
            return ""
        if not self._own:
            return f"the plugins {', '.join(entry.name for entry in self._plugins)} chose {selected} of {fitting}"
        rules = self._unit.rules
        if selected == fitting:
            filled = rules.mode == "Divide" and rules.strategy == "Binpack"
            return "every member that fits" + (", the highest priority first" if filled else "")
        by = "the highest priority" if self._by_priority else "the highest sum of scores"
        return f"{selected} of the {fitting} members that fit (maxClusters): those with {by}, equal ones by name"
