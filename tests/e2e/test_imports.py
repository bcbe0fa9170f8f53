"""What starting kadm costs, and which way its imports run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

HEAVY = {"aiohttp", "asyncio", "deepdiff", "jsonpatch", "kubernetes", "ruamel", "yaml"}

START = """
import json, sys
from kadm.cli.main import main
try:
    code = main(sys.argv[1:])
except SystemExit as ended:  # the way in which a completion ends
    code = ended.code
sys.stderr.write(json.dumps([code, sorted(sys.modules)]))
"""


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        pytest.param(["--version"], {}, id="--version"),
        pytest.param(["--help"], {}, id="--help"),
        pytest.param(["plan", "--help"], {}, id="plan --help"),
        pytest.param(["completion", "bash"], {}, id="completion bash"),
        pytest.param(
            [],
            {"_KADM_COMPLETE": "complete_bash", "COMP_WORDS": "kadm plan --cluster ", "COMP_CWORD": "3"},
            id="completing a member",
        ),
        pytest.param(
            [],
            {"_KADM_COMPLETE": "complete_bash", "COMP_WORDS": "kadm explain deploy/", "COMP_CWORD": "2"},
            id="completing an object",
        ),
        pytest.param(
            [], {"_KADM_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "kadm sandbox "}, id="completing in zsh"
        ),
    ],
)
def test_a_start_imports_nothing_heavy(arguments: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", START, *arguments],
        env={"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(tmp_path), **environment},
        cwd=ROOT / "examples" / "shop",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout
    code, modules = json.loads(done.stderr)
    ours = {name for name in modules if name.startswith("kadm.") and not name.startswith(("kadm.cli", "kadm.errors"))}
    assert (code, ours, HEAVY & set(modules)) == (0, set(), set())


def test_imports_run_one_way() -> None:
    linter = pytest.importorskip("importlinter.cli")
    assert linter.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == 0
