"""The flags that lift guards, as one value."""

from __future__ import annotations

from kadm.cli.names import target
from kadm.compare import Permissions


def permissions(
    *,
    allow_deletes: int | None,
    allow_empty: bool,
    allow_protected: bool,
    allow_namespaces: bool,
    allow_crds: bool,
    delete_pvcs: bool,
    adopt: list[str] | None,
    adopt_all: bool,
    adopt_prune: bool,
    take_over: list[str] | None,
) -> Permissions:
    """What the user permits beyond the ordinary."""
    return Permissions(
        allow_deletes=allow_deletes,
        allow_empty=allow_empty,
        allow_protected=allow_protected,
        allow_crds=allow_crds,
        allow_namespaces=allow_namespaces,
        delete_pvcs=delete_pvcs,
        adopt_all=adopt_all,
        adopt=frozenset(f"{one.kind}/{one.name}".lower() for one in map(target, adopt or ())),
        adopt_prune=adopt_prune,
        take_over=frozenset(take_over or ()),
    )
