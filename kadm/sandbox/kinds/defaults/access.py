"""Defaults of RBAC bindings and token requests."""

from __future__ import annotations

from kadm.model.objects import JsonObject

_RBAC = "rbac.authorization.k8s.io"
_TOKEN_LIFETIME_S = 3600


def role_binding(obj: JsonObject) -> None:
    reference = obj["roleRef"]
    reference["apiGroup"] = reference.get("apiGroup") or _RBAC
    for subject in obj.get("subjects") or ():
        if subject["kind"] in ("User", "Group"):
            subject.setdefault("apiGroup", _RBAC)


def token_request(obj: JsonObject) -> None:
    obj["spec"].setdefault("expirationSeconds", _TOKEN_LIFETIME_S)
