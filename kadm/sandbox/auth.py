"""Who asks, and whether they may: bearer tokens, ServiceAccount tokens, and RBAC.

A member knows one administrator (a random token, group ``system:masters``, who may everything) and its
ServiceAccounts. Tokens of ServiceAccounts are JSON web tokens signed with a key of the member (HS256): nothing but
this process checks them. RBAC reads roles and bindings from the store at each request. Source: the Kubernetes 1.36
RBAC authorizer and its bootstrap roles ``system:discovery`` and ``system:public-info-viewer``.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta

import msgspec

from kadm.sandbox.responses import ApiError, forbidden, unauthorized
from kadm.sandbox.store import Object, Store

AUDIENCE = "https://kubernetes.default.svc.cluster.local"
MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"


class User(msgspec.Struct, frozen=True):
    """Who makes a request."""

    name: str
    groups: tuple[str, ...]
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = {}


ADMIN = User("kubernetes-admin", (MASTERS, AUTHENTICATED))
ANONYMOUS = User("system:anonymous", (UNAUTHENTICATED,))


def impersonated(name: str, groups: tuple[str, ...]) -> User:
    """The user of these ``Impersonate-`` headers. A ServiceAccount without groups has those of its tokens."""
    if not groups and name.startswith("system:serviceaccount:"):
        namespace = name.split(":")[2]
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    if name == ANONYMOUS.name or AUTHENTICATED in groups:
        return User(name, groups)
    return User(name, (*groups, AUTHENTICATED))


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """What a request wants to do: to a resource, or (``path``) to a path that is no resource."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


class Rule(msgspec.Struct, frozen=True):
    """A rule that a role grants; ``namespace`` "" is the whole cluster."""

    rule: Object
    namespace: str


def _part(value: Object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


class Authenticator:
    """Makes and checks the tokens of one member."""

    audiences = (AUDIENCE,)
    """Whom a token is for that names nobody."""

    def __init__(self, store: Store, admin_token: str, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._admin_token = admin_token
        self._clock = clock
        self._key = secrets.token_bytes(32)

    def user(self, authorization: str | None) -> User:
        """Who sends this ``Authorization`` header; without a bearer token anonymous. Raises ApiError 401."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            return ANONYMOUS
        found = self.whose(token.strip())
        if found is None:
            raise unauthorized()
        return found

    def whose(self, token: str, audiences: tuple[str, ...] = ()) -> User | None:
        """Whose token this is, for one of these audiences (none: the API server); None if nobody's."""
        if hmac.compare_digest(token.encode(), self._admin_token.encode()):
            return ADMIN
        return self._account(token, audiences or self.audiences)

    def issue(self, account: Object, *, lifetime_s: int, audiences: tuple[str, ...]) -> str:
        """A token of a ServiceAccount; no audiences means the API server's own."""
        metadata = account["metadata"]
        now = self._clock()
        claims = {
            "aud": list(audiences or self.audiences),
            "exp": int((now + timedelta(seconds=lifetime_s)).timestamp()),
            "iat": int(now.timestamp()),
            "iss": AUDIENCE,
            "jti": secrets.token_hex(16),
            "kubernetes.io": {
                "namespace": metadata["namespace"],
                "serviceaccount": {"name": metadata["name"], "uid": metadata["uid"]},
            },
            "sub": f"system:serviceaccount:{metadata['namespace']}:{metadata['name']}",
        }
        signed = f"{_part({'alg': 'HS256', 'typ': 'JWT'})}.{_part(claims)}"
        return f"{signed}.{self._signature(signed)}"

    def _account(self, token: str, audiences: tuple[str, ...]) -> User | None:
        """The ServiceAccount whose token this is; None if it is forged, expired, for others, or its account is gone."""
        signed, _, signature = token.rpartition(".")
        if not signed or not hmac.compare_digest(signature.encode(), self._signature(signed).encode()):
            return None
        claims = json.loads(_decoded(signed.partition(".")[2]))
        bound = claims["kubernetes.io"]
        namespace, account = bound["namespace"], bound["serviceaccount"]
        live = self._store.get("serviceaccounts", namespace, account["name"])
        if live is None or live["metadata"]["uid"] != account["uid"]:
            return None
        if claims["exp"] < self._clock().timestamp() or not set(claims["aud"]) & set(audiences):
            return None
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
        extra = {"authentication.kubernetes.io/credential-id": (f"JTI={claims['jti']}",)}
        return User(claims["sub"], groups, account["uid"], extra)

    def _signature(self, signed: str) -> str:
        digest = hmac.new(self._key, signed.encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


_DISCOVERY_PATHS = (
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/readyz",
    "/version",
    "/version/",
)
_PUBLIC_PATHS = ("/healthz", "/livez", "/readyz", "/version", "/version/")
_SELF_REVIEWS = {
    "apiGroups": ["authorization.k8s.io", "authentication.k8s.io"],
    "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"],
    "verbs": ["create"],
}
_BOOTSTRAP: Mapping[str, tuple[Object, ...]] = {
    MASTERS: (
        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
        {"verbs": ["*"], "nonResourceURLs": ["*"]},
    ),
    AUTHENTICATED: (
        {"verbs": ["get"], "nonResourceURLs": list(_DISCOVERY_PATHS)},
        _SELF_REVIEWS,
    ),
    UNAUTHENTICATED: ({"verbs": ["get"], "nonResourceURLs": list(_PUBLIC_PATHS)},),
}
"""What groups may without any binding in the store."""

_RBAC = "rbac.authorization.k8s.io"


class Authorizer:
    """Decides by the roles and bindings in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def allows(self, user: User, action: Action) -> bool:
        """Whether the user may do this."""
        if MASTERS in user.groups:
            return True
        return any(_permits(granted.rule, action) for granted in self.rules(user, action.namespace))

    def check(self, user: User, action: Action) -> None:
        """Raise ApiError 403 unless the user may do this."""
        if self.allows(user, action):
            return
        if action.path:
            message = f'forbidden: User "{user.name}" cannot {action.verb} path "{action.path}"'
            raise ApiError(403, "Forbidden", message, {})
        resource = f"{action.resource}/{action.subresource}" if action.subresource else action.resource
        where = f'in the namespace "{action.namespace}"' if action.namespace else "at the cluster scope"
        why = f'User "{user.name}" cannot {action.verb} resource "{resource}" in API group "{action.group}" {where}'
        raise forbidden(action.resource, action.group, "" if action.verb == "create" else action.name, why)

    def rules(self, user: User, namespace: str) -> Iterator[Rule]:
        """Everything that is granted to the user for the cluster, and for ``namespace`` unless that is ""."""
        for group in user.groups:
            for rule in _BOOTSTRAP.get(group, ()):
                yield Rule(rule, "")
        for binding in self._store.list(f"clusterrolebindings.{_RBAC}"):
            if _binds(binding, user, ""):
                yield from (Rule(rule, "") for rule in self._role(binding["roleRef"], ""))
        if not namespace:
            return
        for binding in self._store.list(f"rolebindings.{_RBAC}", namespace):
            if _binds(binding, user, namespace):
                yield from (Rule(rule, namespace) for rule in self._role(binding["roleRef"], namespace))

    def _role(self, ref: Object, namespace: str) -> list[Object]:
        resource, scope = ("roles", namespace) if ref["kind"] == "Role" else ("clusterroles", "")
        role = self._store.get(f"{resource}.{_RBAC}", scope, ref["name"])
        return [] if role is None else role.get("rules") or []


def _binds(binding: Object, user: User, namespace: str) -> bool:
    for subject in binding.get("subjects") or ():
        match subject["kind"]:
            case "User":
                if subject["name"] == user.name:
                    return True
            case "Group":
                if subject["name"] in user.groups:
                    return True
            case "ServiceAccount":
                place = subject.get("namespace") or namespace
                if user.name == f"system:serviceaccount:{place}:{subject['name']}":
                    return True
    return False


def _has(values: list[str] | None, wanted: str) -> bool:
    return values is not None and ("*" in values or wanted in values)


def _permits(rule: Object, action: Action) -> bool:
    if not _has(rule.get("verbs"), action.verb):
        return False
    if action.path:
        return any(
            pattern in ("*", action.path) or (pattern.endswith("*") and action.path.startswith(pattern[:-1]))
            for pattern in rule.get("nonResourceURLs") or ()
        )
    if not _has(rule.get("apiGroups"), action.group):
        return False
    resources = rule.get("resources") or []
    wanted = f"{action.resource}/{action.subresource}" if action.subresource else action.resource
    if not (_has(resources, wanted) or (action.subresource and f"*/{action.subresource}" in resources)):
        return False
    names = rule.get("resourceNames")
    return not names or action.name in names


def user_info(user: User) -> Object:
    """A user as reviews show it."""
    info: Object = {"username": user.name, "groups": list(user.groups)}
    if user.uid:
        info["uid"] = user.uid
    if user.extra:
        info["extra"] = {key: list(values) for key, values in user.extra.items()}
    return info
