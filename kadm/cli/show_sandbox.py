"""Printing a sandbox. Tokens stay in its kubeconfig."""

from __future__ import annotations

from kadm.cli.console import Console
from kadm.cli.plan_json import API_VERSION, encode
from kadm.sandbox.process import SandboxStatus


def show_sandbox(console: Console, found: SandboxStatus, *, as_json: bool) -> None:
    """Print whether a sandbox runs, and where its members serve."""
    if as_json:
        console.data(encode(sandbox_document(found)))
    elif not found.running:
        console.info(f"no sandbox runs in {found.directory}")
    else:
        console.table(("CONTEXT", "URL"), [(member.name, member.url) for member in found.members])
        console.info(f"export KUBECONFIG={found.kubeconfig}")


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
