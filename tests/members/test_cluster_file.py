"""The file that describes a member: what people wrote in it stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from kadm.errors import Location, UsageError
from kadm.members.cluster_file import file_of, remove_cluster, write_cluster
from kadm.model.cluster import FederatedCluster, KubeconfigRef
from kadm.model.fleet import Fleet, FleetMetadata, FleetSpec
from tests.members.test_pool import a_repo

NEW = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: FederatedCluster
metadata:
  name: eu
  labels:
    region: eu
    tier: prod
spec:
  kubeconfig:
    path: ~/.kube/prod
    context: gke-eu
"""

COMMENTED = """\
---
# who: platform team
apiVersion: core.kubeadmiral.io/v1alpha1
kind: FederatedCluster
metadata:
  name: eu  # the oldest
  labels:
    region: "eu"   # never change
spec:
  taints:
    - key: "maintenance"   # until Friday
      effect: NoSchedule
"""

TWO = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: FederatedCluster
metadata:
  name: eu
---
# the other one
apiVersion: core.kubeadmiral.io/v1alpha1
kind: FederatedCluster
metadata:
  name: us
"""


@pytest.mark.parametrize(
    ("before", "kubeconfig", "labels", "changed", "after"),
    [
        pytest.param(
            None,
            KubeconfigRef(path="~/.kube/prod", context="gke-eu"),
            {"tier": "prod", "region": "eu"},
            True,
            NEW,
            id="a new file",
        ),
        pytest.param(
            NEW, KubeconfigRef(path="~/.kube/prod", context="gke-eu"), {"tier": "prod"}, False, NEW, id="joined again"
        ),
        pytest.param(
            None,
            KubeconfigRef(context="eu"),
            {},
            True,
            "apiVersion: core.kubeadmiral.io/v1alpha1\nkind: FederatedCluster\nmetadata:\n  name: eu\n",
            id="a context that is called like the member is not written",
        ),
        pytest.param(
            NEW, KubeconfigRef(context="eu"), {}, True, NEW.replace("gke-eu", "eu"), id="but it replaces another"
        ),
        pytest.param(
            COMMENTED,
            KubeconfigRef(),
            {"region": "eu", "zone": "a"},
            True,
            COMMENTED.replace("  # never change\n", "  # never change\n    zone: a\n"),
            id="comments, quotes and indentation stay",
        ),
        pytest.param(
            TWO,
            KubeconfigRef(),
            {"a": "b"},
            True,
            TWO.replace("  name: eu\n", "  name: eu\n  labels:\n    a: b\n"),
            id="one of two documents",
        ),
    ],
)
def test_write_cluster(
    tmp_path: Path, before: str | None, kubeconfig: KubeconfigRef, labels: dict[str, str], changed: bool, after: str
) -> None:
    file = tmp_path / "clusters/eu.yaml"
    if before is not None:
        file.parent.mkdir()
        file.write_text(before)
    got = write_cluster(file, "eu", kubeconfig=kubeconfig, labels=labels)
    assert (got, file.read_text(), [one.name for one in file.parent.iterdir()]) == (changed, after, ["eu.yaml"])


def test_a_member_is_taken_out_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "clusters.yaml"
    file.write_text(TWO)
    remove_cluster(file, "eu")
    assert file.read_text().endswith(TWO.partition("---\n")[2].partition("\n")[2])
    remove_cluster(file, "us")
    assert not file.exists()


@pytest.mark.parametrize(
    ("clusters", "want"),
    [
        pytest.param(("clusters",), "clusters/eu.yaml", id="usual"),
        pytest.param(("a.yaml", "b/*.yaml", "members"), "members/eu.yaml", id="the first directory"),
    ],
)
def test_where_a_new_member_is_described(tmp_path: Path, clusters: tuple[str, ...], want: str) -> None:
    fleet = Fleet(
        api_version="kadm.io/v1alpha1",
        kind="Fleet",
        metadata=FleetMetadata(name="shop"),
        spec=FleetSpec(clusters=clusters),
    )
    assert file_of(replace(a_repo(tmp_path), fleet=fleet), "eu") == tmp_path / want


def test_a_fleet_of_files_only_has_no_place_for_a_new_member(tmp_path: Path) -> None:
    fleet = Fleet(
        api_version="kadm.io/v1alpha1",
        kind="Fleet",
        metadata=FleetMetadata(name="shop"),
        spec=FleetSpec(clusters=("all.yaml",)),
    )
    with pytest.raises(UsageError, match="no directory of clusters"):
        file_of(replace(a_repo(tmp_path), fleet=fleet), "eu")


def test_a_known_member_is_where_it_is(tmp_path: Path) -> None:
    known = FederatedCluster(name="eu", location=Location("clusters/all.yaml", 7))
    assert file_of(replace(a_repo(tmp_path), clusters=(known,)), "eu") == tmp_path / "clusters/all.yaml"
