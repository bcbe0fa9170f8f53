"""Plans with defaults, so that a test names only what matters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kadm.model.objects import ObjectKey
from kadm.model.plan import Action, Change, FieldChange, Plan, Summary

ACTIONS: tuple[Action, ...] = ("create", "update", "delete", "adopt", "release", "own", "recreate")


def a_key(name: str = "web", *, kind: str = "Deployment", namespace: str = "shop", group: str = "apps") -> ObjectKey:
    """A Deployment, unless said otherwise."""
    return ObjectKey(group, kind, namespace, name)


def a_change(
    cluster: str, action: Action = "update", *, key: ObjectKey | None = None, note: str = "", fields: Any = ()
) -> Change:
    """A change; ``fields`` are (path, before, after) or (path, before, after, manager)."""
    return Change(
        cluster=cluster,
        key=key or a_key(),
        version="v1",
        action=action,
        note=note,
        fields=tuple(
            FieldChange(path=path, before=before, after=after, manager="".join(by))
            for path, before, after, *by in fields
        ),
    )


def a_plan(changes: Iterable[Change] = (), *, unchanged: int = 0, **others: Any) -> Plan:
    """A plan of fleet ``shop``, with the summary that its changes have, and no members but theirs."""
    changes = tuple(changes)
    others.setdefault("members", tuple(sorted({change.cluster for change in changes})))
    counts = {action: sum(change.action == action for change in changes) for action in ACTIONS}
    return Plan(fleet="shop", commit="", changes=changes, summary=Summary(unchanged=unchanged, **counts), **others)
