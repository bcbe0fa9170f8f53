"""Real overlays from repository to members: built, applied, and nothing left to do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.small_fleet import Shared, shared_sandbox, small_fleet

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl"),
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with shared_sandbox(tmp_path_factory.mktemp("built")) as found:
        yield found


def test_a_kustomization_with_components(shared: Shared, tmp_path: Path, shared_data: Path) -> None:
    fleet = small_fleet(shared, tmp_path)
    boutique = fleet.root / "manifests/boutique"
    shutil.copytree(shared_data / "real-manifests/online-boutique-kustomize", boutique)
    fleet.apply("--no-wait")
    plan = fleet.plan("--detailed-exitcode")
    assert (plan["changes"], plan["summary"]["unchanged"]) == ([], 36)
    kustomization = boutique / "kustomization.yaml"
    text = kustomization.read_text().replace(
        "# - components/without-loadgenerator", "- components/without-loadgenerator"
    )
    kustomization.write_text(text)
    assert fleet.actions() == {"Deployment/loadgenerator": "delete"}
    kustomization.write_text(f"{text}\nhelmCharts: [{{name: x, repo: 'https://example.com'}}]\n")
    said = fleet.kadm("plan", code=1)
    assert (said.out, "manifests/boutique/kustomization.yaml:1:1: kubectl kustomize failed" in said.err) == ("", True)
