"""Faults of what runs pods."""

from __future__ import annotations

from kadm.model.objects import JsonObject, JsonValue
from kadm.sandbox.kinds.field_errors import FieldError, forbidden, invalid_value, not_supported, required
from kadm.sandbox.kinds.validation import pods, values
from kadm.sandbox.label_selectors import selects

_MUTABLE_IN_STATEFUL_SET = (
    "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
)  # fmt: skip
_STATEFUL_SET_TEXT = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
_MAX_CRON_JOB_NAME = 52


def deployment(obj: JsonObject) -> list[FieldError]:
    spec = obj["spec"]
    errors = values.not_negative(spec.get("replicas"), "spec.replicas")
    errors += _selector(spec.get("selector"), "deployment")
    errors += _template(spec, "ReplicaSet")
    errors += _deployment_strategy(spec["strategy"])
    errors += values.not_negative(spec.get("minReadySeconds"), "spec.minReadySeconds")
    errors += values.not_negative(spec.get("revisionHistoryLimit"), "spec.revisionHistoryLimit")
    deadline = spec.get("progressDeadlineSeconds")
    errors += values.not_negative(deadline, "spec.progressDeadlineSeconds")
    if deadline is not None and deadline <= spec.get("minReadySeconds", 0):
        errors.append(invalid_value("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"))
    return errors


def deployment_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    return deployment(new) + _same_selector(new, old)


def replica_set(obj: JsonObject) -> list[FieldError]:
    spec = obj["spec"]
    errors = values.not_negative(spec.get("replicas"), "spec.replicas")
    errors += values.not_negative(spec.get("minReadySeconds"), "spec.minReadySeconds")
    errors += _selector(spec.get("selector"), "ReplicaSet")
    return errors + _template(spec, "ReplicaSet")


def replica_set_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    return replica_set(new) + _same_selector(new, old)


def replication_controller(obj: JsonObject) -> list[FieldError]:
    spec = obj["spec"]
    errors = values.not_negative(spec.get("replicas"), "spec.replicas")
    selector = spec.get("selector")
    if not selector:
        errors.append(required("spec.selector"))
    if spec.get("template") is None:
        return [*errors, required("spec.template")]
    return errors + _template({**spec, "selector": {"matchLabels": selector or {}}}, "ReplicationController")


def stateful_set(obj: JsonObject) -> list[FieldError]:
    spec = obj["spec"]
    errors = values.one_of(spec.get("podManagementPolicy"), "spec.podManagementPolicy", ("OrderedReady", "Parallel"))
    strategy = spec["updateStrategy"]
    if strategy.get("type") == "OnDelete" and strategy.get("rollingUpdate") is not None:
        why = "only allowed for updateStrategy 'RollingUpdate'"
        errors.append(invalid_value("spec.updateStrategy.rollingUpdate", strategy["rollingUpdate"], why))
    elif strategy.get("type") not in ("OnDelete", "RollingUpdate"):
        why = "must be 'RollingUpdate' or 'OnDelete'"
        errors.append(invalid_value("spec.updateStrategy", strategy, why))
    partition = (strategy.get("rollingUpdate") or {}).get("partition")
    errors += values.not_negative(partition, "spec.updateStrategy.rollingUpdate.partition")
    for key in ("whenDeleted", "whenScaled"):
        field = f"spec.persistentVolumeClaimRetentionPolicy.{key}"
        errors += values.one_of(spec["persistentVolumeClaimRetentionPolicy"].get(key), field, ("Delete", "Retain"))
    errors += values.not_negative(spec.get("replicas"), "spec.replicas")
    errors += values.not_negative(spec.get("minReadySeconds"), "spec.minReadySeconds")
    errors += values.not_negative((spec.get("ordinals") or {}).get("start"), "spec.ordinals.start")
    errors += _selector(spec.get("selector"), "statefulset")
    return errors + _template(spec, "StatefulSet", deep=False)


def stateful_set_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    errors = stateful_set(new)
    if _without(new["spec"], _MUTABLE_IN_STATEFUL_SET) != _without(old["spec"], _MUTABLE_IN_STATEFUL_SET):
        errors.append(forbidden("spec", _STATEFUL_SET_TEXT))
    return errors


def daemon_set(obj: JsonObject) -> list[FieldError]:
    spec = obj["spec"]
    errors = _selector(spec.get("selector"), "daemonset")
    errors += _template(spec, "DaemonSet")
    errors += values.not_negative(spec.get("minReadySeconds"), "spec.minReadySeconds")
    strategy = spec["updateStrategy"]
    field = "spec.updateStrategy"
    if strategy.get("type") == "RollingUpdate":
        rolling = strategy.get("rollingUpdate") or {}
        unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
        errors += values.count_or_percent(unavailable, f"{field}.rollingUpdate.maxUnavailable", at_most_all=True)
        errors += values.count_or_percent(surge, f"{field}.rollingUpdate.maxSurge", at_most_all=True)
        if values.is_zero(unavailable) and values.is_zero(surge):
            errors.append(required(f"{field}.rollingUpdate.maxUnavailable", "cannot be 0 when maxSurge is 0"))
        elif not values.is_zero(unavailable) and not values.is_zero(surge):
            why = "may not be set when maxUnavailable is non-zero"
            errors.append(invalid_value(f"{field}.rollingUpdate.maxSurge", surge, why))
    elif strategy.get("type") != "OnDelete":
        errors.append(not_supported(f"{field}.type", strategy.get("type"), ("RollingUpdate", "OnDelete")))
    return errors + values.not_negative(spec.get("revisionHistoryLimit"), "spec.revisionHistoryLimit")


def daemon_set_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    return daemon_set(new) + _same_selector(new, old)


def job(obj: JsonObject) -> list[FieldError]:
    return job_spec(obj["spec"], "spec", generated=True)


def job_spec(spec: JsonObject, field: str, *, generated: bool) -> list[FieldError]:
    """The faults of a job's spec; ``generated`` says that the server has given it its selector."""
    errors: list[FieldError] = []
    for key in ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"):
        errors += values.not_negative(spec.get(key), f"{field}.{key}")
    if spec.get("completionMode") is not None:
        errors += values.one_of(spec["completionMode"], f"{field}.completionMode", ("Indexed", "NonIndexed"))
        if spec["completionMode"] == "Indexed" and spec.get("completions") is None:
            errors.append(required(f"{field}.completions", "when completion mode is Indexed"))
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    if generated:
        if spec.get("selector") is None:
            errors.append(required(f"{field}.selector"))
        errors += values.selector(spec.get("selector"), f"{field}.selector")
        if not selects(spec.get("selector"), labels):
            why = "`selector` does not match template `labels`"
            errors.append(invalid_value(f"{field}.template.metadata.labels", labels, why))
    else:
        if spec.get("selector") is not None:
            errors.append(invalid_value(f"{field}.selector", spec["selector"], "`selector` will be auto-generated"))
        if spec.get("manualSelector"):
            errors.append(not_supported(f"{field}.manualSelector", True, ("nil", "false")))
    errors += pods.template(spec["template"], f"{field}.template")
    policy = (spec["template"].get("spec") or {}).get("restartPolicy")
    allowed = ("Never",) if spec.get("podFailurePolicy") else ("OnFailure", "Never")
    if policy not in allowed:
        errors.append(not_supported(f"{field}.template.spec.restartPolicy", policy, allowed))
    return errors


def job_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    errors = job(new)
    spec, was = new["spec"], old["spec"]
    elastic = was.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")
    if not elastic:
        errors += values.unchanged(spec.get("completions"), was.get("completions"), "spec.completions")
    errors += values.unchanged(spec.get("selector"), was.get("selector"), "spec.selector")
    errors += _same_job_template(spec, old)
    for key in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        errors += values.unchanged(spec.get(key), was.get(key), f"spec.{key}")
    return errors


def _same_job_template(spec: JsonObject, old: JsonObject) -> list[FieldError]:
    """While a job is suspended and has not started, where its pods may run can still be changed."""
    new_template, old_template = spec["template"], old["spec"]["template"]
    suspended = old["spec"].get("suspend") and not old["status"].get("startTime")
    free = ("affinity", "nodeSelector", "tolerations", "schedulingGates") if suspended else ()
    errors: list[FieldError] = []
    if not suspended:
        errors += values.unchanged(new_template.get("metadata"), old_template.get("metadata"), "spec.template.metadata")
    new_spec, old_spec = _without(new_template["spec"], free), _without(old_template["spec"], free)
    return errors + values.unchanged(new_spec, old_spec, "spec.template.spec")


def cron_job(obj: JsonObject) -> list[FieldError]:
    errors = _cron_job_spec(obj["spec"])
    if len(obj["metadata"].get("name") or "") > _MAX_CRON_JOB_NAME:
        why = f"must be no more than {_MAX_CRON_JOB_NAME} characters"
        errors.append(invalid_value("metadata.name", obj["metadata"]["name"], why))
    return errors


def _cron_job_spec(spec: JsonObject) -> list[FieldError]:
    errors: list[FieldError] = []
    schedule = spec.get("schedule") or ""
    if not schedule:
        errors.append(required("spec.schedule"))
    elif not schedule.startswith("@") and len(schedule.split()) != 5:
        count = len(schedule.split())
        why = f"expected exactly 5 fields, found {count}: [{' '.join(schedule.split())}]"
        errors.append(invalid_value("spec.schedule", schedule, why))
    errors += values.not_negative(spec.get("startingDeadlineSeconds"), "spec.startingDeadlineSeconds")
    errors += values.one_of(spec.get("concurrencyPolicy"), "spec.concurrencyPolicy", ("Allow", "Forbid", "Replace"))
    for key in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        errors += values.not_negative(spec.get(key), f"spec.{key}")
    return errors + job_spec(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec", generated=False)


def _selector(selector: JsonValue, kind: str) -> list[FieldError]:
    if selector is None:
        return [required("spec.selector")]
    errors = values.selector(selector, "spec.selector")
    if values.is_empty_selector(selector):
        errors.append(invalid_value("spec.selector", selector, f"empty selector is invalid for {kind}"))
    return errors


def _template(spec: JsonObject, kind: str, *, deep: bool = True) -> list[FieldError]:
    """The faults of the template of a controller that keeps its pods running.

    ``deep`` False leaves the containers unread, as a server does for StatefulSets: mounts may name claims to come.
    """
    template = spec["template"]
    labels = (template.get("metadata") or {}).get("labels") or {}
    errors: list[FieldError] = []
    if not selects(spec.get("selector"), labels):
        why = "`selector` does not match template `labels`"
        errors.append(invalid_value("spec.template.metadata.labels", labels or None, why))
    errors += pods.template(template, "spec.template") if deep else pods.template_metadata(template, "spec.template")
    pod = template.get("spec") or {}
    if pod.get("restartPolicy") in ("OnFailure", "Never"):
        errors.append(not_supported("spec.template.spec.restartPolicy", pod["restartPolicy"], ("Always",)))
    if pod.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(forbidden("spec.template.spec.activeDeadlineSeconds", why))
    return errors


def _deployment_strategy(strategy: JsonObject) -> list[FieldError]:
    field = "spec.strategy"
    rolling = strategy.get("rollingUpdate")
    match strategy.get("type"):
        case "Recreate":
            if rolling is None:
                return []
            return [forbidden(f"{field}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")]
        case "RollingUpdate":
            unavailable, surge = (rolling or {}).get("maxUnavailable"), (rolling or {}).get("maxSurge")
            at = f"{field}.rollingUpdate.maxUnavailable"
            errors = values.count_or_percent(unavailable, at, at_most_all=True)
            errors += values.count_or_percent(surge, f"{field}.rollingUpdate.maxSurge")
            if values.is_zero(unavailable) and values.is_zero(surge):
                errors.append(invalid_value(at, unavailable, "may not be 0 when `maxSurge` is 0"))
            return errors
        case other:
            return [not_supported(f"{field}.type", other, ("Recreate", "RollingUpdate"))]


def _same_selector(new: JsonObject, old: JsonObject) -> list[FieldError]:
    return values.unchanged(new["spec"].get("selector"), old["spec"].get("selector"), "spec.selector")


def _without(value: JsonObject, keys: tuple[str, ...]) -> JsonObject:
    return {key: item for key, item in value.items() if key not in keys}


def pod_template(obj: JsonObject) -> list[FieldError]:
    return pods.template(obj["template"], "template")


def controller_revision_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    return values.unchanged(new.get("data"), old.get("data"), "data")
