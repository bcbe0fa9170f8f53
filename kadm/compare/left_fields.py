"""Fields that kadm leaves to others: to an autoscaler, by a rule of the user, or after a contest (design, section 6).

Such a field is sent once, on create. Later it is left out of what is sent, after kadm's managedFields entry let it go:
leaving it out alone would reset or delete it (api-servers, 14).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from kadm.compare.field_path import elements_in, found_in
from kadm.compare.field_set import Elements, FieldSet, locate, members, only, shown, step_in
from kadm.compare.merging import merged, taken_out
from kadm.compare.ownership import entries, own_entry
from kadm.model.applyset import with_membership
from kadm.model.desired import DesiredObject, LeftField
from kadm.model.field_path import parse_path, parse_paths
from kadm.model.fleet import IgnoreRule
from kadm.model.objects import JsonObject, JsonValue, ObjectKey, Path, at
from kadm.model.stamps import Taken
from kadm.render.digest import digest_of

IGNORE = "kadm.io/ignore"
REPLICAS: Path = ("spec", "replicas")
CONTEST = 2
"""So often kadm takes a field back from one manager before it leaves the field alone."""


class Leave(Struct, frozen=True, kw_only=True):
    """One rule for one object. ``path`` empty: every field; ``manager`` set: only what this manager holds live.

    ``scales``: the field is a number of replicas that an autoscaler owns, but for 0: that switches autoscalers off.
    """

    path: Path = ()
    why: str
    manager: str = ""
    scales: bool = False
    contested: bool = False


class Leaving(Struct, frozen=True, kw_only=True):
    """What is left alone in one member. ``autoscaled``: workload → who scales it, in words; ``retained``: objects whose
    manifest leaves the replicas to the member; ``taken``: what kadm took back so far, object → fields."""

    rules: Sequence[IgnoreRule] = ()
    autoscaled: Mapping[ObjectKey, str] = {}
    retained: frozenset[ObjectKey] = frozenset()
    taken: Mapping[ObjectKey, Sequence[Taken]] = {}

    def of(self, wanted: DesiredObject) -> tuple[Leave, ...]:
        """The rules for one object."""
        return tuple(self._of(wanted))

    def _of(self, wanted: DesiredObject) -> Iterator[Leave]:
        key = wanted.key
        if key in self.autoscaled:
            yield Leave(path=REPLICAS, why=f"{self.autoscaled[key]} scales it", scales=True)
        if key in self.retained:
            yield Leave(path=REPLICAS, why="annotation retain-replicas leaves it to the member")
        for text in ((wanted.object["metadata"].get("annotations") or {}).get(IGNORE),):
            for path in parse_paths(text) if text else ():
                yield Leave(path=path, why=f"annotation {IGNORE}")
        for rule in self.rules:
            if _is_about(rule, key):
                path = parse_path(rule.path) if rule.path else ()
                yield Leave(path=path, why="spec.ignore in kadm.yaml", manager=rule.manager)
        for taken in self.taken.get(key, ()):
            if taken.times >= CONTEST and taken.digest == contest_digest(wanted):
                why = f"{taken.manager} set it back {taken.times} times"
                yield Leave(path=parse_path(taken.path), why=why, manager=taken.manager, contested=True)


def contest_digest(wanted: DesiredObject) -> str:
    """What says that git still wants the same; nothing for a Secret, whose digest would help to guess its values."""
    return "" if (wanted.key.group, wanted.key.kind) == ("", "Secret") else digest_of(whole(wanted))


def whole(wanted: DesiredObject) -> JsonObject:
    """What git says, with the fields that are left to others."""
    return wanted.object if wanted.complete is None else wanted.complete


def leave(wanted: DesiredObject, rules: Sequence[Leave], live: JsonObject | None) -> DesiredObject:
    """The desired object without what the rules leave to others; the same object where they leave nothing."""
    if not rules:
        return wanted
    left: list[LeftField] = []
    paths: set[Path] = set()
    for rule in rules:
        if rule.scales and live is not None and at(live, rule.path) == 0 and at(wanted.object, rule.path) != 0:
            continue
        if rule.manager:
            for elements in _held_by(rule, live):
                path = locate(wanted.object, elements)
                if path is not None:
                    paths.add(path)
                    left.append(LeftField(path=shown(elements), why=rule.why, contested=rule.contested))
        else:
            paths |= set(found_in(wanted.object, rule.path))
            left.append(LeftField(path=rule.path, why=rule.why))
    reduced = _without_emptied(taken_out(wanted.object, _outermost(paths)), paths)
    return replace(
        wanted,
        object=reduced,
        digest=digest_of(reduced) if paths else wanted.digest,
        left=tuple(dict.fromkeys(left)),
        complete=wanted.object if paths else None,
    )


def sent_for(wanted: DesiredObject, live: JsonObject | None, *, manager: str, set_id: str) -> JsonObject:
    """The object as the member is asked about it: with the set's label, and the uid of the live object to be updated.

    The uid keeps an update from recreating, or hitting another object of the same name (design, section 7).
    """
    sent = with_membership(_to_ask(wanted, live, manager), set_id)
    return sent if live is None else {**sent, "metadata": {**sent["metadata"], "uid": live["metadata"]["uid"]}}


def _to_ask(wanted: DesiredObject, live: JsonObject | None, manager: str) -> JsonObject:
    """What is sent, with the live values of the fields that kadm's entry will let go.

    The dry run knows nothing of the letting go, and would show what the apply does not do.
    """
    if live is None:
        return whole(wanted)
    asked: JsonObject = wanted.object
    own: FieldSet = (own_entry(live, manager) or {}).get("fieldsV1") or {}
    for elements in struck(own, wanted.left, live):
        asked = merged(asked, _skeleton(live, elements), own)
    return asked


def struck(own: FieldSet, left: Iterable[LeftField], live: JsonObject) -> tuple[Elements, ...]:
    """The fields of kadm's entry that it lets go."""
    return tuple(dict.fromkeys(elements for one in left for elements in elements_in(own, one.path, live)))


def without_fields(own: FieldSet, gone: Sequence[Elements]) -> FieldSet:
    """The set without these fields and all below them."""
    return only(own, lambda path: not any(path[: len(one)] == one for one in gone))


def _is_about(rule: IgnoreRule, key: ObjectKey) -> bool:
    return all(
        not wanted or fnmatchcase(actual.lower() if lower else actual, wanted.lower() if lower else wanted)
        for wanted, actual, lower in (
            (rule.kind, key.kind, True),
            (rule.group, key.group, False),
            (rule.namespace, key.namespace, False),
            (rule.name, key.name, False),
        )
    )


def _held_by(rule: Leave, live: JsonObject | None) -> Iterator[Elements]:
    """The fields below the rule's path that its manager holds, those with values alone."""
    for entry in entries(live) if live is not None else ():
        if entry.get("manager") != rule.manager:
            continue
        fields: FieldSet = entry.get("fieldsV1") or {}
        named = tuple(elements_in(fields, rule.path, live))
        for elements in members(fields):
            path = locate(live, elements)
            below = any(elements[: len(one)] == one for one in named)
            if below and path is not None and not isinstance(at(live, path), dict):
                yield elements


def _without_emptied(obj: JsonObject, paths: Iterable[Path]) -> JsonObject:
    """The object without the maps that nothing is left in: an empty map is a value, too, and would be owned."""
    for path in sorted(paths, key=len, reverse=True):
        for length in range(len(path) - 1, 0, -1):
            if not isinstance(path[length - 1], str) or at(obj, path[:length]) != {}:
                break
            obj = taken_out(obj, [path[:length]])
    return obj


def _outermost(paths: Iterable[Path]) -> set[Path]:
    found = set(paths)
    return {path for path in found if path and not any(path[:length] in found for length in range(1, len(path)))}


def _skeleton(live: JsonValue, elements: Elements) -> JsonValue:
    """The live value at a field, with nothing around it but the way there."""
    if not elements:
        return live
    element, rest = elements[0], elements[1:]
    step = step_in(live, element)
    assert step is not None, f"{elements} is in the live object"
    inner = _skeleton(live[step], rest)
    if isinstance(step, str):
        return {step: inner}
    if element[:2] != "k:" or not isinstance(inner, dict):
        return [inner]
    import msgspec

    return [{**msgspec.json.decode(element[2:]), **inner}]
