"""Filter and score ClusterAffinity (scheduling spec 4.6)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kadm.model.selector import SelectorError, expressions_match, terms_match
from kadm.schedule.framework import FITS, Answer, PluginError, normalize, refuses
from kadm.schedule.member import Member
from kadm.schedule.unit import SchedulingUnit


class ClusterAffinity(Struct, frozen=True, forbid_unknown_fields=True):
    """Every pair of the cluster selector must be among the member's labels, and some affinity term must match.

    Preferred terms (only an annotation has them) add their weights to the score; their matchFields are not read.
    """

    def filter(self, unit: SchedulingUnit, member: Member) -> Answer:
        for key, value in unit.rules.selector.items():
            if member.labels.get(key) != value:
                has = f"its label {key} is {member.labels[key]!r}" if key in member.labels else f"it has no label {key}"
                return refuses(f"{has}, the cluster selector wants {value!r}")
        if unit.rules.required is None:
            return FITS
        try:
            if terms_match(unit.rules.required, member.name, member.labels):
                return FITS
        except SelectorError as error:
            return refuses(f"the cluster affinity is illegal: {error}")
        return refuses("no term of the cluster affinity matches it")

    def score(self, unit: SchedulingUnit, member: Member) -> int:
        total = 0
        for preferred in unit.rules.preferred:
            expressions = preferred.term.match_expressions
            try:
                if preferred.weight and expressions and expressions_match(expressions, member.labels):
                    total += preferred.weight
            except SelectorError as error:
                raise PluginError("a preferred cluster affinity is illegal", why=str(error)) from error
        return total

    def normalize(self, scores: Mapping[str, int]) -> Mapping[str, int]:
        return normalize(scores)
