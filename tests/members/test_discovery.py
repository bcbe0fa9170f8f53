"""What a member serves, by both ways of telling it, and what is unknown of it."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.errors import MemberRefused
from kadm.members.discovery import Discovered, discover
from kadm.model.observation import ApiResource
from tests.members.fake_member import FakeMember, always, always_json, run, serving, status

DEPLOYMENTS = ApiResource(
    group="apps",
    version="v1",
    kind="Deployment",
    plural="deployments",
    namespaced=True,
    verbs=("get", "list"),
    short_names=("deploy",),
)
NODES = ApiResource(group="", version="v1", kind="Node", plural="nodes", namespaced=False, verbs=("list",))


async def discovered(member: FakeMember) -> Discovered:
    async with serving(member), member.connection(request_timeout_s=2) as connection:
        return await discover(connection)


def aggregated(group: str, version: str, *resources: dict[str, Any], freshness: str = "Current") -> dict[str, Any]:
    name = {"name": group} if group else {}
    return {"metadata": name, "versions": [{"version": version, "freshness": freshness, "resources": [*resources]}]}


def group_list(*groups: dict[str, Any]) -> Any:
    return always_json({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [*groups]})


NODES_SERVED = {
    "resource": "nodes",
    "responseKind": {"group": "", "version": "v1", "kind": "Node"},
    "scope": "Cluster",
    "verbs": ["list"],
    "subresources": [{"subresource": "status", "verbs": ["get"]}],
}


def test_aggregated_discovery_costs_two_requests() -> None:
    deployments = {
        "resource": "deployments",
        "responseKind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "scope": "Namespaced",
        "shortNames": ["deploy"],
        "verbs": ["list", "get"],
    }
    shell = {"resource": "evictions", "scope": "Namespaced", "verbs": None, "responseKind": None}
    member = FakeMember(
        answers={
            ("GET", "/api"): group_list(aggregated("", "v1", NODES_SERVED)),
            ("GET", "/apis"): group_list(
                aggregated("apps", "v1", deployments, shell),
                aggregated("metrics.k8s.io", "v1beta1", freshness="Stale"),
                {"metadata": {"name": "empty.io"}, "versions": None},
            ),
        }
    )
    assert run(discovered(member)) == Discovered(
        (NODES, DEPLOYMENTS),
        {"metrics.k8s.io/v1beta1": "its API server does not answer; what it serves may be out of date"},
    )
    assert sorted(member.requests) == ["GET /api", "GET /apis"]


def test_an_old_member_is_asked_per_group_version() -> None:
    def resource_list(*resources: dict[str, Any]) -> Any:
        return always_json({"kind": "APIResourceList", "groupVersion": "x", "resources": [*resources]})

    member = FakeMember(
        answers={
            ("GET", "/api"): always_json({"kind": "APIVersions", "versions": ["v1"]}),
            ("GET", "/apis"): always_json(
                {
                    "kind": "APIGroupList",
                    "groups": [
                        {"name": "apps", "versions": [{"groupVersion": "apps/v1", "version": "v1"}]},
                        {"name": "metrics.k8s.io", "versions": [{"groupVersion": "metrics.k8s.io/v1beta1"}]},
                    ],
                }
            ),
            ("GET", "/api/v1"): resource_list(
                {"name": "nodes", "kind": "Node", "namespaced": False, "verbs": ["list"]},
                {"name": "nodes/status", "kind": "Node", "namespaced": False, "verbs": ["get"]},
            ),
            ("GET", "/apis/apps/v1"): resource_list(
                {
                    "name": "deployments",
                    "kind": "Deployment",
                    "namespaced": True,
                    "verbs": ["list", "get"],
                    "shortNames": ["deploy"],
                },
                {
                    "name": "deployments/scale",
                    "kind": "Scale",
                    "group": "autoscaling",
                    "version": "v1",
                    "namespaced": True,
                    "verbs": ["get"],
                },
            ),
            ("GET", "/apis/metrics.k8s.io/v1beta1"): always(lambda: status(404, "NotFound", "gone")),
        }
    )
    assert run(discovered(member)) == Discovered((NODES, DEPLOYMENTS), {"metrics.k8s.io/v1beta1": "gone"})


def test_without_the_list_of_groups_nothing_is_known() -> None:
    member = FakeMember(
        answers={
            ("GET", "/api"): always_json({"kind": "APIVersions", "versions": []}),
            ("GET", "/apis"): always(lambda: status(403, "Forbidden")),
        }
    )
    with pytest.raises(MemberRefused):
        run(discovered(member))


def test_members_that_serve_the_same_share_what_is_known_of_it() -> None:
    groups = {("GET", "/api"): group_list(aggregated("", "v1", NODES_SERVED)), ("GET", "/apis"): group_list()}
    one, other = (run(discovered(FakeMember(answers=dict(groups)))) for _ in range(2))
    assert one.resources == (NODES,)
    assert one.resources[0] is other.resources[0]
