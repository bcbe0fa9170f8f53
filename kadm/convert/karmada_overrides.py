"""Karmada's OverridePolicy as KubeAdmiral's.

Source: Karmada's API reference, policy.karmada.io/v1alpha1 (OverrideSpec, Overriders).
"""

from __future__ import annotations

from kadm.convert.fields import Fields
from kadm.convert.karmada_members import affinity_of
from kadm.model.objects import JsonObject

_IMAGE = {"add": "addIfAbsent", "remove": "delete", "replace": "overwrite"}
_ENTRYPOINT = {"add": "append", "remove": "delete"}
_MAP = {"add": "upsert", "remove": "delete", "replace": "overwrite"}


def override_spec(spec: Fields) -> JsonObject:
    """The spec of an OverridePolicy of ours; what it cannot say is noted."""
    rules = []
    if spec.has("overriders") or spec.has("targetCluster"):  # the form before rules
        rules.append(_rule(spec))
    for rule in spec.parts("overrideRules"):
        rules.append(_rule(rule))
        rule.close()
    return {"overrideRules": rules}


def _rule(rule: Fields) -> JsonObject:
    found: JsonObject = {}
    targets = affinity_of(rule.part("targetCluster")).targets
    if targets:
        found["targetClusters"] = targets
    found["overriders"] = _overriders(rule.part("overriders"))
    return found


def _overriders(given: Fields) -> JsonObject:
    made: JsonObject = {
        "image": [_image(one) for one in given.parts("imageOverrider")],
        "command": [_entrypoint(one) for one in given.parts("commandOverrider")],
        "args": [_entrypoint(one) for one in given.parts("argsOverrider")],
        "annotations": [_map(one) for one in given.parts("annotationsOverrider")],
        "labels": [_map(one) for one in given.parts("labelsOverrider")],
        "jsonpatch": [_patch(one) for one in given.parts("plaintext")],
    }
    if given.has("fieldOverrider"):
        given.note("fieldOverrider", "changes text inside of a field, which has no counterpart, and is left out")
    given.close()
    return {name: ones for name, ones in made.items() if ones}


def _image(one: Fields) -> JsonObject:
    component, operator = one.text("component"), one.text("operator")
    operation: JsonObject = {"imageComponent": component, "operator": _IMAGE.get(operator, "overwrite")}
    if operator == "add":
        one.note("operator", "add: Karmada appends where the part is there already, and kadm fails")
    if value := one.text("value"):
        operation["value"] = value
    if component == "Tag" and operator in ("remove", "replace"):
        one.note("component", "Tag: for Karmada that is the digest too; kadm leaves a digest, and it wins")
    found: JsonObject = {}
    predicate = one.part("predicate")
    if path := predicate.text("path"):
        found["imagePath"] = path
    predicate.close()
    one.close()
    return {**found, "operations": [operation]}


def _entrypoint(one: Fields) -> JsonObject:
    found = {
        "containerName": one.text("containerName"),
        "operator": _ENTRYPOINT.get(one.text("operator"), "append"),
        "value": one.texts("value"),
    }
    one.close()
    return found


def _map(one: Fields) -> JsonObject:
    found = {"operator": _MAP.get(one.text("operator"), "upsert"), "value": one.map("value")}
    one.close()
    return found


def _patch(one: Fields) -> JsonObject:
    found: JsonObject = {"path": one.text("path"), "operator": one.text("operator")}
    value = one.any("value")
    if found["operator"] != "remove":
        found["value"] = value
    one.close()
    return found
