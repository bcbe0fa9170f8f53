"""The whole pipeline (scheduling spec, sections 3 and 4)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from kadm.model.quantity import parse_quantity
from tests.vectors.case import Json, OneOf
from tests.vectors.upstream.binpack import Packer
from tests.vectors.upstream.planner import Planner, Wish
from tests.vectors.upstream.selector import SelectorFault, all_hold, some_term_matches
from tests.vectors.upstream.unit import GPU, KATALYST, RECLAIMED, Unit, UnitFault, unit_of
from tests.vectors.upstream.weights import NoWeights, dynamic_weights

NOW = datetime(2026, 1, 1, tzinfo=UTC)
"""Times in vectors lie far from it."""

ORDINALS = 1000
"""How many pods of a divided StatefulSet a cluster can have (design, section 12, row 7)."""

FILTERS = (
    "APIResources",
    "TaintToleration",
    "PlacementFilter",
    "ClusterAffinity",
    "ClusterReady",
    "ClusterTerminating",
    "ClusterEvicted",
)
SCORES = (
    "TaintToleration",
    "ClusterResourcesBalancedAllocation",
    "ClusterResourcesLeastAllocated",
    "ClusterAffinity",
)
SELECTS = ("PrioritySort", "MaxCluster")
KNOWN = {
    "filter": {*FILTERS, "ClusterResourcesFit", "KatalystResourcesExist"},
    "score": {*SCORES, "ClusterResourcesMostAllocated"},
    "select": {*SELECTS},
}

Reasons = list[str]
Answers = dict[str, list[Json]]


class ProfileFault(ValueError):
    """The profile names what cannot run."""


class ScheduleFault(ValueError):
    """A plugin failed: nothing is scheduled."""


def scheduler_answer(given: Json, fixed: frozenset[str]) -> Answers:
    """KubeAdmiral's answer to a case of suite ``scheduler``."""
    if (given["policy"].get("maxClusters") or 0) < 0 and "spec 26" in fixed:
        return _single({"outcome": "error", "stage": "load", "error": "*"})
    try:
        profile = {point: _plugins(given, point) for point in ("filter", "score", "select")}
    except ProfileFault:
        return _single({"outcome": "error", "stage": "profile", "error": "*"})
    try:
        unit = unit_of(given, fixed)
    except UnitFault:
        return _single({"outcome": "error", "stage": "unit", "error": "*"})
    clusters = {cluster["metadata"]["name"]: Cluster(cluster) for cluster in given["clusters"]}
    try:
        return _single({"unit": unit.shown()}) | _Run(unit, clusters, profile, fixed).answers()
    except ScheduleFault:
        return _single({"outcome": "error", "stage": "schedule", "error": "*", "unit": unit.shown()})


def _single(answer: Mapping[str, Json]) -> Answers:
    return {key: [value] for key, value in answer.items()}


def _plugins(given: Json, point: str) -> dict[str, int]:
    """The plugins of one extension point, in order: name → weight. Raises ProfileFault."""
    defaults: Sequence[str] = {"filter": FILTERS, "score": SCORES, "select": SELECTS}[point]
    if point == "filter" and given.get("enableKatalystSupport"):
        defaults = (*defaults, "KatalystResourcesExist")
    changes = ((given.get("profile") or {}).get("plugins") or {}).get(point) or {}
    disabled = {plugin["name"] for plugin in changes.get("disabled") or ()}
    found = {name: 1 for name in defaults if name not in disabled and "*" not in disabled}
    for plugin in changes.get("enabled") or ():
        if plugin["name"] in found or plugin["name"] not in KNOWN[point]:
            raise ProfileFault(plugin["name"])
        weight = plugin.get("weight", plugin.get("wait"))
        found[plugin["name"]] = 1 if weight is None else weight
    return found


@dataclass(frozen=True, slots=True)
class Cluster:
    """A FederatedCluster."""

    document: Json

    @property
    def labels(self) -> Mapping[str, str]:
        labels: Mapping[str, str] = self.document["metadata"].get("labels") or {}
        return labels

    @property
    def taints(self) -> Sequence[Json]:
        taints: Sequence[Json] = (self.document.get("spec") or {}).get("taints") or ()
        return taints

    @property
    def ready(self) -> bool:
        conditions = (self.document.get("status") or {}).get("conditions") or ()
        return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)

    def serves(self, unit: Unit) -> bool:
        return any(
            (one.get("group", ""), one["version"], one["kind"]) == (unit.group, unit.version, unit.kind)
            for one in (self.document.get("status") or {}).get("apiResourceTypes") or ()
        )

    def amounts(self, which: str) -> dict[str, Fraction]:
        resources = (self.document.get("status") or {}).get("resources") or {}
        return {name: parse_quantity(text) for name, text in (resources.get(which) or {}).items()}

    def used(self) -> list[dict[str, Fraction]]:
        """Resource → what is used, for each order in which a map can be walked.

        The subtraction stops at a resource of which more is available than there is.
        """
        there, free = self.amounts("allocatable"), self.amounts("available")
        good = [name for name in there if name in free and free[name] <= there[name]]
        bad = [name for name in free if free[name] > there.get(name, 0)]
        subsets: Iterator[tuple[str, ...]] = iter([tuple(good)])
        if bad:
            subsets = itertools.chain.from_iterable(
                itertools.combinations(good, size) for size in range(len(good), -1, -1)
            )
        return [
            {name: amount - free[name] if name in done else amount for name, amount in there.items()}
            for done in subsets
        ]


class _Run:
    """One pass through the pipeline."""

    def __init__(
        self,
        unit: Unit,
        clusters: Mapping[str, Cluster],
        profile: Mapping[str, Mapping[str, int]],
        fixed: frozenset[str],
    ) -> None:
        self.unit = unit
        self.clusters = clusters
        self.profile = profile
        self.fixed = fixed

    def answers(self) -> Answers:
        unit = self.unit
        if unit.sticky and unit.current:
            if "spec 14" not in self.fixed:
                return _single({"outcome": "sticky", "result": unit.current})
            if stuck := [name for name in unit.current if name in self.clusters]:
                return {"outcome": ["sticky"], "result": self._stuck(stuck)}
        names = sorted(self.clusters) if "spec 26" in self.fixed else list(self.clusters)
        filtered: dict[str, Json] = {}
        for name in names:
            for plugin in self.profile["filter"]:
                if reasons := self._refusals(plugin, name):
                    filtered[name] = {"plugin": plugin, "reasons": sorted(reasons)}
                    break
        fitting = [name for name in names if name not in filtered]
        if not fitting:
            return _single({"outcome": "nofit", "filtered": filtered, "message": self._message(filtered)})
        scores = {plugin: self._normal(plugin, self._scored(plugin, fitting)) for plugin in self.profile["score"]}
        totals = {name: self._totals(scores, name) for name in fitting}
        selections = self._selections(fitting, totals)
        found: Answers = {
            "outcome": ["scheduled"],
            "filtered": [filtered],
            "scores": [{plugin: {name: OneOf(values) for name, values in of.items()} for plugin, of in scores.items()}],
            "totalScore": [{name: OneOf(values) for name, values in totals.items()} if scores else {}],
            "selected": selections,
        }
        results: list[Json] = []
        weights: list[Json] = []
        for selected in selections:
            if not unit.divide:
                results.append(dict.fromkeys(selected))
                continue
            if unit.total == 0 and selected and "spec 13" in self.fixed:
                results.append(dict.fromkeys([name for name in selected if name in unit.current] or selected, 0))
                continue
            if not selected or (unit.total or 0) <= 0:
                results.append({})
                continue
            for chosen, result in self._divided(selected):
                weights += [] if chosen is None else [chosen]
                results.append(self._final(result))
        found["result"] = _distinct(results)
        if weights:
            found["weights"] = _distinct(weights)
        return found

    def _final(self, result: dict[str, int]) -> dict[str, int | None]:
        placed: dict[str, int | None] = {name: count for name, count in result.items() if count}
        here = any(name in self.clusters for name in self.unit.current)
        return dict(self.unit.current) if not placed and here and "spec 8" in self.fixed else placed

    def _stuck(self, names: list[str]) -> list[Json]:
        """Where a sticky object stays, with a changed total divided anew (row 14)."""
        unit = self.unit
        if not unit.divide:
            return [dict.fromkeys(names)]
        counts = [unit.current[name] for name in names]
        if None not in counts and sum(count or 0 for count in counts) == unit.total:
            return [{name: unit.current[name] for name in names}]
        if not unit.total:
            return [dict.fromkeys(names, 0)]
        priorities = unit.priorities or {}
        order = sorted(names, key=lambda name: (-priorities.get(name, 0), name))
        return _distinct([self._final(result) for _, result in self._divided(order)])

    def _message(self, filtered: Mapping[str, Json]) -> str:
        counts: dict[str, int] = {}
        for refusal in filtered.values():
            for reason in refusal["reasons"]:
                counts[reason] = counts.get(reason, 0) + 1
        listed = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
        return f"0/{len(self.clusters)} clusters are available: {listed}"

    # Filters

    def _refusals(self, plugin: str, name: str) -> Reasons:
        unit, cluster = self.unit, self.clusters[name]
        here = name in unit.current
        match plugin:
            case "APIResources":
                return [] if cluster.serves(unit) else ["cluster(s) didn't support this APIVersion"]
            case "TaintToleration":
                effects = ("NoExecute",) if here else ("NoSchedule", "NoExecute")
                for taint in cluster.taints:
                    if taint["effect"] in effects and not self._tolerates(unit.tolerations, taint):
                        text = f"{{{taint['key']}: {taint.get('value', '')}}}"
                        return [f"cluster(s) had taint {text}, that the schedulingUnit didn't tolerate"]
                return []
            case "PlacementFilter":
                listed = not unit.names or name in unit.names
                return [] if listed else ["cluster(s) were not in placement list"]
            case "ClusterAffinity":
                matches = all(cluster.labels.get(key) == value for key, value in unit.selector.items())
                if matches and unit.required is not None:
                    matches = self._some_term(name)
                return [] if matches else ["cluster(s) didn't match cluster selector"]
            case "ClusterReady":
                return [] if here or cluster.ready else ["cluster(s) were unready"]
            case "ClusterTerminating":
                leaves = bool(cluster.document["metadata"].get("deletionTimestamp"))
                return ["cluster(s) were terminating"] if leaves else []
            case "ClusterEvicted":
                evicted = name in unit.unavailable and unit.unavailable[name] > NOW
                return ["cluster(s) were evicted due to custom migration configuration"] if evicted else []
            case "KatalystResourcesExist":
                wants = any(resource in unit.request for resource in KATALYST)
                has = any(resource in cluster.amounts("allocatable") for resource in KATALYST)
                return ["Katalyst resource does not exist"] if wants and not has and not here else []
            case _:
                return [] if here or not unit.request else self._misfits(cluster)

    def _misfits(self, cluster: Cluster) -> Reasons:
        there, used = cluster.amounts("allocatable"), cluster.used()[0]
        wanted = {"cpu": 0, "memory": 0, **{name: count for name, count in self.unit.request.items() if count > 0}}
        return [
            f"Insufficient {name}"
            for name, count in wanted.items()
            if _units(name, there.get(name)) < count + _units(name, used.get(name))
        ]

    def _tolerates(self, tolerations: Sequence[Json], taint: Json) -> bool:
        return any(
            one.get("effect", "") in ("", taint["effect"])
            and one.get("key", "") in ("", taint["key"])
            and (
                one.get("operator") == "Exists"
                or (one.get("operator") in (None, "", "Equal") and one.get("value", "") == taint.get("value", ""))
            )
            for one in tolerations
        )

    def _some_term(self, name: str) -> bool:
        try:
            return some_term_matches(self.unit.required or (), name, self.clusters[name].labels)
        except SelectorFault:
            return False

    # Scores

    def _scored(self, plugin: str, fitting: Sequence[str]) -> dict[str, list[int]]:
        """Cluster → the scores that are possible."""
        return {name: _distinct(self._scores(plugin, name)) for name in fitting}

    def _scores(self, plugin: str, name: str) -> list[int]:
        unit, cluster = self.unit, self.clusters[name]
        if plugin == "TaintToleration":
            mild = [one for one in unit.tolerations if one.get("effect", "") in ("", "PreferNoSchedule")]
            taints = [taint for taint in cluster.taints if taint["effect"] == "PreferNoSchedule"]
            return [sum(not self._tolerates(mild, taint) for taint in taints)]
        if plugin == "ClusterAffinity":
            total = 0
            for preferred in unit.preferred:
                expressions = (preferred.get("preference") or {}).get("matchExpressions") or []
                if not preferred.get("weight") or not expressions:
                    continue
                try:
                    total += preferred["weight"] if all_hold(expressions, cluster.labels) else 0
                except SelectorFault as error:
                    raise ScheduleFault from error
            return [total]
        there = cluster.amounts("allocatable")
        resources = ["cpu", "memory", *unit.request]
        found = []
        for used in cluster.used():
            pairs = {
                name: (_units(name, there.get(name)), _units(name, used.get(name)) + unit.request.get(name, 0))
                for name in resources
            }
            found.append(_RESOURCE_SCORES[plugin](pairs))
        return found

    def _normal(self, plugin: str, scores: dict[str, list[int]]) -> dict[str, list[int]]:
        if plugin not in ("TaintToleration", "ClusterAffinity"):
            return scores
        single = {name: values[0] for name, values in scores.items()}
        top = max([0, *single.values()])
        if plugin == "TaintToleration":
            return {name: [100 - 100 * score // top if top else 100] for name, score in single.items()}
        return {name: [int(Fraction(100 * score, top)) if top else score] for name, score in single.items()}

    def _totals(self, scores: Mapping[str, Mapping[str, Sequence[int]]], name: str) -> list[int]:
        weights = self.profile["score"] if "spec 15" in self.fixed else dict.fromkeys(self.profile["score"], 1)
        choices = [[value * weights[plugin] for value in of[name]] for plugin, of in scores.items()]
        return _distinct([sum(values) for values in itertools.product(*choices)])

    # Selection and division

    def _selections(self, fitting: Sequence[str], totals: Mapping[str, Sequence[int]]) -> list[Json]:
        return _distinct(
            [
                self._selected(dict(zip(fitting, values, strict=True)))
                for values in itertools.product(*(totals[name] for name in fitting))
            ]
        )

    def _selected(self, scores: dict[str, int]) -> list[str]:
        unit = self.unit
        for plugin in self.profile["select"]:
            if plugin == "PrioritySort":
                if unit.priorities or (unit.divide and unit.binpack):
                    scores = {name: (unit.priorities or {}).get(name, 0) for name in scores}
                scores = dict(sorted(scores.items(), key=lambda entry: (-entry[1], entry[0])))
            else:
                if unit.max_clusters is not None and unit.max_clusters < 0:
                    raise ScheduleFault
                ranked = sorted(scores.items(), key=lambda entry: -entry[1])
                scores = dict(ranked[: unit.max_clusters])
        return list(scores)

    def _divided(self, selected: Sequence[str]) -> Iterator[tuple[dict[str, int] | None, dict[str, int]]]:
        """Dynamic weights (None: static ones, or Binpack) and replicas, for each order of a map."""
        unit, total = self.unit, self.unit.total or 0
        current = {name: total if count is None else count for name, count in unit.current.items()}
        least = {name: (unit.least or {}).get(name, 0) for name in selected}
        most = {name: count for name, count in (unit.most or {}).items() if name in selected}
        if "design 7" in self.fixed and (unit.group, unit.kind) == ("apps", "StatefulSet"):
            least = {name: min(count, ORDINALS) for name, count in least.items()}
            most = {name: min(most.get(name, ORDINALS), ORDINALS) for name in selected}
        for name in selected:
            taints = [taint for taint in self.clusters[name].taints if taint["effect"] == "NoSchedule"]
            if not all(self._tolerates(unit.tolerations, taint) for taint in taints):
                most[name] = min(most.get(name, current.get(name, 0)), current.get(name, 0))
            elif "design s6" in self.fixed and name in current and not self.clusters[name].serves(unit):
                most[name] = min(most.get(name, current[name]), current[name])
        if unit.binpack:
            packer = Packer(
                least=least,
                most=most,
                estimated=unit.estimated,
                limited=unit.limited,
                scheduled=unit.scheduled,
                avoid=unit.avoid,
                keep=unit.keep,
                fixed=self.fixed,
            )
            yield None, self._written(selected, *packer.plan(selected, total, current))
            return
        planner = Planner(
            key=unit.key,
            estimated=unit.estimated,
            limited=unit.limited,
            avoid=unit.avoid,
            keep=unit.keep,
            wraps="spec 10" not in self.fixed,
        )
        for weights in [unit.weights] if unit.weights else self._dynamic(selected):
            wishes = {name: Wish(weights.get(name, 0), least[name], most.get(name)) for name in selected}
            plan, overflow = planner.plan(wishes, total, current)
            yield None if unit.weights else weights, self._written(selected, plan, overflow)

    def _dynamic(self, selected: Sequence[str]) -> list[dict[str, int]]:
        request = self.unit.request
        resource = GPU if GPU in request else RECLAIMED if RECLAIMED in request else "cpu"
        missing = None if resource == RECLAIMED else Fraction(0)
        amounts = {name: self.clusters[name] for name in selected}
        try:
            return dynamic_weights(
                selected,
                {name: cluster.amounts("allocatable").get(resource, missing) for name, cluster in amounts.items()},
                {name: cluster.amounts("available").get(resource, missing) for name, cluster in amounts.items()},
                key=self.unit.key,
                fixed=self.fixed,
            )
        except NoWeights as error:
            raise ScheduleFault from error

    def _written(self, selected: Sequence[str], plan: Mapping[str, int], overflow: Mapping[str, int]) -> dict[str, int]:
        sums = {name: plan.get(name, 0) + overflow.get(name, 0) for name in selected}
        return {name: count for name, count in sums.items() if count}


def _units(resource: str, amount: Fraction | None) -> int:
    exact = (amount or Fraction(0)) * (1000 if resource == "cpu" else 1)
    return math.ceil(exact) if exact >= 0 else math.floor(exact)


Pairs = Mapping[str, tuple[int, int]]
"""Resource → allocatable, requested."""


def _least(pairs: Pairs) -> int:
    return _mean(
        {name: (there - asked) * 100 // there if 0 < there >= asked else 0 for name, (there, asked) in pairs.items()}
    )


def _most(pairs: Pairs) -> int:
    return _mean({name: asked * 100 // there if 0 < there >= asked else 0 for name, (there, asked) in pairs.items()})


def _mean(scores: Mapping[str, int]) -> int:
    weights = {name: 4 if name == GPU else 1 for name in scores}
    return sum(score * weights[name] for name, score in scores.items()) // sum(weights.values())


def _balanced(pairs: Pairs) -> int:
    parts = [asked / there if there else 1.0 for there, asked in pairs.values()]
    if any(part >= 1 for part in parts):
        return 0
    if len(parts) == 2:
        return int((1 - abs((parts[0] - parts[1]) / 2)) * 100)
    mean = sum(parts) / len(parts)
    return int((1 - math.sqrt(sum((part - mean) * (part - mean) for part in parts) / len(parts))) * 100)


_RESOURCE_SCORES = {
    "ClusterResourcesLeastAllocated": _least,
    "ClusterResourcesMostAllocated": _most,
    "ClusterResourcesBalancedAllocation": _balanced,
}


def _distinct(values: Sequence[Json]) -> list[Json]:
    found: list[Json] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found
