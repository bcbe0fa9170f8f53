"""The fields that are divided among members, and each member's part of them (design, section 12, rows 7 and 9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kadm.model.objects import JsonObject, JsonValue, ObjectKey, Path, at
from kadm.model.workload import FIRST_ORDINAL, ORDINALS_PER_BLOCK, workload_kind

Shares = Mapping[Path, JsonValue]
"""Path → value in one member."""

NO_SHARES: Shares = {}

COMPLETIONS: Path = ("spec", "completions")
MIN_AVAILABLE: Path = ("spec", "minAvailable")
MAX_UNAVAILABLE: Path = ("spec", "maxUnavailable")
MIN_REPLICAS: Path = ("spec", "minReplicas")
MAX_REPLICAS: Path = ("spec", "maxReplicas")


def workload_shares(
    key: ObjectKey,
    obj: JsonObject,
    replicas_path: Path | None,
    placement: Mapping[str, int | None],
    *,
    blocks: Mapping[str, int],
) -> Mapping[str, Shares]:
    """Member → its fields, for a workload that the scheduler divided; members that are not divided have none.

    A Job's completions are divided like its parallelism, and stay unset where they are unset; both in exact sums. In
    ``blocks`` each member of a StatefulSet has the number of its block of ordinals: block 0 is as in the manifest.
    """
    divided = {member: replicas for member, replicas in placement.items() if replicas is not None}
    shares: dict[str, dict[Path, JsonValue]] = {member: {} for member in placement}
    if replicas_path is not None:
        for member, number in divided.items():
            shares[member][replicas_path] = number
        if divided and (key.group, key.kind) == ("batch", "Job"):
            _divide_job(obj, replicas_path, divided, shares)
    first = at(obj, FIRST_ORDINAL)
    for member, block in blocks.items():
        if block and member in shares:
            shares[member][FIRST_ORDINAL] = block * ORDINALS_PER_BLOCK + (first if isinstance(first, int) else 0)
    return {member: share for member, share in shares.items() if share}


def _divide_job(
    obj: JsonObject, parallelism_path: Path, divided: Mapping[str, int], shares: Mapping[str, dict[Path, JsonValue]]
) -> None:
    """Set each member's completions, and its parallelism where that is higher than all completions.

    What was divided is then the completions: so every member that gets pods gets completions for them.
    """
    parallelism, completions = at(obj, parallelism_path), at(obj, COMPLETIONS)
    if not isinstance(completions, int):
        return
    for member, number in proportional(completions, divided).items():
        shares[member][COMPLETIONS] = number
    if isinstance(parallelism, int) and parallelism > completions == sum(divided.values()) > 0:
        for member, number in proportional(parallelism, divided).items():
            shares[member][parallelism_path] = number


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


def budget_shares(obj: JsonObject, placements: Iterable[Mapping[str, int | None]]) -> Mapping[str, Shares]:
    """Member → minAvailable or maxUnavailable of a PodDisruptionBudget whose workloads have these placements.

    Percentages stay, for they hold of what is in a member; so do numbers where one of the workloads is not divided.
    maxUnavailable is at least 1 where it is not 0 in all: a member with 0 could not drain a node. So its sum is exact
    only where the total is not below the number of members.
    """
    weights: dict[str, int] = {}
    for placement in placements:
        for member, replicas in placement.items():
            if replicas is None:
                return {}
            weights[member] = weights.get(member, 0) + replicas
    shares: dict[str, dict[Path, JsonValue]] = {member: {} for member in weights}
    for path, divide in ((MIN_AVAILABLE, proportional), (MAX_UNAVAILABLE, _some_for_each)):
        total = at(obj, path)
        if weights and isinstance(total, int):
            for member, number in divide(total, weights).items():
                shares[member][path] = number
    return {member: share for member, share in shares.items() if share}


def _some_for_each(total: int, weights: Mapping[str, int]) -> dict[str, int]:
    """As ``proportional``, but at least 1 for each unless the total is 0; those who have most give it, ties by name."""
    parts = proportional(total, weights)
    if total <= 0:
        return parts
    parts = {member: max(number, 1) for member, number in parts.items()}
    for _ in range(sum(parts.values()) - total):
        most = min(parts, key=lambda member: (-parts[member], member))
        if parts[most] > 1:
            parts[most] -= 1
    return parts


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
