"""Downloads, loads and conversions, while the disk or the net fails."""

from __future__ import annotations

import os
import queue
import random
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import huggingface_hub

from app.bridge.worker import outcome
from engine.hub.connection import Hub
from engine.hub.download.download_queue import DownloadQueue, stored_downloads
from engine.hub.download.plan import DownloadPlan
from engine.hub.download.transfer import Patience
from engine.hub.inventory import installed_model
from engine.hub.offer import make_offer
from engine.hub.verification import verify
from engine.messages import DownloadStatus, Event, Failed, Finished, Reply
from engine.model.config import read_config
from engine.model.footprint import stored_layer_bytes
from engine.model.weight_format import weight_format
from engine.placement.footprint import Sizes
from engine.placement.streamed import StreamedPlan
from engine.planning import hardware, hardware_report
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient
from tests.support.hub_server import HubServer

hardware.process_bytes = lambda: 0  # budgets are the model's alone
hardware_report.read_gpus = lambda: ()  # type: ignore[assignment]
_IMPATIENT = Patience(attempts=3, first_pause_s=0.0, longest_pause_s=5.0)


class Downloading:
    """A model of two files comes from the hub, and another one behind it."""

    running: ClassVar[ExitStack] = ExitStack()  # as long as the process
    server: ClassVar[HubServer]
    contents: ClassVar[dict[str, bytes]]

    def __init__(self) -> None:
        self.said: list[str] = []
        self.queue: DownloadQueue | None = None

    @classmethod
    def lay_out(cls, folder: Path) -> None:
        """The hub."""
        huggingface_hub.constants.HF_HUB_OFFLINE = False
        cls.server = cls.running.enter_context(HubServer().running())
        os.environ["HF_ENDPOINT"] = cls.server.address
        cls.contents = {name: random.Random(name).randbytes(150_000) for name in ("a", "b")}
        for name, content in cls.contents.items():
            cls.server.add(f"o/{name}", {"m-Q4_0.gguf": content})

    def begin(self, folder: Path) -> None:
        os.environ["TENON_DATA_DIR"] = str(folder)
        self.models = folder / "models"
        self.events: queue.Queue[DownloadStatus] = queue.Queue()
        hub = Hub(stall_s=20.0)
        self.plans: list[DownloadPlan] = [
            make_offer(hub, self.models, f"o/{name}", name=name).plan for name in self.contents
        ]
        hub.close()

    def act(self) -> None:
        self.added = [self._add(plan) for plan in self.plans]
        self.ends = [
            self._end(plan.name) for plan, added in zip(self.plans, self.added, strict=True) if added
        ]

    def look(self) -> None:
        for status in self.ends:
            if status.state == "failed":
                self.said.append(status.message or "")
                self._made_queue().resume(status.name)
                assert self._end(status.name).state == "done"
        for plan, added in zip(self.plans, self.added, strict=True):
            if not added:
                assert self._add(plan)
                assert self._end(plan.name).state == "done"
        for name, content in self.contents.items():
            model = installed_model(name)
            assert (self.models / name / "m-Q4_0.gguf").read_bytes() == content
            assert {check.state for check in verify(model)} == {"ok"}
        if self._left():  # a folder could not be removed: the next start does it
            self.end()
            self.queue = None
            unfinished = stored_downloads(self.models)
            self._made_queue()
            assert {self._end(download.plan.name).state for download in unfinished} <= {"done"}
        assert self._left() == []
        assert self._made_queue().statuses() == ()

    def end(self) -> None:
        if self.queue is not None:
            self.queue.close()

    def _left(self) -> list[str]:
        return [path.name for path in (self.models / ".incoming").glob("*") if path.is_dir()]

    def _made_queue(self) -> DownloadQueue:
        if self.queue is None:
            self.queue = DownloadQueue(
                self.models, lambda: Hub(stall_s=20.0), self.events.put, _IMPATIENT, reserve_bytes=0
            )
        return self.queue

    def _add(self, plan: DownloadPlan) -> bool:
        """As the page of models does it."""
        _, error = outcome(lambda: self._made_queue().add(plan))
        if error is not None:
            self.said.append(error.message)
        return error is None

    def _end(self, name: str) -> DownloadStatus:
        while True:
            status = self.events.get(timeout=90)
            if status.name == name and status.state in ("done", "failed"):
                return status


class Loading:
    """A model is loaded and answers."""

    FORMATS: ClassVar[tuple[str, ...]] = ("fp32",)
    PROMPT = "The model that guesses and the model"
    expected: ClassVar[Reply]

    def __init__(self) -> None:
        self.said: list[str] = []
        self.client: EngineClient | None = None

    @classmethod
    def lay_out(cls, folder: Path) -> None:
        """The model, and the reply that it gives while nothing fails."""
        write_checkpoint(folder / "model", num_hidden_layers=4, chat_template=False)
        first = cls()
        first.begin(folder)
        first.act()
        first.end()
        assert isinstance(first.last, Finished), first.last
        cls.expected = first.last.reply
        for made in (folder / "model").glob("*.packed"):
            made.unlink()

    def begin(self, folder: Path) -> None:
        os.environ["TENON_DATA_DIR"], os.environ["TENON_CACHE_DIR"] = str(folder), str(folder / "cache")
        self.model = folder / "model"
        self.before = {path.name for path in self.model.iterdir()}
        self.options = self.made_options()
        self.client = EngineClient()

    def act(self) -> None:
        self.last = self._ask()

    def look(self) -> None:
        if isinstance(self.last, Failed):
            self.said.append(self.last.error.message)
        else:
            self._compare(self.last)
        self._compare(self._ask())
        self.end()
        self.begin(self.model.parent)
        self._compare(self._ask())  # from what was kept
        self.end()
        made = {path.name for path in self.model.iterdir()} - self.before
        assert made <= {f"tenon-{name}.packed" for name in self.FORMATS}

    def end(self) -> None:
        if self.client is not None:
            self.client.engine.close()
            self.client = None
        for thread in threading.enumerate():
            if thread.name == "tenon-keeper":
                thread.join()

    def made_options(self) -> dict[str, Any]:
        """Options of its load."""
        return {"weights": self.FORMATS[0], "kv_cache": "full", "context": 128, "mode": "plain"}

    def _ask(self) -> Event:
        assert self.client is not None
        return self.client.finish(self.client.request(self.PROMPT, self.model, max_tokens=8, **self.options))

    def _compare(self, last: Event) -> None:
        assert isinstance(last, Finished), last
        assert last.reply.text == self.expected.text


class Streaming(Loading):
    """A model that is larger than the memory is read from its own file for each token."""

    def made_options(self) -> dict[str, Any]:
        config, weights = read_config(Checkpoint(self.model)), weight_format(self.FORMATS[0])
        least = StreamedPlan.least_bytes(Sizes(config, weights, 128))
        return {**super().made_options(), "ram_budget_bytes": least + 2 * stored_layer_bytes(config, weights)}


class Converting(Streaming):
    """It is converted into another format first, into a file beside it."""

    FORMATS: ClassVar[tuple[str, ...]] = ("q8_0",)
