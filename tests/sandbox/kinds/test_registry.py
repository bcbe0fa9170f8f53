"""The served kinds."""

from __future__ import annotations

import pytest

from kadm.sandbox.kinds.registry import ALL_VERBS, BUILTIN_KINDS, ResourceKind, builtin_kind, builtin_resource
from kadm.sandbox.schema import builtin


def test_each_kind_is_served_under_one_path() -> None:
    paths = [(kind.group, kind.version, kind.plural) for kind in BUILTIN_KINDS]
    assert len(set(paths)) == len(paths)


@pytest.mark.parametrize("kind", BUILTIN_KINDS, ids=lambda kind: f"{kind.api_version} {kind.kind}")
def test_the_type_of_each_stored_kind_is_known(kind: ResourceKind) -> None:
    answers_only = not kind.stored or "create" not in kind.verbs
    assert answers_only or builtin(kind.group, kind.version, kind.kind) is not None


@pytest.mark.parametrize("kind", BUILTIN_KINDS, ids=lambda kind: f"{kind.api_version} {kind.kind}")
def test_storage_versions_are_served(kind: ResourceKind) -> None:
    assert builtin_resource(kind.storage_group, kind.storage_version, kind.plural) is not None


def test_a_deployment() -> None:
    kind = builtin_kind("apps", "v1", "Deployment")
    assert kind is not None
    shown = (
        kind.group_resource,
        kind.group_kind,
        kind.short_names,
        kind.verbs,
        [sub.name for sub in kind.subresources],
    )
    assert shown == ("deployments.apps", "Deployment.apps", ("deploy",), ALL_VERBS, ["scale", "status"])
