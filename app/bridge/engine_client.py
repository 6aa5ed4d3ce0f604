"""The engine as the window's thread sees it: commands in, signals out, wherever it runs, and answers to who asked."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from app.bridge import engine_child
from app.words import mark, tr
from engine.engine_process import SERVE, EngineProcess
from engine.errors import EngineStopped, RemoteError
from engine.messages import (
    Cancel,
    CheckDrafts,
    CheckLoaded,
    Command,
    CountTokens,
    DraftChecked,
    EngineReady,
    ErrorReport,
    Event,
    Failed,
    FindPairs,
    Finished,
    Generate,
    HandedBack,
    Load,
    LoadedChecked,
    MachineReported,
    MakePlan,
    ModelLoaded,
    ModelPredicted,
    PairsFound,
    Ping,
    PlanMade,
    Pong,
    PredictModels,
    ReportMachine,
    Request,
    TokensCounted,
)

_ANSWERS: dict[type, type] = {
    Load: ModelLoaded,
    Generate: Finished,
    CountTokens: TokensCounted,
    ReportMachine: MachineReported,
    MakePlan: PlanMade,
    CheckDrafts: DraftChecked,
    CheckLoaded: LoadedChecked,
    PredictModels: ModelPredicted,
    FindPairs: PairsFound,
}

Told = TypeVar("Told")

_log = logging.getLogger(__name__)

_ENDLESS = mark(
    "The engine waits for a disk or a device that does not answer, and cannot be ended: restart the computer if this "
    "happens again."
)


class Question:
    """One command on its way. Each of its methods gives the question, so that they can be written in a row.

    A question ends with its answer (of drafts and models there is one for each that was asked about), with an error,
    with the engine, or by `drop`.

    Args:
        command: With its request's number.
        give_up: Tells the engine to give it up, and whether it is to be killed where it does not.
    """

    def __init__(self, command: Request, give_up: Callable[[Question, bool], None]) -> None:
        self.command = command
        self._answer = _ANSWERS[type(command)]
        self._expected = _answers_expected(command)
        self._give_up = give_up
        self._told: list[tuple[type, Callable[[Any], None]]] = []
        self._failed: Callable[[ErrorReport], None] | None = None
        self.open = True  # True while something is to come

    def each(self, tell: Callable[[Event], None]) -> Question:
        """Tell of each event."""
        self._told.append((object, tell))
        return self

    def on(self, kind: type[Told], tell: Callable[[Told], None]) -> Question:
        """Tell of each event of a kind."""
        self._told.append((kind, tell))
        return self

    def done(self, tell: Callable[[Any], None]) -> Question:
        """Tell of each answer."""
        return self.on(self._answer, tell)

    def failed(self, tell: Callable[[ErrorReport], None]) -> Question:
        """Tell of the error that came instead; of an engine that ended, its kind is ``EngineStopped``."""
        self._failed = tell
        return self

    def cancel(self, or_kill: bool = True) -> None:
        """Have the engine stop; its last event is still told of.

        Args:
            or_kill: Kill an engine that does not stop in time.
        """
        if self.open:
            self._give_up(self, or_kill)

    def drop(self) -> None:
        """Give it up: nobody is told of anything any more."""
        if self.open:
            self.open = False
            self._give_up(self, False)

    def take(self, event: Event) -> None:
        """Hand over an event of this request."""
        if isinstance(event, self._answer):
            self._expected -= 1
        if self._expected == 0 or isinstance(event, Failed):
            self.open = False
        for kind, tell in self._told:
            if isinstance(event, kind):
                tell(event)
        if isinstance(event, Failed) and self._failed is not None:
            self._failed(event.error)

    def lose(self, report: ErrorReport) -> None:
        """End the question because the engine ended before it answered."""
        if self.open:
            self.open = False
            if self._failed is not None:
                self._failed(report)


def _answers_expected(command: Request) -> int:
    if isinstance(command, CheckDrafts):
        return len(command.drafts)
    return len(command.models) if isinstance(command, PredictModels) else 1


class EngineClient(QObject):
    """Hosts one engine and starts it anew after it ended.

    Args:
        serve: ``module:function`` that the child process runs.
        log_folder: Folder of the child process's log; None for no log.

    Attributes:
        cancel_timeout_ms: Time that an engine may take to stop a request before it is killed.
        kill_timeout_ms: Time that it may take to end then before it is left to itself.
        ran_out_of_memory: True if the last engine that ended most likely did so for want of memory.
    """

    event_received = Signal(object)  # Event
    stopped = Signal(str)  # the engine ended: a sentence, empty when it was killed because it did not stop

    _event = Signal(int, object)
    _exit = Signal(int, object, str)

    def __init__(
        self,
        serve: str = SERVE,
        parent: QObject | None = None,
        log_folder: Path | None = None,
    ) -> None:
        super().__init__(parent)
        self._serve = serve
        self._log_folder = log_folder
        self._host: EngineProcess | None = None
        self._start_number = 0  # tells news of this engine from news of one before
        self._questions_asked = 0
        self._questions: dict[str, Question] = {}  # by request
        self.cancel_timeout_ms = 2000
        self.kill_timeout_ms = 5000
        self.ran_out_of_memory = False
        self._closed = False
        self.ready = False  # True if the engine has said that it takes commands
        # Commands so far: all, before the last ping, and its answer.
        self._asked = self._pinged = self._answered = 0
        self._cancelled = ""
        self._last_words: str | None = None  # what an engine that is killed has to say
        self._cancel_timer = QTimer(self, singleShot=True)
        self._cancel_timer.timeout.connect(lambda: self.kill(""))
        self._kill_timer = QTimer(self, singleShot=True)
        self._kill_timer.timeout.connect(self._leave)
        # Emitted in the hosts' threads, received in this object's.
        self._event.connect(self._receive, Qt.ConnectionType.QueuedConnection)
        self._exit.connect(self._notice_exit, Qt.ConnectionType.QueuedConnection)

    @property
    def running(self) -> bool:
        """True if an engine was started and has not ended."""
        return self._host is not None

    @property
    def owes_answer(self) -> bool:
        """True if there is something to come: that it is ready, or that it is done with what it was sent."""
        return self.running and (not self.ready or self._answered < self._asked)

    @property
    def process_id(self) -> int | None:
        """Id of the child process, or None."""
        return None if self._host is None else self._host.process_id

    def start(self) -> None:
        """Start an engine unless one runs; returns before it is ready."""
        if self._host is not None or self._closed:
            return
        self._start_number += 1
        self.ready = False
        self._asked = self._pinged = self._answered = 0
        self._last_words = None
        number = self._start_number

        def on_event(event: Event) -> None:
            self._event.emit(number, event)

        def on_exit(code: int | None) -> None:
            self._exit.emit(number, code, _exit_sentence(code))

        try:
            self._host = self._make_host(on_event, on_exit)
        except OSError as error:
            self._exit.emit(
                number,
                None,
                tr("The engine could not be started ({reason}): close other programs.", reason=error.strerror),
            )

    def _make_host(self, on_event: Callable[[Event], None], on_exit: Callable[[int | None], None]) -> EngineProcess:
        run = partial(engine_child.run, serve=self._serve, log_folder=self._log_folder)
        return EngineProcess(run, on_event, on_exit)

    def send(self, command: Command) -> None:
        """Hand over a command; it is dropped when no engine runs."""
        if self._host is not None:
            self._asked += 1
            self._host.send(command)

    def ping(self) -> None:
        """Have the engine say when it is done with everything that it was sent."""
        if self._host is not None and self._pinged < self._asked:
            self._pinged = self._asked
            self._host.send(Ping(self._asked))

    def ask(self, command: Request) -> Question:
        """Hand over a command that is answered, to an engine that is started where none runs.

        Args:
            command: A request without a number is given one.

        Returns:
            The question, to be told who wants its answers.
        """
        self._questions_asked += 1
        command = replace(command, request_id=command.request_id or f"question-{self._questions_asked}")
        question = Question(command, self._give_up)
        self._questions[command.request_id] = question
        self.start()
        self.send(command)
        return question

    def kill(self, sentence: str) -> None:
        """End an engine that does not answer, and let `stopped` say this."""
        if self._host is not None:
            self._last_words = sentence
            self._host.kill()
            self._kill_timer.start(self.kill_timeout_ms)

    def close(self) -> None:
        """End the engine, its process and its threads. May be called twice."""
        self._closed = True
        self._start_number += 1  # what is still under way is of no interest
        self._cancel_timer.stop()
        self._kill_timer.stop()
        if self._host is not None:
            self._host.close()
            self._host = None

    @Slot(int, object)
    def _receive(self, number: int, event: Event) -> None:
        if number != self._start_number:
            return
        if isinstance(event, Pong):
            self._answered = event.number
            return
        if isinstance(event, HandedBack):  # to another process, which imports its libraries first
            self.ready = False
            self._cancel_timer.stop()
            return
        if isinstance(event, EngineReady):
            self.ready = True
            _log.info("Engine %s takes commands as process %d", event.version, event.process_id)
            if self._cancelled:
                self._cancel_timer.start(self.cancel_timeout_ms)
        ends = (Finished, Failed, MachineReported)
        if isinstance(event, ends) and event.request_id == self._cancelled:
            self._cancelled = ""
            self._cancel_timer.stop()
        if isinstance(event, Failed) and event.error.kind != "Cancelled":
            # A server's own words may quote the chat.
            message = "" if event.error.kind == RemoteError.__name__ else event.error.message
            _log.warning("%s: %s\n%s", event.error.kind, message, event.error.details)
        self.event_received.emit(event)
        question = self._questions.get(getattr(event, "request_id", ""))
        if question is not None:
            question.take(event)
            if not question.open:
                self._questions.pop(question.command.request_id, None)

    @Slot(int, object, str)
    def _notice_exit(self, number: int, code: int | None, sentence: str) -> None:
        if number != self._start_number:
            return
        _log.warning("%s", sentence if self._last_words is None else self._last_words or "Ended: it did not stop")
        self.ran_out_of_memory = self._last_words is None and _is_kill(code)
        self._host = None
        self._cancelled = ""
        self._cancel_timer.stop()
        self._kill_timer.stop()
        said = sentence if self._last_words is None else self._last_words
        lost, self._questions = self._questions, {}  # what is asked from here on is for the next engine
        self.stopped.emit(said)
        for question in lost.values():
            question.lose(ErrorReport(EngineStopped.__name__, said))

    def _give_up(self, question: Question, or_kill: bool) -> None:
        request_id = question.command.request_id
        self.send(Cancel(request_id))
        if not question.open:
            self._questions.pop(request_id, None)
        if or_kill:
            self._cancelled = request_id
            if self.ready:  # else it is importing its libraries, as a new one would have to
                self._cancel_timer.start(self.cancel_timeout_ms)

    @Slot()
    def _leave(self) -> None:
        """Go on without the process: no signal ends one in a system call that does not return."""
        if self._host is not None:
            self._host.leave()
            self._last_words = tr(_ENDLESS)
            self._start_number += 1  # should it end one day
            self._notice_exit(self._start_number, None, "")


def _is_kill(code: int | None) -> bool:
    """Return True if the system ended it, which it does where memory runs out."""
    return code is not None and code < 0 and -code == getattr(signal, "SIGKILL", None)


def _exit_sentence(code: int | None) -> str:
    how = tr("it sent something that cannot be read") if code is None else tr("exit code {code}", code=code)
    if code is not None and code < 0:
        how = tr("signal {number}", number=-code)
        if _is_kill(code):
            how = tr("signal {number}, most likely because memory ran out", number=-code)
    return tr(
        "The engine stopped unexpectedly ({how}). Your chats are safe; it starts again with your next message.",
        how=how,
    )
