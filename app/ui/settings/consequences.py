"""Consequences of applying: the model is loaded again, and how that goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.chat.engine_options import load_options, same_in_memory
from app.chat.engine_state import EnginePhase
from app.settings.pending import PendingSettings
from app.ui import figures
from app.words import tr

if TYPE_CHECKING:
    from app.bridge.workspace import Workspace


class Consequences:
    """Says them, one sentence each; empty where there is nothing to say."""

    def __init__(self, workspace: Workspace, pending: PendingSettings) -> None:
        self._workspace = workspace
        self._pending = pending

    @property
    def loads(self) -> bool:
        """True if the chosen model has to be loaded again for what is chosen."""
        return not same_in_memory(load_options(self._pending.applied), load_options(self._pending.chosen))

    def of_apply(self) -> str:
        """Consequences of Apply."""
        load_ms = self._workspace.settings_desk.load_ms()
        if load_ms is None or not self.loads:
            return ""
        seconds = figures.ratio(load_ms / 1000)
        return tr("The model is loaded again, which took {seconds} s the last time.", seconds=seconds)

    def of_last_apply(self) -> str:
        """State of applied changes: being loaded, waiting, or failed."""
        state = self._workspace.model.state
        return tr("The model is being loaded.") if state.phase is EnginePhase.LOADING else state.sentence
