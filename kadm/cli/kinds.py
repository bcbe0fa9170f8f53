"""Kinds as people write them: short names, plurals, with their group."""

from __future__ import annotations

SHORT_NAMES = {
    "cj": "cronjob",
    "cm": "configmap",
    "cop": "clusteroverridepolicy",
    "cpp": "clusterpropagationpolicy",
    "crd": "customresourcedefinition",
    "deploy": "deployment",
    "ds": "daemonset",
    "hpa": "horizontalpodautoscaler",
    "ing": "ingress",
    "netpol": "networkpolicy",
    "ns": "namespace",
    "op": "overridepolicy",
    "pdb": "poddisruptionbudget",
    "po": "pod",
    "pp": "propagationpolicy",
    "pvc": "persistentvolumeclaim",
    "rs": "replicaset",
    "sa": "serviceaccount",
    "sts": "statefulset",
    "svc": "service",
}
"""kubectl's short names of common kinds, and those of KubeAdmiral's policies → kind in lower case."""


def kind_of(text: str) -> str:
    """The kind in lower case that a person means by a short name, a plural, or ``kind.group``."""
    lower = text.lower().partition(".")[0]
    if lower in SHORT_NAMES:
        return SHORT_NAMES[lower]
    for plural, singular in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if lower.endswith(plural) and not lower.endswith(("ss", "ingress")):
            return lower[: -len(plural)] + singular
    return "ingress" if lower in ("ingress", "ingresses") else lower
