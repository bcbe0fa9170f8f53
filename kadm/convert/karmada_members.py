"""Karmada's ways to choose members, as KubeAdmiral's.

Source: Karmada's API reference, policy.karmada.io/v1alpha1 (ClusterAffinity, Placement).
"""

from __future__ import annotations

from msgspec import Struct

from kadm.convert.fields import Fields
from kadm.convert.karmada_selection import label_selector
from kadm.model.objects import JsonObject


class Affinity(Struct, frozen=True, kw_only=True):
    """What a ClusterAffinity asks for; all of it must hold. ``names`` empty: any member."""

    names: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    terms: tuple[JsonObject, ...] = ()
    """KubeAdmiral's ``clusterAffinity``: none or one term."""

    @property
    def targets(self) -> JsonObject:
        """As ``targetClusters`` of an override rule."""
        found: JsonObject = {}
        if self.names:
            found["clusters"] = list(self.names)
        return {**found, **self.selectors}

    @property
    def selectors(self) -> JsonObject:
        """``clusterSelector`` and ``clusterAffinity``."""
        found: JsonObject = {}
        if self.labels:
            found["clusterSelector"] = dict(self.labels)
        if self.terms:
            found["clusterAffinity"] = list(self.terms)
        return found


def affinity_of(fields: Fields) -> Affinity:
    """A ClusterAffinity."""
    labels, expressions = label_selector(fields.part("labelSelector"))
    names = tuple(fields.texts("clusterNames"))
    excluded = fields.texts("exclude")
    if fields.has("fieldSelector"):
        fields.note("fieldSelector", "has no counterpart: give the members labels for provider, region and zone")
    fields.close()
    term: JsonObject = {}
    if expressions:
        term["matchExpressions"] = [
            {"key": one.key, "operator": one.operator, "values": list(one.values)} for one in expressions
        ]
    if excluded:
        term["matchFields"] = [
            {"key": "metadata.name", "operator": "NotIn", "values": [name]} for name in sorted(excluded)
        ]
    return Affinity(names=names, labels=labels, terms=(term,) if term else ())
