"""What a member serves outside its resources: discovery, version, health, OpenAPI."""

from __future__ import annotations

from kadm.sandbox import discovery, openapi
from kadm.sandbox.exchange import Answer, Request
from kadm.sandbox.media import accepted
from kadm.sandbox.responses import NothingServed, method_not_allowed, unknown_resource
from kadm.sandbox.served import ServedKinds
from kadm.sandbox.store import Object

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


def document(kinds: ServedKinds, request: Request) -> Answer:
    """The document under a path that names no resource. Raises ApiError 404, 405 or 406, NothingServed."""
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
        return Answer(status=200, body=body, media_parameters=f";g=apidiscovery.k8s.io;v=v2;as={discovery.AGGREGATED}")
    accepted(request.accept)
    return Answer(status=200, body=body)
