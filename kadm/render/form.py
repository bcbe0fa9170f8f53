"""One manifest on its way into the members: its variants become desired objects, or reasons why it is frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from kadm.errors import Problem
from kadm.model.desired import DesiredObject, Provenance
from kadm.model.objects import JsonObject, ObjectKey, path_text
from kadm.model.override import OverridePolicy
from kadm.model.repository import Manifest, Repo
from kadm.overrides import applicable
from kadm.render.draft import Draft
from kadm.render.normalise import is_server_owned, normalise
from kadm.render.shares import Shares
from kadm.render.variants import RuleTable, Variant, Variants

_NAMED_MEMBERS = 3
"""How many members a problem names before it counts the rest."""


class Form:
    """``put`` and ``freeze`` fill the members' drafts; ``problems`` afterwards tells what was found on the way."""

    def __init__(self, repo: Repo, manifest: Manifest, table: RuleTable, *, fault: Problem | None = None) -> None:
        """``fault``: what keeps the object out of every member."""
        self.key: ObjectKey = manifest.key
        self.rendered: dict[str, tuple[JsonObject, bool]] = {}
        """Member → the object there, and whether it is written; where it is frozen, the manifest's stands for it."""
        normalised = normalise(manifest)
        self.base: JsonObject = normalised.object
        self._manifest = manifest
        self._warnings = normalised.problems
        self._fault = fault or _missing_policy(repo, manifest)
        policies: Sequence[OverridePolicy] = [
            policy if ref.via == "label" else applicable(policy, self.key.group, self.key.kind)
            for ref in manifest.overrides
            if (policy := repo.override_policies.get(ref.policy)) is not None
        ]
        self._variants = Variants(manifest, self.base, policies, table)
        self._wanted: dict[tuple[int, str], DesiredObject] = {}
        self._used: dict[int, Variant] = {}
        self._failures: dict[Problem, list[str]] = {}

    def put(self, draft: Draft, because: str, shares: Shares) -> None:
        """Write the object to a member, unless an override fails for it or the member could not be read."""
        if draft.unread:
            self.freeze(draft, "")
            return
        if self._fault is not None:
            self._fail(draft, self._fault)
            return
        variant = self._variants.of(draft.name, shares)
        if variant.object is None:
            assert variant.problem is not None
            self._fail(draft, variant.problem)
            return
        known = (id(variant), because)
        wanted = self._wanted.get(known)
        if wanted is None:
            self._used[id(variant)] = variant
            wanted = self._wanted[known] = DesiredObject(
                key=self.key,
                version=variant.version,
                object=variant.object,
                digest=variant.digest,
                location=self._manifest.location,
                provenance=variant.provenance,
                because=because,
            )
        draft.put(wanted)
        self.rendered[draft.name] = variant.object, True

    def freeze(self, draft: Draft, reason: str) -> None:
        """Leave the object in a member as it is. That the member could not be read is the better reason."""
        draft.freeze(self.key, draft.unread or reason)
        self.rendered[draft.name] = self.base, False

    def _fail(self, draft: Draft, problem: Problem) -> None:
        self._failures.setdefault(problem, []).append(draft.name)
        self.freeze(draft, f"{problem.what}: {problem.why}" if problem.why else problem.what)

    def problems(self, divided: Shares) -> tuple[Problem, ...]:
        """Warnings and errors, each once for all members. ``divided`` are fields that the scheduler sets."""
        return (
            *self._warnings,
            *(_in_members(problem, sorted(members)) for problem, members in self._failures.items()),
            *dict.fromkeys(
                problem
                for variant in self._used.values()
                for entry in variant.provenance
                for problem in _doubts(self.key, entry, divided)
            ),
        )


def _missing_policy(repo: Repo, manifest: Manifest) -> Problem | None:
    missing = next((ref.policy for ref in manifest.overrides if ref.policy not in repo.override_policies), None)
    if missing is None:
        return None
    return Problem(what=f"{missing} does not exist", where=manifest.location, object=str(manifest.key))


def _in_members(problem: Problem, members: Sequence[str]) -> Problem:
    shown = ", ".join(members[:_NAMED_MEMBERS])
    if len(members) > _NAMED_MEMBERS:
        shown += f" and {len(members) - _NAMED_MEMBERS} more"
    return replace(
        problem,
        member=members[0] if len(members) == 1 else "",
        hint=f"until this is mended, {problem.object} stays as it is in {shown}",
    )


def _doubts(key: ObjectKey, entry: Provenance, divided: Mapping[tuple[str | int, ...], object]) -> tuple[Problem, ...]:
    """What an override does that can hardly be meant (propagation spec, section 10, 22 and 23)."""
    if entry.policy is None:
        return ()

    def doubt(what: str, why: str) -> Problem:
        return Problem(what=what, severity="warning", where=entry.location, object=str(key), why=why)

    if is_server_owned(entry.path):
        return (
            doubt(
                f"rule {entry.rule} of {entry.policy} overrides {path_text(entry.path)}, and nothing is sent of it",
                "each member's API server writes this field itself",
            ),
        )
    if entry.path in divided:
        return (
            doubt(
                f"rule {entry.rule} of {entry.policy} overrides {path_text(entry.path)}",
                "the scheduler divides it among members, so that totals no longer hold",
            ),
        )
    before, after = entry.before, entry.after
    if entry.path[-1:] == ("image",) and isinstance(before, str) and isinstance(after, str):
        digest = before.partition("@")[2]
        if digest and after.endswith(f"@{digest}"):
            return (
                doubt(
                    f"rule {entry.rule} of {entry.policy} leaves the digest of {path_text(entry.path)} as it was",
                    "the digest alone decides which image runs",
                ),
            )
    return ()
