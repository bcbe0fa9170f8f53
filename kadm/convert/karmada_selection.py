"""Which objects Karmada's policies select: there the policy names objects, here an object names its policy.

Source: Karmada's API reference, policy.karmada.io/v1alpha1 (ResourceSelector; priority of policies).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from kadm.convert.fields import Fields
from kadm.model.objects import JsonObject, ObjectKey, at
from kadm.model.policy import SelectorOperator, SelectorRequirement
from kadm.model.selector import SelectorError, expressions_match, labels_match

_OPERATORS: dict[str, SelectorOperator] = {
    "In": "In",
    "NotIn": "NotIn",
    "Exists": "Exists",
    "DoesNotExist": "DoesNotExist",
}


class Selector(Struct, frozen=True, kw_only=True):
    """One ``resourceSelectors`` entry. ``namespace`` is the policy's own where it has one."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str = ""
    labels: dict[str, str] = {}
    expressions: tuple[SelectorRequirement, ...] = ()

    @property
    def words(self) -> str:
        """``apps/v1 Deployment web``."""
        name = f"{self.namespace}/{self.name}" if self.namespace and self.name else self.name
        labelled = ", ".join(
            (
                *(f"{key}={value}" for key, value in sorted(self.labels.items())),
                *(f"{one.key} {one.operator} {', '.join(one.values)}".rstrip() for one in self.expressions),
            )
        )
        which = name or (f"with labels {labelled}" if labelled else "of any name")
        return f"{self.api_version} {self.kind} {which}"

    def rank(self, key: ObjectKey, obj: JsonObject) -> int:
        """How closely it names an object: 3 by name, 2 by labels, 1 by kind; 0 where it does not."""
        if (obj["apiVersion"], obj["kind"]) != (self.api_version, self.kind):
            return 0
        if self.namespace and key.namespace != self.namespace:
            return 0
        if self.name:
            return 3 if key.name == self.name else 0
        if not self.labels and not self.expressions:
            return 1
        labels = at(obj, ("metadata", "labels")) or {}
        try:
            hit = labels_match(self.labels, labels) and expressions_match(self.expressions, labels)
        except SelectorError:
            return 0
        return 2 if hit else 0


def selectors_of(spec: Fields, namespace: str) -> tuple[Selector, ...]:
    """``spec.resourceSelectors``."""
    found = []
    for one in spec.parts("resourceSelectors"):
        labels, expressions = label_selector(one.part("labelSelector"))
        found.append(
            Selector(
                api_version=one.text("apiVersion"),
                kind=one.text("kind"),
                namespace=one.text("namespace") or namespace,
                name=one.text("name"),
                labels=labels,
                expressions=expressions,
            )
        )
        one.close()
    return tuple(found)


def label_selector(fields: Fields) -> tuple[dict[str, str], tuple[SelectorRequirement, ...]]:
    """A Kubernetes LabelSelector: its matchLabels, and its matchExpressions."""
    labels = fields.map("matchLabels")
    expressions = []
    for one in fields.parts("matchExpressions"):
        key, operator, values = one.text("key"), one.text("operator"), one.texts("values")
        known = _OPERATORS.get(operator)
        if known is None:
            one.note("operator", f"{operator} is none that is known, and the expression is left out")
            continue
        expressions.append(SelectorRequirement(key, known, tuple(values)))
        one.close()
    fields.close()
    return labels, tuple(expressions)


def rank(selectors: Sequence[Selector], key: ObjectKey, obj: JsonObject) -> int:
    """The closest of several selectors; 0 where none selects the object."""
    return max((selector.rank(key, obj) for selector in selectors), default=0)
