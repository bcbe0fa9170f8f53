"""Where kadm answers otherwise than KubeAdmiral on purpose, and how such an answer is told from a wrong one.

A row is a rule that kadm has in place of one of KubeAdmiral's: a row of section 10 of the scheduling specification
(``spec N``), of section 12 of the design (``design N``), a rule of its section 6 (``design s6``), or a sentence of the
propagation specification. A second transcription of KubeAdmiral's rules (``tests.vectors.upstream``) knows the rows. A
difference is claimed only where

- that transcription, with no row, gives exactly what the case expects: so a case that is wrong is never claimed;
- with all rows, it gives exactly kadm's answer: so a wrong answer is never claimed;
- and kadm's answer keeps what the row promises, checked by itself.

The rows that are counted for a case are those without which the transcription would answer otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tests.vectors.case import ERROR, Alternatives, Answer, Case, Json, equal, possible

Upstream = Callable[[Json, frozenset[str]], Alternatives]
"""A transcription: input, and the rows that are to be as kadm has them."""


@dataclass(frozen=True, slots=True)
class Row:
    """One rule that differs. ``broken`` yields what an answer that it applies to does not keep."""

    id: str
    rule: str
    broken: Callable[[Json, Answer], Iterator[str]]


def claimed_by(case: Case, answer: Answer, upstream: Upstream) -> tuple[str, ...]:
    """The rows that explain an answer which differs from the expected one; empty where none does."""
    if not possible(case, upstream(case.input, frozenset())):
        return ()
    fixed = upstream(case.input, ALL)
    if not gives(fixed, answer):
        return ()
    plain = upstream(case.input, frozenset())
    rows = [
        row
        for row in ROWS
        if upstream(case.input, ALL - {row.id}) != fixed or upstream(case.input, frozenset({row.id})) != plain
    ]
    if any(True for row in rows for _ in row.broken(case.input, answer)):
        return ()
    return tuple(row.id for row in rows)


def gives(alternatives: Alternatives, answer: Answer) -> bool:
    """Whether ``answer`` is among ``alternatives``."""
    return alternatives.keys() == answer.keys() and all(
        key == ERROR or any(equal(answer[key], value) for value in values) for key, values in alternatives.items()
    )


# What the rows promise


def _nothing(_given: Json, _answer: Answer) -> Iterator[str]:
    yield from ()


def _refused(_given: Json, answer: Answer) -> Iterator[str]:
    if answer.get("outcome") != "error":
        yield "it is not refused"


def _bounded(given: Json, answer: Answer) -> Iterator[str]:
    """A plan of Binpack keeps to total, maximums, limits, and minimums that can be had; overflow comes on top."""
    if "plan" not in answer:
        return
    plan, entries = answer["plan"], given.get("clusters", {})
    limited, estimated = given.get("limitedCapacity", {}), given.get("estimatedCapacity", {})
    total = left = given.get("total", 0)
    if sum(plan.values()) > total:
        yield "more than the total"
    for name in given["available"]:
        entry, count = entries.get(name, {}), plan.get(name, 0)
        most = [bound for bound in (entry.get("max"), limited.get(name)) if bound is not None]
        if any(count > bound for bound in most):
            yield f"{name} has more than it may"
        least = min([entry.get("min", 0), left, *most, *([estimated[name]] if name in estimated else [])])
        left -= min([entry.get("min", 0), left, *([limited[name]] if name in limited else [])])
        if count < least:
            yield f"{name} has less than its minimum"
    if any(count for name, count in plan.items() if name not in given["available"]):
        yield "a cluster that is not selected has replicas"


def _even(_given: Json, answer: Answer) -> Iterator[str]:
    weights = answer.get("weights", {})
    if len(set(weights.values())) > 1 or not all(name and weight >= 0 for name, weight in weights.items()):
        yield "the weights are not equal"


def _desired(given: Json) -> int:
    found: Json = given["template"]
    for step in (given["type"].get("replicasPath") or "spec.replicas").split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return found if isinstance(found, int) else 1


def _zeros(given: Json, answer: Answer) -> Iterator[str]:
    """At 0 replicas objects stay where they are, or go where they are selected."""
    if answer["outcome"] == "scheduled" and _desired(given) == 0:
        if set(answer["result"].values()) - {0}:
            yield "some replicas are left"
        if not answer["result"].keys() <= set(answer["selected"]):
            yield "it is where it is not selected"


def _sticks(given: Json, answer: Answer) -> Iterator[str]:
    """A sticky object goes nowhere new, and has not more replicas than its total."""
    if answer["outcome"] != "sticky":
        return
    if not answer["result"].keys() <= set(given.get("currentClusters") or ()):
        yield "it went to another cluster"
    if sum(count or 0 for count in answer["result"].values()) > max(_desired(given), 0) and not given["policy"].get(
        "autoMigration"
    ):
        yield "it has more replicas than its total"


def _stays(given: Json, answer: Answer) -> Iterator[str]:
    """Where no replica finds a place, nothing is removed."""
    here = set(given.get("currentClusters") or ()) & {cluster["metadata"]["name"] for cluster in given["clusters"]}
    if here and answer["outcome"] == "scheduled" and answer["selected"] and not answer["result"]:
        yield "it is removed everywhere"


ROWS: tuple[Row, ...] = (
    Row("spec 1", "equal weights: the planner's hash says which cluster gets what rounding leaves over", _nothing),
    Row("spec 2", "free capacity only where nothing is allocatable: equal weights", _even),
    Row("spec 3", "Binpack: what is too much is measured by what can be placed, not by the total", _bounded),
    Row("spec 4", "Binpack: replicas that run count toward a minimum", _bounded),
    Row("spec 5", "Binpack: replicas that run count toward a limit", _bounded),
    Row("spec 6", "Binpack: shrinking does not wait for pods that are starting", _bounded),
    Row("spec 8", "where no replica finds a place, the object stays as it is, with an error", _stays),
    Row("spec 10", "integers do not overflow", _nothing),
    Row("spec 13", "Divide with 0 replicas keeps the objects", _zeros),
    Row("spec 14", "sticky keeps the clusters, and divides a changed total among them", _sticks),
    Row("spec 15", "the weights of a profile count", _nothing),
    Row("spec 26", "a negative maxClusters is refused; clusters of equal score are in the order of names", _nothing),
    Row("design 1", "what an API server does: absent replicas are 1; what the schema forbids is refused", _nothing),
    Row("design 6", "Binpack: no bound is broken by what runs already, nor by waiting", _bounded),
    Row("design 7", "Divide without a replica path: known kinds are divided, others are refused", _nothing),
    Row("design s6", "a member that ceased to serve the object's version gets no more of it", _nothing),
    Row("design 12", "a failing override stops the object in the members that it fails for", _nothing),
    Row("design 13", "command and args: no operator means overwrite", _nothing),
    Row("propagation 6.2", "the status of a StatefulSet in several members is summed", _nothing),
)
"""Rows 9, 22, 23 and 29 of the specification are as in KubeAdmiral. Rows 7, 11, 12, 16 to 21, 24, 25, 27 and 28 are
about what no suite shows: loading, triggers, webhooks, annotations, and what happens after no cluster was found."""

ALL: frozenset[str] = frozenset(row.id for row in ROWS)

RULES: Mapping[str, str] = {row.id: row.rule for row in ROWS}
"""Row → the rule."""
