"""Defaults of what extends the API server: CRDs, webhooks, admission policies, API services."""

from __future__ import annotations

from collections.abc import Iterable

from kadm.model.objects import JsonObject

_HTTPS_PORT = 443


def custom_resource_definition(obj: JsonObject) -> None:
    spec = obj["spec"]
    names = spec["names"]
    kind = names.get("kind") or ""
    if not names.get("singular"):
        names["singular"] = kind.lower()
    if kind and not names.get("listKind"):
        names["listKind"] = f"{kind}List"
    conversion = spec.setdefault("conversion", {})
    conversion["strategy"] = conversion.get("strategy") or "None"
    service = ((conversion.get("webhook") or {}).get("clientConfig") or {}).get("service")
    if service:
        service.setdefault("port", _HTTPS_PORT)


def webhooks(obj: JsonObject) -> None:
    """The defaults that validating and mutating webhooks share."""
    for webhook in obj.get("webhooks") or ():
        webhook.setdefault("failurePolicy", "Fail")
        webhook.setdefault("matchPolicy", "Equivalent")
        webhook.setdefault("namespaceSelector", {})
        webhook.setdefault("objectSelector", {})
        webhook.setdefault("timeoutSeconds", 10)
        service = webhook["clientConfig"].get("service")
        if service:
            service.setdefault("port", _HTTPS_PORT)
        _rules(webhook.get("rules") or ())


def mutating_webhooks(obj: JsonObject) -> None:
    webhooks(obj)
    for webhook in obj.get("webhooks") or ():
        webhook.setdefault("reinvocationPolicy", "Never")


def admission_policy(obj: JsonObject) -> None:
    spec = obj["spec"]
    spec.setdefault("failurePolicy", "Fail")
    if spec.get("matchConstraints") is not None:
        _match_resources(spec["matchConstraints"])


def admission_policy_binding(obj: JsonObject) -> None:
    spec = obj["spec"]
    if spec.get("matchResources") is not None:
        _match_resources(spec["matchResources"])


def api_service(obj: JsonObject) -> None:
    service = obj["spec"].get("service")
    if service:
        service.setdefault("port", _HTTPS_PORT)


def _match_resources(match: JsonObject) -> None:
    match.setdefault("matchPolicy", "Equivalent")
    match.setdefault("namespaceSelector", {})
    match.setdefault("objectSelector", {})
    _rules(match.get("resourceRules") or ())
    _rules(match.get("excludeResourceRules") or ())


def _rules(rules: Iterable[JsonObject]) -> None:
    for rule in rules:
        rule.setdefault("scope", "*")
