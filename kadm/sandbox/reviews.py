"""Reviews: questions about users and rights that are asked by creating an object, and token requests.

Source: the authorization and authentication registries of Kubernetes 1.36.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from kadm.sandbox import managed_fields
from kadm.sandbox.auth import Action, Authenticator, Authorizer, User, user_info
from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.responses import Cause, bad_request, invalid
from kadm.sandbox.schema import Schema
from kadm.sandbox.store import Object
from kadm.sandbox.writes import rfc3339

DEFAULT_TOKEN_S = 3600
SHORTEST_TOKEN_S = 600
LONGEST_TOKEN_S = 1 << 32


def review(
    kind: ResourceKind,
    obj: Object,
    *,
    user: User,
    namespace: str,
    authenticator: Authenticator,
    authorizer: Authorizer,
    manager: str,
    now: str,
    schema: Schema,
) -> Object:
    """The review with its answer in ``status``. Raises ApiError 400 or 422."""
    spec = obj.get("spec") or {}
    match kind.kind:
        case "SelfSubjectAccessReview":
            status = _access(authorizer, user, spec)
        case "SubjectAccessReview" | "LocalSubjectAccessReview":
            asked = User(spec.get("user") or "", tuple(spec.get("groups") or ()), spec.get("uid") or "")
            if not asked.name and not asked.groups:
                cause = Cause(
                    "FieldValueInvalid",
                    'Invalid value: "": at least one of user or group must be specified',
                    "spec.user",
                )
                raise invalid("", kind.group, "", [cause])
            attributes = spec.get("resourceAttributes") or {}
            if kind.kind == "LocalSubjectAccessReview" and attributes.get("namespace") != namespace:
                raise bad_request(f"spec.resourceAttributes.namespace must match namespace: {namespace}")
            status = _access(authorizer, asked, spec)
        case "SelfSubjectRulesReview":
            status = _rules(authorizer, user, spec)
        case "SelfSubjectReview":
            status = {"userInfo": user_info(user)}
        case "TokenReview":
            status = _token(authenticator, spec)
        case _:
            raise bad_request(f"{kind.kind} cannot be created")
    tracked = managed_fields.track_update(
        None, {key: value for key, value in obj.items() if key != "status"}, schema=schema, manager=manager, now=now
    )
    metadata = {key: value for key, value in tracked["metadata"].items() if key in ("managedFields", "name")}
    if kind.kind == "SelfSubjectReview":
        metadata["creationTimestamp"] = now
    return {**tracked, "metadata": metadata, "status": status}


def _access(authorizer: Authorizer, user: User, spec: Object) -> Object:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if (resource is None) == (path is None):
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        shown = "null" if resource is None else "{…}"
        raise invalid(
            "",
            "authorization.k8s.io",
            "",
            [Cause("FieldValueInvalid", f"Invalid value: {shown}: {why}", "spec.resourceAttributes")],
        )
    if path is not None:
        action = Action(verb=path.get("verb", ""), path=path.get("path", ""))
    else:
        assert resource is not None
        action = Action(
            verb=resource.get("verb", ""),
            group=resource.get("group", ""),
            resource=resource.get("resource", ""),
            subresource=resource.get("subresource", ""),
            namespace=resource.get("namespace", ""),
            name=resource.get("name", ""),
        )
    return {"allowed": authorizer.allows(user, action)}


def _rules(authorizer: Authorizer, user: User, spec: Object) -> Object:
    namespace = spec.get("namespace") or ""
    if not namespace:
        raise bad_request("no namespace on request")
    resources: list[Object] = []
    paths: list[Object] = []
    for granted in authorizer.rules(user, namespace):
        rule = granted.rule
        if rule.get("nonResourceURLs"):
            paths.append({"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]})
        else:
            shown = ("verbs", "apiGroups", "resources", "resourceNames")
            resources.append({key: rule[key] for key in shown if rule.get(key)})
    return {"resourceRules": resources, "nonResourceRules": paths, "incomplete": False}


def _token(authenticator: Authenticator, spec: Object) -> Object:
    audiences = tuple(spec.get("audiences") or ())
    user = authenticator.whose(spec.get("token") or "", audiences)
    if user is None:
        return {"user": {}, "error": "invalid bearer token"}
    return {"authenticated": True, "user": user_info(user), "audiences": list(audiences or authenticator.audiences)}


def token_request(obj: Object, account: Object, *, authenticator: Authenticator, now: datetime, manager: str) -> Object:
    """A TokenRequest with the token of a ServiceAccount in its status. Raises ApiError 422."""
    spec = obj.get("spec") or {}
    lifetime_s = spec.get("expirationSeconds")
    if lifetime_s is None:
        lifetime_s = DEFAULT_TOKEN_S
    faults = []
    if lifetime_s < SHORTEST_TOKEN_S:
        faults.append(f"Invalid value: {lifetime_s}: may not specify a duration less than 10 minutes")
    if lifetime_s > LONGEST_TOKEN_S:
        faults.append(f"Invalid value: {lifetime_s}: may not specify a duration larger than 2^32 seconds")
    if faults:
        causes = [Cause("FieldValueInvalid", fault, "spec.expirationSeconds") for fault in faults]
        raise invalid("TokenRequest", "authentication.k8s.io", "", causes)
    audiences = tuple(spec.get("audiences") or ())
    token = authenticator.issue(account, lifetime_s=lifetime_s, audiences=audiences)
    expires = rfc3339(now + timedelta(seconds=lifetime_s))
    metadata = account["metadata"]
    return {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
            "creationTimestamp": rfc3339(now),
            "managedFields": [
                {
                    "manager": manager,
                    "operation": "Update",
                    "apiVersion": "authentication.k8s.io/v1",
                    "time": rfc3339(now),
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:spec": {"f:expirationSeconds": {}}},
                    "subresource": "token",
                }
            ],
        },
        "spec": {
            "audiences": list(audiences or authenticator.audiences),
            "expirationSeconds": lifetime_s,
            "boundObjectRef": spec.get("boundObjectRef"),
        },
        "status": {"token": token, "expirationTimestamp": expires},
    }
