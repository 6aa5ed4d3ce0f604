"""Predictions of every mode, asked of the engine when somebody looks, and kept."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engine_client import EngineClient
from app.chat.engine_options import load_options, planned
from app.settings.settings import Settings
from engine.messages import Event, Failed, LoadOptions, MakePlan, ModelAdvice, PlanMade, PlanReport


class Plans(QObject):
    """Plans by what they depend on; the last one of each stays until another comes."""

    answered = Signal(object)  # LoadOptions: what was planned, or could not be

    def __init__(self, settings: Settings, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._client = client
        self._requests = 0
        self._asked: dict[str, LoadOptions] = {}  # by request
        self._plans: dict[LoadOptions, PlanReport] = {}
        self._problems: dict[LoadOptions, str] = {}
        self._advice: dict[str, ModelAdvice] = {}  # by model
        client.event_received.connect(self._receive)
        client.stopped.connect(self._engine_stopped)

    @property
    def chosen(self) -> PlanReport | None:
        """The plan of what the settings name; None while there is none."""
        return self.of(load_options(self._settings))

    def of(self, options: LoadOptions) -> PlanReport | None:
        """A plan; None while there is none."""
        return self._plans.get(planned(options))

    def advice_of(self, model: str) -> ModelAdvice | None:
        """Advice of a model for its replies; None while no plan has told."""
        return self._advice.get(model)

    def problem(self, options: LoadOptions) -> str:
        """Reason for the lack of a plan, in one sentence; empty where there is one, or where that is not known yet."""
        return self._problems.get(planned(options), "")

    def ask_for_chosen(self) -> None:
        """Ask for the plan of what the settings name."""
        self.ask(load_options(self._settings))

    def ask(self, options: LoadOptions) -> None:
        """Ask for a plan as things are now; `answered` follows, after a reply that runs."""
        wanted = planned(options)
        if wanted in self._asked.values():
            return
        self._requests += 1
        request_id = f"plan-{self._requests}"
        self._asked[request_id] = wanted
        self._client.start()
        self._client.send(MakePlan(request_id, wanted))

    def forget(self) -> None:
        """Drop the plans; they no longer hold."""
        self._plans, self._problems = {}, {}

    @Slot(object)
    def _receive(self, event: Event) -> None:
        if not isinstance(event, (PlanMade, Failed)) or event.request_id not in self._asked:
            return
        wanted = self._asked.pop(event.request_id)
        self._plans.pop(wanted, None)
        self._problems.pop(wanted, None)
        if isinstance(event, PlanMade):
            self._plans[wanted] = event.plan
            self._advice[wanted.model] = event.advice
        else:
            self._problems[wanted] = event.error.message
        self.answered.emit(wanted)

    @Slot(str)
    def _engine_stopped(self, sentence: str) -> None:
        lost, self._asked = self._asked, {}
        for wanted in lost.values():
            self._problems[wanted] = sentence
            self.answered.emit(wanted)
