"""Drafts for the chosen model: those that fit, and choosing one."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engine_client import EngineClient
from app.chat.choices import DraftChoice, draft_choices, draft_name
from app.chat.engine_options import load_options
from app.settings.settings import Settings
from engine.hub.bundled import bundled_drafts, paired_draft
from engine.hub.installed import installed_models
from engine.messages import Cancel, CheckDrafts, DraftChecked, Event, Failed


class Drafts(QObject):
    """Asks the engine whether a draft fits before it becomes the chosen one, so that a bad choice costs no load."""

    changed = Signal()  # what is known of the drafts
    chosen = Signal()  # another draft is in the settings
    refused = Signal(str)  # one sentence; the draft before stays

    def __init__(self, settings: Settings, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._client = client
        self._checks = 0
        self._look_id = ""  # looks through the drafts of a menu
        self._choice_id = ""  # looks at one that the person wants
        self._choice_model = ""
        self._problems: dict[tuple[str, str], str] = {}  # by model and draft
        client.event_received.connect(self._receive)
        client.stopped.connect(self._engine_stopped)

    @property
    def in_use(self) -> str:
        """Name of the draft that modes take which need one; empty where there is none."""
        model = self._settings.model
        return draft_name(self._settings.draft_of(model) or paired_draft(model) or "")

    @property
    def chosen_name(self) -> str:
        """Name of the draft that was chosen for the model; empty where none was."""
        return draft_name(self._settings.draft_of(self._settings.model))

    def choices(self) -> list[DraftChoice]:
        """None, and every draft that this computer has, with what is known to be wrong with it."""
        model = self._settings.model
        known = {draft: problem for (of, draft), problem in self._problems.items() if of == model}
        chosen, usual = self._settings.draft_of(model), paired_draft(model) or ""
        return draft_choices(self._references(), bundled_drafts(model), chosen, usual, known)

    def look_through(self) -> None:
        """Ask the engine which drafts fit the chosen model; `changed` follows as answers come."""
        self.stop_looking()
        self._look_id = self._ask(tuple(self._references()))

    def stop_looking(self) -> None:
        """The menu is closed: what was not answered yet need not be, and a reply need not wait for it."""
        if self._look_id:
            self._client.send(Cancel(self._look_id))
            self._look_id = ""

    def choose(self, ref: str) -> None:
        """Use a draft for the chosen model if it fits it; an empty one for none."""
        if self._choice_id:
            self._client.send(Cancel(self._choice_id))
            self._choice_id = ""
        self._choice_model = self._settings.model
        if ref:
            self._choice_id = self._ask((ref,))
        else:
            self._take("")

    def _references(self) -> list[str]:
        """Drafts to offer, each once: what ships for the model, what is installed, what was chosen before."""
        model = self._settings.model
        installed = (str(folder) for folder in installed_models())
        found = [*bundled_drafts(model), *installed, *self._settings.drafts.values()]
        return [ref for ref in dict.fromkeys(found) if ref != model]

    def _ask(self, drafts: tuple[str, ...]) -> str:
        self._checks += 1
        request_id = f"drafts-{self._checks}"
        self._client.start()
        self._client.send(CheckDrafts(request_id, load_options(self._settings), drafts))
        return request_id

    @Slot(object)
    def _receive(self, event: Event) -> None:
        if isinstance(event, DraftChecked) and event.request_id == self._look_id:
            self._problems[self._settings.model, event.draft] = event.problem
            self.changed.emit()
        elif isinstance(event, DraftChecked) and event.request_id == self._choice_id:
            self._choice_id = ""
            self._problems[self._choice_model, event.draft] = event.problem
            if event.problem:
                self.refused.emit(event.problem)
            else:
                self._take(event.draft)
        elif isinstance(event, Failed) and event.request_id == self._choice_id and event.request_id:
            self._choice_id = ""
            self.refused.emit(event.error.message)

    def _take(self, draft: str) -> None:
        self._settings.remember_draft(self._choice_model, draft)
        self.chosen.emit()

    @Slot(str)
    def _engine_stopped(self, sentence: str) -> None:
        self._look_id = self._choice_id = ""
