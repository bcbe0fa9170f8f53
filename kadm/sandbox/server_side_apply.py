"""Server-side apply: an object merged with what one manager wants, and the fields that it then owns.

Source of the rules: structured-merge-diff, package merge; apimachinery, pkg/util/managedfields; KEP-555.
"""

from __future__ import annotations

from dataclasses import dataclass

from kadm.sandbox import field_sets, last_applied, typed
from kadm.sandbox.decoding import zero
from kadm.sandbox.field_sets import LEAF, FieldSet
from kadm.sandbox.managed_fields import (
    BEFORE_FIRST_APPLY,
    STRIPPED,
    Conversions,
    Differences,
    ManagerKey,
    Managers,
    Object,
    Owned,
    key_of,
    read,
    updated,
    without_entries,
    write,
)
from kadm.sandbox.schema import Schema


class TypedError(Exception):
    """An applied object does not fit its type. ``str()`` is the server's message."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """One field that another manager owns with another value."""

    manager: str
    """As messages write it: ``"web" using apps/v1``."""
    field: str
    """The path: ``.spec.replicas``."""

    @property
    def message(self) -> str:
        """The cause's message in a Status."""
        return f"conflict with {self.manager}"


class ApplyConflict(Exception):
    """An apply would change fields of other managers.

    ``conflicts`` is by manager, then by field; ``str()`` the message.
    """

    def __init__(self, conflicts: tuple[Conflict, ...]) -> None:
        self.conflicts = conflicts
        if len(conflicts) == 1:
            text = f"Apply failed with 1 conflict: {conflicts[0].message}: {conflicts[0].field}"
        else:
            lines: list[str] = []
            manager = ""
            for conflict in conflicts:
                if conflict.manager != manager:
                    manager = conflict.manager
                    lines.append(f"conflicts with {manager}:")
                lines.append(f"- {conflict.field}")
            text = f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)
        super().__init__(text)


def apply(
    live: Object | None,
    applied: Object,
    *,
    schema: Schema,
    manager: str,
    force: bool,
    now: str,
    subresource: str = "",
    reset: FieldSet | None = None,
    conversions: Conversions | None = None,
) -> Object:
    """``live`` (None: there is none yet) with ``applied`` put over it for ``manager``, managedFields included.

    Both are in the version of ``schema``; ``applied`` has no managedFields. What the manager applied before and leaves
    out now is removed unless somebody else owns it. The result is what was merged: decode it, fill in defaults,
    validate it, and finish with ``managed_fields.settle_times``. ``reset`` are fields that this endpoint does not
    write.

    Raises TypedError, or ApplyConflict unless ``force``.
    """
    if found := typed.faults(applied, schema.root):
        raise TypedError(f"failed to create typed patch object ({_shown(applied, schema)}): {_listed_faults(found)}")
    key = key_of(manager, "Apply", schema.api_version, subresource)
    mine = LEAF
    if manager == last_applied.MANAGER and live is not None and not force:
        mine = last_applied.owned_by_client_side_apply(live, schema)
    try:
        merged = _put_over(
            live, applied, schema=schema, key=key, force=force, now=now, reset=reset, conversions=conversions, mine=mine
        )
    except typed.ListItemError as error:
        # The applied object was checked above, so these are items of the live one.
        raise TypedError(f"failed to create typed live object ({_shown(live or {}, schema)}): {error}") from error
    return last_applied.refreshed(merged, applied) if manager == last_applied.MANAGER else merged


def not_convertible(applied: Object, schema: Schema, fault: Exception) -> str:
    """The server's message where ``applied`` fits its type, but what was merged cannot be decoded.

    Structured merge diff takes any text for a quantity or a time.
    """
    gvk = f"{schema.group}/{schema.version}, Kind={schema.kind}"
    return (
        f"failed to convert new object ({_shown(applied, schema)}) to proper version: "
        f"unable to convert unstructured object to {gvk}: {fault}"
    )


def _put_over(
    live: Object | None,
    applied: Object,
    *,
    schema: Schema,
    key: ManagerKey,
    force: bool,
    now: str,
    reset: FieldSet | None,
    conversions: Conversions | None,
    mine: FieldSet,
) -> Object:
    """The merged object. Fields in ``mine`` may be taken from other managers without ``force``."""
    managers = read(live) or {}
    old = zero(schema) if live is None else without_entries(live)
    if not managers and live is not None:
        first = key_of(BEFORE_FIRST_APPLY, "Update", schema.api_version, key.subresource)
        managers = updated(None, old, {}, schema=schema, key=first, now=now, reset=reset)
    last = managers.get(key)
    wanted = typed.field_set(applied, schema.root)
    if reset:
        wanted = field_sets.without(wanted, reset)
    claimed = {**managers, key: Owned(wanted, schema.api_version, last.time if last is not None else "")}
    merged = typed.merge(old, applied, schema.root)
    if last is not None and not field_sets.contains(wanted, last.fields):
        merged = _pruned(merged, claimed, last, schema)
    conflicts: dict[ManagerKey, FieldSet] = {}
    after = Differences(old, merged, schema, reset, conversions).taken_from(claimed, conflicts=conflicts, but=key)
    conflicts = {key: left for key, fields in conflicts.items() if (left := field_sets.difference(fields, mine))}
    if conflicts and not force:
        raise ApplyConflict(_listed(conflicts))
    changed = not typed.same(old, merged)
    owned = field_sets.difference(wanted, STRIPPED)
    if owned:
        time = now if changed else claimed[key].time
        after[key] = Owned(field_sets.ordered(owned), schema.api_version, time)
    else:
        del after[key]
    return write(merged, after)


def _shown(obj: Object, schema: Schema) -> str:
    metadata = obj.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    namespace, name = metadata.get("namespace", ""), metadata.get("name", "")
    return f"{namespace}/{name}; {schema.group}/{schema.version}, Kind={schema.kind}"


def _listed_faults(found: list[str]) -> str:
    return found[0] if len(found) == 1 else "\n".join(["errors:", *("  " + fault for fault in found)])


def _listed(conflicts: dict[ManagerKey, FieldSet]) -> tuple[Conflict, ...]:
    return tuple(
        Conflict(key.text(), path)
        for key in sorted(conflicts, key=ManagerKey.order)
        for path in field_sets.paths(conflicts[key])
    )


def _pruned(merged: Object, managers: Managers, last: Owned, schema: Schema) -> Object:
    """``merged`` without what the manager owned last time and nobody owns now.

    Fields that the manager last applied in another version stay: they are not this version's to remove.
    """
    if last.api_version != schema.api_version:
        return merged
    root = schema.root
    kept: FieldSet = {}
    for owned in managers.values():
        if owned.api_version == schema.api_version:
            kept = field_sets.union(kept, owned.fields)
    before = field_sets.with_parents(last.fields, root)
    everything = field_sets.with_parents(typed.field_set(merged, root), root)
    pruned = typed.remove(merged, before, root)
    left = field_sets.with_parents(typed.field_set(pruned, root), root)
    owned_now = field_sets.with_parents(kept, root)
    pruned = typed.remove(merged, field_sets.difference(everything, field_sets.union(left, owned_now)), root)
    left = field_sets.with_parents(typed.field_set(pruned, root), root)
    gone = field_sets.intersection(field_sets.difference(everything, left), before)
    result: Object = typed.remove(merged, gone, root)
    return result
