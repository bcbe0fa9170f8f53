"""Profiles: which plugins run, with which weights and arguments (scheduling spec 3.3)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kadm.errors import Location
from kadm.model.policy import SchedulingProfile, SchedulingProfileSpec
from kadm.schedule.framework import FITS, Answer, FilterPlugin, ReplicaPlugin, ScorePlugin, SelectPlugin
from kadm.schedule.member import Member
from kadm.schedule.plugins.api_resources import APIResources
from kadm.schedule.profile import Plugins, ProfileError, profile_of
from kadm.schedule.registry import DEFAULT_FILTERS, DEFAULT_SCORES, DEFAULT_SELECTS, PLUGINS, REPLICAS
from kadm.schedule.unit import SchedulingUnit


def a_profile(**spec: Any) -> SchedulingProfile:
    return SchedulingProfile(
        name="s", spec=msgspec.convert(spec, SchedulingProfileSpec), location=Location("policies/s.yaml")
    )


def names(*given: str) -> list[dict[str, str]]:
    return [{"name": name} for name in given]


class FromOutside(msgspec.Struct, frozen=True):
    def filter(self, unit: SchedulingUnit, member: Member) -> Answer:
        return FITS


def test_defaults() -> None:
    profile = profile_of(None, Plugins())
    assert (
        tuple(entry.name for entry in profile.filters),
        tuple(entry.name for entry in profile.scores),
        tuple(entry.name for entry in profile.selects),
        {strategy: entry.name for strategy, entry in profile.replicas.items()},
        profile.per_unit,
    ) == (DEFAULT_FILTERS, DEFAULT_SCORES, DEFAULT_SELECTS, REPLICAS, False)


def test_disabled_go_first_then_enabled_come() -> None:
    profile = profile_of(
        a_profile(
            plugins={
                "filter": {"disabled": names("*"), "enabled": names("ClusterReady", "ClusterResourcesFit")},
                "score": {
                    "disabled": names("TaintToleration", "Unknown"),
                    "enabled": [{"name": "TaintToleration", "wait": 3}, {"name": "ClusterResourcesMostAllocated"}],
                },
            }
        ),
        Plugins(),
    )
    assert [entry.name for entry in profile.filters] == ["ClusterReady", "ClusterResourcesFit"]
    assert [(entry.name, entry.weight) for entry in profile.scores] == [
        ("ClusterResourcesBalancedAllocation", 1),
        ("ClusterResourcesLeastAllocated", 1),
        ("ClusterAffinity", 1),
        ("TaintToleration", 3),
        ("ClusterResourcesMostAllocated", 1),
    ]


def test_arguments_reach_their_plugin() -> None:
    profile = profile_of(a_profile(pluginConfig=[{"name": "APIResources", "args": {"evict": True}}]), Plugins())
    assert profile.filters[0].plugin == APIResources(evict=True)


def test_a_plugin_from_outside_is_asked_for_each_unit() -> None:
    profile = profile_of(
        a_profile(plugins={"filter": {"enabled": [{"name": "hook", "type": "Webhook"}]}}),
        Plugins(outside={"hook": FromOutside()}),
    )
    assert (profile.filters[-1].plugin, profile.per_unit) == (FromOutside(), True)


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        pytest.param(
            {"plugins": {"filter": {"enabled": names("ClusterReady")}}},
            "filter plugin ClusterReady is enabled twice; disable the default one first",
            id="enabled twice",
        ),
        pytest.param(
            {"plugins": {"filter": {"enabled": names("Nothing")}}}, "there is no plugin Nothing", id="unknown"
        ),
        pytest.param(
            {"plugins": {"score": {"enabled": names("MaxCluster")}}},
            "plugin MaxCluster is no score plugin",
            id="at the wrong point",
        ),
        pytest.param(
            {"pluginConfig": names("Nothing")},
            "there is no plugin Nothing that takes arguments",
            id="arguments of nothing",
        ),
        pytest.param(
            {"pluginConfig": [{"name": "MaxCluster", "args": {"a": 1}}]},
            "arguments of plugin MaxCluster: Object contains unknown field `a`",
            id="unknown argument",
        ),
    ],
)
def test_refused(spec: dict[str, Any], what: str) -> None:
    with pytest.raises(ProfileError) as caught:
        profile_of(a_profile(**spec), Plugins())
    assert (caught.value.problem.what, str(caught.value.problem.where)) == (f"profile s: {what}", "policies/s.yaml:1:1")


def test_every_plugin_serves_an_extension_point_and_is_named_as_its_class() -> None:
    points = FilterPlugin | ScorePlugin | SelectPlugin | ReplicaPlugin
    assert {name: (kind.__name__, isinstance(kind(), points)) for name, kind in PLUGINS.items()} == {
        name: (name, True) for name in PLUGINS
    }
