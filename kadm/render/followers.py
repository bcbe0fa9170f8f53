"""Followers: objects that go wherever the workloads go that need them (propagation spec, section 3).

kadm infers them from the pod spec as a member gets it, after overrides, and lets a HorizontalPodAutoscaler and a
PodDisruptionBudget follow the workload that they target (design, section 12, row 14). Leaders and followers are
disjoint kinds, so that there are no chains and no cycles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from kadm.errors import Problem
from kadm.model.objects import JsonObject, ObjectKey, Path, at, path_text
from kadm.model.repository import Manifest
from kadm.model.workload import workload_kind
from kadm.render.bindings import DISABLE_FOLLOWING, FOLLOWERS, annotation
from kadm.render.references import references

EXPLICIT_KINDS = frozenset(
    {
        ("", "ConfigMap"),
        ("", "PersistentVolumeClaim"),
        ("", "Secret"),
        ("", "Service"),
        ("", "ServiceAccount"),
        ("autoscaling", "HorizontalPodAutoscaler"),
        ("networking.k8s.io", "Ingress"),
        ("policy", "PodDisruptionBudget"),
    }
)
"""(group, kind) that annotation ``followers`` may name."""

MADE_BY_MEMBERS = frozenset(
    {("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt"), ("ConfigMap", "openshift-service-ca.crt")}
)
"""What every namespace of a member holds by itself: no manifest is missed."""

_MAKERS: Mapping[tuple[str, str], tuple[str, Sequence[Path]]] = {
    ("bitnami.com", "SealedSecret"): ("Secret", (("spec", "template", "metadata", "name"), ("metadata", "name"))),
    ("cert-manager.io", "Certificate"): ("Secret", (("spec", "secretName"),)),
    ("external-secrets.io", "ExternalSecret"): ("Secret", (("spec", "target", "name"), ("metadata", "name"))),
}
"""Kinds whose controllers make a Secret in the member → its kind, and where its name stands (the first that is set)."""


_ANNOTATION: Path = ("metadata", "annotations", f"kubeadmiral.io/{FOLLOWERS}")


class ExplicitFollower(Struct, frozen=True):
    """An entry of annotation ``followers``; the namespace is the leader's."""

    kind: str
    name: str
    group: str = ""


class Followers(Struct, frozen=True):
    """Who follows one workload in the members that get it in one form, sorted; and what it lacks."""

    keys: tuple[ObjectKey, ...] = ()
    problems: tuple[Problem, ...] = ()


class FollowerIndex:
    """The repository's objects as those look for them that lead."""

    def __init__(self, manifests: Sequence[Manifest]) -> None:
        self._manifests = {manifest.key: manifest for manifest in manifests}
        self._made: set[tuple[str, str, str]] = set()
        self._targets: dict[ObjectKey, list[ObjectKey]] = {}
        self._budgets: dict[str, list[Manifest]] = {}
        for manifest in manifests:
            self._add(manifest)

    def _add(self, manifest: Manifest) -> None:
        key = manifest.key
        if (maker := _MAKERS.get((key.group, key.kind))) is not None:
            kind, names = maker
            name = next((found for path in names if isinstance(found := at(manifest.object, path), str)), "")
            self._made.add((kind, key.namespace, name))
        elif is_autoscaler(key):
            self._targets.setdefault(self.target(manifest), []).append(key)
        elif (key.group, key.kind) == ("policy", "PodDisruptionBudget"):
            self._budgets.setdefault(key.namespace, []).append(manifest)

    def target(self, autoscaler: Manifest) -> ObjectKey:
        """The workload that a HorizontalPodAutoscaler scales, whether a manifest has it or not."""
        target = at(autoscaler.object, ("spec", "scaleTargetRef")) or {}
        group = str(target.get("apiVersion") or "").rpartition("/")[0]
        return ObjectKey(group, str(target.get("kind")), autoscaler.key.namespace, str(target.get("name")))

    def explicit(self, leader: Manifest) -> tuple[ExplicitFollower, ...]:
        """What annotation ``followers`` names. Raises msgspec.DecodeError where it cannot be read."""
        text = annotation(leader, FOLLOWERS)
        return msgspec.json.decode(text, type=tuple[ExplicitFollower, ...]) if text else ()

    def followers(self, leader: Manifest, rendered: JsonObject) -> Followers:
        """Who follows ``leader`` where it is ``rendered`` so."""
        found: set[ObjectKey] = set()
        problems: list[Problem] = []
        for key, path in self._wanted(leader, rendered):
            manifest = self._manifests.get(key)
            if manifest is None:
                if path is not None:
                    problems.append(_missing(leader, key, path))
            elif annotation(manifest, DISABLE_FOLLOWING) != "true":
                found.add(key)
        return Followers(tuple(sorted(found)), tuple(problems))

    def _wanted(self, leader: Manifest, rendered: JsonObject) -> Iterator[tuple[ObjectKey, Path | None]]:
        """Keys that should follow, and what names each; None where nobody misses it if no manifest has it."""
        key = leader.key
        pod_spec_path = _pod_spec_path(key)
        for reference in references(at(rendered, pod_spec_path) or {}):
            wanted = ObjectKey("", reference.kind, key.namespace, reference.name)
            missed = not reference.optional and not self._comes_by_itself(wanted)
            yield wanted, (*pod_spec_path, *reference.path) if missed else None
        for explicit in self.explicit(leader):
            if (explicit.group, explicit.kind) in EXPLICIT_KINDS:
                yield ObjectKey(explicit.group, explicit.kind, key.namespace, explicit.name), _ANNOTATION
        for autoscaler in self._targets.get(key, ()):
            yield autoscaler, None
        labels = at(rendered, (*pod_spec_path[:-1], "metadata", "labels")) or {}
        for budget in self._budgets.get(key.namespace, ()):
            if _selects(at(budget.object, ("spec", "selector")), labels):
                yield budget.key, None

    def unsupported(self, leader: Manifest) -> tuple[Problem, ...]:
        """Warnings about entries of annotation ``followers`` whose kind follows nobody."""
        return tuple(
            _no_follower(leader, ObjectKey(explicit.group, explicit.kind, leader.key.namespace, explicit.name))
            for explicit in self.explicit(leader)
            if (explicit.group, explicit.kind) not in EXPLICIT_KINDS
        )

    def _comes_by_itself(self, key: ObjectKey) -> bool:
        return (key.kind, key.name) in MADE_BY_MEMBERS or (key.kind, key.namespace, key.name) in self._made


def is_autoscaler(key: ObjectKey) -> bool:
    """Whether it is a HorizontalPodAutoscaler, in whatever version."""
    return (key.group, key.kind) == ("autoscaling", "HorizontalPodAutoscaler")


def leads(key: ObjectKey) -> bool:
    """Whether others can follow objects of this kind."""
    kind = workload_kind(key.group, key.kind)
    return kind is not None and kind.leads


def _pod_spec_path(key: ObjectKey) -> Path:
    kind = workload_kind(key.group, key.kind)
    return kind.pod_spec_path if kind else ()


def _missing(leader: Manifest, wanted: ObjectKey, path: Path) -> Problem:
    return Problem(
        what=f"no manifest has {wanted}, which {path_text(path)} names",
        severity="warning",
        where=leader.locate(path),
        object=str(leader.key),
        hint="it must be in every member already, or come by another way",
    )


def _no_follower(leader: Manifest, named: ObjectKey) -> Problem:
    return Problem(
        what=f"annotation {FOLLOWERS} names {named}, but objects of this kind follow nobody",
        severity="warning",
        where=leader.locate(_ANNOTATION),
        object=str(leader.key),
        hint="give it a policy of its own",
    )


def _selects(selector: object, labels: Mapping[str, str]) -> bool:
    """Whether a LabelSelector (metav1) selects these labels; an absent one selects nothing."""
    if not isinstance(selector, dict) or not selector:
        # policy/v1 takes an empty selector for every pod of the namespace, policy/v1beta1 for none: such a budget
        # targets no workload in particular.
        return False
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_holds(expression, labels) for expression in selector.get("matchExpressions") or ())


def _holds(expression: JsonObject, labels: Mapping[str, str]) -> bool:
    value = labels.get(str(expression.get("key")))
    values = expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:
            return False
