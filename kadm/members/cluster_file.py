"""The file that describes a member, edited so that what people wrote in it stays: comments, order, quotes."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kadm.errors import Location, UsageError
from kadm.model.cluster import KubeconfigRef
from kadm.model.repository import Repo

API_VERSION = "core.kubeadmiral.io/v1alpha1"
KIND = "FederatedCluster"


def file_of(repo: Repo, name: str) -> Path:
    """Where member ``name`` is described, or will be: ``NAME.yaml`` in the fleet's first directory of clusters.

    Raises UsageError where the fleet names files or patterns only.
    """
    cluster = repo.cluster(name)
    root = Path(repo.root)
    if cluster is not None:
        return root / cluster.location.path
    for entry in repo.fleet.spec.clusters:
        directory = root / entry
        if directory.is_dir() or not (any(mark in entry for mark in "*?[") or entry.endswith((".yaml", ".yml"))):
            return directory / f"{name}.yaml"
    raise UsageError(
        "kadm.yaml names no directory of clusters",
        where=Location("kadm.yaml"),
        hint="add one to spec.clusters, e.g. clusters, or write the file by hand",
    )


def shown(repo: Repo, file: Path) -> str:
    """A file of the repository as people know it: relative to kadm.yaml."""
    return os.path.relpath(file, repo.root)


def write_cluster(file: Path, name: str, *, kubeconfig: KubeconfigRef, labels: Mapping[str, str]) -> bool:
    """Describe member ``name`` in ``file``; True where that changed the file.

    A new file holds what is given. In one that exists, the given labels are set and the others stay; ``kubeconfig``
    replaces the fields that it states. Written as a whole or not at all.
    """
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    documents = _parsed(before)
    document = _document(documents, name)
    if document is None:
        document = {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}}
        documents.append(document)
    changed = _set_labels(document, labels)
    changed |= _set_kubeconfig(document, kubeconfig, default_context=name)
    if not before or changed:
        _write(file, _text(documents, before))
        return True
    return False


def remove_cluster(file: Path, name: str) -> None:
    """Take member ``name`` out of ``file``; a file that then holds nothing is deleted."""
    before = file.read_text(encoding="utf-8")
    documents = [document for document in _parsed(before) if document is not None]
    left = [document for document in documents if not _describes(document, name)]
    if left:
        _write(file, _text(left, before))
    else:
        file.unlink()


def _set_labels(document: dict[str, Any], labels: Mapping[str, str]) -> bool:
    if not labels:
        return False
    metadata = document["metadata"]
    if not metadata.get("labels"):
        metadata["labels"] = {}
    return _update(metadata["labels"], dict(sorted(labels.items())))


def _set_kubeconfig(document: dict[str, Any], kubeconfig: KubeconfigRef, *, default_context: str) -> bool:
    stated = {key: value for key, value in (("path", kubeconfig.path), ("context", kubeconfig.context)) if value}
    spec = document.get("spec") or {}
    if "context" not in (spec.get("kubeconfig") or {}) and stated.get("context") == default_context:
        del stated["context"]  # it is what an absent one means
    if not stated:
        return False
    if not document.get("spec"):
        document["spec"] = {}
    if not document["spec"].get("kubeconfig"):
        document["spec"]["kubeconfig"] = {}
    return _update(document["spec"]["kubeconfig"], stated)


def _update(mapping: dict[str, Any], values: Mapping[str, str]) -> bool:
    changed = False
    for key, value in values.items():
        if mapping.get(key) != value:
            mapping[key] = value
            changed = True
    return changed


def _document(documents: list[Any], name: str) -> dict[str, Any] | None:
    return next((document for document in documents if _describes(document, name)), None)


def _describes(document: Any, name: str) -> bool:
    return (
        isinstance(document, dict)
        and document.get("kind") == KIND
        and (document.get("metadata") or {}).get("name") == name
    )


def _round_trip(text: str) -> Any:
    """The parser and writer that keeps what it does not change, set to the text's own way of writing."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    yaml.explicit_start = text.lstrip().startswith("---")
    indented = any(line.startswith((" ", "\t")) and line.lstrip().startswith("- ") for line in text.splitlines())
    if indented:
        yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _parsed(text: str) -> list[Any]:
    return list(_round_trip(text).load_all(text)) if text.strip() else []


def _text(documents: list[Any], before: str) -> str:
    stream = io.StringIO()
    yaml = _round_trip(before)
    if len(documents) == 1:
        yaml.dump(documents[0], stream)
    else:
        yaml.dump_all(documents, stream)
    return stream.getvalue()


def _write(file: Path, text: str) -> None:
    """Replace the file in one step, so that nobody ever reads half of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(temporary).chmod(file.stat().st_mode & 0o777 if file.exists() else 0o644)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
