"""Requests to a subresource: status, scale, binding, eviction, tokens."""

from __future__ import annotations

from kadm.sandbox import reviews
from kadm.sandbox.bodies import decoded_body, decoded_patched, parse_apply, parse_body
from kadm.sandbox.exchange import Answer
from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.patching import APPLY, Patch
from kadm.sandbox.requests import delete_options
from kadm.sandbox.resource_call import ResourceCall
from kadm.sandbox.responses import ApiError, bad_request, method_not_allowed, not_found, success, unknown_resource
from kadm.sandbox.schema import builtin
from kadm.sandbox.store import Object
from kadm.sandbox.subresources import SCALE_KIND, scale_of, scale_schema, shown_scale

NEEDS_CONTAINERS = frozenset({"attach", "exec", "log", "portforward", "proxy"})
"""Subresources that would have to reach into a running container."""


def answer_subresource(call: ResourceCall) -> Answer:
    """Do what is asked of a subresource. Raises ApiError."""
    name = call.target.subresource
    found = call.kind.subresource(name)
    if found is None:
        if call.kind.custom is not None and name in ("status", "scale"):
            raise not_found(call.kind.plural, call.kind.group, call.target.name)
        raise unknown_resource()
    if call.verb not in found.verbs:
        raise method_not_allowed()
    if name in NEEDS_CONTAINERS:
        raise ApiError(501, "NotImplemented", f"the sandbox runs no containers: {call.kind.plural} have no {name} here")
    match name, call.verb:
        case ("scale", _):
            return _scale(call)
        case (_, "get"):
            return call.presenter.one(call.live())
        case ("binding", "create"):
            return _bind(call)
        case ("eviction", "create"):
            return _evict(call)
        case ("token", "create"):
            return _token(call)
        case (_, "update"):
            return call.update(name)
        case (_, "patch"):
            return call.patch(name)
        case _:
            raise method_not_allowed()


def _scale(call: ResourceCall) -> Answer:
    if call.verb == "get":
        return call.presenter.plain(shown_scale(scale_of(call.kind, call.live())))
    schema = scale_schema()
    writes, namespace, name = call.api.writes, call.namespace, call.target.name
    warnings: list[str] = []
    if call.verb == "update":
        options = call.write_options("UpdateOptions")
        value = parse_body(call.request.body, call.request.content_type, SCALE_KIND)
        obj, found = decoded_body(value, SCALE_KIND, schema, options.field_validation)
        call.check_identity(obj)
        warnings.extend(found)
        scale = writes.replace_scale(call.kind, namespace, name, lambda _: obj, options)
    elif call.request.media_type == APPLY:
        options = call.write_options("PatchOptions", applies=True)
        applied = parse_apply(call.request.body, SCALE_KIND.gvk)
        scale = writes.apply_scale(call.kind, namespace, name, applied, options)
    else:
        options = call.write_options("PatchOptions")
        patch = Patch(call.request.media_type, call.request.body, schema, custom=False)

        def change(live: Object) -> Object:
            obj, found = decoded_patched(patch.applied(live), live, SCALE_KIND, schema, options.field_validation)
            warnings.extend(found)
            call.check_identity(obj)
            return obj

        scale = writes.replace_scale(call.kind, namespace, name, change, options)
    return call.presenter.plain(scale, warnings=tuple(warnings))


def _body(call: ResourceCall) -> Object:
    """The body of a POST to a subresource, as an object of the subresource's own kind."""
    found = call.kind.subresource(call.target.subresource)
    assert found is not None
    kind = ResourceKind(
        group=found.group if found.version else call.kind.group,
        version=found.version or call.kind.version,
        kind=found.kind,
        plural=call.kind.plural,
        singular=call.kind.singular,
    )
    schema = builtin(kind.group, kind.version, kind.kind)
    assert schema is not None, kind.gvk
    body = parse_body(call.request.body, call.request.content_type, kind)
    obj, _ = decoded_body(body, kind, schema, "Ignore")
    return obj


def _bind(call: ResourceCall) -> Answer:
    value = _body(call)
    options = call.write_options("CreateOptions")
    target = value.get("target") or {}
    call.api.bind(call.namespace, call.target.name, target.get("name", ""), dry_run=options.dry_run)
    return call.presenter.plain(success(code=201), status=201)


def _evict(call: ResourceCall) -> Answer:
    value = _body(call)
    options = call.write_options("CreateOptions")
    name = (value.get("metadata") or {}).get("name", "")
    if name and name != call.target.name:
        raise bad_request("name in URL does not match name in Eviction object")
    inner = value.get("deleteOptions") or {}
    wanted = delete_options({}, dry_run=call.request.dry_run, body={"kind": "DeleteOptions", **inner})
    call.api.evict(call.namespace, call.target.name, wanted, dry_run=options.dry_run)
    return call.presenter.plain(success(code=201), status=201)


def _token(call: ResourceCall) -> Answer:
    account = call.live()
    value = _body(call)
    issued = reviews.token_request(
        value,
        account,
        authenticator=call.authenticator,
        now=call.api.clock(),
        manager=call.write_options("CreateOptions").manager,
    )
    return call.presenter.plain(issued, status=201)
