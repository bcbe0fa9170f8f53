"""The behaviour vectors that lie outside the repository (see KADM_TEST_DATA)."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

Case = dict[str, Any]


def cases(suite: str, *, sample: int | None = None) -> list[Any]:
    """Parameters, one per case of ``vectors/<suite>.json``, each with its id; one skipped case where there is no data.

    ``sample`` bounds how many are taken (always the same ones), unless KADM_EXHAUSTIVE=1.
    """
    folder = os.environ.get("KADM_TEST_DATA")
    if not folder:
        return [pytest.param({}, marks=pytest.mark.skip(reason="KADM_TEST_DATA is not set"))]
    found: list[Case] = msgspec.json.decode((Path(folder) / "vectors" / f"{suite}.json").read_bytes())["cases"]
    if sample is not None and os.environ.get("KADM_EXHAUSTIVE") != "1":
        found = random.Random(suite).sample(found, min(sample, len(found)))
    return [pytest.param(case, id=case["id"]) for case in found]
