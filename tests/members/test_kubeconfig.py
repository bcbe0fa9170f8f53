"""Which file and context reach a member."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kadm.errors import MemberUnreachable
from kadm.members.kubeconfig import Context, Kubeconfigs
from kadm.model.cluster import KubeconfigRef
from tests.members.fake_member import kubeconfig


def written(file: Path, content: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def kubeconfigs(tmp_path: Path, **environ: str) -> Kubeconfigs:
    root = tmp_path / "repo"
    root.mkdir(exist_ok=True)
    return Kubeconfigs(str(root), {"HOME": str(tmp_path / "home"), **environ})


def problem_of(found: Kubeconfigs, ref: KubeconfigRef) -> tuple[str, str]:
    with pytest.raises(MemberUnreachable) as caught:
        found.find("eu", ref)
    return caught.value.problem.what, caught.value.problem.why


def test_a_path_may_hold_the_home_directory_and_variables(tmp_path: Path) -> None:
    file = written(tmp_path / "home/.kube/prod", kubeconfig("https://eu", token="t"))
    found = kubeconfigs(tmp_path, STAGE="prod").find("eu", KubeconfigRef(path="~/.kube/${STAGE}"))
    assert found == Context("eu", file, {"server": "https://eu"}, {"token": "t"})


def test_without_a_path_the_usual_file_is_read(tmp_path: Path) -> None:
    file = written(tmp_path / "home/.kube/config", kubeconfig("https://eu"))
    assert kubeconfigs(tmp_path).find("eu", KubeconfigRef()).file == file


def test_kubeconfig_lists_several_files_and_the_first_wins(tmp_path: Path) -> None:
    first = written(
        tmp_path / "a/config",
        {
            "contexts": [{"name": "eu", "context": {"cluster": "eu", "user": "ci"}}],
            "clusters": [{"name": "eu", "cluster": {"server": "https://first", "certificate-authority": "ca.pem"}}],
        },
    )
    second = written(
        tmp_path / "b/config",
        {
            "contexts": [{"name": "eu", "context": {"cluster": "other"}}],
            "clusters": [{"name": "eu", "cluster": {"server": "https://second"}}],
            "users": [{"name": "ci", "user": {"client-certificate": "ci.pem", "client-key": "/abs/ci.key"}}],
        },
    )
    listed = f"{first}::{tmp_path / 'missing'}:{second}"
    assert kubeconfigs(tmp_path, KUBECONFIG=listed).find("eu", KubeconfigRef()) == Context(
        "eu",
        second,
        {"server": "https://first", "certificate-authority": str(tmp_path / "a/ca.pem")},
        {"client-certificate": str(tmp_path / "b/ci.pem"), "client-key": "/abs/ci.key"},
    )


def test_a_context_of_another_name(tmp_path: Path) -> None:
    written(tmp_path / "home/.kube/config", kubeconfig("https://eu", "gke_prod_eu"))
    assert kubeconfigs(tmp_path).find("eu", KubeconfigRef(context="gke_prod_eu")).name == "gke_prod_eu"


def test_a_context_without_a_user_has_no_credentials(tmp_path: Path) -> None:
    written(
        tmp_path / "home/.kube/config",
        {
            "contexts": [{"name": "eu", "context": {"cluster": "eu"}}],
            "clusters": [{"name": "eu", "cluster": {"server": "https://eu"}}],
            "users": None,
        },
    )
    assert kubeconfigs(tmp_path).find("eu", KubeconfigRef()).user == {}


def test_a_missing_context_lists_those_that_there_are(tmp_path: Path) -> None:
    file = written(tmp_path / "home/.kube/config", {"contexts": [{"name": "us"}, {"name": "asia"}]})
    assert problem_of(kubeconfigs(tmp_path), KubeconfigRef()) == (
        f"no context eu in {file}",
        "it holds the contexts asia, us",
    )


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param("{}", "it holds no context at all", id="empty"),
        pytest.param("", "it holds no context at all", id="no content"),
        pytest.param("[]", "it is not a mapping", id="a list"),
        pytest.param("contexts: {}", "it holds no context at all", id="contexts as an empty mapping"),
        pytest.param("contexts: {a: b}", "contexts is not a list", id="contexts as a mapping"),
        pytest.param("contexts: [{}]", "an entry of contexts has no name", id="no name"),
        pytest.param(
            "contexts: [{name: eu, context: {cluster: x}}]",
            "context eu names cluster 'x', which is not there",
            id="no cluster",
        ),
        pytest.param(
            "{contexts: [{name: eu, context: {cluster: x, user: u}}], clusters: [{name: x}]}",
            "context eu names user 'u', which is not there",
            id="no user",
        ),
        pytest.param("a: b: hunter2", "line 1", id="not YAML, and nothing of it is quoted"),
    ],
)
def test_unusable_files(tmp_path: Path, content: str, why: str) -> None:
    written(tmp_path / "home/.kube/config", content)
    assert problem_of(kubeconfigs(tmp_path), KubeconfigRef())[1] == why


def test_missing_files_are_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    none = kubeconfigs(tmp_path)
    assert [
        problem_of(none, KubeconfigRef())[0],
        problem_of(none, KubeconfigRef(path="/nowhere/config"))[0],
        problem_of(none, KubeconfigRef(path="${STAGE}/config"))[0],
        problem_of(kubeconfigs(tmp_path, KUBECONFIG="/a:/b"), KubeconfigRef())[0],
    ] == [
        f"no kubeconfig: {home}/.kube/config does not exist, and KUBECONFIG is not set",
        "kubeconfig /nowhere/config does not exist",
        "spec.kubeconfig.path is ${STAGE}/config, and STAGE is not set in the environment",
        "no kubeconfig: none of KUBECONFIG=/a:/b exists",
    ]


def test_what_is_no_file_is_told_as_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    usual = tmp_path / "home/.kube/config"
    usual.mkdir(parents=True)
    assert [
        problem_of(kubeconfigs(tmp_path), KubeconfigRef())[0],
        problem_of(kubeconfigs(tmp_path), KubeconfigRef(path=str(tmp_path)))[0],
        problem_of(kubeconfigs(tmp_path, KUBECONFIG=f"/none:{tmp_path}"), KubeconfigRef())[0],
        problem_of(kubeconfigs(tmp_path, KUBECONFIG=str(pipe)), KubeconfigRef())[0],
    ] == [
        f"no kubeconfig: {usual} is a directory, and KUBECONFIG is not set",
        f"kubeconfig {tmp_path} is a directory",
        f"no kubeconfig: KUBECONFIG names {tmp_path}, and it is a directory",
        f"no kubeconfig: KUBECONFIG names {pipe}, and it is no regular file",
    ]


def test_a_kubeconfig_inside_the_repository_is_refused(tmp_path: Path) -> None:
    """Also beside kadm.yaml's directory, and behind a link."""
    (tmp_path / ".git").mkdir()
    inside = written(tmp_path / "keys/config", kubeconfig("https://eu"))
    fleet = tmp_path / "fleet"
    fleet.mkdir()
    link = tmp_path.parent / f"{tmp_path.name}-link"
    link.symlink_to(inside)
    found = Kubeconfigs(str(fleet), {"HOME": "/nowhere", "KUBECONFIG": str(link)})
    assert [
        problem_of(found, KubeconfigRef(path="../keys/config"))[0],
        problem_of(found, KubeconfigRef(path=str(inside)))[0],
        problem_of(found, KubeconfigRef())[0],
    ] == [
        f"kubeconfig {inside} is inside the repository",
        f"kubeconfig {inside} is inside the repository",
        f"kubeconfig {link} is inside the repository",
    ]


def test_relative_paths_start_where_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the member's file: beside kadm.yaml. In KUBECONFIG: in the working directory."""
    stated = written(tmp_path / "keys/config", kubeconfig("https://stated"))
    listed = written(tmp_path / "work/config", kubeconfig("https://listed"))
    monkeypatch.chdir(tmp_path / "work")
    found = kubeconfigs(tmp_path, KUBECONFIG="config")
    assert [found.files("eu", "../keys/config"), found.files("eu", None)] == [(stated,), (listed,)]
