"""One member's API as functions: what HTTP requests and the controllers of the sandbox both go through.

Every write takes the same way whoever makes it: defaults, validation, managedFields, then the store. Nothing here waits,
so a call is atomic on the event loop; only watches are asynchronous.

Resources are named ``plural`` or ``plural.group`` (``pods``, ``deployments.apps``). Objects go in and come out in the
resource's storage version. Objects that come out belong to the store: copy before changing. Refusals raise ``ApiError``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Literal

from kadm.sandbox.responses import ApiError
from kadm.sandbox.store import Event, Object, Store, Watch

Propagation = Literal["Background", "Foreground", "Orphan"]
Clock = Callable[[], datetime]

__all__ = ["ApiError", "ApiServer", "Clock", "Event", "Object", "Propagation", "Watch"]


class ApiServer:
    """The API of one member. ``clock`` gives the current time, aware and in UTC."""

    def __init__(self, name: str, *, clock: Clock) -> None:
        self.name = name
        self.store = Store()
        self.clock = clock

    def find(self, resource: str, namespace: str, name: str) -> Object | None:
        """The object, or None if there is none. ``namespace`` is "" for cluster-scoped resources."""

    def get(self, resource: str, namespace: str, name: str) -> Object:
        """The object. Raises ApiError 404."""

    def list(
        self, resource: str, namespace: str | None = None, *, labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        """The objects in name order; ``namespace`` None means all, ``labels`` keeps those that carry all of them."""

    def watch(self, resources: Iterable[str] | None, since: int | None = None) -> Watch:
        """Events of these resources (None: of all), after revision ``since``, or from now on.

        For "what is there and what follows": open the watch first, then list.
        """

    def create(self, resource: str, obj: Object, *, manager: str) -> Object:
        """Store a new object, named and placed by its metadata (``generateName`` works). Raises ApiError 409, 422, …"""

    def update(self, resource: str, obj: Object, *, manager: str, subresource: str = "") -> Object:
        """Replace an object, or with ``subresource="status"`` its status only.

        A ``metadata.resourceVersion`` in ``obj`` must be the live one (ApiError 409 otherwise). A replacement that changes
        nothing is not written. Removing the last finalizer of an object that is being deleted removes it.
        """

    def merge_patch(
        self, resource: str, namespace: str, name: str, patch: Object, *, manager: str, subresource: str = ""
    ) -> Object:
        """Apply an RFC 7386 patch and return what came out. The patch may carry ``metadata.resourceVersion``."""

    def apply(self, resource: str, obj: Object, *, manager: str, force: bool = False, subresource: str = "") -> Object:
        """Server-side apply of ``obj`` for ``manager``. Raises ApiError 409 with the conflicts unless ``force``."""

    def delete(
        self,
        resource: str,
        namespace: str,
        name: str,
        *,
        propagation: Propagation | None = None,
        grace_period_s: int | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
    ) -> Object:
        """Delete an object: at once, or mark it where finalizers or a grace period hold it. Returns its last state.

        ``uid`` and ``resource_version`` are preconditions (ApiError 409).
        """

    def bind(self, namespace: str, pod: str, node: str) -> None:
        """Put a pod on a node (the ``binding`` subresource). Raises ApiError 404, or 409 if it is on one already."""

    def finalize_namespace(self, name: str, finalizers: tuple[str, ...]) -> Object:
        """Set ``spec.finalizers`` of a namespace; one that is being deleted goes with the last of them."""

    def resources(self) -> tuple[str, ...]:
        """All served resources that can be listed and deleted, custom ones included, in name order."""
