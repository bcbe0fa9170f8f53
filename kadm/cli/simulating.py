"""From what ``kadm simulate`` was asked to its answer."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kadm.cli.console import Console
from kadm.cli.exit_code import ExitCode, exit_code
from kadm.cli.plan_json import API_VERSION, encode
from kadm.cli.planning import load, with_members, without
from kadm.cli.show_simulation import show_simulation
from kadm.errors import Problem

if TYPE_CHECKING:
    from kadm.model.simulation import Simulation


async def run_simulate(
    console: Console,
    directory: Path,
    lose: list[str],
    *,
    ref: str | None,
    offline: bool,
    as_json: bool,
    request_timeout_s: float,
    parallel: int,
) -> ExitCode:
    """Ask the members, or with ``offline`` nobody, and tell what would become of what the lost ones hold."""
    from kadm import pipeline
    from kadm.members.pool import open_members
    from kadm.members.recorded import recorded
    from kadm.schedule import plugins_of
    from kadm.simulating import simulate, simulate_live

    repo = with_members(load(directory, ref=ref))
    lost = frozenset(lose)
    without(repo, lost, "--lose")
    now = datetime.now(UTC)
    unread: tuple[Problem, ...] = ()
    missing: tuple[Problem, ...] = ()
    if offline:
        observation, missing = recorded(repo)
        decisions, _ = pipeline.place(repo, observation, now=now)
        plugins = plugins_of(repo, observation)
        found = simulate(repo, observation, decisions, lost, now=now, plugins=plugins)
        console.info("offline: as the members' files record them, and as if nothing had been placed before")
    else:
        async with open_members(repo, request_timeout_s=request_timeout_s, parallel=parallel) as pool:
            found, unread = await simulate_live(repo, pool, lost, now=now)
    if as_json:
        console.data(encode(simulation_document(repo.fleet.name, found, offline=offline)))
    else:
        show_simulation(console, found)
    console.problems([*repo.warnings, *missing, *found.problems, *unread])
    return exit_code(
        problems=found.problems,
        partial=bool(unread),
        failed=any(loss.fate in ("gone", "short", "stuck") for loss in found.losses),
    )


def simulation_document(fleet: str, found: Simulation, *, offline: bool) -> dict[str, Any]:
    """The answer as a document of kind Simulation."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Simulation",
        "fleet": fleet,
        "offline": offline,
        "lost": list(found.lost),
        "objects": [
            {
                "group": loss.key.group,
                "kind": loss.key.kind,
                "namespace": loss.key.namespace,
                "name": loss.key.name,
                "fate": loss.fate,
                "before": dict(loss.before),
                "after": dict(loss.after),
                "unplaced": loss.unplaced,
                "why": loss.why,
            }
            for loss in found.losses
        ],
        "untouched": found.untouched,
        "problems": [msgspec.to_builtins(problem) for problem in found.problems],
    }
