"""Builders of fleets on disk, with defaults, so that a test states only what it is about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kadm.errors import RepoError
from kadm.model.repository import Repo
from kadm.repo import load

FLEET = "apiVersion: kadm.io/v1alpha1\nkind: Fleet\nmetadata: {name: shop}\n"

POLICIES = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: everywhere}
spec: {schedulingMode: Duplicate}
"""

DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {}\n"

DEFAULTS = {"kadm.yaml": FLEET, "policies/p.yaml": POLICIES, "manifests/web.yaml": DEPLOYMENT}


def a_member(name: str, spec: str = "{}") -> str:
    return (
        f"apiVersion: core.kubeadmiral.io/v1alpha1\nkind: FederatedCluster\n"
        f"metadata: {{name: {name}, labels: {{region: {name}}}}}\nspec: {spec}\n"
    )


def a_policy(spec: str, *, kind: str = "ClusterPropagationPolicy", name: str = "p", namespace: str = "") -> str:
    place = f", namespace: {namespace}" if namespace else ""
    head = f"apiVersion: core.kubeadmiral.io/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}{place}}}\n"
    return f"{head}spec:\n{spec}" if "\n" in spec else f"{head}spec: {spec}\n"


def an_object(kind: str = "v1 ConfigMap", name: str = "x", *, metadata: str = "", rest: str = "") -> str:
    version, _, word = kind.partition(" ")
    more = f", {metadata}" if metadata else ""
    return f"apiVersion: {version}\nkind: {word}\nmetadata: {{name: {name}{more}}}\n{rest}"


def a_fleet(root: Path, files: Mapping[str, str | None] = {}) -> Path:
    """A directory with a small valid fleet of the members eu and us, changed by ``files``; None takes a file away."""
    members = {f"clusters/{name}.yaml": a_member(name) for name in ("eu", "us")}
    for path, text in {**DEFAULTS, **members, **files}.items():
        if text is not None:
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return root


def loaded(root: Path, files: Mapping[str, str | None] = {}) -> Repo:
    return load(a_fleet(root, files), environ={})


def problems_of(root: Path, files: Mapping[str, str | None] = {}, *, environ: Mapping[str, str] = {}) -> list[str]:
    """What is said about a fleet that cannot be used; warnings carry that word."""
    with pytest.raises(RepoError) as raised:
        load(a_fleet(root, files), environ=environ)
    return [f"warning {one}" if one.severity == "warning" else str(one) for one in raised.value.problems]


def warnings_of(root: Path, files: Mapping[str, str | None] = {}) -> list[str]:
    return [str(problem) for problem in loaded(root, files).warnings]
