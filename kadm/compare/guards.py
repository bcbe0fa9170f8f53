"""Deletion is the dangerous verb: what holds a deletion back, and the flag that permits it (design, section 8)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

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

_JOINED_LATER = (
    ": it joined later, and clusterJoined is false; "
    "kadm apply --reschedule KIND/NAME, or --reschedule-all, places it there"
)


class Contents(Struct, frozen=True, kw_only=True):
    """What stands behind a namespace or CRD that would be deleted: what is not kadm's, or why that is unknown.

    ``unknown`` is empty where everything could be listed.
    """

    foreign: tuple[str, ...] = ()
    unknown: str = ""


class Size(Struct, frozen=True, kw_only=True):
    """How many objects kadm placed in a member, and how many it is to hold."""

    recorded: int
    desired: int


def guard(
    comparison: MemberComparison,
    *,
    live: LiveMember,
    contents: Mapping[ObjectKey, Contents],
    permissions: Permissions,
) -> MemberComparison:
    """The comparison with every deletion (and recreation) that its object forbids moved from changes to held.

    ``contents`` has an entry for every namespace and CRD that would be deleted. How many deletions there are is not
    looked at: ``bounded`` does, for all members together.
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
    return replace(comparison, changes=tuple(kept), held=_sorted([*held, *inside]))


def bounded(
    comparisons: Sequence[MemberComparison],
    sizes: Mapping[str, Size],
    *,
    deletions: Deletions,
    permissions: Permissions,
    joined: Collection[str] = (),
) -> list[MemberComparison]:
    """The comparisons with all deletions of a member moved to held where there are too many of them.

    ``joined`` are members that something was not placed in only because they joined later: that can be mended.
    There can be too many in the member, and too many in all members: then none passes anywhere. What a member's own
    bound holds back counts in all, for it says how much was meant to go; a member that drops to nothing does not, it
    has a guard of its own.
    """
    found: dict[str, tuple[str, str]] = {}
    counted: dict[str, int] = {}
    for one in comparisons:
        count, size = len(_deleting(one)), sizes[one.member]
        if size.desired == 0:
            excess = _dropping(count, permissions, joined=one.member in joined)
        else:
            counted[one.member] = count
            excess = _excess(count, size, deletions, permissions)
        if count and excess is not None:
            found[one.member] = excess
    passing = [name for name, count in counted.items() if count and name not in found]
    if passing and permissions.allow_deletes is None:
        why = _excess_in_all(sum(counted.values()), [sizes[name] for name in counted], deletions)
        if why:
            flag = f"--allow-deletes {max(counted[name] for name in passing)}"
            found |= dict.fromkeys(passing, (why, flag))
    return [_without_deletions(one, *found[one.member]) if one.member in found else one for one in comparisons]


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


def _dropping(count: int, permissions: Permissions, *, joined: bool) -> tuple[str, str] | None:
    """Why the deletions of a member that holds nothing then are held, and what permits them; None where they pass."""
    if not permissions.allow_empty:
        why = "the member would drop to nothing"
        return f"{why}{_JOINED_LATER if joined else ''}", "--allow-empty"
    if permissions.allow_deletes is not None and count > permissions.allow_deletes:
        return _too_many(count, permissions.allow_deletes), f"--allow-deletes {count}"
    return None


def _excess(count: int, size: Size, deletions: Deletions, permissions: Permissions) -> tuple[str, str] | None:
    """Why this many deletions in one member are held, and what permits them; None where they may pass."""
    allowed, share = permissions.allow_deletes, ""
    if allowed is None:
        part = _share(size, deletions)
        allowed = min(deletions.max, part)
        share = f", {deletions.percent}% of its {size.recorded} objects" if part < deletions.max else ""
    return (_too_many(count, allowed) + share, f"--allow-deletes {count}") if count > allowed else None


def _excess_in_all(count: int, sizes: Sequence[Size], deletions: Deletions) -> str:
    """Why this many deletions in all members are too many; empty where they may pass."""
    allowed, share = sum(_share(size, deletions) for size in sizes), f", {deletions.percent}% of what each holds"
    if deletions.total is not None and deletions.total <= allowed:
        allowed, share = deletions.total, ""
    return f"{_counted(count)} in all members, {allowed} allowed{share}" if count > allowed else ""


def _share(size: Size, deletions: Deletions) -> int:
    """How many deletions spec.deletions.percent lets pass in one member: at least one, so that small members work."""
    return -(-size.recorded * deletions.percent // 100)


def _too_many(count: int, allowed: int) -> str:
    return f"{_counted(count)} in this member, {allowed} allowed"


def _counted(count: int) -> str:
    return f"{count} deletion{'s' * (count > 1)}"


def _deleting(comparison: MemberComparison) -> list[Change]:
    return [change for change in comparison.changes if change.action == "delete"]


def _without_deletions(comparison: MemberComparison, why: str, flag: str) -> MemberComparison:
    held = [Held(change=change, why=why, flag=flag) for change in _deleting(comparison)]
    return replace(
        comparison,
        changes=tuple(change for change in comparison.changes if change.action != "delete"),
        held=_sorted([*comparison.held, *held]),
    )


def _sorted(held: Sequence[Held]) -> tuple[Held, ...]:
    return tuple(sorted(held, key=lambda one: (one.change.cluster, one.change.key)))
