from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kadm.sandbox.auth import ADMIN, ANONYMOUS, Action, Authenticator, Authorizer, User, impersonated
from kadm.sandbox.responses import ApiError
from kadm.sandbox.store import Object, Store

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RBAC = "rbac.authorization.k8s.io"
ACCOUNT = {"metadata": {"name": "bot", "namespace": "n", "uid": "u1"}}
BOT = "system:serviceaccount:n:bot"


def a_store() -> Store:
    store = Store()
    store.create("serviceaccounts", ACCOUNT)
    return store


def test_an_account_token_names_its_account() -> None:
    authenticator = Authenticator(a_store(), "secret", clock=lambda: NOW)
    token = authenticator.issue(ACCOUNT, lifetime_s=600, audiences=())
    user = authenticator.user(f"Bearer {token}")
    assert (user.name, user.uid) == (BOT, "u1")
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated")


@pytest.mark.parametrize(
    ("authorization", "user"),
    [
        pytest.param("Bearer secret", ADMIN, id="the administrator"),
        pytest.param(None, ANONYMOUS, id="no header"),
        pytest.param("Basic eDp5", ANONYMOUS, id="a scheme that is not known"),
    ],
)
def test_users(authorization: str | None, user: User) -> None:
    assert Authenticator(a_store(), "secret", clock=lambda: NOW).user(authorization) == user


@pytest.mark.parametrize("fault", ["forged", "expired", "for others", "account gone", "account made again", "no token"])
def test_tokens_that_are_refused(fault: str) -> None:
    store = a_store()
    authenticator = Authenticator(store, "secret", clock=lambda: NOW)
    maker = Authenticator(store, "secret", clock=lambda: NOW) if fault == "forged" else authenticator
    lifetime_s = -1 if fault == "expired" else 600
    audiences = ("others",) if fault == "for others" else ()
    token = maker.issue(ACCOUNT, lifetime_s=lifetime_s, audiences=audiences)
    if fault.startswith("account"):
        store.delete("serviceaccounts", "n", "bot")
    if fault == "account made again":
        store.create("serviceaccounts", {"metadata": {**ACCOUNT["metadata"], "uid": "u2"}})
    with pytest.raises(ApiError) as refused:
        authenticator.user("Bearer é" if fault == "no token" else f"Bearer {token}")
    assert refused.value.code == 401


def a_role(kind: str, **rule: list[str]) -> Object:
    return {"kind": kind, "metadata": {"name": "r", "namespace": "n" if kind == "Role" else ""}, "rules": [rule]}


def a_binding(role: str, **subject: str) -> Object:
    return {"metadata": {"name": "b", "namespace": "n"}, "roleRef": {"kind": role, "name": "r"}, "subjects": [subject]}


@pytest.mark.parametrize(
    ("rule", "action", "allowed"),
    [
        pytest.param({"verbs": ["get"], "resources": ["pods"]}, {"verb": "get", "resource": "pods"}, True, id="named"),
        pytest.param({"verbs": ["get"], "resources": ["pods"]}, {"verb": "list", "resource": "pods"}, False, id="verb"),
        pytest.param(
            {"verbs": ["*"], "resources": ["*"]}, {"verb": "patch", "resource": "pods", "subresource": "status"}, True,
            id="everything",
        ),
        pytest.param(
            {"verbs": ["*"], "resources": ["pods"]}, {"verb": "get", "resource": "pods", "subresource": "log"}, False,
            id="a subresource is named by itself",
        ),
        pytest.param(
            {"verbs": ["*"], "resources": ["*/scale"]},
            {"verb": "get", "resource": "pods", "subresource": "scale"}, True, id="a subresource of all",
        ),
        pytest.param(
            {"verbs": ["get"], "resources": ["pods"], "resourceNames": ["a"]},
            {"verb": "get", "resource": "pods", "name": "b"}, False, id="another name",
        ),
        pytest.param(
            {"verbs": ["get"], "resources": ["pods"]}, {"verb": "get", "resource": "pods", "namespace": "m"}, False,
            id="another namespace",
        ),
    ],
)  # fmt: skip
def test_roles(rule: dict[str, list[str]], action: dict[str, str], allowed: bool) -> None:
    store = a_store()
    store.create(f"roles.{RBAC}", a_role("Role", apiGroups=[""], **rule))
    store.create(f"rolebindings.{RBAC}", a_binding("Role", kind="ServiceAccount", name="bot", namespace="n"))
    wanted = Action(**{"namespace": "n", **action})
    assert Authorizer(store).allows(User(BOT, ()), wanted) is allowed


def test_everyone_may_discover_and_ask_about_themselves() -> None:
    authorizer, user = Authorizer(Store()), User("x", ("system:authenticated",))
    assert authorizer.allows(user, Action(verb="get", path="/apis/apps"))
    review = Action(verb="create", group="authorization.k8s.io", resource="selfsubjectaccessreviews")
    assert authorizer.allows(user, review)
    assert not authorizer.allows(ANONYMOUS, Action(verb="get", path="/api"))


def test_an_impersonated_account_has_its_groups() -> None:
    groups = ("system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated")
    assert impersonated(BOT, ()) == User(BOT, groups)
