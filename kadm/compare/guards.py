"""Deletion is the dangerous verb: what holds a deletion back, and the flag that permits it (design, section 8)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from kadm.compare.findings import MemberComparison
from kadm.compare.permissions import Permissions
from kadm.model.fleet import Deletions
from kadm.model.live import LiveMember
from kadm.model.objects import ObjectKey
from kadm.model.plan import Change, Held
from kadm.model.record import RecordedObject

PROTECT = "kadm.io/protect"
NEVER_DELETED = frozenset({"kube-system", "kube-public", "kube-node-lease", "default", "kadm-system"})


class Contents(Struct, frozen=True, kw_only=True):
    """What stands behind a namespace or CRD that would be deleted: what is not kadm's, or why that is unknown.

    ``unknown`` is empty where everything could be listed.
    """

    foreign: tuple[str, ...] = ()
    unknown: str = ""


def guard(
    comparison: MemberComparison,
    *,
    live: LiveMember,
    recorded: int,
    desired: int,
    contents: Mapping[ObjectKey, Contents],
    deletions: Deletions,
    permissions: Permissions,
) -> MemberComparison:
    """The comparison with every deletion (and recreation) that no flag permits moved from changes to held.

    ``recorded`` and ``desired`` count the member's objects; ``contents`` has an entry for every namespace and CRD that
    would be deleted.
    """
    held = list(comparison.held)
    kept: list[Change] = []
    for change in comparison.changes:
        found = _held(change, live, contents, permissions) if change.action in ("delete", "recreate") else None
        if found is None:
            kept.append(change)
        else:
            held.append(found)
    kept, inside = _with_what_they_hold(kept, held)
    held += inside
    deleting = [change for change in kept if change.action == "delete"]
    bulk = _bulk(deleting, recorded=recorded, desired=desired, deletions=deletions, permissions=permissions)
    if bulk is not None:
        held += [bulk(change) for change in deleting]
        kept = [change for change in kept if change.action != "delete"]
    return replace(
        comparison, changes=tuple(kept), held=tuple(sorted(held, key=lambda one: (one.change.cluster, one.change.key)))
    )


def going(
    comparison: MemberComparison, live: LiveMember, recorded: Collection[RecordedObject], permissions: Permissions
) -> frozenset[str]:
    """The uids of kadm's objects that are gone, or go with this plan: a namespace that holds nothing else is empty.

    What stays would be deleted with its namespace: what is desired, let go, protected, frozen or unread is not among
    them.
    """
    deleted = {
        change.uid
        for change in comparison.changes
        if change.action == "delete" and _held(change, live, {}, permissions) is None
    }
    staying = {
        one["metadata"]["uid"]
        for one in live.objects.values()
        if one["metadata"]["uid"] not in deleted and not one["metadata"].get("deletionTimestamp")
    }
    return frozenset(
        entry.uid
        for entry in recorded
        if entry.uid and entry.uid not in staying and entry.key not in live.settled and entry.key not in live.unread
    )


def _held(
    change: Change, live: LiveMember, contents: Mapping[ObjectKey, Contents], permissions: Permissions
) -> Held | None:
    key = change.key
    metadata = live.objects[key]["metadata"]
    if key.kind == "Namespace" and key.name in NEVER_DELETED:
        return Held(change=change, why="this namespace is never deleted", flag="none")
    if (metadata.get("annotations") or {}).get(PROTECT) == "true" and not permissions.allow_protected:
        return Held(change=change, why=f"it is marked {PROTECT}", flag="--allow-protected")
    if key.kind == "PersistentVolumeClaim" and not permissions.delete_pvcs:
        return Held(change=change, why="it holds data", flag="--delete-pvcs")
    inside = contents.get(key, Contents())
    if key.kind == "Namespace" and not permissions.allow_namespaces and (inside.foreign or inside.unknown):
        return Held(change=change, why=_still(inside), flag="--allow-namespace-deletes")
    if key.kind == "CustomResourceDefinition" and not permissions.allow_crds and (inside.foreign or inside.unknown):
        return Held(change=change, why=_still(inside), flag="--allow-crd-deletes")
    return None


def _with_what_they_hold(changes: list[Change], held: list[Held]) -> tuple[list[Change], list[Held]]:
    """The changes without deletions of namespaces in which another deletion is held, and these as held.

    Whatever permits what is foreign in a namespace does not permit what a guard of its own keeps in it.
    """
    kept: list[Change] = []
    found: list[Held] = []
    for change in changes:
        inner = next(
            (one for one in held if one.change.action == "delete" and one.change.key.namespace == change.key.name), None
        )
        if inner is None or change.key.kind != "Namespace" or change.action != "delete":
            kept.append(change)
        else:
            name = f"{inner.change.key.kind} {inner.change.key.name}"
            found.append(Held(change=change, why=f"{name} in it is held back: {inner.why}", flag=inner.flag))
    return kept, found


def _still(inside: Contents) -> str:
    if inside.unknown:
        return f"what it holds is unknown: {inside.unknown}"
    shown = ", ".join(inside.foreign[:5])
    more = len(inside.foreign) - 5
    return f"it still holds {shown}" + (f" and {more} more" if more > 0 else "")


def _bulk(
    deleting: list[Change], *, recorded: int, desired: int, deletions: Deletions, permissions: Permissions
) -> Callable[[Change], Held] | None:
    """How each deletion is held where there are too many of them, or None where they may pass."""
    if not deleting:
        return None
    if desired == 0 and not permissions.allow_empty:
        why = "the member would drop to nothing"
        return lambda change: Held(change=change, why=why, flag="--allow-empty")
    allowed, share = permissions.allow_deletes, ""
    if allowed is None and desired > 0:
        allowed = min(deletions.max, -(-recorded * deletions.percent // 100))
        share = f", {deletions.percent}% of its {recorded} objects" if allowed < deletions.max else ""
    if allowed is not None and len(deleting) > allowed:
        count = len(deleting)
        why = f"{count} deletion{'s' * (count > 1)} in this member, {allowed} allowed{share}"
        return lambda change: Held(change=change, why=why, flag=f"--allow-deletes {count}")
    return None
