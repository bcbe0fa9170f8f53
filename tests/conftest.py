"""What all tests share: where the shared data is."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

DATA_VARIABLE = "KADM_TEST_DATA"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-golden", action="store_true", help="write golden texts instead of comparing with them")


def pytest_configure() -> None:
    """What tests start can be interrupted, also where they were started in the background of a shell themselves."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Three for two processors: tests that watch members do nothing but wait for half of their time."""
    return (os.cpu_count() or 1) * 3 // 2


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The directory with vectors/ and real-manifests/. Skips where none is named; a name that is wrong is a failure."""
    named = os.environ.get(DATA_VARIABLE)
    if not named:
        pytest.skip(f"{DATA_VARIABLE} names no directory with vectors/ and real-manifests/")
    path = Path(named)
    assert (path / "vectors").is_dir(), f"{DATA_VARIABLE}={named} holds no vectors/"
    return path
