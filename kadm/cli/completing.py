"""What the shell offers where the name of an object, a member or a policy can stand. Reads names only, and no YAML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kadm.cli.kinds import kind_of

if TYPE_CHECKING:
    from kadm.cli.name_scan import FleetNames, Name

WORKLOADS = ("cronjob", "daemonset", "deployment", "job", "pod", "replicaset", "statefulset")
POLICIES = ("clusteroverridepolicy", "clusterpropagationpolicy", "overridepolicy", "propagationpolicy")


def members(context: typer.Context) -> list[str]:
    """Names of members."""
    return sorted({one.name for one in _names(context).clusters})


def workloads(context: typer.Context, incomplete: str) -> list[str]:
    """``KIND/NAME`` of workloads."""
    found = [one for one in _names(context).manifests if one.kind.lower() in WORKLOADS]
    return _offered(found, context, incomplete)


def objects(context: typer.Context, incomplete: str) -> list[str]:
    """``KIND/NAME`` of manifests."""
    return _offered(_names(context).manifests, context, incomplete)


def objects_and_policies(context: typer.Context, incomplete: str) -> list[str]:
    """``KIND/NAME`` of manifests, and of policies that bind objects."""
    names = _names(context)
    policies = tuple(one for one in names.policies if one.kind.lower() in POLICIES)
    return _offered((*names.manifests, *policies), context, incomplete)


def _offered(found: tuple[Name, ...] | list[Name], context: typer.Context, incomplete: str) -> list[str]:
    """Those that begin as what is typed; a kind that was typed in another form stays in that form."""
    typed, slash, _ = incomplete.partition("/")
    meant = kind_of(typed) if slash else ""
    namespace = context.params.get("namespace")
    offered = set()
    for one in found:
        kind = one.kind.lower()
        if namespace in (None, "", one.namespace) or not one.namespace:
            offered.add(f"{typed if kind == meant else kind}/{one.name}")
    return sorted(text for text in offered if text.startswith(incomplete))


def _names(context: typer.Context) -> FleetNames:
    from kadm.cli.name_scan import fleet_names

    named = context.params.get("directory") or context.find_root().params.get("directory") or Path()
    return fleet_names(Path(named))
