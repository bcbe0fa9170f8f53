"""Joining and unjoining members, told to the person who asked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from kadm.cli.console import Console
from kadm.cli.exit_code import ExitCode, exit_code
from kadm.cli.plan_json import API_VERSION, encode
from kadm.cli.planning import load
from kadm.errors import UsageError
from kadm.model.objects import ObjectKey

if TYPE_CHECKING:
    from kadm.members.unjoin import Unjoined


async def run_join(
    console: Console,
    directory: Path,
    name: str,
    *,
    context: str | None,
    kubeconfig: str | None,
    labels: list[str],
    as_json: bool,
    request_timeout_s: float,
) -> ExitCode:
    """Join one member."""
    from kadm.members.join import join

    joined = await join(
        load(directory),
        name,
        context=context,
        kubeconfig=kubeconfig,
        labels=_labels(labels),
        request_timeout_s=request_timeout_s,
    )
    if as_json:
        console.data(encode({"apiVersion": API_VERSION, "kind": "Joined", **msgspec.to_builtins(joined)}))
    else:
        done = "wrote" if joined.file_changed else "unchanged:"
        console.data(f"{name} is a member ({joined.version or 'version unknown'}); {done} {joined.file}")
    console.problems(joined.warnings)
    return exit_code(problems=joined.warnings)


async def run_unjoin(
    console: Console,
    directory: Path,
    name: str,
    *,
    objects: Literal["refuse", "release", "delete"],
    yes: bool,
    as_json: bool,
    request_timeout_s: float,
) -> ExitCode:
    """Unjoin one member; deleting is asked for first."""
    from kadm.members.unjoin import unjoin

    if objects == "delete" and not yes:
        if not console.interactive:
            raise UsageError("unjoin --delete asks before it deletes, and nobody is here to answer", hint="add --yes")
        if not console.confirm(f"Delete what kadm created in {name}?"):
            console.info("nothing was done")
            return ExitCode.ERROR
    left = await unjoin(load(directory), name, objects=objects, request_timeout_s=request_timeout_s)
    if as_json:
        console.data(encode(_unjoined_document(left)))
    else:
        console.data(f"{name} is no member any more: removed {left.file}")
        for word, keys in (("released", left.released), ("deleted", left.deleted)):
            if keys:
                console.data(f"{word} {len(keys)} objects")
        for key, why in left.kept.items():
            console.data(f"released, not deleted: {key}: {why}")
    return ExitCode.FINE


def _labels(texts: list[str]) -> dict[str, str]:
    """``K=V`` texts as a map. Raises UsageError for anything else."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--label {text} is not of the form key=value")
        found[name] = value
    return found


def _unjoined_document(left: Unjoined) -> dict[str, Any]:
    def objects(keys: Iterable[ObjectKey]) -> list[Any]:
        return [msgspec.to_builtins(key) for key in keys]

    return {
        "apiVersion": API_VERSION,
        "kind": "Unjoined",
        "name": left.name,
        "file": left.file,
        "released": objects(left.released),
        "deleted": objects(left.deleted),
        "kept": [{**msgspec.to_builtins(key), "why": why} for key, why in left.kept.items()],
    }
