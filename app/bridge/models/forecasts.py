"""Forecasts of models that are not here yet: their outlines, and what the engine predicts of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engine_client import EngineClient, Question
from app.bridge.models.offers import connect
from app.bridge.worker import Worker
from app.chat.engine_options import load_options
from app.chat.model_entries import InstalledEntry, ListedModel
from app.settings.settings import Settings
from engine.errors import EngineStopped, TenonError
from engine.messages import (
    ErrorReport,
    LoadOptions,
    ModelOutline,
    ModelPredicted,
    Prediction,
    PredictModels,
)

# So few at once that a message which is sent meanwhile waits for hardly anything.
_AT_ONCE = 3


class Forecasts(QObject):
    """Asks for each model once, and again when something changed that decides."""

    changed = Signal()

    def __init__(self, settings: Settings, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._client = client
        self._worker = Worker("models-outlines", self)
        self._hub_worker = Worker("models-hub-outlines", self)
        self.known: dict[str, Prediction] = {}  # predictions by reference
        self.sizes: dict[str, int] = {}  # bytes to fetch for a model of the hub, by reference
        self._asked: set[str] = set()
        self._waiting: list[ModelOutline] = []
        self._running: list[ModelOutline] = []  # those that the engine was asked about
        self._question: Question | None = None
        self._settled: LoadOptions | None = None  # what the user had settled when these were asked
        self._outlining = 0  # models of the catalogue that are on their way to be asked about
        self._looks = 0

    def ask(self, models: Sequence[ListedModel], on_hub: bool = False) -> None:
        """Predict these, as far as that was not done with these settings; `changed` follows as answers come.

        With ``on_hub`` the hub is asked for what is not of the catalogue; what was asked of it before and is not
        answered is given up.
        """
        options = self._options()
        if options != self._settled:
            self._settled = options
            self.forget()
        if on_hub:
            self._looks += 1
        for model in models:
            if model.problem or model.reference in self._asked:
                continue
            if model.catalogued:
                self._asked.add(model.reference)
                self._outlining += 1
                self._worker.run(partial(_outlined, model), self._take_outlined, self._take_none)
            elif on_hub:
                work = partial(self._asked_of_hub, model, self._looks)
                self._hub_worker.run(work, self._take_of_hub, partial(self._refuse, model))

    def ask_installed(self, entries: Sequence[InstalledEntry]) -> None:
        """Predict models that are here."""
        for entry in entries:
            usable = entry.kind == "target" and not (entry.problem or entry.bundled or entry.server)
            if usable and entry.ref not in self._asked:
                self._asked.add(entry.ref)
                self._waiting.append(ModelOutline(entry.ref, entry.place or entry.ref))
        self._send()

    @Slot()
    def forget(self) -> None:
        """Something changed that decides: the budgets, the machine's measured speeds, the room on the disk.

        Known predictions stay until there is another answer.
        """
        self._asked.clear()
        self._waiting.clear()
        self._running = []
        if self._question is not None:
            self._question.drop()

    @property
    def under_way(self) -> bool:
        """True if answers are still to come, so that what is best may change."""
        return bool(self._running) or bool(self._waiting) or self._outlining > 0

    def close(self) -> None:
        """Ask nothing more. May be called twice."""
        self._worker.close()
        self._hub_worker.close()

    def _asked_of_hub(self, model: ListedModel, number: int) -> tuple[ModelOutline, int | None] | None:
        if number != self._looks:  # another search came meanwhile
            return None
        from engine.hub.offer import find_or_outline, outlined_bytes

        with closing(connect()) as hub:
            place = find_or_outline(model.reference, hub)
        return ModelOutline(model.reference, str(place)), outlined_bytes(place)

    def _take_outlined(self, outline: ModelOutline) -> None:
        self._outlining -= 1
        self._take(outline)

    def _take_none(self, error: TenonError) -> None:
        """Note that a model of the catalogue has no figures."""
        self._outlining -= 1

    def _take(self, outline: ModelOutline) -> None:
        self._waiting.append(outline)
        self._send()

    def _take_of_hub(self, found: tuple[ModelOutline, int | None] | None) -> None:
        if found is None:
            return
        outline, size_bytes = found
        self._asked.add(outline.reference)
        if size_bytes is not None:
            self.sizes[outline.reference] = size_bytes
        self.changed.emit()
        self._take(outline)

    def _refuse(self, model: ListedModel, error: TenonError) -> None:
        self.known[model.reference] = Prediction(problem=error.message)
        self.changed.emit()

    def _options(self) -> LoadOptions:
        """Facts that hold for every model, whichever is chosen."""
        own = load_options(self._settings)
        return LoadOptions(
            weights=own.weights,
            context=own.context,
            ram_budget_bytes=own.ram_budget_bytes,
            vram_budget_bytes=own.vram_budget_bytes,
        )

    def _send(self) -> None:
        if self._running or not self._waiting:
            return
        self._running, self._waiting = self._waiting[:_AT_ONCE], self._waiting[_AT_ONCE:]
        self._question = self._client.ask(PredictModels("", tuple(self._running), self._options()))
        self._question.done(self._take_prediction).failed(self._fail)

    def _take_prediction(self, predicted: ModelPredicted) -> None:
        self.known[predicted.reference] = predicted.prediction
        self._running = [outline for outline in self._running if outline.reference != predicted.reference]
        self._send()
        self.changed.emit()

    def _fail(self, error: ErrorReport) -> None:
        """Keep open questions for the next engine; this object does not start one, for it may have been the cause."""
        lost, self._running = self._running, []
        if error.kind != EngineStopped.__name__:
            self._send()
            return
        self._asked.difference_update(outline.reference for outline in (*lost, *self._waiting))
        self._waiting.clear()


def _outlined(model: ListedModel) -> ModelOutline:
    from engine.hub.offer import find_or_outline

    draft = str(find_or_outline(model.drafts[0])) if model.drafts else None
    return ModelOutline(model.reference, str(find_or_outline(model.reference)), draft)
