"""Where somebody has switched writing off: the fleet, a member, an object (design, section 7). Pure."""

from __future__ import annotations

from collections.abc import Collection

from kadm.compare.desired_object import SUSPEND, is_suspended
from kadm.errors import Problem
from kadm.model.objects import ObjectKey
from kadm.model.repository import Repo


def suspended_members(repo: Repo) -> dict[str, Problem]:
    """Member → what is to be told of it, sorted; all of them where the fleet is suspended."""
    names = sorted(one.name for one in repo.clusters if one.suspended or repo.fleet.spec.suspend)
    return {name: _member(name) for name in names}


def suspended_objects(repo: Repo, keys: Collection[ObjectKey]) -> tuple[Problem, ...]:
    """What is to be told of those of ``keys`` that are suspended, in order of the repository."""
    return tuple(
        Problem(
            what="suspended: it is left as it is live",
            severity="warning",
            where=manifest.location,
            object=str(manifest.key),
            why=f"the manifest has annotation {SUSPEND}",
        )
        for manifest in repo.manifests
        if manifest.key in keys and is_suspended(manifest.object)
    )


def _member(name: str) -> Problem:
    return Problem(
        what="suspended: nothing is planned or written here",
        severity="warning",
        member=name,
        hint=f"{SUSPEND} on the FederatedCluster, or spec.suspend in kadm.yaml",
    )
