"""Following a branch: new commits, a force-push, an interrupted clone, a server that is down."""

from __future__ import annotations

import asyncio
import functools
import socket
import subprocess
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kadm.repo import NoFleet
from kadm.watch.source import Clone, Directory, SourceError, shown_url, without_credentials

FLEET = "apiVersion: kadm.io/v1alpha1\nkind: Fleet\nmetadata: {name: test}\nspec: {manifests: []}\n"


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and logs nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name there
        pass


class Git:
    """A repository to commit to."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir()
        self.run("init", "--quiet", "--initial-branch=main")

    def run(self, *arguments: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=self.directory, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, **files: str) -> str:
        for name, text in files.items():
            (self.directory / name.replace("_", ".")).write_text(text)
        self.run("add", "--all")
        self.run("commit", "--quiet", "--allow-empty", "-m", "x")
        return self.run("rev-parse", "HEAD")


@pytest.fixture
def git(tmp_path: Path) -> Git:
    return Git(tmp_path / "origin")


def test_a_new_commit_and_a_force_push_are_followed(git: Git, tmp_path: Path) -> None:
    clone = Clone(str(git.directory), "main", tmp_path / "state" / "clone")
    first = git.commit(kadm_yaml=FLEET)
    seen = [asyncio.run(clone.look())]
    second = git.commit(other_txt="x")
    seen.append(asyncio.run(clone.look()))
    git.run("reset", "--quiet", "--hard", first)
    third = git.commit(another_txt="x")
    seen.append(asyncio.run(clone.look()))
    assert seen == [first, second, third]
    assert str(clone.load(second).revision) == second


def test_a_force_push_is_told_from_a_push(git: Git, tmp_path: Path) -> None:
    clone = Clone(str(git.directory), "main", tmp_path / "clone")
    first = git.commit(kadm_yaml=FLEET)
    asyncio.run(clone.look())
    second = git.commit(other_txt="x")
    asyncio.run(clone.look())
    git.run("commit", "--quiet", "--amend", "-m", "written anew")
    amended = asyncio.run(clone.look())
    git.run("checkout", "--quiet", "--orphan", "new")
    git.commit(kadm_yaml=FLEET)
    git.run("branch", "--quiet", "-M", "new", "main")
    orphan = asyncio.run(clone.look())
    asked = [(first, second), (second, amended), (second, first), (amended, orphan), ("0" * 40, orphan)]
    told = [asyncio.run(clone.rewritten(*one)) for one in asked]
    assert told == [False, True, True, True, False], "the last one cannot be told"


def test_a_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        remote = f"git://127.0.0.1:{silent.getsockname()[1]}/x.git"
        with pytest.raises(SourceError, match=r"git fetch did not end within 0\.5 s"):
            asyncio.run(Clone(remote, "main", tmp_path / "clone", timeout_s=0.5).look())


def test_what_is_in_force_survives_a_force_push_and_gc(git: Git, tmp_path: Path) -> None:
    clone = Clone(str(git.directory), "", tmp_path / "clone")
    first = git.commit(kadm_yaml=FLEET)
    asyncio.run(clone.look())
    asyncio.run(clone.keep(first))
    git.run("checkout", "--quiet", "--orphan", "new")
    git.commit(kadm_yaml=FLEET.replace("test", "other"))
    git.run("branch", "-D", "main")
    asyncio.run(clone.look())
    subprocess.run(["git", "gc", "--quiet", "--prune=now"], cwd=tmp_path / "clone", check=True)
    assert asyncio.run(clone.kept()) == first
    assert clone.load(first).fleet.name == "test"


def test_a_damaged_clone_is_made_anew(git: Git, tmp_path: Path) -> None:
    clone = Clone(str(git.directory), "main", tmp_path / "clone")
    commit = git.commit(kadm_yaml=FLEET)
    asyncio.run(clone.look())
    (tmp_path / "clone" / ".git" / "config").write_text("[broken")
    (tmp_path / "clone" / ".git" / "objects").rename(tmp_path / "gone")
    assert asyncio.run(clone.look()) == commit


@pytest.mark.parametrize(
    ("remote", "branch", "hint"),
    [
        pytest.param("nowhere", "main", "check --repo, and the network", id="no such repository"),
        pytest.param("origin", "absent", "check --branch", id="no such branch"),
    ],
)
def test_a_source_that_cannot_be_looked_at(git: Git, tmp_path: Path, remote: str, branch: str, hint: str) -> None:
    git.commit(kadm_yaml=FLEET)
    with pytest.raises(SourceError) as raised:
        asyncio.run(Clone(str(tmp_path / remote), branch, tmp_path / "clone").look())
    assert raised.value.problem.hint == hint


def test_a_directory_changes_with_its_files(tmp_path: Path) -> None:
    source = Directory(tmp_path)
    (tmp_path / "kadm.yaml").write_text(FLEET)
    first = asyncio.run(source.look())
    assert asyncio.run(source.look()) == first
    (tmp_path / "kadm.yaml").write_text(FLEET + "# more\n")
    assert asyncio.run(source.look()) != first


@pytest.mark.parametrize(
    ("url", "want"),
    [
        ("https://user:secret@git.example.org/fleet.git", "https://git.example.org/fleet.git"),
        ("http://user:hunt@er2pass@host/x.git", "http://host/x.git"),
        ("http://user:hunt er@2?pass@host/x.git", "http://host/x.git"),
        ("http://user:secret@host/~me@home/x.git", "http://host/~me@home/x.git"),
        ("https://git.example.org/fleet.git?private_token=secret", "https://git.example.org/fleet.git"),
        ("https://git.example.org?private_token=secret", "https://git.example.org"),
        ("git@git.example.org:fleet.git", "git@git.example.org:fleet.git"),
        ("ssh://git@git.example.org:22/fleet.git", "ssh://git.example.org:22/fleet.git"),
        ("/srv/fleet", "/srv/fleet"),
        ("/srv/what?", "/srv/what?"),
    ],
)
def test_an_address_is_shown_without_credentials(url: str, want: str) -> None:
    assert shown_url(url) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("cannot reach https://me:secret@git.example/x.git", "cannot reach https://git.example/x.git"),
        (
            "unable to access 'http://user:hunt@er2pass@host/x.git/': Could not resolve host: host",
            "unable to access 'http://host/x.git/': Could not resolve host: host",
        ),
        (
            "from https://a:b@one/x.git to ssh://git@two:22/y.git, says me@example.org",
            "from https://one/x.git to ssh://two:22/y.git, says me@example.org",
        ),
        (
            "unable to access 'https://host/x.git?private_token=sec'ret/': The requested URL returned error: 403",
            "unable to access 'https://host/x.git': The requested URL returned error: 403",
        ),
        (
            "https://host/x.git?private_token=secret/info/refs?service=git-upload-pack not found\nis it there?",
            "https://host/x.git not found\nis it there?",
        ),
        ("git@host: Permission denied (publickey).", "git@host: Permission denied (publickey)."),
        ("see https://host/help, or ask me@example.org", "see https://host/help, or ask me@example.org"),
    ],
)
def test_a_text_is_shown_without_credentials(text: str, want: str) -> None:
    assert without_credentials(text) == want


def test_what_git_says_of_an_address_is_told_without_its_credentials(tmp_path: Path) -> None:
    clone = Clone("http://user:hunt@er2pass@127.0.0.1:1/x.git?private_token=secret", "main", tmp_path / "clone")
    with pytest.raises(SourceError) as raised:
        asyncio.run(clone.look())
    assert raised.value.problem.object == "http://127.0.0.1:1/x.git"
    assert "http://127.0.0.1:1/x.git" in raised.value.problem.why
    for secret in ("hunt", "er2pass", "secret"):
        assert secret not in str(raised.value.problem)


def objects(clone: Clone) -> list[Path]:
    found = [path for path in (clone.directory / ".git/objects").rglob("*") if path.is_file()]
    for path in found:
        path.chmod(0o600)
    return found


def test_a_clone_whose_objects_were_lost_is_made_anew(git: Git, tmp_path: Path) -> None:
    clone = Clone(str(git.directory), "main", tmp_path / "clone")
    first = git.commit(kadm_yaml=FLEET)
    asyncio.run(clone.look())
    for path in objects(clone):
        path.write_bytes(b"")  # as they are after the power failed
    assert asyncio.run(clone.look()) == first
    assert str(clone.load(first).revision) == first


def test_a_damaged_file_of_the_clone_is_no_fault_of_the_commit(git: Git, tmp_path: Path) -> None:
    clone = Clone(str(git.directory), "main", tmp_path / "clone")
    first = git.commit(kadm_yaml=FLEET)
    asyncio.run(clone.look())
    blob = git.run("rev-parse", f"{first}:kadm.yaml")
    (damaged,) = (path for path in objects(clone) if f"{path.parent.name}{path.name}" == blob)
    damaged.write_bytes(b"x")
    assert asyncio.run(clone.look()) == first, "git does not look into files when it fetches"
    with pytest.raises(SourceError, match="the clone is damaged, and is made anew"):
        clone.load(first)
    assert asyncio.run(clone.look()) == first
    assert str(clone.load(first).revision) == first


def test_a_damaged_repository_is_not_taken_for_a_damaged_clone(git: Git, tmp_path: Path) -> None:
    clone = Clone(str(git.directory), "main", tmp_path / "clone")
    first = git.commit(kadm_yaml=FLEET)
    asyncio.run(clone.look())
    asyncio.run(clone.keep(first))
    git.commit(other_txt="x")
    for path in (git.directory / ".git/objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"")
    with pytest.raises(SourceError, match="git fetch failed"):
        asyncio.run(clone.look())
    assert asyncio.run(clone.kept()) == first
    assert str(clone.load(first).revision) == first


def test_a_clone_that_cannot_be_written_is_named(git: Git, tmp_path: Path) -> None:
    git.commit(kadm_yaml=FLEET)
    (tmp_path / "file").touch()
    clone = Clone(str(git.directory), "main", tmp_path / "file/clone")
    with pytest.raises(SourceError, match=r"the files cannot be used: .*file/clone: Not a directory"):
        asyncio.run(clone.look())


@pytest.mark.parametrize(("path", "place"), [("fleets/eu", "fleets/eu"), (".", "its top directory")])
def test_a_path_without_kadm_yaml_is_named_as_the_repository_has_it(
    path: str, place: str, git: Git, tmp_path: Path
) -> None:
    clone = Clone(str(git.directory), "main", tmp_path / "clone", path)
    git.commit(other_txt="x")
    state = asyncio.run(clone.look())
    with pytest.raises(NoFleet) as told:
        clone.load(state)
    problem = told.value.problem
    assert (problem.what, problem.object, problem.hint) == (
        f"there is no kadm.yaml in {place} at {state[:12]}",
        str(git.directory),
        "--path says where it is",
    )


def test_a_server_over_http_is_followed(git: Git, tmp_path: Path) -> None:
    first = git.commit(kadm_yaml=FLEET)
    handler = functools.partial(Quiet, directory=str(git.directory))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}/.git"
            clone = Clone(url, "main", tmp_path / "clone")
            git.run("update-server-info")  # what a server of plain files needs
            assert asyncio.run(clone.look()) == first
            second = git.commit(other_txt="x")
            git.run("update-server-info")
            assert asyncio.run(clone.look()) == second
            assert str(clone.load(second).revision) == second
            with pytest.raises(SourceError, match="not found"):
                asyncio.run(Clone(f"{url}x", "main", tmp_path / "other").look())
        finally:
            server.shutdown()
            serving.join()
