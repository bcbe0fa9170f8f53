"""KubeAdmiral's override policies: which fields of an object differ in which member."""

from __future__ import annotations

from kadm.overrides.applicable import applicable
from kadm.overrides.engine import Overridden, apply_overrides, apply_rules, differences
from kadm.overrides.error import OverrideError
from kadm.overrides.pointer import Patch
from kadm.overrides.target import RuleHit, rules_that_hit

__all__ = [
    "Overridden",
    "OverrideError",
    "Patch",
    "RuleHit",
    "applicable",
    "apply_overrides",
    "apply_rules",
    "differences",
    "rules_that_hit",
]
