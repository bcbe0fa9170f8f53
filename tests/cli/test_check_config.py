"""``kadm watch --check-config``: what is said of the repository and of secrets, beside a daemon that runs."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from kadm.cli.main import main
from kadm.watch.store import Store
from tests.repo.fleets import a_fleet, a_policy, an_object
from tests.repo.test_git import committed, git


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fleet with one object; temporary files and state are kept below the test's own directory."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-home"))
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    return a_fleet(tmp_path / "fleet", {"manifests/web.yaml": an_object()})


@pytest.mark.parametrize("cloned", [pytest.param(False, id="a directory"), pytest.param(True, id="a clone")])
def test_it_needs_no_state_directory_and_leaves_nothing(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], cloned: bool
) -> None:
    state = tmp_path / "state"
    store = Store(state)
    store.open()
    try:
        if cloned:
            git(root, "init", "--quiet", "--initial-branch=main")
            committed(root)
        where = ["--repo", str(root)] if cloned else ["-C", str(root)]
        for more in ([], ["--state-dir", str(state)], ["--status-dir", str(tmp_path / "status")]):
            assert main(["watch", *where, "--check-config", *more]) == 0
            assert capsys.readouterr().out.endswith(": 1 objects, 2 members.\n")
    finally:
        store.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fleet", "state", "tmp"]
    assert list((tmp_path / "tmp").iterdir()) == []
    assert [path.name for path in state.iterdir()] == ["lock"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        pytest.param(["--listen", "5236"], "--listen 5236 is not HOST:PORT", id="no address"),
        pytest.param(["--token-file", "none"], "the token file none cannot be read", id="no token"),
        pytest.param(["--hook-secret-file", "none"], "the hook secret file none cannot be read", id="no secret"),
        pytest.param(["--status-dir", "{root}/kadm.yaml"], "kadm.yaml cannot be used", id="no directory"),
    ],
)
def test_what_cannot_be_used(root: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str) -> None:
    given = [one.replace("{root}", str(root)) for one in arguments]
    assert main(["watch", "-C", str(root), "--check-config", *given]) == 1
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("command", [["watch", "--check-config"], ["validate"]], ids=["check", "validate"])
def test_all_that_a_plan_would_say_without_members_is_said(
    root: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    label = "labels: {kubeadmiral.io/cluster-propagation-policy-name: p}"
    files: dict[str, str | None] = {
        "policies/q.yaml": a_policy("{schedulingMode: Divide}"),
        "manifests/s.yaml": an_object("v1 Secret", "s", metadata=label),
        "manifests/web.yaml": an_object("apps/v1 Deployment", "web", metadata=label, rest="spec: null\n"),
    }
    assert main([*command, "-C", str(a_fleet(root, files))]) == 1
    said = capsys.readouterr()
    assert (said.out, [line.partition(" (")[0] for line in said.err.splitlines()]) == (
        "",
        [
            "error: manifests/s.yaml:1:1: schedulingMode Divide needs a replica count, and Secret has none",
            "error: manifests/web.yaml:4:7: it has no pod spec",
        ],
    )


@pytest.mark.parametrize("check", [pytest.param([], id="a run"), pytest.param(["--check-config"], id="its check")])
@pytest.mark.parametrize(
    "given",
    [
        pytest.param(["--listen", "nonsense"], id="listen"),
        pytest.param(["--token-file", "none"], id="token"),
        pytest.param(["--hook-secret-file", "none"], id="hook"),
    ],
)
def test_once_serves_nothing(
    root: Path, capsys: pytest.CaptureFixture[str], check: list[str], given: list[str]
) -> None:
    assert main(["watch", "-C", str(root), "--once", *check, *given]) == 1
    said = f"error: --once serves nothing: {given[0]} makes no sense with it (leave {given[0]} out)\n"
    assert capsys.readouterr().err == said


def test_once_may_say_that_it_serves_nowhere(root: Path) -> None:
    assert main(["watch", "-C", str(root), "--once", "--check-config", "--listen", "none"]) == 0
