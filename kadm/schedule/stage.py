"""The scheduling stage: repository and observation in, one decision per manifest out. Pure."""

from __future__ import annotations

from collections.abc import Set
from datetime import datetime
from typing import Literal

from kadm.model.decision import Decision, Decisions
from kadm.model.objects import ObjectKey
from kadm.model.observation import Observation
from kadm.model.repository import Repo


def schedule(
    repo: Repo,
    observation: Observation,
    *,
    now: datetime,
    reschedule: Set[ObjectKey] | Literal["all"] = frozenset(),
    allow_empty: bool = False,
) -> Decisions:
    """Where each manifest goes, by key (sorted).

    ``now`` judges the end of evictions. ``reschedule`` names what is placed anew although no trigger fired.
    ``allow_empty`` permits that an object leaves its last member because no member fits.
    """
    decisions = {
        manifest.key: Decision(key=manifest.key, outcome="unplaced", reasons=("it has no propagation policy",))
        for manifest in repo.manifests
        if manifest.propagation is None
    }
    return Decisions(by_key=decisions)
