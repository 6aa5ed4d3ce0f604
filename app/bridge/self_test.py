"""The self-test: one question to the bundled model in a real window, with a report of what happened when."""

from __future__ import annotations

import os
import platform
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.workspace import Workspace
from app.chat.conversation import Message, MessageState
from app.chat.engine_state import EnginePhase, EngineState

QUESTION = "Hello"
TIMEOUT_S = 180


def seconds_since_start() -> float:
    """Seconds since this process was started."""
    if not sys.platform.startswith("linux"):
        return time.time() - float(psutil.Process().create_time())
    # psutil adds the moment of the boot, which Linux tells in whole seconds only.
    ticks = int(Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


@dataclass
class SelfTestReport:
    """Findings of a self-test. Times are seconds since the process was started."""

    version: str  # Tenon's
    question: str
    # Seconds until the window had been painted; None before. The same for the others
    window_s: float | None = None
    engine_s: float | None = None  # seconds until the engine had its libraries
    model_s: float | None = None  # seconds until the model was in memory
    first_token_s: float | None = None  # seconds until the window had the first text of the answer
    answer_s: float | None = None  # seconds until the answer was complete
    model: str = ""  # the model's name and weight format
    answer: str = ""  # text
    tokens_per_second: float | None = None  # speed as the engine measured it
    problem: str = ""  # one sentence when something failed, else empty
    # Sentences that the window showed meanwhile, and those beside the answer
    notices: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """True if a window, an engine and an answer were there."""
        return not self.problem and self.answer_s is not None and bool(self.answer.strip())

    def text(self) -> str:
        """Return the report, a line for each thing."""
        where = "installed application" if getattr(sys, "frozen", False) else f"Python {platform.python_version()}"
        lines = [
            f"Tenon {self.version} self-test on {platform.system()} {platform.machine()}, {where}",
            *(
                f"{name:<14}{'not reached' if moment is None else f'{moment:.2f} s after the start'}"
                for name, moment in (
                    ("window", self.window_s),
                    ("engine", self.engine_s),
                    ("model", self.model_s),
                    ("first token", self.first_token_s),
                    ("answer", self.answer_s),
                )
            ),
            f"{'runs':<14}{self.model or 'nothing'}",
            f"{'question':<14}{self.question}",
            f"{'said':<14}{' '.join(self.answer.split()) or 'nothing'}",
        ]
        if self.tokens_per_second is not None:
            lines.append(f"{'speed':<14}{self.tokens_per_second:.1f} tok/s")
        lines += [f"{'notice':<14}{sentence}" for sentence in self.notices]
        lines.append(f"{'result':<14}{'passed' if self.passed else 'FAILED: ' + (self.problem or 'no answer')}")
        return "\n".join(lines)


class SelfTest(QObject):
    """Asks the bundled model one question as soon as the window is there, and notes when each thing happens."""

    asked = Signal(int)  # the conversation, to be shown
    finished = Signal()  # the report is complete

    def __init__(
        self,
        workspace: Workspace,
        version: str,
        question: str = QUESTION,
        timeout_s: float = TIMEOUT_S,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.report = SelfTestReport(version, question)
        self._workspace = workspace
        self._conversation: int | None = None
        self._ended = False
        workspace.model.changed.connect(self._engine_changed)
        workspace.replies.text_changed.connect(self._text_changed)
        workspace.replies.message_changed.connect(self._message_changed)
        workspace.notice.connect(self.report.notices.append)
        workspace.settings_unsaved.connect(self.report.notices.append)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._give_up)
        self._timer.start(int(timeout_s * 1000))

    @Slot()
    def begin(self) -> None:
        """Ask the model, once the window has been painted."""
        self.report.window_s = seconds_since_start()
        self._conversation = self._workspace.turns.send(None, self.report.question)
        self.asked.emit(self._conversation)

    @Slot(object)
    def _engine_changed(self, state: EngineState) -> None:
        if self.report.engine_s is None and state.phase in (
            EnginePhase.IDLE,
            EnginePhase.LOADING,
            EnginePhase.READY,
        ):
            self.report.engine_s = seconds_since_start()
        if self.report.model_s is None and state.phase is EnginePhase.READY:
            self.report.model_s = seconds_since_start()
            self.report.model = f"{state.model_name}, {state.weights}"
        if state.phase is EnginePhase.STOPPED:
            self._end(state.sentence or "The engine stopped.")

    @Slot()
    def _text_changed(self) -> None:
        if self.report.first_token_s is None:
            self.report.first_token_s = seconds_since_start()

    @Slot(object)
    def _message_changed(self, message: Message) -> None:
        if message.role != "assistant" or message.state.unfinished:
            return
        self.report.answer = message.content
        self.report.notices += message.notices
        if message.statistics is not None:
            self.report.tokens_per_second = message.statistics.tokens_per_second
        if message.state is not MessageState.COMPLETE:
            self._end(message.error or "The answer was cut off.")
            return
        self.report.answer_s = seconds_since_start()
        self._end("")

    @Slot()
    def _give_up(self) -> None:
        self._end(f"There was no complete answer within {self._timer.interval() / 1000:.0f} s.")

    def _end(self, problem: str) -> None:
        if self._ended:
            return
        self._ended = True
        self._timer.stop()
        self.report.problem = problem
        self.finished.emit()
