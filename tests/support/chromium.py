"""Chromium without a window, driven by its DevTools protocol over two pipes (``--remote-debugging-pipe``)."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# The protocol speaks on the descriptors 3 and 4.
_MOVE = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)


class Chromium:
    """One page of a browser that runs.

    Attributes:
        events: What the browser has told since it began.
        agrees: Whether questions of the page (``confirm``) are answered with yes.
    """

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._asked, self._rest, self._session = 0, b"", ""
        self.events: list[dict[str, Any]] = []
        self.agrees = True
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **values: Any) -> dict[str, Any]:
        """Call a method of the protocol, and answer questions of the page meanwhile."""
        number = self._begin(method, values)
        while True:
            message = self._receive()
            if message.get("id") == number:
                assert "error" not in message, (method, message)
                return dict(message["result"])

    def open(self, address: str) -> None:
        """Open an address."""
        self.send("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """Return what a script comes to, as if a finger had asked for it."""
        found = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, script: str) -> Any:
        """Wait until a script comes to something that is true, and return it."""
        patient = f"(() => {{ try {{ return {script}; }} catch {{ return null; }} }})()"  # a page may be on its way
        while not (found := self.run(patient)):
            time.sleep(0.02)
        return found

    def write(self, text: str) -> None:
        """Write into what has the focus, as a keyboard does."""
        self.send("Input.insertText", text=text)

    def press(self, selector: str) -> None:
        """Press the middle of an element with a finger."""
        script = "one.scrollIntoView({block: 'nearest'}); const {x, y, width, height} = one.getBoundingClientRect();"
        one = f"document.querySelector({json.dumps(selector)})"
        x, y = self.run(f"(one => {{ {script} return [x + width / 2, y + height / 2]; }})({one})")
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            self.send("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    def size(self, width: int, height: int, dark: bool = False) -> None:
        """Be a phone with a screen of so many CSS pixels."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2, mobile=True)
        self.send("Emulation.setTouchEmulationEnabled", enabled=True)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path) -> None:
        """Write what is on the screen to a PNG."""
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))

    def told(self, method: str) -> list[dict[str, Any]]:
        """Return what the browser has told of one kind."""
        return [event["params"] for event in self.events if event["method"] == method]

    def _begin(self, method: str, values: dict[str, Any]) -> int:
        self._asked += 1
        session = {"sessionId": self._session} if self._session else {}
        message = {"id": self._asked, "method": method, "params": values, **session}
        left = json.dumps(message).encode() + b"\0"
        while left:
            left = left[os.write(self._to, left) :]
        return self._asked

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._from, 1 << 16)
            assert piece, "the browser has ended"
            self._rest += piece
        text, _, self._rest = self._rest.partition(b"\0")
        message = dict(json.loads(text))
        if "method" in message:
            self.events.append(message)
        if message.get("method") == "Page.javascriptDialogOpening":
            self._begin("Page.handleJavaScriptDialog", {"accept": self.agrees})
        return message


@contextmanager
def chromium(folder: Path) -> Iterator[Chromium]:
    """Run a browser whose profile lies in a folder."""
    assert PROGRAM is not None
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    options = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
               "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
               f"--user-data-dir={folder / 'profile'}"]  # fmt: skip
    program = subprocess.Popen(
        [sys.executable, "-c", _MOVE, str(theirs_in), str(theirs_out), PROGRAM, *options],
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(folder)},
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Chromium(ours_out, ours_in)
    finally:
        program.terminate()
        program.wait(30)
        os.close(ours_in)
        os.close(ours_out)
