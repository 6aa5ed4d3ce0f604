"""Two modes side by side on one prompt: the dialog, its columns and sentences, and the ways that open it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, Slot
from PySide6.QtGui import QGuiApplication, QResizeEvent, QTextCursor, QTextFormat
from PySide6.QtWidgets import (
    QBoxLayout,
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.bridge.workspace import Workspace
from app.chat.comparison import Agreement, Trial, ran_title
from app.chat.modes import Choice, mode_title, plan_rows
from app.ui import figures
from app.ui.chat_page.page import ChatPage
from app.ui.chat_settings.fields import ChoiceList
from app.ui.commands import CommandGroup, Commands
from app.ui.form_fields import LongTextEdit
from app.ui.parts import STRETCH, InertDocument, PlainLabel, filled, push_button, scrolled
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.prose import wrap_mode
from app.words import mark, tr
from engine.errors import TenonError
from engine.messages import ChatMessage
from engine.modes import AUTO

# Tokens a step below which guesses have nothing to do with the speed.
_HARDLY = 1.05
# Tokens below which a few lucky guesses, or one pause of the machine, decide which mode is faster.
_ENOUGH = 32
_SIZE = QSize(900, 640)
_NARROW_PX = 560
_SIDE_PX = 20
_ICON_PX = 16
_MOST_TOKENS = 4096
# A text that is given back with one change, as people ask for it in documents and programs: guesses come from the text.
_DEMONSTRATION = mark("Write this program again, with the name total in the place of sum_of_prices:")
_PROGRAM = Path(__file__).resolve().parents[2] / "assets" / "demonstration.txt"


def state_words(trial: Trial | None, runs: bool) -> str:
    """Progress of a trial in a few words; its figures once it has ended."""
    if trial is None:
        return ""
    if trial.problem:
        return trial.problem
    if trial.ended:
        return figure_words(trial)
    if not runs:
        return tr("Waits for the other mode")
    if trial.token_ids:
        return tr("Writing, %n token(s)", n=len(trial.token_ids))
    if trial.read:
        return tr("Reading the prompt, {share}", share=figures.percent(trial.read))
    return tr("Loading and reading the prompt")


def figure_words(trial: Trial) -> str:
    """Tokens, time with loading and the prompt, speed of writing, tau and what ran, as far as they are known."""
    words = [tr("%n token(s)", n=len(trial.token_ids))]
    if trial.seconds is not None:
        words.append(tr("{time} in all", time=figures.duration(trial.seconds * 1000)))
    if trial.tokens_per_second is not None:
        words.append(figures.speed(trial.tokens_per_second))
    if trial.mean_acceptance_length is not None:
        words.append(tr("{tau} tokens/step", tau=figures.ratio(trial.mean_acceptance_length)))
    if trial.stopped:
        words.append(tr("stopped"))
    if trial.ran:
        words.append(tr("ran {mode}", mode=ran_title(trial)))
    return "  ·  ".join(words)


def agreement_words(trials: Sequence[Trial], agreement: Agreement) -> str:
    """Agreement in one sentence: the faster mode, and whether both say the same."""
    return tr("{speeds}; {texts}.", speeds=_speed_words(trials), texts=_text_words(agreement))


def _speed_words(trials: Sequence[Trial]) -> str:
    """Gain of the mode that wrote faster, in words."""
    known = [trial for trial in trials if trial.tokens_per_second and len(trial.token_ids) >= _ENOUGH]
    if len(known) < 2:
        return tr("Too short to tell which wrote faster")
    slower, faster = sorted(known, key=lambda trial: trial.tokens_per_second or 0.0)
    times = figures.ratio((faster.tokens_per_second or 0.0) / (slower.tokens_per_second or 1.0))
    if times == figures.ratio(1.0):
        return tr("Both wrote equally fast")
    mode = mode_title(faster.mode) if ran_title(faster) == ran_title(slower) else ran_title(faster)
    tau = faster.mean_acceptance_length
    if tau is not None and tau < _HARDLY and faster.ran != "plain":
        return tr(
            "{mode} wrote {times} times as fast, but almost no guess was accepted, so that was chance",
            mode=mode,
            times=times,
        )
    return tr("{mode} wrote {times} times as fast", mode=mode, times=times)


def _text_words(agreement: Agreement) -> str:
    if agreement.identical and agreement.complete:
        return tr("the texts are identical")
    if agreement.identical:
        return tr("the texts are identical as far as both came")
    return tr("the texts differ from token {number} on", number=figures.whole(agreement.tokens + 1))


def as_text(model: str, prompt: str, trials: Sequence[Trial], agreement: Agreement | None) -> str:
    """Return the whole comparison as text to paste elsewhere."""
    parts = [tr("Model: {name}", name=model), tr("Prompt: {prompt}", prompt=prompt)]
    for trial in trials:
        head = tr("{mode}: {figures}", mode=mode_title(trial.mode), figures=state_words(trial, False))
        parts.append(f"{head}\n{trial.text}" if trial.text else head)
    if agreement is not None:
        parts.append(agreement_words(trials, agreement))
    return "\n\n".join(parts) + "\n"


class TrialColumn(QWidget):
    """Chooses a mode, then shows what came of it."""

    def __init__(self, theme: Theme, name: str, modes: Sequence[Choice], mode: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.difference: int | None = None
        self.mode = ChoiceList(theme, name, self)
        self.mode.show_choices(modes, mode)
        card = QFrame(self)
        card.setProperty("kind", "card")
        self.text = QTextEdit(card)
        self.text.setDocument(InertDocument(self.text))
        self.text.setReadOnly(True)
        self.text.setAcceptRichText(False)
        self.text.setAccessibleName(name)
        self.text.setMinimumHeight(theme.type.px(72))
        self.figures = PlainLabel(card, kind="meter", wrap=True)
        filled(QVBoxLayout(card), (self.text, 1), self.figures, margins=(8, 6, 8, 8), spacing=4)
        filled(QVBoxLayout(self), self.mode, (card, 1), margins=0, spacing=8)
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_trial(self, trial: Trial | None, runs: bool, difference: int | None) -> None:
        """Show a trial as far as it came, marked from the first character that differs from the other's."""
        self.mode.setEnabled(trial is None or trial.ended)
        self._set_text("" if trial is None else trial.text)
        words = state_words(trial, runs)
        self.figures.setText(words)
        self.figures.setVisible(bool(words))
        if difference != self.difference:
            self.difference = difference
            self._mark()

    def _set_text(self, text: str) -> None:
        """Add what is new at the end, so that a long reply is not laid out again with each word."""
        shown = self.text.toPlainText()
        if text == shown:
            return
        self.text.setWordWrapMode(wrap_mode(text))
        bar = self.text.verticalScrollBar()
        follows = bar.value() >= bar.maximum() - 4
        if text.startswith(shown):
            cursor = QTextCursor(self.text.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(text[len(shown) :])
        else:
            self.text.setPlainText(text)
        if follows:
            bar.setValue(bar.maximum())

    def _mark(self) -> None:
        """Mark the text after the first difference, and bring its beginning into view."""
        if self.difference is None:
            self.text.setExtraSelections([])
            return
        mark = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.text.document())
        cursor.setPosition(_utf16_length(self.text.toPlainText()[: self.difference]))
        self.text.setTextCursor(cursor)
        self.text.ensureCursorVisible()
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        form = mark.format
        form.setBackground(self._theme.color("maps"))
        form.setForeground(self._theme.color("mapt"))
        form.setProperty(QTextFormat.Property.FullWidthSelection, False)
        mark.cursor, mark.format = cursor, form
        self.text.setExtraSelections([mark])

    def _restyle(self) -> None:
        self.text.setFont(self._theme.font(TextStyle.TABLE))
        self._mark()


def _utf16_length(text: str) -> int:
    """Qt counts in UTF-16 units, in which an emoji is two."""
    return len(text.encode("utf-16-le")) // 2


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
        rows = plan_rows(workspace.plans.chosen)
        modes = [
            Choice(AUTO, mode_title(AUTO)),
            *(Choice(row.name, row.title, problem=row.reason) for row in rows),
        ]
        self.columns = (
            TrialColumn(theme, tr("First mode"), modes, "plain", self),
            TrialColumn(theme, tr("Second mode"), modes, AUTO, self),
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
        scroll = scrolled(page, self)
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
        self.run_button = push_button("", self, self.run, kind="primary", default=True)
        return filled(QHBoxLayout(), STRETCH, self.copy_button, self.close_button, self.run_button, spacing=8)

    @Slot()
    def run(self) -> None:
        """Ask for both replies, or stop those that are being written."""
        comparison = self._workspace.comparison
        if comparison.running:
            comparison.stop()
            return
        first, second = (column.mode.chosen() or "plain" for column in self.columns)
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


class Comparisons(QObject):
    """Opens the dialog with what is typed, or with the prompt of a message."""

    def __init__(self, theme: Theme, workspace: Workspace, page: ChatPage) -> None:
        super().__init__(page)
        self._theme = theme
        self._workspace = workspace
        self._page = page
        page.compare_requested.connect(self.open_on)

    def add_commands(self, commands: Commands) -> None:
        """Declare the command."""
        title = tr("Compare two modes...")
        commands.add("compare-modes", title, self.open, CommandGroup.MODEL)
        title = tr("See what Tenon gains...")
        commands.add("demonstrate", title, self.demonstrate, CommandGroup.MODEL)

    @Slot()
    def demonstrate(self) -> None:
        """Ask for a text that is given back with one change, plain and automatic, at once."""
        prompt = f"{tr(_DEMONSTRATION)}\n\n```python\n{_PROGRAM.read_text(encoding='utf-8')}```"
        self._open(ChatMessage("user", prompt), ()).run()

    @Slot()
    def open(self) -> None:
        """With what is typed as the prompt, or with the last question of the chat that is shown."""
        typed, messages = self._page.composer.text, self._page.messages
        if messages and not typed.strip():
            self.open_on(messages[-1].id)
        else:
            self._open(ChatMessage("user", typed, self._page.composer.attachments.attachments), None)

    @Slot(int)
    def open_on(self, message_id: int) -> None:
        """With a message of the chat that is shown, and what was said before it."""
        if self._page.current is not None:
            before, prompt = self._workspace.comparison.prompt_of(self._page.current, message_id)
            self._open(prompt, before)

    def _open(self, prompt: ChatMessage, before: tuple[ChatMessage, ...] | None) -> ComparisonDialog:
        dialog = ComparisonDialog(self._theme, self._workspace, prompt, before, self._page.window())
        dialog.open()
        return dialog
