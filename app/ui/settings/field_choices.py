"""Choices that the workspace is asked for: modes and drafts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.workspace import Workspace
from app.chat.modes import Choice, PlanRow
from app.ui.figures import speed
from app.words import tr


class FieldChoices(QObject):
    """Asks whenever a list opens; whether drafts fit is asked of the engine from `look` on until the dialog closes."""

    changed = Signal()  # more is known of the drafts

    def __init__(self, workspace: Workspace, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._looking = False
        workspace.drafts.changed.connect(self.changed)

    def by_name(self) -> Mapping[str, Callable[[], list[Choice]]]:
        """Questions to ask, by the names of settings."""
        return {"mode": self.modes, "drafts": self.drafts}

    def modes(self) -> list[Choice]:
        """Every mode, auto first; those that cannot run say why, the others what is known of their speed."""
        plan = {row.name: row for row in self._workspace.inspection.plan()}
        return [replace(mode, figure=_figure(plan.get(mode.key))) for mode in self._workspace.modes()]

    def drafts(self) -> list[Choice]:
        """Leaving it to Tenon, and every draft that this computer has for the chosen model."""
        self.look()
        return self._workspace.drafts.choices()

    def problem(self, name: str, value: Any) -> str:
        """Reason why the choice cannot be, as far as it is known without asking; empty where it can."""
        choices = self._workspace.modes() if name == "mode" else ()
        return next((choice.problem for choice in choices if choice.key == value and choice.problem), "")

    def look(self) -> None:
        """Ask the engine once which drafts fit; answers come with `changed`."""
        if not self._looking:
            self._looking = True
            self._workspace.drafts.look_through()

    @Slot()
    def stop(self) -> None:
        """Drop the questions that were not answered yet."""
        if self._looking:
            self._looking = False
            self._workspace.drafts.stop_looking()


def _figure(row: PlanRow | None) -> str:
    """Return a mode's speed and whether it was measured or predicted, or an empty text."""
    if row is None or row.expected is None:
        return ""
    if row.measured is None:
        return tr("predicted {speed}", speed=speed(row.expected))
    return tr("measured {speed}", speed=speed(row.expected))
