"""Health and the fleet's status: the types that aggregation gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from kadm.errors import Problem
from kadm.model.objects import JsonObject, ObjectKey

HealthCode = Literal["Healthy", "Progressing", "Failed", "Missing", "Terminating", "Suspended", "Unknown"]


class Health(Struct, frozen=True):
    """How one object does, and why, in words. ``Unknown``: it could not be read."""

    code: HealthCode
    reason: str = ""


class WorkloadInMember(Struct, frozen=True, kw_only=True):
    """One workload in one member: counts are None where the kind has none or nothing was read."""

    member: str
    health: Health
    desired: int | None = None
    current: int | None = None
    updated: int | None = None
    ready: int | None = None
    available: int | None = None


class WorkloadStatus(Struct, frozen=True, kw_only=True):
    """One workload across all members, as if it were one. ``aggregated`` is the native object with its ``.status``."""

    key: ObjectKey
    version: str
    health: Health
    desired: int | None = None
    ready: int | None = None
    members: tuple[WorkloadInMember, ...] = ()
    aggregated: JsonObject | None = None


class FleetStatus(Struct, frozen=True, kw_only=True):
    """Every workload of the fleet (sorted by key), and the members that could not be read.

    ``suspended`` names the members and objects that nothing is written to, because somebody said so.
    """

    fleet: str
    workloads: tuple[WorkloadStatus, ...] = ()
    unread: Mapping[str, Problem] = {}
    suspended: tuple[Problem, ...] = ()

    @property
    def partial(self) -> bool:
        """Whether a member could not be read, or a workload in one that was."""
        return bool(self.unread) or any(
            one.health.code == "Unknown" for workload in self.workloads for one in workload.members
        )
