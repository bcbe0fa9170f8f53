"""Manifests that people really apply: each is accepted, its defaults settle, and sending it again changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds import crds, strategy
from kadm.sandbox.kinds.registry import BUILTIN_KINDS, ResourceKind
from tests.sandbox.kinds.objects import NOW, a_context

DATA = os.environ.get("KADM_TEST_DATA")
FILES = (
    "argo-cd-install.yaml",
    "cassandra-statefulset.yaml",
    "guestbook.yaml",
    "ingress-nginx-cloud.yaml",
    "online-boutique.yaml",
)


def manifests(file: Path) -> Iterator[JsonObject]:
    for document in yaml.load_all(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader):
        if document:
            yield document


@pytest.mark.skipif(DATA is None, reason="KADM_TEST_DATA is not set")
@pytest.mark.parametrize("name", FILES)
def test_manifests_settle(name: str) -> None:
    kinds: dict[tuple[str, str], ResourceKind] = {(kind.api_version, kind.kind): kind for kind in BUILTIN_KINDS}
    ctx = a_context()
    unsettled = []
    for manifest in manifests(Path(DATA or "") / "real-manifests" / name):
        kind = kinds[(manifest["apiVersion"], manifest["kind"])]
        if kind.namespaced:
            manifest["metadata"]["namespace"] = "shop"
        stored = strategy.create(kind, strategy.defaults(kind, manifest), ctx)
        if kind.kind == "CustomResourceDefinition":
            served = crds.kinds_of(crds.accepted(stored, [], NOW))
            kinds |= {(each.api_version, each.kind): each for each in served}
        again = strategy.update(kind, strategy.defaults(kind, stored), stored, ctx)
        if again != stored:
            unsettled.append(f"{kind.kind} {manifest['metadata']['name']}")
    assert unsettled == []
