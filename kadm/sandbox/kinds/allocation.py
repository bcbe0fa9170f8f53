"""Cluster addresses and node ports of Services."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServiceRanges:
    """Where a member takes service addresses and node ports from. Both ends of ``node_ports`` belong to it."""

    cidr: str = "10.96.0.0/16"
    node_ports: tuple[int, int] = (30000, 32767)
