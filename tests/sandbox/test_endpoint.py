"""What one member answers, request by request, without HTTP. The wording of answers is pinned by the conversations."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from kadm.sandbox.api import ApiServer
from kadm.sandbox.auth import Authenticator
from kadm.sandbox.endpoint import Endpoint
from kadm.sandbox.exchange import Answer, Request, Stream
from kadm.sandbox.store import Object

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TOKEN = "admin"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/x.io/v1/namespaces/default/widgets"


class Asker:
    """Asks a member as its administrator."""

    def __init__(self) -> None:
        self.api = ApiServer("m", clock=lambda: NOW)
        self._endpoint = Endpoint(self.api, Authenticator(self.api.store, TOKEN, clock=lambda: NOW))

    def request(self, method: str, path: str, body: object = None, **options: Any) -> Answer | Stream:
        sent = {"authorization": f"Bearer {TOKEN}", "user_agent": "test/1", **options}
        raw = b"" if body is None else json.dumps(body).encode()
        return self._endpoint.answer(Request(method=method, path=path, body=raw, **sent))

    def ask(self, method: str, path: str, body: object = None, **options: Any) -> tuple[int, Any]:
        """Status and body of the answer."""
        answer = self.request(method, path, body, **options)
        assert isinstance(answer, Answer)
        return answer.status, answer.body

    def apply(self, path: str, obj: Object, **query: str) -> tuple[int, Any]:
        asked = {"fieldManager": "kadm", **query}
        return self.ask("PATCH", path, obj, query=asked, content_type="application/apply-patch+yaml")


@pytest.fixture
def asker() -> Asker:
    return Asker()


def a_config_map(name: str = "a", **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def a_deployment(replicas: int = 1) -> Object:
    template = {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "d"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}


def a_crd() -> Object:
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {"size": {"type": "integer"}, "n": {"type": "integer", "default": 1}},
            },
            "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
        },
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.replicas"}
    version["subresources"] = {"status": {}, "scale": scale}
    names = {"plural": "widgets", "kind": "Widget"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.x.io"},
        "spec": {"group": "x.io", "scope": "Namespaced", "names": names, "versions": [version]},
    }


def test_an_object_is_created_read_changed_and_deleted(asker: Asker) -> None:
    created, obj = asker.ask("POST", CONFIG_MAPS, a_config_map(k="1"))
    again, _ = asker.ask("POST", CONFIG_MAPS, a_config_map(k="1"))
    patched, new = asker.ask(
        "PATCH", f"{CONFIG_MAPS}/a", {"data": {"k": "2"}}, content_type="application/merge-patch+json"
    )
    stale, _ = asker.ask("PUT", f"{CONFIG_MAPS}/a", {**obj, "data": {"k": "3"}})
    deleted, status = asker.ask("DELETE", f"{CONFIG_MAPS}/a")
    gone, _ = asker.ask("GET", f"{CONFIG_MAPS}/a")
    assert (created, again, patched, stale, deleted, gone) == (201, 409, 200, 409, 200, 404)
    assert (new["data"], new["metadata"]["managedFields"][0]["manager"]) == ({"k": "2"}, "test")
    assert status["details"] == {"name": "a", "kind": "configmaps", "uid": obj["metadata"]["uid"]}


def test_apply_creates_then_changes_nothing_then_meets_a_conflict(asker: Asker) -> None:
    path = f"{CONFIG_MAPS}/a"
    first, made = asker.apply(path, a_config_map(k="1"))
    second, same = asker.apply(path, a_config_map(k="1"))
    conflict, status = asker.apply(path, a_config_map(k="2"), fieldManager="other")
    forced, taken = asker.apply(path, a_config_map(k="2"), fieldManager="other", force="true")
    assert (first, second, conflict, forced) == (201, 200, 409, 200)
    assert same == made
    assert status["details"]["causes"][0]["field"] == ".data.k"
    assert taken["data"] == {"k": "2"}


def test_what_is_not_there_yet_has_no_version(asker: Asker) -> None:
    versioned = {**a_config_map(), "metadata": {"name": "a", "resourceVersion": "1"}}
    code, status = asker.ask("POST", CONFIG_MAPS, versioned)
    assert (code, status.get("reason"), status["message"]) == (
        500,
        None,
        "resourceVersion should not be set on objects to be created",
    )
    assert asker.ask("GET", f"{CONFIG_MAPS}/a")[0] == 404


def test_a_dry_run_leaves_nothing(asker: Asker) -> None:
    before = asker.api.store.revision
    status, obj = asker.ask("POST", CONFIG_MAPS, a_config_map(), dry_run=["All"])
    assert (status, "resourceVersion" in obj["metadata"], asker.api.store.revision) == (201, False, before)


def test_pages_are_of_one_version(asker: Asker) -> None:
    for name in "abc":
        asker.ask("POST", CONFIG_MAPS, a_config_map(name))
    _, first = asker.ask("GET", CONFIG_MAPS, query={"limit": "2"})
    asker.ask("DELETE", f"{CONFIG_MAPS}/c")
    asker.ask("POST", CONFIG_MAPS, a_config_map("d"))
    _, second = asker.ask("GET", CONFIG_MAPS, query={"limit": "2", "continue": first["metadata"]["continue"]})
    names = [item["metadata"]["name"] for page in (first, second) for item in page["items"]]
    assert (names, first["metadata"]["remainingItemCount"]) == (["a", "b", "c"], 1)
    assert "continue" not in second["metadata"]


def test_a_watch_shows_what_enters_and_leaves_the_selection(asker: Asker) -> None:
    _, made = asker.ask("POST", CONFIG_MAPS, {**a_config_map(), "metadata": {"name": "a", "labels": {"x": "1"}}})
    query = {"watch": "1", "resourceVersion": made["metadata"]["resourceVersion"], "labelSelector": "x=1"}
    stream = asker.request("GET", CONFIG_MAPS, query=query)
    assert isinstance(stream, Stream)
    assert stream.watch.events is not None
    for value in ("2", "1"):
        patch = {"metadata": {"labels": {"x": value}}}
        asker.ask("PATCH", f"{CONFIG_MAPS}/a", patch, content_type="application/merge-patch+json")
    seen = []
    while (event := stream.watch.events.take()) is not None:
        notice = stream.watch.notice(event)
        assert notice is not None
        seen.append((notice["type"], notice["object"]["metadata"]["labels"]))
    assert seen == [("DELETED", {"x": "1"}), ("ADDED", {"x": "1"})]


def test_scale_writes_replicas_only(asker: Asker) -> None:
    asker.apply(f"{DEPLOYMENTS}/d", a_deployment(1))
    merge = "application/merge-patch+json"
    status, scale = asker.ask("PATCH", f"{DEPLOYMENTS}/d/scale", {"spec": {"replicas": 3}}, content_type=merge)
    _, live = asker.ask("GET", f"{DEPLOYMENTS}/d")
    assert (status, scale["spec"], live["spec"]["replicas"]) == (200, {"replicas": 3}, 3)
    owners = [(entry["manager"], entry.get("subresource")) for entry in live["metadata"]["managedFields"]]
    assert sorted(owners, key=str) == [("kadm", None), ("test", "scale")]


def test_a_definition_serves_its_kind_until_it_goes(asker: Asker) -> None:
    before, _ = asker.ask("GET", WIDGETS)
    asker.ask("POST", CRDS, a_crd())
    made, widget = asker.ask("POST", WIDGETS, {"metadata": {"name": "w"}, "spec": {"size": 2, "no": 1}})
    scaled, scale = asker.ask("GET", f"{WIDGETS}/w/scale")
    held = {"metadata": {"finalizers": ["x.io/hold"]}}
    merge = "application/merge-patch+json"
    asker.ask("PATCH", f"{WIDGETS}/w", held, content_type=merge)
    asker.ask("DELETE", f"{CRDS}/widgets.x.io")
    holding, _ = asker.ask("GET", f"{CRDS}/widgets.x.io")
    asker.ask("PATCH", f"{WIDGETS}/w", {"metadata": {"finalizers": None}}, content_type=merge)
    gone, _ = asker.ask("GET", f"{CRDS}/widgets.x.io")
    after, _ = asker.ask("GET", WIDGETS)
    assert (before, made, scaled, holding, gone, after) == (404, 201, 200, 200, 404, 404)
    assert (widget["spec"], scale["spec"]) == ({"size": 2, "n": 1}, {"replicas": 2})


def test_unknown_fields_are_warned_about_or_refused(asker: Asker) -> None:
    answer = asker.request("POST", CONFIG_MAPS, {**a_config_map(), "foo": 1})
    assert isinstance(answer, Answer)
    strict, _ = asker.ask("POST", CONFIG_MAPS, {**a_config_map("b"), "foo": 1}, query={"fieldValidation": "Strict"})
    assert (answer.warnings, strict) == (('299 - "unknown field \\"foo\\""',), 400)


@pytest.mark.parametrize(
    ("options", "want"),
    [
        pytest.param({"authorization": None}, 403, id="anonymous"),
        pytest.param({"authorization": "Bearer no"}, 401, id="a wrong token"),
        pytest.param({"impersonated": "nobody"}, 403, id="as somebody without rights"),
        pytest.param({"accept": "text/html"}, 406, id="another representation"),
        pytest.param({"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}, 200, id="a table"),
    ],
)
def test_who_asks_and_for_what(asker: Asker, options: dict[str, Any], want: int) -> None:
    status, _ = asker.ask("GET", CONFIG_MAPS, **options)
    assert status == want


def test_an_impersonated_user_has_the_rights_of_that_user(asker: Asker) -> None:
    review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    _, mine = asker.ask("POST", path, review)
    _, theirs = asker.ask("POST", path, review, impersonated="nobody")
    assert (mine["status"], theirs["status"]) == ({"allowed": True}, {"allowed": False})


@pytest.mark.parametrize("name", ["log", "exec", "attach", "portforward", "proxy"])
def test_there_is_nothing_to_reach_into(asker: Asker, name: str) -> None:
    assert asker.ask("GET", f"/api/v1/namespaces/default/pods/p/{name}")[0] == 501


def test_a_pod_with_a_budget_without_room_is_not_evicted(asker: Asker) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default", "labels": {"a": "b"}}}
    asker.api.store.create("pods", {**pod, "spec": {"nodeName": "n"}, "status": {"phase": "Running"}})
    budget = {"metadata": {"name": "b", "namespace": "default"}, "spec": {"selector": {"matchLabels": {"a": "b"}}}}
    asker.api.store.create("poddisruptionbudgets.policy", {**budget, "status": {"disruptionsAllowed": 0}})
    path = "/api/v1/namespaces/default/pods/p/eviction"
    held, _ = asker.ask("POST", path, {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}})
    live = asker.api.get("poddisruptionbudgets.policy", "default", "b")
    asker.api.store.update("poddisruptionbudgets.policy", {**live, "status": {"disruptionsAllowed": 1}})
    evicted, _ = asker.ask("POST", path, {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}})
    left = asker.api.get("poddisruptionbudgets.policy", "default", "b")["status"]["disruptionsAllowed"]
    assert (held, evicted, left) == (429, 201, 0)
