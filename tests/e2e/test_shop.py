"""The example that users are sent to, on the members that it names: from validate to a workload's removal."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.e2e.running import Said, Tools

pytestmark = pytest.mark.e2e

EXAMPLE = Path(__file__).parents[2] / "examples/shop"
MEMBERS = ("member1", "member2", "member3")
MIRRORS = {
    "member1": "mirror.acme.example",
    "member2": "registry.globex.example",
    "member3": "registry.globex.example",
}
"""Member → the registry of its provider (examples/shop/clusters and policies/overrides.yaml)."""


@pytest.fixture
def shop(sandbox: Path, tools: Tools) -> Path:
    """A copy of the example, for the sandbox's members."""
    tools.env["KUBECONFIG"] = str(sandbox / "kubeconfig")
    return shutil.copytree(EXAMPLE, tools.cwd / "shop")


@pytest.fixture
def applied(shop: Path, tools: Tools) -> Path:
    """The example, applied."""
    tools.kadm("-C", shop, "apply", "--yes")
    return shop


def images(tools: Tools, member: str) -> dict[str, str]:
    """Deployment → the image that it runs in the member, in namespace shop."""
    return {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]["containers"][0]["image"]
        for one in tools.get(member, "deployments", "-n", "shop")["items"]
    }


def replicas(tools: Tools, name: str) -> dict[str, int]:
    """Member → replicas of a Deployment in namespace shop; members without it are left out."""
    found = {}
    for member in MEMBERS:
        for one in tools.get(member, "deployments", "-n", "shop")["items"]:
            if one["metadata"]["name"] == name:
                found[member] = one["spec"]["replicas"]
    return found


def no_changes(tools: Tools, root: Path) -> Said:
    return tools.kadm("-C", root, "plan", "--detailed-exitcode")


def test_it_validates_without_a_warning(shop: Path, tools: Tools) -> None:
    said = tools.kadm("-C", shop, "validate")
    assert (said.out, said.err) == ("valid: 31 manifests, 5 policies, 3 members\n", "")


def test_plan_apply_and_an_empty_plan(shop: Path, tools: Tools) -> None:
    plan = tools.kadm("-C", shop, "plan", "--detailed-exitcode", "-o", "json", code=2)
    assert (plan.json["held"], plan.json["problems"], plan.json["unplaced"], plan.err) == ([], [], [], "")
    tools.kadm("-C", shop, "apply", "--yes")
    assert no_changes(tools, shop).err == ""
    status = tools.kadm("-C", shop, "status", "-o", "json").json
    assert {one["name"]: one["health"]["code"] for one in status["workloads"]} == dict.fromkeys(
        [
            "cart",
            "catalog",
            "image-cleaner",
            "log-agent",
            "orders",
            "orders-db",
            "orders-schema-5",
            "payments",
            "recommendations",
            "search",
            "web",
        ],
        "Healthy",
    )


def test_placement_and_overrides_are_in_the_members(applied: Path, tools: Tools) -> None:
    assert replicas(tools, "web") == {"member1": 4, "member2": 2, "member3": 2}
    assert replicas(tools, "orders") == {"member1": 2, "member2": 2}, "personal data stays in Europe"
    for member, registry in MIRRORS.items():
        assert {image.partition("/")[0] for image in images(tools, member).values()} == {registry}
    agent = tools.get("member1", "daemonset/log-agent", "-n", "platform")
    assert agent["spec"]["template"]["spec"]["containers"][0]["image"] == "shop/log-agent:2.4.1"
    homes = [member for member in MEMBERS if tools.get(member, "statefulsets", "-n", "shop")["items"]]
    assert len(homes) == 1


def test_scaling_down_keeps_the_total_of_the_manifest(applied: Path, tools: Tools) -> None:
    web = applied / "manifests/storefront/web.yaml"
    web.write_text(web.read_text(encoding="utf-8").replace("replicas: 8", "replicas: 4"), encoding="utf-8")
    plan = tools.kadm("-C", applied, "plan", "-o", "json").json
    assert {(one["cluster"], one["kind"], one["name"], one["action"]) for one in plan["changes"]} == {
        (member, "Deployment", "web", "update") for member in MEMBERS
    }
    tools.kadm("-C", applied, "apply", "--yes")
    assert replicas(tools, "web") == {"member1": 2, "member2": 1, "member3": 1}
    no_changes(tools, applied)


def test_a_removed_workload_goes_and_nothing_else(applied: Path, tools: Tools) -> None:
    before = images(tools, "member1").keys()
    (applied / "manifests/storefront/search.yaml").unlink()
    plan = tools.kadm("-C", applied, "plan", "-o", "json").json
    assert {(one["kind"], one["name"], one["action"]) for one in plan["changes"]} == {
        ("Deployment", "search", "delete"),
        ("Service", "search", "delete"),
    }
    tools.kadm("-C", applied, "apply", "--yes")
    assert before - images(tools, "member1").keys() == {"search"}
    assert replicas(tools, "search") == {}
    no_changes(tools, applied)
