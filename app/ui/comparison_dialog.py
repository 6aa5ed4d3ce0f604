"""Two replies side by side on one prompt: the dialog, its columns and sentences, and the ways that open it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QDoubleSpinBox, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.bridge.workspace import Workspace
from app.chat.comparison import Agreement, Contender, Trial, ran_title, titles
from app.chat.conversation import NO_STRETCHES, Stretches
from app.chat.modes import Choice, mode_title, plan_rows
from app.chat.reply import turn_of
from app.settings.setting import Names
from app.settings.settings import Settings
from app.ui import figures
from app.ui.chat_page.page import ChatPage
from app.ui.chat_settings.fields import ChoiceList
from app.ui.commands import CommandGroup, Commands
from app.ui.form_fields import LongTextEdit
from app.ui.parts import STRETCH, IconLabel, PlainLabel, filled, push_button, scrolled, turn
from app.ui.theme.focus_ring import RingedDialog
from app.ui.theme.theme import Theme
from app.ui.transcript.message_column import Ground
from app.ui.transcript.reply_blocks import ReplyBlocks
from app.words import mark, tr
from engine.errors import TenonError
from engine.messages import ChatMessage
from engine.modes import AUTO, MODES, OFF

# Tokens a step below which guesses have nothing to do with the speed.
_HARDLY = 1.05
# Tokens below which a few lucky guesses, or one pause of the machine, decide which mode is faster.
_ENOUGH = 32
_SIZE = QSize(900, 640)
_NARROW_PX = 560
_SIDE_PX = 20
_ICON_PX = 16
_REPLY_PX = 8  # free at the right of a reply
_MOST_TOKENS = 4096
_AGREES, _DIFFERS = ("circle-check", "acc"), ("triangle-alert", "map")
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
        return tr("Waits for the other reply")
    if trial.token_ids:
        return tr("Writing, %n token(s)", n=len(trial.token_ids))
    if trial.read:
        return tr("Reading the prompt, {share}", share=figures.percent(trial.read))
    return tr("Loading and reading the prompt")


def figure_words(trial: Trial) -> str:
    """Speed, first token, memory, tokens, time with loading, tau and what ran, as far as they are known."""
    words = []
    if trial.tokens_per_second is not None:
        words.append(figures.speed(trial.tokens_per_second))
    if trial.first_token_ms is not None:
        words.append(tr("first token {time}", time=figures.duration(trial.first_token_ms)))
    if trial.memory_bytes:
        words.append(tr("{size} in memory", size=figures.size(trial.memory_bytes)))
    words.append(tr("%n token(s)", n=len(trial.token_ids)))
    if trial.seconds is not None:
        words.append(tr("{time} in all", time=figures.duration(trial.seconds * 1000)))
    if trial.mean_acceptance_length is not None:
        words.append(tr("{tau} tokens/step", tau=figures.ratio(trial.mean_acceptance_length)))
    if trial.stopped:
        words.append(tr("stopped"))
    if trial.ran:
        words.append(tr("ran {mode}", mode=ran_title(trial)))
    return "  ·  ".join(words)


def verdict_words(trials: Sequence[Trial], agreement: Agreement | None) -> str:
    """Verdict in one sentence: which wrote faster, and of one model whether both say the same."""
    if agreement is None:
        return tr("{speeds}.", speeds=_speed_words(trials))
    return tr("{speeds}; {texts}.", speeds=_speed_words(trials), texts=_text_words(agreement))


def _speed_words(trials: Sequence[Trial]) -> str:
    """Gain of the trial that wrote faster, in words."""
    known = [trial for trial in trials if trial.tokens_per_second and len(trial.token_ids) >= _ENOUGH]
    if len(known) < 2:
        return tr("Too short to tell which wrote faster")
    slower, faster = sorted(known, key=lambda trial: trial.tokens_per_second or 0.0)
    times = figures.ratio((faster.tokens_per_second or 0.0) / (slower.tokens_per_second or 1.0))
    if times == figures.ratio(1.0):
        return tr("Both wrote equally fast")
    title = titles((faster, slower))[0]
    tau = faster.mean_acceptance_length
    alike = (faster.asked.model, faster.asked.weights) == (slower.asked.model, slower.asked.weights)
    if alike and (faster.ran, faster.asked.draft) == (slower.ran, slower.asked.draft):
        return tr("Both ran {mode}, so the difference in speed is chance", mode=ran_title(faster))
    if alike and tau is not None and tau < _HARDLY and faster.ran != "plain":
        return tr(
            "{mode} wrote {times} times as fast, but almost no guess was accepted, so that was chance",
            mode=title,
            times=times,
        )
    return tr("{mode} wrote {times} times as fast", mode=title, times=times)


def _text_words(agreement: Agreement) -> str:
    if agreement.identical and agreement.complete:
        return tr("the texts are identical")
    if agreement.identical:
        return tr("the texts are identical as far as both came")
    return tr("the texts differ from token {number} on", number=figures.whole(agreement.tokens + 1))


def as_text(prompt: str, trials: Sequence[Trial], verdict: str) -> str:
    """Return the whole comparison as text to paste elsewhere."""
    parts = [tr("Prompt: {prompt}", prompt=prompt)]
    for trial in trials:
        title = f"{trial.asked.name}, {trial.asked.way_title}"
        head = tr("{mode}: {figures}", mode=title, figures=state_words(trial, False))
        parts.append(f"{head}\n{trial.text}" if trial.text else head)
    return "\n\n".join([*parts, verdict] if verdict else parts) + "\n"


def _formats() -> list[Choice]:
    """Return the formats that weights can have, as the setting offers them."""
    control = Settings.declared()["weights"].control
    titles = control.titles if isinstance(control, Names) else ()
    return [Choice(name, tr("Weights: {format}", format=tr(title))) for name, title in titles]


class ReplyArea(QScrollArea):
    """A reply in the transcript's blocks, which scrolls and follows its end."""

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._ground = Ground(theme)
        self.blocks = ReplyBlocks(theme, self._ground)
        self.difference: int | None = None  # the character from which the text is marked
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(name)
        self.setMinimumHeight(theme.type.px(72))
        self.setWidget(self._ground)
        self.blocks.height_changed.connect(self._arrange)
        self.verticalScrollBar().valueChanged.connect(self._show_seen)
        theme.changed.connect(self._restyle)

    def show_text(self, text: str, complete: bool, difference: int | None) -> None:
        """Show a text as far as it came, marked from a character on."""
        if text.startswith(self.blocks.text):
            self.blocks.change_text(text)
        else:
            self.blocks.set_text(text)
        self.blocks.set_complete(complete)
        if difference == self.difference:
            return
        self.difference = difference
        self.blocks.refresh()
        self.blocks.set_drafted(NO_STRETCHES if difference is None else Stretches.of([(difference, len(text))]))
        if difference is not None:
            self.ensureVisible(0, self.blocks.place_of(difference), 0, self.viewport().height() // 3)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()

    @Slot()
    def _arrange(self) -> None:
        bar, room = self.verticalScrollBar(), self.viewport().width()
        follows = bar.value() >= bar.maximum() - 4
        height = self.blocks.fit(room - _REPLY_PX)
        self.blocks.setGeometry(0, 0, room - _REPLY_PX, height)
        self._ground.resize(room, max(height, self.viewport().height()))
        if follows:
            bar.setValue(bar.maximum())
        self._show_seen()

    @Slot()
    def _restyle(self) -> None:
        self.blocks.restyle()
        self._arrange()

    @Slot()
    def _show_seen(self) -> None:
        top = self.verticalScrollBar().value()
        self.blocks.see(top, top + max(self.viewport().height(), 200))


class TrialColumn(QWidget):
    """Chooses a model and the way to run it, then shows what came of it."""

    changed = Signal()  # another model

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.model = ChoiceList(theme, tr("{side}: model", side=name), self)
        self.mode = ChoiceList(theme, tr("{side}: mode or draft", side=name), self)
        self.weights = ChoiceList(theme, tr("{side}: precision of the weights", side=name), self)
        self.model.activated.connect(self.changed)
        card = QFrame(self)
        card.setProperty("kind", "reply")
        self.reply = ReplyArea(theme, name, card)
        self.figures = PlainLabel(card, kind="meter", wrap=True)
        filled(QVBoxLayout(card), (self.reply, 1), self.figures, margins=(12, 10, 4, 8), spacing=6)
        way = filled(QHBoxLayout(), (self.mode, 1), (self.weights, 1), spacing=8)
        filled(QVBoxLayout(self), self.model, way, (card, 1), margins=0, spacing=8)

    @property
    def contender(self) -> Contender:
        """The choice."""
        name, weights = self.model.currentText(), self.weights.chosen() or "auto"
        return Contender(self.model.chosen() or "", name, self.mode.chosen() or AUTO, weights)

    def show_trial(self, trial: Trial | None, runs: bool, running: bool, difference: int | None) -> None:
        """Show a trial as far as it came, marked from the first character that differs from the other's."""
        for choice in (self.model, self.mode, self.weights):
            choice.setEnabled(not running)
        self.reply.show_text("" if trial is None else trial.text, trial is not None and trial.ended, difference)
        words = state_words(trial, runs)
        self.figures.setText(words)
        self.figures.setVisible(bool(words))


class ComparisonDialog(RingedDialog):
    """Dialog of a comparison, of which the chats keep nothing.

    Args:
        workspace: Compares; its models, modes and drafts are offered.
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
        super().__init__(theme, tr("Compare side by side"), parent)
        self._theme = theme
        self._workspace = workspace
        self._before = before
        self._files = prompt.attachments, prompt.pictures
        label = PlainLabel(tr("Prompt"), self, kind="label")
        self.prompt = LongTextEdit(self)
        self.prompt.setPlainText(prompt.content)
        self.prompt.setProperty("kind", "field")
        self.prompt.setAccessibleName(tr("Prompt"))
        self.prompt.setTabChangesFocus(True)
        self.prompt.setPlaceholderText(tr("A question for both"))
        self.prompt.setFixedHeight(theme.type.px(18) * 3 + 14)
        label.setBuddy(self.prompt)
        turns = sum(turn.role != "system" for turn in before or ())
        self.context = PlainLabel(
            tr("After the %n message(s) before it in the chat.", n=turns), self, kind="small", wrap=True
        )
        self.context.setVisible(turns > 0)
        self.columns = (TrialColumn(theme, tr("First reply"), self), TrialColumn(theme, tr("Second reply"), self))
        models = workspace.local_models()
        for column, way in zip(self.columns, ("plain", AUTO), strict=True):
            column.model.show_choices(models, workspace.settings.model)
            self._offer(column, way)
            column.changed.connect(self._choose_model)
        workspace.plans.answered.connect(self._offer_again)
        workspace.drafts.changed.connect(self._offer_again)
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
        self.resize(_SIZE.boundedTo(self.room(40)).expandedTo(QSize(340, 320)))
        self.prompt.setFocus()

    @property
    def verdict_text(self) -> str:
        """The agreement's sentence; empty where there is none."""
        return "" if self._verdict.isHidden() else self._sentence.text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < self._theme.type.px(_NARROW_PX)
        turn(self._pair, narrow)
        self._limit_label.setVisible(not narrow)
        self.close_button.setVisible(not narrow)  # Escape and the window's frame do the same

    def _make_verdict(self) -> None:
        self._verdict = QFrame(self)
        self._icon = IconLabel(self._theme, *_AGREES, _ICON_PX, self._verdict)
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
    def _choose_model(self) -> None:
        """Offer what another model has; two models are compared as each runs best, unless it is said otherwise."""
        models = {column.model.chosen() for column in self.columns}
        for column in self.columns:
            self._offer(column, AUTO if len(models) > 1 else column.mode.chosen() or AUTO)
        self.ask()

    @Slot()
    def _offer_again(self) -> None:
        for column in self.columns:
            self._offer(column, column.mode.chosen() or AUTO, column.weights.chosen())

    def _offer(self, column: TrialColumn, way: str, weights: str | None = None) -> None:
        """Fill a column's modes, drafts and formats for its model."""
        model, workspace = column.model.chosen() or "", self._workspace
        rows = plan_rows(workspace.plans.of(workspace.model.options_for(model)))
        ways = [Choice(AUTO, mode_title(AUTO)), *(Choice(row.name, row.title, problem=row.reason) for row in rows)]
        if model == workspace.settings.model:
            drafts = workspace.drafts.choices(())
            ways += [one for one in drafts if not (one.problem or one.key in ("", OFF) or one.key in MODES)]
        column.mode.show_choices(ways, way)
        own = workspace.settings.of_model(model).weights
        column.weights.show_choices(_formats(), own if weights is None else weights)

    def ask(self) -> None:
        """Ask the engine what the models can run with."""
        for column in self.columns:
            self._workspace.plans.ask(self._workspace.model.options_for(column.model.chosen() or ""))

    @Slot()
    def run(self) -> None:
        """Ask for both replies, or stop those that are being written."""
        comparison = self._workspace.comparison
        if comparison.running:
            comparison.stop()
            return
        try:
            comparison.start(
                self.prompt.toPlainText(),
                [column.contender for column in self.columns],
                int(self.limit.value()),
                self._before,
                *self._files,
            )
        except TenonError as error:
            self._say(error.message, "circle-alert", "red")

    @Slot()
    def _show(self) -> None:
        comparison = self._workspace.comparison
        agreement, trials = comparison.agreement, comparison.trials
        at = next((at for at, trial in enumerate(trials) if not trial.ended), len(trials))
        lossless = len({(trial.asked.model, trial.asked.weights) for trial in trials}) == 1
        differs = lossless and agreement is not None and not agreement.identical
        marked = agreement.characters if differs and agreement is not None else None
        for number, column in enumerate(self.columns):
            trial = trials[number] if number < len(trials) else None
            column.show_trial(trial, comparison.running and number == at, comparison.running, marked)
        self.prompt.setReadOnly(comparison.running)
        self.limit.setEnabled(not comparison.running)
        self.run_button.setText(tr("Stop") if comparison.running else tr("Compare"))
        self.copy_button.setEnabled(bool(trials) and not comparison.running)
        if at == len(trials) > 0 and not any(trial.problem or not trial.token_ids for trial in trials):
            self._say(verdict_words(trials, agreement), *_DIFFERS if differs else _AGREES)
        else:
            self._verdict.hide()

    def _say(self, sentence: str, icon: str, role: str) -> None:
        self._icon.show_icon(icon, role)
        self._sentence.setText(sentence)
        self._verdict.setAccessibleName(sentence)
        self._verdict.show()

    @Slot()
    def _copy(self) -> None:
        text = as_text(self.prompt.toPlainText(), self._workspace.comparison.trials, self.verdict_text)
        QGuiApplication.clipboard().setText(text)

    @Slot()
    def _forget(self) -> None:
        self._workspace.comparison.changed.disconnect(self._show)
        self._workspace.plans.answered.disconnect(self._offer_again)
        self._workspace.drafts.changed.disconnect(self._offer_again)
        self._workspace.drafts.stop_looking()
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
        title = tr("Compare side by side...")
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
        """Compare on what is typed, or else on the last question of the chat that is shown."""
        typed, messages = self._page.composer.text, self._page.messages
        if messages and not typed.strip():
            self.open_on(messages[-1].id)
        else:
            self._open(turn_of("user", typed, self._page.composer.attachments.attachments), None).ask()

    @Slot(int)
    def open_on(self, message_id: int) -> None:
        """Compare on a message of the chat that is shown, after the messages before it."""
        if self._page.current is not None:
            before, prompt = self._workspace.comparison.prompt_of(self._page.current, message_id)
            self._open(prompt, before).ask()

    def _open(self, prompt: ChatMessage, before: tuple[ChatMessage, ...] | None) -> ComparisonDialog:
        dialog = ComparisonDialog(self._theme, self._workspace, prompt, before, self._page.window())
        dialog.open()
        return dialog
