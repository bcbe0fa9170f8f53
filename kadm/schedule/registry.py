"""Every plugin that kadm has, by name, and the ones that run where no profile says otherwise (scheduling spec 3.2)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kadm.model.policy import ReplicasStrategy
from kadm.schedule.plugins.api_resources import APIResources
from kadm.schedule.plugins.cluster_affinity import ClusterAffinity
from kadm.schedule.plugins.cluster_capacity_weight import ClusterCapacityWeight
from kadm.schedule.plugins.cluster_evicted import ClusterEvicted
from kadm.schedule.plugins.cluster_ready import ClusterReady
from kadm.schedule.plugins.cluster_resources_balanced_allocation import ClusterResourcesBalancedAllocation
from kadm.schedule.plugins.cluster_resources_fit import ClusterResourcesFit
from kadm.schedule.plugins.cluster_resources_least_allocated import ClusterResourcesLeastAllocated
from kadm.schedule.plugins.cluster_resources_most_allocated import ClusterResourcesMostAllocated
from kadm.schedule.plugins.cluster_terminating import ClusterTerminating
from kadm.schedule.plugins.katalyst_resources_exist import KatalystResourcesExist
from kadm.schedule.plugins.max_cluster import MaxCluster
from kadm.schedule.plugins.placement_filter import PlacementFilter
from kadm.schedule.plugins.preference_bin_pack import PreferenceBinPack
from kadm.schedule.plugins.priority_sort import PrioritySort
from kadm.schedule.plugins.taint_toleration import TaintToleration

PLUGINS: Mapping[str, type[Struct]] = {
    "APIResources": APIResources,
    "TaintToleration": TaintToleration,
    "PlacementFilter": PlacementFilter,
    "ClusterAffinity": ClusterAffinity,
    "ClusterReady": ClusterReady,
    "ClusterTerminating": ClusterTerminating,
    "ClusterEvicted": ClusterEvicted,
    "KatalystResourcesExist": KatalystResourcesExist,
    "ClusterResourcesFit": ClusterResourcesFit,
    "ClusterResourcesBalancedAllocation": ClusterResourcesBalancedAllocation,
    "ClusterResourcesLeastAllocated": ClusterResourcesLeastAllocated,
    "ClusterResourcesMostAllocated": ClusterResourcesMostAllocated,
    "PrioritySort": PrioritySort,
    "MaxCluster": MaxCluster,
    "ClusterCapacityWeight": ClusterCapacityWeight,
    "PreferenceBinPack": PreferenceBinPack,
}

DEFAULT_FILTERS = (
    "APIResources",
    "TaintToleration",
    "PlacementFilter",
    "ClusterAffinity",
    "ClusterReady",
    "ClusterTerminating",
    "ClusterEvicted",
)
KATALYST_FILTERS = (*DEFAULT_FILTERS, "KatalystResourcesExist")
"""The default filters of a fleet that sets katalyst."""

DEFAULT_SCORES = (
    "TaintToleration",
    "ClusterResourcesBalancedAllocation",
    "ClusterResourcesLeastAllocated",
    "ClusterAffinity",
)
DEFAULT_SELECTS = ("PrioritySort", "MaxCluster")
REPLICAS: Mapping[ReplicasStrategy, str] = {"Spread": "ClusterCapacityWeight", "Binpack": "PreferenceBinPack"}
"""A profile cannot change it."""
