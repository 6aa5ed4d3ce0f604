"""Downloads, while the disk or the net fails: in a module of its own, which needs neither torch nor Qt's window."""

from __future__ import annotations

import os
import queue
import random
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar

import huggingface_hub

from app.bridge.worker import outcome
from engine.hub.connection import Hub
from engine.hub.download import DownloadPlan
from engine.hub.download_queue import DownloadQueue, stored_downloads
from engine.hub.installed import installed_model, verify
from engine.hub.offer import make_offer
from engine.hub.transfer import Patience
from engine.messages import DownloadStatus
from tests.support.hub_server import HubServer

_IMPATIENT = Patience(attempts=3, first_pause_s=0.0, longest_pause_s=5.0)
_STALL_S = 3.0  # a request that was lost is waited for as long as that


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
        hub = Hub(stall_s=_STALL_S)
        self.plans: list[DownloadPlan] = [
            make_offer(hub, self.models, f"o/{name}", name=name).plan for name in self.contents
        ]
        hub.close()

    def act(self) -> None:
        self.added = [self._add(plan) for plan in self.plans]
        self.ends = [self._end(plan.name) for plan, added in zip(self.plans, self.added, strict=True) if added]

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
                self.models, lambda: Hub(stall_s=_STALL_S), self.events.put, _IMPATIENT, reserve_bytes=0
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
