"""Which kubeconfig and which context reach a member, found as kubectl finds them.

``spec.kubeconfig.path`` names a file; without it KUBECONFIG is read, which may list several, and without that
``~/.kube/config``. Several files are merged by kubectl's rules: the first that names a cluster, user or context wins,
files that do not exist are passed over, and relative paths in a file start at that file. The context is
``spec.kubeconfig.context``, else the one that is called like the member. A file inside the repository is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kadm.errors import MemberUnreachable
from kadm.model.cluster import KubeconfigRef
from kadm.model.objects import JsonObject

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PATHS_IN_CLUSTER = ("certificate-authority",)
_PATHS_IN_USER = ("client-certificate", "client-key", "tokenFile")
_MOST_CONTEXTS = 20
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is many times faster, where it is built in


@dataclass(frozen=True)
class Context:
    """One context with the cluster and user that it names, as the files have them, paths absolute.

    ``file`` is the kubeconfig that holds the user (exec commands start there), ``user`` is empty for no credentials.
    """

    name: str
    file: Path
    cluster: JsonObject
    user: JsonObject

    def __str__(self) -> str:
        return f"context {self.name} of {self.file}"


@dataclass(frozen=True)
class _Merged:
    """Several kubeconfigs as one: name → (file, entry)."""

    files: tuple[Path, ...]
    contexts: Mapping[str, tuple[Path, JsonObject]]
    clusters: Mapping[str, tuple[Path, JsonObject]]
    users: Mapping[str, tuple[Path, JsonObject]]


class Kubeconfigs:
    """The kubeconfigs that a fleet refers to; each set of files is read once.

    ``root`` is the directory of kadm.yaml: a relative ``spec.kubeconfig.path`` starts there (one in KUBECONFIG in the
    working directory, as for kubectl), and nothing inside its git repository is read.
    """

    def __init__(self, root: str, environ: Mapping[str, str]) -> None:
        self._root = Path(root).resolve()
        self._repository = _repository_of(self._root)
        self._environ = environ
        self._merged: dict[tuple[Path, ...], _Merged] = {}

    def find(self, member: str, ref: KubeconfigRef) -> Context:
        """The context that reaches ``member``.

        Raises MemberUnreachable that names the file, and the contexts that there are.
        """
        merged = self._read(member, self.files(member, ref.path))
        name = ref.context or member
        place = ", ".join(str(file) for file in merged.files)
        if name not in merged.contexts:
            raise MemberUnreachable(
                f"no context {name} in {place}",
                member=member,
                why=f"it holds {_listed(merged.contexts)}",
                hint="set spec.kubeconfig.context in the member's file, or rename the context",
            )
        file, context = merged.contexts[name]
        cluster_name, user_name = str(context.get("cluster") or ""), str(context.get("user") or "")
        if cluster_name not in merged.clusters:
            raise _malformed(member, file, f"context {name} names cluster {cluster_name!r}, which is not there")
        if user_name and user_name not in merged.users:
            raise _malformed(member, file, f"context {name} names user {user_name!r}, which is not there")
        user_file, user = merged.users[user_name] if user_name else (file, {})
        return Context(name, user_file, merged.clusters[cluster_name][1], user)

    def files(self, member: str, path: str | None) -> tuple[Path, ...]:
        """The files to merge for a ``spec.kubeconfig.path``, absolute. Raises MemberUnreachable."""
        if path:
            named = self._absolute(self._expanded(member, path))
            if not named.is_file():
                raise MemberUnreachable(
                    f"kubeconfig {named} {_fault(named)}",
                    member=member,
                    hint="create it, or correct spec.kubeconfig.path in the member's file",
                )
            found: tuple[Path, ...] = (named,)
        elif listed := self._environ.get("KUBECONFIG"):
            candidates = tuple(Path(self._home(part)).absolute() for part in listed.split(os.pathsep) if part)
            found = tuple(candidate for candidate in candidates if candidate.is_file())
            if not found:
                there = next((one for one in candidates if one.exists()), None)
                raise MemberUnreachable(
                    f"no kubeconfig: none of KUBECONFIG={listed} exists"
                    if there is None
                    else f"no kubeconfig: KUBECONFIG names {there}, and it {_fault(there)}",
                    member=member,
                    hint="correct KUBECONFIG, or set spec.kubeconfig.path in the member's file",
                )
        else:
            usual = self._absolute(self._home("~/.kube/config"))
            if not usual.is_file():
                raise MemberUnreachable(
                    f"no kubeconfig: {usual} {_fault(usual)}, and KUBECONFIG is not set",
                    member=member,
                    hint="set KUBECONFIG, or spec.kubeconfig.path in the member's file",
                )
            found = (usual,)
        for file in found:
            self.refuse_inside_repository(member, file)
        return found

    def refuse_inside_repository(self, member: str, file: Path) -> None:
        """Raise MemberUnreachable where ``file`` is, or links to, a file of the repository."""
        if file.resolve().is_relative_to(self._repository):
            raise MemberUnreachable(
                f"kubeconfig {file} is inside the repository",
                member=member,
                why="its exec plugin would run code of whoever can open a pull request, and it would hold credentials",
                hint="keep it elsewhere, e.g. in ~/.kube, and name it in spec.kubeconfig.path or KUBECONFIG",
            )

    def _expanded(self, member: str, path: str) -> str:
        def value(match: re.Match[str]) -> str:
            if match[1] not in self._environ:
                raise MemberUnreachable(
                    f"spec.kubeconfig.path is {path}, and {match[1]} is not set in the environment", member=member
                )
            return self._environ[match[1]]

        return self._home(_VARIABLE.sub(value, path))

    def _home(self, path: str) -> str:
        if path != "~" and not path.startswith("~/"):
            return path
        return (self._environ.get("HOME") or str(Path.home())) + path[1:]

    def _absolute(self, path: str) -> Path:
        return Path(os.path.normpath(self._root / path))

    def _read(self, member: str, files: tuple[Path, ...]) -> _Merged:
        if files not in self._merged:
            contents = [(file, _parsed(member, file)) for file in files]
            self._merged[files] = _Merged(
                files,
                contexts=_first_wins(member, contents, "contexts", "context", paths=()),
                clusters=_first_wins(member, contents, "clusters", "cluster", paths=_PATHS_IN_CLUSTER),
                users=_first_wins(member, contents, "users", "user", paths=_PATHS_IN_USER),
            )
        return self._merged[files]


def _repository_of(root: Path) -> Path:
    """The work tree that holds ``root``, else ``root`` itself."""
    return next((parent for parent in (root, *root.parents) if (parent / ".git").exists()), root)


def _fault(path: Path) -> str:
    """Why a path that should lead to a file does not."""
    if path.is_dir():
        return "is a directory"
    return "is no regular file" if path.exists() else "does not exist"


def _parsed(member: str, file: Path) -> JsonObject:
    try:
        content = yaml.load(file.read_bytes(), Loader=_LOADER)  # noqa: S506  # a safe loader, see _LOADER
    except OSError as error:
        raise MemberUnreachable(f"kubeconfig {file} cannot be read", member=member, why=str(error.strerror)) from error
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}" if mark is not None else ""  # its text may quote a credential
        raise MemberUnreachable(f"kubeconfig {file} is not YAML", member=member, why=place) from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise _malformed(member, file, "it is not a mapping")
    return content


def _first_wins(
    member: str, contents: list[tuple[Path, JsonObject]], plural: str, singular: str, *, paths: tuple[str, ...]
) -> dict[str, tuple[Path, JsonObject]]:
    merged: dict[str, tuple[Path, JsonObject]] = {}
    for file, content in contents:
        for name, entry in _entries(member, file, content.get(plural), plural, singular):
            absolute = {
                key: os.path.normpath(file.parent / value) if key in paths and value else value
                for key, value in entry.items()
            }
            merged.setdefault(name, (file, absolute))
    return merged


def _entries(member: str, file: Path, entries: Any, plural: str, singular: str) -> Iterator[tuple[str, JsonObject]]:
    if not isinstance(entries or [], list):
        raise _malformed(member, file, f"{plural} is not a list")
    for item in entries or ():
        if not isinstance(item, dict) or "name" not in item:
            raise _malformed(member, file, f"an entry of {plural} has no name")
        entry = item.get(singular)
        if not isinstance(entry or {}, dict):
            raise _malformed(member, file, f"{plural} {item['name']} is not a mapping")
        yield str(item["name"]), entry or {}


def _malformed(member: str, file: Path, why: str) -> MemberUnreachable:
    return MemberUnreachable(f"kubeconfig {file} is not usable", member=member, why=why)


def _listed(contexts: Mapping[str, object]) -> str:
    names = sorted(contexts)
    if not names:
        return "no context at all"
    shown = ", ".join(names[:_MOST_CONTEXTS])
    more = len(names) - _MOST_CONTEXTS
    return f"the contexts {shown}" + (f" and {more} more" if more > 0 else "")
