"""Checking the repository, and telling what was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kadm.cli.console import Console
from kadm.cli.exit_code import ExitCode, exit_code
from kadm.cli.plan_json import API_VERSION, encode
from kadm.cli.planning import load
from kadm.errors import Problem, RepoError

if TYPE_CHECKING:
    from kadm.model.repository import Repo


def run_validate(console: Console, directory: Path, *, ref: str | None, as_json: bool) -> ExitCode:
    """Load the repository and tell every problem, errors and warnings: of files first, then of what they ask for."""
    counts = ""
    problems: tuple[Problem, ...]
    try:
        repo = load(directory, ref=ref)
    except RepoError as error:
        problems = error.problems
    else:
        problems = problems_of(repo)
        policies = len(repo.propagation_policies) + len(repo.override_policies)
        counts = ", ".join(
            f"{count} {one if count == 1 else many}"
            for count, one, many in (
                (len(repo.manifests), "manifest", "manifests"),
                (policies, "policy", "policies"),
                (len(repo.clusters), "member", "members"),
            )
        )
    code = exit_code(problems=problems)
    if as_json:
        document = {
            "apiVersion": API_VERSION,
            "kind": "Validation",
            "valid": code is ExitCode.FINE,
            "problems": [{"severity": one.severity, **msgspec.to_builtins(one)} for one in problems],
        }
        console.data(encode(document))
    else:
        console.problems(problems)
        if code is ExitCode.FINE:
            console.data(f"valid: {counts}")
    return code


def problems_of(repo: Repo) -> tuple[Problem, ...]:
    """All that can be said of a repository that was read, without asking a member."""
    from kadm.schedule import profile_problems, unit_problems

    return (*repo.warnings, *profile_problems(repo), *unit_problems(repo))
