"""kadm's own options after the command."""

from __future__ import annotations

import pytest

from kadm.cli.anywhere import in_front


@pytest.mark.parametrize(
    ("typed", "want"),
    [
        pytest.param("plan", "plan", id="none"),
        pytest.param("plan -v", "-v plan", id="a short flag"),
        pytest.param("plan -vv -o json", "-vv plan -o json", id="repeated, others stay"),
        pytest.param("apply --quiet --yes", "--quiet apply --yes", id="a long flag"),
        pytest.param("status --color never deploy/web", "--color never status deploy/web", id="with its value"),
        pytest.param("status --color=never", "--color=never status", id="with its value in one word"),
        pytest.param("plan --color", "plan --color", id="without its value it is an error where it stands"),
        pytest.param("-C x plan --debug", "--debug -C x plan", id="others in front stay in front of the command"),
        pytest.param("status -- -v", "status -- -v", id="nothing after two dashes"),
        pytest.param("plan --version", "plan --version", id="not the version"),
    ],
)
def test_in_front(typed: str, want: str) -> None:
    assert in_front(typed.split()) == want.split()
