"""The members: FederatedCluster documents (design, section 3; scheduling spec 1.6)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from kadm.errors import Problem, RepoError
from kadm.model.cluster import FederatedCluster, FederatedClusterSpec, RecordedStatus
from kadm.repo.decode import decode
from kadm.repo.documents import Document
from kadm.repo.headers import header_problems, read_header

KUBEADMIRAL_VERSION = "core.kubeadmiral.io/v1alpha1"
CLUSTER_KIND = "FederatedCluster"

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Surroundings(Struct, frozen=True):
    """What the machine contributes to the question whether a kubeconfig is inside the repository.

    ``root`` is the directory of kadm.yaml, ``top`` that of the repository around it.
    """

    root: Path
    top: Path
    environ: Mapping[str, str]


class _Fields(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What a document of these kinds may hold."""

    api_version: str
    kind: str
    metadata: dict[str, Any]
    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


def read_cluster(document: Document, surroundings: Surroundings) -> FederatedCluster:
    """The member that a document describes. Raises RepoError with every fault."""
    header = read_header(document)
    if (header.api_version, header.kind) != (KUBEADMIRAL_VERSION, CLUSTER_KIND):
        what = f"{header.api_version} {header.kind} is no member of the fleet"
        hint = f"here stand {CLUSTER_KIND} documents of {KUBEADMIRAL_VERSION}; spec.clusters of kadm.yaml says where"
        raise RepoError([Problem(what=what, where=document.locate(("kind",)), hint=hint)])
    problems = header_problems(header, document)
    spec, status = FederatedClusterSpec(), None
    try:
        decode(document, _Fields)
        spec = decode(document, FederatedClusterSpec, path=("spec",))
        status = decode(document, RecordedStatus, path=("status",)) if document.value.get("status") else None
    except RepoError as error:
        problems += error.problems
    problems += _kubeconfig_problems(spec, document, surroundings)
    if problems:
        raise RepoError(problems)
    return FederatedCluster(
        name=header.metadata.name,
        location=document.location,
        labels=header.metadata.labels,
        annotations=header.metadata.annotations,
        terminating=header.metadata.deletion_timestamp is not None,
        spec=spec,
        status=status,
    )


def _kubeconfig_problems(spec: FederatedClusterSpec, document: Document, surroundings: Surroundings) -> list[Problem]:
    """A kubeconfig inside the repository is refused, wherever the file is read from (design, section 3)."""
    written = spec.kubeconfig.path
    if written is None:
        return []
    unset = [name for name in _VARIABLE.findall(written) if name not in surroundings.environ]
    if unset:  # where the file is, is known only where the members are reached
        return []
    expanded = _VARIABLE.sub(lambda match: surroundings.environ[match[1]], written)
    if expanded == "~" or expanded.startswith("~/"):
        expanded = surroundings.environ.get("HOME", str(Path.home())) + expanded[1:]
    named = Path(os.path.normpath(surroundings.root / expanded))
    if not any(place.is_relative_to(surroundings.top) for place in (named, named.resolve())):
        return []
    return [
        Problem(
            what=f"the kubeconfig {written} is inside the repository",
            where=document.locate(("spec", "kubeconfig", "path")),
            why="its exec plugin would run code of whoever can open a pull request, and it would hold credentials",
            hint="keep it elsewhere, e.g. in ~/.kube",
        )
    ]
