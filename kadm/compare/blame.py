"""Whose fault it is that a member refuses an object: the manifest's, or that of a policy's rule which changed it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from kadm.compare.field_path import found_in
from kadm.errors import Problem
from kadm.model.desired import DesiredObject, Provenance
from kadm.model.field_path import parse_path
from kadm.model.live import Fault
from kadm.model.objects import Path, path_text

_NAMED = re.compile(r"(?<=\s)\.[A-Za-z][^\s:]*")
"""A field in the message of an API server that cannot read an object at all: ``…: .spec.replicas: expected …``."""

_QUOTED_ITEM = re.compile(r'\[(\w+)="([^"]*)"\]')
_DEEP_ENOUGH = 2
"""Steps of a path that names a field: of ``spec`` alone, every override would be at fault."""


def with_blame(problem: Problem, wanted: DesiredObject, faults: Sequence[Fault]) -> Problem:
    """The problem at its place in the repository: at the rule of a policy that set the refused field, with the manifest
    as a hint, else at the manifest."""
    if problem.where is not None:
        return problem
    rule = _rule_at_fault(wanted, tuple(_refused(problem, wanted, faults)))
    if rule is None or rule.location is None:
        return replace(problem, where=wanted.location)
    said = f"rule {rule.rule} of {rule.policy} set {path_text(rule.path)}"
    said += f", not the manifest at {wanted.location}" if wanted.location is not None else ""
    return replace(problem, where=rule.location, hint="; ".join(part for part in (said, problem.hint) if part))


def _rule_at_fault(wanted: DesiredObject, refused: Sequence[Path]) -> Provenance | None:
    """The last rule that set a refused field, or something in it or around it."""
    set_by_rules = [one for one in wanted.provenance if one.policy is not None]
    for path in refused:
        for one in reversed(set_by_rules):
            shorter = min(len(path), len(one.path))
            if path[:shorter] == one.path[:shorter]:
                return one
    return None


def _refused(problem: Problem, wanted: DesiredObject, faults: Sequence[Fault]) -> Iterator[Path]:
    """The refused fields, in keys and indexes of the object; those that are not in it as they are named."""
    for text in [fault.field for fault in faults] or [one[1:] for one in _NAMED.findall(f" {problem.why}")]:
        try:
            path = parse_path(_QUOTED_ITEM.sub(r"[\1=\2]", text))
        except ValueError:  # a member may name a field as it likes: such a one is nobody's
            continue
        if len(path) >= _DEEP_ENOUGH:
            yield from list(found_in(wanted.object, path)) or [path]
