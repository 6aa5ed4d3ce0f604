"""An engine in this process that is asked for everything that a damaged model could break."""

from __future__ import annotations

import queue
from itertools import count
from pathlib import Path

import torch

from engine.engine import Engine
from engine.errors import TenonError
from engine.hub.installed import cache_folder
from engine.hub.local_import import look_at
from engine.messages import (
    ChatMessage,
    Event,
    Failed,
    Finished,
    Generate,
    LoadOptions,
    MakePlan,
    PlanMade,
    SamplingOptions,
)
from engine.planning.kernel_table import format_seconds
from engine.weights.draft_kind import draft_kind
from tests.fuzz.sentence import check_sentence

_WORDS = (ChatMessage("system", "Be brief."), ChatMessage("user", "Grüße, 世界! <|im_end|> 12"))


class AskedEngine:
    """One engine for all cases, as a window has it.

    Args:
        models: A folder in the place of the installed models.
    """

    def __init__(self, models: Path) -> None:
        torch.set_num_threads(1)
        format_seconds(cache_folder())  # what a machine takes is measured once, and is no part of a case
        self._models = models
        self._events: queue.Queue[Event] = queue.Queue()
        self._engine = Engine(self._events.put)
        self._numbers = count()

    def close(self) -> None:
        """End it."""
        self._engine.close()

    def ask(self, model: Path) -> bool:
        """Look at a model, plan it, load it and let it say something.

        Returns:
            True if it did.

        Raises:
            AssertionError: An error was none for a person.
        """
        try:
            draft_kind(model)
            look_at(self._models, [model])
        except TenonError as error:
            check_sentence(error)
        options = LoadOptions(str(model), threads=1)
        self._serve(MakePlan(str(next(self._numbers)), options))
        greedy = SamplingOptions(temperature=0.0)
        request = Generate(str(next(self._numbers)), options, _WORDS, sampling=greedy, max_tokens=3)
        return isinstance(self._serve(request), Finished)

    def _serve(self, command: MakePlan | Generate) -> Event:
        self._engine.submit(command)
        while True:
            event = self._events.get()
            if isinstance(event, Failed):
                check_sentence(event.error)
            if isinstance(event, (Failed, Finished, PlanMade)):
                return event
