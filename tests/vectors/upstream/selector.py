"""Selectors of clusters (scheduling spec 4.6, propagation spec 1.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tests.vectors.case import Json


class SelectorFault(ValueError):
    """A selector that Kubernetes refuses."""


_LABEL = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def all_hold(requirements: Sequence[Json], labels: Mapping[str, str]) -> bool:
    """Whether all expressions hold; each of them is read. Raises SelectorFault."""
    answers = [_holds(requirement, labels) for requirement in requirements]
    return all(answers)


def _holds(requirement: Json, labels: Mapping[str, str]) -> bool:
    """Whether an expression holds on labels. Raises SelectorFault."""
    key, operator, values = requirement.get("key", ""), requirement.get("operator"), requirement.get("values") or []
    domain, slash, name = key.rpartition("/")
    if not _LABEL.fullmatch(name) or (slash and (not _DOMAIN.fullmatch(domain) or len(domain) > 253)):
        raise SelectorFault
    if any(value and not _LABEL.fullmatch(value) for value in values):
        raise SelectorFault
    match operator:
        case "In" | "NotIn" if values:
            return bool((labels.get(key) in values) == (operator == "In"))
        case "Exists" | "DoesNotExist" if not values:
            return bool((key in labels) == (operator == "Exists"))
        case "Gt" | "Lt" if len(values) == 1 and (bound := _int64(values[0])) is not None:
            number = _int64(labels[key]) if key in labels else None
            return number is not None and (number > bound if operator == "Gt" else number < bound)
    raise SelectorFault


def _int64(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) and -(2**63) <= int(text) < 2**63 else None


def some_term_matches(terms: Sequence[Json], name: str, labels: Mapping[str, str]) -> bool:
    """Whether one of the terms matches; those after the first that does are not read. Raises SelectorFault."""
    for term in terms:
        expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
        if not expressions and not fields:
            continue
        if not all_hold(expressions, labels):
            continue
        for one in fields:
            if one.get("operator") not in ("In", "NotIn") or len(one.get("values") or ()) != 1:
                raise SelectorFault
        if all(
            ((name if one["key"] == "metadata.name" else "") == one["values"][0]) == (one["operator"] == "In")
            for one in fields
        ):
            return True
    return False


def check_labels(selector: Mapping[str, str]) -> None:
    """Raise SelectorFault where a label cannot exist."""
    all_hold([{"key": key, "operator": "In", "values": [value]} for key, value in selector.items()], {})
