"""Loads and conversions, while the disk fails."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any, ClassVar

from engine.messages import Event, Failed, Finished, Reply
from engine.model.config import read_config
from engine.model.footprint import stored_layer_bytes
from engine.model.weight_format import weight_format
from engine.placement.plan import Sizes
from engine.placement.streamed import StreamedPlan
from engine.planning import hardware
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient

hardware.process_bytes = lambda: 0  # budgets are the model's alone
hardware.read_gpus = lambda: ()  # type: ignore[assignment]


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
