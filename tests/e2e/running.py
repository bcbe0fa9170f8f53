"""The installed ``kadm`` and ``kubectl`` as processes, and what they said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.access import access
from tests.e2e.forked import Run, begun

BIN = Path(sys.executable).parent
TIMEOUT_S = 120
COLLECTIONS = {
    "configmap": ("api/v1", "configmaps"),
    "deployment": ("apis/apps/v1", "deployments"),
    "lease": ("apis/coordination.k8s.io/v1", "leases"),
}


@dataclass(frozen=True)
class Said:
    """What a process said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """stdout as JSON."""
        return json.loads(self.out)


@dataclass
class Tools:
    """Runs kadm and kubectl in ``cwd``, with ``env`` beside a clean environment."""

    cwd: Path
    env: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        return {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(self.cwd), "LANG": "C.UTF-8", **self.env}

    def kadm(self, *arguments: str | Path, code: int | None = 0, env: dict[str, str] | None = None) -> Said:
        """Run kadm; ``code`` is the exit code that it must have, None: any."""
        said = self.run(str(BIN / "kadm"), *arguments, env=env)
        told = f"kadm {' '.join(map(str, arguments))} exited {said.code}, not {code}\n{said.out}\n{said.err}"
        assert code is None or said.code == code, told
        assert "Traceback" not in said.err, said.err
        return said

    def kubectl(self, member: str, *arguments: str | Path, code: int | None = 0) -> Said:
        """Run kubectl against a member of the sandbox."""
        said = self.run(str(BIN / "kubectl"), "--context", member, *arguments)
        assert code is None or said.code == code, f"kubectl {' '.join(map(str, arguments))}\n{said.out}\n{said.err}"
        return said

    def get(self, member: str, *what: str) -> Any:
        """``kubectl get … -o json``, decoded. Single objects are read without kubectl: tests look again and again."""
        kind, slash, name = what[0].partition("/")
        namespace = what[2] if what[1:2] == ("-n",) else "default"
        if not slash or kind not in COLLECTIONS or "KUBECONFIG" not in self.env or len(what) not in (1, 3):
            return self.kubectl(member, "get", *what, "-o", "json").json
        prefix, plural = COLLECTIONS[kind]
        path = f"/{prefix}/namespaces/{namespace}/{plural}/{name}"
        return access(Path(self.env["KUBECONFIG"]), member).call("GET", path)

    def begin(self, *arguments: str | Path) -> Run:
        """Start kadm; ``ended`` must follow."""
        return begun([str(argument) for argument in arguments], self.cwd, self.environment())

    def ended(self, run: Run) -> Said:
        """Wait for the end of what was begun; what it said."""
        return Said(*run.ended(TIMEOUT_S))

    def run(self, *arguments: str | Path, env: dict[str, str] | None = None, stdin: str | None = None) -> Said:
        """Run any program. kadm is forked, but where it is to read something from stdin."""
        environment = {**self.environment(), **(env or {})}
        if arguments[0] == str(BIN / "kadm") and stdin is None:
            return Said(*begun([str(one) for one in arguments[1:]], self.cwd, environment).ended(TIMEOUT_S))
        done = subprocess.run(
            [str(argument) for argument in arguments],
            cwd=self.cwd,
            env=environment,
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)
