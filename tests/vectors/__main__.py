"""``python -m tests.vectors FILE…`` runs files of vectors, prints each difference, and exits 1 where there is one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.vectors.case import VectorsError
from tests.vectors.deviations import RULES
from tests.vectors.running import Outcome, run_file


def main(files: Sequence[str]) -> int:
    """The exit code: 0 where all cases pass, 1 where one does not, 2 for wrong usage."""
    if not files:
        print("usage: python -m tests.vectors FILE…", file=sys.stderr)
        return 2
    total = Outcome()
    for file in files:
        try:
            outcome = run_file(Path(file))
        except VectorsError as error:
            print(error, file=sys.stderr)
            return 2
        for difference in outcome.differences:
            print(f"{Path(file).name}: {difference}")
        total.add(outcome)
    for row, count in sorted(total.claims.items()):
        print(f"deviation {row}: {count} ({RULES[row]})")
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
