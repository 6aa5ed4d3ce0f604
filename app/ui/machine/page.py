"""This machine: what it has, what every mode is predicted to do on it, and measuring them."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QEvent, Slot
from PySide6.QtGui import QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QPushButton

from app.bridge.workspace import Workspace
from app.chat.modes import Choice
from app.ui.boxes import filled
from app.ui.inert_text import PlainLabel
from app.ui.machine.cards import Cards
from app.ui.machine.gpu_section import GpuSection
from app.ui.machine.measure_panel import MeasurePanel
from app.ui.machine.plan_panel import PlanPanel
from app.ui.machine.shared_text import shared_text
from app.ui.machine.width_panel import WidthPanel
from app.ui.machine.words import card_words, context_words, measured_words, power_words, usual_context
from app.ui.place_page import PlacePage
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import tr
from engine.messages import LoadOptions

_BESIDE_PX = 820  # of page: the two panels stand side by side
_ROOMY_PX = 800  # buttons of the head have their words
_CONTEXTS = (2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072)
_USUAL = "usual"


class MachinePage(PlacePage):
    """Asks when it is shown; what changes while it is not to be seen is shown when it is.

    Attributes:
        cards: The machine's parts.
        plan: Every mode.
        measure: Measuring them.
        widths: Speeds by the tokens that are checked at once.
        gpu: GPU support, and fetching it.
    """

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
        self.cards = Cards(theme)
        self.plan = PlanPanel(theme)
        self.measure = MeasurePanel(theme)
        self.widths = WidthPanel(theme)
        self.gpu = GpuSection(theme)
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
        """Ask how things are."""
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
        """Stack what has no room side by side."""
        super().resizeEvent(event)
        self._arrange()

    # --- inside -----------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        self._machine.changed.connect(self._refresh)
        self._machine.plans.answered.connect(self._refresh)
        self._workspace.model.changed.connect(self._refresh)
        self._theme.changed.connect(self._arrange)
        self.again_button.clicked.connect(self._machine.measure_speeds)
        self.copy_button.clicked.connect(self._copy)
        self.plan.model.pressed_to_open.connect(self._choose_model)
        self.plan.model.chosen.connect(self._model_chosen)
        self.plan.context.pressed_to_open.connect(self._choose_context)
        self.plan.context.chosen.connect(self._context_chosen)
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
            self._set_state(tr("The machine is being looked at"))
        self.plan.set_plan(plan, machine.plans.problem(options))
        self.widths.set_plan(plan)
        self.plan.model.set_words(self._model_name(options.model))
        self.plan.context.set_words(context_words(options.context, usual_context(plan)))
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

    def _model_name(self, ref: str) -> str:
        state = self._workspace.model.state
        if ref == state.model_ref:
            return state.model_name
        return next((model.title for model in self._workspace.models() if model.key == ref), ref)

    def _arrange(self) -> None:
        px = self._theme.type.px
        beside = self.width() >= px(_BESIDE_PX)
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._body.setDirection(direction)
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
            (self.again_button, again, tr("Measures processor, memory and disks anew, in some seconds")),
            (self.copy_button, tr("Copy as text"), tr("Copies what this page shows")),
        ):
            button.setText(f" {words}" if self._roomy else "")
            button.setAccessibleName(words)
            button.setToolTip(tip if self._roomy else f"{words}: {tip}")

    @Slot()
    def _choose_model(self) -> None:
        chosen = self.options().model
        rows = [
            Choice(model.key, model.title, model.detail, model.key == chosen)
            for model in self._workspace.models()
        ]
        self.plan.model.open_choices(rows)

    @Slot(str)
    def _model_chosen(self, ref: str) -> None:
        self._model = ref
        self._context = None
        self._refresh()

    @Slot()
    def _choose_context(self) -> None:
        plan = self._machine.plans.of(self.options())
        limit = _CONTEXTS[-1] if plan is None else plan.context_limit
        contexts = [tokens for tokens in _CONTEXTS if tokens < limit]
        rows = [Choice(_USUAL, context_words(None), "", self._context is None)]
        rows += [
            Choice(str(tokens), context_words(tokens), "", tokens == self._context)
            for tokens in (*contexts, limit)
        ]
        self.plan.context.open_choices(rows)

    @Slot(str)
    def _context_chosen(self, tokens: str) -> None:
        self._context = None if tokens == _USUAL else int(tokens)
        self._refresh()

    @Slot()
    def _measure(self) -> None:
        self._machine.measure_modes(self.options())

    @Slot()
    def _copy(self) -> None:
        machine, options = self._machine, self.options()
        plan, measured = machine.plans.of(options), machine.measured(options)
        QGuiApplication.clipboard().setText(shared_text(machine.report, plan, measured, _now()))
        self.said.emit(tr("This page is copied as text."), False)


def _now() -> datetime:
    return datetime.now().astimezone()
