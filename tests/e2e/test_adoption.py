"""Objects that exist already: asked about, taken over with what git lacks, and let go again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.small_fleet import (
    Obj,
    Shared,
    SmallFleet,
    annotated,
    config,
    deployment,
    namespace,
    shared_sandbox,
    small_fleet,
)

pytestmark = pytest.mark.e2e
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with shared_sandbox(tmp_path_factory.mktemp("adoption")) as found:
        yield found


@pytest.fixture
def fleet(shared: Shared, tmp_path: Path) -> SmallFleet:
    """A fleet whose namespace exists already."""
    fleet = small_fleet(shared, tmp_path / "fleet")
    fleet.member.create(namespace(fleet.name))
    return fleet


def managers(live: Any) -> list[str]:
    return [one["manager"] for one in live["metadata"]["managedFields"] if not one.get("subresource")]


def removed(plan: Any) -> dict[str, str]:
    """Path → who set it, of the fields that an adoption removes."""
    return {
        field["path"]: field["manager"]
        for change in plan["changes"]
        for field in change["fields"]
        if field["after"] is None and field["before"] is not None
    }


def by_kubectl(fleet: SmallFleet, obj: Obj) -> Obj:
    """The object, as ``kubectl apply`` made it."""
    metadata = {**obj["metadata"], "annotations": {LAST_APPLIED: json.dumps(obj)}}
    fleet.member.create({**obj, "metadata": metadata}, "kubectl-client-side-apply")
    return obj


@pytest.mark.parametrize(
    ("flags", "want"),
    [
        pytest.param([], "held: --adopt configmap/c, or --adopt-all", id="held"),
        pytest.param(["--adopt", "cm/c"], "adopt", id="--adopt with a short name"),
        pytest.param(["--adopt", "ConfigMap/c"], "adopt", id="--adopt"),
        pytest.param(["--adopt-all"], "adopt", id="--adopt-all"),
        pytest.param(["--adopt", "cm/other"], "held: --adopt configmap/c, or --adopt-all", id="--adopt another"),
    ],
)
def test_who_permits_adoption(fleet: SmallFleet, flags: list[str], want: str) -> None:
    fleet.member.create(config(fleet.name))
    fleet.write(config(fleet.name))
    assert fleet.actions(*flags)["ConfigMap/c"] == want


@pytest.mark.parametrize(
    ("annotations", "want"),
    [
        pytest.param(
            {"conflict_resolution": "adopt", "clusters_to_adopt": '{"clusters":["member1"]}'}, True, id="named"
        ),
        pytest.param({"conflict_resolution": "adopt", "clusters_to_adopt": '{"regexp":"ber1"}'}, True, id="searched"),
        pytest.param(
            {"conflict_resolution": "adopt", "clusters_to_adopt": '{"clusters":["eu"]}'}, False, id="not here"
        ),
        pytest.param({"conflict_resolution": "adopt"}, False, id="both annotations are needed"),
        pytest.param({"clusters_to_adopt": '{"clusters":["member1"]}'}, False, id="both are needed, the other way"),
    ],
)
def test_kubeadmirals_annotations(fleet: SmallFleet, annotations: dict[str, str], want: bool) -> None:
    fleet.member.create(config(fleet.name))
    fleet.write(annotated(config(fleet.name), **{f"ka_{name}": value for name, value in annotations.items()}))
    assert (fleet.actions()["ConfigMap/c"] == "adopt") is want


def test_what_git_lacks_is_listed_and_removed(fleet: SmallFleet) -> None:
    by_kubectl(fleet, config(fleet.name, data={"k": "v", "old": "x"}))
    fleet.write(config(fleet.name))
    assert removed(fleet.plan("--adopt-all")) == {"data.old": "kubectl-client-side-apply"}
    fleet.apply("--adopt-all")
    live = fleet.member.get(config(fleet.name))
    assert (live["data"], "annotations" in live["metadata"], managers(live)) == (
        {"k": "v"},
        False,
        [f"kadm-{fleet.name}"],
    )
    fleet.write(config(fleet.name, data={}))
    fleet.apply()
    assert "data" not in fleet.member.get(config(fleet.name)), "a later removal in git works"
    assert fleet.plan()["summary"]["unchanged"] == 2


def test_adoption_restarts_no_pod(fleet: SmallFleet) -> None:
    old = deployment(fleet.name, minReadySeconds=3)
    old["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A", "value": "1"}]
    by_kubectl(fleet, old)
    fleet.write(deployment(fleet.name))
    plan = fleet.plan("--adopt-all")
    assert removed(plan) == {"spec.minReadySeconds": "kubectl-client-side-apply"}
    (note,) = (one["note"] for one in plan["changes"] if one["kind"] == "Deployment")
    assert note.startswith("git lacks spec.template.spec.containers[name=app].env[name=A], which stay")
    before = fleet.member.get(old)["spec"]["template"]
    fleet.apply("--adopt-all")
    live = fleet.member.get(old)
    assert (live["spec"]["template"], live["spec"].get("minReadySeconds")) == (before, None)
    assert fleet.plan("--detailed-exitcode")["summary"]["unchanged"] == 2


def test_adopt_prune_removes_from_templates_too(fleet: SmallFleet) -> None:
    old = deployment(fleet.name)
    old["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A", "value": "1"}]
    by_kubectl(fleet, old)
    fleet.write(deployment(fleet.name))
    fleet.apply("--adopt-all")
    want = {"spec.template.spec.containers[name=app].env[name=A]": "kubectl-client-side-apply"}
    assert removed(fleet.plan("--adopt-prune")) == want
    fleet.apply("--adopt-prune")
    live = fleet.member.get(old)
    assert "env" not in live["spec"]["template"]["spec"]["containers"][0]
    assert managers(live) == [f"kadm-{fleet.name}"]


@pytest.mark.parametrize(
    ("orphan", "adopted", "left"),
    [
        pytest.param(None, True, True, id="adopted: released"),
        pytest.param(None, False, False, id="created: deleted"),
        pytest.param("all", False, True, id="orphan all: released"),
        pytest.param("adopted", False, False, id="orphan adopted: created ones are deleted"),
    ],
)
def test_what_leaves_git(fleet: SmallFleet, orphan: str | None, adopted: bool, left: bool) -> None:
    wanted = config(fleet.name)
    if adopted:
        fleet.member.create(wanted)
    fleet.write(config(fleet.name, "stays"), annotated(wanted, ka_orphan=orphan) if orphan else wanted)
    fleet.apply("--adopt-all")
    fleet.write(config(fleet.name, "stays"))
    fleet.apply()
    live = fleet.member.get(wanted)
    assert (live is not None, fleet.deleted()) == (left, [] if left else ["configmaps/c"])


def test_the_record_remembers_orphan(fleet: SmallFleet) -> None:
    """The annotation comes with a commit that changes nothing else, and the manifest goes with the next."""
    wanted = config(fleet.name)
    fleet.write(config(fleet.name, "stays"), wanted)
    fleet.apply()
    fleet.write(config(fleet.name, "stays"), annotated(wanted, ka_orphan="all"))
    fleet.apply()
    fleet.write(config(fleet.name, "stays"))
    assert fleet.actions() == {"ConfigMap/c": "release"}


@pytest.mark.parametrize(
    ("obj", "manager", "tool"),
    [
        pytest.param({"annotations": {"meta.helm.sh/release-name": "r"}}, "helm", "helm", id="a Helm release"),
        pytest.param({"labels": {"argocd.argoproj.io/instance": "shop"}}, "argocd-controller", "argocd", id="Argo CD"),
        pytest.param(
            {"labels": {"kustomize.toolkit.fluxcd.io/name": "shop"}}, "kustomize-controller", "flux", id="Flux"
        ),
        pytest.param({"labels": {"kubeadmiral.io/managed": "true"}}, "kubeadmiral", "kubeadmiral", id="KubeAdmiral"),
    ],
)
def test_objects_of_other_tools(fleet: SmallFleet, obj: Obj, manager: str, tool: str) -> None:
    theirs = config(fleet.name, data={"k": "v", "theirs": "x"})
    theirs["metadata"] |= obj
    fleet.member.apply(theirs, manager) if tool != "helm" else fleet.member.create(theirs, manager)
    fleet.write(config(fleet.name))
    assert fleet.actions("--adopt-all")["ConfigMap/c"] == f"held: --take-over {tool}"
    flags = ["--take-over", tool, "--take-over", manager]
    assert removed(fleet.plan(*flags))["data.theirs"] == manager
    fleet.apply(*flags)
    live = fleet.member.get(theirs)
    assert (live["data"], managers(live)) == ({"k": "v"}, [f"kadm-{fleet.name}"])


def test_fields_of_another_applier(fleet: SmallFleet) -> None:
    wanted = config(fleet.name)
    fleet.write(wanted)
    fleet.apply("--adopt-all")
    fleet.member.apply(config(fleet.name, data={"k": "theirs", "more": "x"}), "flux")
    (held,) = fleet.plan(code=None)["held"]
    assert (held["why"], held["flag"]) == ("flux declares data.k too", "--take-over flux")
    fleet.apply(code=1)
    assert fleet.member.get(wanted)["data"]["k"] == "theirs"
    fleet.apply("--take-over", "flux")
    live = fleet.member.get(wanted)
    assert (live["data"], managers(live)) == ({"k": "v"}, [f"kadm-{fleet.name}"])


def test_a_contested_field_is_reported_and_left(fleet: SmallFleet) -> None:
    wanted = config(fleet.name)
    fleet.write(wanted)
    fleet.apply()
    for _ in range(2):
        fleet.member.merge(wanted, {"data": {"k": "mine"}})
        fleet.apply()
    fleet.member.merge(wanted, {"data": {"k": "mine"}})
    for _ in range(2):
        plan = fleet.plan(code=1)
        said = [one["what"] for one in plan["problems"]]
        counts = plan["summary"]["unchanged"], plan["summary"]["contested"]
        assert (plan["changes"], said, counts) == ([], ["data.k is contested, and left as it is"], (1, 1))
        quiet = fleet.kadm("apply", "--yes", "-q", code=1)
        assert (quiet.out, "data.k is contested" in quiet.err) == ("", True)
    assert fleet.kadm("plan", code=1).out == "Plan: nothing to do; 1 unchanged, 1 contested.\n"
    assert fleet.member.get(wanted)["data"] == {"k": "mine"}
    assert fleet.actions("--take-over", "kubectl-edit") == {"ConfigMap/c": "update"}
    fleet.write(config(fleet.name, data={"k": "new"}))
    assert fleet.actions() == {"ConfigMap/c": "update"}, "git wants something else now"
    fleet.write(wanted)
    fleet.member.merge(wanted, {"data": {"k": "v"}})
    assert fleet.plan()["summary"]["contested"] == 0, "the other writer gave in"


def labels(fleet: SmallFleet) -> dict[str, str]:
    found = fleet.member.get(namespace(fleet.name))["metadata"]["labels"]
    return {name: value for name, value in found.items() if name in ("team", "ours")}


@pytest.mark.parametrize(
    ("manifest", "flags", "want"),
    [
        pytest.param(False, [], {"team": "x"}, id="no manifest"),
        pytest.param(False, ["--adopt-all"], {"team": "x"}, id="no manifest, --adopt-all"),
        pytest.param(True, [], {"team": "x", "ours": "z"}, id="a manifest"),
        pytest.param(True, ["--adopt-all"], {"ours": "z"}, id="a manifest, --adopt-all"),
    ],
)
def test_labels_of_a_namespace_that_was_there(
    shared: Shared, tmp_path: Path, manifest: bool, flags: list[str], want: dict[str, str]
) -> None:
    fleet = small_fleet(shared, tmp_path / "fleet")
    fleet.member.create(namespace(fleet.name, labels={"team": "x"}), "kubectl-client-side-apply")
    ours = [namespace(fleet.name, labels={"ours": "z"})] if manifest else []
    fleet.write(config(fleet.name), *ours)
    fleet.apply(*flags)
    assert labels(fleet) == want


def test_hands_off(fleet: SmallFleet) -> None:
    theirs = config(fleet.name, data={"k": "theirs"})
    theirs["metadata"]["labels"] = {"kubeadmiral.io/managed": "false"}
    fleet.member.create(theirs)
    fleet.write(config(fleet.name))
    plan = fleet.plan("--adopt-all")
    assert [one["name"] for one in plan["frozen"]] == ["c"]


@pytest.mark.parametrize(
    ("labels", "whose"),
    [
        pytest.param({}, "it exists already, and kadm did not make it", id="nobody's"),
        pytest.param(
            {"applyset.kubernetes.io/part-of": "another-v1"},
            "it is managed by ApplySet another-v1",
            id="another fleet's",
        ),
    ],
)
def test_what_cannot_be_adopted_is_not_said_to_be_recreated(
    fleet: SmallFleet, labels: dict[str, str], whose: str
) -> None:
    wanted = annotated(deployment(fleet.name), kadm_recreate="true")
    theirs = json.loads(json.dumps(deployment(fleet.name)).replace('{"app": "web"}', '{"app": "other"}'))
    theirs["metadata"]["labels"] = labels
    fleet.member.create(theirs)
    fleet.write(wanted)
    plan = fleet.plan("--adopt-all", code=1)
    (problem,) = plan["problems"]
    assert (problem["what"], problem["where"]["path"], "kadm.io/recreate" in problem["hint"]) == (
        f"it cannot be adopted: {whose}, and its spec.selector cannot change",
        "manifests/all.yaml",
        False,
    )
    assert [one["action"] for one in plan["changes"]] == ["adopt"]  # the namespace


@pytest.mark.parametrize("name", ["guestbook.yaml", "online-boutique.yaml"])
def test_published_manifests(fleet: SmallFleet, shared_data: Path, name: str) -> None:
    """What ``kubectl apply`` made of the same files: nothing changes, and no default is listed as removed."""
    text = (shared_data / "real-manifests" / name).read_text(encoding="utf-8")
    objects: list[Obj] = [one for one in yaml.safe_load_all(text) if one]
    for obj in objects:
        obj["metadata"].setdefault("namespace", fleet.name)
        by_kubectl(fleet, obj)
    before = [fleet.member.get(obj).get("spec") for obj in objects]
    (fleet.root / "manifests/all.yaml").write_text(text, encoding="utf-8")
    plan = fleet.plan("--adopt-all")
    assert {field["path"] for one in plan["changes"] for field in one["fields"]} <= {
        "metadata.labels",
        'metadata.labels["applyset.kubernetes.io/part-of"]',
    }
    fleet.apply("--adopt-all", "--no-wait")
    assert [fleet.member.get(obj).get("spec") for obj in objects] == before
    assert fleet.plan("--detailed-exitcode")["summary"]["unchanged"] == len(objects) + 1


def test_what_another_fleet_has_taken_over_is_left_to_it(shared: Shared, fleet: SmallFleet, tmp_path: Path) -> None:
    wanted, stays = config(fleet.name), config(fleet.name, "stays")
    fleet.write(wanted, stays)
    fleet.apply("--adopt-all")
    other = small_fleet(shared, tmp_path / "other")
    other.write(wanted)
    (flag,) = {one["flag"] for one in other.plan(code=None)["held"]}
    other.apply(*flag.split(), "--take-over", f"kadm-{fleet.name}")
    fleet.write(stays)
    changes = {one["name"]: one for one in fleet.plan()["changes"]}
    assert (changes["c"]["action"], changes["c"]["note"].partition(" applyset-")[0]) == ("release", "it is in ApplySet")
    fleet.apply(code=1)  # their namespace is the other fleet's now, too
    assert (fleet.deleted(), managers(fleet.member.get(wanted))) == ([], [f"kadm-{other.name}"])
    assert other.plan("--detailed-exitcode")["changes"] == []
