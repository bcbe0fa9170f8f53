"""What each member must hold: manifests, the scheduler's replicas, overrides, followers, namespaces."""

from __future__ import annotations

from kadm.render.output import file_name
from kadm.render.render import render

__all__ = ["file_name", "render"]
