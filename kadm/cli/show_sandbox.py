"""Printing a sandbox. Tokens stay in its kubeconfig."""

from __future__ import annotations

import shlex
from pathlib import Path

from kadm.cli.console import Console
from kadm.cli.plan_json import API_VERSION, encode
from kadm.sandbox.process import SandboxStatus


def show_sandbox(console: Console, found: SandboxStatus, *, as_json: bool) -> None:
    """Print whether a sandbox runs, where its members serve, and how kadm and kubectl find them."""
    if as_json:
        console.data(encode(sandbox_document(found)))
    elif not found.running:
        console.info(f"no sandbox runs in {found.directory}")
    else:
        show_members(console, found)
        console.data(f"export KUBECONFIG={shlex.quote(found.kubeconfig)}")


def show_members(console: Console, found: SandboxStatus) -> None:
    """Print the members of a running sandbox."""
    console.table(("CONTEXT", "URL"), [(member.name, member.url) for member in found.members])


def sandbox_document(found: SandboxStatus) -> dict[str, object]:
    """The sandbox as a document of kind SandboxStatus."""
    return {
        "apiVersion": API_VERSION,
        "kind": "SandboxStatus",
        "directory": found.directory,
        "running": found.running,
        "kubeconfig": found.kubeconfig,
        "members": [{"name": member.name, "context": member.name, "url": member.url} for member in found.members],
    }


def show_stopped(console: Console, place: Path, *, ran: bool, as_json: bool) -> None:
    """Tell whether a sandbox was stopped, or none ran."""
    if as_json:
        document = {"apiVersion": API_VERSION, "kind": "SandboxStopped", "directory": str(place), "ran": ran}
        console.data(encode(document))
    else:
        console.info(f"the sandbox in {place} is down" if ran else f"no sandbox runs in {place}")


def show_fault(console: Console, member: str, mode: str, *, as_json: bool) -> None:
    """Tell what a member suffers from now."""
    if as_json:
        console.data(encode({"apiVersion": API_VERSION, "kind": "SandboxFault", "member": member, "mode": mode}))
    else:
        console.info(f"{member} is well again" if mode == "none" else f"{member}: {mode}")
