"""The rendering stage: what each member must hold. Pure.

Leaders come first, since the pod specs that members get decide who follows; then everything else, then the namespaces
that all of it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from kadm.errors import Problem, RepoError
from kadm.model.decision import Decision, Decisions
from kadm.model.desired import Desired
from kadm.model.objects import GroupVersionKind, JsonObject, ObjectKey, at
from kadm.model.observation import MemberState, Observation
from kadm.model.repository import Manifest, Repo
from kadm.model.workload import workload_kind
from kadm.render.bindings import DRY_RUN, FOLLOWERS, NO_FEDERATED_RESOURCE, annotation, is_held_back
from kadm.render.draft import Draft
from kadm.render.followers import FollowerIndex, Followers, is_autoscaler, leads
from kadm.render.form import Form
from kadm.render.namespaces import bare_namespace, comes_bare, is_left_alone, named, namespace_key
from kadm.render.shares import NO_SHARES, Shares, autoscaler_shares, budget_shares, replicas_path_of, workload_shares
from kadm.render.variants import RuleTable

_VIA = {
    "label": "named by its label",
    "entry": "named for its directory in kadm.yaml",
    "default": "the fleet's default",
}
_ALL_FROZEN = "all that is in it is frozen"


def render(repo: Repo, decisions: Decisions, observation: Observation) -> Desired:
    """What each member must hold, and what goes nowhere.

    Objects whose decision is frozen, whose overrides fail, or that only frozen leaders need, are frozen in the members
    concerned; in a member that could not be read everything is. Raises RepoError where an annotation ``followers``
    cannot be read: who follows is then unknown, and nothing may be deleted for it.
    """
    return _Rendering(repo, decisions, observation).desired()


@dataclass
class _Lead:
    """Why an object follows into one member: its leaders there, in order; ``live`` if one of them is not frozen."""

    leaders: list[ObjectKey] = field(default_factory=list)
    live: bool = False


class _Rendering:
    def __init__(self, repo: Repo, decisions: Decisions, observation: Observation) -> None:
        self._repo = repo
        self._decisions = decisions.by_key
        self._drafts = {name: Draft(name) for name in sorted(cluster.name for cluster in repo.clusters)}
        for name, unread in observation.unread.items():
            if name in self._drafts:
                self._drafts[name].unread = f"the member could not be read: {unread.problem.what}"
        self._table = RuleTable(repo.clusters)
        self._index = FollowerIndex(repo.manifests)
        self._replica_paths = {
            GroupVersionKind(source.group, source.version, source.kind): config.spec.path_definition.replicas_spec
            for config in repo.type_configs.values()
            if (source := config.spec.source_type)
        }
        self._leads: dict[ObjectKey, dict[str, _Lead]] = {}
        """Follower → member → why."""
        self._observation = observation
        self._recorded: dict[str, frozenset[ObjectKey]] = {}
        self._problems: list[Problem] = []
        self._placed: set[ObjectKey] = set()

    def desired(self) -> Desired:
        self._check_followers()
        namespaces = [manifest for manifest in self._repo.manifests if _is_namespace(manifest.key)]
        rest = [manifest for manifest in self._repo.manifests if not _is_namespace(manifest.key)]
        for manifest in sorted(rest, key=lambda manifest: not leads(manifest.key)):
            self._place(manifest)
        self._place_namespaces(namespaces)
        return Desired(
            members={name: draft.finished() for name, draft in self._drafts.items()},
            unplaced={
                manifest.key: self._why_unplaced(manifest)
                for manifest in self._repo.manifests
                if manifest.key not in self._placed
            },
            follows={
                follower: {member: tuple(lead.leaders) for member, lead in sorted(leads.items())}
                for follower, leads in sorted(self._leads.items())
            },
            problems=tuple(self._problems),
        )

    def _check_followers(self) -> None:
        problems = []
        for manifest in self._repo.manifests:
            try:
                self._index.explicit(manifest)
            except msgspec.DecodeError as error:
                where = manifest.locate(("metadata", "annotations", f"kubeadmiral.io/{FOLLOWERS}"))
                what = f"annotation {FOLLOWERS} is no list of followers"
                problems.append(Problem(what=what, where=where, object=str(manifest.key), why=str(error)))
        if problems:
            raise RepoError(problems)

    def _place(self, manifest: Manifest) -> None:
        """Put one object into the members that its policy and its leaders choose, and note who follows it there."""
        key = manifest.key
        decision = self._decisions.get(key)
        own = self._own_placement(decision)
        following = self._leads.get(key, {})
        if annotation(manifest, NO_FEDERATED_RESOURCE):
            self._keep_out(manifest, decision)
            return
        if self._waits(manifest):
            return
        if not own and not following:
            return
        form = Form(self._repo, manifest, self._table, fault=self._wrong_scope(manifest))
        shares = self._shares(manifest, form.base, own, following, decision.blocks if decision else {})
        self._put_own(form, decision, own, shares)
        for member, lead in following.items():
            if member in own:
                continue
            draft, share = self._drafts[member], shares.get(member, NO_SHARES)
            if not lead.live:
                form.freeze(draft, f"it follows {lead.leaders[0]}, which is frozen here")
            elif share is not None:
                form.put(draft, f"follows {named(lead.leaders[0], len(lead.leaders))}", share)
        self._finish(form, shares)
        if leads(key) and self._has_followers(decision):
            self._note_followers(manifest, form)

    def _wrong_scope(self, manifest: Manifest) -> Problem | None:
        """What is wrong with the namespace of an object whose kind only the members know, or None."""
        if manifest.namespaced is not None:
            return None
        gvk = GroupVersionKind(manifest.key.group, manifest.version, manifest.key.kind)
        served = next((found for state in self._observation.read.values() if (found := state.serving(gvk))), None)
        if served is None or served.namespaced == bool(manifest.key.namespace):
            return None
        return Problem(
            what=f"{gvk.kind} is {'namespaced' if served.namespaced else 'cluster-scoped'} in the members",
            where=manifest.locate(("metadata",)),
            object=str(manifest.key),
            why=f"the manifest {'names no' if served.namespaced else 'names a'} namespace",
        )

    def _keep_out(self, manifest: Manifest, decision: Decision | None) -> None:
        """Annotation no-federated-resource: sent to no member, and left alone where it is already (spec 0.1)."""
        holding = [draft for draft in self._drafts.values() if manifest.key in self._recorded_in(draft.name)]
        if not holding:
            return
        form = Form(self._repo, manifest, self._table)
        for draft in holding:
            form.freeze(draft, f"its annotation {NO_FEDERATED_RESOURCE} keeps kadm from it")
        self._placed.add(manifest.key)
        if leads(manifest.key) and self._has_followers(decision):
            self._note_followers(manifest, form)

    def _waits(self, manifest: Manifest) -> bool:
        """Annotation dry-run: its first way into a member is barred, and that of who follows it (spec 5.10)."""
        return is_held_back(manifest) and not any(manifest.key in self._recorded_in(name) for name in self._drafts)

    def _recorded_in(self, member: str) -> frozenset[ObjectKey]:
        """What kadm placed in the member before. Read when first asked for: few repositories ask."""
        if member not in self._recorded:
            state = self._observation.members.get(member)
            record = state.record if isinstance(state, MemberState) else None
            self._recorded[member] = frozenset(entry.key for entry in record.objects) if record else frozenset()
        return self._recorded[member]

    def _own_placement(self, decision: Decision | None) -> Mapping[str, int | None]:
        """Where the object's policy puts it; members that left the fleet are left out."""
        if decision is None:
            return {}
        return {member: replicas for member, replicas in decision.placement.items() if member in self._drafts}

    def _put_own(
        self,
        form: Form,
        decision: Decision | None,
        own: Mapping[str, int | None],
        shares: Mapping[str, Shares | None],
    ) -> None:
        if decision is None:
            return
        because = _because(decision)
        for member, replicas in own.items():
            draft, share = self._drafts[member], shares.get(member, NO_SHARES)
            if decision.policy is not None:
                draft.replicas[form.key] = replicas
            if decision.outcome == "frozen":
                form.freeze(draft, _words(decision) or "it is frozen")
            elif share is not None:
                form.put(draft, because, share)

    def _finish(self, form: Form, shares: Mapping[str, Shares | None]) -> None:
        self._placed.add(form.key)
        divided = next((share for share in shares.values() if share), NO_SHARES)
        self._problems.extend(form.problems(divided))

    def _shares(
        self,
        manifest: Manifest,
        base: JsonObject,
        own: Mapping[str, int | None],
        following: Mapping[str, _Lead],
        blocks: Mapping[str, int],
    ) -> Mapping[str, Shares | None]:
        """Member → the fields of which it gets a part; None: its part is nothing, and so it gets no object."""
        key = manifest.key
        if is_autoscaler(key):
            target = self._index.target(manifest)
            leader = self._decisions.get(target)
            if leader is None or not any(target in lead.leaders for lead in following.values()):
                return {}
            return autoscaler_shares(base, leader.placement)
        if (key.group, key.kind) == ("policy", "PodDisruptionBudget"):
            leaders = {leader for lead in following.values() for leader in lead.leaders}
            decided = (self._decisions.get(leader) for leader in sorted(leaders))
            return budget_shares(base, [decision.placement for decision in decided if decision is not None])
        gvk = GroupVersionKind(key.group, manifest.version, key.kind)
        path = replicas_path_of(key, self._replica_paths.get(gvk, ""))
        return workload_shares(key, base, path, own, blocks=blocks)

    def _has_followers(self, decision: Decision | None) -> bool:
        if decision is None or decision.policy is None:
            return False
        policy = self._repo.propagation_policies.get(decision.policy.policy)
        return policy is None or not policy.spec.disable_follower_scheduling

    def _note_followers(self, manifest: Manifest, form: Form) -> None:
        kind = workload_kind(manifest.key.group, manifest.key.kind)
        template = kind.pod_spec_path[:-1] if kind else ()
        known: dict[int, Followers] = {}
        for member, (rendered, written) in form.rendered.items():
            part = id(at(rendered, template))  # forms that share their pod template have the same followers
            if part not in known:
                known[part] = self._index.followers(manifest, rendered)
            for follower in known[part].keys:
                lead = self._leads.setdefault(follower, {}).setdefault(member, _Lead())
                lead.leaders.append(manifest.key)
                lead.live = lead.live or written
        self._problems.extend(self._index.unsupported(manifest))
        self._problems.extend(dict.fromkeys(problem for found in known.values() for problem in found.problems))

    def _place_namespaces(self, manifests: Sequence[Manifest]) -> None:
        """Namespaces of manifests, and bare ones where something goes into a namespace that no manifest holds."""
        inhabited = {manifest.key.namespace for manifest in self._repo.manifests}
        contents = {name: (draft.written_in, draft.frozen_in) for name, draft in self._drafts.items()}
        known = {manifest.key.name for manifest in manifests}
        for manifest in manifests:
            if not is_left_alone(manifest.key.name):
                self._place_namespace(manifest, inhabited=manifest.key.name in inhabited)
        for member, (written, frozen) in contents.items():
            draft = self._drafts[member]
            for name in sorted((written.first.keys() | frozen.first.keys()) - known):
                if not comes_bare(name):
                    continue
                if name in written.first:
                    draft.put(bare_namespace(name, written.because(name)))
                else:
                    draft.freeze(namespace_key(name), draft.unread or _ALL_FROZEN)

    def _place_namespace(self, manifest: Manifest, *, inhabited: bool) -> None:
        name = manifest.key.name
        decision = self._decisions.get(manifest.key)
        own = self._own_placement(decision)
        if inhabited and decision is not None and decision.policy is not None and decision.policy.via != "label":
            own = {}  # a policy for many objects does not spread a namespace to where nothing goes into it
        needing = {
            member: draft
            for member, draft in self._drafts.items()
            if member not in own and (name in draft.written_in.first or name in draft.frozen_in.first)
        }
        if not own and not needing:
            return
        form = Form(self._repo, manifest, self._table)
        self._put_own(form, decision, own, {})
        for draft in needing.values():
            if name in draft.written_in.first:
                form.put(draft, draft.written_in.because(name), NO_SHARES)
            else:
                form.freeze(draft, _ALL_FROZEN)
        self._finish(form, {})

    def _why_unplaced(self, manifest: Manifest) -> str:
        key = manifest.key
        if annotation(manifest, NO_FEDERATED_RESOURCE):
            return f"its annotation {NO_FEDERATED_RESOURCE} keeps it out of members"
        if self._waits(manifest):
            return f"its annotation {DRY_RUN} keeps it out of members as long as it is in none"
        if _is_namespace(key):
            if is_left_alone(key.name):
                return "kadm leaves this namespace alone"
            return "nothing in it goes anywhere"
        decision = self._decisions.get(key)
        if decision is None or decision.outcome == "following":
            return "it has no policy, and follows nobody that is placed"
        return _words(decision) or "it goes nowhere"


def _is_namespace(key: ObjectKey) -> bool:
    return (key.group, key.kind) == ("", "Namespace")


def _because(decision: Decision) -> str:
    if decision.policy is None:
        return _words(decision)
    return f"placed by {decision.policy.policy}, {_VIA[decision.policy.via]}"


def _words(decision: Decision) -> str:
    return "; ".join(decision.reasons)
