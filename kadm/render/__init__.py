"""What each member must hold: manifests, the scheduler's replicas, overrides, followers, namespaces."""

from __future__ import annotations

from kadm.render.bindings import adopts_in, is_released, retains_replicas
from kadm.render.output import file_name
from kadm.render.render import render

__all__ = ["adopts_in", "file_name", "is_released", "render", "retains_replicas"]
