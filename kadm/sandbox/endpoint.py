"""Answers requests to one member: who asks, what for, and in which representation the answer goes out.

Everything here is synchronous: a request is answered in one step of the event loop. A watch is answered by a
``Stream``, which the HTTP server then feeds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kadm.sandbox import deletion, discovery, listing, openapi, reviews, tables, watches
from kadm.sandbox.api import ApiServer
from kadm.sandbox.auth import Action, Authenticator, Authorizer, User, impersonated
from kadm.sandbox.bodies import decoded_body, decoded_patched, parse_apply, parse_body
from kadm.sandbox.field_validation import warning_header
from kadm.sandbox.identity import check_identity, check_namespace
from kadm.sandbox.kinds import strategy
from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.media import Representation, accepted
from kadm.sandbox.patching import APPLY, Patch
from kadm.sandbox.requests import (
    ListOptions,
    Target,
    WriteOptions,
    delete_options,
    list_options,
    parse_target,
    write_options,
)
from kadm.sandbox.responses import (
    ApiError,
    NothingServed,
    bad_request,
    method_not_allowed,
    not_found,
    success,
    unknown_resource,
)
from kadm.sandbox.schema import builtin
from kadm.sandbox.served import resource_name
from kadm.sandbox.store import Object
from kadm.sandbox.subresources import SCALE_KIND, scale_of, scale_schema, shown_scale

VERSION: Object = {
    "major": "1",
    "minor": "36",
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
    "gitVersion": "v1.36.2",
    "gitCommit": "",
    "gitTreeState": "",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "gc",
    "platform": "linux/amd64",
}
"""What ``/version`` says: the Kubernetes version whose behaviour the sandbox follows. It is no build of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as it came in. ``query`` has the last value of each key; ``dry_run`` all values of ``dryRun``."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    dry_run: list[str] = field(default_factory=list)
    body: bytes = b""
    content_type: str = ""
    accept: str = ""
    authorization: str | None = None
    impersonated: str = ""
    impersonated_groups: tuple[str, ...] = ()
    user_agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer in one piece. ``body`` is an object to encode, or text."""

    status: int
    body: Object | str
    headers: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    yaml: bool = False
    media_parameters: str = ""
    """What follows ``application/json`` in the Content-Type, with its semicolon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """An answer that goes on: the notices of ``watch``, each shown as ``show`` makes it, until ``timeout_s``."""

    watch: watches.ClientWatch
    show: Callable[[watches.Notice], Object]
    timeout_s: float
    bookmark: Callable[[], watches.Notice] | None
    warnings: tuple[str, ...] = ()


DEFAULT_WATCH_S = 3600.0

DEPRECATED = {
    ("v1", "ComponentStatus"): "v1 ComponentStatus is deprecated in v1.19+",
    ("v1", "Endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}
"""What every answer about a built-in kind warns of: (apiVersion, kind) → text."""

NEEDS_CONTAINERS = frozenset({"attach", "exec", "log", "portforward", "proxy"})
"""Subresources that would have to reach into a running container."""


class Endpoint:
    """The HTTP side of one member."""

    def __init__(self, api: ApiServer, authenticator: Authenticator) -> None:
        self._api = api
        self._authenticator = authenticator
        self._authorizer = Authorizer(api.store)

    def answer(self, request: Request) -> Answer | Stream:
        """The answer to a request, refusals included."""
        try:
            return self._answer(request)
        except ApiError as refused:
            return Answer(status=refused.code, body=refused.status, headers=refused.headers)
        except NothingServed:
            return Answer(status=404, body="404 page not found\n")

    def _answer(self, request: Request) -> Answer | Stream:
        user = self._user(request)
        target = parse_target(request.path)
        verb = target.verb(request.method, request.query)
        self._authorizer.check(user, _action(target, verb, request.path))
        if not target.resource:
            return self._document(request)
        kind = self._kind(target)
        call = _Call(
            api=self._api,
            authenticator=self._authenticator,
            authorizer=self._authorizer,
            request=request,
            target=target,
            verb=verb,
            kind=kind,
            user=user,
            shown_as=accepted(request.accept),
        )
        answer = call.answer()
        if kind.custom is not None:
            deprecation = kind.custom.deprecation_warning
        else:
            deprecation = DEPRECATED.get((kind.api_version, kind.kind), "")
        if deprecation:
            return dataclasses.replace(answer, warnings=(warning_header(deprecation), *answer.warnings))
        return answer

    def _user(self, request: Request) -> User:
        """Who asks, or whom the asker says to be, if they may. Raises ApiError 401 or 403."""
        user = self._authenticator.user(request.authorization)
        if not request.impersonated:
            return user
        other = impersonated(request.impersonated, request.impersonated_groups)
        self._authorizer.check(user, Action(verb="impersonate", resource="users", name=other.name))
        for group in request.impersonated_groups:
            self._authorizer.check(user, Action(verb="impersonate", resource="groups", name=group))
        return other

    def _kind(self, target: Target) -> ResourceKind:
        kinds = self._api.kinds
        kind = kinds.at(target.group, target.version, target.resource)
        if kind is None:
            if target.group and (not kinds.versions(target.group) or kinds.is_custom(target.group)):
                raise NothingServed
            raise unknown_resource()
        if target.namespace and not kind.namespaced and target.resource != "namespaces":
            raise unknown_resource()
        if target.name and kind.namespaced and not target.namespace:
            raise unknown_resource()
        return kind

    def _document(self, request: Request) -> Answer:
        """What stands outside the resources: discovery, health, version, OpenAPI."""
        kinds = self._api.kinds
        parts = [part for part in request.path.split("/") if part]
        aggregated = discovery.AGGREGATED in request.accept
        body: Object | str | None = None
        match parts:
            case ["api"]:
                body = discovery.aggregated(kinds, core=True) if aggregated else discovery.api_versions("127.0.0.1")
            case ["apis"]:
                body = discovery.aggregated(kinds, core=False) if aggregated else discovery.api_groups(kinds)
            case ["api", version]:
                if version not in kinds.versions(""):
                    raise unknown_resource()
                body = discovery.api_resources(kinds, "", version)
            case ["apis", group] if kinds.versions(group):
                body = discovery.api_group(kinds, group)
            case ["apis", group, version] if kinds.versions(group):
                if version not in kinds.versions(group):
                    if kinds.is_custom(group):
                        raise NothingServed
                    raise unknown_resource()
                body = discovery.api_resources(kinds, group, version)
            case ["version"]:
                body = VERSION
            case ["healthz" | "livez" | "readyz"]:
                body = "ok"
                if "verbose" in request.query:
                    body = f"[+]ping ok\n[+]store ok\n{parts[0]} check passed\n"
            case ["openapi", "v2"]:
                body = openapi.version_2()
            case ["openapi", "v3"]:
                body = openapi.index(kinds)
            case ["openapi", "v3", "api", version] if version in kinds.versions(""):
                body = openapi.group_version(kinds, "", version)
            case ["openapi", "v3", "apis", group, version] if version in kinds.versions(group):
                body = openapi.group_version(kinds, group, version)
            case _:
                raise NothingServed
        if request.method not in ("GET", "HEAD"):
            raise method_not_allowed()
        if isinstance(body, str):
            return Answer(status=200, body=body)
        if aggregated and len(parts) == 1:
            return Answer(
                status=200, body=body, media_parameters=f";g=apidiscovery.k8s.io;v=v2;as={discovery.AGGREGATED}"
            )
        accepted(request.accept)
        return Answer(status=200, body=body)


def _action(target: Target, verb: str, path: str) -> Action:
    if not target.resource:
        return Action(verb="get" if verb == "head" else verb, path=path)
    return Action(
        verb=verb,
        group=target.group,
        resource=target.resource,
        subresource=target.subresource,
        namespace=target.namespace,
        name=target.name,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One request to a resource."""

    api: ApiServer
    authenticator: Authenticator
    authorizer: Authorizer
    request: Request
    target: Target
    verb: str
    kind: ResourceKind
    user: User
    shown_as: Representation

    def answer(self) -> Answer | Stream:
        """Do what is asked. Raises ApiError."""
        if self.target.subresource:
            return self._subresource()
        if self.verb not in self.kind.verbs or not self._names_rightly():
            raise method_not_allowed()
        if self.kind.namespaced and not self.target.namespace and self.verb == "create":
            raise method_not_allowed()
        match self.verb:
            case "get":
                return self._shown(self._live())
            case "list":
                return self._list(list_options(self.request.query))
            case "watch":
                return self._watch(list_options(self.request.query, watch=True))
            case "create":
                return self._create()
            case "update":
                return self._update()
            case "patch":
                return self._patch()
            case "delete":
                return self._delete()
            case _:
                return self._delete_collection()

    def _names_rightly(self) -> bool:
        """Whether the path names one object where the verb is about one, and none where it makes one."""
        if self.verb == "create":
            return not self.target.name
        return bool(self.target.name) or self.verb in ("list", "watch", "deletecollection")

    # Reading

    @property
    def _media_type(self) -> str:
        return self.request.content_type.partition(";")[0].strip()

    @property
    def _namespace(self) -> str:
        return self.target.namespace if self.kind.namespaced else ""

    def _convert(self, obj: Object) -> Object:
        return strategy.convert(self.kind, obj)

    def _live(self) -> Object:
        found = self.api.store.get(resource_name(self.kind), self._namespace, self.target.name)
        if found is None:
            raise not_found(self.kind.plural, self.kind.group, self.target.name)
        listing.check_reached(self.api.store, self.request.query.get("resourceVersion", ""))
        return self._convert(found)

    def _list(self, options: ListOptions) -> Answer:
        page = listing.page(self.api.store, self.kind, self._namespace, options, self._convert)
        return self._shown_list(page)

    def _shown_list(self, page: listing.Page) -> Answer:
        match self.shown_as.form:
            case "Table":
                metadata = listing.list_metadata(self.kind, page)
                objects = [self._convert(item) for item in page.items]
                body = tables.table(
                    self.kind, objects, self.api.clock(), metadata=metadata, include=self._include_object()
                )
            case "PartialObjectMetadataList":
                body = {
                    "kind": "PartialObjectMetadataList",
                    "apiVersion": "meta.k8s.io/v1",
                    "metadata": listing.list_metadata(self.kind, page),
                    "items": [tables.partial(item) for item in page.items],
                }
            case _:
                body = listing.list_object(self.kind, page, self._convert)
        return Answer(status=200, body=body, yaml=self.shown_as.yaml)

    def _include_object(self) -> str:
        return self.request.query.get("includeObject", "Metadata")

    def _watch(self, options: ListOptions) -> Answer | Stream:
        found = watches.start(self.api.store, self.kind, self._namespace, self.target.name, options, self._convert)
        if isinstance(found, ApiError):
            notice = {"type": "ERROR", "object": found.status}
            return Stream(watch=watches.ended([notice]), show=lambda item: item, timeout_s=0.0, bookmark=None)
        return Stream(
            watch=found,
            show=self._shown_notice(),
            timeout_s=float(options.timeout_s) if options.timeout_s else DEFAULT_WATCH_S,
            bookmark=(lambda: watches.bookmark(self.kind, self.api.store.revision)) if options.bookmarks else None,
        )

    def _shown_notice(self) -> Callable[[watches.Notice], Object]:
        """How a watch's notices are represented."""
        form = self.shown_as.form
        if form == "":
            return lambda notice: notice
        first = True

        def show(notice: watches.Notice) -> Object:
            nonlocal first
            obj = notice["object"]
            if notice["type"] == "BOOKMARK" and form == "Table":
                metadata = {"resourceVersion": obj["metadata"]["resourceVersion"]}
                shown: Object = tables.table(self.kind, [], self.api.clock(), metadata=metadata, columns=first)
            elif form == "Table":
                shown = tables.table(
                    self.kind,
                    [obj],
                    self.api.clock(),
                    metadata={"resourceVersion": obj["metadata"]["resourceVersion"]},
                    include=self._include_object(),
                    columns=first,
                )
            else:
                shown = tables.partial(obj)
            first = False
            return {"type": notice["type"], "object": shown}

        return show

    def _shown(self, obj: Object, *, status: int = 200, warnings: tuple[str, ...] = ()) -> Answer:
        """An object, as the client accepts it."""
        body = obj
        match self.shown_as.form:
            case "Table":
                metadata = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
                body = tables.table(
                    self.kind, [obj], self.api.clock(), metadata=metadata, include=self._include_object()
                )
            case "PartialObjectMetadata":
                body = tables.partial(obj)
        return Answer(status=status, body=body, warnings=warnings, yaml=self.shown_as.yaml)

    # Writing

    def _write_options(self, kind: Any, *, applies: bool = False) -> WriteOptions:
        return write_options(
            kind,
            self.request.query,
            user_agent=self.request.user_agent,
            username=self.user.name,
            dry_run=self.request.dry_run,
            applies=applies,
        )

    def _create(self) -> Answer:
        options = self._write_options("CreateOptions")
        value = parse_body(self.request.body, self.request.content_type, self.kind)
        obj, warnings = decoded_body(value, self.kind, self.api.kinds.schema(self.kind), options.field_validation)
        check_namespace(self.kind, obj, self._namespace)
        if not self.kind.stored:
            return Answer(status=201, body=self._review(obj, options), warnings=warnings)
        created = self.api.writes.create(self.kind, obj, self._namespace, options)
        return self._shown(created, status=201, warnings=warnings)

    def _review(self, obj: Object, options: WriteOptions) -> Object:
        return reviews.review(
            self.kind,
            obj,
            user=self.user,
            namespace=self._namespace,
            authenticator=self.authenticator,
            authorizer=self.authorizer,
            manager=options.manager,
            now=self.api.now(),
            schema=self.api.kinds.schema(self.kind),
        )

    def _update(self, subresource: str = "") -> Answer:
        options = self._write_options("UpdateOptions")
        value = parse_body(self.request.body, self.request.content_type, self.kind)
        obj, warnings = decoded_body(value, self.kind, self.api.kinds.schema(self.kind), options.field_validation)
        self._check_identity(obj)
        replaced, created = self.api.writes.replace(
            self.kind, self._namespace, self.target.name, obj, options, subresource=subresource
        )
        return self._shown(replaced, status=201 if created else 200, warnings=warnings)

    def _patch(self, subresource: str = "") -> Answer:
        if self._media_type == APPLY:
            return self._apply(subresource)
        options = self._write_options("PatchOptions")
        warnings: list[str] = []
        schema = self.api.kinds.schema(self.kind)
        patch = Patch(self._media_type, self.request.body, schema, custom=self.kind.custom is not None)

        def change(live: Object) -> Object:
            obj, found = decoded_patched(patch.applied(live), live, self.kind, schema, options.field_validation)
            warnings.extend(found)
            self._check_identity(obj)
            return obj

        changed = self.api.writes.update(
            self.kind, self._namespace, self.target.name, change, options, subresource=subresource
        )
        return self._shown(changed, warnings=tuple(warnings))

    def _apply(self, subresource: str) -> Answer:
        options = self._write_options("PatchOptions", applies=True)
        applied = parse_apply(self.request.body, self.kind.gvk)
        result, created = self.api.writes.apply(
            self.kind, self._namespace, self.target.name, applied, options, subresource=subresource
        )
        return self._shown(result, status=201 if created else 200)

    def _check_identity(self, obj: Object) -> None:
        check_identity(self.kind, obj, self._namespace, self.target.name)

    # Deleting

    def _delete(self) -> Answer:
        options = self._delete_options()
        last, gone = self.api.deletions.delete(self.kind, self._namespace, self.target.name, options)
        return Answer(status=200, body=deletion.answer(self.kind, last, gone=gone), yaml=self.shown_as.yaml)

    def _delete_options(self) -> Any:
        body: Any = None
        if self.request.body.strip():
            body = parse_body(self.request.body, self.request.content_type, None).value
        return delete_options(self.request.query, dry_run=self.request.dry_run, body=body)

    def _delete_collection(self) -> Answer:
        options = self._delete_options()
        wanted = list_options(self.request.query)
        page = listing.page(self.api.store, self.kind, self._namespace, wanted, self._convert)
        for item in page.items:
            metadata = item["metadata"]
            self.api.deletions.delete(self.kind, metadata.get("namespace", ""), metadata["name"], options)
        rest = listing.Page(items=page.items, revision=page.revision)
        return self._shown_list(rest)

    # Subresources

    def _subresource(self) -> Answer | Stream:
        name = self.target.subresource
        found = self.kind.subresource(name)
        if found is None:
            if self.kind.custom is not None and name in ("status", "scale"):
                raise not_found(self.kind.plural, self.kind.group, self.target.name)
            raise unknown_resource()
        if self.verb not in found.verbs:
            raise method_not_allowed()
        if name in NEEDS_CONTAINERS:
            raise ApiError(
                501, "NotImplemented", f"the sandbox runs no containers: {self.kind.plural} have no {name} here"
            )
        match name, self.verb:
            case ("scale", _):
                return self._scale()
            case (_, "get"):
                return self._shown(self._live())
            case ("binding", "create"):
                return self._bind()
            case ("eviction", "create"):
                return self._evict()
            case ("token", "create"):
                return self._token()
            case (_, "update"):
                return self._update(name)
            case (_, "patch"):
                return self._patch(name)
            case _:
                raise method_not_allowed()

    def _scale(self) -> Answer:
        if self.verb == "get":
            return Answer(status=200, body=shown_scale(scale_of(self.kind, self._live())), yaml=self.shown_as.yaml)
        schema = scale_schema()
        writes, namespace, name = self.api.writes, self._namespace, self.target.name
        warnings: list[str] = []
        if self.verb == "update":
            options = self._write_options("UpdateOptions")
            value = parse_body(self.request.body, self.request.content_type, SCALE_KIND)
            obj, found = decoded_body(value, SCALE_KIND, schema, options.field_validation)
            self._check_identity(obj)
            warnings.extend(found)
            scale = writes.replace_scale(self.kind, namespace, name, lambda _: obj, options)
        elif self._media_type == APPLY:
            options = self._write_options("PatchOptions", applies=True)
            applied = parse_apply(self.request.body, SCALE_KIND.gvk)
            scale = writes.apply_scale(self.kind, namespace, name, applied, options)
        else:
            options = self._write_options("PatchOptions")
            patch = Patch(self._media_type, self.request.body, schema, custom=False)

            def change(live: Object) -> Object:
                obj, found = decoded_patched(patch.applied(live), live, SCALE_KIND, schema, options.field_validation)
                warnings.extend(found)
                self._check_identity(obj)
                return obj

            scale = writes.replace_scale(self.kind, namespace, name, change, options)
        return Answer(status=200, body=scale, warnings=tuple(warnings), yaml=self.shown_as.yaml)

    def _subresource_body(self) -> Object:
        """The body of a POST to a subresource, as an object of the subresource's own kind."""
        found = self.kind.subresource(self.target.subresource)
        assert found is not None
        kind = ResourceKind(
            group=found.group if found.version else self.kind.group,
            version=found.version or self.kind.version,
            kind=found.kind,
            plural=self.kind.plural,
            singular=self.kind.singular,
        )
        schema = builtin(kind.group, kind.version, kind.kind)
        assert schema is not None, kind.gvk
        body = parse_body(self.request.body, self.request.content_type, kind)
        obj, _ = decoded_body(body, kind, schema, "Ignore")
        return obj

    def _bind(self) -> Answer:
        value = self._subresource_body()
        options = self._write_options("CreateOptions")
        target = value.get("target") or {}
        self.api.bind(self._namespace, self.target.name, target.get("name", ""), dry_run=options.dry_run)
        return Answer(status=201, body=success(code=201))

    def _evict(self) -> Answer:
        value = self._subresource_body()
        options = self._write_options("CreateOptions")
        name = (value.get("metadata") or {}).get("name", "")
        if name and name != self.target.name:
            raise bad_request("name in URL does not match name in Eviction object")
        inner = value.get("deleteOptions") or {}
        wanted = delete_options({}, dry_run=self.request.dry_run, body={"kind": "DeleteOptions", **inner})
        self.api.evict(self._namespace, self.target.name, wanted, dry_run=options.dry_run)
        return Answer(status=201, body=success(code=201))

    def _token(self) -> Answer:
        account = self._live()
        value = self._subresource_body()
        return Answer(
            status=201,
            body=reviews.token_request(
                value,
                account,
                authenticator=self.authenticator,
                now=self.api.clock(),
                manager=self._write_options("CreateOptions").manager,
            ),
        )
