"""The override engine: one object as one member must hold it (propagation spec, section 1).

Policies apply in order, their rules in order, and within a rule the overriders in a fixed order whatever order they
are written in: image, command, args, envs, annotations, labels, jsonpatch. Typed overriders become replace patches
computed from the object as it was before the rule; the rule's jsonpatch operations run after them. The next rule sees
the result.

A rule applies as a whole or not at all, and so do the policies: where one fails, the object has no form in that member
(design, section 12, row 12), and the caller freezes it there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from kadm.errors import Location, Problem
from kadm.model.desired import Provenance
from kadm.model.objects import JsonObject, JsonValue, Path, at
from kadm.model.override import OverridePolicy, Overriders
from kadm.overrides.entrypoint import entrypoint_patches
from kadm.overrides.environment import environment_patches
from kadm.overrides.error import OverrideError
from kadm.overrides.image import image_patches
from kadm.overrides.pointer import Patch, patched
from kadm.overrides.string_map import string_map_patches
from kadm.overrides.target import RuleHit, rules_that_hit

IDENTITY: tuple[Path, ...] = (("kind",), ("metadata", "namespace"), ("metadata", "name"), ("metadata", "generateName"))
"""What no override may change: it would be another object."""


@dataclass(frozen=True)
class Overridden:
    """What the overrides make of an object in one member.

    ``object`` is None where a rule fails; ``problems`` then holds the error. Otherwise it shares with the input
    whatever no rule touches, and ``patches`` (in order) lead to it.
    """

    object: JsonObject | None
    patches: tuple[Patch, ...] = ()
    provenance: tuple[Provenance, ...] = ()
    problems: tuple[Problem, ...] = ()


def apply_overrides(
    obj: JsonObject, member: str, labels: Mapping[str, str], *, policies: Sequence[OverridePolicy]
) -> Overridden:
    """The object in the member of this name and these labels; ``policies`` in order of application."""
    hits = [hit for index, policy in enumerate(policies) for hit in rules_that_hit(policy, index, member, labels)]
    return apply_rules(obj, policies, hits)


def apply_rules(obj: JsonObject, policies: Sequence[OverridePolicy], hits: Sequence[RuleHit]) -> Overridden:
    """The object after the rules that hit. Members that the same rules hit get the same answer."""
    current = obj
    patches: list[Patch] = []
    provenance: list[Provenance] = []
    for hit in hits:
        policy = policies[hit.policy]
        location = rule_location(policy, hit.rule)
        try:
            if hit.error:
                raise OverrideError(hit.error)
            overriders = policy.spec.override_rules[hit.rule].overriders
            before = current
            for patch in _patches(current, overriders) if overriders else ():
                patches.append(patch)
                current, _ = patched(current, patch)
            _check_identity(before, current)
        except OverrideError as error:
            problem = Problem(what=f"rule {hit.rule} of {policy.key} cannot be applied", where=location, why=str(error))
            return Overridden(None, problems=(problem,))
        provenance.extend(
            Provenance(path=path, before=old, after=new, policy=policy.key, rule=hit.rule, location=location)
            for path, old, new in differences(before, current)
        )
    return Overridden(current, tuple(patches), tuple(provenance))


def rule_location(policy: OverridePolicy, rule: int) -> Location:
    """Where the rule stands."""
    return policy.rule_locations[rule] if rule < len(policy.rule_locations) else policy.location


def differences(before: JsonValue, after: JsonValue, path: Path = ()) -> Iterator[tuple[Path, JsonValue, JsonValue]]:
    """Path, old and new value of what differs; None for absent. Lists of another length differ as a whole.

    Shared parts are skipped by identity, so that the cost is that of what changed.
    """
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if key not in after:
                yield (*path, key), before[key], None
        for key, value in after.items():
            if key in before:
                yield from differences(before[key], value, (*path, key))
            else:
                yield (*path, key), None, value
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, (*path, index))
    elif before != after or isinstance(before, bool) != isinstance(after, bool):
        yield path, before, after


def _patches(obj: JsonObject, overriders: Overriders) -> tuple[Patch, ...]:
    return (
        *image_patches(obj, overriders.image),
        *entrypoint_patches(obj, "command", overriders.command),
        *entrypoint_patches(obj, "args", overriders.args),
        *environment_patches(obj, overriders.envs),
        *string_map_patches(obj, "annotations", overriders.annotations),
        *string_map_patches(obj, "labels", overriders.labels),
        *(
            Patch(operation.operator, operation.path, None if operation.value is UNSET else operation.value)
            for operation in overriders.jsonpatch
        ),
    )


def _check_identity(before: JsonObject, after: JsonObject) -> None:
    """Raise OverrideError where the object would no longer be the same one."""
    if before is after:
        return
    for path in IDENTITY:
        if at(before, path) != at(after, path):
            raise OverrideError(f"/{'/'.join(map(str, path))} cannot be overridden: it would be another object")
    group, new_group = (str(at(obj, ("apiVersion",)) or "").rpartition("/")[0] for obj in (before, after))
    if group != new_group:
        raise OverrideError("the group in /apiVersion cannot be overridden: it would be another object")
    if not isinstance(at(after, ("metadata",)), dict):
        raise OverrideError("/metadata must stay an object")
