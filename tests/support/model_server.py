"""A server for tests: the scripted engine behind the real application, or `tenon serve` as it is."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anthropic
import httpx2
import openai

from engine.engine_process import EngineProcess, run_engine
from engine.messages import Event, LoadOptions
from engine.server.application import Metrics, application
from engine.server.engine_link import TICK_S, EngineLink, watch
from engine.server.exchange import Served
from engine.server.phones import Phones
from engine.server.serving import ModelServer, listening, load
from tests.support.fake_engine import SERVE

KEY = "tenon-of-a-test"
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Running:
    """A server that runs, and clients for it.

    Attributes:
        address: Of the server.
        model: The name of its model.
        link: To its engine, where the server is in this process.
        stop: Asks such a server to end.
        server: Such a server itself.
        told: What such a server had to tell whoever started it.
    """

    address: str
    model: str
    link: EngineLink | None = None
    stop: Callable[[], None] = field(default=lambda: None)
    server: ModelServer | None = None
    told: list[Event] = field(default_factory=list)
    openai: openai.OpenAI = field(init=False)
    anthropic: anthropic.Anthropic = field(init=False)
    http: httpx2.Client = field(init=False)

    def __post_init__(self) -> None:
        web = partial(httpx2.Client, trust_env=False, timeout=60)
        self.http = web(base_url=self.address, headers={"Authorization": f"Bearer {KEY}"})
        self.openai = openai.OpenAI(base_url=f"{self.address}/v1", api_key=KEY, http_client=web(), max_retries=0)
        self.anthropic = anthropic.Anthropic(base_url=self.address, api_key=KEY, http_client=web(), max_retries=0)

    def close(self) -> None:
        """Close the clients."""
        self.http.close()
        self.openai.close()
        self.anthropic.close()


@contextmanager
def scripted_server(most_waiting: int = 64, tick_s: float = TICK_S, door: str | Phones = KEY) -> Iterator[Running]:
    """The application in a thread of this process, in front of the scripted engine, which is looked at so often."""
    ready = threading.Event()
    made: list[tuple[ModelServer, EngineLink, str]] = []
    told: list[Event] = []

    async def run() -> None:
        metrics = Metrics()
        script = partial(EngineProcess, partial(run_engine, serve=SERVE))
        link = EngineLink(metrics.take, script, most_waiting=most_waiting)
        try:
            with listening(0) as listener:
                options = LoadOptions(model="scripted")
                served = Served("scripted", options, await load(link, options, lambda event: None))
                server = ModelServer(link, application(lambda: served, link, metrics, door), told.append)
                made.append((server, link, f"http://127.0.0.1:{listener.getsockname()[1]}"))
                ready.set()
                watching = asyncio.ensure_future(watch(link, tick_s))
                await server.serve([listener])
                watching.cancel()
        finally:
            await link.close()
            ready.set()

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    assert ready.wait(60)
    server, link, address = made[0]
    stop = lambda: setattr(server, "should_exit", True)  # noqa: E731
    running = Running(address, "scripted", link, stop, server, told)
    try:
        yield running
    finally:
        running.stop()
        running.close()
        thread.join(30)
    assert not thread.is_alive()


@contextmanager
def serve_command(model: Path, folder: Path, *options: str) -> Iterator[tuple[Running, subprocess.Popen[str]]]:
    """`tenon serve` as a program, with a model of its own; its data lie in the folder."""
    own = {f"TENON_{name}_DIR": str(folder / name.lower()) for name in ("DATA", "CONFIG", "CACHE")}
    command = [sys.executable, "-m", "app", "serve", "--port", "0", "--json", "--key", KEY, "--threads", "1"]
    program = subprocess.Popen(
        [*command, "--model", str(model), *options],
        cwd=ROOT,
        env={**os.environ, **own, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = json.loads(program.stdout.readline())
        assert line["key"] == KEY
        running = Running(line["address"], line["model"])
        yield running, program
        running.close()
    finally:
        program.terminate()
        program.communicate(timeout=30)
