"""Two writers: those that start at the same moment, and one that no Lease told of."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kadm.sandbox.faults import Fault
from kadm.sandbox.process import inject
from tests.e2e.audit import Request, audited
from tests.e2e.running import BIN, TIMEOUT_S, Tools

pytestmark = pytest.mark.e2e

Fleet = Callable[..., Path]

MEMBERS = ("member1", "member2", "member3")


def config(value: str) -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{v: {value}}}\n"


def values(tools: Tools) -> list[str]:
    """What each member's ConfigMap says."""
    return [tools.get(member, "configmap/c")["data"]["v"] for member in MEMBERS]


@pytest.mark.parametrize("applied", [True, False], ids=["a fleet in use", "a new fleet"])
def test_two_that_start_at_the_same_moment(applied: bool, fleet: Fleet, tools: Tools) -> None:
    roots = [fleet({"manifests/c.yaml": config("v0")})]
    roots += [shutil.copytree(roots[0], tools.cwd / f"other{number}") for number in (1, 2)]
    if applied:
        tools.kadm("-C", roots[0], "apply", "--yes")
    for number, root in enumerate(roots):
        (root / "manifests/c.yaml").write_text(config(f"v{number}"), encoding="utf-8")
        (root / f"manifests/only{number}.yaml").write_text(
            config("x").replace("name: c", f"name: only{number}"), encoding="utf-8"
        )
    running = [
        subprocess.Popen(
            [str(BIN / "kadm"), "-C", str(root), "apply", "--yes"],
            cwd=tools.cwd,
            env=tools.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for root in roots[1:]
    ]
    said = [process.communicate(timeout=TIMEOUT_S)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    assert "Traceback" not in "".join(said)
    assert values(tools) in (["v1"] * 3, ["v2"] * 3), "never a mix"
    tools.kadm("-C", roots[0], "apply", "--yes", "--allow-deletes", "5")
    assert values(tools) == ["v0"] * 3
    names = {one["metadata"]["name"] for one in tools.get("member1", "configmaps")["items"]}
    assert names - {"kube-root-ca.crt"} == {"c", "only0"}
    assert tools.kadm("-C", roots[0], "plan", "--detailed-exitcode").code == 0


def test_a_writer_that_no_lease_told_of(fleet: Fleet, sandbox: Path, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("first")})
    tools.kadm("-C", root, "apply", "--yes")
    (root / "manifests/c.yaml").write_text(config("second"), encoding="utf-8")
    (root / "manifests/d.yaml").write_text(config("second").replace("name: c", "name: d"), encoding="utf-8")
    conflict = Fault(mode="status", status=409, methods=("PUT",), path="/configmaps/kadm-test")
    inject(sandbox, "member2", [conflict])
    said = tools.kadm("-C", root, "apply", "--yes", code=4)
    inject(sandbox, "member2", [])
    assert "member2" in said.err
    assert "record" in said.err, said.err
    assert values(tools) == ["second", "first", "second"], "nothing is written beside another writer"
    tools.kadm("-C", root, "apply", "--yes")
    assert values(tools) == ["second"] * 3
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0


def its_record_is_not_there(request: Request, status: int | None) -> bool:
    return status == 404 and request.path.endswith("/configmaps/kadm-test")


def its_objects_are_read(request: Request, status: int | None) -> bool:
    return status is None and request.path.endswith("/configmaps/c")


@pytest.mark.parametrize("when", [its_record_is_not_there, its_objects_are_read])
def test_a_first_run_that_is_through_while_another_one_reads(
    when: Callable[[Request, int | None], bool],
    fleet: Fleet,
    sandbox: Path,
    tools: Tools,
    tmp_path: Path,
) -> None:
    root = fleet({"manifests/c.yaml": config("first")})
    other = Tools(tmp_path / "other", dict(tools.env))
    other.cwd.mkdir()
    through: list[Request] = []

    def meanwhile(request: Request, status: int | None) -> bool:
        if not through and request.member == "member1" and when(request, status):
            through.append(request)
            other.kadm("-C", root, "apply", "--yes")
        return True

    with audited(sandbox, tmp_path) as audit:
        audit.hook = meanwhile
        tools.env["KUBECONFIG"] = str(audit.kubeconfig)
        said = tools.kadm("-C", root, "plan", "--detailed-exitcode")
    assert (said.code, len(through), said.err) == (0, 1, "")
