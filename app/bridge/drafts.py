"""Drafts for the chosen model: those that fit, and choosing one."""

from __future__ import annotations

from itertools import chain

from PySide6.QtCore import QObject, Signal

from app.bridge.engine_client import EngineClient
from app.bridge.question import Question
from app.chat.choices import Choice, draft_choices, draft_names, toggled
from app.chat.engine_options import load_options
from app.settings.settings import Settings
from engine.errors import EngineStopped
from engine.hub.bundled import bundled_drafts, bundled_model, paired_drafts
from engine.hub.inventory import installed_models
from engine.messages import CheckDrafts, DraftChecked, ErrorReport, ModeDescriptor


class Drafts(QObject):
    """Asks the engine whether a draft fits before it becomes the chosen one, so that a bad choice costs no load."""

    changed = Signal()  # what is known of the drafts
    chosen = Signal()  # another draft is in the settings
    refused = Signal(str)  # one sentence; the draft before stays

    def __init__(self, settings: Settings, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._client = client
        self._look: Question | None = None  # through the drafts of a menu
        self._choice: Question | None = None  # about one that the user wants
        self._problems: dict[tuple[str, str], str] = {}  # by model and draft

    def taken_by(self, mode: ModeDescriptor) -> str | None:
        """Names of the drafts that a mode would take; empty where there is none, None where it takes other kinds."""
        model = self._settings.model
        chosen = self._settings.drafts_of(model)
        if not chosen:
            return draft_names(paired_drafts(model, mode.drafts, mode.takes_several))
        # Of drafts that did not ship the engine says whether a mode takes them, when it plans.
        kinds = {ref: bundled_model(ref) for ref in chosen}
        taken = [ref for ref, bundled in kinds.items() if bundled is None or bundled.kind in mode.drafts]
        return draft_names(taken if mode.takes_several else taken[:1]) or None

    @property
    def chosen_name(self) -> str:
        """Names of the drafts that were chosen for the model; empty where none was."""
        return draft_names(self._settings.drafts_of(self._settings.model))

    def choices(self) -> list[Choice]:
        """Leaving it to Tenon, and every draft that this computer has, with what is known to be wrong with it."""
        model = self._settings.model
        known = {draft: problem for (of, draft), problem in self._problems.items() if of == model}
        return draft_choices(
            self._references(), bundled_drafts(model), self._settings.drafts_of(model), known
        )

    def look_through(self) -> None:
        """Ask the engine which drafts fit the chosen model; `changed` follows as answers come."""
        self.stop_looking()
        model = self._settings.model

        def looked_at(checked: DraftChecked) -> None:
            self._problems[model, checked.draft] = checked.problem
            self.changed.emit()

        self._look = self._ask(tuple(self._references())).done(looked_at)

    def stop_looking(self) -> None:
        """Drop the questions of a menu that was closed, so that no reply waits for them."""
        if self._look is not None:
            self._look.drop()

    def choose(self, ref: str) -> None:
        """Use a draft for the chosen model too, if it fits it, or no longer; an empty one for none at all."""
        if self._choice is not None:
            self._choice.drop()
        model = self._settings.model
        wanted = toggled(self._settings.drafts_of(model), ref)
        if ref not in wanted:
            self._take(model, wanted)
            return

        def checked(answer: DraftChecked) -> None:
            self._problems[model, answer.draft] = answer.problem
            if answer.problem:
                self.refused.emit(answer.problem)
            else:
                self._take(model, wanted)

        self._choice = self._ask((ref,)).done(checked).failed(self._refuse)

    def _references(self) -> list[str]:
        """Drafts to offer, each once: what ships for the model, what is installed, what was chosen before."""
        model = self._settings.model
        installed = (str(model.location) for model in installed_models() if model.is_whole)
        found = [*bundled_drafts(model), *installed, *chain(*self._settings.drafts.values())]
        return [ref for ref in dict.fromkeys(found) if ref != model]

    def _ask(self, drafts: tuple[str, ...]) -> Question:
        return self._client.ask(CheckDrafts("", load_options(self._settings), drafts))

    def _refuse(self, error: ErrorReport) -> None:
        if error.kind != EngineStopped.__name__:  # which is told in another place
            self.refused.emit(error.message)

    def _take(self, model: str, drafts: tuple[str, ...]) -> None:
        self._settings.remember_drafts(model, drafts)
        self.chosen.emit()
