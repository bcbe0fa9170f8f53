"""Requests to a resource: reading, writing and deleting objects of one kind."""

from __future__ import annotations

from dataclasses import dataclass

from kadm.sandbox import deletion, listing, reviews, watches
from kadm.sandbox.api import ApiServer
from kadm.sandbox.auth import Authenticator, Authorizer, User
from kadm.sandbox.bodies import decoded_body, decoded_patched, parse_apply, parse_body
from kadm.sandbox.exchange import Answer, Request, Stream
from kadm.sandbox.identity import check_identity, check_namespace
from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.patching import APPLY, Patch
from kadm.sandbox.presentation import Presenter
from kadm.sandbox.requests import (
    DeleteOptions,
    ListOptions,
    OptionsKind,
    Target,
    WriteOptions,
    delete_options,
    list_options,
    write_options,
)
from kadm.sandbox.responses import ApiError, method_not_allowed, not_found
from kadm.sandbox.served import resource_name
from kadm.sandbox.store import Object

DEFAULT_WATCH_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceCall:
    """One request to a resource, allowed to its user."""

    api: ApiServer
    authenticator: Authenticator
    authorizer: Authorizer
    request: Request
    target: Target
    verb: str
    kind: ResourceKind
    user: User
    presenter: Presenter

    def answer(self) -> Answer | Stream:
        """Do what is asked. Raises ApiError."""
        if self.verb not in self.kind.verbs or not self._names_rightly():
            raise method_not_allowed()
        if self.kind.namespaced and not self.target.namespace and self.verb == "create":
            raise method_not_allowed()
        match self.verb:
            case "get":
                return self.presenter.one(self.live())
            case "list":
                return self._list(list_options(self.request.query))
            case "watch":
                return self._watch(list_options(self.request.query, watch=True))
            case "create":
                return self._create()
            case "update":
                return self.update()
            case "patch":
                return self.patch()
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
    def namespace(self) -> str:
        """The namespace of the path; "" for cluster-scoped kinds, also where they have one in it."""
        return self.target.namespace if self.kind.namespaced else ""

    def live(self) -> Object:
        """The object that the path names, in the version of the path. Raises ApiError 404."""
        found = self.api.store.get(resource_name(self.kind), self.namespace, self.target.name)
        if found is None:
            raise not_found(self.kind.plural, self.kind.group, self.target.name)
        listing.check_reached(self.api.store, self.request.query.get("resourceVersion", ""))
        return self.presenter.convert(found)

    def _list(self, options: ListOptions) -> Answer:
        page = listing.page(self.api.store, self.kind, self.namespace, options, self.presenter.convert)
        return self.presenter.page(page)

    def _watch(self, options: ListOptions) -> Answer | Stream:
        found = watches.start(
            self.api.store, self.kind, self.namespace, self.target.name, options, self.presenter.convert
        )
        if isinstance(found, ApiError):
            notice = {"type": "ERROR", "object": found.status}
            return Stream(watch=watches.ended([notice]), show=lambda item: item, timeout_s=0.0, bookmark=None)
        return Stream(
            watch=found,
            show=self.presenter.notices(),
            timeout_s=float(options.timeout_s) if options.timeout_s else DEFAULT_WATCH_S,
            bookmark=(lambda: watches.bookmark(self.kind, self.api.store.revision)) if options.bookmarks else None,
        )

    # Writing

    def write_options(self, kind: OptionsKind, *, applies: bool = False) -> WriteOptions:
        """The options of the write that the request is. Raises ApiError 422."""
        return write_options(
            kind,
            self.request.query,
            user_agent=self.request.user_agent,
            username=self.user.name,
            dry_run=self.request.dry_run,
            applies=applies,
        )

    def _create(self) -> Answer:
        options = self.write_options("CreateOptions")
        value = parse_body(self.request.body, self.request.content_type, self.kind)
        obj, warnings = decoded_body(value, self.kind, self.api.kinds.schema(self.kind), options.field_validation)
        check_namespace(self.kind, obj, self.namespace)
        if not self.kind.stored:
            return Answer(status=201, body=self._review(obj, options), warnings=warnings)
        created = self.api.writes.create(self.kind, obj, self.namespace, options)
        return self.presenter.one(created, status=201, warnings=warnings)

    def _review(self, obj: Object, options: WriteOptions) -> Object:
        return reviews.review(
            self.kind,
            obj,
            user=self.user,
            namespace=self.namespace,
            authenticator=self.authenticator,
            authorizer=self.authorizer,
            manager=options.manager,
            now=self.api.now(),
            schema=self.api.kinds.schema(self.kind),
        )

    def update(self, subresource: str = "") -> Answer:
        """PUT the object, or a part of it."""
        options = self.write_options("UpdateOptions")
        value = parse_body(self.request.body, self.request.content_type, self.kind)
        obj, warnings = decoded_body(value, self.kind, self.api.kinds.schema(self.kind), options.field_validation)
        self.check_identity(obj)
        replaced, created = self.api.writes.replace(
            self.kind, self.namespace, self.target.name, obj, options, subresource=subresource
        )
        return self.presenter.one(replaced, status=201 if created else 200, warnings=warnings)

    def patch(self, subresource: str = "") -> Answer:
        """PATCH the object, or a part of it."""
        if self.request.media_type == APPLY:
            return self._apply(subresource)
        options = self.write_options("PatchOptions")
        warnings: list[str] = []
        schema = self.api.kinds.schema(self.kind)
        patch = Patch(self.request.media_type, self.request.body, schema, custom=self.kind.custom is not None)

        def change(live: Object) -> Object:
            obj, found = decoded_patched(patch.applied(live), live, self.kind, schema, options.field_validation)
            warnings.extend(found)
            self.check_identity(obj)
            return obj

        changed = self.api.writes.update(
            self.kind, self.namespace, self.target.name, change, options, subresource=subresource
        )
        return self.presenter.one(changed, warnings=tuple(warnings))

    def _apply(self, subresource: str) -> Answer:
        options = self.write_options("PatchOptions", applies=True)
        applied = parse_apply(self.request.body, self.kind.gvk)
        result, created = self.api.writes.apply(
            self.kind, self.namespace, self.target.name, applied, options, subresource=subresource
        )
        return self.presenter.one(result, status=201 if created else 200)

    def check_identity(self, obj: Object) -> None:
        """Raise ApiError 400 unless an object of the request is the one that the path names."""
        check_identity(self.kind, obj, self.namespace, self.target.name)

    # Deleting

    def _delete(self) -> Answer:
        options = self._delete_options()
        last, gone = self.api.deletions.delete(self.kind, self.namespace, self.target.name, options)
        return self.presenter.plain(deletion.answer(self.kind, last, gone=gone))

    def _delete_options(self) -> DeleteOptions:
        body = None
        if self.request.body.strip():
            body = parse_body(self.request.body, self.request.content_type, None).value
        return delete_options(self.request.query, dry_run=self.request.dry_run, body=body)

    def _delete_collection(self) -> Answer:
        options = self._delete_options()
        wanted = list_options(self.request.query)
        page = listing.page(self.api.store, self.kind, self.namespace, wanted, self.presenter.convert)
        for item in page.items:
            metadata = item["metadata"]
            self.api.deletions.delete(self.kind, metadata.get("namespace", ""), metadata["name"], options)
        rest = listing.Page(items=page.items, revision=page.revision)
        return self.presenter.page(rest)
