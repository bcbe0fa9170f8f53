"""When an object is scheduled anew, and when it keeps its placement (scheduling spec, section 6).

The idea: with each decision the inputs that may change it later are recorded, as short hashes and texts. Free capacity
and readiness are not among them: a plan right after an apply is empty, whatever capacity did meanwhile.

Where it differs from KubeAdmiral: only members that the placement list names count; of what a member serves only the
object's own type counts; the policy's kind and namespace and the profile's content count; the end of an eviction
counts; a member that left the fleet counts for objects that it held.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from kadm.model.objects import GroupVersionKind
from kadm.model.policy import PropagationPolicySpec, ReschedulePolicy, RescheduleWhen
from kadm.schedule.member import Member

GENERATION = "generation"
"""Counts the decisions about one object; never compared."""

CLUSTERS = "clusters"
CONTENT = "content"
PROFILE = "profile"

_STABLE = {
    "annotations": "its scheduling annotations changed",
    "replicas": "its replicas changed",
    "request": "the resources that its pods ask for changed",
    "policy": "it has another policy",
    "migration": "what auto-migration learned changed",
    "evicted": "the members that it migrated away from changed",
}
"""Inputs that always count (spec 6.2, step 3) → how to say so."""

Triggers = Mapping[str, str]
"""Input → hash or text; an input that is empty is absent."""


def digest(value: Any) -> str:
    """16 hex digits of a hash over the canonical JSON of ``value``."""
    encoded = msgspec.json.encode(value, order="deterministic")
    return hashlib.blake2b(encoded, digest_size=8).hexdigest()


def content_of(spec: PropagationPolicySpec) -> str:
    """Hash of a policy's content; adding auto-migration to it moves nothing by itself, so it does not count."""
    return digest(msgspec.structs.replace(spec, auto_migration=None))


@dataclass(frozen=True, slots=True)
class Fact:
    """What is recorded of one member: hashes of its labels and taints, and whether it serves the type.

    ``served`` None: it was not read.
    """

    labels: str
    taints: str
    served: bool | None


Facts = Mapping[str, Fact]
"""Member → fact."""

_SERVED = {"+": True, "-": False, "?": None}
_NOT_SERVED = {served: mark for mark, served in _SERVED.items()}


def facts_of(members: Iterable[Member], gvk: GroupVersionKind) -> Facts:
    """What there is to record of each member, for objects of one type."""
    return {
        member.name: Fact(
            _short(sorted(member.labels.items())),
            _short(
                [
                    member.terminating,
                    *sorted((taint.key, taint.value, taint.effect) for taint in member.taints),
                ]
            ),
            member.serves(gvk),
        )
        for member in members
    }


def facts_text(facts: Facts, names: frozenset[str]) -> str:
    """Facts as recorded of the members that a placement list names (empty: all): ``eu=1a2b3c4d.5e6f7a8b.+ us=…``."""
    return " ".join(
        f"{name}={fact.labels}.{fact.taints}.{_NOT_SERVED[fact.served]}"
        for name, fact in sorted(facts.items())
        if not names or name in names
    )


def read_facts(text: str) -> Facts | None:
    """Facts from a record, or None where the text is none of ours."""
    facts = {}
    for entry in text.split():
        name, _, fields = entry.rpartition("=")
        match fields.split("."):
            case [labels, taints, mark] if name and mark in _SERVED:
                facts[name] = Fact(labels, taints, _SERVED[mark])
            case _:
                return None
    return facts


def _short(value: Any) -> str:
    return digest(value)[:8]


@dataclass(frozen=True, slots=True)
class Trigger:
    """Whether an object is scheduled anew, and why; or why a change that was seen does not count yet.

    ``joined`` are members that joined, where that does not count.
    """

    fires: bool
    reasons: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()


def compare(
    old: Triggers,
    new: Triggers,
    *,
    facts: Facts,
    policy: ReschedulePolicy,
    decided_unread: bool,
) -> Trigger:
    """What changed between two sets of inputs, and whether it counts. ``facts`` are those of all members now.

    ``decided_unread``: the object is one that is decided although members are unread, so that a member which can be
    read now has to be looked at.
    """
    if not old:
        return Trigger(True, ("it has no recorded inputs",))
    stable = [_stable_text(key, old, new) for key in _STABLE if old.get(key, "") != new.get(key, "")]
    if stable:
        return Trigger(True, tuple(stable))
    content_changed = any(old.get(key, "") != new.get(key, "") for key in (CONTENT, PROFILE))
    if not content_changed and old.get(CLUSTERS, "") == new.get(CLUSTERS, ""):
        return Trigger(False)
    if policy.disable_rescheduling:
        return Trigger(False, ("changes of policy and members do not count: disableRescheduling is set",))
    when = policy.reschedule_when
    if when is None:
        return Trigger(False, ("changes of policy and members do not count: rescheduleWhen is not set",))
    if content_changed and when.policy_content_changed:
        return Trigger(True, ("its policy or profile changed",))
    before, after = read_facts(old.get(CLUSTERS, "")), read_facts(new.get(CLUSTERS, ""))
    if before is None or after is None:
        return Trigger(True, ("what was recorded of the members cannot be read",))
    deferred = (
        ("its policy or profile changed, but rescheduleWhen.policyContentChanged is false",) if content_changed else ()
    )
    changes = _Changes(before, facts, joined=() if content_changed else sorted(after.keys() - before.keys()))
    return changes.trigger(when, deferred, decided_unread=decided_unread)


class _Changes:
    """What changed in the members, since ``before``. Each attribute names members, sorted."""

    def __init__(self, before: Facts, facts: Facts, *, joined: Sequence[str]) -> None:
        both = sorted(before.keys() & facts.keys())
        self.gone = sorted(before.keys() - facts.keys())
        self.joined = joined
        self.relabelled = [name for name in both if before[name].labels != facts[name].labels]
        self.tainted = [name for name in both if before[name].taints != facts[name].taints]
        self.answered = [name for name in both if before[name].served is None and facts[name].served is not None]
        self.served = [name for name in both if {before[name].served, facts[name].served} == {True, False}]

    def trigger(self, when: RescheduleWhen, deferred: tuple[str, ...], *, decided_unread: bool) -> Trigger:
        """Whether they count (spec 6.2, steps 7 to 11). ``deferred`` is what did not count before."""
        rules = (
            (self.relabelled, when.cluster_labels_changed, "clusterLabelsChanged", "labels of {} changed"),
            (self.gone, True, "", "{} left the fleet"),
            (self.tainted, True, "", "taints of {} changed"),
            (self.answered if decided_unread else (), True, "", "{} could not be read when it was scheduled"),
            (self.served, when.cluster_api_resources_changed, "clusterAPIResourcesChanged", "what {} serves changed"),
            (self.joined, when.cluster_joined, "clusterJoined", "{} joined the fleet"),
        )
        for members, counts, switch, words in rules:
            if not members:
                continue
            text = words.format(", ".join(members))
            if counts:
                return Trigger(True, (text,))
            deferred = (*deferred, f"{text}, but rescheduleWhen.{switch} is false")
        return Trigger(False, deferred, tuple(self.joined))


def _stable_text(key: str, old: Triggers, new: Triggers) -> str:
    if key in ("replicas", "policy"):
        return f"{_STABLE[key]}: {old.get(key) or 'none'} → {new.get(key) or 'none'}"
    return _STABLE[key]
