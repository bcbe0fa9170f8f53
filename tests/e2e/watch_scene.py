"""A daemon at work whose members or repository fall ill: what it does, and by which metric an operator sees it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from kadm.members.connection import FAILURES
from tests.e2e.daemon import Daemon, watching
from tests.e2e.relay import Relay
from tests.e2e.running import Tools
from tests.e2e.served import address, document, get
from tests.e2e.watched_fleet import MEMBERS, config

ILL = "member2"
WELL = ("member1", "member3")
WITHIN_S = 90.0
"""A member is taken for lost after two pulses of 10 s that wait 5 s each, and tried again ever more seldom."""


@dataclass
class Scene:
    """A daemon at work, and how it is looked at. ``tools`` and ``told`` go past the relays."""

    tools: Tools
    daemon: Daemon
    root: Path
    url: str
    namespace: str = "default"
    """Where the workload and the ConfigMap are."""

    def metric(self, name: str, **labels: str) -> float | None:
        """The value of one series, None where there is no such series."""
        for family in text_string_to_metric_families(get(f"{self.url}/metrics")[1]):
            for sample in family.samples:
                if sample.name == name and sample.labels == labels:
                    return sample.value
        return None

    def count(self, name: str, **labels: str) -> float:
        """The value of a counter, 0 where it has not counted yet."""
        return self.metric(name, **labels) or 0.0

    def failures(self, code: str) -> float:
        """Requests to the ill member that failed so."""
        assert code in FAILURES
        return self.count("kadm_member_request_failures_total", member=ILL, code=code)

    def up(self, member: str = ILL) -> bool:
        return self.metric("kadm_member_up", member=member) == 1

    def until(self, true: Callable[[], bool], what: str) -> None:
        self.daemon.wait_until(true, what, within_s=WITHIN_S)

    def write(self, value: str) -> None:
        """Change what git wants of ConfigMap c."""
        (self.root / "manifests/c.yaml").write_text(config(value))

    def value(self, member: str) -> str:
        """What ConfigMap c holds in a member."""
        found: str = self.tools.get(member, "configmap/c", "-n", self.namespace)["data"]["v"]
        return found

    def drift(self) -> None:
        """Change it in the ill member, as somebody else."""
        patch = ("--type=merge", "-p", '{"data": {"v": "drifted"}}')
        self.tools.kubectl(ILL, "patch", "configmap/c", "-n", self.namespace, *patch)

    def spreads_to(self, members: tuple[str, ...], value: str) -> None:
        def there() -> bool:
            return all(self.value(name) == value for name in members)

        self.until(there, f"{value} does not come to {', '.join(members)}")

    def copies(self) -> dict[str, dict[str, Any]]:
        """Of Deployment web, as the API tells it: member → its copy."""
        found = document(f"{self.url}/api/v1/workloads")["workloads"]
        return {copy["cluster"]: copy for copy in found[0]["members"]}

    def settled(self) -> dict[str, list[Any]]:
        """What is in the members once all of it runs, and has come to rest."""
        self.until(lambda: self.metric("kadm_workloads", health="Healthy") == 1, "it does not run")
        self.daemon.wait_until_settled()
        return identities(self.tools, self.namespace)

    def nothing_moved(self, before: dict[str, list[Any]]) -> None:
        """Everything is the very object that it was, as large as it was."""
        assert identities(self.tools, self.namespace) == before, "nothing was moved, deleted or made anew"
        names = ("kadm_migrations_total", "kadm_failovers_total", "kadm_moves")
        assert [self.metric(name) for name in names] == [0, 0, 0]


def identities(tools: Tools, namespace: str = "default") -> dict[str, list[Any]]:
    """Member → kind, name and uid of its ConfigMaps, Deployments and pods, and the generation where there is one."""
    found: dict[str, list[Any]] = {}
    for member in MEMBERS:
        items = [(one["kind"], one["metadata"]) for one in tools.get(member, "cm,deploy,po", "-n", namespace)["items"]]
        found[member] = sorted((kind, one["name"], one["uid"], one.get("generation", 0)) for kind, one in items)
    return found


@contextmanager
def scene(
    tools: Tools, root: Path, *arguments: str | Path, kubeconfig: Path | None = None, namespace: str = "default"
) -> Iterator[Scene]:
    """A daemon that follows the directory, or what the arguments say; ``kubeconfig`` is the way it takes."""
    own = Tools(tools.cwd, {**tools.env, **({"KUBECONFIG": str(kubeconfig)} if kubeconfig else {})})
    source = arguments if "--repo" in arguments else ("-C", root, *arguments)
    flags = ("--interval", "1s", "--request-timeout", "3", "--listen", "127.0.0.1:0")
    with watching(own, *source, *flags) as daemon:
        url = address(daemon)
        daemon.wait_until(lambda: get(f"{url}/readyz")[0] == 200, "it does not get ready", within_s=WITHIN_S)
        yield Scene(tools, daemon, root, url, namespace)


def is_lost_and_back(it: Scene, relay: Relay, vanishes: Callable[[Relay], None], code: str) -> None:
    """The ill member, whose ``relay`` this is, vanishes and comes back, and nothing is deleted or moved because of it.

    It is shown as stale, then as current, and what was committed meanwhile comes to it. ``code`` is how requests fail.
    """
    before = it.settled()
    assert (it.up(), it.failures(code), it.metric("kadm_copies", member=ILL, health="Healthy")) == (True, 0, 1)
    vanishes(relay)
    it.write("second")
    it.spreads_to(WELL, "second")
    it.until(lambda: not it.up(), "it is not found to be lost")
    it.until(lambda: it.metric("kadm_copies", member=ILL, health="Unknown") == 1, "what it runs does not get stale")
    assert it.failures(code) > 0
    assert [it.up(name) for name in WELL] == [True, True]
    assert it.metric("kadm_member_pulse_duration_seconds", member=ILL) is None
    stale = {name: (bool(one["staleSince"]), one["health"]["code"]) for name, one in it.copies().items()}
    assert stale == {**dict.fromkeys(WELL, (False, "Healthy")), ILL: (True, "Unknown")}
    said = it.tools.kadm("status", "--daemon", it.url, code=4)
    assert (f"{ILL} 2/2 (stale)" in said.out, f"error: {ILL}" in said.err) == (True, True)
    wide = it.tools.kadm("status", "--daemon", it.url, "-o", "wide", code=4)
    assert re.search(rf"{ILL} .* Unknown +nothing was heard of {ILL} since ", wide.out)
    it.nothing_moved(before)

    relay.heal()
    it.until(it.up, "it is not found again")
    it.spreads_to(MEMBERS, "second")
    it.until(lambda: it.metric("kadm_copies", member=ILL, health="Healthy") == 1, "it does not become current")
    assert {one["staleSince"] for one in it.copies().values()} == {""}
    of_members = it.tools.kadm("-C", it.root, "status", "-o", "json").json
    assert it.tools.kadm("status", "--daemon", it.url, "-o", "json").json == of_members
    assert f"{ILL} 2/2\n" in it.tools.kadm("status", "--daemon", it.url).out.replace(", member3 2/2", "")
    it.daemon.wait_until_settled()
    it.nothing_moved(before)
    lost = [(one["member"], one["message"]) for one in it.daemon.of("lost")]
    assert ({member for member, _ in lost}, len(set(lost))) == ({ILL}, len(lost)), "each reason is told once"


def refuse(relay: Relay) -> None:
    relay.refuse()


def black_hole(relay: Relay) -> None:
    relay.black_hole()
