"""``python -m kadm``: the same as the command ``kadm``."""

from __future__ import annotations

from kadm.cli.main import run

if __name__ == "__main__":
    run()
