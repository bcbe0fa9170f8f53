"""Which members a selector names: label equality, and affinity terms over a member's labels and name.

Scheduling policies and override rules share these rules (scheduling spec 4.6, propagation spec 1.2); label syntax and
the meaning of operators are those of Kubernetes' label selectors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import assert_never

from kadm.model.policy import SelectorRequirement, SelectorTerm

_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_PREFIX_MAX = 253
_INTEGER = re.compile(r"[+-]?[0-9]+")
_INT64 = range(-(2**63), 2**63)
_NAME_FIELD = "metadata.name"


class SelectorError(ValueError):
    """A selector that Kubernetes would refuse: wrong syntax, or a number of values that its operator does not take."""


def labels_match(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Whether every pair of ``selector`` stands in ``labels``; an empty selector matches. A missing label is not ''."""
    return all(labels.get(key) == value for key, value in selector.items())


def check_labels(selector: Mapping[str, str]) -> None:
    """Raise SelectorError where a key or value of ``selector`` is no legal label."""
    for key, value in selector.items():
        _check_key(key)
        _check_value(key, value)


def terms_match(terms: Iterable[SelectorTerm], name: str, labels: Mapping[str, str]) -> bool:
    """Whether some term matches. Terms are tried in order: a SelectorError after the first match does not show."""
    return any(term_matches(term, name, labels) for term in terms)


def term_matches(term: SelectorTerm, name: str, labels: Mapping[str, str]) -> bool:
    """Whether all of the term's expressions (on labels) and fields (on the name) hold; an empty term matches nothing.

    Raises SelectorError for an illegal expression, and for an illegal field if the expressions hold.
    """
    if not term.match_expressions and not term.match_fields:
        return False
    for requirement in term.match_expressions:
        _check_expression(requirement)
    if not all(_expression_holds(requirement, labels) for requirement in term.match_expressions):
        return False
    for requirement in term.match_fields:
        _check_field(requirement)
    return all(_field_holds(requirement, name) for requirement in term.match_fields)


def expressions_match(requirements: Iterable[SelectorRequirement], labels: Mapping[str, str]) -> bool:
    """Whether all expressions hold on ``labels``; none at all hold. Raises SelectorError for an illegal one."""
    checked = tuple(requirements)
    for requirement in checked:
        _check_expression(requirement)
    return all(_expression_holds(requirement, labels) for requirement in checked)


def _check_expression(requirement: SelectorRequirement) -> None:
    key, operator, values = requirement.key, requirement.operator, requirement.values
    _check_key(key)
    match operator:
        case "In" | "NotIn":
            if not values:
                raise SelectorError(f"operator {operator} on {key!r} needs at least one value")
        case "Exists" | "DoesNotExist":
            if values:
                raise SelectorError(f"operator {operator} on {key!r} takes no values")
        case "Gt" | "Lt":
            if len(values) != 1 or _integer(values[0]) is None:
                raise SelectorError(f"operator {operator} on {key!r} needs exactly one integer")
        case _:
            assert_never(operator)
    for value in values:
        _check_value(key, value)


def _expression_holds(requirement: SelectorRequirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            number = None if value is None else _integer(value)
            bound = _integer(requirement.values[0])
            if number is None or bound is None:
                return False
            return number > bound if requirement.operator == "Gt" else number < bound
        case _:
            assert_never(requirement.operator)


def _check_field(requirement: SelectorRequirement) -> None:
    if requirement.operator not in ("In", "NotIn"):
        raise SelectorError(f"operator {requirement.operator} is not for fields (on {requirement.key!r})")
    if len(requirement.values) != 1:
        raise SelectorError(f"operator {requirement.operator} on field {requirement.key!r} needs exactly one value")


def _field_holds(requirement: SelectorRequirement, name: str) -> bool:
    value = name if requirement.key == _NAME_FIELD else ""  # unknown fields read as empty, as in KubeAdmiral
    return (value == requirement.values[0]) == (requirement.operator == "In")


def _check_key(key: str) -> None:
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > _PREFIX_MAX or not _PREFIX.fullmatch(prefix)):
        raise SelectorError(f"{key!r} is no label key: its prefix is no DNS subdomain")
    if not _NAME.fullmatch(name):
        raise SelectorError(f"{key!r} is no label key")


def _check_value(key: str, value: str) -> None:
    if value and not _NAME.fullmatch(value):
        raise SelectorError(f"{value!r} is no label value (of {key!r})")


def _integer(text: str) -> int | None:
    """The int64 that Go's strconv.ParseInt reads, or None."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text.lstrip("+-").lstrip("0")[:20] or "0") * (-1 if text.startswith("-") else 1)
    return number if number in _INT64 else None
