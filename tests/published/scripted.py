"""A model that says what it is told: logits of a script's tokens are raised wherever the decoder computes them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.engine import Engine
from engine.messages import Command, Event, LoadOptions
from engine.model.decoder import Decoder
from engine.server.application import Metrics, application
from engine.server.engine_link import EngineLink
from engine.server.exchange import Served
from engine.server.serving import ModelServer, listening, load
from tests.support.model_server import KEY, Running

_CERTAIN = 1e5


class Script:
    """Tokens that the model says behind a prompt of so many tokens; until there are any it says what it says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._prompt = 0
        self._ids: list[int] = []
        usual = Decoder.forward_together
        script = self

        def forward(self: Decoder, texts: Any, logit_rows: Any = None, *rest: Any, **more: Any) -> Any:
            output = usual(self, texts, logit_rows, *rest, **more)
            positions = torch.cat([text.positions for text in texts])
            rows = positions if logit_rows is None else positions[logit_rows]
            with torch.inference_mode():
                for row, position in enumerate(rows.tolist()):
                    place = position + 1 - script._prompt
                    if 0 <= place < len(script._ids):
                        output.logits[row, script._ids[place]] = _CERTAIN
            return output

        monkeypatch.setattr(Decoder, "forward_together", forward)

    def says(self, prompt_tokens: int, ids: Sequence[int]) -> None:
        """Say these tokens behind a prompt of so many."""
        self._prompt, self._ids = prompt_tokens, list(ids)


class _InThisProcess:
    """The engine for a server's link, without a process of its own."""

    process_id = None

    def __init__(self, on_event: Callable[[Event], None], on_exit: Callable[[int | None], None]) -> None:
        self._engine = Engine(on_event)

    def send(self, command: Command) -> None:
        """Hand a command over."""
        self._engine.submit(command)

    def kill(self) -> None:
        """Close the engine."""
        self._engine.close()

    close = kill


@contextmanager
def server_of(model: Path) -> Iterator[Running]:
    """The server's application with the real engine behind it, all in this process."""
    ready = threading.Event()
    made: list[Running] = []
    trouble: list[BaseException] = []

    async def run() -> None:
        metrics = Metrics()
        link = EngineLink(metrics.take, _InThisProcess)
        try:
            with listening(0) as listener:
                options = LoadOptions(model=str(model), weights="fp32", threads=1)
                served = Served("tiny", options, await load(link, options, lambda event: None))
                server = ModelServer(link, application(lambda: served, link, metrics, KEY))
                address = f"http://127.0.0.1:{listener.getsockname()[1]}"
                made.append(Running(address, "tiny", link, lambda: setattr(server, "should_exit", True)))
                ready.set()
                await server.serve([listener])
        except BaseException as error:  # raised in the test's own thread
            trouble.append(error)
        finally:
            await link.close()
            ready.set()

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    ready.wait()
    if not made:
        raise trouble[0]
    try:
        yield made[0]
    finally:
        made[0].stop()
        made[0].close()
        thread.join(30)
