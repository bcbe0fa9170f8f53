"""Commits: what is recorded of the work tree, and reading a commit without touching it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kadm.errors import RepoError
from kadm.model.repository import Repo, Revision
from kadm.repo import load
from tests.repo.fleets import a_fleet, an_object

_AS = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z"}
_AS |= {key.replace("AUTHOR", "COMMITTER"): value for key, value in _AS.items()}


def git(directory: Path, *arguments: str) -> str:
    environ = {**os.environ, **_AS, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(directory), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environ).stdout.strip()


def committed(directory: Path) -> str:
    """Commits everything below ``directory``, and returns the commit."""
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "-m", "x")
    return git(directory, "rev-parse", "HEAD")


def a_repository(top: Path, directory: str = ".") -> Path:
    """A fleet in ``directory`` of a new git repository, not committed yet."""
    top.mkdir(exist_ok=True)
    git(top, "init", "-q", "-b", "main")
    return a_fleet(top / directory)


def names(repo: Repo) -> list[str]:
    return [one.key.name for one in repo.manifests]


def refusal(directory: Path, ref: str) -> str:
    with pytest.raises(RepoError) as raised:
        load(directory, ref=ref)
    return str(raised.value)


def test_the_revision_is_that_of_the_fleet_s_directory(tmp_path: Path) -> None:
    root = a_repository(tmp_path, "fleets/shop")
    assert load(root).revision is None  # no commit yet
    commit = committed(tmp_path)
    assert load(root).revision == Revision(commit)
    (tmp_path / "other.txt").write_text("outside of the fleet")
    assert load(root).revision == Revision(commit)
    (root / "manifests" / "new.yaml").write_text(an_object())
    assert str(load(root).revision) == f"{commit}+dirty"


@pytest.mark.parametrize("directory", [".", "fleets/shop"])
def test_a_commit_is_read_without_the_work_tree(tmp_path: Path, directory: str) -> None:
    root = a_repository(tmp_path, directory)
    (root / "manifests" / "team" / "é").mkdir(parents=True)
    (root / "manifests" / "team" / "é" / "deep.yaml").write_text(an_object(name="deep"))
    first = committed(tmp_path)
    (root / "manifests" / "web.yaml").write_text("a: [broken")
    (root / "kadm.yaml").unlink()
    index = (tmp_path / ".git" / "index").read_bytes()
    repo = load(root, ref="HEAD")
    assert (names(repo), repo.revision, str(repo.manifests[0].location)) == (
        ["deep", "web"],
        Revision(first),
        "manifests/team/é/deep.yaml:1:1",
    )
    assert (tmp_path / ".git" / "index").read_bytes() == index
    assert not (root / "kadm.yaml").exists()


def test_an_older_commit(tmp_path: Path) -> None:
    root = a_repository(tmp_path)
    first = committed(tmp_path)
    (root / "manifests" / "new.yaml").write_text(an_object(name="new"))
    committed(tmp_path)
    git(tmp_path, "tag", "v1", first)
    assert [names(load(root, ref=ref)) for ref in ("v1", "HEAD~1", first[:10], "main")] == [
        ["web"],
        ["web"],
        ["web"],
        ["new", "web"],
    ]


def test_links_in_a_commit(tmp_path: Path) -> None:
    root = a_repository(tmp_path, "fleets/shop")
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "shared.yaml").write_text(an_object(name="shared"))
    (root / "manifests" / "file.yaml").symlink_to("../../../base/shared.yaml")
    (root / "more").symlink_to("../../base")
    committed(tmp_path)
    (tmp_path / "base" / "shared.yaml").unlink()
    assert names(load(root, ref="HEAD")) == ["shared", "web"]


@pytest.mark.parametrize(
    ("target", "why"),
    [
        pytest.param("/etc/passwd", "the link leads out of the repository (put the file itself there)", id="absolute"),
        pytest.param("../../x", "the link leads out of the repository (put the file itself there)", id="out"),
        pytest.param("nowhere", "the link leads nowhere", id="broken"),
        pytest.param("x.yaml", "the links go in circles (put the file itself there)", id="itself"),
        pytest.param(".", "the link leads to a directory around it (remove the link)", id="circle"),
    ],
)
def test_links_that_a_commit_must_not_hold(tmp_path: Path, target: str, why: str) -> None:
    root = a_repository(tmp_path)
    (root / "manifests" / "x.yaml").symlink_to(target)
    committed(tmp_path)
    assert refusal(root, "HEAD").partition(" cannot be read: ")[2] == why


def test_submodules_are_not_part_of_a_commit(tmp_path: Path) -> None:
    vendor = tmp_path / "vendor"
    commit = committed(a_repository(vendor))
    root = a_repository(tmp_path / "top")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{commit},manifests/vendor")
    git(root, "add", "kadm.yaml", "clusters", "policies", "manifests/web.yaml")
    git(root, "commit", "-q", "-m", "x")
    assert refusal(root, "HEAD") == (
        "manifests/vendor:1:1: manifests/vendor cannot be read: it is in a submodule, whose files are not in the commit"
    )


@pytest.mark.parametrize("ref", ["nothing", "--help", "", "HEAD:kadm.yaml"])
def test_what_is_no_commit(tmp_path: Path, ref: str) -> None:
    root = a_repository(tmp_path)
    committed(tmp_path)
    named = ref or '""'
    assert refusal(root, ref).startswith(f"{named} is no commit of this repository")


def test_a_commit_without_git(tmp_path: Path) -> None:
    root = a_fleet(tmp_path)
    assert refusal(root, "v1") == f"{root} is in no git repository, so there is no commit v1 (leave out --ref)"


def test_a_kubeconfig_anywhere_in_the_git_repository_is_refused(tmp_path: Path) -> None:
    root = a_repository(tmp_path, "fleets/shop")
    file = root / "clusters" / "eu.yaml"
    file.write_text(file.read_text().replace("spec: {}", "spec: {kubeconfig: {path: ../../eu.conf}}"))
    with pytest.raises(RepoError, match=r"the kubeconfig ../../eu\.conf is inside the repository"):
        load(root)


def test_a_git_that_fails_is_an_error(tmp_path: Path) -> None:
    root = a_repository(tmp_path)
    committed(tmp_path)
    blob = git(tmp_path, "rev-parse", "HEAD:manifests/web.yaml")
    file = tmp_path / ".git" / "objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.unlink()
    assert refusal(root, "HEAD") == f"git cannot read object {blob}: missing (git fsck tells more)"
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / ".git" / "config").write_text("[broken\n")
    with pytest.raises(RepoError, match="git cannot read this repository"):
        load(root)


def test_a_file_that_git_ignores_is_in_no_commit(tmp_path: Path) -> None:
    root = a_repository(tmp_path, "fleets/shop")
    (tmp_path / ".gitignore").write_text("*.local.yaml\n*.log\n")
    commit = committed(tmp_path)
    (root / "manifests" / "noise.log").write_text("not read")
    assert load(root).revision == Revision(commit)
    (root / "manifests" / "mine.local.yaml").write_text(an_object())
    assert load(root).revision == Revision(commit, dirty=True)


@pytest.mark.parametrize("damage", ["HEAD", "objects", "refs"])
def test_a_damaged_repository_does_not_pass_for_none(tmp_path: Path, damage: str) -> None:
    root = a_repository(tmp_path, "fleets/shop")
    committed(tmp_path)
    (tmp_path / ".git" / damage).rename(tmp_path / ".git" / "away")
    with pytest.raises(RepoError, match="git cannot read this repository: fatal: not a git repository"):
        load(root)


def test_an_empty_directory_of_that_name_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert load(a_fleet(tmp_path)).revision is None
