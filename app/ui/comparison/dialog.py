"""The same prompt in two modes side by side: times, speed, and whether they say the same."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.bridge.workspace import Workspace
from app.ui.boxes import STRETCH, filled
from app.ui.buttons import push_button
from app.ui.comparison.column import TrialColumn
from app.ui.comparison.wording import agreement_words, as_text
from app.ui.form_fields import LongTextEdit
from app.ui.inert_text import PlainLabel
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import Theme
from app.words import tr
from engine.errors import TenonError
from engine.messages import ChatMessage

_SIZE = QSize(900, 640)
_NARROW_PX = 560
_SIDE_PX = 20
_ICON_PX = 16
_MOST_TOKENS = 4096


class ComparisonDialog(RingedDialog):
    """Nothing of it is kept in the chats.

    Args:
        workspace: Compares; its modes are offered.
        prompt: Text in the field at first; its files go along.
        before: The turns before it in its chat; None where it belongs to none.
    """

    def __init__(
        self,
        theme: Theme,
        workspace: Workspace,
        prompt: ChatMessage,
        before: tuple[ChatMessage, ...] | None,
        parent: QWidget,
    ) -> None:
        super().__init__(theme, tr("Compare two modes"), parent)
        self._theme = theme
        self._workspace = workspace
        self._before = before
        self._attachments = prompt.attachments
        label = PlainLabel(tr("Prompt"), self, kind="label")
        self.prompt = LongTextEdit(self)
        self.prompt.setPlainText(prompt.content)
        self.prompt.setProperty("kind", "field")
        self.prompt.setAccessibleName(tr("Prompt"))
        self.prompt.setTabChangesFocus(True)
        self.prompt.setPlaceholderText(tr("A question for both modes"))
        self.prompt.setFixedHeight(theme.type.px(18) * 3 + 14)
        label.setBuddy(self.prompt)
        turns = sum(turn.role != "system" for turn in before or ())
        self.context = PlainLabel(
            tr("After the %n message(s) before it in the chat.", n=turns), self, kind="small", wrap=True
        )
        self.context.setVisible(turns > 0)
        modes = workspace.modes()
        own = workspace.mode()
        self.columns = (
            TrialColumn(theme, tr("First mode"), modes, "plain", self),
            TrialColumn(theme, tr("Second mode"), modes, own if own != "plain" else "lookup", self),
        )
        self._pair = filled(QHBoxLayout(), *((trial, 1) for trial in self.columns), spacing=12)
        self._make_verdict()
        head = filled(QHBoxLayout(), label, STRETCH, spacing=8)
        self._make_limit(head)
        page = QWidget()
        page.setProperty("kind", "column")
        filled(
            QVBoxLayout(page),
            *(head, self.prompt, self.context, 4, (self._pair, 1)),
            margins=(_SIDE_PX, 2, _SIDE_PX, 2),
            spacing=8,
        )
        scroll = QScrollArea(self)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it takes the focus
        foot = filled(
            QVBoxLayout(),
            *(self._verdict, self._make_buttons()),
            margins=(_SIDE_PX, 8, _SIDE_PX, 14),
            spacing=12,
        )
        filled(QVBoxLayout(self), (scroll, 1), foot, margins=(0, 14, 0, 0), spacing=0)
        workspace.comparison.changed.connect(self._show)
        self.finished.connect(self._forget)
        self._show()
        room = parent.window().size() - QSize(40, 40)
        self.resize(_SIZE.boundedTo(room).expandedTo(QSize(340, 320)))
        self.prompt.setFocus()

    @property
    def verdict_text(self) -> str:
        """The agreement's sentence; empty where there is none."""
        return "" if self._verdict.isHidden() else self._sentence.text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow dialog the replies stand one above the other."""
        super().resizeEvent(event)
        narrow = self.width() < self._theme.type.px(_NARROW_PX)
        down, right = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._pair.setDirection(down if narrow else right)
        self._limit_label.setVisible(not narrow)
        self.close_button.setVisible(not narrow)  # Escape and the window's frame do the same

    def _make_verdict(self) -> None:
        self._verdict = QFrame(self)
        self._icon = PlainLabel(self._verdict)
        self._icon.setFixedSize(_ICON_PX, _ICON_PX)
        self._sentence = PlainLabel(self._verdict, kind="strong", wrap=True)
        filled(QHBoxLayout(self._verdict), self._icon, (self._sentence, 1), margins=0, spacing=8)

    def _make_limit(self, head: QHBoxLayout) -> None:
        self._limit_label = PlainLabel(tr("Longest reply"), self, kind="sub")
        self.limit = QDoubleSpinBox(self)
        self.limit.setDecimals(0)
        self.limit.lineEdit().setTextMargins(6, 0, 6, 0)  # a style sheet's padding does not reach it
        self.limit.setRange(8, _MOST_TOKENS)
        self.limit.setSingleStep(64)
        self.limit.setValue(256)
        self.limit.setSuffix(f" {tr('tokens')}")
        self.limit.setAccessibleName(tr("Longest reply"))
        filled(head, self._limit_label, self.limit)

    def _make_buttons(self) -> QHBoxLayout:
        self.copy_button = push_button(tr("Copy as text"), self, self._copy)
        self.close_button = push_button(tr("Close"), self, self.reject)
        self.run_button = push_button("", self, self._run, kind="primary", default=True)
        return filled(QHBoxLayout(), STRETCH, self.copy_button, self.close_button, self.run_button, spacing=8)

    @Slot()
    def _run(self) -> None:
        comparison = self._workspace.comparison
        if comparison.running:
            comparison.stop()
            return
        first, second = (column.mode.mode() or "plain" for column in self.columns)
        try:
            comparison.start(
                self.prompt.toPlainText(),
                (first, second),
                int(self.limit.value()),
                self._before,
                self._attachments,
            )
        except TenonError as error:
            self._say(error.message, "circle-alert", "red")

    @Slot()
    def _show(self) -> None:
        comparison = self._workspace.comparison
        agreement, trials = comparison.agreement, comparison.trials
        at = next((at for at, trial in enumerate(trials) if not trial.ended), len(trials))
        marked = None if agreement is None or agreement.identical else agreement.characters
        for number, column in enumerate(self.columns):
            trial = trials[number] if number < len(trials) else None
            column.show_trial(trial, comparison.running and number == at, marked)
            column.mode.setEnabled(not comparison.running)
        self.prompt.setReadOnly(comparison.running)
        self.limit.setEnabled(not comparison.running)
        self.run_button.setText(tr("Stop") if comparison.running else tr("Compare"))
        self.copy_button.setEnabled(bool(trials) and not comparison.running)
        if agreement is None:
            self._verdict.hide()
        else:
            icon, color = ("circle-check", "acc") if agreement.identical else ("triangle-alert", "map")
            self._say(agreement_words(trials, agreement), icon, color)

    def _say(self, sentence: str, icon: str, role: str) -> None:
        color = str(getattr(self._theme.palette, role))
        self._icon.setPixmap(tinted_pixmap(icon, color, _ICON_PX, self.devicePixelRatioF()))
        self._sentence.setText(sentence)
        self._verdict.setAccessibleName(sentence)
        self._verdict.show()

    @Slot()
    def _copy(self) -> None:
        comparison, model = self._workspace.comparison, self._workspace.model.state.model_name
        text = as_text(model, self.prompt.toPlainText(), comparison.trials, comparison.agreement)
        QGuiApplication.clipboard().setText(text)

    @Slot()
    def _forget(self) -> None:
        self._workspace.comparison.changed.disconnect(self._show)
        self._workspace.comparison.forget()
