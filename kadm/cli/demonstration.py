"""The story that ``kadm demo`` tells: an ordinary day's commands, on a fleet of embedded members.

Each step says in a sentence why, then runs kadm as its user would. What is shown comes from the commands themselves.
"""

from __future__ import annotations

import shlex
import time
from pathlib import Path

from kadm.cli.console import Console
from kadm.cli.demo_hand import scale
from kadm.cli.demo_stage import Stage, stage
from kadm.cli.exit_code import ExitCode
from kadm.cli.interrupts import interrupts
from kadm.cli.plan_json import API_VERSION, encode

REGIONS = {"eu-1": "eu", "eu-2": "eu", "us-1": "us"}
"""Member → its region, in the order of the sandbox's contexts."""


def demonstrate(console: Console, directory: Path | None, *, keep: bool, as_json: bool = False) -> ExitCode:
    """Tell the story, then take everything back; with ``keep`` say how to go on instead.

    ``directory`` is where the fleet's files go, None: a temporary one. Whatever ends the demo early, an interrupt
    included, nothing of it is left. Raises UsageError where ``directory`` is not empty, KadmError where a step fails.
    """
    begun = time.monotonic()
    with interrupts() as taken, stage(console, taken, directory, keep=keep, as_json=as_json) as here:
        _tell(here)
    seconds = time.monotonic() - begun
    if as_json:
        kept = {"fleet": str(here.fleet), "kubeconfig": str(here.kubeconfig)} if keep else {}
        document = {"apiVersion": API_VERSION, "kind": "Demo", "seconds": round(seconds, 1), "steps": here.steps}
        console.data(encode(document | kept))
    elif keep:
        _say_how_to_go_on(here, removable=directory is None)
    else:
        console.data(
            f"\nThat was kadm, in {seconds:.0f} seconds. The members are stopped, and nothing is left behind.\n"
            "Next: kadm demo --keep, to play with it; kadm init, for a fleet of your own."
        )
    return ExitCode.FINE


def _tell(here: Stage) -> None:
    here.step("Three small Kubernetes clusters to try it on, served by one process on this machine.")
    here.start_members(len(REGIONS))

    here.step(
        "Join them to a fleet: a directory of native manifests and KubeAdmiral policies. No credential enters it."
    )
    for number, (name, region) in enumerate(REGIONS.items(), start=1):
        here.kadm("join", name, "--context", f"member{number}", "--label", f"region={region}")

    here.step("The plan says what would change in each member. Nothing is written yet.")
    here.kadm("plan")

    here.step("Apply does it, and waits until everything is ready. Web's 6 replicas are divided 3 : 2 : 1.")
    here.kadm("apply", "--yes", "--quiet")
    here.kadm("status")

    here.step("Scale up, and move weight to America: the plan says which replicas move between which members.")
    here.edit("manifests/web.yaml", [("replicas: 6", "replicas: 8")])
    here.edit(
        "policies/placement.yaml",
        [
            ("eu-1, preferences: {weight: 3}", "eu-1, preferences: {weight: 1}"),
            ("us-1, preferences: {weight: 1}", "us-1, preferences: {weight: 5}"),
        ],
    )
    here.kadm("plan")

    here.step("A move creates before it deletes: eu-1 gives up its replicas when us-1's new ones are ready.")
    here.kadm("apply", "--yes", "--quiet")
    here.kadm("status")

    here.step("Somebody scales a member by hand. The plan names the field, and who set it.")
    here.by_hand("kubectl --context member3 scale --namespace shop deployment/web --replicas=1")
    scale(here.members, "member3", "shop", "web", replicas=1)
    here.kadm("plan")

    here.step("Git wins: apply takes it back. What runs now, member by member:")
    here.kadm("apply", "--yes", "--quiet")
    here.kadm("status", "--output", "wide")


def _say_how_to_go_on(here: Stage, *, removable: bool) -> None:
    base = here.sandbox.parent
    files = [base] if removable else [base, here.fleet]
    here.console.data(
        "\nThe members go on running. To go on:\n"
        f"  cd {shlex.quote(str(here.fleet))}\n"
        f"  export KUBECONFIG={shlex.quote(str(here.kubeconfig))}\n"
        "  kadm status\n"
        "To stop the members, and remove the files:\n"
        f"  kadm sandbox down --dir {shlex.quote(str(here.sandbox))} && rm -r {shlex.join(map(str, files))}"
    )
