"""One manifest in the forms that its members get: the scheduler's replicas first, then override policies.

Members that get equal shares and that the same rules hit share one form, computed once; the forms share with each
other what they have in common (design, section 13).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from kadm.errors import Problem
from kadm.model.cluster import FederatedCluster
from kadm.model.desired import Provenance
from kadm.model.objects import JsonObject, JsonValue, Path, at, gvk_of
from kadm.model.override import OverridePolicy
from kadm.model.repository import Manifest
from kadm.overrides import RuleHit, apply_rules, rules_that_hit
from kadm.render.digest import digest_of
from kadm.render.normalise import without_empty_maps, without_server_owned
from kadm.render.rewriting import with_value

SECRET_VALUE = "(secret)"  # noqa: S105  # what stands in the place of one
"""Stands in provenance for every value of a Secret."""


@dataclass(frozen=True, eq=False)
class Variant:
    """A form of a manifest's object. ``object`` is None where ``problem`` says which override fails.

    Compared by identity: equal forms of one manifest are one value.
    """

    object: JsonObject | None
    version: str = ""
    digest: str = ""
    provenance: tuple[Provenance, ...] = ()
    problem: Problem | None = None


class RuleTable:
    """Which rules hit which member: asked for many objects, answered once per policy and member."""

    def __init__(self, clusters: Sequence[FederatedCluster]) -> None:
        self._labels: Mapping[str, Mapping[str, str]] = {cluster.name: cluster.labels for cluster in clusters}
        self._hits: dict[tuple[int, int, str], tuple[RuleHit, ...]] = {}

    def hits(self, policies: Sequence[OverridePolicy], member: str) -> tuple[RuleHit, ...]:
        """Rules of all policies, in the order of application."""
        return tuple(hit for index, policy in enumerate(policies) for hit in self._of_one(policy, index, member))

    def _of_one(self, policy: OverridePolicy, index: int, member: str) -> tuple[RuleHit, ...]:
        known = (id(policy), index, member)  # the repository holds the policy for as long as this table lives
        if known not in self._hits:
            self._hits[known] = rules_that_hit(policy, index, member, self._labels.get(member, {}))
        return self._hits[known]


class Variants:
    """The forms of one manifest; ``base`` is its normalised object, which all of them start from."""

    def __init__(
        self, manifest: Manifest, base: JsonObject, policies: Sequence[OverridePolicy], table: RuleTable
    ) -> None:
        self._manifest = manifest
        self._base = base
        self._policies = policies
        self._table = table
        self._known: dict[tuple[object, ...], Variant] = {}

    def of(self, member: str, shares: Mapping[Path, JsonValue]) -> Variant:
        """The form for a member. ``shares`` are the fields that the scheduler divides: path → this member's value."""
        hits = self._table.hits(self._policies, member) if self._policies else ()
        known = (*shares.items(), *hits)
        found = self._known.get(known)
        if found is None:
            found = self._known[known] = self._made(shares, hits)
        return found

    def _made(self, shares: Mapping[Path, JsonValue], hits: Sequence[RuleHit]) -> Variant:
        obj = self._base
        provenance = []
        for path, share in shares.items():
            before = at(obj, path)
            if before != share:
                obj = with_value(obj, path, share)
                provenance.append(Provenance(path=path, before=before, after=share))
        overridden = apply_rules(obj, self._policies, hits)
        if overridden.object is None:
            (problem,) = overridden.problems
            return Variant(None, problem=replace(problem, object=str(self._manifest.key)))
        obj = without_empty_maps(without_server_owned(overridden.object))
        provenance.extend(overridden.provenance)
        if (self._manifest.key.group, self._manifest.key.kind) == ("", "Secret"):
            provenance = [_masked(entry) for entry in provenance]
        return Variant(obj, gvk_of(obj).version, digest_of(obj), tuple(provenance))


def _masked(entry: Provenance) -> Provenance:
    if entry.path[:1] not in (("data",), ("stringData",)):
        return entry
    before, after = (None if value is None else SECRET_VALUE for value in (entry.before, entry.after))
    return replace(entry, before=before, after=after)
