"""Predictions of every mode, asked of the engine when somebody looks, and kept."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.bridge.engine_client import EngineClient
from app.chat.engine_options import load_options, planned
from app.settings.settings import Settings
from app.words import tr
from engine.errors import EngineStopped
from engine.hub.endpoints import is_remote
from engine.messages import ErrorReport, LoadOptions, MakePlan, ModelAdvice, PlanMade, PlanReport


class Plans(QObject):
    """Plans by what they depend on; the last one of each stays until another comes."""

    answered = Signal(object)  # LoadOptions: what was planned, or could not be

    def __init__(self, settings: Settings, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._client = client
        self._asked: set[LoadOptions] = set()
        self._plans: dict[LoadOptions, PlanReport] = {}
        self._problems: dict[LoadOptions, str] = {}
        self._advice: dict[str, ModelAdvice] = {}  # by model

    @property
    def chosen(self) -> PlanReport | None:
        """The plan of what the settings name; None while there is none."""
        return self.of(load_options(self._settings))

    def of(self, options: LoadOptions) -> PlanReport | None:
        """Return a plan, or None until it is there."""
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
        if wanted in self._asked:
            return
        if is_remote(wanted.model):
            self._problems[wanted] = tr("This model runs on a server, so nothing is planned here.")
            self.answered.emit(wanted)
            return
        self._asked.add(wanted)
        question = self._client.ask(MakePlan("", wanted))
        question.done(lambda made: self._keep(wanted, made))
        question.failed(lambda error: self._keep(wanted, error))

    def forget(self) -> None:
        """Drop the plans; they no longer hold."""
        self._plans, self._problems = {}, {}

    def _keep(self, wanted: LoadOptions, answer: PlanMade | ErrorReport) -> None:
        self._asked.discard(wanted)
        self._problems.pop(wanted, None)
        if isinstance(answer, PlanMade):
            self._plans[wanted] = answer.plan
            self._advice[wanted.model] = answer.advice
        else:
            if answer.kind != EngineStopped.__name__:
                self._plans.pop(wanted, None)
            self._problems[wanted] = answer.message
        self.answered.emit(wanted)
