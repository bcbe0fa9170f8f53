"""When time alone changes where something goes. Pure."""

from __future__ import annotations

from datetime import datetime

from kadm.model.repository import Repo
from kadm.schedule.unit_reader import asked_evictions


def next_end(repo: Repo, *, now: datetime) -> datetime | None:
    """When the next eviction ends that an object asks for; None: none is to end."""
    ends = (end for manifest in repo.manifests for end in asked_evictions(manifest).values())
    return min((end for end in ends if end > now), default=None)
