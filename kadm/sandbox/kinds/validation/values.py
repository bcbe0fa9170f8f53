"""Faults of single values that many kinds share: counts, percentages, selectors, fields that may not change."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kadm.model.objects import JsonObject, JsonValue
from kadm.sandbox.kinds.field_errors import FieldError, invalid_value, not_supported, required
from kadm.sandbox.kinds.validation import metadata, names

_PERCENT = re.compile("[0-9]+%")


def not_negative(value: JsonValue, field: str) -> list[FieldError]:
    """A count that may be absent, but not below zero."""
    if isinstance(value, int) and value < 0:
        return [invalid_value(field, value, "must be greater than or equal to 0")]
    return []


def count_or_percent(value: JsonValue, field: str, *, at_most_all: bool = False) -> list[FieldError]:
    """A count or a percentage that may be absent; ``at_most_all`` forbids more than 100 %."""
    if isinstance(value, str):
        if not _PERCENT.fullmatch(value):
            why = "a valid percent string must be a numeric string followed by an ending '%'"
            return [
                invalid_value(field, value, f"{why} (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')")
            ]
        if at_most_all and int(value[:-1]) > 100:
            return [invalid_value(field, value, "must not be greater than 100%")]
        return []
    return not_negative(value, field)


def is_zero(value: JsonValue) -> bool:
    """Whether a count or percentage is nothing."""
    return value in (0, "0%", None)


def one_of(value: JsonValue, field: str, supported: Iterable[str]) -> list[FieldError]:
    """A value of a closed set; the message lists the set in order of name."""
    known = sorted(supported)
    return [] if value in known else [not_supported(field, value, known)]


def unchanged(new: JsonValue, old: JsonValue, field: str) -> list[FieldError]:
    """A field that may not change."""
    return [] if new == old else [invalid_value(field, new, "field is immutable")]


def selector(value: JsonValue, field: str) -> list[FieldError]:
    """The faults of a label selector; None has none."""
    if not isinstance(value, dict):
        return []
    errors = metadata.label_map(value.get("matchLabels") or {}, f"{field}.matchLabels")
    for index, expression in enumerate(value.get("matchExpressions") or ()):
        at = f"{field}.matchExpressions[{index}]"
        operator, values = expression.get("operator"), expression.get("values")
        if operator in ("In", "NotIn"):
            if not values:
                errors.append(required(f"{at}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                errors.append(invalid_value(f"{at}.values", values, why))
        else:
            errors.append(invalid_value(f"{at}.operator", operator, "not a valid selector operator"))
        errors += [
            invalid_value(f"{at}.key", expression.get("key"), fault)
            for fault in names.qualified_name(expression.get("key") or "")
        ]
        for position, item in enumerate(values or ()):
            errors += [invalid_value(f"{at}.values[{position}]", item, fault) for fault in names.label_value(item)]
    return errors


def is_empty_selector(value: JsonObject) -> bool:
    """Whether a selector selects everything."""
    return not value.get("matchLabels") and not value.get("matchExpressions")
