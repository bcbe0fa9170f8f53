"""The page in a real browser: what it shows, live, at every size, by keyboard, and what axe-core says of it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from kadm.watch.serving import Listening, listening, serving
from kadm.watch.state import Board, Snapshot
from tests.watch.browser import Page, browser, executable
from tests.watch.views import (
    a_busy_fleet,
    a_copy,
    a_matrix,
    a_member,
    a_move,
    a_snapshot,
    a_workload,
    an_event,
    lost,
    with_member,
    with_workload,
)

AXE = "KADM_TEST_AXE"
"""Environment: the file axe.min.js of the npm package axe-core."""

pytestmark = pytest.mark.skipif(
    executable() is None, reason="NO BROWSER: the page is not tested; apt-get install chromium"
)

CELL = """(row, member) => {
    const heads = [...document.querySelectorAll('#matrix thead th')];
    const at = heads.findIndex((head) => head.querySelector('.name')?.textContent === member);
    const rows = [...document.querySelectorAll('#matrix tbody tr')];
    return rows.find((one) => one.querySelector('th .name')?.textContent === row)?.cells[at];
}"""


FOCUSED = """(() => {
    const cell = document.activeElement;
    const at = [...cell.parentElement.cells].indexOf(cell);
    const member = document.querySelector('#matrix thead').rows[0].cells[at].querySelector('.name')?.textContent;
    return [cell.parentElement.querySelector('th .name').textContent, member];
})()"""
"""JavaScript: workload and member of the cell that has the focus."""


def a_page(first: Snapshot, act: Callable[[Page, Board, str], Awaitable[None]], where: Listening | None = None) -> None:
    """Serve a snapshot, open the page, act. Fails where the browser's console has anything to say."""

    async def run() -> None:
        board = Board(first)
        async with serving(board, where or listening("127.0.0.1:0")) as server, browser() as page:
            await page.open(f"{server.url}/")
            await act(page, board, server.url)
            assert page.errors == []

    asyncio.run(run())


def cell(row: str, member: str) -> str:
    """JavaScript: what the cell says to who does not see it."""
    return f"({CELL})('{row}', '{member}')?.textContent.replace('·', '').trim()"


def head(member: str) -> str:
    """JavaScript: what the header of a member says."""
    return (
        "[...document.querySelectorAll('#matrix thead th')]"
        f".find((one) => one.querySelector('.name')?.textContent === '{member}')?.innerText.replaceAll('\\n', ' ')"
    )


def drawn(rows: int) -> str:
    """JavaScript: whether a matrix of so many workloads is drawn."""
    return f"matrix.getAttribute('aria-rowcount') === '{rows + 1}' && document.querySelectorAll('tbody th').length > 0"


def test_the_matrix_shows() -> None:
    async def act(page: Page, _board: Board, _url: str) -> None:
        await page.until(drawn(7))
        said = {
            "well": await page.run(cell("cart", "eu-1")),
            "arriving": await page.run(cell("checkout", "eu-1")),
            "leaving": await page.run(cell("checkout", "us-2")),
            "drifted": await page.run(cell("frontend", "eu-1")),
            "failed": await page.run(cell("frontend", "eu-2")),
            "not there": await page.run(cell("cart", "ap-1")),
            "lost member": await page.run(head("us-2")),
            "suspended member": await page.run(head("ap-1")),
            "title": await page.run("document.title"),
        }
        assert said == {
            "well": "Healthy 3/3",
            "arriving": "Progressing 4/6+2 replicas arrive",
            "leaving": "Unknown now, as known last 3/3−3 replicas leave",
            "drifted": "Healthy 5/52 fields drifted",
            "failed": "Failed 0/2",
            "not there": "not there",
            "lost member": "us-2 unreachable",
            "suspended member": "ap-1 suspended",
            "title": "shop · kadm",
        }

    a_page(a_busy_fleet(), act)


def test_a_member_that_is_lost_turns_unreachable_and_comes_back() -> None:
    async def act(page: Page, board: Board, _url: str) -> None:
        await page.until(f"{head('eu')} === 'eu ready'")
        event = an_event(1, "no answer within 4 s", kind="lost", severity="error", member="eu")
        board.publish(replace(with_member(board.latest, lost("eu"), 2), events=(event,)))
        await page.until(f"{head('eu')} === 'eu unreachable'")
        await page.until("members.textContent === '1 of 2 members reachable'")
        await page.until("announcement.textContent === 'eu: no answer within 4 s'")
        board.publish(with_member(board.latest, a_member("eu"), 3))
        await page.until(f"{head('eu')} === 'eu ready'")

    a_page(a_snapshot(), act)


def test_a_migration_appears_and_ends() -> None:
    async def act(page: Page, board: Board, _url: str) -> None:
        await page.until(drawn(1))
        moving = a_workload(
            "web",
            a_copy("eu", 4, 4),
            a_copy("us", 0, 2, "Progressing", "0 of 2"),
            move=a_move("web", {"eu": 2}, {"us": 2}),
        )
        board.publish(
            with_workload(board.latest, moving, 2, [an_event(1, "2 from eu, 2 to us begin to move", kind="moved")])
        )
        await page.until(f"{cell('web', 'us')}?.endsWith('2 replicas arrive')")
        await page.until(f"{cell('web', 'eu')}?.endsWith('2 replicas leave')")
        await page.until("document.querySelector('#view-moving .number').textContent === '1'")
        board.publish(with_workload(board.latest, a_workload("web", a_copy("eu", 2, 2), a_copy("us", 2, 2)), 3))
        await page.until(f"{cell('web', 'us')} === 'Healthy 2/2'")
        await page.until("document.querySelector('#view-moving .number').textContent === '0'")

    a_page(a_snapshot(), act)


def test_workloads_and_members_come_and_go() -> None:
    async def act(page: Page, board: Board, _url: str) -> None:
        await page.until(drawn(1))
        more = (a_workload("api", a_copy("ap")), *board.latest.workloads)
        board.publish(replace(board.latest, version=2, workloads=more, members=(a_member("ap"), *board.latest.members)))
        await page.until(f"{cell('api', 'ap')} === 'Healthy 2/2'")
        board.publish(
            replace(board.latest, version=3, workloads=board.latest.workloads[1:], members=board.latest.members[1:])
        )
        await page.until(f"{drawn(1)} && matrix.getAttribute('aria-colcount') === '3'")

    a_page(a_snapshot(), act)


def test_details_say_why() -> None:
    async def act(page: Page, _board: Board, _url: str) -> None:
        await page.until(drawn(7))
        await page.run(f"({CELL})('frontend', 'eu-2').click()")
        text = await page.run("document.getElementById('panel-body').innerText")
        assert text.startswith("frontend in eu-2\n")
        assert "2 pods ImagePullBackOff in container app" in text
        assert "kadm explain deployment/frontend -n shop" in text

    a_page(a_busy_fleet(), act)


def test_the_keyboard_reaches_every_cell_and_its_details() -> None:
    async def act(page: Page, _board: Board, _url: str) -> None:
        await page.until(drawn(7))
        await page.run("document.querySelector('.corner').focus()")
        for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
            await page.key(key)
        assert await page.run(FOCUSED) == ["cart", "eu-1"]
        await page.key("Enter")
        assert await page.run("document.activeElement.textContent") == "cart in eu-1"
        await page.key("Escape")
        assert await page.run(FOCUSED) == ["cart", "eu-1"]
        await page.key("End", modifiers=2)
        assert await page.run(FOCUSED) == ["search-indexer-with-a-long-name", "us-2"]
        await page.key("/")
        assert await page.run("document.activeElement.id") == "filter"
        await page.type("frontend member:eu")
        await page.until(f"{drawn(1)} && matrix.getAttribute('aria-colcount') === '3'")
        assert await page.run("location.hash") == "#filter=frontend+member%3Aeu"
        assert await page.run("document.querySelectorAll('[tabindex=\"0\"]:is(th, td)').length") == 1

    a_page(a_busy_fleet(), act)


def test_a_choice_and_the_focus_stay_while_the_fleet_changes() -> None:
    async def act(page: Page, board: Board, _url: str) -> None:
        await page.until(drawn(1))
        await page.run(f"({CELL})('web', 'us').click()")
        board.publish(
            with_workload(board.latest, a_workload("web", a_copy("eu"), a_copy("us", 1, 2, "Failed", "no")), 2)
        )
        await page.until(f"{cell('web', 'us')} === 'Failed 1/2'")
        assert await page.run(FOCUSED) == ["web", "us"]
        await page.until("document.getElementById('panel-body').innerText.includes('Failed')")

    a_page(a_snapshot(), act)


IN_VIEW = """(() => {
    const frame = document.getElementById('frame').getBoundingClientRect();
    const head = document.querySelector('#matrix thead').rows[0];
    const top = [...head.cells].filter((one) => !one.classList.contains('spacer'));
    const side = [...document.querySelectorAll('#matrix tbody th')];
    const close = (one, other) => Math.abs(one - other) < 2;
    return {
        firstRow: top.every((one) => close(one.getBoundingClientRect().top, frame.top)),
        firstColumn: [head.cells[0], ...side].every((one) => close(one.getBoundingClientRect().left, frame.left)),
        cut: [...document.querySelectorAll('#matrix :is(th, td):not(.spacer)')].filter((one) =>
            one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1).length,
        sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    };
})()"""


@pytest.mark.parametrize(
    ("workloads", "members"),
    [
        pytest.param(10, 500, id="10 × 500"),
        pytest.param(500, 10, id="500 × 10"),
        pytest.param(1000, 20, id="beyond what is in the document at once"),
    ],
)
def test_the_first_row_and_column_stay_in_view_and_nothing_is_cut(workloads: int, members: int) -> None:
    async def act(page: Page, board: Board, _url: str) -> None:
        await page.until(drawn(workloads), within_s=30)
        last = max(board.latest.workloads, key=lambda one: (one.key.namespace, one.key.name)).key.name
        names = [one.name for one in board.latest.members]
        for size in ((1360, 800), (1000, 700), (480, 800)):
            await page.size(*size)
            for corner in ("0, 0", "1e7, 0", "0, 1e7", "1e7, 1e7"):
                left, top = corner.split(", ")
                await page.run(f"(frame.scrollLeft = {left}, frame.scrollTop = {top}, 0)")
                await page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
                found = await page.run(IN_VIEW)
                assert found == {"firstRow": True, "firstColumn": True, "cut": 0, "sideways": 0}, (size, corner)
        assert (await page.until(cell(last, names[-1]))).startswith("Healthy 2/2")
        await page.run("document.querySelector('.corner').focus()")
        await page.key("End", modifiers=2)
        assert await page.run(FOCUSED) == [last, names[-1]]

    a_page(a_matrix(workloads, members), act)


AXE_WITHIN_S = 200.0
"""It looks at every cell of a large fleet, several times: seconds, or a minute where the machine is busy."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("tab", ["details", "events", "plan"])
def test_axe_finds_no_violation(scheme: str, tab: str) -> None:
    async def act(page: Page, board: Board, _url: str) -> None:
        await page.scheme(scheme)
        await page.until(drawn(7))
        await page.run(f"({CELL})('frontend', 'eu-2').click()")
        await page.run(f"document.getElementById('tab-{tab}').click()")
        assert await violations(page) == []

    a_page(a_busy_fleet(), act)


@pytest.mark.parametrize(
    ("workloads", "members"), [pytest.param(10, 500, id="10 × 500"), pytest.param(500, 10, id="500 × 10")]
)
def test_axe_finds_no_violation_in_a_large_fleet(workloads: int, members: int) -> None:
    async def act(page: Page, _board: Board, _url: str) -> None:
        await page.until(drawn(workloads), within_s=30)
        assert await violations(page) == []

    a_page(a_matrix(workloads, members), act)


async def violations(page: Page) -> list[str]:
    """What axe-core, with all its rules but those of taste, finds in the page."""
    named = os.environ.get(AXE)
    if not named:
        pytest.skip(f"NO AXE-CORE: {AXE} names no axe.min.js, accessibility is not tested")
    await page.run(await asyncio.to_thread(Path(named).read_text, encoding="utf-8"))
    script = "axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations)"
    found = await page.run(script, within_s=AXE_WITHIN_S)
    return [f"{one['id']}: {one['help']}: {node['html'][:200]}" for one in found for node in one["nodes"][:5]]


def test_the_page_asks_for_the_token_and_keeps_it_out_of_addresses(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-token-that-is-long-enough\n")
    token.chmod(0o600)

    async def act(page: Page, _board: Board, url: str) -> None:
        await page.until("door.open")
        if os.environ.get(AXE):
            assert await violations(page) == []
        await page.key("Escape")
        await page.until("door.open")
        await page.type("a-token-that-is-long-enough")
        await page.key("Enter")
        await page.until(drawn(1))
        assert await page.run("location.href") == f"{url}/"
        await page.open(f"{url}/")
        await page.until(drawn(1))
        assert await page.run("performance.getEntries().some((one) => one.name.includes('a-token'))") is False

    a_page(a_snapshot(), act, listening("127.0.0.1:0", token_file=token))


def test_what_members_say_is_text_and_never_markup() -> None:
    nasty = "<img src=x onerror=alert(1)><script>alert(1)</script>"

    async def act(page: Page, board: Board, _url: str) -> None:
        await page.until(drawn(1))
        board.publish(
            with_workload(
                board.latest,
                a_workload("web", a_copy("eu", 0, 1, "Failed", nasty)),
                2,
                [an_event(1, nasty, severity="error")],
            )
        )
        await page.until(f"{cell('web', 'eu')}?.includes('Failed')")
        await page.run(f"({CELL})('web', 'eu').click()")
        assert nasty in await page.run("document.getElementById('panel-body').textContent")
        assert await page.run("document.querySelectorAll('img, body script').length") == 0

    a_page(a_snapshot(), act)


def test_a_daemon_that_ends_is_told_and_waited_for() -> None:
    async def run() -> None:
        board = Board(a_snapshot())
        async with browser() as page:
            async with serving(board, listening("127.0.0.1:0")) as server:
                await page.open(f"{server.url}/")
                await page.until("document.body.dataset.state === 'live'")
                port = int(server.url.rpartition(":")[2])
            await page.until("document.body.dataset.state === 'lost'")
            await page.until("alarms.textContent.startsWith('The daemon does not answer')")
            async with serving(Board(a_snapshot(7, fleet="again")), listening(f"127.0.0.1:{port}")):
                await page.until("document.body.dataset.state === 'live' && fleet.textContent === 'again'", within_s=20)

    asyncio.run(run())


def test_still_by_request() -> None:
    async def act(page: Page, _board: Board, _url: str) -> None:
        await page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        await page.until("document.body.dataset.state === 'live'")
        assert await page.run("document.getAnimations().length") == 0

    a_page(a_snapshot(), act)
