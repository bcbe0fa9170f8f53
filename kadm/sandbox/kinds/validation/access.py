"""Faults of RBAC objects."""

from __future__ import annotations

from collections.abc import Iterable

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds.field_errors import FieldError, invalid_value, not_supported, required
from kadm.sandbox.kinds.validation import values

_RBAC = "rbac.authorization.k8s.io"


def role(obj: JsonObject) -> list[FieldError]:
    return _rules(obj.get("rules") or (), namespaced=True)


def cluster_role(obj: JsonObject) -> list[FieldError]:
    errors = _rules(obj.get("rules") or (), namespaced=False)
    aggregation = obj.get("aggregationRule")
    if aggregation is not None:
        selectors = aggregation.get("clusterRoleSelectors") or ()
        if not selectors:
            field = "aggregationRule.clusterRoleSelectors"
            errors.append(required(field, "at least one clusterRoleSelector required if aggregationRule is non-nil"))
        for index, selector in enumerate(selectors):
            errors += values.selector(selector, f"aggregationRule.clusterRoleSelectors[{index}]")
    return errors


def _rules(rules: Iterable[JsonObject], *, namespaced: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, rule in enumerate(rules):
        at = f"rules[{index}]"
        if not rule.get("verbs"):
            errors.append(required(f"{at}.verbs", "verbs must contain at least one value"))
        urls = rule.get("nonResourceURLs")
        if urls:
            if namespaced:
                why = "namespaced rules cannot apply to non-resource URLs"
                errors.append(invalid_value(f"{at}.nonResourceURLs", urls, why))
            if any(rule.get(key) for key in ("apiGroups", "resources", "resourceNames")):
                why = "rules cannot apply to both regular resources and non-resource URLs"
                errors.append(invalid_value(f"{at}.nonResourceURLs", urls, why))
            continue
        if not rule.get("apiGroups"):
            errors.append(required(f"{at}.apiGroups", "resource rules must supply at least one api group"))
        if not rule.get("resources"):
            errors.append(required(f"{at}.resources", "resource rules must supply at least one resource"))
    return errors


def role_binding(obj: JsonObject) -> list[FieldError]:
    return _binding(obj, namespaced=True)


def role_binding_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    return role_binding(new) + _same_role(new, old)


def cluster_role_binding(obj: JsonObject) -> list[FieldError]:
    return _binding(obj, namespaced=False)


def cluster_role_binding_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    return cluster_role_binding(new) + _same_role(new, old)


def _binding(obj: JsonObject, *, namespaced: bool) -> list[FieldError]:
    reference = obj["roleRef"]
    errors: list[FieldError] = []
    if reference.get("apiGroup") != _RBAC:
        errors.append(not_supported("roleRef.apiGroup", reference.get("apiGroup"), (_RBAC,)))
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)
    if reference.get("kind") not in kinds:
        errors.append(not_supported("roleRef.kind", reference.get("kind"), kinds))
    if not reference.get("name"):
        errors.append(required("roleRef.name"))
    for index, subject in enumerate(obj.get("subjects") or ()):
        errors += _subject(subject, f"subjects[{index}]", namespaced=namespaced)
    return errors


def _subject(subject: JsonObject, field: str, *, namespaced: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    if not subject.get("name"):
        errors.append(required(f"{field}.name"))
    group = subject.get("apiGroup") or ""
    match subject.get("kind"):
        case "ServiceAccount":
            if group:
                errors.append(not_supported(f"{field}.apiGroup", group, ("",)))
            if not namespaced and not subject.get("namespace"):
                errors.append(required(f"{field}.namespace"))
        case "User" | "Group":
            if group != _RBAC:
                errors.append(not_supported(f"{field}.apiGroup", group, (_RBAC,)))
        case other:
            errors.append(not_supported(f"{field}.kind", other, ("ServiceAccount", "User", "Group")))
    return errors


def _same_role(new: JsonObject, old: JsonObject) -> list[FieldError]:
    reference = new["roleRef"]
    if reference == old["roleRef"]:
        return []
    # the message shows the server's internal struct, whose fields have no JSON names
    shown = {"APIGroup": reference.get("apiGroup"), "Kind": reference.get("kind"), "Name": reference.get("name")}
    return [invalid_value("roleRef", shown, "cannot change roleRef")]
