"""What an object's annotations change in its policy (scheduling spec 2.4).

Their JSON is read as Go reads it: names of fields match in any case, unknown fields are ignored, null is empty but
present. An annotation that cannot be read changes nothing, and is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec
from msgspec import Meta, Struct

from kadm.model.policy import SchedulingMode, SelectorOperator, SelectorRequirement, SelectorTerm, Toleration
from kadm.schedule.unit import NO_MIGRATION, Migration, Placements, Preferred, Rules

PREFIX = "kubeadmiral.io/"
SCHEDULING_MODE = PREFIX + "scheduling-mode"
STICKY_CLUSTER = PREFIX + "sticky-cluster"
TOLERATIONS = PREFIX + "tolerations"
PLACEMENTS = PREFIX + "placements"
CLUSTER_SELECTOR = PREFIX + "clusterSelector"
AFFINITY = PREFIX + "affinity"
MAX_CLUSTERS = PREFIX + "maxClusters"
MIGRATION_CONFIGURATION = PREFIX + "migration-configuration"
NO_SCHEDULING = PREFIX + "no-scheduling"

PLACEMENT_ANNOTATIONS = (
    SCHEDULING_MODE,
    STICKY_CLUSTER,
    TOLERATIONS,
    PLACEMENTS,
    CLUSTER_SELECTOR,
    AFFINITY,
    MAX_CLUSTERS,
)
"""The annotations that override the policy, and that a Fleet can forbid (allowPlacementAnnotations: false)."""

INSTEAD_OF: Mapping[str, str] = {
    SCHEDULING_MODE: "schedulingMode",
    STICKY_CLUSTER: "reschedulePolicy.disableRescheduling",
    TOLERATIONS: "tolerations",
    PLACEMENTS: "placement",
    CLUSTER_SELECTOR: "clusterSelector",
    AFFINITY: "clusterAffinity",
    MAX_CLUSTERS: "maxClusters",
}
"""Annotation → the field of the policy's spec that it stands for."""

_T = TypeVar("_T")

_INTEGER = re.compile(r"[+-]?[0-9]+")
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)")


class AnnotationError(ValueError):
    """The value of an annotation cannot be read; the text says why."""


def apply(rules: Rules, annotations: Mapping[str, str]) -> tuple[Rules, Mapping[str, str]]:
    """``rules`` as ``annotations`` change them, and what is wrong: annotation → why it cannot be read."""
    wrong: dict[str, str] = {}
    for key, change in _CHANGES.items():
        if key not in annotations:
            continue
        try:
            rules = change(rules, annotations[key])
        except AnnotationError as error:
            wrong[key] = str(error)
    for key, partly in _PARTLY.items():
        if key in annotations:
            rules, why = partly(rules, annotations[key])
            if why:
                wrong[key] = why
    return rules, wrong


_MODES: dict[str, SchedulingMode] = {mode: mode for mode in get_args(SchedulingMode)}


def _mode(rules: Rules, text: str) -> Rules:
    mode = _MODES.get(text)
    if mode is None:
        raise AnnotationError(f"it must be {' or '.join(_MODES)}")
    return replace(rules, mode=mode)


def _sticky(rules: Rules, text: str) -> Rules:
    if text not in ("true", "false"):
        raise AnnotationError('it must be "true" or "false"')
    return replace(rules, sticky=text == "true")


def _max_clusters(rules: Rules, text: str) -> Rules:
    if not _INTEGER.fullmatch(text) or not 0 <= int(text) < 2**63:
        raise AnnotationError("it must be an integer, and not negative")
    return replace(rules, max_clusters=int(text))


def _selector(rules: Rules, text: str) -> Rules:
    selector = _decode(_json(text), dict[str, str | None])
    return replace(rules, selector={key: value or "" for key, value in selector.items()})


_TOLERATION_OPERATORS: dict[str, Literal["", "Equal", "Exists"]] = {"": "", "Equal": "Equal", "Exists": "Exists"}
_TOLERATION_EFFECTS: dict[str, Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"]] = {
    "": "",
    "NoSchedule": "NoSchedule",
    "PreferNoSchedule": "PreferNoSchedule",
    "NoExecute": "NoExecute",
}


class _Toleration(Struct, rename="lower"):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = msgspec.field(default=None, name="tolerationseconds")


def _tolerations(rules: Rules, text: str) -> Rules:
    given = _decode(_lowered(_json(text)), list[_Toleration])
    return replace(rules, tolerations=tuple(found for entry in given if (found := _toleration(entry)) is not None))


def _toleration(entry: _Toleration) -> Toleration | None:
    """The toleration, or None where its operator or effect does not exist: it tolerates nothing."""
    operator, effect = _TOLERATION_OPERATORS.get(entry.operator or ""), _TOLERATION_EFFECTS.get(entry.effect or "")
    if operator is None or effect is None:
        return None
    return Toleration(entry.key or "", operator, entry.value or "", effect)


class _Requirement(Struct, rename="lower"):
    key: str | None = None
    operator: str | None = None
    values: list[str] | None = None


class _Term(Struct):
    expressions: list[_Requirement] | None = msgspec.field(default=None, name="matchexpressions")
    fields: list[_Requirement] | None = msgspec.field(default=None, name="matchfields")


class _Preferred(Struct, rename="lower"):
    weight: int | None = None
    preference: _Term | None = None


class _Required(Struct):
    terms: list[_Term] | None = msgspec.field(default=None, name="clusterselectorterms")


class _ClusterAffinity(Struct):
    required: _Required | None = msgspec.field(default=None, name="requiredduringschedulingignoredduringexecution")
    preferred: list[_Preferred] | None = msgspec.field(
        default=None, name="preferredduringschedulingignoredduringexecution"
    )


class _Affinity(Struct):
    cluster: _ClusterAffinity | None = msgspec.field(default=None, name="clusteraffinity")


def _affinity(rules: Rules, text: str) -> tuple[Rules, str]:
    """The affinity of the annotation, and what is wrong with it.

    One that cannot be decoded changes nothing. An operator that does not exist must not lift the restriction: its term
    is one that no member can match.
    """
    try:
        given = _decode(_lowered(_json(text)), _Affinity)
    except AnnotationError as error:
        return rules, str(error)
    affinity = given.cluster or _ClusterAffinity()
    required = None if affinity.required is None else tuple(_term(term) for term in affinity.required.terms or ())
    preferred = tuple(
        Preferred(weight=entry.weight or 0, term=_term(entry.preference)) for entry in affinity.preferred or ()
    )
    operators = {
        requirement.operator or ""
        for term in [
            *((affinity.required and affinity.required.terms) or ()),
            *(entry.preference for entry in affinity.preferred or ()),
        ]
        if term is not None
        for requirement in [*(term.expressions or ()), *(term.fields or ())]
    }
    unknown = ", ".join(sorted(operators - _OPERATORS.keys()))
    changed = replace(rules, required=required, preferred=preferred)
    return changed, f"no such operator: {unknown}" if unknown else ""


def _term(term: _Term | None) -> SelectorTerm:
    given = term or _Term()
    return SelectorTerm(
        match_expressions=tuple(_requirement(entry) for entry in given.expressions or ()),
        match_fields=tuple(_requirement(entry) for entry in given.fields or ()),
    )


_OPERATORS: dict[str, SelectorOperator] = {operator: operator for operator in get_args(SelectorOperator)}
_ILLEGAL = SelectorRequirement("", "In", ())
"""Stands for a requirement that selectors refuse, and that a typed one cannot hold."""


def _requirement(entry: _Requirement) -> SelectorRequirement:
    operator = _OPERATORS.get(entry.operator or "")
    return _ILLEGAL if operator is None else SelectorRequirement(entry.key or "", operator, tuple(entry.values or ()))


def _placements(rules: Rules, text: str) -> tuple[Rules, str]:
    """The list of the annotation, and what is wrong with it.

    Each field stands alone: one with a negative number falls back to the policy's, the others count. A value of another
    type voids the annotation as a whole.
    """
    of_policy = rules.placements
    try:
        entries = _decode(_lowered(_json(text)), list[_Entry])
    except AnnotationError as error:
        return rules, str(error)
    names = [entry.cluster or "" for entry in entries]
    wrong: list[str] = []

    def field(name: str, of_the_policy: Mapping[str, int]) -> Mapping[str, int]:
        try:
            return _numbers(entries, name)
        except AnnotationError as error:
            wrong.append(f"{name}: {error}")
            return of_the_policy

    minimums = field("minReplicas", of_policy.minimums)
    if not any(problem.startswith("minReplicas") for problem in wrong):
        minimums = {name: minimums.get(name, 0) for name in names}
    placements = Placements(
        names=frozenset(names),
        minimums=minimums,
        maximums=field("maxReplicas", of_policy.maximums),
        weights=field("weight", of_policy.weights),
        priorities=field("priority", of_policy.priorities),
    )
    return replace(rules, placements=placements), "; ".join(wrong)


_Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class _Preferences(Struct, rename="lower"):
    min_replicas: _Int64 | None = msgspec.field(default=None, name="minreplicas")
    max_replicas: _Int64 | None = msgspec.field(default=None, name="maxreplicas")
    weight: _Int64 | None = None
    priority: _Int64 | None = None


class _Entry(Struct):
    cluster: str | None = None
    preferences: _Preferences | None = None


_FIELDS: dict[str, Callable[[_Preferences], int | None]] = {
    "minReplicas": lambda preferences: preferences.min_replicas,
    "maxReplicas": lambda preferences: preferences.max_replicas,
    "weight": lambda preferences: preferences.weight,
    "priority": lambda preferences: preferences.priority,
}


def _numbers(entries: list[_Entry], field: str) -> dict[str, int]:
    found = {}
    for entry in entries:
        number = _FIELDS[field](entry.preferences or _Preferences())
        if number is None:
            continue
        if number < 0:
            raise AnnotationError(f"{number} is no integer of at least 0")
        found[entry.cluster or ""] = number
    return found


class _LimitedCapacity(Struct):
    cluster: str | None = None
    limit: int | None = msgspec.field(default=None, name="limitedcapacity")


class _Eviction(Struct):
    cluster: str | None = None
    until: str | None = msgspec.field(default=None, name="validuntil")


class _MigrationConfiguration(Struct):
    replicas: list[_LimitedCapacity] | None = msgspec.field(default=None, name="replicasmigrations")
    workloads: list[_Eviction] | None = msgspec.field(default=None, name="workloadmigrations")


def migration_of(text: str, *, divisible: bool) -> Migration:
    """What annotation migration-configuration asks for (spec 2.4.1); empty text asks for nothing.

    ``divisible``: the object has a replica count, which limits per member need. Raises AnnotationError.
    """
    if not text:
        return NO_MIGRATION
    given = _decode(_lowered(_json(text)), _MigrationConfiguration)
    if given.replicas and not divisible:
        raise AnnotationError("replicasMigrations needs an object with a replica count")
    limited: dict[str, int] = {}
    unavailable: dict[str, datetime] = {}
    for limit in given.replicas or ():
        if limit.limit is None or limit.limit < 0:
            raise AnnotationError("limitedCapacity must be an integer of at least 0")
        limited[_new_cluster(limit.cluster, limited, unavailable)] = limit.limit
    for eviction in given.workloads or ():
        until = eviction.until or ""
        if not _RFC3339.fullmatch(until):
            raise AnnotationError(f"validUntil {until!r} is no RFC 3339 time")
        unavailable[_new_cluster(eviction.cluster, limited, unavailable)] = _time(until)
    return Migration(limited=limited, unavailable=dict(sorted(unavailable.items())))


def _new_cluster(cluster: str | None, *seen: Mapping[str, object]) -> str:
    if not cluster:
        raise AnnotationError("an entry names no cluster")
    if any(cluster in names for names in seen):
        raise AnnotationError(f"cluster {cluster} appears twice")
    return cluster


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError as error:
        raise AnnotationError(f"{text!r} is no RFC 3339 time: {error}") from error


_CHANGES: dict[str, Callable[[Rules, str], Rules]] = {
    SCHEDULING_MODE: _mode,
    STICKY_CLUSTER: _sticky,
    TOLERATIONS: _tolerations,
    CLUSTER_SELECTOR: _selector,
    MAX_CLUSTERS: _max_clusters,
}
"""Annotations that count as a whole or not at all."""

_PARTLY: dict[str, Callable[[Rules, str], tuple[Rules, str]]] = {PLACEMENTS: _placements, AFFINITY: _affinity}
"""Annotations of which a part can count: each gives what is wrong with the rest."""


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise AnnotationError(f"it is no JSON: {error}") from error


def _lowered(value: Any) -> Any:
    """``value`` with the names of all fields in lower case, and null in a list as an empty structure.

    Only for JSON whose objects are structures, not maps.
    """
    if isinstance(value, dict):
        return {key.lower(): _lowered(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [{} if entry is None else _lowered(entry) for entry in value]
    return value


def _decode(value: Any, kind: type[_T]) -> _T:
    """``value`` as ``kind``; null is an empty one."""
    if value is None:
        return kind()
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise AnnotationError(str(error)) from error
