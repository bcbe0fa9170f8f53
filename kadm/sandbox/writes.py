"""The one way that a write takes, whoever makes it: read, decode, managedFields, admission and validation, store.

The steps are those of a real API server's generic registry. Objects come in as JSON of the version that the request
names, already decoded (see ``bodies``); they leave in that version. What is stored has the storage version.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from kadm.sandbox import managed_fields, server_side_apply
from kadm.sandbox.decoding import DecodeError
from kadm.sandbox.field_sets import FieldSet
from kadm.sandbox.identity import check_identity
from kadm.sandbox.kinds import strategy
from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.requests import WriteOptions
from kadm.sandbox.responses import (
    ApiError,
    Cause,
    already_exists,
    bad_request,
    conflict,
    forbidden,
    invalid,
    not_found,
    stale,
)
from kadm.sandbox.schema import Schema
from kadm.sandbox.served import ServedKinds, resource_name
from kadm.sandbox.store import Object, Store
from kadm.sandbox.subresources import scale_of, scale_schema, shown_scale, with_replicas

Clock = Callable[[], datetime]

# PUT of a missing object creates it for these resources. Source: AllowCreateOnUpdate of the Kubernetes 1.36 registry.
CREATED_BY_PUT = frozenset(
    {
        "clusterrolebindings.rbac.authorization.k8s.io",
        "clusterroles.rbac.authorization.k8s.io",
        "endpoints",
        "events",
        "leases.coordination.k8s.io",
        "limitranges",
        "rolebindings.rbac.authorization.k8s.io",
        "roles.rbac.authorization.k8s.io",
        "runtimeclasses.node.k8s.io",
        "services",
    }
)

# PUT without a resourceVersion is refused for these, and for all custom ones. Source: AllowUnconditionalUpdate there.
CONDITIONAL_PUT = frozenset(
    {
        "apiservices.apiregistration.k8s.io",
        "csidrivers.storage.k8s.io",
        "csinodes.storage.k8s.io",
        "csistoragecapacities.storage.k8s.io",
        "customresourcedefinitions.apiextensions.k8s.io",
        "flowschemas.flowcontrol.apiserver.k8s.io",
        "ipaddresses.networking.k8s.io",
        "leases.coordination.k8s.io",
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "poddisruptionbudgets.policy",
        "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
        "runtimeclasses.node.k8s.io",
        "servicecidrs.networking.k8s.io",
        "validatingadmissionpolicies.admissionregistration.k8s.io",
        "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
        "volumeattachments.storage.k8s.io",
    }
)

NAME_ATTEMPTS = 8  # for generateName; source: the generic registry's retries


def rfc3339(now: datetime) -> str:
    """A time as objects carry it: UTC, whole seconds."""
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


class VersionsOf:
    """The other versions of a kind, for managedFields entries that were written in one of them."""

    def __init__(self, kinds: ServedKinds, kind: ResourceKind) -> None:
        self._kinds = kinds
        self._kind = kind

    def schema(self, api_version: str) -> Schema | None:
        """The kind's type in that version, or None if it is not served."""
        other = self._other(api_version)
        return None if other is None else self._kinds.schema(other)

    def convert(self, obj: Object, api_version: str) -> Object:
        """The object in that version, which must be served."""
        other = self._other(api_version)
        assert other is not None, api_version
        return strategy.convert(other, obj)

    def _other(self, api_version: str) -> ResourceKind | None:
        group, _, version = api_version.rpartition("/")
        return self._kinds.at(group, version, self._kind.plural)


class Writes:
    """Creates and updates in one member. ``reader`` is what admission may look up."""

    def __init__(self, store: Store, kinds: ServedKinds, reader: strategy.Reader, *, clock: Clock) -> None:
        self._store = store
        self._kinds = kinds
        self._reader = reader
        self._clock = clock

    def create(self, kind: ResourceKind, obj: Object, namespace: str, options: WriteOptions) -> Object:
        """Store a new object. ``obj`` is decoded but for the defaults. Raises ApiError 403, 404, 409, 422, or 500 where
        it carries a resourceVersion."""
        placed = _placed(obj, namespace)
        self._admit_namespace(kind, namespace, placed["metadata"].get("name", ""))
        decoded = _decoded(kind, placed)
        tracked = managed_fields.track_update(
            None,
            decoded,
            schema=self._kinds.schema(kind),
            manager=options.manager,
            now=self._now(),
            reset=self._reset_fields(kind, ""),
        )
        return self._store_new(kind, tracked, options, of_a_version=obj["metadata"].get("resourceVersion", "") != "")

    def replace(
        self,
        kind: ResourceKind,
        namespace: str,
        name: str,
        obj: Object,
        options: WriteOptions,
        *,
        subresource: str = "",
    ) -> tuple[Object, bool]:
        """PUT: put ``obj`` in the place of what is there. Returns what came out, and whether it was created."""
        resource = resource_name(kind)
        uid = obj["metadata"].get("uid")
        live = self._store.get(resource, namespace, name)
        if live is None:
            if subresource or resource not in CREATED_BY_PUT:
                raise not_found(kind.plural, kind.group, name)
            return self.create(kind, obj, namespace, options), True
        if uid and uid != live["metadata"]["uid"]:
            key = f"/registry/{kind.plural}/{namespace}/{name}" if namespace else f"/registry/{kind.plural}/{name}"
            why = (
                f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
                f"Precondition failed: UID in precondition: {uid}, UID in object meta: {live['metadata']['uid']}"
            )
            raise conflict(kind.plural, kind.group, name, why)
        placed = _placed(obj, namespace)
        if not placed["metadata"].get("resourceVersion") and (kind.custom or resource in CONDITIONAL_PUT):
            cause = Cause(
                "FieldValueInvalid", "Invalid value: 0: must be specified for an update", "metadata.resourceVersion"
            )
            raise invalid(kind.plural, kind.group, name, [cause])
        return self.update(kind, namespace, name, lambda _: placed, options, subresource=subresource), False

    def update(
        self,
        kind: ResourceKind,
        namespace: str,
        name: str,
        change: Callable[[Object], Object],
        options: WriteOptions,
        *,
        subresource: str = "",
    ) -> Object:
        """Change an object: ``change`` gets the live one and returns a new one, decoded but for the defaults.

        A ``metadata.resourceVersion`` in what it returns must be the live one. Nothing is written where nothing
        changes. Raises ApiError 404, 409 or 422, and what ``change`` raises.
        """
        live = self._live(kind, namespace, name)
        new = _placed(change(live), namespace)
        _check_version(kind, new, live)
        decoded = _decoded(kind, new)
        tracked = managed_fields.track_update(
            live,
            decoded,
            schema=self._kinds.schema(kind),
            manager=options.manager,
            now=self._now(),
            subresource=subresource,
            reset=self._reset_fields(kind, subresource),
            conversions=VersionsOf(self._kinds, kind),
        )
        return self._store_changed(kind, tracked, live, options, subresource)

    def apply(
        self,
        kind: ResourceKind,
        namespace: str,
        name: str,
        applied: Object,
        options: WriteOptions,
        *,
        subresource: str = "",
    ) -> tuple[Object, bool]:
        """Server-side apply. Returns what came out, and whether it was created. Raises ApiError.

        ``applied`` is as it was sent: that its type, name and namespace are right is checked here.
        """
        stored = self._store.get(resource_name(kind), namespace, name)
        if stored is None and subresource:
            raise not_found(kind.plural, kind.group, name)
        live = None if stored is None else strategy.convert(kind, stored)
        if live is None:
            self._admit_namespace(kind, namespace, name)
        schema = self._kinds.schema(kind)
        merged = self._merged(
            live,
            applied,
            schema,
            options,
            subresource,
            self._reset_fields(kind, subresource),
            VersionsOf(self._kinds, kind),
        )
        check_identity(kind, applied, namespace, name)
        if live is not None:
            _check_version(kind, applied, live)
        elif uid := applied["metadata"].get("uid"):
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise conflict(kind.plural, kind.group, name, why)
        try:
            decoded = strategy.defaults(kind, _placed(merged, namespace))
        except DecodeError as fault:
            raise ApiError(500, "", server_side_apply.not_convertible(applied, schema, fault)) from fault
        if live is None:
            return self._store_new(kind, decoded, options), True
        # A real server writes a Job at every apply, even an identical one; it is the only kind known to do so.
        always = resource_name(kind) == "jobs.batch" and not subresource
        return self._store_changed(kind, decoded, live, options, subresource, always=always), False

    def replace_scale(
        self, kind: ResourceKind, namespace: str, name: str, change: Callable[[Object], Object], options: WriteOptions
    ) -> Object:
        """Change the Scale of an object by PUT or patch; ``change`` gets the live Scale. Returns what came out."""
        live = self._live(kind, namespace, name)
        before = scale_of(kind, live)
        changed = _placed(change(before), namespace)
        _check_version(kind, changed, live)
        tracked = managed_fields.track_update(
            before, changed, schema=scale_schema(), manager=options.manager, now=self._now(), subresource="scale"
        )
        return self._store_scale(kind, live, tracked, options)

    def apply_scale(
        self, kind: ResourceKind, namespace: str, name: str, applied: Object, options: WriteOptions
    ) -> Object:
        """Server-side apply of a Scale, as it was sent. Returns the Scale that came out."""
        live = self._live(kind, namespace, name)
        merged = self._merged(scale_of(kind, live), applied, scale_schema(), options, "scale", None, None)
        check_identity(kind, applied, namespace, name)
        _check_version(kind, applied, live)
        return self._store_scale(kind, live, merged, options)

    def _store_scale(self, kind: ResourceKind, live: Object, scale: Object, options: WriteOptions) -> Object:
        replicas = (scale.get("spec") or {}).get("replicas") or 0
        if replicas < 0:
            cause = Cause(
                "FieldValueInvalid", f"Invalid value: {replicas}: must be greater than or equal to 0", "spec.replicas"
            )
            raise invalid("Scale", "autoscaling", live["metadata"]["name"], [cause])
        changed = self._store_changed(kind, with_replicas(kind, live, scale), live, options, "scale")
        return shown_scale(scale_of(kind, changed))

    def _merged(
        self,
        live: Object | None,
        applied: Object,
        schema: Schema,
        options: WriteOptions,
        subresource: str,
        reset: FieldSet | None,
        conversions: VersionsOf | None,
    ) -> Object:
        try:
            return server_side_apply.apply(
                live,
                applied,
                schema=schema,
                manager=options.manager,
                force=options.force,
                now=self._now(),
                subresource=subresource,
                reset=reset,
                conversions=conversions,
            )
        except server_side_apply.ApplyConflict as refused:
            raise apply_conflict(refused) from refused
        except server_side_apply.TypedError as refused:
            raise ApiError(500, "", str(refused)) from refused

    def _live(self, kind: ResourceKind, namespace: str, name: str) -> Object:
        stored = self._store.get(resource_name(kind), namespace, name)
        if stored is None:
            raise not_found(kind.plural, kind.group, name)
        return strategy.convert(kind, stored)

    def _now(self) -> str:
        return rfc3339(self._clock())

    def _context(self, options: WriteOptions) -> strategy.Context:
        return strategy.Context(reader=self._reader, now=self._now(), username=options.username)

    def _admit_namespace(self, kind: ResourceKind, namespace: str, name: str) -> None:
        if not kind.namespaced:
            return
        found = self._store.get("namespaces", "", namespace)
        if found is None:
            raise not_found("namespaces", "", namespace)
        if found["metadata"].get("deletionTimestamp"):
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            cause = Cause("NamespaceTerminating", f"namespace {namespace} is being terminated", "metadata.namespace")
            raise forbidden(kind.plural, kind.group, name, why, [cause])

    def _store_new(
        self, kind: ResourceKind, obj: Object, options: WriteOptions, *, of_a_version: bool = False
    ) -> Object:
        """Admit, validate and store a new object with its managedFields; ``generateName`` is tried several times.

        ``of_a_version``: the request names a version of what is not there yet, which storage refuses.
        """
        resource = resource_name(kind)
        generated = not obj["metadata"].get("name")
        for attempt in range(NAME_ATTEMPTS):
            ready = strategy.create(kind, obj, self._context(options))
            if of_a_version and not options.dry_run:
                raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
            metadata = ready["metadata"]
            holder = self._store.get(resource, metadata.get("namespace", ""), metadata["name"])
            if holder is None:
                if options.dry_run:
                    return ready
                return strategy.convert(kind, self._store.create(resource, self._in_storage(kind, ready)))
            if not generated or attempt == NAME_ATTEMPTS - 1:
                terminating = "deletionTimestamp" in holder["metadata"]
                raise already_exists(kind.plural, kind.group, metadata["name"], terminating=terminating)
        raise AssertionError("the last attempt returns or raises")

    def _store_changed(
        self,
        kind: ResourceKind,
        obj: Object,
        live: Object,
        options: WriteOptions,
        subresource: str,
        *,
        always: bool = False,
    ) -> Object:
        """Admit, validate and store a changed object; one that does not change is written only if ``always``."""
        ready = strategy.update(kind, obj, live, self._context(options), subresource=subresource)
        ready = {**ready, "metadata": {**ready["metadata"], "resourceVersion": live["metadata"]["resourceVersion"]}}
        ready = managed_fields.settle_times(live, ready)
        if ready is live and not always:
            return live
        if options.dry_run:
            return ready
        resource = resource_name(kind)
        if is_gone(ready):
            metadata = ready["metadata"]
            self._store.delete(resource, metadata.get("namespace", ""), metadata["name"])
            return ready
        return strategy.convert(kind, self._store.update(resource, self._in_storage(kind, ready)))

    def _reset_fields(self, kind: ResourceKind, subresource: str) -> FieldSet | None:
        endpoint = "" if subresource == "finalize" else subresource  # it writes what the object itself writes
        return managed_fields.reset_fields(self._kinds.schema(kind), endpoint, has_status=kind.has_status)

    def _in_storage(self, kind: ResourceKind, obj: Object) -> Object:
        if (kind.group, kind.version) == (kind.storage_group, kind.storage_version):
            return obj
        return strategy.convert(self._kinds.of(resource_name(kind)), obj)


def _decoded(kind: ResourceKind, obj: Object) -> Object:
    """The object with its defaults. Raises ApiError 400 where a value has a wrong type."""
    try:
        return strategy.defaults(kind, obj)
    except DecodeError as fault:
        where = f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}'
        raise bad_request(f"{where}: {fault}") from fault


def _placed(obj: Object, namespace: str) -> Object:
    metadata = {**(obj.get("metadata") or {})}
    if namespace:
        metadata["namespace"] = namespace
    return {**obj, "metadata": metadata}


def _check_version(kind: ResourceKind, new: Object, live: Object) -> None:
    version = new["metadata"].get("resourceVersion")
    if version and version != live["metadata"]["resourceVersion"]:
        raise stale(kind.plural, kind.group, live["metadata"]["name"])


def is_gone(obj: Object) -> bool:
    """Whether nothing holds an object any longer that is being deleted: no finalizer, and its grace period is over."""
    metadata = obj["metadata"]
    if not metadata.get("deletionTimestamp") or metadata.get("finalizers"):
        return False
    if obj["kind"] == "Namespace" and obj["apiVersion"] == "v1":
        return not obj.get("spec", {}).get("finalizers")
    return not metadata.get("deletionGracePeriodSeconds")


def apply_conflict(refused: server_side_apply.ApplyConflict) -> ApiError:
    """409: other managers hold fields that the apply would change."""
    causes = [
        {"reason": "FieldManagerConflict", "message": item.message, "field": item.field} for item in refused.conflicts
    ]
    return ApiError(409, "Conflict", str(refused), {"causes": causes})
