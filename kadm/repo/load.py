"""The repository as a whole: every file read, every fault listed, nothing half loaded."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from kadm.errors import Location, Problem, RepoError
from kadm.model.cluster import FederatedCluster
from kadm.model.fleet import Entry, Fleet, Helm
from kadm.model.objects import ObjectKey
from kadm.model.objects import Path as ObjectPath
from kadm.model.policy import PolicyKind
from kadm.model.repository import Manifest, Repo, Revision
from kadm.repo.binding import Binder, Source, ignored_label_problems, source_of
from kadm.repo.builds import Build, build
from kadm.repo.clusters import Surroundings, read_cluster
from kadm.repo.decode import decode
from kadm.repo.documents import Document, read_documents
from kadm.repo.git import find_git
from kadm.repo.ignore_rules import ignore_rule_problems
from kadm.repo.manifests import NativeObject, defined_scopes, expanded, read_object
from kadm.repo.policies import Policies, twice
from kadm.repo.references import namespace_problems, profile_problems, reference_problems
from kadm.repo.selection import FLEET_FILE, select
from kadm.repo.tree import CommitTree, Tree, WorkTree

_FIELD_OF_KIND: dict[PolicyKind, str] = {
    "PropagationPolicy": "propagationPolicy",
    "ClusterPropagationPolicy": "clusterPropagationPolicy",
    "OverridePolicy": "overridePolicy",
    "ClusterOverridePolicy": "clusterOverridePolicy",
}


class NoFleet(RepoError):
    """There is no kadm.yaml where it was looked for."""


def load(directory: Path, *, ref: str | None = None, environ: Mapping[str, str] | None = None) -> Repo:
    """The fleet's repository in ``directory``, which holds kadm.yaml; at commit ``ref``, else as the work tree has it.

    ``environ`` is the environment, by default the process's own. Raises RepoError with every problem of every file;
    warnings alone are in ``Repo.warnings``.
    """
    root = Path(os.path.abspath(directory))  # noqa: PTH100  # links in the path stay: messages and kubeconfigs use it
    with _opened(root, ref) as (tree, top, revision):
        loader = _Loader(tree, Surroundings(root, top, os.environ if environ is None else environ))
        return loader.load(str(root), revision)


@contextmanager
def _opened(root: Path, ref: str | None) -> Iterator[tuple[Tree, Path, Callable[[], Revision | None]]]:
    """The files, the top of the repository, and what tells the revision once all is read."""
    if not root.is_dir():
        raise RepoError([Problem(what=f"{root} is no directory", hint="name the directory that holds kadm.yaml")])
    git = find_git(root)
    if git is None:
        if ref is not None:
            what = f"{root} is in no git repository, so there is no commit {ref}"
            raise RepoError([Problem(what=what, hint="leave out --ref")])
        yield WorkTree(root, root), root, lambda: None
    elif ref is None:
        tree = WorkTree(root, git.top)
        yield tree, git.top, lambda: git.revision(tree.files_read)
    else:
        commit = git.commit(ref)
        with git.contents() as contents:
            yield CommitTree(git.entries(commit), git.prefix, contents), git.top, lambda: Revision(commit)


@dataclass
class _Loader:
    """One run of load. ``problems`` collects what is found on the way."""

    tree: Tree
    surroundings: Surroundings
    problems: list[Problem] = field(default_factory=list)
    _policies: Policies = field(default_factory=Policies)
    _clusters: dict[str, FederatedCluster] = field(default_factory=dict)

    def load(self, root: str, revision: Callable[[], Revision | None]) -> Repo:
        document, fleet = self._fleet()
        cluster_files = self._files(document, "clusters", fleet.spec.clusters)
        policy_files = self._files(document, "policies", fleet.spec.policies)
        members_known = self._read_clusters(cluster_files)
        self._read_policies(policy_files, fleet)
        manifests = self._manifests(document, fleet, claimed={*cluster_files, *policy_files})
        if members_known:
            self.problems += reference_problems(fleet, document, set(self._clusters), self._policies)
        self.problems += profile_problems(self._policies)
        self.problems.sort(key=lambda problem: (problem.where or Location(""), problem.what))
        if any(problem.severity == "error" for problem in self.problems):
            raise RepoError(self.problems)
        policies = self._policies
        return Repo(
            root=root,
            fleet=fleet,
            revision=revision(),
            clusters=tuple(self._clusters[name] for name in sorted(self._clusters)),
            manifests=manifests,
            propagation_policies={key: policies.propagation[key] for key in sorted(policies.propagation)},
            override_policies={key: policies.override[key] for key in sorted(policies.override)},
            profiles={name: policies.profiles[name] for name in sorted(policies.profiles)},
            webhooks={name: policies.webhooks[name] for name in sorted(policies.webhooks)},
            type_configs={name: policies.type_configs[name] for name in sorted(policies.type_configs)},
            warnings=tuple(self.problems),
        )

    def _fleet(self) -> tuple[Document, Fleet]:
        """kadm.yaml. Without it nothing else can be found, so its faults are raised at once."""
        if self.tree.kind(FLEET_FILE) != "file":
            what = f"there is no {FLEET_FILE} in {self.surroundings.root}"
            raise NoFleet([Problem(what=what, hint=_where_the_fleet_is(self.surroundings.root))])
        documents = self._documents(FLEET_FILE)
        if not any(problem.severity == "error" for problem in self.problems) and len(documents) != 1:
            where = documents[1].location if documents else Location(FLEET_FILE)
            what = f"{FLEET_FILE} must hold one document, and holds {len(documents)}"
            self.problems.append(Problem(what=what, where=where))
        if any(problem.severity == "error" for problem in self.problems):
            raise RepoError(self.problems)
        (document,) = documents
        fleet = decode(document, Fleet)
        self.problems += namespace_problems(fleet, document)
        self.problems += ignore_rule_problems(fleet, document)
        return document, fleet

    def _documents(self, file: str) -> list[Document]:
        """The documents of a file; its problems are collected."""
        try:
            data = self.tree.read(file)
        except RepoError as error:
            self.problems += error.problems
            return []
        read = read_documents(data, file)
        self.problems += read.problems
        return list(read.documents)

    def _files(self, document: Document, field_name: str, entries: tuple[str, ...]) -> list[str]:
        """The files of ``spec.clusters`` or ``spec.policies``, each once."""
        files: dict[str, None] = {}
        written = field_name in (document.value.get("spec") or {})
        for index, entry in enumerate(entries):
            try:
                if written or self.tree.kind(entry) != "absent":  # nobody has to have the default directory
                    where = document.locate(("spec", field_name, index))
                    files.update(dict.fromkeys(select(self.tree, entry, where).files))
            except RepoError as error:
                self.problems += error.problems
        return list(files)

    def _read_clusters(self, files: list[str]) -> bool:
        """Reads the members; False where some could not be read, so that a name of theirs may be missing."""
        first: dict[str, Document] = {}
        for file in files:
            for document in self._documents(file):
                try:
                    cluster = read_cluster(document, self.surroundings)
                except RepoError as error:
                    self.problems += error.problems
                    continue
                if cluster.name in first:
                    self.problems.append(twice(f"member {cluster.name}", document, first[cluster.name]))
                first.setdefault(cluster.name, document)
                self._clusters.setdefault(cluster.name, cluster)
        return not any(problem.severity == "error" for problem in self.problems)

    def _read_policies(self, files: list[str], fleet: Fleet) -> None:
        for file in files:
            for document in self._documents(file):
                self.problems += self._policies.add(document, fleet.spec.namespace)

    def _manifests(self, document: Document, fleet: Fleet, *, claimed: set[str]) -> tuple[Manifest, ...]:
        """The native objects by key, bound to their policies."""
        binder = Binder(self._policies.keys)
        default = source_of("default", fleet.spec.defaults, _places(document, ("spec", "defaults")))
        binder.check(default)
        bound: dict[int, tuple[str, tuple[Source, ...]]] = {}
        for index, entry in enumerate(fleet.spec.manifests):
            bound[index] = fleet.spec.namespace, (default,)
            if isinstance(entry, Entry):
                own = source_of("entry", entry, _places(document, ("spec", "manifests", index)))
                binder.check(own)
                bound[index] = entry.namespace or fleet.spec.namespace, (own, default)
        files, builds = self._manifest_files(document, fleet, claimed)
        found = [(one, *bound[index]) for file, index in sorted(files.items()) for one in self._objects(file)]
        found += [(one, *bound[index]) for one, index in self._built(builds)]
        scopes = defined_scopes([one for one, _, _ in found], self._policies.type_configs)
        natives: dict[ObjectKey, NativeObject] = {}
        manifests: dict[ObjectKey, Manifest] = {}
        for one, namespace, sources in found:
            native, problems = read_object(one, namespace, scopes)
            self.problems += problems
            if native is None:
                continue
            if native.key in natives:
                self.problems.append(twice(str(native.key), one, natives[native.key].document))
                continue
            natives[native.key] = native
            self.problems += ignored_label_problems(native)
            binding = binder.bind(native, sources)
            manifests[native.key] = Manifest(
                key=native.key,
                version=native.header.api_version.rpartition("/")[2],
                object=native.value,
                location=one.location,
                locate=one.locate,
                namespaced=native.namespaced,
                propagation=binding.propagation,
                overrides=binding.overrides,
            )
        self.problems += binder.problems
        return tuple(manifests[key] for key in sorted(manifests))

    def _manifest_files(
        self, document: Document, fleet: Fleet, claimed: set[str]
    ) -> tuple[dict[str, int], dict[int, list[Build]]]:
        """File → index of the entry that it belongs to: of several that name it, the one with the longest path. And
        index of entry → the directories of it that a tool has to build."""
        files: dict[str, int] = {}
        builds: dict[str, int] = {}
        found: dict[int, list[Build]] = {}
        paths = [entry.path if isinstance(entry, Entry) else entry for entry in fleet.spec.manifests]
        for index in sorted(range(len(paths)), key=lambda index: (-len(paths[index]), index)):
            entry = fleet.spec.manifests[index]
            inner: ObjectPath = ("path",) if isinstance(entry, Entry) else ()
            where = document.locate(("spec", "manifests", index, *inner))
            try:
                selection = select(self.tree, paths[index], where, skip=claimed, builds=True)
            except RepoError as error:
                self.problems += error.problems
                continue
            for file in selection.files:
                files.setdefault(file, index)
            charts = [directory for directory, tool in selection.built if tool == "helm"]
            if isinstance(entry, Entry) and entry.helm is not None and len(charts) != 1:
                what = (
                    f"helm is said of {entry.path}, where there are {len(charts)} charts"
                    if charts
                    else (f"helm is said of {entry.path}, where there is no Chart.yaml")
                )
                at = document.locate(("spec", "manifests", index, "helm"))
                self.problems.append(Problem(what=what, where=at, hint="name the directory of one chart as path"))
                continue
            for directory, tool in selection.built:
                if builds.setdefault(directory, index) == index:
                    helm = _helm(entry, directory, fleet) if tool == "helm" else None
                    found.setdefault(index, []).append(Build(directory=directory, where=where, helm=helm))
        return files, found

    def _built(self, builds: dict[int, list[Build]]) -> Iterator[tuple[Document, int]]:
        """The objects that tools make, lists expanded, each with the index of its entry."""
        indexed = sorted(
            ((one, index) for index, ones in builds.items() for one in ones), key=lambda one: one[0].directory
        )
        for (_, index), built in zip(
            indexed, build(self.tree, [one for one, _ in indexed], self.surroundings.environ), strict=True
        ):
            self.problems += built.problems
            for document in built.documents:
                yield from ((one, index) for one in self._expanded(document))

    def _objects(self, file: str) -> Iterator[Document]:
        """The documents of a file of manifests, lists expanded."""
        for document in self._documents(file):
            yield from self._expanded(document)

    def _expanded(self, document: Document) -> Iterator[Document]:
        try:
            yield from expanded(document)
        except RepoError as error:
            self.problems += error.problems


def _helm(entry: str | Entry, directory: str, fleet: Fleet) -> Helm:
    """How the chart in ``directory`` is rendered: as its entry says, the rest filled in."""
    said = (entry.helm if isinstance(entry, Entry) else None) or Helm()
    around = (entry.namespace if isinstance(entry, Entry) else "") or fleet.spec.namespace
    name = posixpath.basename(directory) if directory != "." else fleet.name
    return replace(said, release_name=said.release_name or name, namespace=said.namespace or around)


def _places(document: Document, path: ObjectPath) -> dict[PolicyKind, Location]:
    """Policy kind → the place in kadm.yaml that may name one under ``path``."""
    return {kind: document.locate((*path, name)) for kind, name in _FIELD_OF_KIND.items()}


def _where_the_fleet_is(root: Path) -> str:
    """What to do where ``root`` holds no kadm.yaml: a directory above it may."""
    for parent in root.parents:
        if (parent / FLEET_FILE).is_file():
            return f"the fleet is in a directory above: -C {os.path.relpath(parent)}"
    return "kadm init makes one; or name the directory that holds it"
