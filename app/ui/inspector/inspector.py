"""The inspector's panel: its parts, one under the other, and what each of them shows."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.bridge.inspection import Inspection
from app.chat.conversation import Message
from app.chat.modes import REMOTE, draft_name, mode_title, plan_rows
from app.chat.reply_trace import Origin, ReplyTrace, origin_in, smooth_speeds
from app.ui import figures
from app.ui.inspector.charts import AcceptancePlot, LinePlot, MemoryBar
from app.ui.inspector.draft_tree import DraftTree
from app.ui.inspector.plan_view import PlanView
from app.ui.inspector.sections import (
    FactTable,
    Head,
    InspectorSection,
    is_continued,
    reply_facts,
    reply_reason,
)
from app.ui.inspector.tokens import TokenLegend, TokenView, VotesView
from app.ui.machine.measure_panel import Legend
from app.ui.pane import PaneEdge
from app.ui.parts import PlainLabel, filled
from app.ui.theme.theme import Theme
from app.words import mark, tr
from engine.messages import RoundRecord

# Ten times a second at most.
UPDATE_MS = 100
_MARGIN_PX = 16
_NOT_KEPT = mark("not kept with this reply")
_TOKENS_PX = 124
_TREE_PX = 140


class Inspector(QWidget):
    """Shows one reply, the model in memory and the plan.

    It is brought up to date after `Inspection.changed`, and only between `start` and `stop`.
    """

    close_requested = Signal()
    width_wanted = Signal(int)

    def __init__(self, theme: Theme, inspection: Inspection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._inspection = inspection
        self._message: Message | None = None
        self._round: int | None = None  # None follows the latest
        self.updates = 0  # number of updates so far
        self.setProperty("kind", "inspector")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(tr("Inspector"))
        self.head = Head(theme, self)
        self.head.close_requested.connect(self.close_requested)
        self.speed = LinePlot(theme, tr("Speed"), tr("tok/s over the reply"), tr("tokens per second"))
        self.accepted = AcceptancePlot(theme)
        self.memory = LinePlot(theme, tr("Memory"), tr("GB over the reply"), tr("gigabytes"), steps=2)
        self.disk = LinePlot(theme, tr("Disk"), tr("MB/s over the reply"), tr("megabytes per second"), steps=2)
        self.facts = FactTable()
        self.places = MemoryBar(theme)
        self.plan = PlanView(theme)
        self.tokens, self.token_legend = TokenView(theme), TokenLegend(theme)
        self.tree = DraftTree(theme)
        self.votes = VotesView(theme)
        self._token_area = _scroller(self.tokens, tr("Tokens of the reply"))
        self._token_area.setWidgetResizable(True)
        self._tree_area = _scroller(self.tree, tr("Draft tree"))
        self.facts_section = InspectorSection(theme, tr("This reply"), self.facts)
        self.places_section = InspectorSection(theme, tr("Where it is in memory"), self.places)
        self.plan_legend = Legend(theme)
        plan = QWidget()
        filled(QVBoxLayout(plan), self.plan, self.plan_legend, margins=0, spacing=4)
        self.plan_section = InspectorSection(theme, tr("Plan"), plan)
        self.tokens_section = InspectorSection(theme, tr("Tokens"), self._token_area, self.token_legend)
        self.votes_note = PlainLabel(
            tr(
                "Drafts are judged by the text that comes, whether or not their guesses were checked. Weights are "
                "relative: the largest is always 1, so one falls when another is rewarded. They only decide between "
                'guesses that are equally likely; without "{option}" they are the votes.',
                option=tr("Check the merged tree"),
            ),
            kind="meter",
            wrap=True,
        )
        votes = QWidget()
        filled(QVBoxLayout(votes), self.votes, self.votes_note, margins=0, spacing=4)
        self.votes_section = InspectorSection(theme, tr("Who guessed"), votes)
        self.tree_section = InspectorSection(theme, tr("Draft tree"), self._tree_area)
        self._build()
        width_words = tr("Width of the inspector: left and right change it")
        self.edge = PaneEdge(theme, self, width_words, at_left=True)
        self.edge.width_wanted.connect(self.width_wanted)
        self.tokens.round_chosen.connect(self.choose_round)
        self.tokens.place_wanted.connect(self._show_tokens_at)
        self.tree.step_wanted.connect(self._step)
        self._timer = QTimer(self, singleShot=True, interval=UPDATE_MS)
        self._timer.timeout.connect(self.update_now)
        theme.changed.connect(self._restyle)
        self._restyle()

    @property
    def round(self) -> int:
        """The number of the round whose tree is shown; 0 for none."""
        return self.tokens.round

    def start(self) -> None:
        """Follow the engine, and show how things are."""
        self._inspection.watch(True)
        self._inspection.changed.connect(self.update_soon)
        self.update_now()

    def stop(self) -> None:
        """Follow nothing."""
        self._timer.stop()
        self._inspection.changed.disconnect(self.update_soon)
        self._inspection.watch(False)

    def show_reply(self, message: Message | None) -> None:
        """Show how a reply was made, from its latest round on; None for no reply."""
        before, self._message = self._message, message
        if message is None or before is None or message.id != before.id:
            self._round = None
            self.update_now()
        else:
            self.update_soon()

    @property
    def reply_id(self) -> int | None:
        """The reply that is shown."""
        return None if self._message is None else self._message.id

    @Slot(int)
    def choose_round(self, number: int) -> None:
        """Show a round's tree; the last one is followed as the reply goes on."""
        trace = self._trace()
        self._round = None if number >= trace.last_round and not trace.complete else number
        self._show_round(trace, number)

    @Slot()
    def update_soon(self) -> None:
        """Bring everything up to date, but not more often than ten times a second."""
        if not self._timer.isActive():
            self._timer.start()

    @Slot()
    def update_now(self) -> None:
        """Show everything as it is."""
        self.updates += 1
        trace, plan = self._trace(), self._inspection.plan(self._message)
        statistics = None if self._message is None else self._message.statistics
        times = None if statistics is None else statistics.times_plain
        self._show_plots(trace, None if statistics is None else statistics.plain_per_second)
        gain = "" if times is None else figures.times_plain(times)
        self.head.set_mode(mode_title(trace.mode) if trace.mode else "", gain)
        facts = () if self._message is None else reply_facts(self._message)
        self.facts.set_facts(facts, "" if self._message is None else reply_reason(self._message))
        self.facts_section.detail.setText(
            tr("since Continue") if self._message is not None and is_continued(self._message) else ""
        )
        elsewhere = self._inspection.elsewhere if self._message is None else trace.mode == REMOTE
        for section in (self.places_section, self.plan_section):
            section.setVisible(not elsewhere)
        told = trace.mode != REMOTE and (bool(trace.tokens) or not trace.complete)  # an earlier version kept none
        for section in (self.tokens_section, self.tree_section):
            section.setVisible(told)
        unknown = trace.complete and plan is None  # a reply of an earlier version
        self.plan.set_rows([] if unknown else plan_rows(plan), trace.mode)
        self.plan_legend.setVisible(plan is not None)
        self.plan_legend.set_assumed(plan is not None and not plan.measured)
        self.plan_section.detail.setText(self._as_it_was(unknown))
        self.places_section.detail.setText(tr(_NOT_KEPT) if unknown else tr("GB, as planned"))
        number = trace.last_round if self._round is None else self._round
        follows = self._round is None
        members = () if trace.timings is None else trace.timings.members
        self.votes_section.setVisible(bool(members))
        self.votes_section.detail.setText(tr("weights go on from the last reply") if trace.weights_go_on else "")
        self.votes.set_votes(members, trace.weights())
        names = [draft_name(member.name) for member in members]
        self.tokens.set_members(names)
        self.token_legend.set_members(names)
        self.tokens.set_tokens(trace.tokens)
        self._token_area.setFixedHeight(min(self.tokens.height(), self._theme.type.px(_TOKENS_PX)))
        self._show_round(trace, number)
        if follows and not self.tokens.hasFocus():
            bar = self._token_area.verticalScrollBar()
            bar.setValue(bar.maximum())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.edge.place()

    def _build(self) -> None:
        column = QWidget()
        rows = filled(QVBoxLayout(column), margins=(_MARGIN_PX, 2, _MARGIN_PX, 8), spacing=0)
        for pair in ((self.speed, self.accepted), (self.memory, self.disk)):
            row = QHBoxLayout()
            row.setSpacing(_MARGIN_PX)
            for plot in pair:
                row.addWidget(plot, 1)
            rows.addLayout(row)
        for section in (
            self.facts_section,
            self.places_section,
            self.plan_section,
            self.tokens_section,
            self.votes_section,
            self.tree_section,
        ):
            rows.addWidget(section)
        rows.addStretch(1)
        self.scroller = _scroller(column, tr("Inspector"))
        self.scroller.setWidgetResizable(True)
        self.scroller.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroller.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        filled(QVBoxLayout(self), self.head, (self.scroller, 1), margins=(1, 0, 0, 0), spacing=0)

    def _as_it_was(self, unknown: bool) -> str:
        """Say which plan is shown, and of which model."""
        if self._message is None:
            return tr("the model in use, now")
        return tr(_NOT_KEPT) if unknown else tr("as it was for this reply")

    def _trace(self) -> ReplyTrace:
        return self._inspection.trace(self._message)

    def _show_plots(self, trace: ReplyTrace, plain: float | None) -> None:
        samples = trace.gauges.samples
        now = samples[-1].at_s if samples else 0.0
        speeds = [(s.at_s - now, speed) for s, speed in zip(samples, smooth_speeds(samples), strict=True)]
        self.speed.set_points(speeds, None if plain is None else (tr("plain"), plain))
        self.memory.set_points([(s.at_s - now, s.resident_bytes / 1e9) for s in samples])
        self.disk.set_points([(s.at_s - now, s.disk_bytes_per_second / 1e6) for s in samples])
        places = self._inspection.places(self._message)
        streams = any(place.place == "disk" for place in places)
        self.disk.setVisible(streams)
        rate = samples[-1].disk_bytes_per_second if samples and streams else 0.0
        self.places.set_places(places, rate)
        self.places.setVisible(bool(places) or self._message is None)
        self.accepted.set_shares(() if trace.timings is None else trace.timings.acceptance_by_position)

    def _show_round(self, trace: ReplyTrace, number: int) -> None:
        record = trace.round(number)
        self.tokens.set_round(number if record is not None else 0)
        self.tree_section.detail.setText("" if record is None else step_words(number, record))
        if record is not None or trace.last_round == 0:
            self.tree.set_record(record)
        place = self.tree.path_place()
        area = self._tree_area
        area.setFixedHeight(min(self.tree.sizeHint().height() + 4, self._theme.type.px(_TREE_PX)))
        area.verticalScrollBar().setValue(place.center().y() - area.viewport().height() // 2)
        area.horizontalScrollBar().setValue(place.right() - area.viewport().width() + 8)

    @Slot(int)
    def _step(self, step: int) -> None:
        trace = self._trace()
        number = self.round + step
        if trace.first_round <= number <= trace.last_round:
            self.choose_round(number)
            self.tokens.show_round()

    @Slot(QRect)
    def _show_tokens_at(self, place: QRect) -> None:
        middle = place.center()
        self._token_area.ensureVisible(middle.x(), middle.y(), 0, place.height() // 2 + 4)

    @Slot()
    def _restyle(self) -> None:
        parts = (self.head, self.speed, self.accepted, self.memory, self.disk)
        for part in (*parts, self.places, self.plan, self.tokens, self.votes, self.tree):
            part.restyle()
        self.update_now()


def step_words(number: int, record: RoundRecord) -> str:
    """Outcome of a round; of a path that goes on after the reply's end only what was taken counts."""
    if not record.tested:
        return tr("step {number}: nothing was guessed", number=number)
    accepted = min(len(record.accepted), len(record.emitted))
    origins = [origin_in(record, place) for place in range(len(record.emitted))]
    if Origin.CORRECTED in origins:
        return tr("step {number}: {accepted} accepted, 1 corrected", number=number, accepted=accepted)
    return tr("step {number}: {accepted} accepted", number=number, accepted=accepted)


def _scroller(content: QWidget, name: str) -> QScrollArea:
    area = QScrollArea()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(content)
    area.viewport().setAutoFillBackground(False)
    content.setAutoFillBackground(False)
    area.setAccessibleName(name)
    return area
