"""A real browser, driven over the Chrome DevTools Protocol: Debian's chromium, headless, with a profile of its own.

Source: chromedevtools.github.io/devtools-protocol. Nothing is needed but the browser: the protocol is JSON over a
WebSocket.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome")
START_S = 30.0
ANSWER_S = 30.0
WAIT_S = 15.0


def executable() -> str | None:
    """The browser that is installed, None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One tab. ``errors`` is all that its console and its network complained of."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, session: str) -> None:
        self._socket = socket
        self._session = session
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self.errors: list[str] = []
        self._loaded = asyncio.Event()

    async def send(self, method: str, *, within_s: float = ANSWER_S, **parameters: Any) -> Any:
        """One command, and its result."""
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": parameters, "sessionId": self._session})
        async with asyncio.timeout(within_s):
            return await self._waiting[number]

    async def open(self, url: str) -> None:
        """Load a page, to its end."""
        self._loaded.clear()
        await self.send("Page.navigate", url=url)
        async with asyncio.timeout(START_S):
            await self._loaded.wait()

    async def run(self, script: str, *, within_s: float = ANSWER_S) -> Any:
        """The value of an expression in the page; a promise is awaited."""
        found = await self.send(
            "Runtime.evaluate",
            within_s=within_s,
            expression=script,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        if "exceptionDetails" in found:
            raise AssertionError(json.dumps(found["exceptionDetails"])[:2000])
        return found["result"].get("value")

    async def until(self, script: str, *, within_s: float = WAIT_S) -> Any:
        """Wait until an expression is true, looking at every frame that is drawn; gives its value."""
        found = await self.run(
            f"""(async () => {{
                const end = performance.now() + {within_s * 1000};
                for (;;) {{
                    const found = ({script});
                    if (found) return found;
                    if (performance.now() > end) return null;
                    await new Promise((next) => requestAnimationFrame(next));
                }}
            }})()"""
        )
        assert found, f"it never became true: {script}"
        return found

    async def key(self, name: str, *, modifiers: int = 0) -> None:
        """Press a key. ``modifiers``: 2 is control."""
        text = {"Enter": "\r", "Space": " "}.get(name, name if len(name) == 1 else "")
        key = " " if name == "Space" else name
        await self.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, modifiers=modifiers)
        await self.send("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=modifiers)

    async def type(self, text: str) -> None:
        await self.send("Input.insertText", text=text)

    async def size(self, width: int, height: int) -> None:
        await self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    async def scheme(self, scheme: str) -> None:
        """``light`` or ``dark``, as the system says."""
        await self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    async def picture(self) -> bytes:
        """What is in sight, as PNG."""
        found = await self.send("Page.captureScreenshot", format="png")
        return base64.b64decode(found["data"])

    def heard(self, message: dict[str, Any]) -> None:
        """Take a message of the browser."""
        if "id" in message:
            waiting = self._waiting.pop(message["id"], None)
            if waiting is not None and not waiting.done():
                if "error" in message:
                    waiting.set_exception(AssertionError(str(message["error"])))
                else:
                    waiting.set_result(message["result"])
            return
        parameters = message.get("params", {})
        take: dict[str, Callable[[], None]] = {
            "Page.loadEventFired": self._loaded.set,
            "Runtime.exceptionThrown": lambda: self.errors.append(json.dumps(parameters["exceptionDetails"])[:1000]),
            "Runtime.consoleAPICalled": lambda: self._console(parameters),
            "Log.entryAdded": lambda: self._entry(parameters["entry"]),
        }
        take.get(message.get("method", ""), lambda: None)()

    def _console(self, said: dict[str, Any]) -> None:
        if said["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(one.get("value", one.get("description"))) for one in said["args"]))

    def _entry(self, entry: dict[str, Any]) -> None:
        if entry["level"] in ("error", "warning"):
            self.errors.append(f"{entry['text']} {entry.get('url', '')}")


@asynccontextmanager
async def browser(width: int = 1360, height: int = 800) -> AsyncIterator[Page]:
    """A tab in a browser that ends with the block."""
    program = executable()
    assert program is not None, "no browser is installed"
    profile = Path(tempfile.mkdtemp(prefix="kadm-browser-"))
    process = await asyncio.create_subprocess_exec(
        program,
        "--headless=new",
        "--no-sandbox",  # as root there is none; only pages of ours are opened
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stderr is not None
        async with asyncio.timeout(START_S):
            address = await _address(process.stderr)
        draining = asyncio.create_task(_drain(process.stderr))
        try:
            async with aiohttp.ClientSession() as client, client.ws_connect(address, max_msg_size=0) as socket:
                page = await _page(socket)
                listening = asyncio.create_task(_listen(socket, page))
                for domain in ("Page", "Runtime", "Log"):
                    await page.send(f"{domain}.enable")
                await page.size(width, height)
                yield page
                listening.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await listening
        finally:
            draining.cancel()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(10):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        shutil.rmtree(profile, ignore_errors=True)  # its children may still write for a moment


async def _address(stderr: asyncio.StreamReader) -> str:
    said = []
    while line := await stderr.readline():
        text = line.decode(errors="replace")
        said.append(text)
        if "DevTools listening on " in text:
            return text.partition("DevTools listening on ")[2].strip()
    raise AssertionError(f"the browser did not start:\n{''.join(said)}")


async def _drain(stderr: asyncio.StreamReader) -> None:
    while await stderr.readline():
        pass


async def _page(socket: aiohttp.ClientWebSocketResponse) -> Page:
    """Attach to the tab that the browser opened."""
    await socket.send_json({"id": 0, "method": "Target.getTargets"})
    targets = (await _answer(socket, 0))["targetInfos"]
    target = next(one["targetId"] for one in targets if one["type"] == "page")
    await socket.send_json(
        {"id": 0, "method": "Target.attachToTarget", "params": {"targetId": target, "flatten": True}}
    )
    return Page(socket, (await _answer(socket, 0))["sessionId"])


async def _answer(socket: aiohttp.ClientWebSocketResponse, number: int) -> Any:
    async with asyncio.timeout(ANSWER_S):
        while True:
            message = await socket.receive_json()
            if message.get("id") == number:
                return message["result"]


async def _listen(socket: aiohttp.ClientWebSocketResponse, page: Page) -> None:
    async for message in socket:
        page.heard(json.loads(message.data))
