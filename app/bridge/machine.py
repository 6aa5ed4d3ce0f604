"""This machine: what the engine found, measuring its speeds and every mode with a model, and battery and heat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import monotonic

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.engine_client import EngineClient, Question
from app.bridge.model_in_engine import ModelInEngine
from app.bridge.plans import Plans
from app.bridge.replies import Replies
from app.bridge.worker import Worker
from app.chat.conversation import Message, MessageState
from app.chat.engine_options import load_options, planned
from app.chat.machine import Measuring, Stage, time_left_s
from app.chat.modes import options_in_mode
from app.settings.settings import Settings
from app.words import mark, tr
from engine.benchmark import (
    STANDARD_PROMPTS,
    Benchmark,
    BenchmarkEvent,
    BenchmarkFinished,
    BenchmarkProgress,
)
from engine.errors import EngineStopped
from engine.messages import (
    BenchmarkRow,
    Cancel,
    ErrorReport,
    Generate,
    LoadOptions,
    MachineReport,
    MachineReported,
    MeasuringProgress,
    ReportMachine,
)
from engine.planning.probes.host import is_hot, read_power

_REPLIES_EACH = 1 + sum(map(len, STANDARD_PROMPTS.values()))  # the first one is for warming up
_MAX_TOKENS = 64

_SENSORS_MS = 10_000
_ON_BATTERY = mark("Running on battery: replies may be slower.")
_HOT = mark("The computer is hot: replies may be slower until it has cooled down.")


class Machine(QObject):
    """Asks, measures and keeps what was found.

    Replies and measuring exclude one another: nothing is measured while a reply runs, and replies that are asked for
    while something is measured wait for its end.
    """

    changed = Signal()  # the report, how far measuring is, or what it found
    measured_speeds = Signal()  # the machine's, or those of a model's modes
    said = Signal(str, bool)  # a sentence for the user, and whether it stays

    def __init__(
        self,
        settings: Settings,
        client: EngineClient,
        replies: Replies,
        model: ModelInEngine,
        plans: Plans,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._client = client
        self._replies = replies
        self._model = model
        self.plans = plans  # speeds of modes, as they were measured or are predicted
        self.report: MachineReport | None = None  # the machine; None before the engine has told
        self.measuring = Measuring()  # progress of measuring
        self.declined = False  # True if the user stopped measuring: then nothing is measured unasked any more
        # With what options modes were measured while other programs kept the machine busy; None for none
        self.doubtful: LoadOptions | None = None
        self.clock: Callable[[], float] = monotonic  # tells the time, in seconds
        self._look: Question | None = None
        self._speeds: Question | None = None
        self._options: LoadOptions | None = None  # whose modes are measured, once the speeds are
        self._benchmark: Benchmark | None = None
        self._mode: Question | None = None  # what the benchmark asked last
        self._mode_costs: list[float] = []
        self._begun_s = 0.0
        self._rows: tuple[BenchmarkRow, ...] = ()  # of the modes that were complete since it began
        self._last: tuple[LoadOptions, tuple[BenchmarkRow, ...]] | None = None  # what was measured last
        plans.answered.connect(self._planned)
        replies.waits.connect(self._say_waits)

    def options(self, model: str, context: int | None) -> LoadOptions:
        """Options that a model is planned and measured with: the settings, but for its context where one is given."""
        options = load_options(self._settings, model)
        return options if context is None else replace(options, context=context)

    def measured(self, options: LoadOptions) -> tuple[BenchmarkRow, ...]:
        """Outcome of measuring with these options, now or last; the plan has the speeds of all times."""
        last = self._last if self._benchmark is None or self._options is None else (self._options, self._rows)
        return last[1] if last is not None and planned(last[0]) == planned(options) else ()

    def look(self) -> None:
        """Ask what the machine has now; `changed` follows, after a reply that runs."""
        if self._look is None or not self._look.open:
            self._look = self._client.ask(ReportMachine("")).done(self._report).failed(self._say)

    def measure_speeds(self) -> None:
        """Measure the machine again, in some seconds."""
        if self._begin():
            self._options = None
            self._measure_speeds()

    def measure_modes(self, options: LoadOptions) -> None:
        """Run the standard prompts in every mode that is predicted to run, after the speeds where none are known."""
        if not self._begin():
            return
        self._options = options
        if self.report is None or self.report.speeds is None:
            self._measure_speeds()
        else:
            self._plan()

    def stop(self) -> None:
        """Stop measuring for the user; modes that were complete stay."""
        self.declined |= self.measuring.running
        self.give_way()

    def give_way(self) -> None:
        """Stop measuring for something else; modes that were complete stay."""
        if not self.measuring.running or self.measuring.stopping:
            return
        if self._benchmark is not None:
            self._show(replace(self.measuring, stopping=True))
            self._benchmark.cancel()
        elif self._speeds is not None and self._speeds.open:
            self._show(replace(self.measuring, stopping=True))
            self._speeds.cancel()
        else:
            self._end()

    # --- one stage after the other ----------------------------------------------------------------------------

    def _begin(self) -> bool:
        if self.measuring.running:
            return False
        if self._replies.busy:
            self.said.emit(tr("A reply is running: measure when it is complete, or stop the reply first."), False)
            return False
        self._replies.hold()
        self._model.set_measuring(True)
        self._model.cancel_load()
        self._client.start()
        return True

    def _measure_speeds(self) -> None:
        self._show(Measuring(Stage.SPEEDS))
        self._speeds = (
            self._client.ask(ReportMachine("", measure=True))
            .on(MeasuringProgress, self._show_progress)
            .done(self._speeds_measured)
            .failed(self._speeds_failed)
        )

    def _plan(self) -> None:
        assert self._options is not None
        self._show(Measuring(Stage.PLAN))
        self.plans.ask(self._options)

    @Slot(object)
    def _planned(self, options: LoadOptions) -> None:
        plan = self.plans.of(options)
        if self.measuring.stage is not Stage.PLAN or self._options is None:
            mine = load_options(self._settings)
            busy = plan is not None and any(mode.measured and mode.busy for mode in plan.modes)
            if busy and self.doubtful is None and options == planned(mine):
                self.doubtful = mine  # as an earlier session has left them
                self.changed.emit()
            return
        if options != planned(self._options):
            return
        rows = [] if plan is None else [mode for mode in plan.modes if not mode.refusal]
        if not rows:
            refusal = self.plans.problem(options) if plan is None else plan.reason
            self._end()
            if refusal:
                self.said.emit(refusal, True)
            return
        modes = {row.mode: options_in_mode(row.mode, self._options, plan) for row in rows}
        self._mode_costs = [1.0 / (row.tokens_per_second or 1.0) for row in rows]
        self._begun_s = self.clock()
        self._rows = ()
        self._benchmark = Benchmark(modes, self._submit, self._take, STANDARD_PROMPTS, _MAX_TOKENS)
        self._show(Measuring(Stage.MODES, modes=tuple(modes)))
        self._benchmark.start()

    def _submit(self, command: Cancel | Generate) -> None:
        if isinstance(command, Cancel):
            if self._mode is not None:
                self._mode.cancel()
        elif self._benchmark is not None:
            self._mode = self._client.ask(command).each(self._benchmark.take).failed(self._mode_failed)

    def _mode_failed(self, error: ErrorReport) -> None:
        """Note a failed mode; the benchmark goes on, unless its engine is gone."""
        if error.kind == EngineStopped.__name__ and self._benchmark is not None:
            self._end()

    def _take(self, event: BenchmarkEvent) -> None:
        if isinstance(event, BenchmarkRow):
            self._rows = (*self._rows, event)
            self._show(replace(self.measuring, modes_done=len(self._rows)))
        elif isinstance(event, BenchmarkProgress):
            left = time_left_s(self._mode_costs, _REPLIES_EACH, event.done, self.clock() - self._begun_s)
            self._show(replace(self.measuring, share=event.done / event.total, mode=event.mode, left_s=left))
        elif isinstance(event, BenchmarkFinished):
            self._end()

    def _end(self) -> None:
        options, self._options = self._options, None
        rows, self._rows = self._rows, ()
        if options is not None and rows:
            self._last = options, rows
            self.doubtful = options if any(row.busy for row in rows) else None
        self._benchmark = None
        self._show(Measuring())
        self._model.set_measuring(False)
        self._replies.release()
        if not self._client.running:
            return  # it starts again with the next message, and not to fail in the same way at once
        self._model.load_in_background()
        # The measurements have refined the predictions, those of other models too.
        self.plans.renew()
        self.plans.ask_for_chosen()
        if rows:
            self.measured_speeds.emit()

    # --- from the engine --------------------------------------------------------------------------------------

    def _report(self, reported: MachineReported) -> None:
        self.report = reported.report
        self.changed.emit()

    def _show_progress(self, progress: MeasuringProgress) -> None:
        self._show(replace(self.measuring, what=progress.what, share=progress.share))

    def _speeds_measured(self, reported: MachineReported) -> None:
        self.report = reported.report
        self.plans.forget()
        self.measured_speeds.emit()
        if self._options is not None and not self.measuring.stopping:
            self._plan()
        else:
            self._end()

    def _speeds_failed(self, error: ErrorReport) -> None:
        self.plans.forget()
        self._end()
        self._say(error)

    def _say(self, error: ErrorReport) -> None:
        if error.kind not in (
            "Cancelled",
            EngineStopped.__name__,
        ):  # the one is known, the other told elsewhere
            self.said.emit(error.message, True)

    @Slot()
    def _say_waits(self) -> None:
        if self.measuring.stopping:  # it waits no longer than that takes
            return
        self.said.emit(
            tr("This machine is being measured: the reply begins when that is done, or when you stop it."),
            False,
        )

    def _show(self, measuring: Measuring) -> None:
        self.measuring = measuring
        self.changed.emit()


class PowerWatch(QObject):
    """Asks the sensors while replies are written, in a thread of its own: some of them take a second."""

    remark = Signal(str)  # one sentence, once

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = Worker("tenon-power", self)
        self._reply: int | None = None  # the last one that was asked for
        self._pause = QTimer(self, singleShot=True, interval=_SENSORS_MS)
        self._done = False

    @Slot(object)
    def reply_changed(self, message: Message) -> None:
        """Ask when a reply begins to be written, and now and then until its end: boards get hot meanwhile."""
        due = message.id != self._reply or not self._pause.isActive()
        if due and not self._done and message.state is MessageState.STREAMING:
            self._reply = message.id
            self._pause.start()
            self._worker.run(_trouble, self._tell)

    def close(self) -> None:
        """End the thread."""
        self._worker.finish()

    def _tell(self, trouble: str) -> None:
        if trouble and not self._done:
            self._done = True
            self.remark.emit(trouble)


def _trouble() -> str:
    """Return a sentence that says why this machine is slow now; empty where nothing slows it."""
    power = read_power()
    if power.on_mains is False:
        return tr(_ON_BATTERY)
    if power.held_down:
        return power.troubles[0]
    return tr(_HOT) if is_hot() else ""
