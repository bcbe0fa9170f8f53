"""Defaults of Namespaces, Nodes, Secrets, LimitRanges and PriorityClasses."""

from __future__ import annotations

from kadm.model.objects import JsonObject

NAME_LABEL = "kubernetes.io/metadata.name"


def namespace(obj: JsonObject) -> None:
    obj["status"].setdefault("phase", "Active")
    name = obj["metadata"].get("name")
    if name:  # a generated name is not known yet; the label comes with it
        obj["metadata"].setdefault("labels", {})[NAME_LABEL] = name


def node(obj: JsonObject) -> None:
    status = obj["status"]
    if status.get("capacity") and not status.get("allocatable"):
        status["allocatable"] = dict(status["capacity"])


def secret(obj: JsonObject) -> None:
    obj.setdefault("type", "Opaque")


def limit_range(obj: JsonObject) -> None:
    """A container's default is its max, its default request its default, or else its min."""
    for item in obj["spec"].get("limits") or ():
        if item.get("type") != "Container":
            continue
        limits = {**(item.get("max") or {}), **(item.get("default") or {})}
        requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
        if limits:
            item["default"] = limits
        if requests:
            item["defaultRequest"] = requests


def priority_class(obj: JsonObject) -> None:
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")
