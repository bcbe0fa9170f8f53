"""The daemon against sandbox members: commits, drift, members that come and go, replicas that do not fit."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kadm.sandbox.faults import Fault
from kadm.sandbox.process import inject
from tests.e2e.daemon import watching
from tests.e2e.running import Tools
from tests.e2e.watched_fleet import MEMBERS, commit, config, git, migrate, values, web

pytestmark = pytest.mark.e2e

Fleet = Callable[..., Path]


def test_what_was_in_force_is_in_force_again_while_the_newest_commit_is_broken(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("first")})
    git(root, "init", "--quiet", "--initial-branch=main")
    first = commit(root)
    with watching(tools, "--repo", root, "--interval", "1s") as daemon:
        daemon.wait_for("applied")
    commit(root, c="a: [\n")
    tools.kubectl("member1", "delete", "configmap/c")
    with watching(tools, "--repo", root, "--interval", "1s") as daemon:
        daemon.wait_for("broken")
        daemon.wait_for("commit", first[:12])
        daemon.wait_for("applied")
    assert values(tools) == ["first"] * 3


@pytest.mark.parametrize(
    ("mode", "value", "kinds"),
    [
        pytest.param("correct", "first", ["drift", "applied"], id="correct"),
        pytest.param("report", "drifted", ["drift", "held"], id="report"),
    ],
)
def test_drift(fleet: Fleet, tools: Tools, mode: str, value: str, kinds: list[str]) -> None:
    root = fleet(
        {"manifests/c.yaml": config("first"), "manifests/other.yaml": config("x").replace("name: c", "name: d")}
    )
    with watching(tools, "-C", root, "--drift", mode, "--interval", "1s") as daemon:
        daemon.wait_until_settled()
        before = len(daemon.events)
        tools.kubectl("member2", "patch", "configmap/c", "--type=merge", "-p", '{"data": {"v": "drifted"}}')
        drift = daemon.wait_for("drift", "data.v")
        daemon.wait_until(lambda: set(kinds) <= {one["event"] for one in daemon.events[before:]})
        assert (drift["member"], drift["object"]) == ("member2", "ConfigMap default/c")
        assert values(tools) == ["first", value, "first"]
        (root / "manifests/other.yaml").write_text(config("more").replace("name: c", "name: d"))
        daemon.wait_until(lambda: tools.get("member2", "configmap/d")["data"]["v"] == "more", "commits go on")
        assert values(tools) == ["first", value, "first"]


def _or_0(tools: Tools) -> int:
    """``ready``, while the workload may not be there yet."""
    found = [tools.kubectl(member, "get", "deployment/web", "-o", "json", code=None) for member in MEMBERS]
    return sum(said.json["status"].get("readyReplicas", 0) for said in found if said.code == 0)


SINGLE = '{name: single, annotations: {kadm.io/singleton: "true"},'


def test_a_lost_member_is_left_where_its_policy_says_so(fleet: Fleet, sandbox: Path, tools: Tools) -> None:
    root = fleet(
        {
            "manifests/web.yaml": web(6),
            "manifests/single.yaml": web(3).replace("web", "single").replace("{name: single,", SINGLE),
            "manifests/c.yaml": config("x"),
            "policies/migrate.yaml": migrate(annotations="{kadm.io/fail-over-after: 2s}"),
        }
    )
    with watching(tools, "-C", root, "--interval", "1s") as daemon:
        daemon.wait_until(lambda: _or_0(tools) == 6)
        inject(sandbox, "member2", [Fault(mode="refuse")])
        assert daemon.wait_for("failover")["member"] == "member2"

        def elsewhere() -> int:
            return sum(
                tools.get(name, "deployment/web")["status"].get("readyReplicas", 0) for name in ("member1", "member3")
            )

        daemon.wait_until(lambda: elsewhere() == 6)
        inject(sandbox, "member2", [])
        daemon.wait_for("back")
        gone = ("get", "deployment/web", "--ignore-not-found", "-o", "name")
        daemon.wait_until(lambda: tools.kubectl("member2", *gone).out == "", "it left the member, and leaves it now")
        daemon.wait_until_settled()
        assert elsewhere() == 6
        assert [tools.get(name, "deployment/single")["spec"]["replicas"] for name in MEMBERS] == [1, 1, 1]
        assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0


def test_sighup_looks_at_git_at_once(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("first")})
    with watching(tools, "-C", root, "--interval", "10m") as daemon:
        daemon.wait_for("applied")
        (root / "manifests/c.yaml").write_text(config("second"))
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_until(lambda: values(tools) == ["second"] * 3)


@pytest.mark.parametrize("hangs", [pytest.param(False, id="all well"), pytest.param(True, id="a member hangs")])
def test_sigterm_ends_it_within_two_seconds(fleet: Fleet, sandbox: Path, tools: Tools, hangs: bool) -> None:
    root = fleet({"manifests/c.yaml": config("first")})
    with watching(tools, "-C", root, "--interval", "1s") as daemon:
        daemon.wait_for("applied")
        if hangs:
            inject(sandbox, "member1", [Fault(mode="hang")])
            (root / "manifests/c.yaml").write_text(config("second"))
            daemon.wait_for("commit", count=2)
        took = daemon.stop()
        assert (daemon.process.returncode, took < 2) == (0, True), took
    inject(sandbox, "member1", [])
    kept = json.loads((tools.cwd / "state/state.json").read_text())
    assert next(one["kind"] for one in kept["events"]) == "started"
    if not hangs:
        holders = [tools.get("member1", "lease/kadm-test.watch", "-n", "kadm-system")["spec"].get("holderIdentity")]
        assert holders == [None], "another one need not wait"


def test_once_plans_and_applies_and_ends(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("first")})
    tools.kadm("-C", root, "watch", "--once", "--state-dir", "state")
    assert values(tools) == ["first"] * 3
    said = tools.kadm("-C", root, "watch", "--check-config", "--state-dir", "state")
    assert re.fullmatch(r"Fleet test: 1 objects, 3 members\.\n", said.out)
    (root / "manifests/c.yaml").write_text("a: [\n")
    tools.kadm("-C", root, "watch", "--check-config", "--state-dir", "state", code=1)
    tools.kadm("-C", root, "watch", "--once", "--state-dir", "state", code=1)


def test_once_beside_a_daemon_says_what_it_leaves_to_it(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("first")})
    with watching(tools, "-C", root, "--drift", "report", "--interval", "1s") as daemon:
        daemon.wait_for("applied")
        daemon.wait_until_settled()
        tools.kubectl("member2", "patch", "configmap/c", "--type=merge", "-p", '{"data": {"v": "drifted"}}')
        daemon.wait_for("held")
        said = tools.kadm("-C", root, "watch", "--once", "--state-dir", "once")
        assert re.search(r"WARNING 1 changes are left undone: \S+ \(process .*\) .*writes, not this run", said.err)
        assert values(tools) == ["first", "drifted", "first"]


ROLLOUT = """\
apiVersion: kadm.io/v1alpha1
kind: Fleet
metadata: {name: test}
spec:
  defaults: {clusterPropagationPolicy: everywhere}
  rollout: {waves: [{name: first, clusters: [member1], pause: true}, {name: rest, clusters: [member2, member3]}]}
"""


def test_a_pause_of_a_rollout_waits_for_a_person(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("first")})
    tools.kadm("-C", root, "apply", "--yes")
    (root / "kadm.yaml").write_text(ROLLOUT)
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root, c=config("second"))
    with watching(tools, "--repo", root, "--interval", "1s") as daemon:
        daemon.wait_for("held", "member2, member3 wait for kadm apply")
        daemon.wait_until_settled(quiet_s=3)
        assert values(tools) == ["second", "first", "first"]
        tools.kubectl("member1", "delete", "configmap/c")
        daemon.wait_until(lambda: tools.kubectl("member1", "get", "cm/c", code=None).code == 0, "drift is corrected")
        tools.kadm("-C", root, "apply", "--yes")
        assert values(tools) == ["second"] * 3
        commit(root, c=config("third"))
        daemon.wait_for("held", "member2, member3 wait for kadm apply", count=2)
        assert values(tools) == ["third", "second", "second"]


@pytest.mark.parametrize("state", [pytest.param("state", id="its own state"), pytest.param("other", id="only records")])
def test_a_pause_of_a_rollout_outlives_the_daemon(fleet: Fleet, tools: Tools, state: str) -> None:
    root = fleet({"manifests/c.yaml": config("first")})
    tools.kadm("-C", root, "apply", "--yes")
    (root / "kadm.yaml").write_text(ROLLOUT)
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root, c=config("second"))
    with watching(tools, "--repo", root, "--interval", "1s") as daemon:
        daemon.wait_for("held", "member2, member3 wait for kadm apply")
        daemon.stop(signal.SIGKILL)
    if state == "state":  # another commit, which does not touch what waits, is nobody's word either
        commit(root, d=config("x").replace("name: c", "name: d"))
    with watching(tools, "--repo", root, "--interval", "1s", state=state) as daemon:
        daemon.wait_until_settled(quiet_s=3)
        assert values(tools) == ["second", "first", "first"]
        tools.kadm("-C", root, "apply", "--yes", code=None)
        tools.kadm("-C", root, "apply", "--yes")
        assert values(tools) == ["second"] * 3
        tools.kubectl("member3", "patch", "configmap/c", "--type=merge", "-p", '{"data": {"v": "drifted"}}')
        daemon.wait_until(lambda: values(tools) == ["second"] * 3, "behind a pause that is over, all is as ever")


CANARY = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: canary}
spec: {schedulingMode: Duplicate, placement: [{cluster: member1}]}
"""


def test_what_comes_after_a_rollout_waits_at_none_of_its_pauses(fleet: Fleet, sandbox: Path, tools: Tools) -> None:
    label = "{name: d, labels: {kubeadmiral.io/cluster-propagation-policy-name: canary}}"
    files = {"manifests/d.yaml": config("old").replace("{name: c}", label), "policies/canary.yaml": CANARY}
    root = fleet({"manifests/c.yaml": config("x"), **files})
    inject(sandbox, "member3", [Fault(mode="refuse")])
    tools.kadm("-C", root, "apply", "--yes", code=4)
    (root / "kadm.yaml").write_text(ROLLOUT)
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root, d=config("new").replace("{name: c}", label))
    with watching(tools, "--repo", root, "--interval", "1s") as daemon:
        daemon.wait_for("applied")
        daemon.wait_until_settled()
        assert tools.get("member1", "configmap/d")["data"]["v"] == "new", "the one wave that the commit changes"
    inject(sandbox, "member3", [])
    with watching(tools, "--repo", root, "--interval", "1s") as daemon:
        daemon.wait_until(lambda: tools.kubectl("member3", "get", "configmap/c", code=None).code == 0)
        assert daemon.of("held") == []


def test_a_pause_that_an_apply_came_to_is_kept(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("first"), "kadm.yaml": ROLLOUT})
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root)
    tools.kadm("-C", root, "apply", "--yes", code=4)
    tools.kadm("-C", root, "apply", "--yes")
    commit(root, c=config("second"))
    tools.kadm("-C", root, "apply", "--yes", code=4)
    with watching(tools, "--repo", root, "--interval", "1s") as daemon:
        daemon.wait_for("held", "member2, member3 wait for kadm apply")
        daemon.wait_until_settled(quiet_s=3)
    assert values(tools) == ["second", "first", "first"]


def test_what_does_not_fit_is_packed_elsewhere(fleet: Fleet, tools: Tools) -> None:
    packs = migrate().replace("schedulingMode: Divide", "schedulingMode: Divide\n  replicasStrategy: Binpack")
    root = fleet({"manifests/web.yaml": web(4), "policies/migrate.yaml": packs.replace("{weight: 1}", "{}")})
    with watching(tools, "-C", root, "--interval", "1s") as daemon:
        daemon.wait_until(lambda: _or_0(tools) == 4)
        tools.kubectl("member1", "cordon", "node-0")
        (root / "manifests/web.yaml").write_text(web(7))
        daemon.wait_for("migration", "of 7 replicas do not run")
        daemon.wait_until(lambda: _or_0(tools) == 7)

        def placed() -> int:
            found = [tools.kubectl(member, "get", "deployment/web", "-o", "json", code=None) for member in MEMBERS]
            return sum(said.json["spec"]["replicas"] for said in found if said.code == 0)

        daemon.wait_until(lambda: placed() == 7, "what waited is given up once it has arrived elsewhere")
        daemon.wait_until_settled()
        assert (placed(), _or_0(tools)) == (7, 7)
        assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0


CARS = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cars.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Car, plural: cars, singular: car, listKind: CarList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: example.com/v1
kind: Car
metadata: {name: beetle, labels: {kubeadmiral.io/cluster-propagation-policy-name: migrate}}
spec: {size: 6}
"""

CAR_TYPE = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: FederatedTypeConfig
metadata: {name: cars.example.com}
spec:
  sourceType: {group: example.com, version: v1, kind: Car, pluralName: cars, scope: Namespaced}
  pathDefinition: {replicasSpec: spec.size}
"""


def test_what_is_divided_and_has_no_pods_that_are_known_stays(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/car.yaml": CARS, "policies/car.yaml": CAR_TYPE, "policies/migrate.yaml": migrate()})
    with watching(tools, "-C", root, "--interval", "1s") as daemon:
        daemon.wait_for("applied")
        daemon.wait_until_settled(quiet_s=4)
        assert [tools.get(member, "car/beetle")["spec"]["size"] for member in MEMBERS] == [2, 2, 2]
        assert daemon.of("migration") == []


def evicted(until: datetime) -> str:
    """The ConfigMap, which stays away from member3 until then."""
    asked = {"workloadMigrations": [{"cluster": "member3", "validUntil": until.strftime("%Y-%m-%dT%H:%M:%SZ")}]}
    annotations = f"annotations: {{kubeadmiral.io/migration-configuration: '{json.dumps(asked)}'}}"
    return config("x").replace("{name: c}", f"{{name: c, {annotations}}}")


def test_a_workload_comes_back_when_its_eviction_ends(fleet: Fleet, tools: Tools) -> None:
    def there() -> list[bool]:
        return [tools.kubectl(member, "get", "configmap/c", code=None).code == 0 for member in MEMBERS]

    root = fleet({"manifests/c.yaml": evicted(datetime.now(UTC) + timedelta(hours=1)), "manifests/d.yaml": D})
    with watching(tools, "-C", root, "--interval", "1s") as daemon:
        daemon.wait_for("applied")
        daemon.wait_until_settled()
        assert there() == [True, True, False]
        (root / "manifests/c.yaml").write_text(evicted(datetime.now(UTC) + timedelta(seconds=8)))
        daemon.wait_for("commit", count=2)
        daemon.wait_until(lambda: there() == [True] * 3, "nothing but time tells that it may come back")


D = config("x").replace("name: c", "name: d")


def test_files_of_workloads_that_left_while_it_was_down_go(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/web.yaml": web(3), "manifests/c.yaml": config("x"), "policies/migrate.yaml": migrate()})
    shown = tools.cwd / "shown/default/Deployment.apps/web.json"
    with watching(tools, "-C", root, "--interval", "1s", "--status-dir", "shown") as daemon:
        daemon.wait_until(shown.exists)
    (root / "manifests/web.yaml").unlink()
    with watching(tools, "-C", root, "--interval", "1s", "--status-dir", "shown") as daemon:
        daemon.wait_until(lambda: not shown.exists())
