"""The value of a Secret appears in no output and no file, as text or base64, at any verbosity."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.canary import shown
from tests.e2e.running import Tools

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("plain", [pytest.param(True, id="stringData"), pytest.param(False, id="data")])
def test_no_secret_is_shown(plain: bool, fleet: Callable[..., Path], sandbox: Path, tools: Tools) -> None:
    assert shown(tools, fleet({}), plain=plain, apart=sandbox) == []
