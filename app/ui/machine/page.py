"""The page about this machine: what it has, what every mode is predicted to do on it, and its text to share."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QEvent, Qt, Slot
from PySide6.QtGui import QGuiApplication, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.bridge.workspace import Workspace
from app.chat.modes import Choice, mode_title
from app.ui import figures
from app.ui.figures import gigabytes_from
from app.ui.machine.gpu_section import GpuSection
from app.ui.machine.measure_panel import MeasurePanel, WidthPanel, mode_with_widths, width_bars
from app.ui.machine.plan_panel import PlanPanel
from app.ui.machine.words import (
    CardWords,
    card_words,
    context_words,
    measured_words,
    plan_notes,
    power_words,
    result_words,
    source_words,
    speed_and_source,
    speed_words,
)
from app.ui.models.wording import joined
from app.ui.painting import paint_box, smooth
from app.ui.parts import STRETCH, IconLabel, PlainLabel, filled, in_columns, turn
from app.ui.place_page import PlacePage
from app.ui.settings.fields import ChoiceField
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import tr
from engine.hub.titles import title_of_model, type_of_model
from engine.messages import LoadOptions, MachineReport, ModePrediction, PlanReport

_LEAST_PX = 190  # of a card; at usual text
_ICON_PX = 16
_BESIDE_PX = 820  # of page: the two panels stand side by side
_ROOMY_PX = 800  # buttons of the head have their words
_CONTEXTS = (2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072)


class Card(QWidget):
    """One part of the machine."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._icon = IconLabel(theme, "cpu", "sub", _ICON_PX, self)
        self._name = PlainLabel(self, kind="sub")
        self._title = PlainLabel(self, kind="strong", wrap=True)
        self._details = PlainLabel(self, kind="sub", wrap=True)
        for label in (self._title, self._details):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        head = filled(QHBoxLayout(), self._icon, (self._name, 1), spacing=8)
        filled(QVBoxLayout(self), head, self._title, self._details, STRETCH, margins=(16, 12, 16, 14), spacing=4)

    def set_words(self, words: CardWords) -> None:
        """Show a part."""
        self._icon.show_icon(words.icon, "sub")
        self._name.setText(words.name)
        self._title.setText(words.title)
        self._details.setText("\n".join(words.details))
        self.setAccessibleName(f"{words.name}: {', '.join((words.title, *words.details))}")


class Cards(QWidget):
    """Rows in one frame, with lines between them."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._columns = 0
        self._words: list[CardWords] = []
        self.cards = [Card(theme, self) for _ in range(4)]
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(1, 1, 1, 1)
        self._grid.setSpacing(0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._arrange)
        self._arrange()

    def set_words(self, words: list[CardWords]) -> None:
        """Show these parts."""
        if words == self._words:
            return
        self._words = words
        for card, one in zip(self.cards, words, strict=True):
            card.set_words(one)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        paint_box(painter, self._theme, self.rect(), 10, "raised", "line")
        for index, card in enumerate(self.cards):
            place = card.geometry()
            if index % self._columns:
                painter.fillRect(place.left(), place.top(), 1, place.height(), self._theme.color("line"))
            if index >= self._columns:
                painter.fillRect(place.left(), place.top(), place.width(), 1, self._theme.color("line"))

    def _arrange(self) -> None:
        room = self.width() // self._theme.type.px(_LEAST_PX)
        columns = 4 if room >= 4 else 2 if room >= 2 else 1
        if columns == self._columns:
            return
        self._columns = columns
        in_columns(self._grid, self.cards, columns)
        self.updateGeometry()
        self.update()


def shared_text(
    report: MachineReport | None,
    plan: PlanReport | None,
    now: datetime,
) -> str:
    """Everything that the page shows; no folder and no name of a user is in it."""
    parts = []
    if report is not None:
        parts.append("\n".join(_machine_lines(report, now)))
    if plan is not None:
        parts.append("\n".join(_plan_lines(plan)))
        mode = mode_with_widths(plan)
        if mode is not None:
            parts.append("\n".join(_width_lines(mode)))
        if any(mode.measured for mode in plan.modes):
            parts.append("\n".join(_measured_lines(plan)))
    return "\n\n".join(parts)


def _machine_lines(report: MachineReport, now: datetime) -> list[str]:
    lines = [", ".join(part for part in (report.machine, report.system) if part)]
    lines += [f"{card.name}: {', '.join((card.title, *card.details))}" for card in card_words(report)]
    lines += [
        tr(
            "{weights}: reads {rate} of weights, {products} billion products/s",
            weights=name,
            rate=figures.rate(one.bytes_per_s),
            products=figures.ratio(one.products_per_s / 1e9),
        )
        for name, one in ({} if report.speeds is None else report.speeds.host.formats).items()
    ]
    lines.append(", ".join(part for part in (measured_words(report, now), power_words(report)) if part))
    return lines


def _plan_lines(plan: PlanReport) -> list[str]:
    return [
        tr("Plan for {model}", model=title_of_model(plan.model)),
        *(f"{mode_title(mode.mode)}: {_prediction(mode)}" for mode in plan.modes),
        plan.reason,
        *plan_notes(plan),
    ]


def _prediction(mode: ModePrediction) -> str:
    if mode.refusal or mode.tokens_per_second is None:
        return mode.refusal
    words = [speed_and_source(mode)]
    if mode.first_token_s is not None:
        words.append(tr("first token {time}", time=figures.duration(1e3 * mode.first_token_s)))
    for device, taken in mode.memory_bytes.items():
        size = gigabytes_from(taken - mode.text_bytes.get(device, 0), taken)
        words.append(
            tr("{size} GB of memory", size=size)
            if device == "host"
            else tr("{size} GB on {device}", size=size, device=device)
        )
    return ", ".join([*words, source_words(mode), mode.summary])


def _width_lines(mode: ModePrediction) -> list[str]:
    bars = width_bars(mode)
    lines = [speed_words(bar.title, bar.measured, bar.predicted, "") for bar in bars]
    return [f"{tr('Speed by tokens checked at once')}, {mode_title(mode.mode)}", *lines]


def _measured_lines(plan: PlanReport) -> list[str]:
    lines = [
        speed_words(mode_title(mode.mode), mode.tokens_per_second, mode.predicted_per_second, "")
        for mode in plan.modes
        if mode.measured
    ]
    title, sentence = result_words(plan)
    return [tr("Measured"), *lines, *([f"{title}: {sentence}"] if title else [])]


class MachinePage(PlacePage):
    """Asks when it is shown; what changes while it is not to be seen is shown when it is."""

    def __init__(self, theme: Theme, workspace: Workspace) -> None:
        super().__init__(theme, tr("This machine"))
        self._workspace = workspace
        self._machine = workspace.machine
        self._model = ""  # empty is the one chosen for the chat
        self._context: int | None = None
        self._options: LoadOptions | None = None  # whose plan was asked for
        self._state = PlainLabel(parent=self, kind="sub")
        self._state_below = PlainLabel(self, kind="sub", wrap=True)
        self.again_button = QPushButton(self)
        self.again_button.setIcon(themed_icon(theme, "refresh-cw"))
        self.copy_button = QPushButton(self)
        self.copy_button.setIcon(themed_icon(theme, "copy"))
        self.head.addWidget(self._state)
        self._below = QHBoxLayout()  # the head's words and buttons where it has no room for them
        self._below.setSpacing(8)
        self._below.addWidget(self._state_below, 1)
        self._roomy: bool | None = None
        self.cards = Cards(theme)  # the machine's parts
        model = ChoiceField(theme, self._models, self._model_title, tr("Model to plan"), "", self)
        context = ChoiceField(theme, self._contexts, self._context_title, tr("Context to plan"), "", self)
        model.edited.connect(self._model_chosen)
        context.edited.connect(self._context_chosen)
        self.plan = PlanPanel(theme, model, context)  # every mode
        self.measure = MeasurePanel(theme)  # measuring them
        self.widths = WidthPanel(theme)  # speeds by the tokens that are checked at once
        self.gpu = GpuSection(theme)  # GPU support, and fetching it
        self.gpu.set_support(workspace.gpu_addon.support)
        self._looked = False  # at GPU support, which takes seconds where it was not checked yet
        self._body = filled(QHBoxLayout(), (self.plan, 62), (self.measure, 38), spacing=16)
        self.column.addLayout(self._below)
        self.column.addWidget(self.cards)
        self.column.addLayout(self._body)
        self.column.addWidget(self.widths)
        self.column.addWidget(self.gpu)
        self.column.addStretch(1)
        self._connect()
        self._arrange()

    def options(self) -> LoadOptions:
        """Plan and measurements that are shown."""
        return self._machine.options(self._model or self._workspace.settings.model, self._context)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._machine.look()
        if not self._looked:
            self._looked = True
            self._workspace.gpu_addon.look()
        self._options = None
        self._refresh()

    def event(self, event: QEvent) -> bool:
        """Look at the settings again when the window comes back from a dialog."""
        if event.type() == QEvent.Type.WindowActivate:
            self._refresh()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _connect(self) -> None:
        self._machine.changed.connect(self._refresh)
        self._machine.plans.answered.connect(self._refresh)
        self._workspace.model.changed.connect(self._refresh)
        self._theme.changed.connect(self._arrange)
        self.again_button.clicked.connect(self._machine.measure_speeds)
        self.copy_button.clicked.connect(self._copy)
        self.measure.start_requested.connect(self._measure)
        self.measure.stop_requested.connect(self._machine.stop)
        addon = self._workspace.gpu_addon
        addon.changed.connect(self.gpu.set_support)
        self.gpu.look_requested.connect(addon.look)
        self.gpu.size_requested.connect(addon.ask_size)
        self.gpu.fetch_requested.connect(addon.fetch)
        self.gpu.pause_requested.connect(addon.pause)
        self.gpu.remove_requested.connect(addon.remove)

    @Slot()
    def _refresh(self) -> None:
        if not self.isVisible():
            return
        options, machine = self.options(), self._machine
        if options != self._options:
            self._options = options
            machine.plans.ask(options)
        report, plan = machine.report, machine.plans.of(options)
        self.cards.setVisible(report is not None)
        if report is not None:
            self.cards.set_words(card_words(report))
            words = [measured_words(report, _now()), power_words(report)]
            self._set_state(", ".join(part for part in words if part))
        else:
            self._set_state(tr("The machine is being examined"))
        self.plan.set_plan(plan, machine.plans.problem(options))
        self.widths.set_plan(plan)
        self.plan.show_chosen(options.model, str(self._context or ""))
        self.measure.set_state(plan, machine.measuring, machine.measured(options), report)
        for widget in (self.again_button, self.plan.model, self.plan.context):
            widget.setEnabled(not machine.measuring.running)
        self._name_buttons()
        self._place_state()

    def _set_state(self, words: str) -> None:
        self._state.setText(words)
        self._state_below.setText(words)

    def _place_state(self) -> None:
        """Beside the title where it fits as a whole, else on lines of its own."""
        parts = [self.sidebar_button, self.title, self._state, self.again_button, self.copy_button]
        margins = self._line.contentsMargins()
        needed = margins.left() + margins.right() + self._line.spacing() * len(parts)
        fits = bool(self._roomy) and needed + sum(part.sizeHint().width() for part in parts) <= self.width()
        self._state.setVisible(fits)
        self._state_below.setVisible(not fits)

    def _model_title(self, ref: str) -> str:
        """Return a model's title and type."""
        known = next((entry for entry in self._workspace.model_store.installed.entries if entry.ref == ref), None)
        return joined(title_of_model(ref), type_of_model(ref) if known is None else known.type)

    def _arrange(self) -> None:
        px = self._theme.type.px
        beside = self.width() >= px(_BESIDE_PX)
        turn(self._body, not beside)
        roomy = self.width() >= px(_ROOMY_PX)
        if roomy != self._roomy:
            self._roomy = roomy
            for button in (self.again_button, self.copy_button):
                (self.head if roomy else self._below).addWidget(button)
            self._name_buttons()
        self._place_state()

    def _name_buttons(self) -> None:
        report = self._machine.report
        measured = report is not None and report.speeds is not None
        again = tr("Measure again") if measured else tr("Measure speeds")
        for button, words, tip in (
            (
                self.again_button,
                again,
                tr("Measures processor, memory and disks again; this takes some seconds"),
            ),
            (self.copy_button, tr("Copy as text"), tr("Copies what this page shows")),
        ):
            button.setText(f" {words}" if self._roomy else "")
            button.setAccessibleName(words)
            button.setToolTip(tip if self._roomy else f"{words}: {tip}")

    def _models(self) -> list[Choice]:
        return [Choice(model.key, model.title, model.detail) for model in self._workspace.models()]

    @Slot()
    def _model_chosen(self) -> None:
        self._model = self.plan.model.value()
        self._context = None
        self._refresh()

    def _context_title(self, tokens: str) -> str:
        options = self.options()
        return context_words(options.context, self._machine.plans.of(options))

    def _contexts(self) -> list[Choice]:
        plan = self._machine.plans.of(self.options())
        limit = _CONTEXTS[-1] if plan is None else plan.context_limit
        contexts = [tokens for tokens in _CONTEXTS if tokens < limit]
        own = Choice("", context_words(None), "")
        return [own, *(Choice(str(tokens), context_words(tokens), "") for tokens in (*contexts, limit))]

    @Slot()
    def _context_chosen(self) -> None:
        tokens = self.plan.context.value()
        self._context = int(tokens) if tokens else None
        self._refresh()

    @Slot()
    def _measure(self) -> None:
        self._machine.measure_modes(self.options())

    @Slot()
    def _copy(self) -> None:
        machine, options = self._machine, self.options()
        QGuiApplication.clipboard().setText(shared_text(machine.report, machine.plans.of(options), _now()))
        self.said.emit(tr("This page is copied as text."), False)


def _now() -> datetime:
    return datetime.now().astimezone()
