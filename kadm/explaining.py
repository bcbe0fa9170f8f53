"""Explanations of single objects, put together from what the stages noted. Nothing is decided here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from kadm.compare.secrecy import masked
from kadm.errors import Location
from kadm.model.decision import Decision, Decisions, MemberDecision, Step
from kadm.model.desired import Desired, DesiredObject, Provenance
from kadm.model.explanation import (
    BoundPolicy,
    CountingAnnotation,
    Explanation,
    Following,
    MemberExplanation,
    OverriddenField,
)
from kadm.model.objects import ObjectKey, path_text
from kadm.model.policy import PolicyRef
from kadm.model.repository import Manifest, Repo
from kadm.model.workload import ORDINALS_PER_BLOCK
from kadm.repo.binding import LABEL_OF_KIND
from kadm.schedule.policy_annotations import INSTEAD_OF

_CUTS = {
    "total": "no more were left",
    "maximum": "its maximum is {}",
    "limit": "its migration-configuration allows {} here",
    "estimate": "it is believed to run no more than {}",
}


def explain(repo: Repo, decisions: Decisions, desired: Desired, keys: Collection[ObjectKey]) -> tuple[Explanation, ...]:
    """An explanation of each of ``keys`` that a manifest has, in the order of the repository."""
    wanted = frozenset(keys)
    written: dict[ObjectKey, dict[str, DesiredObject]] = {key: {} for key in wanted}
    for name, member in desired.members.items():
        for one in member.objects:
            if one.key in wanted:
                written[one.key][name] = one
    followers = _followers(desired, wanted)
    return tuple(
        _Subject(repo, desired, manifest, decision, written[manifest.key]).explanation(followers.get(manifest.key, {}))
        for manifest in repo.manifests
        if manifest.key in wanted and (decision := decisions.by_key.get(manifest.key)) is not None
    )


class _Subject:
    """One object on its way to an explanation; ``written`` is what members are to hold of it."""

    def __init__(
        self,
        repo: Repo,
        desired: Desired,
        manifest: Manifest,
        decision: Decision,
        written: Mapping[str, DesiredObject],
    ) -> None:
        self._repo = repo
        self._desired = desired
        self._manifest = manifest
        self._decision = decision
        self._written = written
        self._leaders = desired.follows.get(manifest.key, {})

    def explanation(self, followers: Mapping[ObjectKey, Sequence[str]]) -> Explanation:
        """All of it; ``followers``: object → the members into which this one brings it."""
        manifest, decision = self._manifest, self._decision
        judged = {entry.member: entry for entry in decision.members}
        leaders: dict[ObjectKey, list[str]] = {}
        for member, objects in self._leaders.items():
            for leader in objects:
                leaders.setdefault(leader, []).append(member)
        return Explanation(
            object=manifest.key,
            location=manifest.location,
            outcome=decision.outcome,
            policy=self._bound(manifest.propagation) if manifest.propagation else None,
            overrides=tuple(self._bound(ref) for ref in manifest.overrides),
            asks=decision.asks,
            annotations=tuple(self._annotation(name) for name in decision.annotations),
            reasons=self._reasons(),
            learned=self._decision.learned,
            selection=decision.selection,
            replicas=decision.replicas,
            unplaced_replicas=decision.unplaced_replicas,
            members=tuple(
                self._member(name, judged.get(name) or MemberDecision(member=name)) for name in self._desired.members
            ),
            follows=_following(leaders),
            followers=_following(followers),
        )

    def _bound(self, ref: PolicyRef) -> BoundPolicy:
        policies = (self._repo.propagation_policies, self._repo.override_policies)
        found = next((known[ref.policy] for known in policies if ref.policy in known), None)
        where = ref.where
        if ref.via == "label":
            where = self._manifest.locate(("metadata", "labels", LABEL_OF_KIND[ref.policy.kind]))
        return BoundPolicy(policy=ref.policy, via=ref.via, where=where, location=found.location if found else None)

    def _annotation(self, name: str) -> CountingAnnotation:
        where: Location = self._manifest.locate(("metadata", "annotations", name))
        return CountingAnnotation(name=name, instead_of=f"spec.{INSTEAD_OF[name]}", where=where)

    def _reasons(self) -> tuple[str, ...]:
        """Why it was decided so; where the object goes nowhere at all, that is why."""
        nowhere = self._desired.unplaced.get(self._manifest.key)
        reasons = self._decision.reasons
        if nowhere is None or nowhere == "; ".join(reasons):
            return reasons
        return (nowhere,) if self._decision.outcome == "following" else (*reasons, nowhere)

    def _member(self, name: str, judged: MemberDecision) -> MemberExplanation:
        one = self._written.get(name)
        frozen = self._desired.members[name].frozen.get(self._manifest.key)
        return MemberExplanation(
            member=name,
            state="written" if one is not None else "frozen" if frozen is not None else "absent",
            because=one.because if one is not None else frozen or "",
            filters=judged.verdicts,
            scores=judged.scores,
            score=judged.score,
            rank=judged.rank,
            selected=judged.selected,
            replicas=judged.replicas if judged.replicas is not None else self._decision.placement.get(name),
            first_ordinal=self._first_ordinal(name),
            notes=judged.notes,
            steps=tuple(in_words(judged.steps)),
            follows=self._leaders.get(name, ()),
            fields=tuple(self._field(entry) for entry in one.provenance) if one is not None else (),
        )

    def _first_ordinal(self, name: str) -> int | None:
        decision = self._decision
        if not decision.blocks or name not in decision.placement:
            return None
        return decision.blocks.get(name, 0) * ORDINALS_PER_BLOCK

    def _field(self, entry: Provenance) -> OverriddenField:
        key = self._manifest.key
        return OverriddenField(
            path=path_text(entry.path),
            before=masked(key, entry.path, entry.before),
            after=masked(key, entry.path, entry.after),
            policy=entry.policy,
            rule=entry.rule,
            location=entry.location,
        )


def _followers(desired: Desired, leaders: Collection[ObjectKey]) -> dict[ObjectKey, dict[ObjectKey, list[str]]]:
    """Leader → follower → the members where it follows; only of these leaders."""
    found: dict[ObjectKey, dict[ObjectKey, list[str]]] = {}
    for follower, members in desired.follows.items():
        for member, objects in members.items():
            for leader in objects:
                if leader in leaders:
                    found.setdefault(leader, {}).setdefault(follower, []).append(member)
    return found


def _following(others: Mapping[ObjectKey, Sequence[str]]) -> tuple[Following, ...]:
    return tuple(Following(object=other, members=tuple(sorted(members))) for other, members in sorted(others.items()))


def in_words(steps: Iterable[Step]) -> Iterable[str]:
    """The steps to a member's number, one short sentence each."""
    before = 0
    for step in steps:
        yield _sentence(step, before)
        before = step.replicas


def _sentence(step: Step, before: int) -> str:
    number, asked = step.replicas, step.replicas if step.asked is None else step.asked
    why = _CUTS[step.cut].format(number) if step.cut and asked != number else ""
    so_far = f"{number - before} more, so {number}" if before and number > before else f"{number}"
    match step.what:
        case "minimum":
            return f"minimum: {number}" + (f" (of {asked}, but {why})" if why else "")
        case "share":
            return f"round {step.round}: {so_far} by weight" + (f" (its share makes {asked}, but {why})" if why else "")
        case "fill":
            if step.cut == "total":
                return "filling up: no more were left"
            return f"filling up: {so_far}" + (f" (of {asked} that were left, but {why})" if why else "")
        case "running":
            if why:
                return f"{asked} run here, {number} of them stay: {why}"
            return f"{number} run here, and are not moved (avoidDisruption)" if number else "none run here yet"
        case "more":
            return f"grows to {number}" + (f", not to {asked}: the rest runs elsewhere" if asked > number else "")
        case "less":
            return f"shrinks to {number}" + (f", not to {asked}: no more has to leave" if asked < number else "")
        case "waits":
            return f"stays at {number}: pods are on their way to a node, growth waits for them"
        case "overflow":
            return f"{number} in all: what cannot run here now stays nevertheless"
