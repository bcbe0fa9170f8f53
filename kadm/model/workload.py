"""The kinds that hold pods: where their pod spec stands, where their replicas stand, and how they divide."""

from __future__ import annotations

import msgspec

from kadm.model.objects import JsonObject, Path, at


class WorkloadKind(msgspec.Struct, frozen=True, kw_only=True):
    """What kadm knows of one kind with a pod template.

    ``replicas_path`` is None where the kind has no replica count; ``divides`` says whether Divide may split it
    (design, section 12, row 7); ``leads`` whether others can follow it (propagation spec, section 3).
    """

    group: str
    kind: str
    pod_spec_path: Path
    replicas_path: Path | None = None
    divides: bool = False
    leads: bool = True


FIRST_ORDINAL: Path = ("spec", "ordinals", "start")
"""Of a StatefulSet: the number of its first pod; 0 where it says nothing."""

ORDINALS_PER_BLOCK = 1000
"""How many ordinals a member gets of a StatefulSet that is divided; block k begins at k times as many."""

_TEMPLATE: Path = ("spec", "template", "spec")

WORKLOAD_KINDS: dict[tuple[str, str], WorkloadKind] = {
    (kind.group, kind.kind): kind
    for kind in (
        WorkloadKind(
            group="apps", kind="Deployment", pod_spec_path=_TEMPLATE, replicas_path=("spec", "replicas"), divides=True
        ),
        WorkloadKind(
            group="apps", kind="StatefulSet", pod_spec_path=_TEMPLATE, replicas_path=("spec", "replicas"), divides=True
        ),
        WorkloadKind(
            group="apps",
            kind="ReplicaSet",
            pod_spec_path=_TEMPLATE,
            replicas_path=("spec", "replicas"),
            divides=True,
            leads=False,  # KubeAdmiral infers no followers from a ReplicaSet; kept, so that placements agree
        ),
        WorkloadKind(group="apps", kind="DaemonSet", pod_spec_path=_TEMPLATE),
        WorkloadKind(
            group="batch", kind="Job", pod_spec_path=_TEMPLATE, replicas_path=("spec", "parallelism"), divides=True
        ),
        WorkloadKind(group="batch", kind="CronJob", pod_spec_path=("spec", "jobTemplate", "spec", "template", "spec")),
        WorkloadKind(group="", kind="Pod", pod_spec_path=("spec",)),
    )
}
"""(group, kind) → what kadm knows. Any version: the paths are the same in all of them."""


def workload_kind(group: str, kind: str) -> WorkloadKind | None:
    """What kadm knows of this kind, or None where it holds no pods."""
    return WORKLOAD_KINDS.get((group, kind))


def pod_spec(group: str, kind: str, obj: JsonObject) -> JsonObject | None:
    """The object's pod spec, or None where the kind has none or the object lacks it."""
    known = workload_kind(group, kind)
    found = at(obj, known.pod_spec_path) if known else None
    return found if isinstance(found, dict) else None
