"""An apply killed at any moment and run again ends where an undisturbed one ends."""

from __future__ import annotations

import base64
import json
import random
import signal
import subprocess
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.process import down, up
from tests.e2e.running import BIN, Tools

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

MOMENTS = 20
KINDS = "deployments,services,configmaps,secrets,serviceaccounts,namespaces"
VOLATILE = {"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "ownerReferences"}

SPREAD = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: spread}
spec:
  schedulingMode: Divide
  placement:
  - {cluster: member1, preferences: {weight: W1}}
  - {cluster: member2, preferences: {weight: W2}}
  - {cluster: member3, preferences: {weight: 1}}
  reschedulePolicy:
    rescheduleWhen: {policyContentChanged: true}
    replicaRescheduling: {avoidDisruption: false}
"""


def manifest(name: str, *, replicas: int, image: str) -> str:
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  namespace: app
  labels: {{kubeadmiral.io/cluster-propagation-policy-name: spread}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers:
      - name: app
        image: {image}
        envFrom: [{{configMapRef: {{name: {name}}}}}, {{secretRef: {{name: {name}}}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}, namespace: app}}
data: {{a: b}}
---
apiVersion: v1
kind: Secret
metadata: {{name: {name}, namespace: app}}
stringData: {{a: b}}
"""


def write(root: Path, *, second: bool) -> None:
    """The first state of the repository, or the second: other weights, an image, a workload more and one less."""
    weights = {"W1": "1", "W2": "4"} if second else {"W1": "4", "W2": "1"}
    text = SPREAD
    for name, value in weights.items():
        text = text.replace(name, value)
    (root / "policies/spread.yaml").write_text(text)
    names = ["a", "b", "d"] if second else ["a", "b", "c"]
    for path in (root / "manifests").glob("*.yaml"):
        path.unlink()
    for name in names:
        image = "app:2" if second and name == "a" else "app:1"
        (root / f"manifests/{name}.yaml").write_text(manifest(name, replicas=6, image=image))


def state(tools: Tools, member: str) -> Any:
    """Everything in the member that must be equal: specs, labels, and kadm's record."""
    found = {}
    for item in tools.get(member, KINDS, "-A")["items"]:
        if item["metadata"]["name"] == "kube-root-ca.crt":  # each sandbox has its own authority
            continue
        if item["metadata"]["name"].endswith(".state"):  # stamps: hashes of uids and times
            continue
        metadata = {name: value for name, value in item["metadata"].items() if name not in VOLATILE}
        if metadata.get("namespace") == "kadm-system" and item["kind"] == "ConfigMap":
            body: Any = record(item) if item.get("binaryData") else {}
            metadata = {"name": metadata["name"]}
        elif metadata.get("namespace") == "app" or metadata["name"] in ("app", "kadm-system"):
            body = {field: item[field] for field in ("spec", "data") if field in item}
            body.get("spec", {}).pop("clusterIP", None)
            metadata.get("annotations", {}).pop("deployment.kubernetes.io/revision", None)
        else:
            continue
        found[f"{item['kind']}/{metadata.get('namespace')}/{metadata['name']}"] = (metadata, body)
    return found


def record(item: Any) -> Any:
    """The record in the ConfigMap, without uids."""
    (packed,) = item["binaryData"].values()
    decoded = json.loads(zlib.decompress(base64.b64decode(packed)))
    decoded["member_uid"] = ""
    for one in decoded.get("objects", ()):
        assert one.pop("uid", ""), f"an intent is left: {one}"
    return decoded


def test_killed_at_random_moments(fleet: Callable[..., Path], sandbox: Path, tools: Tools, tmp_path: Path) -> None:
    root = fleet({})
    write(root, second=False)
    tools.kadm("-C", root, "apply", "--yes")
    write(root, second=True)
    began = time.monotonic()
    tools.kadm("-C", root, "apply", "--yes", "--allow-deletes", "20")
    took = time.monotonic() - began
    want = {member: state(tools, member) for member in ("member1", "member2", "member3")}
    seed = random.Random(20261129)
    killed = 0
    for moment in range(MOMENTS):
        down(sandbox)
        up(sandbox, SandboxOptions(members=3, start_delay_s=0.05, ready_delay_s=0.05))
        write(root, second=False)
        tools.kadm("-C", root, "apply", "--yes")
        write(root, second=True)
        after_s = seed.uniform(0.2, took)
        if interrupted(tools, root, after_s=after_s):
            killed += 1
        else:
            took = max(after_s, 0.4)  # the machine has less to do than when an undisturbed run was timed
        tools.kadm("-C", root, "apply", "--yes", "--allow-deletes", "20")
        got = {member: state(tools, member) for member in want}
        assert unlike(got, want) == {}, f"moment {moment}"
        assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0
    assert killed >= MOMENTS // 2, "most runs ended before they were killed: nothing was tested"


def unlike(got: Any, want: Any) -> dict[str, Any]:
    """The objects that are not equal, by member and object."""
    return {
        f"{member} {name}": (got[member].get(name), want[member].get(name))
        for member in want
        for name in got[member].keys() | want[member].keys()
        if got[member].get(name) != want[member].get(name)
    }


def interrupted(tools: Tools, root: Path, *, after_s: float) -> bool:
    """Start an apply and kill it; whether it was still running."""
    process = subprocess.Popen(
        [str(BIN / "kadm"), "-C", str(root), "apply", "--yes", "--allow-deletes", "20"],
        cwd=tools.cwd,
        env=tools.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True
    return False
