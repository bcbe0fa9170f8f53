"""The files of a new fleet."""

from __future__ import annotations

import re
from pathlib import Path

from kadm.cli.console import Console
from kadm.cli.plan_json import API_VERSION, encode
from kadm.errors import UsageError

FLEET = """\
# A fleet: what runs in which cluster. `kadm plan` shows what would change, `kadm apply` does it.
apiVersion: kadm.io/v1alpha1
kind: Fleet
metadata:
  name: {name}              # names kadm's record and field manager in every member; keep it
spec:
  manifests: [manifests]    # native objects: files, directories or globs, relative to this file
  policies: [policies]      # where they go (PropagationPolicy) and how they differ (OverridePolicy)
  clusters: [clusters]      # the members; `kadm join NAME --context CONTEXT` writes one
  defaults:
    clusterPropagationPolicy: everywhere   # for objects that no label binds to a policy
  # namespace: default      # of objects that do not say theirs
  # deletions: {max: 10, percent: 20}    # per member; more needs --allow-deletes N (kadm help guards)
"""

POLICY = """\
# Everything that no other policy claims runs in every member, as it is written.
# To divide a workload's replicas instead, see schedulingMode: Divide.
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata:
  name: everywhere
spec:
  schedulingMode: Duplicate
  reschedulePolicy:         # what places an object anew once it has a place (kadm help placement)
    rescheduleWhen:
      policyContentChanged: true
      clusterJoined: true   # a new member gets everything, too; without it, only what is new
---
# One workload's replicas spread over all members, evenly. Bind it with the label
#   kubeadmiral.io/cluster-propagation-policy-name: spread
# on a manifest. More policies to copy: see the policies/ directory of kadm's own repository.
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata:
  name: spread
spec:
  schedulingMode: Divide
  placement: []             # e.g. [{cluster: eu-1, preferences: {weight: 2, minReplicas: 1}}]
"""

MANIFEST = """\
# A native object, as you would give it to kubectl. The policy in kadm.yaml's defaults places it.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: hello
  labels: {app: hello}
spec:
  replicas: 2
  selector:
    matchLabels: {app: hello}
  template:
    metadata:
      labels: {app: hello}
    spec:
      containers:
      - name: hello
        image: nginx:1.29
        resources:
          requests: {cpu: 50m, memory: 32Mi}
"""

CLUSTERS = """\
# Members

One file per cluster, written by `kadm join NAME --context CONTEXT --label region=eu`. No credentials here: a file says
which context of a kubeconfig outside this repository reaches the cluster.
"""

FILES = {
    "kadm.yaml": FLEET,
    "policies/everywhere.yaml": POLICY,
    "manifests/hello.yaml": MANIFEST,
    "clusters/README.md": CLUSTERS,
}
"""Path → text; ``{name}`` is the fleet's."""

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def run_init(console: Console, directory: Path, name: str | None, *, as_json: bool) -> None:
    """Start a fleet, and tell which files were written and what comes next."""
    fleet = name if name is not None else _name_from(directory)
    made = start_fleet(directory, fleet)
    if as_json:
        document = {"apiVersion": API_VERSION, "kind": "Started", "fleet": fleet, "files": [str(path) for path in made]}
        console.data(encode(document))
        return
    for path in made:
        console.data(f"wrote {path}")
    console.info("next: kadm join NAME --context CONTEXT, or kadm sandbox up to try it without a cluster")


def start_fleet(directory: Path, fleet: str) -> list[Path]:
    """Write the files of a new fleet, and return them. Raises UsageError where one is there, or the name is none."""
    if not _NAME.fullmatch(fleet) or len(fleet) > 63:
        raise UsageError(
            f"{fleet!r} cannot name a fleet",
            why="it is lower-case letters, digits and dashes, at most 63",
            hint="kadm init DIR --name NAME",
        )
    paths = {directory / path: text.replace("{name}", fleet) for path, text in FILES.items()}
    if there := [path for path in paths if path.exists()]:
        raise UsageError(f"{there[0]} is there already", hint="kadm init starts new fleets only")
    for path, text in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(paths)


def _name_from(directory: Path) -> str:
    """A fleet's name out of its directory's."""
    plain = re.sub(r"[^a-z0-9]+", "-", directory.resolve().name.lower()).strip("-")
    return plain or "fleet"
