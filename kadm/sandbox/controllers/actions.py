"""What a controller decides to do, as values, and the one function that does it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kadm.sandbox.api import ApiServer, Object, Propagation

CONTROLLER_MANAGER = "kube-controller-manager"


@dataclass(frozen=True, slots=True)
class Create:
    """Store a new object."""

    resource: str
    obj: Object


@dataclass(frozen=True, slots=True)
class Update:
    """Replace the object that was read (its resourceVersion guards it), or one of its subresources."""

    resource: str
    obj: Object
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the very object that was read (its uid guards it)."""

    resource: str
    obj: Object
    propagation: Propagation | None = None
    grace_period_s: int | None = None


Action = Create | Update | Delete


def perform(api: ApiServer, actions: Iterable[Action], manager: str = CONTROLLER_MANAGER) -> None:
    """Carry out ``actions`` in order as field manager ``manager``. Raises ApiError at the first refusal."""
    for action in actions:
        match action:
            case Create(resource, obj):
                api.create(resource, obj, manager=manager)
            case Update(resource, obj, subresource):
                api.update(resource, obj, manager=manager, subresource=subresource)
            case Delete(resource, obj, propagation, grace_period_s):
                metadata = obj["metadata"]
                api.delete(
                    resource,
                    metadata.get("namespace", ""),
                    metadata["name"],
                    propagation=propagation,
                    grace_period_s=grace_period_s,
                    uid=metadata["uid"],
                )
