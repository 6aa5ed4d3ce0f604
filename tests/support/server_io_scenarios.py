"""The server for other programs and the engine's process behind it, while descriptors run out."""

from __future__ import annotations

import asyncio
import json
import socket
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from app.bridge.worker import outcome
from engine.engine_process import EngineProcess, run_engine
from engine.messages import LoadOptions, ModelReport
from engine.server.engine_link import EngineLink
from engine.server.exchange import Served
from engine.server.serving import BackgroundServer, load
from tests.support.fake_engine import SERVE
from tests.support.model_server import KEY

_MODEL = LoadOptions(model="scripted")
_ENGINE = partial(EngineProcess, partial(run_engine, serve=SERVE))
_BODY = json.dumps({"messages": [{"role": "user", "content": "say 2"}]})
_ASKED = (
    f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}\r\nConnection: close\r\n"
    f"Content-Length: {len(_BODY)}\r\n\r\n{_BODY}"
).encode()


class Serving:
    """The server is switched on, two programs ask, and it is switched off."""

    report: ClassVar[ModelReport]

    def __init__(self) -> None:
        self.said: list[str] = []
        self.server: BackgroundServer | None = None
        self.clients = [socket.socket() for _ in range(2)]  # what happens to them is their own affair

    @classmethod
    def lay_out(cls, folder: Path) -> None:
        """The model's report."""

        async def report() -> ModelReport:
            link = EngineLink(start=_ENGINE)
            try:
                return await load(link, _MODEL, lambda event: None)
            finally:
                await link.close()

        cls.report = asyncio.run(report())

    def begin(self, folder: Path) -> None:
        """Nothing is needed."""

    def act(self) -> None:
        if self._start():
            for client in self.clients:
                self._ask(client)

    def look(self) -> None:
        if self.server is None:
            assert self._start(), self.said
        with socket.socket() as client:
            assert self._ask(client) == 200, self.said

    def end(self) -> None:
        for client in self.clients:
            client.close()
        if self.server is not None:
            self.server.stop()

    def _start(self) -> bool:
        served = Served("scripted", _MODEL, self.report)
        made: Any
        made, error = outcome(lambda: BackgroundServer(0, KEY, served, _ENGINE))
        self.server = made
        if error is not None:
            self.said.append(error.message)
        return error is None

    def _ask(self, client: socket.socket) -> int:
        client.connect(("127.0.0.1", int(self.server.address.rpartition(":")[2])))
        client.sendall(_ASKED)
        answer = b""
        while piece := client.recv(1 << 16):
            answer += piece
        head, _, body = answer.partition(b"\r\n\r\n")
        found = json.loads(body)
        if "error" in found:
            self.said.append(found["error"]["message"])
        else:
            assert found["choices"][0]["message"]["content"] == "w0 w1 "
        return int(head.split()[1])
