"""The fields that are divided among members, and each member's part of them (design, section 12, rows 7 and 9)."""

from __future__ import annotations

from collections.abc import Mapping

from kadm.model.objects import JsonObject, JsonValue, ObjectKey, Path, at
from kadm.model.workload import workload_kind

Shares = Mapping[Path, JsonValue]
"""Path → value in one member."""

NO_SHARES: Shares = {}

COMPLETIONS: Path = ("spec", "completions")
MIN_REPLICAS: Path = ("spec", "minReplicas")
MAX_REPLICAS: Path = ("spec", "maxReplicas")


def workload_shares(
    key: ObjectKey, obj: JsonObject, replicas_path: Path | None, placement: Mapping[str, int | None]
) -> Mapping[str, Shares]:
    """Member → its fields, for a workload that the scheduler divided; members that are not divided have none.

    A Job's completions are divided like its parallelism, and stay unset where they are unset.
    """
    divided = {member: replicas for member, replicas in placement.items() if replicas is not None}
    if replicas_path is None or not divided:
        return {}
    shares: dict[str, dict[Path, JsonValue]] = {member: {replicas_path: number} for member, number in divided.items()}
    completions = at(obj, COMPLETIONS) if (key.group, key.kind) == ("batch", "Job") else None
    if isinstance(completions, int):
        for member, number in proportional(completions, divided).items():
            shares[member][COMPLETIONS] = number
    return shares


def autoscaler_shares(obj: JsonObject, placement: Mapping[str, int | None]) -> Mapping[str, Shares | None]:
    """Member → minReplicas and maxReplicas of a HorizontalPodAutoscaler whose workload has this placement.

    None: its share of maxReplicas is 0, so there is nothing to scale. Empty where the workload is not divided.
    minReplicas is at least 1, so that sums are exact only where the total is not below the number of members.
    """
    divided = {member: replicas for member, replicas in placement.items() if replicas is not None}
    most = at(obj, MAX_REPLICAS)
    if not divided or not isinstance(most, int):
        return {}
    maximums = proportional(most, divided)
    least = at(obj, MIN_REPLICAS)
    minimums = proportional(least if isinstance(least, int) else 1, divided)
    return {
        member: {MIN_REPLICAS: max(1, min(minimums[member], number)), MAX_REPLICAS: number} if number else None
        for member, number in maximums.items()
    }


def proportional(total: int, weights: Mapping[str, int]) -> dict[str, int]:
    """``total`` in whole parts by weight, in exact sum: largest remainders first, ties by name.

    Members of weight 0 get nothing. Where all weights are 0, all of it goes to the first member by name.
    """
    whole = sum(weights.values())
    if whole <= 0:
        first = min(weights)
        return {member: total if member == first else 0 for member in sorted(weights)}
    parts = {member: total * weight // whole for member, weight in sorted(weights.items())}
    left = total - sum(parts.values())
    by_remainder = sorted(parts, key=lambda member: (-(total * weights[member] % whole), member))
    for member in by_remainder[:left]:
        parts[member] += 1
    return parts


def replicas_path_of(key: ObjectKey, type_path: str) -> Path | None:
    """Where the kind's replicas stand: as its FederatedTypeConfig says (a dot path, empty: not at all), or as known."""
    if type_path:
        return tuple(type_path.split("."))
    kind = workload_kind(key.group, key.kind)
    return kind.replicas_path if kind and kind.divides else None
