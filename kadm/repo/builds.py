"""Manifests that a tool makes: a directory with kustomization.yaml by kustomize, one with Chart.yaml by helm.

The tools are the user's own, and what they read is the repository alone: what would be fetched is refused, plugins stay
off, and of a commit they see an export. What they print is read like a file, whose name says how to see it again.
"""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kadm.errors import Location, Problem, RepoError
from kadm.model.fleet import Helm
from kadm.model.objects import at
from kadm.repo.documents import MAX_BYTES, Document, read_documents
from kadm.repo.kustomizations import built_from, kustomization_file
from kadm.repo.program import Ran, run
from kadm.repo.selection import CHART_FILE
from kadm.repo.tree import Tree, walk

TIMEOUT_S: Final = 120.0
"""How long one build may take."""

AT_ONCE: Final = 4
"""Builds at the same time."""

_LONGEST_WHY = 1500
_KLOG = re.compile(r'[EFIW]\d{4} [\d:.]+ +\d+ [\w.]+:\d+\] (?:"command failed" err=)?')
"""What kubectl begins a complaint with: time and process would make every message another one."""
_HOOK = "helm.sh/hook"
_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class Build:
    """One directory to build. ``where`` is the place in kadm.yaml that asks for it; ``helm`` is None for kustomize."""

    directory: str
    where: Location
    helm: Helm | None = None


@dataclass
class Built:
    """What a build gave: its documents, lists not expanded, and what there is to say."""

    documents: list[Document] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def build(tree: Tree, builds: Sequence[Build], environ: Mapping[str, str]) -> list[Built]:
    """What each of ``builds`` gives, in their order. Nothing is run for one that reads more than the repository."""
    prepared: list[tuple[Build, _Command] | Built] = []
    files: set[str] = set()
    for one in builds:
        try:
            command, reads = _helm(tree, one, environ) if one.helm is not None else _kustomize(tree, one, environ)
            prepared.append((one, command))
            files.update(reads)
        except RepoError as error:
            prepared.append(Built(problems=list(error.problems)))
    if not files:
        return [one for one in prepared if isinstance(one, Built)]
    with tree.on_disk(sorted(files)) as root, ThreadPoolExecutor(AT_ONCE) as pool:

        def built(one: tuple[Build, _Command] | Built) -> Built:
            return one if isinstance(one, Built) else _built(*one, root, environ)

        return list(pool.map(built, prepared))


@dataclass(frozen=True)
class _Command:
    """A program's call; a directory stands for that of kadm.yaml while it runs. ``values`` become a file of their own,
    named behind ``--values``. ``file`` is what makes the directory one to build; ``twice`` compares two runs."""

    tool: str
    arguments: tuple[str, ...]
    file: str
    values: Mapping[str, object] = field(default_factory=dict)
    twice: bool = False

    @property
    def shown(self) -> str:
        """What a person would call it."""
        return " ".join((Path(self.tool).name, self.arguments[0]))


def _kustomize(tree: Tree, one: Build, environ: Mapping[str, str]) -> tuple[_Command, list[str]]:
    directories, problems = built_from(tree, one.directory)
    if problems:
        raise RepoError(problems)
    for name, verb in (("kustomize", "build"), ("kubectl", "kustomize")):
        tool = shutil.which(name, path=environ.get("PATH"))
        if tool is not None:
            file = kustomization_file(tree, one.directory) or one.directory
            return _Command(tool, (verb, one.directory), file), list(_files(tree, directories))
    raise RepoError(
        [
            Problem(
                what=f"{one.directory} is built by kustomize, and neither kustomize nor kubectl is there to do it",
                where=one.where,
                hint="install one of them; or commit what kustomize build prints, and name that instead",
            )
        ]
    )


def _helm(tree: Tree, one: Build, environ: Mapping[str, str]) -> tuple[_Command, list[str]]:
    assert one.helm is not None
    said = one.helm
    missing = [
        Problem(
            what=f"{file} does not exist",
            where=one.where,
            hint="helm.valuesFiles of kadm.yaml are relative to kadm.yaml",
        )
        for file in said.values_files
        if tree.kind(file) != "file"
    ]
    if missing:
        raise RepoError(missing)
    tool = shutil.which("helm", path=environ.get("PATH"))
    if tool is None:
        what = f"{one.directory} is rendered by helm, which is not there"
        hint = "install helm; or commit what helm template prints, and name that instead"
        raise RepoError([Problem(what=what, where=one.where, hint=hint)])
    arguments = (
        "template",
        said.release_name,
        one.directory,
        f"--namespace={said.namespace}",
        "--include-crds",  # objects like any other here
        "--skip-tests",  # pods that test a release once it is there
        *(f"--values={file}" for file in said.values_files),
        *((f"--kube-version={said.kube_version}",) if said.kube_version else ()),
        *(f"--api-versions={version}" for version in said.api_versions),
    )
    reads = [*_files(tree, [one.directory]), *said.values_files]
    file = posixpath.normpath(posixpath.join(one.directory, CHART_FILE))
    return _Command(tool, arguments, file, said.values, twice=True), reads


def _files(tree: Tree, directories: Iterable[str]) -> Iterator[str]:
    """All files below ``directories``. Raises RepoError for a link out of the repository: a chart can read any file."""
    for directory in directories:
        for inner in walk(tree, directory, hidden=True):
            for name in tree.names(inner, hidden=True):
                path = posixpath.normpath(posixpath.join(inner, name))
                if tree.kind(path) == "file":
                    yield path


def _built(one: Build, command: _Command, root: Path, environ: Mapping[str, str]) -> Built:
    with tempfile.TemporaryDirectory(prefix="kadm-") as private:
        arguments = list(command.arguments)
        if command.values:
            values = Path(private, "values.json")
            values.write_text(json.dumps(command.values), encoding="utf-8")
            arguments.append(f"--values={values}")
        ran = [_run(command, arguments, root, environ)]
        if command.twice and not ran[0].failure:
            ran.append(_run(command, arguments, root, environ))
    if ran[-1].failure:
        return Built(problems=[_failure(command, ran[-1], root)])
    read = read_documents(ran[0].output, f"{one.directory} ({command.shown})")
    built = Built(list(read.documents), list(read.problems))
    if not built.documents and not built.problems:
        what = f"{command.shown} makes nothing of {one.directory}"
        hint = "if nothing is meant, take it out of the repository"
        built.problems.append(Problem(what=what, where=Location(command.file), hint=hint))
    if ran[0].output != ran[-1].output:
        built.problems.append(_unsteady(command, read.documents, ran[-1].output))
    if one.helm is not None:
        built.problems += [said for document in read.documents if (said := _hook(document)) is not None]
    return built


def _run(command: _Command, arguments: Sequence[str], root: Path, environ: Mapping[str, str]) -> Ran:
    whole = [command.tool, *arguments]
    return run(whole, directory=root, environ=environ, timeout_s=TIMEOUT_S, max_bytes=MAX_BYTES)


def _failure(command: _Command, ran: Ran, root: Path) -> Problem:
    """Why nothing can be built, in the tool's words: where its own files were stays out of them."""
    said = ran.complaint.replace(f"{root.resolve()}/", "").replace(f"{root}/", "")
    lines = " ".join(_KLOG.sub("", line.strip()) for line in said.splitlines() if line.strip())
    shown = lines if len(lines) <= _LONGEST_WHY else f"{lines[:_LONGEST_WHY]} …"
    return Problem(
        what=f"{command.shown} failed" if shown else f"{command.shown} failed: {ran.failure}",
        where=Location(command.file),
        why=shown if not shown or ran.failure.startswith("it ended") else f"{ran.failure}: {shown}",
        hint=_hint(shown),
    )


def _hint(complaint: str) -> str:
    """What to do where the tool speaks of what kadm does not give it."""
    if "--enable-helm" in complaint:
        return "name the chart in spec.manifests of kadm.yaml, with helm"
    if "--enable-alpha-plugins" in complaint or "--enable-exec" in complaint:
        return "kadm runs no plugins: commit what they make"
    if "not allowed" in complaint and "transport" in complaint:
        return "nothing is fetched: copy it into the repository"
    if "missing in charts/" in complaint:
        return "commit what helm dependency build puts into charts/"
    return ""


def _unsteady(command: _Command, first: Sequence[Document], again: bytes) -> Problem:
    """A chart that makes a new password each time would have every apply change it."""
    before = [document.value for document in first]
    differing = [one.value for one in read_documents(again, command.file).documents if one.value not in before]
    names = [f"{one.get('kind')}/{at(one, ('metadata', 'name'))}" for one in differing]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return Problem(
        what=f"{command.shown} gives something else each time: {', '.join(names[:_NAMED])}{more}",
        where=Location(command.file),
        why="the chart makes random values, or looks at the clock, and every apply would write anew",
        hint="set what it makes in helm.values; or commit what helm template prints, and name that instead",
    )


def _hook(document: Document) -> Problem | None:
    """Helm's hooks run at points of a release that kadm does not have."""
    hook = at(document.value, ("metadata", "annotations", _HOOK))
    if hook is None:
        return None
    return Problem(
        what=f"the object is a hook ({hook}), and is applied as any other",
        where=document.locate(("metadata", "annotations", _HOOK)),
        hint="a value of most charts turns it off",
        severity="warning",
    )
