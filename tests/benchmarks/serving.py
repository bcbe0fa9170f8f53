"""How soon a status change shows in the daemon's JSON: ``python -m tests.benchmarks.serving [MEMBERS [CHANGES]]``.

Prints a table; checks nothing. A sandbox of MEMBERS (50) members runs in a process of its own, a daemon in another. A
workload is scaled by hand in one member after another; the JSON API is polled, as a client would with the ETag, until
it shows how many replicas are ready then. Measured is the time between the member's own watch event that says so, and
the API's answer that does. The time of a poll that changes nothing is printed beside it, as the reference.
"""

from __future__ import annotations

import json
import re
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.process import down, up
from tests.e2e.conftest import CLUSTER, FLEET
from tests.e2e.running import BIN

POLL_S = 0.005
WITHIN_S = 120.0

POLICY = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: everywhere}
spec: {schedulingMode: Duplicate}
"""

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "app:1"}]}
"""


@dataclass
class Api:
    """The daemon's JSON, polled with the ETag that was answered last."""

    url: str
    etag: str = ""

    def changed(self) -> Any:
        """The workloads, None while they are as they were."""
        headers = {"If-None-Match": self.etag} if self.etag else {}
        request = urllib.request.Request(f"{self.url}/api/v1/workloads", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                self.etag = answer.headers["ETag"]
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 304:
                    return None
                raise


@dataclass
class Member:
    """One member, reached as its kubeconfig says."""

    server: str
    context: ssl.SSLContext
    token: str

    def scaled(self, replicas: int) -> float:
        """Scale the workload; when the member said that so many are ready, by the monotonic clock."""
        with self._open("GET", "deployments?watch=true&fieldSelector=metadata.name%3Dweb") as events:
            self._open("PATCH", "deployments/web/scale", {"spec": {"replicas": replicas}}).close()
            for line in events:
                status = json.loads(line)["object"].get("status", {})
                if status.get("readyReplicas", 0) == status.get("replicas", 0) == replicas:
                    return time.monotonic()
        raise SystemExit("the member's watch ended")

    def _open(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/merge-patch+json"}
        url = f"{self.server}/apis/apps/v1/namespaces/default/{path}"
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(url, data=data, method=method, headers=headers)
        return urllib.request.urlopen(request, context=self.context, timeout=30)


def members_of(kubeconfig: Path) -> dict[str, Member]:
    """Context → member."""
    found = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    clusters = {one["name"]: one["cluster"] for one in found["clusters"]}
    users = {one["name"]: one["user"] for one in found["users"]}
    members = {}
    for entry in found["contexts"]:
        cluster, user = clusters[entry["context"]["cluster"]], users[entry["context"]["user"]]
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE  # members on this machine
        if "client-certificate" in user:
            context.load_cert_chain(user["client-certificate"], user["client-key"])
        members[entry["name"]] = Member(cluster["server"], context, user.get("token", ""))
    return members


def shown(document: Any, member: str) -> int | None:
    """What the document says is ready in a member."""
    copies = [one for workload in document["workloads"] for one in workload["members"] if one["cluster"] == member]
    return copies[0]["ready"] if copies else None


def until(api: Api, done: Any) -> float:
    """When a document first satisfies ``done``, by the monotonic clock."""
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        document = api.changed()
        if document is not None and done(document):
            return time.monotonic()
        time.sleep(POLL_S)
    raise SystemExit("the change never showed")


def address_of(daemon: subprocess.Popen[str]) -> str:
    """Where the daemon serves; its log is read to its end beside."""
    assert daemon.stderr is not None
    for line in daemon.stderr:
        if found := re.search(r"serving on (http://\S+)", line):
            threading.Thread(target=daemon.stderr.read, daemon=True).start()
            return found[1]
    raise SystemExit("the daemon did not start")


def measured(root: Path, count: int, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds until each change showed, and seconds of polls that changed nothing."""
    sandbox = root / "sandbox"
    up(sandbox, SandboxOptions(members=count))
    try:
        fleet = root / "fleet"
        files = {"kadm.yaml": FLEET, "policies/everywhere.yaml": POLICY, "manifests/web.yaml": WEB}
        files |= {
            f"clusters/member{number}.yaml": CLUSTER.format(name=f"member{number}") for number in range(1, count + 1)
        }
        for path, text in files.items():
            (fleet / path).parent.mkdir(parents=True, exist_ok=True)
            (fleet / path).write_text(text, encoding="utf-8")
        members = members_of(sandbox / "kubeconfig")
        daemon = subprocess.Popen(
            [
                *(str(BIN / "kadm"), "watch", "-C", str(fleet), "--state-dir", str(root / "state")),
                *("--listen", "127.0.0.1:0", "--drift", "report"),
            ],
            env={"PATH": "/usr/bin:/bin", "HOME": str(root), "KUBECONFIG": str(sandbox / "kubeconfig")},
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            api = Api(address_of(daemon))
            until(api, lambda found: all(shown(found, f"member{number}") == 1 for number in range(1, count + 1)))
            return changes(api, members, count, rounds), quiet(api, rounds)
        finally:
            daemon.terminate()
            daemon.wait(10)
    finally:
        down(sandbox)


def changes(api: Api, members: dict[str, Member], count: int, rounds: int) -> list[float]:
    """Change one member after another, each until it shows."""
    took = []
    for number in range(rounds):
        name = f"member{number % count + 1}"
        replicas = 2 if number // count % 2 == 0 else 1
        polled: list[float] = []
        polling = threading.Thread(
            target=lambda name=name, replicas=replicas, polled=polled: polled.append(
                until(api, lambda found: shown(found, name) == replicas)
            )
        )
        polling.start()
        began = members[name].scaled(replicas)
        polling.join()
        took.append(polled[0] - began)
    return took


def quiet(api: Api, rounds: int) -> list[float]:
    took = []
    for _ in range(rounds):
        began = time.monotonic()
        api.changed()
        took.append(time.monotonic() - began)
    return took


def main(arguments: list[str]) -> None:
    count = int(arguments[0]) if arguments else 50
    rounds = int(arguments[1]) if len(arguments) > 1 else 100
    with tempfile.TemporaryDirectory(prefix="kadm-benchmark-") as directory:
        took, polls = measured(Path(directory), count, rounds)
    print(f"{rounds} status changes over {count} members, until the JSON API shows them")
    for name, values in (("change shows after", took), ("a poll takes", polls)):
        ordered = sorted(values)
        cells = (statistics.median(ordered), ordered[int(len(ordered) * 0.95)], ordered[-1])
        print(
            f"  {name:20}"
            + "".join(
                f"{text} {value * 1000:8.1f} ms  " for text, value in zip(("median", "p95", "max"), cells, strict=True)
            )
        )


if __name__ == "__main__":
    main(sys.argv[1:])
