"""What a live object is to kadm: made by it, adopted, or somebody else's (design, section 5).

Only the record and the uid decide; the set's label is a hint that Endpoints, for one, copy from Services.
"""

from __future__ import annotations

from typing import Literal

from kadm.compare.ownership import created_by
from kadm.model.objects import JsonObject
from kadm.model.record import RecordedObject

Standing = Literal["absent", "created", "adopted", "foreign"]


def standing(live: JsonObject | None, recorded: RecordedObject | None, manager: str) -> Standing:
    """What the object is to kadm. An intent without uid counts as created only where kadm's entry is the oldest."""
    if live is None:
        return "absent"
    if live["metadata"].get("ownerReferences") and recorded is None:
        return "foreign"
    if recorded is None:
        return "foreign"
    if recorded.uid:
        return recorded.origin if recorded.uid == live["metadata"].get("uid") else "foreign"
    if recorded.origin == "adopted":
        return "adopted"
    return "created" if created_by(live, manager) else "foreign"


def marked_by_another(live: JsonObject, set_id: str) -> str:
    """Who else manages the object, in words, or empty: such an object is never adopted silently (design, section 7)."""
    metadata = live["metadata"]
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    other_set = labels.get("applyset.kubernetes.io/part-of", "")
    if other_set and other_set != set_id:
        return f"ApplySet {other_set}"
    if release := annotations.get("meta.helm.sh/release-name"):
        return f"Helm release {release}"
    if "argocd.argoproj.io/tracking-id" in annotations or "argocd.argoproj.io/instance" in labels:
        return "Argo CD"
    for label in ("kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name"):
        if label in labels:
            return f"Flux ({labels[label]})"
    if labels.get("kubeadmiral.io/managed") == "true":
        return "KubeAdmiral"
    if owners := metadata.get("ownerReferences"):
        return f"{owners[0].get('kind')} {owners[0].get('name')}"
    return ""
