"""KubeAdmiral's labels and annotations on manifests: which kadm honours, and what it says about the others.

Source: propagation spec 0.1 to 0.4. A key is honoured by the stage that it concerns, or refused here; none is passed
over in silence, for somebody relies on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from kadm.errors import Location, Problem
from kadm.model.field_path import parse_paths
from kadm.model.objects import Path
from kadm.repo.decode import suggestion
from kadm.repo.headers import Header

PREFIX = "kubeadmiral.io/"
_DOMAIN = "kubeadmiral.io"
_OURS = "kadm.io/"

PROPAGATION_POLICY = PREFIX + "propagation-policy-name"
CLUSTER_PROPAGATION_POLICY = PREFIX + "cluster-propagation-policy-name"
OVERRIDE_POLICY = PREFIX + "override-policy-name"
CLUSTER_OVERRIDE_POLICY = PREFIX + "cluster-override-policy-name"

_HONOURED_LABELS = {
    "propagation-policy-name",
    "cluster-propagation-policy-name",
    "override-policy-name",
    "cluster-override-policy-name",
    "hpa-mode",
}
_HONOURED_ANNOTATIONS = {
    "affinity",
    "clusterSelector",
    "clusters-to-adopt",
    "conflict-resolution",
    "disable-following",
    "dry-run",
    "followers",
    "follows-object",
    "maxClusters",
    "migration-configuration",
    "no-federated-resource",
    "no-scheduling",
    "orphan",
    "placements",
    "retain-replicas",
    "scheduling-mode",
    "sticky-cluster",
    "tolerations",
}

# Annotation → why it asks for what is so anyway.
_SO_ANYWAY = {"no-auto-propagation": "kadm makes a namespace only where something in it goes"}

# Label → the values that kadm refuses, and what to do instead. Other values are KubeAdmiral's default behaviour.
_REFUSED_LABELS: dict[str, tuple[tuple[str, ...], str]] = {
    "hpa-mode": (("centralized",), "kadm divides the HorizontalPodAutoscaler over the members with its workload"),
}

# What KubeAdmiral itself writes; manifests exported from a cluster carry it.
_WRITTEN_BY_KUBEADMIRAL = {
    "adopted",
    "applied-migration-configuration",
    "auto-migration-info",
    "centralized-hpa-enabled",
    "derived-service",
    "enable-follower-scheduling",
    "fed-hpa-not-work-reason",
    "latest-replicaset-digests",
    "managed",
    "observed-annotations",
    "observed-labels",
    "pending-controllers",
    "pod-unschedulable-threshold",
    "propagated-annotation-keys",
    "propagated-label-keys",
    "scheduling",
    "scheduling-deferred-reasons",
    "scheduling-triggers",
    "source-generation",
    "template-generator-merge-patch",
}


class _ClustersToAdopt(msgspec.Struct, frozen=True):
    clusters: tuple[str, ...] = ()
    regexp: str = ""


_OUR_ANNOTATIONS = {"ignore", "protect", "recreate", "singleton", "suspend"}


def key_problems(header: Header, locate: Callable[[Path], Location]) -> Iterator[Problem]:
    """What is to be said about the keys of one manifest, each at the key's place."""
    for key, value in header.metadata.labels.items():
        if said := _label(key, value):
            yield replace(said, where=locate(("metadata", "labels", key)))
    for key, value in header.metadata.annotations.items():
        if said := _annotation(key, value, header.kind):
            yield replace(said, where=locate(("metadata", "annotations", key)))


def _label(key: str, value: str) -> Problem | None:
    name = _kubeadmiral_name(key)
    return _judged(f"label {key}", name, value, _HONOURED_LABELS, _REFUSED_LABELS) if name else None


def _annotation(key: str, value: str, kind: str) -> Problem | None:
    if name := _kubeadmiral_name(key):
        if name == "dry-run" and value == "true" and kind == "Namespace":
            hint = "what goes into a namespace needs it: put the annotation on that"
            return Problem(what=f"annotation {key} is not supported on a Namespace", hint=hint)
        if name in _SO_ANYWAY:
            return Problem(what=f"annotation {key} has no effect", hint=_SO_ANYWAY[name], severity="warning")
        if name == "clusters-to-adopt" and (why := _unreadable_clusters(value)):
            hint = '{"clusters": ["eu-1"], "regexp": "^eu-"}, one of them or both'
            return Problem(what=f"annotation {key} cannot be read", why=why, hint=hint)
        return _judged(f"annotation {key}", name, value, _HONOURED_ANNOTATIONS, {})
    ours = key.removeprefix(_OURS)
    if key == f"{_OURS}ignore" and (why := _unreadable_paths(value)):
        return Problem(
            what=f"annotation {key} cannot be read", why=why, hint="paths such as spec.replicas, with commas"
        )
    if ours == key or ours in _OUR_ANNOTATIONS:
        return None
    hint = suggestion(ours, sorted(_OUR_ANNOTATIONS), prefix=_OURS)
    return Problem(what=f"annotation {key} is none that kadm knows", hint=hint, severity="warning")


def _unreadable_clusters(text: str) -> str:
    """Why clusters-to-adopt cannot be used; empty where it can (propagation spec 5.7)."""
    try:
        chosen = msgspec.json.decode(text or "{}", type=_ClustersToAdopt)
        re.compile(chosen.regexp)
    except (msgspec.DecodeError, re.error) as error:
        return str(error)
    return ""


def _unreadable_paths(text: str) -> str:
    """Why kadm.io/ignore cannot be used; empty where it can."""
    try:
        parse_paths(text)
    except ValueError as error:
        return str(error)
    return ""


def _kubeadmiral_name(key: str) -> str:
    """The part of a KubeAdmiral key behind its domain; empty for the keys of others."""
    domain, slash, name = key.partition("/")
    return name if slash and (domain == _DOMAIN or domain.endswith(f".{_DOMAIN}")) else ""


def _judged(
    what: str, name: str, value: str, honoured: set[str], refused: Mapping[str, tuple[tuple[str, ...], str]]
) -> Problem | None:
    if name in honoured and name not in refused:
        return None
    if name in refused:
        values, instead = refused[name]
        return Problem(what=f"{what}: {value} is not supported", hint=instead) if value in values else None
    if name in _WRITTEN_BY_KUBEADMIRAL:
        hint = "remove it from the manifest"
        return Problem(what=f"{what} is KubeAdmiral's own note, and is left out", hint=hint, severity="warning")
    hint = suggestion(name, sorted({*honoured, *refused}), prefix=PREFIX)
    return Problem(what=f"{what} is none that KubeAdmiral knows", hint=hint)
