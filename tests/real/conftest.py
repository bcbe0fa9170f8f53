"""Members of both sorts, shared by all tests here and stopped after the last; fleets of each test's own."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.running import Tools
from tests.e2e.small_fleet import Shared, shared_members
from tests.real.binaries import NoControlPlane
from tests.real.fleet import Fleet, sweep
from tests.real.members import Members, Sort, real, sandbox

MakeFleet = Callable[..., Fleet]
Get = Callable[[Sort], Members]


@pytest.fixture(scope="session")
def run_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that all processes of this run share (with xdist, each worker has its own below it)."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if base.name.startswith("popen-") else base


@pytest.fixture(scope="session")
def members_of(run_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Get]:
    """Members of the sort that is asked for, started at the first question. Skips where they cannot be."""
    running: dict[Sort, Members] = {}
    ill: list[RuntimeError] = []
    with ExitStack() as stack:

        def get(sort: Sort) -> Members:
            if sort == "real" and ill:
                raise ill[0]  # one long wait for what does not start is enough
            if sort not in running:
                own = tmp_path_factory.mktemp(sort)
                try:
                    members = sandbox(own / "fleet") if sort == "sandbox" else real(own, run_directory / "real-fleet")
                    running[sort] = stack.enter_context(members)
                except NoControlPlane as reason:
                    pytest.skip(f"no real control plane: {reason}")
                except RuntimeError as fault:
                    ill.append(fault)
                    raise
            return running[sort]

        yield get


@pytest.fixture(scope="package", params=["sandbox", "real"])
def members(request: pytest.FixtureRequest, members_of: Get) -> Members:
    """Embedded members, and real ones."""
    return members_of(request.param)


@pytest.fixture(scope="module")
def shared(members: Members, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """The members behind an audit, for small fleets whose names nobody else has."""
    prefix = f"s{secrets.token_hex(3)}f"
    with shared_members(members.directory, tmp_path_factory.mktemp("audited"), prefix=prefix) as found:
        yield found
    sweep(members, prefix)


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    """kadm and kubectl, working in the test's own directory."""
    return Tools(tmp_path)


@pytest.fixture
def fleet(members: Members, tools: Tools) -> Iterator[MakeFleet]:
    """Makes fleets on the members; what they leave there is removed."""
    with ExitStack() as stack:

        def make(*, name: str = "", example: Path | None = None) -> Fleet:
            made = Fleet(members, tools, name=name, example=example)
            stack.callback(made.remove)
            return made

        yield make
