"""Taints of members and tolerations of units (scheduling spec 4.2)."""

from __future__ import annotations

from collections.abc import Iterable

from kadm.model.cluster import Taint
from kadm.model.policy import Toleration
from kadm.schedule.member import Member
from kadm.schedule.unit import SchedulingUnit


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Whether some toleration matches ``taint``; an empty key or effect matches every one."""
    return any(
        toleration.effect in ("", taint.effect)
        and toleration.key in ("", taint.key)
        and (toleration.operator == "Exists" or toleration.value == taint.value)
        for toleration in tolerations
    )


def blocks_growth(unit: SchedulingUnit, member: Member) -> Taint | None:
    """The taint that keeps more replicas of ``unit`` off ``member``, or None."""
    return next(
        (
            taint
            for taint in member.taints
            if taint.effect == "NoSchedule" and not tolerated(taint, unit.rules.tolerations)
        ),
        None,
    )


def taint_text(taint: Taint) -> str:
    """A taint as kubectl writes it: ``key=value:Effect``."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


def toleration_text(toleration: Toleration) -> str:
    """A toleration as taints are written; ``*`` stands for any key, value or effect."""
    value = "=*" if toleration.operator == "Exists" else f"={toleration.value}" if toleration.value else ""
    return f"{toleration.key or '*'}{value}:{toleration.effect or '*'}"
