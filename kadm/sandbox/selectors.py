"""Label and field selectors: parsing, with the server's own error texts, and matching.

Grammar and texts follow k8s.io/apimachinery pkg/labels and pkg/fields. A selector that selects everything is
``EVERYTHING``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from kadm.sandbox.responses import ApiError, bad_request
from kadm.sandbox.store import Object

Operator = Literal["in", "notin", "exists", "!", ">", "<"]


class Requirement(msgspec.Struct, frozen=True):
    """One condition on a label. ``values`` is empty for ``exists`` and ``!``."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels satisfy the condition. An absent label satisfies ``notin`` and ``!`` only."""
        value = labels.get(self.key)
        match self.operator:
            case "in":
                return value is not None and value in self.values
            case "notin":
                return value is None or value not in self.values
            case "exists":
                return value is not None
            case "!":
                return value is None
            case ">" | "<":
                if value is None or not re.fullmatch(r"[+-]?\d+", value):
                    return False
                bound = int(next(iter(self.values)))
                return int(value) > bound if self.operator == ">" else int(value) < bound


class FieldRequirement(msgspec.Struct, frozen=True):
    """One condition on a field; an absent field has the value ""."""

    field: str
    value: str
    equal: bool


class Selector(msgspec.Struct, frozen=True):
    """Conditions that must all hold."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[FieldRequirement, ...] = ()

    @property
    def selects_everything(self) -> bool:
        return not self.labels and not self.fields

    def matches(self, obj: Object) -> bool:
        """Whether the object is selected."""
        if self.labels:
            labels = obj["metadata"].get("labels") or {}
            if not all(requirement.matches(labels) for requirement in self.labels):
                return False
        return all((field_value(obj, term.field) == term.value) == term.equal for term in self.fields)

    def name(self) -> str | None:
        """The one name that the fields permit, if they name one."""
        return next((term.value for term in self.fields if term.field == "metadata.name" and term.equal), None)


EVERYTHING = Selector()

_SYMBOLS = frozenset({"!", "=", "==", "!=", ">", "<", "(", ")", ","})
_SYMBOL_CHARACTERS = frozenset("!=><(),")
_BINARY_OPERATORS = "in, notin, =, ==, !=, gt, lt"
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")


def parse_labels(text: str) -> tuple[Requirement, ...]:
    """The conditions of a ``labelSelector``, sorted by key. Raises ApiError 400."""
    return _LabelParser(text).parse()


class _LabelParser:
    """Recursive descent over tokens, each the token's text; "" stands for the end."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._position = 0

    def parse(self) -> tuple[Requirement, ...]:
        requirements: list[Requirement] = []
        while True:
            part = self._peek()
            if part == "":
                break
            if part in _SYMBOLS and part != "!":
                raise bad_request(f"found '{part}', expected: !, identifier, or 'end of string'")
            requirements.append(self._requirement())
            part = self._take()
            if part == "":
                break
            if part != ",":
                raise bad_request(f"found '{part}', expected: ',' or 'end of string'")
            after = self._peek()
            if after == "" or (after in _SYMBOLS and after != "!"):
                raise bad_request(f"found '{after}', expected: identifier after ','")
        return tuple(sorted(requirements, key=lambda requirement: requirement.key))

    def _requirement(self) -> Requirement:
        part = self._take()
        absent = part == "!"
        if absent:
            part = self._take()
        if part == "" or part in _SYMBOLS:
            raise _unparsable(f"found '{part}', expected: identifier")
        key = part
        if absent:
            return Requirement(key, "!")
        if self._peek() in ("", ","):
            return Requirement(key, "exists")
        operator = self._take()
        match operator:
            case "in" | "notin":
                return Requirement(key, operator, _valid(self._values()))
            case "=" | "==":
                return Requirement(key, "in", _valid(self._exact_value()))
            case "!=":
                return Requirement(key, "notin", _valid(self._exact_value()))
            case ">" | "<":
                values = self._exact_value()
                value = next(iter(values))
                if not re.fullmatch(r"[+-]?\d+", value):
                    raise _unparsable(
                        f"values[0]: Invalid value: \"{value}\": for 'Gt', 'Lt' operators, the value must be an integer"
                    )
                return Requirement(key, operator, values)
            case _:
                raise _unparsable(f"found '{operator}', expected: {_BINARY_OPERATORS}")

    def _values(self) -> frozenset[str]:
        part = self._take()
        if part != "(":
            raise _unparsable(f"found '{part}' expected: '('")
        values: set[str] = set()
        expects_value = True
        while True:
            part = self._take()
            if part == ")":
                if expects_value:
                    values.add("")
                return frozenset(values)
            if part == ",":
                if expects_value:
                    values.add("")
                expects_value = True
            elif part == "" or part in _SYMBOLS:
                raise _unparsable(f"found '{part}', expected: ',', or identifier")
            else:
                values.add(part)
                expects_value = False
                after = self._peek()
                if after not in (",", ")"):
                    raise _unparsable(f"found '{after}', expected: ',' or ')'")

    def _exact_value(self) -> frozenset[str]:
        part = self._peek()
        if part in ("", ","):
            return frozenset({""})
        self._take()
        if part in _SYMBOLS:
            raise _unparsable(f"found '{part}', expected: identifier")
        return frozenset({part})

    def _peek(self) -> str:
        return self._tokens[self._position]

    def _take(self) -> str:
        part = self._tokens[self._position]
        if part:  # the end is never passed
            self._position += 1
        return part


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        if character in " \t\r\n":
            position += 1
        elif character in _SYMBOL_CHARACTERS:
            length = 2 if text[position : position + 2] in _SYMBOLS else 1
            tokens.append(text[position : position + length])
            position += length
        else:
            start = position
            while position < len(text) and text[position] not in _SYMBOL_CHARACTERS and text[position] not in " \t\r\n":
                position += 1
            tokens.append(text[start:position])
    tokens.append("")
    return tokens


def _unparsable(why: str) -> ApiError:
    return bad_request(f"unable to parse requirement: {why}")


def _valid(values: frozenset[str]) -> frozenset[str]:
    for index, value in enumerate(sorted(values)):
        if len(value) > 63 or not _LABEL_VALUE.fullmatch(value):
            raise _unparsable(
                f'values[{index}]: Invalid value: "{value}": a valid label must be an empty string or consist of '
                "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
            )
    return values


_COMMON_FIELDS = ("metadata.name", "metadata.namespace")

# What a kind lets fields select beyond name and namespace. Source: the field label conversions of the Kubernetes 1.36
# API.
_SELECTABLE: Mapping[str, tuple[str, ...]] = {
    "pods": (
        "spec.hostNetwork",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.nominatedNodeName",
        "status.phase",
        "status.podIP",
        "status.podIPs",
    ),
    "events": (
        "involvedObject.apiVersion",
        "involvedObject.fieldPath",
        "involvedObject.kind",
        "involvedObject.name",
        "involvedObject.namespace",
        "involvedObject.resourceVersion",
        "involvedObject.uid",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    "namespaces": ("status.phase",),
    "nodes": ("spec.unschedulable",),
    "secrets": ("type",),
    "services": ("spec.clusterIP", "spec.type"),
    "replicationcontrollers": ("status.replicas",),
    "replicasets.apps": ("status.replicas",),
    "jobs.batch": ("status.successful",),
    "certificatesigningrequests.certificates.k8s.io": ("spec.signerName",),
}

# Only these kinds name nothing when they refuse a field; the rest name the two fields that they all know.
_TERSE = frozenset(_SELECTABLE)


def parse_fields(
    text: str, resource: str, *, custom: bool = False, selectable: tuple[str, ...] = ()
) -> tuple[FieldRequirement, ...]:
    """The conditions of a ``fieldSelector`` of a resource (``deployments.apps``). Raises ApiError 400.

    ``selectable`` are the fields that a custom resource adds by its definition.
    """
    known = (*_COMMON_FIELDS, *_SELECTABLE.get(resource, ()), *selectable)
    requirements: list[FieldRequirement] = []
    for part in _split(text):
        if not part:
            continue
        found = _term(part)
        if found is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        if found.field not in known:
            if custom or resource in _TERSE:
                raise bad_request(f"field label not supported: {found.field}")
            raise bad_request(
                f'"{found.field}" is not a known field selector: only "metadata.name", "metadata.namespace"'
            )
        requirements.append(found)
    return tuple(requirements)


def _split(text: str) -> list[str]:
    parts: list[str] = []
    part = ""
    escaped = False
    for character in text:
        if escaped:
            part += character
            escaped = False
        elif character == "\\":
            part += character
            escaped = True
        elif character == ",":
            parts.append(part)
            part = ""
        else:
            part += character
    parts.append(part)
    return parts


def _term(part: str) -> FieldRequirement | None:
    index = 0
    while index < len(part):
        if part[index] == "\\":
            index += 2
            continue
        for operator in ("!=", "==", "="):
            if part.startswith(operator, index):
                value = part[index + len(operator) :]
                return FieldRequirement(part[:index], re.sub(r"\\([\\,=])", r"\1", value), operator != "!=")
        index += 1
    return None


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


_ABSENT: Mapping[str, str] = {  # fields whose absence reads as something else than ""
    "spec.hostNetwork": "false",
    "spec.unschedulable": "false",
    "status.successful": "0",
    "status.replicas": "0",
}

_ELSEWHERE: Mapping[str, Callable[[Object], object]] = {  # fields that stand under another path than their name
    "status.successful": lambda obj: obj.get("status", {}).get("succeeded"),
    "source": lambda obj: obj.get("source", {}).get("component") or obj.get("reportingComponent"),
    "status.podIPs": lambda obj: ",".join(entry["ip"] for entry in obj.get("status", {}).get("podIPs") or ()),
}


def field_value(obj: Object, field: str) -> str:
    """The value of a selectable field as text; "" where it is absent."""
    elsewhere = _ELSEWHERE.get(field)
    value: object = obj
    if elsewhere:
        value = elsewhere(obj)
    else:
        for step in field.lstrip(".").split("."):
            value = value.get(step) if isinstance(value, dict) else None
    return _text(value) or _ABSENT.get(field, "")
