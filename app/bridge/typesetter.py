"""Typesets formulas beside the window: a process that is started with the first formula and ended when it rests."""

from __future__ import annotations

import json
from dataclasses import asdict
from threading import Event

from PySide6.QtCore import QObject, Signal

from app.bridge.worker import Worker
from app.chat.formula import Formula, FormulaShape
from engine.errors import UnsupportedModel
from engine.json_text import from_plain, read_json
from engine.preparer import Beyond, Preparer

# Each level of nesting takes the library four times as long, and a model can nest without limit. The limit includes the
# load of the library, which the first formula waits for.
TYPESETTING = Preparer("tenon-typesetter", 8.0, 512 << 20, 512 << 20, idle_s=120.0, nice=10)
_END_S = 1.0


class Typesetter(QObject):
    """Typesets formulas in a process of its own, and emits their shapes.

    One formula takes longer than a frame of the window may, and a few take for ever.
    """

    answered = Signal(object, object)  # Formula; FormulaShape, or None where it cannot be read

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = Worker("tenon-typesetter", self)
        self._closed = Event()

    def ask(self, formula: Formula) -> None:
        """Have a formula typeset; `answered` follows."""
        self._worker.run(lambda: self._shape(formula), lambda shape: self.answered.emit(formula, shape))

    def close(self) -> None:
        """Drop the formula that is being typeset, and end the process. May be called twice."""
        self._closed.set()
        self._worker.close(_END_S)
        TYPESETTING.end()

    def _shape(self, formula: Formula) -> FormulaShape | None:
        question = json.dumps(asdict(formula)).encode()
        try:
            found = read_json(TYPESETTING.ask("app.bridge.typesetting:answer", question, self._closed.is_set))
        except (Beyond, RuntimeError, UnsupportedModel):  # the source is shown
            return None
        return None if found is None else from_plain(FormulaShape, found)
