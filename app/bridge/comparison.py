"""Compares two models, or two ways to run one: asks the engine for both replies in turn, and keeps neither."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from app.bridge.engine_client import Question
from app.bridge.machine import Machine
from app.bridge.model_in_engine import ModelInEngine
from app.bridge.replies import Replies
from app.chat.comparison import Agreement, Contender, Trial, agreement
from app.chat.conversation import ConversationOptions
from app.chat.engine_options import reply_options
from app.chat.library import Library
from app.chat.modes import options_in_mode
from app.chat.reply import history_for, newest
from app.settings.settings import Settings
from app.words import tr
from engine.errors import EmptyPrompt, EngineStopped, InvalidOption, UsageError
from engine.hub.endpoints import is_remote
from engine.messages import Attachment, ChatMessage, ErrorReport, Event, Generate, LoadOptions, Picture, SamplingOptions

# Text is shown this often while it comes.
_TOLD_MS = 50


class Comparison(QObject):
    """Two greedy trials, so that a lossless mode must say the same as any other of its model.

    They run one after the other, as the engine holds one model: neither costs the other memory or speed.

    Args:
        replies: A comparison does not run beside one of them.
        machine: Nor does it run beside measuring: the first trial waits until that has stopped.
    """

    changed = Signal()
    asked = Signal()  # a comparison is wanted: what only waits for a quiet moment gives way

    def __init__(
        self,
        library: Library,
        settings: Settings,
        replies: Replies,
        model: ModelInEngine,
        machine: Machine,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._settings = settings
        self._replies = replies
        self._model = model
        self._machine = machine
        self.trials: tuple[Trial, ...] = ()  # both, as far as they came; nothing before the first comparison
        self.clock: Callable[[], float] = monotonic  # tells the time in seconds
        self._prompt: ChatMessage | None = None
        self._before: tuple[ChatMessage, ...] | None = None
        self._max_tokens = 0  # 0 once no further trial is to begin
        self._question: Question | None = None  # the trial that runs
        self._sent_at = 0.0
        self._waits = False  # for the end of measuring
        self._teller = QTimer(self, singleShot=True, interval=_TOLD_MS)
        self._teller.timeout.connect(self.changed)
        # Queued: an engine that had to be killed for it tells of that first, and what waited for the end goes on.
        machine.changed.connect(self._machine_changed, Qt.ConnectionType.QueuedConnection)

    @property
    def running(self) -> bool:
        """True if a trial runs, or is about to."""
        return self._question is not None or self._waits

    @property
    def agreement(self) -> Agreement | None:
        """True if both say the same; None before both have ended."""
        return agreement(*self.trials) if len(self.trials) == 2 else None

    def prompt_of(self, conversation_id: int, message_id: int) -> tuple[tuple[ChatMessage, ...], ChatMessage]:
        """Messages up to and with one, the system prompt included; of a reply, up to what it answers."""
        path = self._library.path_to(conversation_id, message_id)
        if path and path[-1].role == "assistant":
            path = path[:-1]
        conversation = self._library.conversation(conversation_id)
        own = conversation.options if conversation is not None else ConversationOptions()
        turns, _ = newest(history_for(-1, path, self._system_prompt(own, self._settings.model)))
        return (turns[:-1], turns[-1]) if turns and turns[-1].role == "user" else (turns, ChatMessage("user", ""))

    def start(
        self,
        prompt: str,
        contenders: Sequence[Contender],
        max_tokens: int,
        before: tuple[ChatMessage, ...] | None = None,
        attachments: tuple[Attachment, ...] = (),
        pictures: tuple[Picture, ...] = (),
    ) -> None:
        """Ask for both replies; `changed` follows as they come.

        ``before`` are the turns before the prompt; None for the system prompt of each model.

        Raises:
            EmptyPrompt: There is no prompt.
            UsageError: A reply is being written, the machine is being measured, or a comparison runs.
        """
        if not prompt.strip() and not attachments and not pictures:
            raise EmptyPrompt(tr("Write a prompt for both."))
        if any(is_remote(one.model) for one in contenders):
            raise UsageError(
                tr("This model runs on a server, which has modes of its own: choose a model of this computer.")
            )
        self.asked.emit()
        measuring = self._machine.measuring
        if measuring.running and not measuring.stopping:
            raise UsageError(tr("This machine is being measured: compare when that is done, or stop it first."))
        if self.running or (self._replies.busy and not measuring.running):
            raise UsageError(tr("A reply is being written: compare when it is done, or stop it first."))
        self._before, self._max_tokens = before, max_tokens
        self._prompt = ChatMessage("user", prompt, attachments, pictures)
        self.trials = tuple(map(Trial, contenders))
        self._waits = measuring.running
        if self._waits:
            self.changed.emit()
        else:
            self._begin()

    @Slot()
    def stop(self) -> None:
        """End the running trial and do not begin the other."""
        if self._waits:
            self._waits = False
            self.changed.emit()
        elif self._question is not None:
            self._max_tokens = 0
            self._question.cancel()
            self._model.cancel_load()

    def forget(self) -> None:
        """Drop what was compared; a trial that runs is stopped."""
        self.stop()
        self.trials, self._before, self._prompt = (), None, None

    def _system_prompt(self, own: ConversationOptions, model: str) -> str:
        return reply_options(self._settings, model, own).system_prompt

    def _begin(self) -> None:
        self._model.ensure_engine()
        self._send_next()

    @Slot()
    def _machine_changed(self) -> None:
        if self._waits and not self._machine.measuring.running:
            self._waits = False
            self._begin()

    def _send_next(self) -> None:
        trial = next((trial for trial in self.trials if not trial.ended), None)
        self._question = None
        if trial is not None and self._max_tokens and self._prompt is not None:
            self._sent_at = self.clock()
            asked, before = trial.asked, self._before
            if before is None:
                before = history_for(-1, (), self._system_prompt(ConversationOptions(), asked.model))
            try:
                options = self._options(asked)
            except InvalidOption as error:
                problem = error.message
                self._change_current(lambda trial: trial.lost(problem))
                self._send_next()
                return
            self._question = self._model.ask(
                Generate(
                    request_id="",
                    options=options,
                    messages=(*before, self._prompt),
                    max_tokens=self._max_tokens,
                    sampling=SamplingOptions(temperature=0.0),
                )
            )
            self._question.each(self._hear).done(lambda finished: self._send_next()).failed(self._fail)
        else:
            self._model.load_if_chosen()
        self._teller.stop()
        self.changed.emit()

    def _options(self, asked: Contender) -> LoadOptions:
        """Return what a contender is loaded with.

        Raises:
            InvalidOption: There is no draft for its mode.
        """
        options = self._model.options_for(asked.model)
        if asked.draft:
            options = replace(options, drafts=(asked.draft,), memory=LoadOptions.memory)
        else:
            options = options_in_mode(asked.way, options, self._machine.plans.of(options))
        return replace(options, weights=asked.weights)

    def _hear(self, event: Event) -> None:
        seconds = self.clock() - self._sent_at
        self._change_current(lambda trial: trial.after(event, seconds))
        if not self._teller.isActive():
            self._teller.start()

    def _fail(self, error: ErrorReport) -> None:
        if error.kind == EngineStopped.__name__:
            self._max_tokens = 0
            self._change_current(lambda trial: trial.lost(error.message))
        self._send_next()

    def _change_current(self, change: Callable[[Trial], Trial]) -> None:
        at = next((at for at, trial in enumerate(self.trials) if not trial.ended), None)
        if at is not None:
            self.trials = (*self.trials[:at], change(self.trials[at]), *self.trials[at + 1 :])
