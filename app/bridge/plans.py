"""Answers of the engine about the chosen model, asked for on demand: predictions of every mode, and drafts that fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from PySide6.QtCore import QObject, Signal

from app.bridge.engine_client import EngineClient, Question
from app.bridge.models.installed import Installed
from app.chat.engine_options import load_options, planned
from app.chat.modes import Choice, draft_choices, toggled
from app.settings.settings import Settings
from app.words import tr
from engine.errors import EngineStopped
from engine.hub.bundled import bundled_drafts, bundled_model
from engine.hub.endpoints import is_remote
from engine.hub.installed import installed_models
from engine.messages import (
    OWN_HEAD,
    CheckDrafts,
    DraftChecked,
    ErrorReport,
    LoadOptions,
    MakePlan,
    ModelAdvice,
    PlanMade,
    PlanReport,
)
from engine.modes import mode_of, named_drafts


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


class Drafts(QObject):
    """Asks the engine whether a draft fits before it becomes the chosen one, so that a bad choice costs no load."""

    changed = Signal()  # what is known of the drafts
    chosen = Signal()  # another draft is in the settings
    refused = Signal(str)  # one sentence; the draft before stays

    def __init__(
        self,
        settings: Settings,
        client: EngineClient,
        plans: Plans,
        installed: Installed,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._client = client
        self._plans = plans
        self._installed = installed
        self._look: Question | None = None  # through the drafts of a menu
        self._choice: Question | None = None  # about one that the user wants
        self._problems: dict[tuple[str, str], str] = {}  # by model and draft
        self._modes: dict[str, str] = {}  # that drafts make alone

    def choices(self, chosen: Sequence[str]) -> list[Choice]:
        """Return the drafts to choose from: Tenon's choice, none, lookup, and every draft that this computer has.

        Args:
            chosen: Drafts in use, which are marked.
        """
        model = self._settings.model
        known = {draft: problem for (of, draft), problem in self._problems.items() if of == model}
        offered = (ref for ref in self._references() if ref != OWN_HEAD or known.get(ref) == "" or ref in chosen)
        refs = {ref: _bundled_mode(ref) or self._modes.get(ref, "") for ref in offered}
        plans = {ref: self._plans.of(self._with(ref)) for ref in ("", *refs)}
        types = {entry.ref: entry.type for entry in self._installed.entries}
        return draft_choices(refs, bundled_drafts(model), chosen, known, plans, types)

    def look_through(self) -> None:
        """Ask the engine which drafts fit the chosen model; `changed` follows as answers come."""
        self.stop_looking()
        model = self._settings.model

        def looked_at(checked: DraftChecked) -> None:
            self._problems[model, checked.draft] = checked.problem
            self._modes[checked.draft] = checked.mode
            if not checked.problem:
                self._plans.ask(self._with(checked.draft))
            self.changed.emit()

        self._plans.ask(self._with(""))
        self._look = self._ask(tuple(self._references())).done(looked_at)

    def stop_looking(self) -> None:
        """Drop the questions of a menu that was closed, so that nothing more is read for it."""
        if self._look is not None:
            self._look.drop()

    def choose(self, ref: str) -> None:
        """Use a draft for the chosen model too, if it fits it, or no longer; an empty one leaves it to Tenon."""
        if self._choice is not None:
            self._choice.drop()
        model = self._settings.model
        wanted = toggled(self._settings.drafts_of(model), ref)
        if ref not in named_drafts(wanted):
            self._take(model, wanted)
            return

        def checked(answer: DraftChecked) -> None:
            self._problems[model, answer.draft] = answer.problem
            if answer.problem:
                self.refused.emit(answer.problem)
            else:
                self._take(model, wanted)

        self._choice = self._ask((ref,)).done(checked).failed(self._refuse)

    def _with(self, draft: str) -> LoadOptions:
        """Return options of the chosen model with one draft alone, or with none."""
        return replace(load_options(self._settings), drafts=(draft,) if draft else ())

    def _references(self) -> list[str]:
        """Drafts to ask about, each once: what ships or comes with the model, what is installed, what was chosen."""
        model = self._settings.model
        installed = (str(model.location) for model in installed_models() if model.is_whole)
        found = [*bundled_drafts(model), OWN_HEAD, *installed, *chain(*self._settings.drafts.values())]
        return [ref for ref in dict.fromkeys(named_drafts(found)) if ref != model]

    def _ask(self, drafts: tuple[str, ...]) -> Question:
        return self._client.ask(CheckDrafts("", load_options(self._settings), drafts))

    def _refuse(self, error: ErrorReport) -> None:
        if error.kind != EngineStopped.__name__:  # which is told in another place
            self.refused.emit(error.message)

    def _take(self, model: str, drafts: tuple[str, ...]) -> None:
        self._settings.remember_drafts(model, drafts)
        self.chosen.emit()


def _bundled_mode(ref: str) -> str:
    """Return the mode that a bundled draft makes alone, or an empty text for every other draft."""
    draft = bundled_model(ref)
    return "" if draft is None else mode_of(draft.kind).name
