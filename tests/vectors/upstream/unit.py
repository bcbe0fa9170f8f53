"""What KubeAdmiral reads out of a policy, an object and its annotations (scheduling spec, section 2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from kadm.model.quantity import parse_quantity
from tests.vectors.case import Json

PREFIX = "kubeadmiral.io/"
GPU = "nvidia.com/gpu"
RECLAIMED = "resource.katalyst.kubewharf.io/reclaimed_millicpu"
KATALYST = (
    RECLAIMED,
    "resource.katalyst.kubewharf.io/reclaimed_memory",
    "resource.katalyst.kubewharf.io/net_bandwidth",
)
POD_SPECS = {
    ("apps", "Deployment"): ("spec", "template", "spec"),
    ("apps", "StatefulSet"): ("spec", "template", "spec"),
    ("apps", "DaemonSet"): ("spec", "template", "spec"),
    ("batch", "Job"): ("spec", "template", "spec"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template", "spec"),
    ("", "Pod"): ("spec",),
}
DIVISIBLE = {
    ("apps", "Deployment"): ("spec", "replicas"),
    ("apps", "StatefulSet"): ("spec", "replicas"),
    ("apps", "ReplicaSet"): ("spec", "replicas"),
    ("batch", "Job"): ("spec", "parallelism"),
}
"""Where the replicas of kinds stand that kadm divides without being told (design, section 12, row 7)."""


class UnitFault(ValueError):
    """The inputs cannot be interpreted."""


@dataclass(slots=True, kw_only=True)
class Unit:
    """The normalised parameters. None of a map is not the same as empty: the reference shows which it has."""

    key: str
    group: str
    version: str
    kind: str
    divide: bool
    binpack: bool
    total: int | None
    current: dict[str, int | None]
    sticky: bool
    avoid: bool
    max_clusters: int | None
    selector: Mapping[str, str]
    required: Sequence[Json] | None
    preferred: Sequence[Json]
    tolerations: Sequence[Json]
    names: list[str] | None = None
    least: dict[str, int] | None = None
    most: dict[str, int] | None = None
    weights: dict[str, int] | None = None
    priorities: dict[str, int] | None = None
    request: dict[str, int] = field(default_factory=dict)
    keep: bool = False
    estimated: Mapping[str, int] = field(default_factory=dict)
    scheduled: Mapping[str, int] = field(default_factory=dict)
    limited: Mapping[str, int] = field(default_factory=dict)
    unavailable: Mapping[str, datetime] = field(default_factory=dict)

    def shown(self) -> dict[str, Json]:
        """The unit in the words of the vectors."""
        found: dict[str, Json] = {
            "desiredReplicas": self.total,
            "currentReplicas": self.current,
            "schedulingMode": "Divide" if self.divide else "Duplicate",
            "replicasStrategy": "Binpack" if self.binpack else "Spread",
            "stickyCluster": self.sticky,
            "avoidDisruption": self.avoid,
            "maxClusters": self.max_clusters,
        }
        optional: dict[str, Json] = {
            "minReplicas": self.least,
            "maxReplicas": self.most,
            "weights": self.weights,
            "priorities": self.priorities,
            "clusterNames": None if self.names is None else sorted(self.names),
            "request": self.request or None,
        }
        return found | {key: value for key, value in optional.items() if value is not None}


def unit_of(given: Json, fixed: frozenset[str]) -> Unit:
    """The unit of a case of suite ``scheduler``. Raises UnitFault."""
    policy, annotations, kind = given["policy"], given.get("annotations") or {}, given["type"]
    template = given["template"]
    mode = annotations.get(PREFIX + "scheduling-mode")
    if mode not in ("Duplicate", "Divide"):
        mode = policy.get("schedulingMode")
    divide = mode == "Divide"
    known = (kind.get("group", ""), kind["kind"])
    path = tuple(kind["replicasPath"].split(".")) if kind.get("replicasPath") else None
    if divide and path is None and "design 7" in fixed:
        path = DIVISIBLE.get(known)
        if path is None:
            raise UnitFault(f"{kind['kind']} cannot be divided")
    divide = divide and path is not None
    total = _replicas(template, path, known, fixed) if divide and path is not None else None
    reschedule = policy.get("reschedulePolicy") or {}
    sticky = {"true": True, "false": False}.get(annotations.get(PREFIX + "sticky-cluster", ""))
    metadata = template["metadata"]
    placed = given.get("currentReplicas") or {}
    unit = Unit(
        key=f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else metadata["name"],
        group=kind.get("group", ""),
        version=kind["version"],
        kind=kind["kind"],
        divide=divide,
        binpack=policy.get("replicasStrategy") == "Binpack",
        total=total,
        current={name: placed.get(name) for name in given.get("currentClusters") or ()},
        sticky=bool(reschedule.get("disableRescheduling")) if sticky is None else sticky,
        avoid=bool((reschedule.get("replicaRescheduling") or {}).get("avoidDisruption")),
        max_clusters=policy.get("maxClusters"),
        selector=policy.get("clusterSelector") or {},
        required=policy.get("clusterAffinity") or None,
        preferred=(),
        tolerations=policy.get("tolerations") or (),
        request=_request(template, known, katalyst=bool(given.get("enableKatalystSupport"))),
    )
    _place(unit, policy.get("placement"))
    _annotate(unit, annotations)
    _migrate(unit, policy, annotations)
    return unit


def _replicas(template: Json, path: Sequence[str], known: tuple[str, str], fixed: frozenset[str]) -> int:
    found: Any = template
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    if found is None and "design 1" in fixed and known in POD_SPECS.keys() | DIVISIBLE.keys():
        found = 1
    if not isinstance(found, int) or isinstance(found, bool):
        raise UnitFault(f"{'.'.join(path)} is no integer")
    if found < 0 and "design 1" in fixed:
        raise UnitFault(f"{'.'.join(path)} is negative")
    if known == ("batch", "Job") and "design 7" in fixed:
        spec = template.get("spec") or {}
        if spec.get("completionMode") == "Indexed":
            raise UnitFault("an Indexed Job cannot be divided")
        if (completions := spec.get("completions")) is not None:
            if completions > 0 and found < 1:
                raise UnitFault("there is nothing to divide")
            return min(found, int(completions))
    return found


def _place(unit: Unit, entries: Sequence[Json] | None) -> None:
    """The placement list of the policy."""
    if entries is None:
        return
    unit.names = sorted({entry["cluster"] for entry in entries})
    unit.least, unit.most, unit.weights, unit.priorities = {}, {}, {}, {}
    for entry in entries:
        wish = entry.get("preferences") or {}
        unit.least[entry["cluster"]] = wish.get("minReplicas") or 0
        for field_, chosen in (("maxReplicas", unit.most), ("weight", unit.weights), ("priority", unit.priorities)):
            if wish.get(field_) is not None:
                chosen[entry["cluster"]] = wish[field_]


_TOLERATION = {"key": str, "operator": str, "value": str, "effect": str, "tolerationSeconds": int}
_REQUIREMENT = {"key": str, "operator": str, "values": [str]}
_TERM = {"matchExpressions": [_REQUIREMENT], "matchFields": [_REQUIREMENT]}
_AFFINITY = {
    "clusterAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [_TERM]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": int, "preference": _TERM}],
    }
}
_WISH = {"minReplicas": int, "maxReplicas": int, "weight": int, "priority": int}
_PLACEMENTS = [{"cluster": str, "preferences": _WISH}]
_INFO = {"estimatedCapacity": {str: int}, "scheduledReplicas": {str: int}}
_APPLIED = {"limitedCapacity": {str: int}, "unavailableClusters": [{"cluster": str, "validUntil": str}]}


def _annotate(unit: Unit, annotations: Mapping[str, str]) -> None:
    """What valid annotations replace."""

    def decoded(name: str, shape: Json) -> Json:
        """The annotation's value, None where it is absent or invalid."""
        text = annotations.get(PREFIX + name)
        try:
            return None if text is None else go_decode(text, shape)
        except ValueError:
            return None

    if re.fullmatch(r"[+-]?[0-9]+", text := annotations.get(PREFIX + "maxClusters", "")) and 0 <= int(text) < 2**63:
        unit.max_clusters = int(text)
    if (selector := decoded("clusterSelector", {str: str})) is not None:
        unit.selector = selector
    if (tolerations := decoded("tolerations", [_TOLERATION])) is not None:
        unit.tolerations = tolerations
    if (affinity := decoded("affinity", _AFFINITY)) is not None:
        affinity = affinity.get("clusterAffinity") or {}
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
        unit.required = None if required is None else required.get("clusterSelectorTerms") or []
        unit.preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or []
    if (entries := decoded("placements", _PLACEMENTS)) is None:
        return
    wishes = [(entry.get("cluster", ""), entry.get("preferences") or {}) for entry in entries]
    unit.names = sorted({name for name, _ in wishes})
    if all(wish.get("minReplicas", 0) >= 0 for _, wish in wishes):
        unit.least = {name: wish.get("minReplicas", 0) for name, wish in wishes}

    def read(name: str, of_policy: dict[str, int] | None) -> dict[str, int] | None:
        found = {cluster: wish[name] for cluster, wish in wishes if wish.get(name) is not None}
        return of_policy if any(wish.get(name, 0) < 0 for _, wish in wishes) else found

    unit.most = read("maxReplicas", unit.most)
    unit.weights = read("weight", unit.weights)
    unit.priorities = read("priority", unit.priorities)


def _migrate(unit: Unit, policy: Json, annotations: Mapping[str, str]) -> None:
    applied = applied_migration(annotations)
    unit.limited = applied.get("limitedCapacity") or {}
    unit.unavailable = {
        entry.get("cluster", ""): moment_of(entry.get("validUntil", ""))
        for entry in applied.get("unavailableClusters") or ()
    }
    if (migration := policy.get("autoMigration")) is None:
        return
    unit.keep = bool(migration.get("keepUnschedulableReplicas"))
    info = migration_info(annotations)
    unit.estimated = {name: count for name, count in (info.get("estimatedCapacity") or {}).items() if count >= 0}
    unit.scheduled = info.get("scheduledReplicas") or {}


def applied_migration(annotations: Mapping[str, str]) -> Json:
    """What annotation applied-migration-configuration says. Raises UnitFault."""
    return go_decode(annotations.get(PREFIX + "applied-migration-configuration", "{}"), _APPLIED)


def migration_info(annotations: Mapping[str, str]) -> Json:
    """What annotation auto-migration-info says. Raises UnitFault."""
    return go_decode(annotations.get(PREFIX + "auto-migration-info", "{}"), _INFO)


def moment_of(text: str) -> datetime:
    """``text`` as a time. Raises UnitFault."""
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise UnitFault(f"{text!r} is no time") from error


def go_decode(text: str, shape: Json) -> Json:
    """``text`` as Go decodes it into a type: names in any case, unknown ones left out, null is empty.

    ``shape``: a type, a list of one shape, a map (one key, ``str``), or fields. Raises UnitFault.
    """
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise UnitFault(str(error)) from error
    return _empty(shape) if value is None else _fitted(value, shape)


def _fitted(value: Json, shape: Json) -> Json:
    if isinstance(shape, type):
        if not isinstance(value, shape) or (shape is int and isinstance(value, bool)):
            raise UnitFault(f"{value!r} is no {shape.__name__}")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise UnitFault(f"{value} does not fit in 64 bits")
        return value
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise UnitFault(f"{value!r} is no list")
        return [_empty(shape[0]) if entry is None else _fitted(entry, shape[0]) for entry in value]
    if not isinstance(value, dict):
        raise UnitFault(f"{value!r} is no object")
    if str in shape:
        of = shape[str]
        return {key: _empty(of) if entry is None else _fitted(entry, of) for key, entry in value.items()}
    lower = {name.lower(): name for name in shape}
    known = [(lower[key.lower()], entry) for key, entry in value.items() if key.lower() in lower]
    return {name: _fitted(entry, shape[name]) for name, entry in known if entry is not None}


def _empty(shape: Json) -> Json:
    return shape() if isinstance(shape, type) else type(shape)()


def _request(template: Json, known: tuple[str, str], *, katalyst: bool) -> dict[str, int]:
    """What one pod asks for of the resources that a unit keeps."""
    if known not in POD_SPECS:
        return {}
    spec: Any = template
    for step in POD_SPECS[known]:
        spec = spec.get(step) if isinstance(spec, dict) else None
    if not isinstance(spec, dict):
        raise UnitFault("it has no pod spec")
    found = {}
    for resource in (GPU, *KATALYST) if katalyst else (GPU,):
        asked = []
        for container in spec.get("containers") or ():
            resources = container.get("resources") or {}
            both = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
            asked += [parse_quantity(both[resource])] if resource in both else []
        first = [
            parse_quantity(requests[resource])
            for container in spec.get("initContainers") or ()
            if resource in (requests := (container.get("resources") or {}).get("requests") or {})
        ]
        overhead = spec.get("overhead") or {}
        if asked or first or resource in overhead:
            amount = max([sum(asked), *first]) + parse_quantity(overhead.get(resource, 0))
            found[resource] = -(-amount.numerator // amount.denominator)
    return found
