"""The hand in the demo that changes a member behind git's back, as ``kubectl scale`` does."""

from __future__ import annotations

import ssl
import urllib.request

import msgspec

from kadm.errors import KadmError
from kadm.sandbox.state import SandboxState

TIMEOUT_S = 10.0


def scale(sandbox: SandboxState, member: str, namespace: str, name: str, *, replicas: int) -> None:
    """Scale a Deployment of one member. kubectl need not be there: this sends what it sends.

    Raises KadmError where the member does not take it.
    """
    state = next(one for one in sandbox.members if one.name == member)
    request = urllib.request.Request(  # noqa: S310  # a member of our own sandbox: https
        f"{state.url}/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale?fieldManager=kubectl",
        method="PATCH",
        data=msgspec.json.encode({"spec": {"replicas": replicas}}),
        headers={"Authorization": f"Bearer {state.token}", "Content-Type": "application/merge-patch+json"},
    )
    direct = urllib.request.build_opener(
        urllib.request.ProxyHandler({}),  # loopback is reached through no proxy
        urllib.request.HTTPSHandler(context=ssl.create_default_context(cadata=sandbox.ca)),
    )
    try:
        with direct.open(request, timeout=TIMEOUT_S):
            return
    except OSError as fault:
        raise KadmError("the demo cannot go on", member=member, why=str(fault)) from fault
