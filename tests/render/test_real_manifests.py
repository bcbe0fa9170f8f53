"""Manifests that real projects ship: normalising changes nothing that it has normalised before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from kadm.render.normalise import normalise
from tests.render.builders import a_manifest

DATA = os.environ.get("KADM_TEST_DATA")
pytestmark = pytest.mark.skipif(DATA is None, reason="KADM_TEST_DATA is unset")


@pytest.mark.parametrize(
    "name", ["cassandra-statefulset.yaml", "guestbook.yaml", "ingress-nginx-cloud.yaml", "online-boutique.yaml"]
)
def test_normalising_settles(name: str) -> None:
    text = (Path(DATA or "") / "real-manifests" / name).read_text(encoding="utf-8")
    objects = [obj for obj in yaml.safe_load_all(text) if obj]
    once = [normalise(a_manifest(obj)).object for obj in objects]
    assert once == [normalise(a_manifest(obj)).object for obj in once]
    assert [obj["kind"] for obj in once] == [obj["kind"] for obj in objects]
