"""The daemon while something goes wrong beside it: its disk, its configuration, its Lease; and a person at work."""

from __future__ import annotations

import json
import resource
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.daemon import watching
from tests.e2e.running import Tools
from tests.e2e.watched_fleet import MEMBERS, commit, config, git, values, web

pytestmark = pytest.mark.e2e

Fleet = Callable[..., Path]

LEASE = "lease/kadm-test.watch"
SOMEBODY = {"spec": {"holderIdentity": "somebody@elsewhere/1"}, "metadata": {"annotations": {"kadm.io/process": None}}}


def test_a_full_disk_stops_nothing_but_what_needs_it(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("first"), "manifests/web.yaml": web(3)})
    policy = "kubeadmiral.io/cluster-propagation-policy-name: migrate"
    (root / "manifests/web.yaml").write_text(web(1).replace(policy, ""))
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root)
    shown = tools.cwd / "shown/default/Deployment.apps/web.json"
    with watching(tools, "--repo", root, "--interval", "1s", "--status-dir", "shown") as daemon:
        daemon.wait_for("applied")
        daemon.wait_until(lambda: shown.exists() and json.loads(shown.read_text())["status"].get("readyReplicas") == 3)
        _, most = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (0, most))  # no file can grow, as on a full disk
        commit(root, c=config("second"))
        daemon.wait_for("source", "git fetch failed")
        tools.kubectl("member2", "delete", "configmap/c")
        daemon.wait_for("drift")
        daemon.wait_until(
            lambda: tools.kubectl("member2", "get", "cm/c", code=None).code == 0, "what is in force stays"
        )
        daemon.wait_for("files", "/state cannot be written: File too large")
        tools.kubectl("member1", "cordon", "node-0", "node-1")
        tools.kubectl("member1", "delete", "pods", "--all", "--wait=false")
        daemon.wait_for("files", "shown cannot be written: File too large")
        assert json.loads(shown.read_text())["status"]["readyReplicas"] == 3, "the old file, whole"
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (most, most))
        daemon.wait_until(lambda: values(tools) == ["second"] * 3)
        daemon.wait_for("files", "/state can be written again")
        daemon.wait_for("files", "shown can be written again")
        daemon.wait_until(lambda: json.loads(shown.read_text())["status"].get("readyReplicas") == 2)
    events = json.loads((tools.cwd / "state/state.json").read_text())["events"]
    assert [one["text"] for one in events if one["kind"] == "files"] != []


def test_a_status_directory_that_cannot_be_used_is_told_before_anything_is_done(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("first")})
    said = tools.kadm("watch", "-C", root, "--once", "--state-dir", "state", "--status-dir", root / "kadm.yaml", code=1)
    assert said.err == f"error: {root}/kadm.yaml cannot be used: File exists (name another --status-dir)\n"
    assert tools.kubectl("member1", "get", "configmap/c", code=None).code == 1


def test_a_damaged_state_directory_is_told_and_made_anew(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("first")})
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root)
    with watching(tools, "--repo", root, "--interval", "1s") as daemon:
        daemon.wait_for("applied")
        daemon.stop(signal.SIGKILL)
    for path in (tools.cwd / "state").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    commit(root, c=config("second"))
    with watching(tools, "--repo", root, "--interval", "1s") as daemon:
        assert "/state.json is damaged" in daemon.wait_for("files")["message"]
        daemon.wait_until(lambda: values(tools) == ["second"] * 3)


def test_a_reload_of_a_broken_fleet_leaves_the_last_good_one_in_force(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("first")})
    good = (root / "kadm.yaml").read_text()
    with watching(tools, "-C", root, "--interval", "10m") as daemon:
        daemon.wait_for("applied")
        for number, broken in enumerate(("spec: [\n", "{}", good.replace("name: test", "name: Test!"), ""), 1):
            (root / "kadm.yaml").write_text(broken)
            daemon.process.send_signal(signal.SIGHUP)
            assert "kadm.yaml" in daemon.wait_for("broken", count=number)["message"]
        tools.kubectl("member2", "delete", "configmap/c")
        daemon.wait_until(lambda: tools.kubectl("member2", "get", "cm/c", code=None).code == 0, "it goes on")
        (root / "kadm.yaml").write_text(good)
        (root / "manifests/c.yaml").write_text(config("second"))
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_until(lambda: values(tools) == ["second"] * 3)


def test_a_daemon_whose_lease_is_taken_writes_nothing_until_it_is_free(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("first")})

    def stolen() -> None:
        for member in MEMBERS:
            tools.kubectl(member, "patch", LEASE, "-n", "kadm-system", "--type=merge", "-p", json.dumps(SOMEBODY))

    with watching(tools, "-C", root, "--interval", "1s") as daemon:
        daemon.wait_for("applied")
        daemon.wait_until_settled()
        stolen()
        daemon.wait_for("writer", "somebody@elsewhere")
        before = len(daemon.of("applied"))
        (root / "manifests/c.yaml").write_text(config("second"))
        daemon.wait_for("commit", count=2)
        stolen()  # as its new holder renews it
        daemon.wait_until(lambda: [one for one in daemon.lines if "another commit is in force" in one] != [])
        assert (values(tools), len(daemon.of("applied"))) == (["first"] * 3, before)
        daemon.wait_until(lambda: len(daemon.of("writer")) >= 3, "a Lease that nobody renews expires")
        daemon.wait_until(lambda: values(tools) == ["second"] * 3)


def test_a_person_and_the_daemon_apply_at_once(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("v0"), "manifests/web.yaml": web(3).replace("migrate", "everywhere")})
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root)
    with watching(tools, "--repo", root, "--branch", "main", "--interval", "1s") as daemon:
        daemon.wait_for("applied")
        for number in range(1, 5):
            commit(root, c=config(f"v{number}"), web=web(2 + number % 2).replace("migrate", "everywhere"))
            tools.kadm("-C", root, "apply", "--yes")
            assert values(tools) == [f"v{number}"] * 3
        daemon.wait_until_settled()
        assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0
        assert [one["message"] for one in daemon.of("failed") if "held by" not in one["message"]] == []
    leases = [tools.get(member, "lease/kadm-test", "-n", "kadm-system")["spec"] for member in MEMBERS]
    assert [one.get("holderIdentity") for one in leases] == [None] * 3
