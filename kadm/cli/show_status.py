"""Printing the fleet's status in the format that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from kadm.cli.console import Console
from kadm.cli.exit_code import ExitCode, exit_code
from kadm.cli.options import StatusOutput
from kadm.cli.plan_json import API_VERSION, encode
from kadm.cli.status_query import StatusQuery, answer
from kadm.compare.secrecy import is_secret, shown_secret
from kadm.model.status import FleetStatus, Health, HealthCode, WorkloadInMember, WorkloadStatus

STYLES: dict[HealthCode, str] = {
    "Healthy": "green",
    "Progressing": "yellow",
    "Suspended": "yellow",
    "Terminating": "yellow",
    "Failed": "red",
    "Missing": "red",
    "Unknown": "magenta",
}
"""Health → its colour."""


FEW = 4
"""Up to so many members are named in a workload's row; ``-o wide`` names all."""

UNWELL = 3


async def status_of(console: Console, query: StatusQuery, output: StatusOutput) -> ExitCode:
    """Ask, print, and give the exit code: a workload that is not well is no error of this command."""
    found = await answer(query)
    match output:
        case StatusOutput.JSON:
            console.data(encode(status_document(found)))
        case StatusOutput.YAML:
            from kadm.repo.yaml_writer import to_yaml

            documents = [
                to_yaml(shown_secret(one.aggregated) if is_secret(one.key) else one.aggregated)
                for one in found.workloads
                if one.aggregated
            ]
            console.data("---\n".join(documents))
        case StatusOutput.TEXT | StatusOutput.WIDE:
            show_table(console, found, wide=output is StatusOutput.WIDE)
    console.problems([*found.suspended, *found.unread.values()])
    return exit_code(partial=found.partial)


def show_table(console: Console, found: FleetStatus, *, wide: bool) -> None:
    """One row per workload, and below it why it is not well; with ``wide`` one row per workload and member."""
    if not found.workloads:
        console.info("nothing that runs: the repository holds no such workload")
        return
    if wide:
        columns = ["NAMESPACE", "WORKLOAD", "MEMBER", "READY", "UPDATED", "AVAILABLE", "HEALTH", "REASON"]
        rows = [row for workload in found.workloads for row in _member_rows(workload)]
        console.table(columns, rows, numbers=("READY", "UPDATED", "AVAILABLE"))
    else:
        columns = ["NAMESPACE", "WORKLOAD", "READY", "HEALTH", "MEMBERS"]
        console.table(
            columns,
            [_row(workload) for workload in found.workloads],
            numbers=("READY",),
            gives_way="MEMBERS",
            notes=[_note(one, found) for one in found.workloads],
        )


def status_document(found: FleetStatus) -> dict[str, Any]:
    """The status as a document of kind FleetStatus."""
    return {
        "apiVersion": API_VERSION,
        "kind": "FleetStatus",
        "fleet": found.fleet,
        "workloads": [
            {
                "group": one.key.group,
                "version": one.version,
                "kind": one.key.kind,
                "namespace": one.key.namespace,
                "name": one.key.name,
                "health": msgspec.to_builtins(one.health),
                "desired": one.desired,
                "ready": one.ready,
                "members": [
                    {
                        "cluster": member.member,
                        "health": msgspec.to_builtins(member.health),
                        "desired": member.desired,
                        "current": member.current,
                        "updated": member.updated,
                        "ready": member.ready,
                        "available": member.available,
                    }
                    for member in one.members
                ],
            }
            for one in found.workloads
        ],
        "suspended": [msgspec.to_builtins(problem) for problem in found.suspended],
        "unread": [msgspec.to_builtins(problem) for problem in found.unread.values()],
    }


def _row(workload: WorkloadStatus) -> list[Any]:
    return [
        workload.key.namespace or "-",
        f"{workload.key.kind}/{workload.key.name}",
        _of(workload.ready, workload.desired),
        _health(workload.health),
        _members(workload.members) or "-",
    ]


def _note(workload: WorkloadStatus, found: FleetStatus) -> str:
    """Why it is not well; nothing where that is an unread member, which stderr tells of once."""
    if workload.health.code == "Healthy" or (workload.health.code == "Unknown" and found.unread):
        return ""
    return workload.health.reason


def _members(members: Sequence[WorkloadInMember]) -> str:
    """The members with their numbers; of many only those that are not well, up to three, after how many there are."""
    if len(members) <= FEW:
        return ", ".join(_member(member) for member in members)
    unwell = [member for member in members if member.health.code != "Healthy"]
    named = [_member(member) for member in unwell[:UNWELL]] + ["…"] * (len(unwell) > UNWELL)
    return f"{len(members)} members" + (f": {', '.join(named)}" if named else "")


def _member(member: WorkloadInMember) -> str:
    """A member with its numbers; stale: a daemon tells what it knew last of a member that does not answer."""
    if member.desired is None:
        return member.member
    stale = " (stale)" if member.health.code == "Unknown" and member.ready is not None else ""
    return f"{member.member} {_of(member.ready, member.desired)}{stale}"


def _member_rows(workload: WorkloadStatus) -> list[list[Any]]:
    """A row per member, or one where no member has it: what runs nowhere is not to be overlooked."""
    named = [workload.key.namespace or "-", f"{workload.key.kind}/{workload.key.name}"]
    if not workload.members:
        return [[*named, "-", "-", "-", "-", _health(workload.health), workload.health.reason]]
    return [
        [
            *named,
            member.member,
            _of(member.ready, member.desired),
            "-" if member.updated is None else str(member.updated),
            "-" if member.available is None else str(member.available),
            _health(member.health),
            member.health.reason,
        ]
        for member in workload.members
    ]


def _of(ready: int | None, desired: int | None) -> str:
    if desired is None:
        return "-"
    return f"{'?' if ready is None else ready}/{desired}"


def _health(found: Health) -> Any:
    from rich.text import Text

    return Text(found.code, style=STYLES[found.code])
