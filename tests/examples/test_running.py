"""The unit, the image and the texts call kadm as it can be called."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kadm.watch.serving import DEFAULT_LISTEN
from kadm.watch.serving.pages import page_files
from tests.examples.commands import EXAMPLES, calls, known_flags

ROOT = EXAMPLES.parent
UNIT = EXAMPLES / "watch/kadm-watch.service"
FILES = [path for path in sorted(EXAMPLES.glob("watch/*")) + sorted(EXAMPLES.glob("ci/*")) if path.is_file()]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_every_flag_in_an_example_exists(path: Path) -> None:
    unknown = {
        (command, flag)
        for command, flags in calls(path.read_text(encoding="utf-8"))
        for flag in flags
        if flag not in known_flags(command)
    }
    assert unknown == set()


def test_examples_hold_calls_at_all() -> None:
    found = {command for path in FILES for command, _ in calls(path.read_text(encoding="utf-8"))}
    assert {"watch", "plan", "apply", "status", "validate"} <= found


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.suffix == ".md"], ids=lambda path: str(path.parent.name)
)
def test_links_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)\)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's keys have capitals
    parser.read_string(UNIT.read_text(encoding="utf-8"))
    return parser


def test_the_unit_restricts_what_kadm_does_not_need() -> None:
    service = unit()["Service"]
    assert {name: service[name] for name in ("ProtectSystem", "NoNewPrivileges", "CapabilityBoundingSet", "UMask")} == {
        "ProtectSystem": "strict",
        "NoNewPrivileges": "yes",
        "CapabilityBoundingSet": "",
        "UMask": "0077",
    }
    assert service["User"] != "root"


def test_the_unit_lets_it_see_processes() -> None:
    assert not {"ProtectProc", "ProcSubset"} & set(unit()["Service"])


def test_variables_of_the_unit_are_set() -> None:
    used = set(re.findall(r"\$\{(KADM_\w+)\}", UNIT.read_text(encoding="utf-8")))
    told = dict(re.findall(r"^(\w+)=(.*)$", (EXAMPLES / "watch/watch.env").read_text(encoding="utf-8"), re.MULTILINE))
    assert used <= set(told)
    assert told["KADM_LISTEN"] == DEFAULT_LISTEN


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    here = tmp_path / UNIT.name
    here.write_text(UNIT.read_text(encoding="utf-8").replace("/opt/kadm/bin/kadm", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(here)], capture_output=True, text=True, timeout=60, check=False
    )
    told = [line for line in done.stderr.splitlines() if UNIT.name in line]
    assert told == []


def test_what_the_image_copies_is_there() -> None:
    text = (EXAMPLES / "watch/Containerfile").read_text(encoding="utf-8")
    copied = [name for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE) for name in line.split()[:-1]]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert re.findall(r"^USER (.+)$", text, re.MULTILINE) == ["65532:65532"]


def test_the_page_is_part_of_the_package() -> None:
    assert {
        "/",
        "/main.js",
        "/grid.js",
        "/model.js",
        "/panel.js",
        "/live.js",
        "/elements.js",
        "/kadm.css",
        "/icon.svg",
    } == set(page_files())
