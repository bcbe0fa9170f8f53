"""The main job on manifests that were not made for it: plan, apply, and a plan that is empty, reads alone, and few."""

from __future__ import annotations

import fcntl
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kadm.model.applyset import PART_OF, applyset_id
from tests.e2e.audit import Request, audited
from tests.e2e.running import Tools
from tests.real.conftest import MakeFleet
from tests.real.fleet import Fleet
from tests.real.members import Members, Version

pytestmark = [pytest.mark.e2e, pytest.mark.real, pytest.mark.timeout(600)]

Json = Any

SHOP = Path(__file__).parents[2] / "examples/shop"

SERVED_SINCE: dict[tuple[str, str], Version] = {
    ("batch/v1", "CronJob"): (1, 21),
    ("policy/v1", "PodDisruptionBudget"): (1, 21),
    ("autoscaling/v2", "HorizontalPodAutoscaler"): (1, 23),
}
"""What the manifests hold and an older server does not serve: left out there."""

GRPC_PROBES_SINCE: Version = (1, 24)
"""An older server knows no such field; a probe of a port takes its place there."""

LARGEST = "argo-cd-install"
"""CRDs of a megabyte take an old server a while: one member will do."""

DISCOVERY = re.compile(r"/version|/readyz|/api|/apis|/api/v1|/apis/[^/]+/[^/]+")
STATE = re.compile(
    r"/api/v1/namespaces/kube-system|/api/v1/namespaces/kadm-system(/configmaps/kadm-[^/]+|/secrets/kadm-[^/]+)?"
)
"""A member's identity, and what kadm keeps there."""

AUTOSCALERS = re.compile(r"/apis/autoscaling/v[0-9a-z]+/horizontalpodautoscalers")
"""Whatever git says, a live autoscaler may own a workload's replicas: one LIST of all of them."""


def documents(text: str, version: Version) -> str:
    """The documents of a file that a server of this version serves, as they stand there."""
    kept = []
    for part in re.split(r"^---.*$", text, flags=re.MULTILINE):
        found = yaml.load(part, Loader=yaml.CSafeLoader)
        if found and version >= SERVED_SINCE.get((found["apiVersion"], found["kind"]), (0, 0)):
            kept.append(part)
    text = "---\n".join(kept)
    return text if version >= GRPC_PROBES_SINCE else re.sub(r"\bgrpc:", "tcpSocket:", text)


@pytest.fixture
def alone(members: Members, run_directory: Path) -> Iterator[None]:
    """The only acceptance test on these members: their namespaces and webhooks would meet each other's."""
    with (run_directory / f"acceptance-{members.sort}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def published(fleet: Fleet, shared_data: Path, name: str) -> None:
    text = (shared_data / "real-manifests" / f"{name}.yaml").read_text(encoding="utf-8")
    fleet.write(f"manifests/{name}.yaml", documents(text, fleet.members.version))


def generations(fleet: Fleet) -> Json:
    """Member and object of the fleet → uid and generation: what a write would move."""
    label = f"{PART_OF}={applyset_id(f'kadm-{fleet.name}')}"
    kinds = "deployments,statefulsets,daemonsets,services,configmaps,jobs,crds,clusterroles,ingresses,networkpolicies"
    return {
        (member, one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]): (
            one["metadata"]["uid"],
            one["metadata"].get("generation"),
        )
        for member in fleet.members.names
        for one in fleet.tools.get(member, kinds, "-A", "-l", label)["items"]
    }


@pytest.mark.parametrize(
    "name", ["guestbook", "online-boutique", "cassandra-statefulset", "ingress-nginx-cloud", "argo-cd-install"]
)
def test_published_manifests(name: str, fleet: MakeFleet, shared_data: Path, alone: None, tmp_path: Path) -> None:
    made = fleet()
    if name == LARGEST:
        made.join(made.members.names[0])
    published(made, shared_data, name)
    plan_apply_and_an_empty_plan(made, tmp_path)


def test_the_shop(members: Members, fleet: MakeFleet, alone: None, tmp_path: Path) -> None:
    if len(members.names) < 3:
        pytest.skip("the shop is in three members")
    made = fleet(name="shop", example=SHOP)
    for path in (made.root / "manifests").rglob("*.yaml"):
        path.write_text(documents(path.read_text(encoding="utf-8"), members.version), encoding="utf-8")
    plan_apply_and_an_empty_plan(made, tmp_path)


def plan_apply_and_an_empty_plan(fleet: Fleet, directory: Path) -> None:
    """The whole way, behind a proxy that sees every request."""
    with audited(fleet.members.directory, directory) as audit:
        fleet.tools.env["KUBECONFIG"] = str(audit.kubeconfig)
        plan = fleet.plan("--detailed-exitcode", code=2)
        faults = [one for one in plan["problems"] if one["severity"] != "warning"]
        stopped = {part: plan[part] for part in ("held", "unplaced", "frozen", "unread") if plan[part]}
        assert (stopped, faults) == ({}, [])
        assert [request for request in audit.requests if request.writes] == []
        assert generations(fleet) == {}
        fleet.apply()
        before = generations(fleet)
        audit.clear()
        fleet.nothing_to_do()
        asked = list(audit.requests)
        assert generations(fleet) == before
    only_needed(fleet, asked, plan["changes"])


def only_needed(fleet: Fleet, asked: list[Request], changes: Json) -> None:
    """Fails unless the requests are those of an empty plan.

    Discovery, the record, and each kind in use once: by LIST, or by name where the fleet holds one object of it. What a
    LIST lacks (a Job that finished) is asked for by name.
    """
    assert [request for request in asked if request.method != "GET"] == []
    known = (DISCOVERY, STATE, AUTOSCALERS)
    rest = [one for one in asked if "labelSelector" in one.query or not any(rule.fullmatch(one.path) for rule in known)]
    more = {
        request: count
        for request, count in Counter((one.member, one.path, "labelSelector" in one.query) for one in asked).items()
        if count > 1
    }
    assert more == {}, "asked more than once"
    kinds = Counter((one["cluster"], one["group"], one["kind"]) for one in changes)
    want = Counter(cluster for cluster, _, _ in kinds)
    gone = [one for one in rest if fleet.members.access(one.member).there(one.path) is None]
    there = [one for one in rest if one not in gone]
    assert Counter(one.member for one in there) == want, [(one.member, one.path) for one in there]
    assert {one.path.split("/")[-2] for one in gone} <= {"jobs"}
    lists = Counter(cluster for (cluster, _, _), count in kinds.items() if count > 1)
    assert Counter(one.member for one in rest if "labelSelector" in one.query) == lists


def test_one_changed_object_is_one_dry_run_where_it_is(
    fleet: MakeFleet, shared_data: Path, tools: Tools, tmp_path: Path
) -> None:
    made = fleet()
    published(made, shared_data, "guestbook")
    made.apply()
    path = made.root / "manifests/guestbook.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("replicas: 3", "replicas: 4"), encoding="utf-8")
    with audited(made.members.directory, tmp_path) as audit:
        tools.env["KUBECONFIG"] = str(audit.kubeconfig)
        changes = made.plan("--detailed-exitcode", code=2)["changes"]
        assert [(one["cluster"], one["name"], [field["path"] for field in one["fields"]]) for one in changes] == [
            (member, "frontend", ["spec.replicas"]) for member in made.members.names
        ]
        sent = Counter((one.member, one.method, one.query.get("dryRun")) for one in audit.requests)
        assert {key: count for key, count in sent.items() if key[1] != "GET"} == {
            (member, "PATCH", "All"): 1 for member in made.members.names
        }


def test_what_leaves_git_leaves_the_members_and_nothing_else(fleet: MakeFleet, shared_data: Path) -> None:
    made = fleet()
    published(made, shared_data, "guestbook")
    made.write("manifests/kept.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept}\ndata: {a: b}\n")
    made.apply()
    theirs = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs}\n"
    kubectl = ("kubectl", "--context", made.members.names[0], "-n", made.name)
    assert made.tools.run(*kubectl, "create", "-f", "-", stdin=theirs).code == 0
    (made.root / "manifests/guestbook.yaml").unlink()
    made.apply("--allow-deletes", "10")
    made.nothing_to_do()
    left = {member: names(made, member) for member in made.members.names}
    assert left == {
        member: {"kept", "theirs"} if member == made.members.names[0] else {"kept"} for member in made.members.names
    }
    (made.root / "manifests/kept.yaml").unlink()
    made.apply("--allow-empty", code=1)  # a namespace that holds what is not kadm's stays
    found = {
        member: made.members.access(member).there(f"/api/v1/namespaces/{made.name}/configmaps/theirs") is not None
        for member in made.members.names
    }
    assert found == {member: member == made.members.names[0] for member in made.members.names}


def names(fleet: Fleet, member: str) -> set[str]:
    """What is in the fleet's namespace of a member, but for what is in every namespace."""
    kinds = "deployments,services,configmaps,serviceaccounts"
    listed = fleet.tools.get(member, kinds, "-n", fleet.name)["items"]
    return {one["metadata"]["name"] for one in listed} - {"default", "kube-root-ca.crt", "openshift-service-ca.crt"}
