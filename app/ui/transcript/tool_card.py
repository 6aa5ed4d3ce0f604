"""The card of a tool's call: its name, what it is called with, the question before it, and what came of it.

Arguments and results are shown as plain text, with boxes for what nobody sees: what a server sends is neither HTML
nor Markdown here, and no link.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QTextEdit, QVBoxLayout, QWidget

from app.chat.conversation import ToolStep
from app.ui import figures
from app.ui.parts import ElidedLabel, Flow, InertDocument, PlainLabel, filled, push_button
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.hidden_signs import insert_code
from app.ui.transcript.selectable import Selectable
from app.words import mark, tr
from engine.json_text import read_json
from engine.sentences import figure, legible

_MOST_CHARACTERS = 20_000
_MOST_PX = 240
_MOST_ON_A_LINE = 80
_LONGEST_SENTENCE = 300
_MARGIN_PX = 14
_GAP_PX = 10
_STATES = {
    "asks": mark("Wants to be called"),
    "runs": mark("Works"),
    "done": mark("Done"),
    "failed": mark("Failed"),
    "refused": mark("Not allowed"),
}
_ANSWERS = (
    ("once", mark("Allow once")),
    ("chat", mark("In this chat")),
    ("always", mark("Always this tool")),
    ("no", mark("Do not allow")),
)


class PlainView(QTextEdit):
    """Text as it is, which scrolls where it is long."""

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setDocument(InertDocument(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.text = ""  # text that it shows, or the beginning of it

    def show_text(self, text: str) -> None:
        """Show a text from its beginning."""
        left = len(text) - _MOST_CHARACTERS
        shown = f"{text[:_MOST_CHARACTERS]}… (+{figure(left, ',')})" if left > 0 else text
        if shown != self.text:
            self.text = shown
            self.restyle()

    def restyle(self) -> None:
        """Take the theme's font again."""
        self.document().clear()
        self.document().setDefaultFont(self._theme.font(TextStyle.CODE))
        insert_code(QTextCursor(self.document()), self.text, 0, self._theme, 0)

    def fit(self, width: int) -> None:
        """Take as much height as the text has at a width, but no more than some lines."""
        self.document().setTextWidth(width - 8)
        height = min(int(self.document().size().height()) + 6, self._theme.type.px(_MOST_PX))
        self.setFixedHeight(height)

    def minimumSizeHint(self) -> QSize:
        return QSize(40, self.height())


class ToolCard(QFrame):
    """Shows one step of a reply."""

    answered = Signal(str)  # `Answer`
    height_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._step: tuple[ToolStep, bool] | None = None
        self._open = False
        self.setProperty("kind", "card")
        self._title = ElidedLabel(kind="strong", parent=self)
        self._state = PlainLabel(self, kind="small")
        self._arguments = PlainView(theme, tr("What the tool is called with"), self)
        self._sentence = PlainLabel(self, kind="notice", wrap=True)
        self._question = PlainLabel(self, kind="sub", wrap=True)
        # Buttons of the answers to its question
        self.buttons = {
            name: push_button(tr(words), self, partial(self._answer, name), "primary" if name == "once" else "")
            for name, words in _ANSWERS
        }
        self._row = QWidget(self)
        flow = Flow(8)
        for button in self.buttons.values():
            flow.addWidget(button)
        filled(QVBoxLayout(self._row), flow, margins=0)
        self.fold = push_button("", self, self._turn, kind="link")  # shows the result, or hides it
        self._result = PlainView(theme, tr("What the tool returned"), self)
        head = filled(QHBoxLayout(), (self._title, 1), self._state, spacing=8)
        filled(
            QVBoxLayout(self),
            head,
            self._arguments,
            self._sentence,
            self._question,
            self._row,
            (self.fold, 0, Qt.AlignmentFlag.AlignLeft),
            self._result,
            margins=(_MARGIN_PX, 10, _MARGIN_PX, 10),
            spacing=6,
        )

    def set_step(self, step: ToolStep, live: bool) -> None:
        """Show a step as it is now; ``live`` is True while its reply may go on."""
        if (step, live) == self._step:
            return
        self._step = (step, live)
        asks = step.state == "asks" and live
        self._title.setText(str(legible(step.title or step.name)))
        words = tr(_STATES.get(step.state, _STATES["failed"]))
        if step.state in ("asks", "runs") and not live:
            words = tr("Not called") if step.state == "asks" else tr("Not finished")
        if step.seconds:
            words = f"{words}, {figures.duration(step.seconds * 1e3)}"
        self._state.setText(words)
        self._arguments.show_text(_readable(step.arguments))
        self._arguments.setVisible(bool(step.arguments.strip(" {}")))
        failed = step.state == "failed" or (asks and bool(step.result))
        sentence = step.result.split("\n")[0][:_LONGEST_SENTENCE] if failed else ""
        self._sentence.setText(sentence)
        self._sentence.setVisible(failed and bool(step.result))
        reads = tr("Its server says that it changes nothing.") if step.reads_only else ""
        self._question.setText(" ".join(filter(None, [tr("May the model call this tool?"), reads])))
        for part in (self._question, self._row):
            part.setVisible(asks)
        there = step.state in ("done", "failed") and step.result != sentence
        self.fold.setVisible(there)
        self._result.show_text(step.result if there else "")
        self._show_fold()
        self.setAccessibleName(f"{step.title}: {words}")

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        layout = self.layout()
        assert layout is not None
        for view in (self._arguments, self._result):
            view.fit(width - 2 * _MARGIN_PX)
        layout.activate()
        border = self.contentsMargins().left() + self.contentsMargins().right()
        return max(layout.heightForWidth(width - border), layout.minimumSize().height()) + border

    def restyle(self) -> None:
        """Take the theme's fonts again."""
        for view in (self._arguments, self._result):
            view.restyle()

    def _answer(self, name: str) -> None:
        self.answered.emit(name)

    @Slot()
    def _turn(self) -> None:
        self._open = not self._open
        self._show_fold()
        self.height_changed.emit()

    def _show_fold(self) -> None:
        self.fold.setText(tr("Hide the result") if self._open else tr("Show the result"))
        self._result.setVisible(self._open and not self.fold.isHidden())


class CallsBlock(QWidget):
    """Cards of the calls that stand at one place of a reply's text."""

    answered = Signal(int, str)  # number of the step in its reply, `Answer`
    height_changed = Signal()

    def __init__(self, theme: Theme, place: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.place = place  # characters of the text before them
        self.cards: dict[int, ToolCard] = {}  # by the numbers of their steps

    def set_steps(self, steps: Iterable[tuple[int, ToolStep]], live: bool) -> None:
        """Show steps, each with its number, as they are now; ``live`` is True while their reply may go on."""
        for number, step in steps:
            if number not in self.cards:
                card = self.cards[number] = ToolCard(self._theme, self)
                card.answered.connect(partial(self.answered.emit, number))
                card.height_changed.connect(self.height_changed)
                card.show()
            self.cards[number].set_step(step, live)
        self.height_changed.emit()

    def fit(self, width: int) -> int:
        """Place the cards at a width and return the height, in px."""
        top = 0
        for card in self.cards.values():
            height = card.fit(width)
            card.setGeometry(0, top, width, height)
            top += height + _GAP_PX
        return max(0, top - _GAP_PX)

    def selectables(self) -> list[Selectable]:
        """Nothing; the views in the cards have selections of their own."""
        return []

    def restyle(self) -> None:
        """Take the theme's fonts again."""
        for card in self.cards.values():
            card.restyle()


def _readable(arguments: str) -> str:
    """Return arguments as JSON, a line each if they are long; no line end within a text makes one more of them."""
    try:
        values = read_json(arguments)
    except ValueError:
        return arguments
    line = json.dumps(values, ensure_ascii=False)
    return line if len(line) <= _MOST_ON_A_LINE else json.dumps(values, ensure_ascii=False, indent=1)
