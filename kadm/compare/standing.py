"""What a live object is to kadm: made by it, adopted, or somebody else's (design, section 5).

Only the record and the uid decide; the set's label is a hint that Endpoints, for one, copy from Services.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from kadm.compare.ownership import created_by
from kadm.model.applyset import other_set
from kadm.model.objects import JsonObject
from kadm.model.record import RecordedObject

Standing = Literal["absent", "created", "adopted", "foreign"]


def standing(live: JsonObject | None, recorded: RecordedObject | None, manager: str) -> Standing:
    """What the object is to kadm. An intent without uid counts as created only where kadm's entry is the oldest; so
    does another object in the place of one that was to be made anew."""
    if live is None:
        return "absent"
    if live["metadata"].get("ownerReferences") and recorded is None:
        return "foreign"
    if recorded is None:
        return "foreign"
    if recorded.uid and recorded.uid == live["metadata"].get("uid"):
        return recorded.origin
    if recorded.uid and not recorded.recreating:
        return "foreign"
    if not recorded.uid and recorded.origin == "adopted":
        return "adopted"
    return "created" if created_by(live, manager) else "foreign"


class Mark(Struct, frozen=True):
    """Who else manages an object: in words, as ``--take-over`` names it, and the field managers that it writes as."""

    words: str
    tool: str
    managers: tuple[str, ...] = ()


def marked_by_another(live: JsonObject, set_id: str) -> Mark | None:
    """Who else manages the object, if anybody: it is never adopted silently (design, section 7)."""
    metadata = live["metadata"]
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    if other := other_set(live, set_id):
        return Mark(f"ApplySet {other}", other)
    if release := annotations.get("meta.helm.sh/release-name"):
        return Mark(f"Helm release {release}", "helm", ("helm", "Helm"))
    if "argocd.argoproj.io/tracking-id" in annotations or "argocd.argoproj.io/instance" in labels:
        return Mark("Argo CD", "argocd", ("argocd-controller", "argocd-application-controller"))
    for label, manager in (
        ("kustomize.toolkit.fluxcd.io/name", "kustomize-controller"),
        ("helm.toolkit.fluxcd.io/name", "helm-controller"),
    ):
        if label in labels:
            return Mark(f"Flux ({labels[label]})", "flux", (manager,))
    if labels.get("kubeadmiral.io/managed") == "true":
        return Mark("KubeAdmiral", "kubeadmiral")
    if owners := metadata.get("ownerReferences"):
        owner = f"{owners[0].get('kind')}/{owners[0].get('name')}"
        return Mark(owner.replace("/", " "), owner)
    return None


def kept_out(live: JsonObject) -> bool:
    """Whether the member's admin keeps everybody's hands off the object (propagation spec, section 10, 18)."""
    return (live["metadata"].get("labels") or {}).get("kubeadmiral.io/managed") == "false"
