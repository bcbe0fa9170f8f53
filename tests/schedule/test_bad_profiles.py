"""Profiles that cannot run: what is said names file, line, plugin, and what is allowed. The wrong line is marked."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadm.errors import Problem, RepoError
from kadm.repo import load
from kadm.schedule import profile_problems
from tests.repo.fleets import a_fleet

HEAD = "apiVersion: core.kubeadmiral.io/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}  # there\nspec:\n"
HOOK = HEAD.format(kind="SchedulerPluginWebhookConfiguration", name="hook") + (
    "  payloadVersions: [v1alpha1]\n  urlPrefix: http://hook\n  filterPath: f\n"
)
DUPLICATE = HEAD.format(kind="ClusterPropagationPolicy", name="p") + "  schedulingMode: Duplicate\n"


def problems(root: Path, spec: str, *, hook: str = HOOK) -> list[tuple[str, Problem]]:
    """Each problem with the line that it names."""
    profile = HEAD.format(kind="SchedulingProfile", name="s") + "".join(f"  {line}\n" for line in spec.splitlines())
    files = {"policies/s.yaml": profile, "policies/hook.yaml": hook, "policies/p.yaml": DUPLICATE}
    found = profile_problems(load(a_fleet(root, files), environ={}))
    return [
        (files[problem.where.path].splitlines()[problem.where.line - 1], problem) for problem in found if problem.where
    ]


@pytest.mark.parametrize(
    ("spec", "texts"),
    [
        pytest.param(
            "plugins:\n  filter:\n    enabled:\n    - name: NoSuchPlugin  # here",
            ("there is no plugin NoSuchPlugin", "known here: APIResources, TaintToleration", "hook"),
            id="unknown plugin",
        ),
        pytest.param(
            "plugins:\n  filter:\n    enabled:\n    - name: ClusterReady  # here",
            ("filter plugin ClusterReady is enabled twice", "disable the default one first"),
            id="a default one twice",
        ),
        pytest.param(
            "plugins:\n  score:\n    enabled:\n"
            "    - name: ClusterResourcesMostAllocated\n    - name: ClusterResourcesMostAllocated  # here",
            ("score plugin ClusterResourcesMostAllocated is enabled twice",),
            id="another one twice",
        ),
        pytest.param(
            "plugins:\n  select:\n    enabled:\n    - name: ClusterReady  # here",
            ("plugin ClusterReady is no select plugin", "known here: PrioritySort, MaxCluster"),
            id="another extension point's",
        ),
        pytest.param(
            "plugins:\n  score:\n    enabled:\n    - name: hook  # here",
            ("webhook plugin hook is no score plugin", "scorePath is empty"),
            id="a webhook without that path",
        ),
        pytest.param(
            "pluginConfig:\n- name: NoSuchPlugin  # here\n  args: {}",
            ("there is no plugin NoSuchPlugin that takes arguments", "known here: APIResources"),
            id="arguments of an unknown plugin",
        ),
        pytest.param(
            "pluginConfig:\n- name: APIResources  # here\n  args: {evicts: true}",
            ("arguments of plugin APIResources", "evicts"),
            id="an unknown argument",
        ),
        pytest.param(
            "pluginConfig:\n- name: APIResources  # here\n  args: {evict: maybe}",
            ("arguments of plugin APIResources", "bool", "evict"),
            id="an argument of another type",
        ),
    ],
)
def test_profiles(tmp_path: Path, spec: str, texts: tuple[str, ...]) -> None:
    ((line, problem),) = problems(tmp_path, spec)
    assert line.endswith("# here"), problem
    assert [text for text in texts if text not in str(problem)] == [], str(problem)


def test_a_webhook_cannot_have_the_name_of_an_own_plugin(tmp_path: Path) -> None:
    """Object names are lower-case, and those of kadm's own plugins are not."""
    with pytest.raises(RepoError, match=r'policies/hook\.yaml:4:9: "MaxCluster" cannot name'):
        problems(tmp_path, "plugins: {}", hook=HOOK.replace("name: hook", "name: MaxCluster"))
