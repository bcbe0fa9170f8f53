"""The pool: members are read side by side, and one that fails harms no other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from kadm.errors import Location, MemberError, UsageError
from kadm.members import open_members
from kadm.model.cluster import FederatedCluster, FederatedClusterSpec, KubeconfigRef
from kadm.model.fleet import Fleet, FleetMetadata
from kadm.model.observation import MemberState, Observation
from kadm.model.repository import Repo
from tests.members.fake_member import FakeMember, a_cluster, kubeconfig, run, serving


def a_repo(root: Path, *names: str, path: str | None = None) -> Repo:
    spec = FederatedClusterSpec(kubeconfig=KubeconfigRef(path=path))
    return Repo(
        root=str(root),
        fleet=Fleet(api_version="kadm.io/v1alpha1", kind="Fleet", metadata=FleetMetadata(name="shop")),
        revision=None,
        clusters=tuple(
            FederatedCluster(name=name, location=Location(f"clusters/{name}.yaml"), spec=spec) for name in names
        ),
        manifests=(),
        propagation_policies={},
        override_policies={},
        profiles={},
        webhooks={},
        type_configs={},
    )


async def observed(tmp_path: Path, members: Mapping[str, FakeMember], *, missing: tuple[str, ...] = ()) -> Observation:
    """What the pool sees of these members; ``missing`` ones have no context."""
    root = tmp_path / "repo"
    root.mkdir()
    async with AsyncExitStack() as stack:
        files = []
        for name, member in members.items():
            await stack.enter_async_context(serving(member))
            file = tmp_path / name
            file.write_text(json.dumps(kubeconfig(member.url, name, token="t")))
            files.append(str(file))
        environ = {"KUBECONFIG": ":".join(files), "HOME": str(tmp_path)}
        repo = a_repo(root, *members, *missing)
        pool = await stack.enter_async_context(open_members(repo, environ=environ, request_timeout_s=5))
        return await pool.observe()


def test_members_are_observed(tmp_path: Path) -> None:
    observation = run(observed(tmp_path, {"eu": a_cluster("uid-eu"), "us": a_cluster("uid-us")}))
    assert dict(observation.members) == {
        "eu": MemberState(name="eu", uid="uid-eu", version="v1.36.2"),
        "us": MemberState(name="us", uid="uid-us", version="v1.36.2"),
    }


def test_a_member_that_cannot_be_read_is_unknown_and_the_others_are_read(tmp_path: Path) -> None:
    broken = a_cluster()
    del broken.objects["/api/v1/namespaces/kube-system"]
    observation = run(observed(tmp_path, {"eu": a_cluster(), "us": broken}, missing=("za",)))
    assert {name: unread.problem.what for name, unread in observation.unread.items()} == {
        "us": "namespace kube-system does not exist: the member cannot be identified",
        "za": f"no context za in {tmp_path / 'eu'}, {tmp_path / 'us'}",
    }
    assert list(observation.read) == ["eu"]


def test_two_members_that_are_the_same_cluster_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(MemberError, match="eu and us are the same cluster"):
        run(observed(tmp_path, {"eu": a_cluster("same"), "us": a_cluster("same")}))


def test_only_must_name_members(tmp_path: Path) -> None:
    async def opened() -> Any:
        async with open_members(a_repo(tmp_path, "eu"), only=("us",), environ={}):
            pass

    with pytest.raises(UsageError, match="no such member: us"):
        run(opened())
