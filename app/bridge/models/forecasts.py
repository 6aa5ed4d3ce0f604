"""Forecasts of models that are not here yet: their outlines, and what the engine predicts of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engine_client import EngineClient
from app.bridge.models.downloads import connect
from app.bridge.models.lane import Lane
from app.chat.engine_options import load_options
from app.chat.model_entries import InstalledEntry, ListedModel
from app.settings.settings import Settings
from engine.errors import TenonError
from engine.messages import (
    Cancel,
    Event,
    Failed,
    ModelOutline,
    ModelPredicted,
    Prediction,
    PredictModels,
)

# So few at once that a message which is sent meanwhile waits for hardly anything.
_AT_ONCE = 3


class Forecasts(QObject):
    """Asks for each model once, and again when something changed that decides.

    Attributes:
        known: Predictions by reference.
        sizes: What fetching a model of the hub would bring in bytes, by reference.
    """

    changed = Signal()

    def __init__(self, settings: Settings, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._client = client
        self._lane = Lane("models-outlines", self)
        self._hub_lane = Lane("models-hub-outlines", self)
        self.known: dict[str, Prediction] = {}
        self.sizes: dict[str, int] = {}
        self._asked: set[str] = set()
        self._waiting: list[ModelOutline] = []
        self._running: tuple[str, list[ModelOutline]] | None = None
        self._settled: tuple[object, ...] = ()  # what the person had settled when these were asked
        self._outlining = 0  # models of the catalogue that are on their way to be asked about
        self._requests = 0
        self._looks = 0
        client.event_received.connect(self._receive)
        client.stopped.connect(self._engine_stopped)

    def ask(self, models: Sequence[ListedModel], on_hub: bool = False) -> None:
        """Predict these, as far as that was not done with these settings; `changed` follows as answers come.

        Args:
            models: Of the catalogue, or found on the hub.
            on_hub: Whether the hub may be asked for what is not of the catalogue; what was asked of it before and
                is not answered is given up.
        """
        options = load_options(self._settings)
        settled = (
            options.weights,
            options.context,
            options.ram_budget_bytes,
            options.vram_budget_bytes,
        )
        if settled != self._settled:
            self._settled = settled
            self.forget()
        if on_hub:
            self._looks += 1
        for model in models:
            if model.problem or model.reference in self._asked:
                continue
            if model.catalogued:
                self._asked.add(model.reference)
                self._outlining += 1
                self._lane.run(partial(_outlined, model), self._take_outlined, self._take_none)
            elif on_hub:
                work = partial(self._asked_of_hub, model, self._looks)
                self._hub_lane.run(work, self._take_of_hub, partial(self._refuse, model))

    def ask_installed(self, entries: Sequence[InstalledEntry]) -> None:
        """Predict models that are here."""
        for entry in entries:
            usable = entry.kind == "target" and not entry.problem and not entry.bundled
            if usable and entry.ref not in self._asked:
                self._asked.add(entry.ref)
                self._waiting.append(ModelOutline(entry.ref, entry.place or entry.ref))
        self._send()

    def forget(self) -> None:
        """Something changed that decides: the budgets, the machine's measured speeds, the room on the disk.

        What is known stays until there is another answer.
        """
        self._asked.clear()
        self._waiting.clear()
        if self._running is not None:
            self._client.send(Cancel(self._running[0]))
            self._running = None

    @property
    def under_way(self) -> bool:
        """Whether answers are still to come, so that what is best may change."""
        return self._running is not None or bool(self._waiting) or self._outlining > 0

    def close(self) -> None:
        """Ask nothing more. May be called twice."""
        self._lane.close()
        self._hub_lane.close()

    def _asked_of_hub(self, model: ListedModel, number: int) -> tuple[ModelOutline, int | None] | None:
        if number != self._looks:  # another search came meanwhile
            return None
        from engine.hub.outline import find_or_outline, outlined_bytes

        hub = connect()
        try:
            place = find_or_outline(model.reference, hub)
        finally:
            hub.close()
        return ModelOutline(model.reference, str(place)), outlined_bytes(place)

    def _take_outlined(self, outline: ModelOutline) -> None:
        self._outlining -= 1
        self._take(outline)

    def _take_none(self, error: TenonError) -> None:
        """A model of the catalogue that cannot be outlined has no figures."""
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

    def _send(self) -> None:
        if self._running is not None or not self._waiting:
            return
        batch, self._waiting = self._waiting[:_AT_ONCE], self._waiting[_AT_ONCE:]
        self._requests += 1
        request_id = f"forecast-{self._requests}"
        self._running = (request_id, batch)
        options = load_options(self._settings)
        self._client.start()
        self._client.send(
            PredictModels(
                request_id,
                tuple(batch),
                options.weights,
                options.context,
                options.ram_budget_bytes,
                options.vram_budget_bytes,
            )
        )

    @Slot(object)
    def _receive(self, event: Event) -> None:
        if self._running is None:
            return
        request_id, batch = self._running
        if isinstance(event, ModelPredicted) and event.request_id == request_id:
            self.known[event.reference] = event.prediction
            batch[:] = [outline for outline in batch if outline.reference != event.reference]
            if not batch:
                self._running = None
                self._send()
            self.changed.emit()
        elif isinstance(event, Failed) and event.request_id == request_id:
            self._running = None
            self._send()

    @Slot(str)
    def _engine_stopped(self, sentence: str) -> None:
        """Keep open questions for the next engine; this object does not start one, for it may have been the cause."""
        if self._running is not None:
            self._asked.difference_update(outline.reference for outline in self._running[1])
            self._running = None
        self._asked.difference_update(outline.reference for outline in self._waiting)
        self._waiting.clear()


def _outlined(model: ListedModel) -> ModelOutline:
    from engine.hub.outline import find_or_outline

    draft = str(find_or_outline(model.drafts[0])) if model.drafts else None
    return ModelOutline(model.reference, str(find_or_outline(model.reference)), draft)
