"""What a daemon costs: ``python -m tests.benchmarks.watching [MEMBERS [CONFIGS [WORKLOADS]]]``. Needs Linux's /proc.

Prints a table; checks nothing. MEMBERS (200) sandbox members run in a process of their own, the daemon in another: what
is counted is the daemon's own time on a processor and its own memory, so that the members beside it do not count. Each
member gets CONFIGS (20) ConfigMaps and WORKLOADS (5) Deployments. Times are also given as multiples of a reference that
is measured in the same run (encoding and decoding 1,000 small objects as JSON), memory beyond that of the same daemon
over one member, so that numbers can be compared between machines.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.process import down, up
from tests.e2e.conftest import CLUSTER, EVERYWHERE, FLEET
from tests.e2e.daemon import Daemon, watching
from tests.e2e.running import Tools

WITHIN_S = 900.0
QUIET_S = 20.0
IDLE_S = 60.0
ATTEMPTS = 20
TICKS = os.sysconf("SC_CLK_TCK")

CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {{name: c{number}, namespace: default}}
data: {{v: {value}}}
"""

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web{number}, namespace: default}}
spec:
  selector: {{matchLabels: {{app: web{number}}}}}
  template:
    metadata: {{labels: {{app: web{number}}}}}
    spec: {{containers: [{{name: app, image: "app:1"}}]}}
"""


@dataclass(frozen=True)
class Cost:
    """What a process has cost until now: seconds on a processor, and KiB that it holds and once held."""

    cpu_s: float
    held: int
    peak: int


def reference() -> float:
    """Seconds on a processor of the work that all times are compared with: the least of some runs."""
    objects = [{"kind": "ConfigMap", "metadata": {"name": f"c{one}"}, "data": {"v": "x" * 100}} for one in range(1000)]
    took = []
    for _ in range(ATTEMPTS):
        began_s = time.process_time()
        json.loads(json.dumps(objects))
        took.append(time.process_time() - began_s)
    return min(took)


def cost(pid: int) -> Cost:
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    memory = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    held, peak = (int(memory[name].split()[0]) for name in ("VmRSS", "VmHWM"))
    return Cost((int(times[11]) + int(times[12])) / TICKS, held, peak)


@dataclass
class Table:
    """Prints one row after the other. ``base`` is what the daemon holds over one member, 0: that is measured now."""

    members: int
    unit_s: float
    base: int = 0

    @contextmanager
    def row(self, title: str, daemon: Daemon, *, new: bool = False) -> Iterator[None]:
        """Measure the block; ``new``: from the start of the process."""
        pid, began_s, planned = daemon.process.pid, time.monotonic(), plans(daemon)
        before = Cost(0.0, 0, 0) if new else cost(pid)
        yield
        took_s, after = time.monotonic() - began_s, cost(pid)
        cpu_s = after.cpu_s - before.cpu_s
        each = (after.held - self.base) / self.members
        cells = (
            f"{title:34}{plans(daemon) - planned:6}{took_s:9.1f}{cpu_s:9.2f}{cpu_s / took_s:8.1%}",
            f"{cpu_s / self.members * 1000:11.1f}{cpu_s / self.unit_s:13.0f}",
            f"{after.held / 1024:9.0f}{after.peak / 1024:9.0f}{each:13.0f}",
        )
        print("".join(cells), flush=True)


HEAD = (
    f"{'':34}{'plans':>6}{'seconds':>9}{'cpu s':>9}{'cpu':>8}{'ms/member':>11}{'× reference':>13}{'MiB':>9}{'peak':>9}"
    f"{'KiB/member':>13}"
)


def until(daemon: Daemon, true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not true():
        if daemon.process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"it did not come to that:\n{daemon.text}")
        time.sleep(0.1)


def plans(daemon: Daemon) -> int:
    """How many it has begun."""
    return sum('"planning: ' in line for line in daemon.lines)


def until_quiet(daemon: Daemon) -> None:
    """Wait until it has planned, and has neither said nor done anything for a while."""

    def quiet() -> bool:
        said, used_s = len(daemon.lines), cost(daemon.process.pid).cpu_s
        time.sleep(QUIET_S)
        idle = cost(daemon.process.pid).cpu_s - used_s < QUIET_S / 4
        return idle and len(daemon.lines) == said and plans(daemon) > 0

    until(daemon, quiet)


def write(root: Path, members: int, configs: int, workloads: int, *, value: str) -> None:
    """The fleet's directory."""
    files = {"kadm.yaml": FLEET, "policies/everywhere.yaml": EVERYWHERE}
    files["manifests/c.yaml"] = "---\n".join(CONFIG.format(number=number, value=value) for number in range(configs))
    files["manifests/web.yaml"] = "---\n".join(WEB.format(number=number) for number in range(workloads))
    for number in range(1, members + 1):
        files[f"clusters/member{number}.yaml"] = CLUSTER.format(name=f"member{number}")
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def measured(tools: Tools, table: Table, configs: int, workloads: int) -> int:
    """Print what the daemon costs over so many new members; gives the KiB that it holds at rest."""
    root = tools.cwd / "fleet"

    def put(value: str) -> None:
        write(root, table.members, configs, workloads, value=value)

    put("first")
    with watching(tools, "-C", root, "--listen", "none") as daemon:
        with table.row("start: everything is read", daemon, new=True):
            until(daemon, lambda: plans(daemon) > 0)
        with table.row("everything is applied", daemon):
            until(daemon, lambda: bool(daemon.of("applied")))
        with table.row("it comes to rest", daemon):
            until_quiet(daemon)
        with table.row("idle", daemon):
            time.sleep(IDLE_S if table.base else 1)
        with table.row(f"a commit that changes {configs} of {configs + workloads}", daemon):
            put("second")
            daemon.process.send_signal(signal.SIGHUP)
            until(daemon, lambda: len(daemon.of("applied")) > 1)
            until_quiet(daemon)
        daemon.stop()
    with watching(tools, "-C", root, "--listen", "none") as daemon:
        with table.row("started again: all is read", daemon, new=True):
            until(daemon, lambda: plans(daemon) > 0)
        with table.row("nothing is to do", daemon):
            until_quiet(daemon)
        held = cost(daemon.process.pid).held
        daemon.stop()
    return held


def main(members: int = 200, configs: int = 20, workloads: int = 5) -> None:
    unit_s = reference()
    print(f"{members} members of {configs} ConfigMaps and {workloads} Deployments; reference: {unit_s * 1000:.2f} ms\n")
    with tempfile.TemporaryDirectory(prefix="kadm-benchmark-") as directory:
        base = 0
        for count in (1, members):
            home = Path(directory, str(count))
            home.mkdir()
            up(home / "sandbox", SandboxOptions(members=count, nodes=1))
            try:
                print(f"{f'over {count}':34}{HEAD[34:]}")
                tools = Tools(home, {"KUBECONFIG": str(home / "sandbox/kubeconfig")})
                base = measured(tools, Table(count, unit_s, base), configs, workloads)
            finally:
                down(home / "sandbox")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
