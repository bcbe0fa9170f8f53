"""The programs of a control plane, in the directory that ``KUBEBUILDER_ASSETS`` names, and the flags they take."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "KUBEBUILDER_ASSETS"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


class NoControlPlane(Exception):
    """There is no control plane to start here; the text says why."""


@dataclass(frozen=True)
class Binaries:
    """The directory that holds all of ``PROGRAMS``."""

    directory: Path

    def path(self, program: str) -> str:
        return str(self.directory / program)

    def help(self, program: str) -> str:
        """What the program says of its flags."""
        said = subprocess.run([self.path(program), "--help"], capture_output=True, text=True, timeout=60, check=False)
        return said.stdout + said.stderr

    def insecure_port_off(self, program: str) -> list[str]:
        """Before 1.24 the controller manager and the scheduler open a fixed insecure port too, unless told not to."""
        return ["--port=0"] if "--port int" in self.help(program) else []

    def without_fsync(self) -> list[str]:
        """Nothing here has to survive a power cut; etcd takes this flag from 3.5 on."""
        return ["--unsafe-no-fsync"] if "--unsafe-no-fsync" in self.help("etcd") else []


def binaries() -> Binaries:
    """Those of ``KUBEBUILDER_ASSETS``. Raises NoControlPlane where it is unset, or lacks one."""
    named = os.environ.get(VARIABLE)
    if not named:
        raise NoControlPlane(f"{VARIABLE} is not set: it names a directory with {', '.join(PROGRAMS)}")
    missing = [program for program in PROGRAMS if not os.access(Path(named) / program, os.X_OK)]
    if missing:
        raise NoControlPlane(f"{VARIABLE}={named} lacks {', '.join(missing)}")
    return Binaries(Path(named).resolve())
