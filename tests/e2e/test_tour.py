"""The README's tour, as a reader runs it: every block in order, in one shell, each of its lines has to succeed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.e2e.running import Tools

pytestmark = pytest.mark.e2e

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"^<!-- tour -->\n```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_tour_of_the_readme_works(tmp_path: Path) -> None:
    blocks = BLOCK.findall(README.read_text(encoding="utf-8"))
    assert len(blocks) == README.read_text(encoding="utf-8").count("<!-- tour -->") > 0
    tools = Tools(tmp_path)
    try:
        told = tools.run("bash", "-euxo", "pipefail", "-c", "".join(blocks))
    finally:
        left = tools.kadm("sandbox", "down")
    assert told.code == 0, f"{told.out}\n{told.err}"
    assert "no sandbox runs" in left.err, "the tour's last step stops what its first one started"
    assert "spec.replicas: 1 → 4  (set by kubectl)" in told.out
    assert subprocess.run(["pgrep", "-f", str(tmp_path)], check=False, capture_output=True).stdout == b""
