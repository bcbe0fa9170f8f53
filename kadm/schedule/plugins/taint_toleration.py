"""Filter and score TaintToleration (scheduling spec 4.2)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kadm.schedule.framework import FITS, Answer, normalize, refuses
from kadm.schedule.member import Member
from kadm.schedule.taints import taint_text, tolerated
from kadm.schedule.unit import SchedulingUnit


class TaintToleration(Struct, frozen=True, forbid_unknown_fields=True):
    """Taints keep units off a member: NoExecute always, NoSchedule unless it is there already.

    The fewer PreferNoSchedule taints a unit does not tolerate, the better the score.
    """

    def filter(self, unit: SchedulingUnit, member: Member) -> Answer:
        effects = ("NoExecute",) if member.name in unit.current else ("NoSchedule", "NoExecute")
        for taint in member.taints:
            if taint.effect in effects and not tolerated(taint, unit.rules.tolerations):
                return refuses(f"taint {taint_text(taint)} is not tolerated")
        return FITS

    def score(self, unit: SchedulingUnit, member: Member) -> int:
        tolerations = [entry for entry in unit.rules.tolerations if entry.effect in ("", "PreferNoSchedule")]
        return sum(taint.effect == "PreferNoSchedule" and not tolerated(taint, tolerations) for taint in member.taints)

    def normalize(self, scores: Mapping[str, int]) -> Mapping[str, int]:
        return normalize(scores, reverse=True)
