"""The window's real workspace on a folder of its own, with an engine that a test speaks for: no process, no torch."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from unittest.mock import patch

from PySide6.QtCore import QCoreApplication, QObject

from app.bridge.engine_client import EngineClient
from app.bridge.workspace import Workspace
from app.chat.conversation import Conversation, Message, MessageState, ReplyStatistics
from app.chat.engine_state import EnginePhase, EngineState
from app.storage import database
from engine.engine_process import EngineProcess
from engine.errors import TenonError
from engine.messages import (
    Cancel,
    Command,
    EngineReady,
    ErrorReport,
    Event,
    Failed,
    Finished,
    KeptChat,
    Load,
    LoadOptions,
    Memory,
    ModelAdvice,
    ModelLoaded,
    ModelReport,
    ModelUnloaded,
    Plan,
    Reply,
    SamplingOptions,
    TextDrafted,
    Timings,
    TokensAdded,
)
from engine.modes import named_drafts
from tests.support.instant_lexer_maker import InstantLexerMaker
from tests.support.instant_typesetter import InstantTypesetter

DAY_S = 86_400.0
# A folder in memory, where the system has one: a busy disk takes 100 ms for a new database, this 10.
_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
READY = EngineState(EnginePhase.READY, "smollm2", "SmolLM2 135M", "fp32")
ADVICE = ModelAdvice(SamplingOptions(0.6, 20, 0.95, 0.0, 1.1), ("temperature", "top_k", "top_p", "min_p"))

Kind = TypeVar("Kind")


def moment_of(age_s: float, now: datetime) -> float:
    """When something of this age was: what is younger than a day was today, also shortly after midnight."""
    days, part = divmod(age_s / DAY_S, 1)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return (midnight + (1 - part) * (now - midnight) - timedelta(days=days)).timestamp()


def statistics(tokens: int = 120, **changes: object) -> ReplyStatistics:
    """Plausible figures."""
    usual = ReplyStatistics("lookup", tokens, 14.2, 940.0, 0.78, 4.1, 5_300_000_000, 2_540, 8_192)
    return replace(usual, **changes)  # type: ignore[arg-type]


def refusal(error: TenonError) -> Callable[..., object]:
    """A call that fails."""

    def refuse(*arguments: object) -> object:
        raise error

    return refuse


class _Host(EngineProcess):
    """Takes commands and does nothing with them: there is no process."""

    process_id = None

    def __init__(self, sent: list[Command]) -> None:
        self.sent = sent

    def send(self, command: Command) -> None:
        self.sent.append(command)

    def close(self) -> None:
        pass


class ScriptedEngine(EngineClient):
    """The real client of an engine that never answers by itself.

    Attributes:
        sent: The commands since the model was loaded.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self.sent: list[Command] = []

    def _make_host(self, on_event: Callable[[Event], None], on_exit: Callable[[int | None], None]) -> EngineProcess:
        return _Host(self.sent)

    def kill(self, sentence: str) -> None:
        """It ends when the test says so."""

    def tell(self, event: Event) -> None:
        """An event, which is there at once."""
        self._receive(self._start_number, event)

    def end(self, sentence: str) -> None:
        """The engine's process ends."""
        self._notice_exit(self._start_number, 1, sentence)

    def last(self, kind: type[Kind]) -> Kind:
        """The last command of a kind."""
        return next(command for command in reversed(self.sent) if isinstance(command, kind))


class ScriptedWorkspace(Workspace):
    """Adds what a test does in the engine's place, and changes nothing.

    Args:
        state: The engine's state to begin with: a model that is in memory, unless it says otherwise.

    Attributes:
        engine: Its client, which keeps what was asked.
    """

    def __init__(self, state: EngineState = READY) -> None:
        self._folder = TemporaryDirectory(prefix="tenon-", dir=_MEMORY, ignore_cleanup_errors=True)
        folder = Path(self._folder.name)
        self.engine = ScriptedEngine()
        with patch.object(database, "SYNCHRONOUS", "OFF"):  # a test does not wait for the disk
            super().__init__(folder / "data", folder / "config", self.engine)
        self.engine.setParent(self)
        self.model.check = self._check  # type: ignore[method-assign]
        self.settings.first_run_done = True
        self.settings.model = state.model_ref
        self.typesetter: Any = InstantTypesetter(self)
        self.lexer_maker: Any = InstantLexerMaker(self)
        self.model.ensure_engine()
        if state.phase is not EnginePhase.STARTING:
            self.tell(EngineReady(os.getpid(), "scripted"))
        if state.phase is EnginePhase.READY:
            name, ref, weights = state.model_name, state.model_ref, state.weights
            self.load(ModelReport(name, ref, "Llama", 1, weights, 8_192, 4, 2_300.0, advice=ADVICE))
        self.set_engine(state)
        self.engine.sent.clear()

    def _check(self, options: LoadOptions, then: Callable[[bool], None], kept: KeptChat | None = None) -> None:
        """The engine's answer, at once: drafts that are not loaded need a load, and every other number of it."""
        held = self.model.options
        if held is None:
            then(False)
            return
        alike = replace(options, drafts=held.drafts, memory=held.memory, mode_options=held.mode_options)
        then(alike == held and set(named_drafts(options.drafts)) <= set(held.drafts))

    def close(self) -> None:
        """Close it, and delete its folder. May be called twice."""
        super().close()
        self._folder.cleanup()

    # --- conversations ----------------------------------------------------------------------------------------

    def add_conversation(self, title: str, age_s: float = 0.0, *turns: str) -> int:
        """A stored conversation whose turns are a person's and the model's in alternation."""
        moment = moment_of(age_s, datetime.now())
        conversation_id = self.turns._new_id()
        self.library.put_conversation(Conversation(conversation_id, title, moment, moment))
        messages: list[Message] = []
        for number, text in enumerate(turns):
            parent = messages[-1].id if messages else None
            role = "user" if number % 2 == 0 else "assistant"
            message = Message(self.turns._new_id(), conversation_id, role, text, moment, parent_id=parent)  # type: ignore[arg-type]
            self.library.put_message(message)
            self.library.show_leaf(conversation_id, message.id)
            messages.append(message)
        self._journal.save(conversation_id, [message.id for message in messages])
        self.shelf.changed.emit()
        return conversation_id

    def reply(self, conversation_id: int) -> Message:
        """The last reply that is shown of a conversation."""
        return next(m for m in reversed(self.library.messages(conversation_id)) if m.role == "assistant")

    def change(self, conversation_id: int, **changes: object) -> Message:
        """Change the last reply in what events do not reach, and tell it; one that ends by it is finished first."""
        state = changes.get("state")
        if isinstance(state, MessageState) and not state.unfinished and self._runs(conversation_id):
            self.finish(conversation_id)
        message = replace(self.reply(conversation_id), **changes)  # type: ignore[arg-type]
        self.replies._change(message)
        return message

    @property
    def prompts(self) -> list[str]:
        """Everything that was sent, in its order."""
        asked = [m for chat in self.library.all_conversations() for m in self.library.all_messages(chat.id)]
        return [message.content for message in sorted(asked, key=lambda m: m.id) if message.role == "user"]

    def tried_again(self, conversation_id: int) -> bool:
        """True if the last reply waits in the place of the one before."""
        return self.reply(conversation_id).state is MessageState.WAITING and self._versions(conversation_id) == 1

    def answered_anew(self, conversation_id: int) -> bool:
        """True if the last reply waits beside another one."""
        return self.reply(conversation_id).state is MessageState.WAITING and self._versions(conversation_id) > 1

    def goes_on(self, conversation_id: int) -> bool:
        """True if the last reply waits to go on from where it was cut."""
        reply = self.reply(conversation_id)
        return reply.state in (MessageState.WAITING, MessageState.QUEUED) and reply.kept_characters > 0

    def _versions(self, conversation_id: int) -> int:
        return len(self.library.alternatives(conversation_id, self.reply(conversation_id).id))

    def written(self) -> None:
        """Wait until everything is on the disk, files that were exported too."""
        for worker in (self._writer, self._files):
            done: list[object] = []
            worker.run(lambda: None, done.append)
            wait_until(lambda done=done: bool(done))  # type: ignore[misc]

    # --- the engine -------------------------------------------------------------------------------------------

    def tell(self, event: Event) -> None:
        """An event of the engine."""
        self.engine.tell(event)

    def told_of(self, reply_id: int, event: Event) -> None:
        """An event of a reply that need not run, for those who follow replies."""
        self.replies.told.emit(reply_id, event)

    def load(self, report: ModelReport) -> None:
        """Another model is loaded, or the same one otherwise."""
        if self.model.report is not None:
            self.tell(ModelUnloaded())
        self.model.load_in_background()
        self.tell(ModelLoaded(self.engine.last(Load).request_id, report))

    def advise(self, advice: ModelAdvice) -> None:
        """The model in memory is loaded again, with other advice."""
        assert self.model.report is not None
        self.load(replace(self.model.report, advice=advice))

    def set_engine(self, state: EngineState) -> None:
        """Another state of the engine, however it came to it."""
        self.model._show(state)

    def stream(self, conversation_id: int, text: str) -> None:
        """More text of the running reply."""
        self.tell(TokensAdded(self._request(conversation_id), text, (1,)))

    def guess(self, conversation_id: int, text: str) -> None:
        """Unconfirmed text behind the running reply."""
        self.tell(TextDrafted(self._request(conversation_id), text))

    def finish(self, conversation_id: int, figures: ReplyStatistics | None = None, **changes: Any) -> None:
        """The running reply is complete."""
        figures = figures or statistics()
        request_id = self._request(conversation_id)
        reply = self.reply(conversation_id)
        timings = Timings(
            time_to_first_token_ms=figures.time_to_first_token_ms,
            predicted_n=figures.tokens,
            predicted_ms=1000.0,
            predicted_per_second=figures.tokens_per_second,
            acceptance_rate=figures.acceptance_rate,
            mean_acceptance_length=figures.mean_acceptance_length,
            plain_per_second=figures.plain_per_second,
            thought_n=figures.thought_tokens,
        )
        text = reply.content[reply.kept_characters :]
        made = Reply(
            text,
            tuple(range(figures.context_used - figures.tokens)),
            tuple(range(figures.tokens)),
            figures.mode,
            self.settings.model,
            (),
            "fp32",
            {},
            "end",
            Plan(figures.mode, "for the test"),
            timings,
            Memory(resident_bytes=figures.resident_bytes),
        )
        self.tell(Finished(request_id, replace(made, **changes)))

    def fail(self, conversation_id: int, sentence: str, trouble: ErrorReport | None = None) -> None:
        """The running reply fails."""
        self.tell(Failed(self._request(conversation_id), trouble or ErrorReport("InternalError", sentence)))

    def _runs(self, conversation_id: int) -> bool:
        running = self.replies._queue.running
        return running is not None and running.conversation_id == conversation_id

    def _request(self, conversation_id: int) -> str:
        """The request of the running reply, which is made when the prompt is on the disk."""
        question = self.replies._question
        if question is not None and Cancel(question.command.request_id) in self.engine.sent:
            self.tell(Failed(question.command.request_id, ErrorReport("Cancelled", "")))
        assert self._runs(conversation_id), "no reply of this chat runs"
        wait_until(lambda: self.replies._question is not None)
        return self.replies._question.command.request_id


def wait_until(condition: Callable[[], bool]) -> None:
    """Let threads and timers work until something holds."""
    for _ in range(5000):
        if condition():
            return
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents()
        time.sleep(0.001)
    raise AssertionError("it did not happen")
