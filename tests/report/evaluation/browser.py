"""A headless Chromium, driven through the DevTools protocol: what a reader's browser would do."""

import asyncio
import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)
_PATIENCE = 30.0  # seconds until the browser must answer


class Page:
    """An open page; everything it complains about is in ``complaints``."""

    def __init__(self, socket: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._socket, self._loop, self._number = socket, loop, 0
        self._events: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.requests: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command, and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        self._run(lambda: self._socket.write_message(json.dumps(message)))
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, file: Path) -> None:
        self._events.clear()
        self.call("Page.navigate", url=file.as_uri())
        while not any(e["method"] == "Page.loadEventFired" for e in self._events):
            self._next()
        self.settle()

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"]))
        return found["result"].get("value")

    def settle(self) -> None:
        """Wait until two frames have been drawn."""
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"
        )

    def resize(self, width: int, height: int = 900, mobile: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        self.settle()

    def emulate(self, media: str = "", scheme: str = "light") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)
        self.settle()

    def press(self, key: str, code: int) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)
        self.settle()

    def screenshot(self, file: Path) -> None:
        """Write the whole page as a PNG."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        file.write_bytes(base64.b64decode(found["data"]))

    def pdf(self) -> bytes:
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def _next(self) -> dict[str, Any]:
        text = self._run(self._socket.read_message)
        if text is None:
            raise RuntimeError("the browser closed the connection")
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self._events.append(message)
            self._note(message["method"], message["params"])
        return message

    def _note(self, method: str, found: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(found["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(json.dumps(found["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(found["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(found["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {found['message']}")

    def _run(self, start: Callable[[], Any]) -> Any:
        async def run() -> Any:  # what is started must belong to the loop that runs
            return await asyncio.wait_for(start(), _PATIENCE)

        return self._loop.run_until_complete(run())


@contextmanager
def chromium() -> Iterator[Page]:
    """Start a browser with a profile of its own, and end it; skip if there is none."""
    binary = shutil.which("chromium") or shutil.which("chromium-browser")
    if binary is None:
        pytest.skip("there is no chromium on this machine to open the report with")
    websocket = pytest.importorskip("tornado.websocket", reason="tornado drives the browser")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [binary, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        loop = asyncio.new_event_loop()
        try:
            url = _page_url(Path(profile) / "DevToolsActivePort", process)
            socket = loop.run_until_complete(_connect(websocket, url))
            yield Page(socket, loop)
            socket.close()
            loop.run_until_complete(asyncio.sleep(0.05))
        finally:
            process.terminate()
            process.wait(_PATIENCE)
            loop.close()


async def _connect(websocket: Any, url: str) -> Any:
    return await websocket.websocket_connect(url, max_message_size=1 << 28)


def _page_url(port_file: Path, process: subprocess.Popen[bytes]) -> str:
    """Wait for the browser's port, and return the address of its first page."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if port_file.exists() and (lines := port_file.read_text().split()):
            with urllib.request.urlopen(f"http://127.0.0.1:{lines[0]}/json/list") as answer:
                pages = [p for p in json.load(answer) if p["type"] == "page"]
            if pages:
                return str(pages[0]["webSocketDebuggerUrl"])
        time.sleep(0.05)
    raise RuntimeError(f"chromium did not open its DevTools port within {_PATIENCE} s")
