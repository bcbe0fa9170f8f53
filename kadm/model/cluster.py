"""FederatedCluster: a member as the repository describes it (scheduling spec 1.6, design section 3)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from kadm.errors import Location
from kadm.model.policy import TaintEffect


class Taint(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A taint on a member. ``time_added`` is accepted and unused."""

    key: str
    """The taint's key."""
    effect: TaintEffect
    """NoSchedule keeps new objects away, NoExecute all; with PreferNoSchedule other members come first."""
    value: str = ""
    """The taint's value."""
    time_added: str | None = None
    """Accepted and unused."""


class KubeconfigRef(Struct, frozen=True, forbid_unknown_fields=True):
    """How kadm reaches a member: a kubeconfig (``path`` may hold ``~`` and ``${VAR}``; None: read as kubectl does) and
    a context in it (None: the member's name)."""

    path: str | None = None
    """The file, outside the repository; ~ and ${VAR} may stand in it. Absent: found as kubectl does."""
    context: str | None = None
    """A context of it; absent: the member's name."""


class SecretRef(Struct, frozen=True, forbid_unknown_fields=True):
    """Accepted and unused: kadm keeps no credentials."""

    name: str = ""
    """Accepted and unused."""


class FederatedClusterSpec(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """``api_endpoint``, ``secret_ref``, ``insecure`` and ``use_service_account`` are accepted and unused."""

    api_endpoint: str = ""
    """Accepted and unused: the kubeconfig says it."""
    secret_ref: SecretRef | None = None
    """Accepted and unused: kadm keeps no credentials."""
    insecure: bool = False
    """Accepted and unused."""
    use_service_account: bool = False
    """Accepted and unused."""
    taints: tuple[Taint, ...] = ()
    """Keep objects away that do not tolerate them."""
    kubeconfig: KubeconfigRef = KubeconfigRef()
    """How kadm reaches the member."""


class RecordedResources(Struct, frozen=True, rename="camel"):
    """Resources in a recorded status, as quantities."""

    schedulable_nodes: int | None = None
    allocatable: dict[str, str] = {}
    available: dict[str, str] = {}


class RecordedApiResource(Struct, frozen=True, rename="camel"):
    """One served type in a recorded status."""

    version: str
    kind: str
    group: str = ""
    plural_name: str = ""
    scope: str = ""


class RecordedStatus(Struct, frozen=True, rename="camel"):
    """A ``status`` that somebody wrote into the file; used only where nothing asks the member (``--offline``)."""

    conditions: tuple[dict[str, Any], ...] = ()
    resources: RecordedResources = RecordedResources()
    api_resource_types: tuple[RecordedApiResource, ...] = msgspec.field(default=(), name="apiResourceTypes")


class FederatedCluster(Struct, frozen=True, kw_only=True):
    """A member of the fleet as ``clusters/*.yaml`` describes it. ``suspend``: no writes there (design, section 7)."""

    name: str
    location: Location
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    terminating: bool = False
    spec: FederatedClusterSpec = FederatedClusterSpec()
    status: RecordedStatus | None = None

    @property
    def suspended(self) -> bool:
        """Whether writes to this member are switched off."""
        return self.annotations.get("kadm.io/suspend") == "true"
