"""Typesets formulas at once and in the same process, for tests and pictures."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.bridge.typesetter import Typesetter
from app.bridge.typesetting import load, typeset
from app.chat.formula import Formula


class InstantTypesetter(Typesetter):
    """``waits`` keeps formulas until `answer_all`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.waits = False
        self.asked: list[Formula] = []

    def ask(self, formula: Formula) -> None:
        self.asked.append(formula)
        if not self.waits:
            self.answered.emit(formula, typeset(load(), formula))

    def answer_all(self) -> None:
        for formula in self.asked:
            self.answered.emit(formula, typeset(load(), formula))
