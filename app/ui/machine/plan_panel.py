"""The plan: for which model and context, every mode, and what the figures come from."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.ui.boxes import STRETCH, filled
from app.ui.inert_text import PlainLabel
from app.ui.machine.pick_button import PickButton
from app.ui.machine.plan_table import PlanTable
from app.ui.machine.words import plan_notes
from app.ui.theme.theme import Theme
from app.words import tr
from engine.messages import PlanReport

_STACKED_PX = 480
_PILED_PX = 360


class PlanPanel(QFrame):
    """A frame with head, table and notes.

    Attributes:
        model: Chooses the model.
        context: Chooses its context.
        table: Every mode.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "panel")
        title = PlainLabel(tr("Plan"), self, kind="section")
        subtitle = PlainLabel(
            tr("Ways to run the model by predicted speed, fastest first"), self, kind="sub", wrap=True
        )
        words = filled(QVBoxLayout(), title, subtitle, spacing=2)
        self.model = PickButton(theme, tr("Model to plan"), self)
        self.context = PickButton(theme, tr("Context to plan"), self)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        # With an alignment, their greatest width is not taken for that of the whole head, nor its height for that.
        self._buttons.addWidget(self.model, 0, Qt.AlignmentFlag.AlignLeft)
        self._buttons.addWidget(self.context, 0, Qt.AlignmentFlag.AlignLeft)
        self._head = filled(QHBoxLayout(), *((words, 1), self._buttons), margins=(16, 14, 16, 8), spacing=12)
        self.table = PlanTable(theme, self)
        self._notes = PlainLabel(self, kind="notes", wrap=True)
        self._notes.setContentsMargins(13, 9, 13, 11)
        self._notes.setAlignment(Qt.AlignmentFlag.AlignTop)
        filled(QVBoxLayout(self), self._head, self.table, self._notes, STRETCH, margins=1, spacing=0)

    @property
    def notes(self) -> str:
        """Text below the table."""
        return self._notes.text()

    def set_plan(self, plan: PlanReport | None, problem: str) -> None:
        """Show a plan, or why there is none.

        Args:
            plan: None while there is none.
            problem: One sentence; empty while the plan is awaited.
        """
        self.table.set_plan(plan)
        if plan is None:
            self._notes.setText(
                problem or tr("The plan is being made. While a reply runs it waits for its end.")
            )
            return
        none = [] if plan.chosen else [plan.reason]
        self._notes.setText("\n".join([*none, *plan_notes(plan)]))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the buttons under the title if there is no room beside it."""
        super().resizeEvent(event)
        px, down, along = (
            self._theme.type.px,
            QBoxLayout.Direction.TopToBottom,
            QBoxLayout.Direction.LeftToRight,
        )
        self._head.setDirection(down if self.width() < px(_STACKED_PX) else along)
        self._buttons.setDirection(down if self.width() < px(_PILED_PX) else along)
