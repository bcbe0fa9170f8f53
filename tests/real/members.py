"""The members that a test runs on: embedded ones, or real API servers. What is written here holds for both."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.process import down, up
from tests.e2e.access import Access, access
from tests.real.binaries import NoControlPlane
from tests.real.control_plane import used

KUBECONFIG = "KADM_TEST_KUBECONFIG"
CONTEXTS = "KADM_TEST_CONTEXTS"
MEMBERS = 3

Sort = Literal["sandbox", "real"]
Version = tuple[int, int]


@dataclass(frozen=True)
class Members:
    """Running members. ``directory`` holds a ``kubeconfig`` with a context member1, member2, … for each of them."""

    sort: Sort
    directory: Path
    names: tuple[str, ...]
    version: Version
    """Of the first: a fleet of a test is of one version."""

    @property
    def kubeconfig(self) -> Path:
        return self.directory / "kubeconfig"

    def access(self, name: str) -> Access:
        return access(self.kubeconfig, name)


@contextmanager
def sandbox(directory: Path) -> Iterator[Members]:
    """Three embedded members, for the time of the block."""
    up(directory, SandboxOptions(members=MEMBERS, start_delay_s=0.05, ready_delay_s=0.05))
    try:
        yield _members("sandbox", directory, MEMBERS)
    finally:
        down(directory)


@contextmanager
def real(directory: Path, shared: Path) -> Iterator[Members]:
    """Real API servers: those that the environment names, else those of the fleet in ``shared``, started if need be.

    Raises NoControlPlane where there are none.
    """
    named = os.environ.get(KUBECONFIG)
    if named:
        contexts = (os.environ.get(CONTEXTS) or "").replace(",", " ").split()
        if not contexts:
            raise NoControlPlane(f"{KUBECONFIG} is set, but {CONTEXTS} names none of its contexts")
        yield _members("real", _renamed(Path(named), contexts, directory), len(contexts))
        return
    with used(shared) as kubeconfig:
        yield _members("real", kubeconfig.parent, MEMBERS)


def _members(sort: Sort, directory: Path, count: int) -> Members:
    names = tuple(f"member{number}" for number in range(1, count + 1))
    version = access(directory / "kubeconfig", names[0]).call("GET", "/version")
    major, minor = (int("".join(filter(str.isdigit, version[part]))) for part in ("major", "minor"))
    return Members(sort, directory, names, (major, minor))


def _renamed(kubeconfig: Path, contexts: list[str], directory: Path) -> Path:
    """A directory with a kubeconfig in which these contexts, and their clusters and users, are member1, member2, …"""
    config: dict[str, Any] = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    parts: dict[str, list[dict[str, Any]]] = {"clusters": [], "users": [], "contexts": []}
    for number, context in enumerate(contexts, start=1):
        name = f"member{number}"
        chosen = next(one["context"] for one in config["contexts"] if one["name"] == context)
        for part, field in (("clusters", "cluster"), ("users", "user")):
            found = next(one[field] for one in config[part] if one["name"] == chosen[field])
            parts[part].append({"name": name, field: found})
        parts["contexts"].append({"name": name, "context": {"cluster": name, "user": name}})
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / "kubeconfig"
    target.touch(mode=0o600)
    first = {"apiVersion": "v1", "kind": "Config", "current-context": "member1"}
    target.write_text(yaml.safe_dump({**first, **parts}), encoding="utf-8")
    return directory
