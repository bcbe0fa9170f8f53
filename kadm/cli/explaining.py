"""From what ``kadm explain`` was asked to explanations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from kadm.cli.console import Console
from kadm.cli.deciding import decided
from kadm.cli.exit_code import ExitCode, exit_code
from kadm.cli.kinds import kind_of
from kadm.cli.names import malformed, resolve, workloads
from kadm.cli.plan_json import API_VERSION, encode
from kadm.cli.planning import load, with_members
from kadm.cli.show_explanation import show_explanation
from kadm.errors import UsageError
from kadm.explaining import explain
from kadm.model.explanation import Explanation
from kadm.model.objects import ObjectKey

if TYPE_CHECKING:
    from kadm.model.plan import Plan
    from kadm.model.planned import Planned
    from kadm.model.repository import Repo

_POLICY_KINDS = ("propagationpolicy", "clusterpropagationpolicy", "overridepolicy", "clusteroverridepolicy")


class ExplainQuery(Struct, frozen=True, kw_only=True):
    """What ``kadm explain`` was asked."""

    directory: Path
    names: list[str]
    namespace: str | None = None
    ref: str | None = None
    offline: bool = False
    reschedule: list[str] | None = None
    reschedule_all: bool = False
    request_timeout_s: float = 30.0
    parallel: int = 32


async def run_explain(console: Console, query: ExplainQuery, *, as_json: bool) -> ExitCode:
    """Decide as a plan does, and tell why, one object after the other."""
    repo = with_members(load(query.directory, ref=query.ref))
    keys = [manifest.key for manifest in repo.manifests]
    wanted = {key for text in query.names for key in _named(repo, text, query.namespace)}
    chosen = frozenset(key for text in query.reschedule or () for key in workloads(text, keys))
    found = await decided(
        repo,
        offline=query.offline,
        request_timeout_s=query.request_timeout_s,
        parallel=query.parallel,
        reschedule="all" if query.reschedule_all else chosen,
    )
    explanations = explain(repo, found.decisions, found.desired, wanted)
    if as_json:
        console.data(encode(explanation_document(repo.fleet.name, explanations, offline=query.offline)))
    else:
        if query.offline:
            console.info("offline: as the members' files record them, and as if nothing had been placed before")
        for index, explanation in enumerate(explanations):
            console.data("\n" if index else "")
            show_explanation(console, explanation)
    names = {str(key) for key in wanted}
    problems = [one for one in found.problems if not one.object or one.object in names]
    console.problems([*problems, *found.unread])
    return exit_code(problems=problems, partial=bool(found.unread))


def explanation_document(fleet: str, explanations: tuple[Explanation, ...], *, offline: bool) -> dict[str, Any]:
    """Explanations as a document of kind Explanation."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Explanation",
        "fleet": fleet,
        "offline": offline,
        "explanations": msgspec.to_builtins(explanations),
    }


def explained_plan(planned: Planned) -> list[Any]:
    """Explanations of what a plan changes, holds back, leaves as it is, or places nowhere."""
    explanations = explain(planned.repo, planned.decisions, planned.desired, _concerned(planned.plan))
    found: list[Any] = msgspec.to_builtins(explanations)
    return found


def _concerned(plan: Plan) -> set[ObjectKey]:
    keys = {change.key for change in plan.changes}
    keys |= {held.change.key for held in plan.held}
    keys |= {one.key for one in plan.unplaced}
    return keys | {key for objects in plan.frozen.values() for key in objects}


def _named(repo: Repo, text: str, namespace: str | None) -> list[ObjectKey]:
    """The objects that ``KIND/NAME`` means; of a policy those that it binds. Raises UsageError where there are none."""
    kind, slash, name = text.partition("/")
    if kind_of(kind) not in _POLICY_KINDS:
        return resolve(text, [manifest.key for manifest in repo.manifests], namespace=namespace)
    if slash and not name:
        raise malformed(text)
    policies = {*repo.propagation_policies, *repo.override_policies}
    meant = {
        policy
        for policy in policies
        if policy.kind.lower() == kind_of(kind)
        and name in ("", policy.name)
        and namespace in (None, "", policy.namespace or namespace)
    }
    if not meant:
        raise UsageError(f"there is no policy {text}", hint=_known(sorted(str(one) for one in policies)))
    bound = [
        manifest.key
        for manifest in repo.manifests
        if any(ref.policy in meant for ref in (manifest.propagation, *manifest.overrides) if ref is not None)
        and namespace in (None, manifest.key.namespace)
    ]
    if not bound:
        raise UsageError(
            f"no object is bound to {text}", hint="its label, its directory or the fleet's default binds one"
        )
    return bound


def _known(names: list[str]) -> str:
    return f"policies are: {', '.join(names)}" if names else "the repository holds no policy"
