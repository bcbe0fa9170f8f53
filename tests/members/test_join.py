"""Joining and unjoining, against members that behave like real ones."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kadm.errors import GuardError, KadmError, Location, MemberError, MemberRefused, MemberUnreachable, UsageError
from kadm.members.connection import Connection
from kadm.members.credentials import Credentials
from kadm.members.join import join
from kadm.members.kubeconfig import Kubeconfigs
from kadm.members.record import read_record, write_record
from kadm.members.resources import CONFIG_MAPS, NAMESPACES, get, server_side_apply
from kadm.members.unjoin import Unjoined, unjoin
from kadm.model.applyset import applyset_id, with_membership
from kadm.model.cluster import FederatedCluster, FederatedClusterSpec, KubeconfigRef
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.record import Record, RecordedObject
from kadm.model.repository import Repo
from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.running import Sandbox, running
from tests.members.fake_member import b64, run
from tests.members.test_pool import a_repo


@dataclass
class Field:
    """Two sandbox members, contexts ``one`` and ``two`` (and ``alias``, the first again), and an empty repository."""

    sandbox: Sandbox
    environ: dict[str, str]
    repo: Repo

    def with_members(self, **contexts: str) -> Repo:
        """The repository with these members, name → context."""
        clusters = tuple(
            FederatedCluster(
                name=name,
                location=Location(f"clusters/{name}.yaml"),
                spec=FederatedClusterSpec(kubeconfig=KubeconfigRef(context=context)),
            )
            for name, context in sorted(contexts.items())
        )
        return replace(self.repo, clusters=clusters)

    def use_token(self, token: str) -> None:
        """Let context ``one`` use this token."""
        file = Path(self.environ["KUBECONFIG"])
        config = json.loads(file.read_text())
        config["users"][0]["user"]["token"] = token
        file.write_text(json.dumps(config))

    def describe(self, name: str) -> Path:
        """Write the file of a member, and return it."""
        file = Path(self.repo.root, f"clusters/{name}.yaml")
        file.parent.mkdir()
        file.write_text(
            f"apiVersion: core.kubeadmiral.io/v1alpha1\nkind: FederatedCluster\nmetadata: {{name: {name}}}\n"
        )
        return file

    @asynccontextmanager
    async def connection(self, name: str, context: str) -> AsyncIterator[Connection]:
        cluster = self.with_members(**{name: context}).clusters[0]
        credentials = Credentials(Kubeconfigs(self.repo.root, self.environ), self.environ)
        access = await credentials.access(cluster, timeout_s=5)
        async with Connection(name, access, read_only=False) as connection:
            yield connection


@asynccontextmanager
async def a_field(tmp_path: Path) -> AsyncIterator[Field]:
    async with running(SandboxOptions(members=2, nodes=0, controllers=False)) as sandbox:
        one, two = sandbox.members.values()
        served = {"one": one, "two": two, "alias": one}
        config = {
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}} for name in served],
            "clusters": [
                {"name": name, "cluster": {"server": member.url, "certificate-authority-data": b64(member.ca)}}
                for name, member in served.items()
            ],
            "users": [{"name": name, "user": {"token": member.token}} for name, member in served.items()],
        }
        file = tmp_path / "kube/config"
        file.parent.mkdir()
        file.write_text(json.dumps(config))
        root = tmp_path / "repo"
        root.mkdir()
        yield Field(sandbox, {"KUBECONFIG": str(file), "HOME": str(tmp_path)}, a_repo(root))


def on_a_field(tmp_path: Path, work: Callable[[Field], Awaitable[Any]]) -> Any:
    """What ``work`` gives or raises, with a field; the sandbox would wrap what is raised inside it."""

    async def done() -> Any:
        async with a_field(tmp_path) as field:
            try:
                return await work(field)
            except KadmError as error:
                raised.append(error)

    raised: list[KadmError] = []
    result = run(done())
    if raised:
        raise raised[0]
    return result


EU_FILE = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: FederatedCluster
metadata:
  name: eu
  labels:
    region: eu
    tier: prod
spec:
  kubeconfig:
    context: one
"""


def test_join(tmp_path: Path) -> None:
    async def joined(field: Field) -> tuple[Any, ...]:
        first = await join(field.repo, "eu", context="one", labels={"region": "eu"}, environ=field.environ)
        repo = field.with_members(eu="one")
        again = await join(repo, "eu", labels={"region": "eu"}, environ=field.environ)
        other = await join(repo, "eu", labels={"tier": "prod"}, environ=field.environ)
        facts = [(one.file, one.file_changed, one.namespace_created, one.warnings) for one in (first, again, other)]
        return facts, (tmp_path / "repo/clusters/eu.yaml").read_text()

    assert on_a_field(tmp_path, joined) == (
        [
            ("clusters/eu.yaml", True, True, ()),
            ("clusters/eu.yaml", False, False, ()),
            ("clusters/eu.yaml", True, False, ()),
        ],
        EU_FILE,
    )


def test_a_kubeconfig_is_stored_as_others_can_use_it(tmp_path: Path) -> None:
    async def joined(field: Field) -> str:
        path = field.environ["KUBECONFIG"]
        await join(field.repo, "eu", context="one", kubeconfig=path, environ={"HOME": str(tmp_path)})
        return (tmp_path / "repo/clusters/eu.yaml").read_text()

    assert on_a_field(tmp_path, joined).partition("spec:\n")[2] == (
        "  kubeconfig:\n    path: ~/kube/config\n    context: one\n"
    )


@pytest.mark.parametrize(
    ("members", "options", "error", "what"),
    [
        pytest.param({"us": "alias"}, {"context": "one"}, MemberError, "is a member already, as us", id="another name"),
        pytest.param({}, {"context": "none"}, MemberUnreachable, "no context none in", id="no such context"),
        pytest.param({}, {"context": "one", "labels": {"a b": "c"}}, UsageError, "a label cannot be", id="label"),
        pytest.param({}, {"context": "one", "kubeconfig": "/nowhere"}, MemberUnreachable, "does not exist", id="file"),
    ],
)
def test_what_cannot_join(
    tmp_path: Path, members: dict[str, str], options: dict[str, Any], error: type[Exception], what: str
) -> None:
    async def refused(field: Field) -> bool:
        with pytest.raises(error, match=what):
            await join(field.with_members(**members), "eu", environ=field.environ, **options)
        async with field.connection("eu", "one") as connection:
            return await get(connection, NAMESPACES, "", "kadm-system") is None

    assert on_a_field(tmp_path, refused)
    assert not (tmp_path / "repo/clusters").exists()


def test_a_name_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be a member's name"):
        run(join(a_repo(tmp_path), "EU_1", environ={}))


def test_a_member_that_does_not_answer_is_only_a_warning_for_others(tmp_path: Path) -> None:
    async def joined(field: Field) -> tuple[str, ...]:
        repo = field.with_members(gone="missing")
        return tuple(one.what for one in (await join(repo, "eu", context="one", environ=field.environ)).warnings)

    assert on_a_field(tmp_path, joined) == ("it could not be checked whether gone is the same cluster",)


def test_a_cluster_whose_record_has_another_name(tmp_path: Path) -> None:
    async def refused(field: Field) -> None:
        await placed(field)
        await join(field.repo, "europe", context="one", environ=field.environ)

    with pytest.raises(MemberError, match="is a member already, as eu"):
        on_a_field(tmp_path, refused)


def test_a_credential_that_may_not_keep_records(tmp_path: Path) -> None:
    async def refused(field: Field) -> None:
        api = next(iter(field.sandbox.members.values())).api
        reader = {"metadata": {"name": "reader", "namespace": "default"}}
        api.create("serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", **reader}, manager="test")
        token = await token_of(field, "reader")
        role = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "reader"},
            "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}],
        }
        api.create("clusterroles.rbac.authorization.k8s.io", role, manager="test")
        binding = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "reader"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
            "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": "default"}],
        }
        api.create("clusterrolebindings.rbac.authorization.k8s.io", binding, manager="test")
        field.use_token(token)
        await join(field.repo, "eu", context="one", environ=field.environ)

    with pytest.raises(MemberRefused) as caught:
        on_a_field(tmp_path, refused)
    assert caught.value.problem.why == (
        "create configmaps in kadm-system, delete configmaps in kadm-system, update configmaps in kadm-system, "
        "create namespaces, create leases.coordination.k8s.io in kadm-system, "
        "update leases.coordination.k8s.io in kadm-system"
    )


async def token_of(field: Field, account: str) -> str:
    """A token for a service account of the first member."""
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    async with field.connection("eu", "one") as connection:
        path = f"/api/v1/namespaces/default/serviceaccounts/{account}/token"
        answer = await connection.request("POST", path, body=request)
        token: str = connection.decode(answer.body, dict[str, Any], path=path)["status"]["token"]
        return token


SET_ID = applyset_id("kadm-shop")


def a_config_map(name: str, namespace: str = "web", **annotations: str) -> JsonObject:
    metadata = {"name": name, "namespace": namespace, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": "v"}}


async def placed(field: Field) -> Record:
    """Member ``eu``, as kadm leaves it: a namespace with created, adopted, protected and foreign objects."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web"}}
    objects = []
    async with field.connection("eu", "one") as connection:
        foreign = field.sandbox.members["member1"].api
        for resource, obj, origin in (
            (NAMESPACES, namespace, "created"),
            (CONFIG_MAPS, a_config_map("created"), "created"),
            (CONFIG_MAPS, a_config_map("adopted"), "adopted"),
            (CONFIG_MAPS, a_config_map("protected", **{"kadm.io/protect": "true"}), "created"),
        ):
            applied = await server_side_apply(
                connection, resource, with_membership(obj, SET_ID), manager="kadm-shop", force=True
            )
            metadata = applied.object["metadata"]
            objects.append(
                RecordedObject(
                    version="v1",
                    kind=resource.kind,
                    namespace=metadata.get("namespace", ""),
                    name=metadata["name"],
                    uid=metadata["uid"],
                    origin=origin,  # type: ignore[arg-type]
                )
            )
        objects.append(RecordedObject(version="v1", kind="ConfigMap", namespace="web", name="gone", uid="uid-gone"))
        foreign.create("configmaps", a_config_map("foreign"), manager="kubectl")
        kube_system = await get(connection, NAMESPACES, "", "kube-system")
        assert kube_system is not None
        record = Record(fleet="shop", member="eu", member_uid=kube_system["metadata"]["uid"], objects=tuple(objects))
        return await write_record(connection, record)


def key(name: str) -> ObjectKey:
    return ObjectKey("", "ConfigMap", "web", name)


NAMESPACE = ObjectKey("", "Namespace", "", "web")


async def left(field: Field, options: dict[str, Any]) -> tuple[Any, list[str], list[str], bool, bool]:
    """What unjoin says; the ConfigMaps that are left, those that bear kadm's marks, whether record and file are."""
    record = await placed(field)
    file = field.describe("eu")
    try:
        said: Any = await unjoin(field.with_members(eu="one"), "eu", environ=field.environ, **options)
    except GuardError as error:
        said = error
    api = field.sandbox.members["member1"].api
    live = api.list("configmaps", "web")
    marked = [
        one["metadata"]["name"]
        for one in live
        if "kadm" in json.dumps([one["metadata"].get("managedFields"), one["metadata"].get("labels")])
    ]
    async with field.connection("eu", "one") as connection:
        found = await read_record(connection, "shop", member_uid=record.member_uid)
    described = file in set(file.parent.iterdir())
    return said, [one["metadata"]["name"] for one in live], marked, found is not None, described


def test_unjoin_refuses_while_the_member_holds_objects(tmp_path: Path) -> None:
    said, names, marked, *kept = on_a_field(tmp_path, lambda field: left(field, {}))
    assert isinstance(said, GuardError)
    assert (len(said.held), names, marked, kept) == (
        5,
        ["adopted", "created", "foreign", "protected"],
        ["adopted", "created", "protected"],
        [True, True],
    )


def test_unjoin_releases(tmp_path: Path) -> None:
    said = on_a_field(tmp_path, lambda field: left(field, {"objects": "release"}))
    assert said == (
        Unjoined(
            name="eu",
            file="clusters/eu.yaml",
            released=(key("adopted"), key("created"), key("protected"), NAMESPACE),
        ),
        ["adopted", "created", "foreign", "protected"],
        [],
        False,
        False,
    )


def test_unjoin_deletes_what_kadm_made_and_nothing_else(tmp_path: Path) -> None:
    said = on_a_field(tmp_path, lambda field: left(field, {"objects": "delete"}))
    assert said == (
        Unjoined(
            name="eu",
            file="clusters/eu.yaml",
            released=(key("adopted"), key("protected"), NAMESPACE),
            deleted=(key("created"),),
            kept={
                key("adopted"): "it existed before kadm",
                key("protected"): "it is marked kadm.io/protect",
                NAMESPACE: "it still holds ConfigMap/foreign",
            },
        ),
        ["adopted", "foreign", "protected"],
        [],
        False,
        False,
    )


def test_unjoin_knows_members_only(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such member: eu"):
        run(unjoin(a_repo(tmp_path), "eu", environ={}))
