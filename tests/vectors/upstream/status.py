"""Status aggregation (propagation spec 6.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from tests.vectors.case import Json

NOW = "<now>"
DIGESTS = "kubeadmiral.io/latest-replicaset-digests"
REPLICASET = "latestreplicaset.kubeadmiral.io/"
DEPLOYMENT_SUMS = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas")
STATEFULSET_SUMS = ("replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas")


def status_answer(given: Json, fixed: frozenset[str]) -> dict[str, list[Json]]:
    """KubeAdmiral's answer to a case of suite ``status``."""
    source, members = given["source"], given["members"]
    annotations = source["metadata"].get("annotations")
    status = source.get("status")
    told = {name: live["status"] for name, live in members.items() if isinstance(live.get("status"), dict)}
    if source["kind"] == "StatefulSet":
        if len(members) == 1:
            status = next(iter(told.values()), status)
        elif "propagation 6.2" in fixed and members and len(told) == len(members):
            status = _sums(STATEFULSET_SUMS, told)
        return _answered(source, status, annotations)
    if len(told) < len(members):
        return {"result": [None], "needUpdate": [False]}
    match source["kind"]:
        case "Deployment":
            status = _sums(DEPLOYMENT_SUMS, told)
            synced = given.get("lastObservedGeneration") or {}
            observed = given.get("clusterObjsUpToDate") and all(
                name in synced and synced[name] == one.get("observedGeneration", 0) for name, one in told.items()
            )
            generation = (
                source["metadata"].get("generation")
                if observed
                else (source.get("status") or {}).get("observedGeneration")
            )
            status |= {"observedGeneration": generation} if generation else {}
            digests = [digest for name in sorted(members) if (digest := _digest(name, members[name]))]
            annotations = {**(annotations or {}), DIGESTS: json.dumps(digests, separators=(",", ":"))}
        case "Job":
            status = _job(told)
        case "Pod":
            status = _pod(told)
    return _answered(source, status, annotations)


def _answered(source: Json, status: Json, annotations: Json) -> dict[str, list[Json]]:
    changed = status != source.get("status") or annotations != source["metadata"].get("annotations")
    answer = {"annotations": [annotations], "needUpdate": [changed]}
    return answer | ({} if status is None else {"status": [status]})


def _sums(fields: tuple[str, ...], told: Mapping[str, Json]) -> dict[str, Json]:
    sums = {field: sum(status.get(field, 0) for status in told.values()) for field in fields}
    return {field: count for field, count in sums.items() if count}


def _digest(name: str, live: Json) -> dict[str, Json] | None:
    annotations = live["metadata"].get("annotations") or {}
    if annotations.get(REPLICASET + "observed-generation") != str(live["metadata"].get("generation", 0)):
        return None
    texts = {
        "replicas": annotations.get(REPLICASET + "replicas", ""),
        "availableReplicas": annotations.get(REPLICASET + "available-replicas", ""),
        "readyReplicas": annotations.get(REPLICASET + "ready-replicas", ""),
        "sourceGeneration": annotations.get("kubeadmiral.io/source-generation", ""),
    }
    legible = all(re.fullmatch(r"[+-]?[0-9]+", text) for text in texts.values())
    if not legible or REPLICASET + "name" not in annotations or "observedGeneration" not in live["status"]:
        return None
    digest = {
        "clusterName": name,
        "replicasetName": annotations[REPLICASET + "name"],
        **{key: int(text) for key, text in texts.items() if key != "sourceGeneration"},
        "observedGeneration": live["status"]["observedGeneration"],
        "sourceGeneration": int(texts["sourceGeneration"]),
    }
    return {key: value for key, value in digest.items() if value}


def _job(told: Mapping[str, Json]) -> dict[str, Json]:
    status = _sums(("active", "succeeded", "failed"), told)
    if starts := [one["startTime"] for one in told.values() if one.get("startTime")]:
        status["startTime"] = min(starts)
    complete = sorted(name for name, one in told.items() if one.get("completionTime"))
    failed = sorted(
        name
        for name, one in told.items()
        if name not in complete
        and any(
            condition["type"] == "Failed" and condition["status"] == "True" for condition in one.get("conditions", ())
        )
    )
    if told and len(complete) + len(failed) == len(told):
        words = {
            (True, False): ("Complete", "Completed", f"Job completed in clusters [{','.join(complete)}]"),
            (False, True): ("Failed", "Failed", f"Job failed in clusters [{','.join(failed)}]"),
            (True, True): (
                "Failed",
                "Mixed",
                f"Job completed in clusters [{','.join(complete)}] and failed in member clusters [{','.join(failed)}]",
            ),
        }
        kind, reason, message = words[bool(complete), bool(failed)]
        status["conditions"] = [
            {
                "type": kind,
                "status": "True",
                "reason": reason,
                "message": message,
                "lastProbeTime": NOW,
                "lastTransitionTime": NOW,
            }
        ]
        if not failed:
            status["completionTime"] = max(told[name]["completionTime"] for name in complete)
    return status


def _pod(told: Mapping[str, Json]) -> dict[str, Json]:
    status: dict[str, Json] = {}
    begun = {name: one for name, one in told.items() if one.get("phase")}
    if starts := [one["startTime"] for one in begun.values() if one.get("startTime")]:
        status["startTime"] = min(starts)
    for field in ("initContainerStatuses", "containerStatuses"):
        found = [_container(one, name) for name, status_ in begun.items() for one in status_.get(field) or ()]
        if found:
            status[field] = sorted(found, key=lambda one: str(one["name"]))
    parts = []
    for phase in ("Failed", "Pending", "Running", "Succeeded"):
        names = sorted(name for name, one in told.items() if (one.get("phase") or "Pending") == phase)
        if names:
            status.setdefault("phase", phase)
            parts.append(f"{phase.lower()} in clusters [{','.join(names)}]")
    return status | ({"message": "Pod " + ", and ".join(parts)} if parts else {})


def _container(one: Json, cluster: str) -> dict[str, Json]:
    """As Go writes it: some fields always, the others where they are set."""
    found = {"ready": False, "restartCount": 0, "image": "", "imageID": "", **one, "name": f"{one['name']} ({cluster})"}
    for field in ("state", "lastState"):
        state = dict(one.get(field) or {})
        if "running" in state:
            state["running"] = {"startedAt": None, **state["running"]}
        if "terminated" in state:
            state["terminated"] = {"exitCode": 0, "startedAt": None, "finishedAt": None, **state["terminated"]}
        found[field] = state
    return found
