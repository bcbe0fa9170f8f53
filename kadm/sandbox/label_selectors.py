"""Label selectors as objects hold them (metav1.LabelSelector): what they select, and how they are written as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LabelSelector = Mapping[str, Any]


def selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether a selector selects an object with these labels: None selects nothing, an empty one everything."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(meets(expression, labels) for expression in selector.get("matchExpressions") or ())


def meets(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether one requirement {key, operator, values} of a label or node selector holds; no unknown operator does."""
    key, values = expression["key"], expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case "Gt":
            return _order(labels.get(key), values) > 0
        case "Lt":
            return _order(labels.get(key), values) < 0
        case _:
            return False


def _order(label: str | None, values: Sequence[str]) -> int:
    """1 or -1 as the label is a larger or smaller integer than the only value, 0 where either is no integer."""
    try:
        have, limit = int(label or ""), int(values[0])
    except (ValueError, IndexError):
        return 0
    return (have > limit) - (have < limit)


def as_text(selector: LabelSelector | None) -> str:
    """A selector as a query writes it: ``app=a,tier in (x,y)``; "" for one that is None or selects everything."""
    if selector is None:
        return ""
    parts = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for term in selector.get("matchExpressions") or ():
        values = ",".join(sorted(term.get("values") or ()))
        match term["operator"]:
            case "In":
                parts.append(f"{term['key']} in ({values})")
            case "NotIn":
                parts.append(f"{term['key']} notin ({values})")
            case "Exists":
                parts.append(term["key"])
            case _:
                parts.append(f"!{term['key']}")
    return ",".join(parts)
