"""Options that mean the same in every command."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kadm.cli import completing, durations


class Output(StrEnum):
    """Formats of most commands."""

    TEXT = "text"
    JSON = "json"


class PlanOutput(StrEnum):
    """Formats of a plan."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    NAME = "name"


class StatusOutput(StrEnum):
    """Formats of a status."""

    TEXT = "text"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"


class RenderOutput(StrEnum):
    """Formats of rendered objects."""

    YAML = "yaml"
    JSON = "json"


DirectoryOption = Annotated[
    Path | None,
    typer.Option(
        "-C", "--directory", metavar="DIR", help="The fleet's directory: where kadm.yaml is.", show_default="."
    ),
]
OutputOption = Annotated[Output, typer.Option("-o", "--output", help="Output format.")]
NamespaceOption = Annotated[
    str | None, typer.Option("-n", "--namespace", metavar="NS", help="Only this namespace.", show_default="all")
]
SelectorOption = Annotated[
    str | None, typer.Option("-l", "--selector", metavar="K=V,…", help="Only objects with these labels.")
]
ClusterOption = Annotated[
    list[str] | None,
    typer.Option("--cluster", metavar="NAME", help="Only this member; repeatable.", autocompletion=completing.members),
]
RequestTimeoutOption = Annotated[
    float,
    typer.Option(
        "--request-timeout",
        metavar=durations.METAVAR,
        parser=durations.at_least(0.1),
        help="Deadline of every request to a member.",
    ),
]
LockTimeoutOption = Annotated[
    float,
    typer.Option(
        "--lock-timeout",
        metavar=durations.METAVAR,
        parser=durations.at_least(0),
        help="How long to wait for another run to end.",
    ),
]
ParallelOption = Annotated[int, typer.Option("--parallel", metavar="N", help="Members at the same time.", min=1)]
OfflineOption = Annotated[
    bool, typer.Option("--offline", help="Ask no member: take what clusters/*.yaml record in their status.")
]
YesOption = Annotated[bool, typer.Option("-y", "--yes", help="Do it without asking.")]
RefOption = Annotated[
    str | None, typer.Option("--ref", metavar="COMMIT", help="Read this commit instead of the work tree.")
]
RescheduleOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reschedule",
        metavar="KIND/NAME",
        help="Place this workload anew; repeatable.",
        autocompletion=completing.workloads,
    ),
]
RescheduleAllOption = Annotated[bool, typer.Option("--reschedule-all", help="Place every workload anew.")]
AllowDeletesOption = Annotated[
    int | None,
    typer.Option(
        "--allow-deletes", metavar="N", help="Permit up to N deletions in each member, and any number in all.", min=0
    ),
]
AllowEmptyOption = Annotated[
    bool, typer.Option("--allow-empty", help="Permit that a member, or a workload, drops to nothing.")
]
AllowProtectedOption = Annotated[
    bool, typer.Option("--allow-protected", help='Permit deleting objects marked kadm.io/protect: "true".')
]
AllowNamespacesOption = Annotated[
    bool, typer.Option("--allow-namespace-deletes", help="Permit deleting namespaces that hold what is not kadm's.")
]
AllowCrdsOption = Annotated[
    bool, typer.Option("--allow-crd-deletes", help="Permit deleting CRDs that still have objects.")
]
DeletePvcsOption = Annotated[bool, typer.Option("--delete-pvcs", help="Delete PersistentVolumeClaims too.")]
AdoptOption = Annotated[
    list[str] | None,
    typer.Option(
        "--adopt",
        metavar="KIND/NAME",
        help="Take over an object that exists already; repeatable.",
        autocompletion=completing.objects,
    ),
]
AdoptAllOption = Annotated[bool, typer.Option("--adopt-all", help="Take over every object that exists already.")]
AdoptPruneOption = Annotated[
    bool,
    typer.Option("--adopt-prune", help="Adoption removes what git lacks from pod templates, too: pods restart."),
]
AssumeLostOption = Annotated[
    list[str] | None,
    typer.Option(
        "--assume-lost",
        metavar="NAME",
        help="Plan as if this member were gone; repeatable.",
        autocompletion=completing.members,
    ),
]
TargetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--target", metavar="KIND/NAME", help="Only this object, and the namespace that it needs; repeatable."
    ),
]
TakeOverOption = Annotated[
    list[str] | None,
    typer.Option("--take-over", metavar="MANAGER", help="Take fields that this applier declares; repeatable."),
]
AllowUnplacedOption = Annotated[bool, typer.Option("--allow-unplaced", help="Replicas that fit nowhere are no error.")]
