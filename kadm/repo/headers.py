"""What every object says of itself: apiVersion, kind and metadata, checked as an API server checks them."""

from __future__ import annotations

import re

from msgspec import Struct

from kadm.errors import Problem
from kadm.model.objects import GroupVersionKind, Path
from kadm.model.selector import SelectorError, check_labels
from kadm.repo.decode import decode, shown
from kadm.repo.documents import Document

_MAX_ANNOTATIONS = 256 * 1024

_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_PATH_SEGMENT = re.compile(r"(?!\.\.?\Z)[^/%]+")
_API_VERSION = re.compile(r"(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?[a-z][a-z0-9]*")

# (group, kind) whose names are DNS labels, and groups whose names are any path segment; all others are subdomains.
_NAMED_BY_LABEL = {("", "Namespace"), ("", "Service")}
_NAMED_FREELY = {"rbac.authorization.k8s.io"}
_NAMED_FREELY_KINDS = {("", "Event"), ("events.k8s.io", "Event"), ("networking.k8s.io", "IPAddress")}


class Metadata(Struct, frozen=True, rename="camel"):
    """The part of an object's metadata that kadm looks at."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    deletion_timestamp: str | None = None


class Header(Struct, frozen=True, rename="camel"):
    """The head of an object."""

    api_version: str
    kind: str
    metadata: Metadata

    @property
    def gvk(self) -> GroupVersionKind:
        group, _, version = self.api_version.rpartition("/")
        return GroupVersionKind(group, version, self.kind)


def read_header(document: Document) -> Header:
    """The head of the object. Raises RepoError with all that is wrong with it; never names values of a Secret."""
    return decode(document, Header, secret=document.value.get("kind") == "Secret")


def header_problems(header: Header, document: Document) -> list[Problem]:
    """Everything that an API server would refuse about the head of an object."""
    metadata, gvk = header.metadata, header.gvk
    problems = []

    def add(path: Path, what: str, hint: str = "", *, key: bool = False) -> None:
        problems.append(Problem(what=what, where=document.locate(path, key=key), hint=hint))

    if not header.kind:
        add(("kind",), "`kind` is empty")
    if not _API_VERSION.fullmatch(header.api_version):
        add(
            ("apiVersion",),
            f"{shown(header.api_version)} is no apiVersion",
            "write group/version, or v1 for the core group",
        )
    if not metadata.name and metadata.generate_name:
        hint = "write metadata.name: every run would make another object"
        add(("metadata", "generateName"), "`metadata.generateName` cannot stand for a name", hint, key=True)
    elif not metadata.name:
        add(("metadata",), "`metadata.name` is missing")
    elif fault := name_fault(gvk.group, gvk.kind, metadata.name):
        add(("metadata", "name"), f"{shown(metadata.name)} cannot name a {gvk.kind}", fault)
    if metadata.namespace and (fault := namespace_fault(metadata.namespace)):
        add(("metadata", "namespace"), f"{shown(metadata.namespace)} cannot name a namespace", fault)
    for key, value in metadata.labels.items():
        try:
            check_labels({key: value})
        except SelectorError as error:
            add(("metadata", "labels", key), str(error), key=True)
    for key in metadata.annotations:
        try:
            check_labels({key.lower(): ""})
        except SelectorError:
            add(("metadata", "annotations", key), f"{key!r} is no annotation key", key=True)
    if sum(len(key.encode()) + len(value.encode()) for key, value in metadata.annotations.items()) > _MAX_ANNOTATIONS:
        add(
            ("metadata", "annotations"),
            "the annotations have more than 262,144 bytes, which API servers refuse",
            key=True,
        )
    return problems


def name_fault(group: str, kind: str, name: str) -> str:
    """Why ``name`` cannot name an object of the kind, in words; empty where it can."""
    if group in _NAMED_FREELY or (group, kind) in _NAMED_FREELY_KINDS:
        return "" if _PATH_SEGMENT.fullmatch(name) else 'it may not hold "/" or "%"'
    if (group, kind) in _NAMED_BY_LABEL:
        return namespace_fault(name)
    if len(name) <= 253 and _SUBDOMAIN.fullmatch(name):
        return ""
    return "use lower-case letters, digits, - and ., a letter or digit at both ends, 253 at most"


def namespace_fault(name: str) -> str:
    """Why ``name`` cannot name a namespace, in words; empty where it can."""
    if len(name) <= 63 and _LABEL.fullmatch(name):
        return ""
    return "use lower-case letters, digits and -, a letter or digit at both ends, 63 at most"
