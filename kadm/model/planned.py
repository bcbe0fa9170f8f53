"""A plan with what it was made from: the type that execute is given."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kadm.model.decision import Decisions
from kadm.model.desired import Desired
from kadm.model.objects import ObjectKey
from kadm.model.observation import Observation
from kadm.model.plan import Plan
from kadm.model.repository import Repo


class Planned(Struct, frozen=True, kw_only=True):
    """A plan, with what it was made from: all that execute needs."""

    repo: Repo
    observation: Observation
    decisions: Decisions
    desired: Desired
    plan: Plan
    gone: Mapping[str, tuple[ObjectKey, ...]]
    """Member → recorded objects that are no longer there."""
    found: Mapping[str, Mapping[ObjectKey, str]]
    """Member → recorded intents whose object is there: key → uid."""
    unproved: Mapping[str, tuple[ObjectKey, ...]]
    """Member → unchanged objects without a stamp that proves it."""
