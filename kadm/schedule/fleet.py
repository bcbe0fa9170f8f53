"""All members as one run sees them, with what is computed of them once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import msgspec

from kadm.model.decision import MemberDecision
from kadm.model.objects import GroupVersionKind
from kadm.schedule.framework import PluginError
from kadm.schedule.member import Member
from kadm.schedule.pipeline import Pipeline
from kadm.schedule.profile import Profile
from kadm.schedule.triggers import Facts, facts_of, facts_text
from kadm.schedule.unit import SchedulingUnit

_HERE = "it stays: the recorded placement is kept"


class FleetView:
    """The members, sorted by name. ``promised`` are types that members will serve, because they get the definitions."""

    def __init__(
        self, members: Sequence[Member], promised: Mapping[str, frozenset[GroupVersionKind]] | None = None
    ) -> None:
        self._members = tuple(_with_promised(member, (promised or {}).get(member.name)) for member in members)
        self._by_name = {member.name: member for member in self._members}
        self._facts: dict[GroupVersionKind, Facts] = {}
        self._texts: dict[tuple[GroupVersionKind, frozenset[str]], str] = {}
        self._kept: dict[tuple[object, ...], tuple[MemberDecision, ...]] = {}
        self.pipeline = Pipeline(self._members)
        self.unread: Mapping[str, str] = {member.name: member.unread for member in self._members if member.unread}
        """Member → why it could not be read."""

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def member(self, name: str) -> Member:
        """The member of this name. Raises KeyError."""
        return self._by_name[name]

    def facts(self, gvk: GroupVersionKind) -> Facts:
        """What there is to record of all members, for objects of one type."""
        if gvk not in self._facts:
            self._facts[gvk] = facts_of(self._members, gvk)
        return self._facts[gvk]

    def facts_text(self, gvk: GroupVersionKind, names: frozenset[str]) -> str:
        """The facts of the members that a placement list names, as they are recorded."""
        key = (gvk, names)
        if key not in self._texts:
            self._texts[key] = facts_text(self.facts(gvk), names)
        return self._texts[key]

    def kept(
        self, unit: SchedulingUnit, profile: Profile, placement: Mapping[str, int | None]
    ) -> tuple[MemberDecision, ...]:
        """Every member for a unit whose placement is kept; with what the filters would say, where asking is free."""
        if profile.per_unit:  # what a plugin from outside says is not free
            plain = (MemberDecision(member=member.name) for member in self._members)
            return _with_placement(plain, placement)
        try:
            decisions = self.pipeline.judge(unit, profile, held_by=placement).decisions
        except PluginError as error:
            return _with_placement(
                (MemberDecision(member=member.name, notes=(str(error),)) for member in self._members), placement
            )
        key = (id(decisions), tuple(placement.items()))  # the pipeline holds on to the decisions, so the id is theirs
        if key not in self._kept:
            self._kept[key] = _with_placement(decisions, placement)
        return self._kept[key]

    def why_unknown(self, name: str, decisions: Sequence[MemberDecision]) -> str:
        """Why ``name`` is unknown, in words."""
        if name in self.unread:
            return f"it could not be read: {self.unread[name]}"
        return next(
            (
                verdict.reason
                for decision in decisions
                if decision.member == name
                for verdict in decision.verdicts
                if not verdict.fits
            ),
            "",
        )


def _with_placement(
    decisions: Iterable[MemberDecision], placement: Mapping[str, int | None]
) -> tuple[MemberDecision, ...]:
    return tuple(
        msgspec.structs.replace(
            decision, selected=True, replicas=placement[decision.member], notes=(*decision.notes, _HERE)
        )
        if decision.member in placement
        else decision
        for decision in decisions
    )


def _with_promised(member: Member, promised: frozenset[GroupVersionKind] | None) -> Member:
    if not promised or member.served is None:
        return member
    return replace(member, served=member.served | promised)
