"""What is tried again, and what is not; and the end of writing when the Lease is somebody else's."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kadm.sandbox.faults import Fault
from kadm.sandbox.process import inject
from tests.e2e.running import BIN, TIMEOUT_S, Tools

pytestmark = pytest.mark.e2e

WRITES = r"\?(?!.*dryRun)"

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer}}}}
"""


def widget(size: int) -> str:
    return f"apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: w}}\nspec: {{size: {size}}}\n"


def config(value: str) -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{v: {value}}}\n"


def test_the_manifest_s_fault_is_told_by_file_and_line(fleet: Callable[..., Path], tools: Tools) -> None:
    wrong = widget(1).replace("size: 1", "size: 1, wrong: 1")
    root = fleet({"manifests/crd.yaml": CRD, "manifests/w.yaml": wrong}, members=1)
    began = time.monotonic()
    said = tools.kadm("-C", root, "apply", "--yes", code=1)
    assert "manifests/w.yaml:1:1 in member1: the manifest does not fit its kind in this member" in said.err
    assert time.monotonic() - began > 10, "the schema of a new CRD may come a little later"
    (root / "manifests/w.yaml").write_text(widget(2))
    tools.kadm("-C", root, "apply", "--yes")
    assert tools.get("member1", "widget/w")["spec"] == {"size": 2}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(mode="status", status=503, methods=("PATCH",), path=f"/c{WRITES}", times=2), id="503"),
        pytest.param(Fault(mode="status", status=429, methods=("PATCH",), path=f"/c{WRITES}", times=2), id="429"),
        pytest.param(
            Fault(mode="status", status=409, methods=("PUT",), path="/configmaps/kadm-test", times=2),
            id="409 on the record, which nobody wrote",
        ),
        pytest.param(Fault(mode="reset", methods=("PUT",), path="/leases/", times=1), id="the Lease's answer is lost"),
    ],
)
def test_what_passes_is_tried_again(fault: Fault, fleet: Callable[..., Path], sandbox: Path, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("a")}, members=1)
    tools.kadm("-C", root, "apply", "--yes")
    (root / "manifests/c.yaml").write_text(config("b"))
    inject(sandbox, "member1", [fault])
    tools.kadm("-C", root, "apply", "--yes")
    assert tools.get("member1", "configmap/c")["data"] == {"v": "b"}


def test_who_has_lost_the_lease_writes_no_more(fleet: Callable[..., Path], sandbox: Path, tools: Tools) -> None:
    slow = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: slow}
spec:
  selector: {matchLabels: {app: slow}}
  template: {metadata: {labels: {app: slow}}, spec: {containers: [{name: app, image: "app:broken"}]}}
"""
    gone = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone, namespace: kept}\n"
    kept = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, namespace: kept}\n"
    root = fleet({"manifests/gone.yaml": gone, "manifests/kept.yaml": kept}, members=1)
    tools.kadm("-C", root, "apply", "--yes")
    (root / "manifests/gone.yaml").unlink()
    (root / "manifests/slow.yaml").write_text(slow)
    process = subprocess.Popen(
        [str(BIN / "kadm"), "-v", "-C", str(root), "apply", "--yes", "--timeout", "8"],
        cwd=tools.cwd,
        env=tools.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "waiting" in line and "slow" in line:
            break
    stolen = json.dumps({"spec": {"holderIdentity": "somebody@else/1"}})
    tools.kubectl("member1", "patch", "lease/kadm-test", "-n", "kadm-system", "--type=merge", "-p", stolen)
    began = time.monotonic()
    _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode in (1, 4)
    assert "this run may not write here any more: another run of kadm wrote the Lease meanwhile" in err
    assert time.monotonic() - began < 30
    assert tools.get("member1", "configmap/gone", "-n", "kept")["metadata"]["name"] == "gone"
    lease = tools.get("member1", "lease/kadm-test", "-n", "kadm-system")["spec"]
    assert lease["holderIdentity"] == "somebody@else/1", "what is not held is not given back"
