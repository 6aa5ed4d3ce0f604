"""A workspace without an engine or a database, for the window's tests and pictures. A test plays the engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.bridge.diagnostics import Diagnostics
from app.bridge.engine_client import EngineClient
from app.bridge.inspection import Inspection
from app.bridge.machine import Machine
from app.bridge.models.store import ModelStore
from app.bridge.plans import Plans
from app.chat.choices import DraftChoice, ModelChoice, draft_choices, draft_name, model_choices
from app.chat.conversation import Conversation, Message, MessageState, ReplyStatistics
from app.chat.engine_state import EnginePhase, EngineState
from app.chat.gpu_support import GpuSupport
from app.chat.library import Library
from app.chat.modes import ModeChoice, mode_choices
from app.chat.plan_rows import with_plan
from app.chat.search import SearchResults
from app.diagnostics.log_files import log_folder
from app.settings.settings import Settings
from app.storage.kept_choice import KeptChoice
from app.storage.measured_modes import MeasuredModes
from engine.documents import read_attachment
from engine.errors import TenonError
from engine.messages import (
    Attachment,
    Cancel,
    Command,
    ErrorReport,
    Event,
    ModelAdvice,
    ModelReport,
    SamplingOptions,
)
from tests.support.fake_settings_desk import FakeSettingsDesk
from tests.support.fake_shelf import FakeShelf
from tests.support.instant_lexer_maker import InstantLexerMaker
from tests.support.instant_typesetter import InstantTypesetter

DAY_S = 86_400.0

READY = EngineState(EnginePhase.READY, "smollm2", "SmolLM2 135M", "fp32")


def moment_of(age_s: float, now: datetime) -> float:
    """When something of this age was: what is younger than a day was today, also shortly after midnight."""
    days, part = divmod(age_s / DAY_S, 1)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return (midnight + (1 - part) * (now - midnight) - timedelta(days=days)).timestamp()


def statistics(tokens: int = 120, **changes: object) -> ReplyStatistics:
    """Plausible figures."""
    usual = ReplyStatistics("lookup", tokens, 14.2, 940.0, 0.78, 4.1, 5_300_000_000, 2_540, 8_192)
    return replace(usual, **changes)  # type: ignore[arg-type]


class FakeDrafts(QObject):
    """The interface of `app.bridge.drafts.Drafts`; a test says what is there and what is wrong with it."""

    changed = Signal()
    chosen = Signal()
    refused = Signal(str)

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self.refs: list[str] = ["smollm2-draft", "smollm2-gated-fusion"]
        self.problems: dict[str, str] = {}
        self.usual = "smollm2-draft"
        self.looks = False

    @property
    def in_use(self) -> str:
        return self.chosen_name or self.usual

    @property
    def chosen_name(self) -> str:
        return draft_name(self._settings.draft_of(self._settings.model))

    def choices(self) -> list[DraftChoice]:
        chosen = self._settings.draft_of(self._settings.model)
        bundled = ("smollm2-draft", "smollm2-gated-fusion")
        return draft_choices(self.refs, bundled, chosen, self.usual, self.problems)

    def look_through(self) -> None:
        self.looks = True

    def stop_looking(self) -> None:
        self.looks = False

    def choose(self, ref: str) -> None:
        if self.problems.get(ref):
            self.refused.emit(self.problems[ref])
            return
        self._settings.remember_draft(self._settings.model, ref)
        self.chosen.emit()


class FakeEngineTalk(EngineClient):
    """The real client without an engine, and what `Machine` needs of the replies and the model.

    Attributes:
        sent: The commands that were asked of the engine.
        busy: Whether a reply runs; a test says so.
        held: Whether replies are held back.
    """

    waits = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent=parent)
        self.report: ModelReport | None = None
        self.sent: list[Command] = []
        self.busy = self.held = False
        self.runs = True
        self.loads = 0

    @property
    def running(self) -> bool:
        return self.runs

    def start(self) -> None:
        self.runs = True

    def hear(self, event: Event) -> None:
        """An event of the engine."""
        self._receive(0, event)

    def end(self, sentence: str) -> None:
        """The engine ended."""
        self.runs = False
        self._notice_exit(0, None, sentence)

    def send(self, command: Command) -> None:
        self.sent.append(command)

    def cancel(self, request_id: str) -> None:
        self.send(Cancel(request_id))

    def cancel_load(self) -> None:
        pass

    def set_measuring(self, measuring: bool) -> None:
        pass

    def load_in_background(self) -> None:
        self.loads += 1

    def hold(self) -> None:
        self.held = True

    def release(self) -> None:
        self.held = False

    def holds_any(self, refs: object) -> bool:
        return False

    def last(self, kind: type[Any]) -> Any:
        """The last command of a kind."""
        return next(command for command in reversed(self.sent) if isinstance(command, kind))


class FakeGpuAddon(QObject):
    """The interface of `app.bridge.gpu_addon.GpuAddon`; a test says how it stands."""

    changed = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.support = GpuSupport("none", "There is no graphics card that GPU support could be for.")
        self.calls: list[str] = []

    def look(self) -> None:
        self.calls.append("look")

    def ask_size(self) -> None:
        self.calls.append("ask_size")

    def fetch(self) -> None:
        self.calls.append("fetch")

    def pause(self) -> None:
        self.calls.append("pause")

    def remove(self) -> None:
        self.calls.append("remove")


class FakeUpkeep(QObject):
    """What a window needs of `app.bridge.upkeep.Upkeep`."""

    remark = Signal(str)

    def __init__(self, workspace: FakeWorkspace) -> None:
        super().__init__(workspace)
        folder = log_folder()
        self.diagnostics = Diagnostics(folder, folder.parent, workspace.engine_state)


class FakeWorkspace(FakeShelf):
    """The interface of `app.bridge.workspace.Workspace`, kept in memory."""

    conversations_changed = Signal()
    import_finished = Signal(int, str)
    export_finished = Signal(str, str)
    conversation_replaced = Signal(int)
    message_added = Signal(object)
    message_changed = Signal(object)
    reply_text_added = Signal(int, int, str)
    unconfirmed_changed = Signal(int, int, str)
    prefill_progress = Signal(int, int, float)
    engine_changed = Signal(object)
    notice = Signal(str)
    trouble = Signal(object)
    trouble_over = Signal(str)

    def __init__(self, engine: EngineState = READY) -> None:
        super().__init__()
        self.settings = Settings()
        self.settings.first_run_done = True
        self.drafts = FakeDrafts(self.settings)
        self.drafts.refused.connect(self.notice)
        self.typesetter = InstantTypesetter(self)
        self.lexer_maker = InstantLexerMaker(self)
        self.desk = FakeSettingsDesk(self.settings, self)
        self.talk = FakeEngineTalk(self)
        talk: Any = FakeEngineTalk(self)
        self.machine_talk: FakeEngineTalk = talk
        self.plans = Plans(self.settings, talk, self)
        heard: Any = self.talk
        self.traces: dict[int, bytes] = {}
        self.inspection = Inspection(
            heard,
            heard,
            self.plans,
            self.modes,
            self.traces.__setitem__,
            lambda reply: self.traces.get(reply, b""),
            self,
        )
        self.model_advice: ModelAdvice | None = ModelAdvice(
            SamplingOptions(0.6, 20, 0.95, 0.0, 1.1), ("temperature", "top_k", "top_p", "min_p")
        )
        self.machine = Machine(self.settings, talk, talk, talk, self.plans, MeasuredModes(None), self)
        quiet: Any = FakeEngineTalk(self)  # another one: what listens to `talk` is counted
        self.model_store = ModelStore(self.settings, quiet, quiet, KeptChoice(None), self)
        self.machine.measured_speeds.connect(self.model_store.predict_again)
        self.model_store.model_wanted.connect(self.choose_model)
        self.upkeep = FakeUpkeep(self)
        self.gpu_addon = FakeGpuAddon(self)
        self.calls: list[tuple[object, ...]] = []
        self.opened: list[int | None] = []
        self.shown_chat: Any = SimpleNamespace(brought_down=None)
        self.send_error: TenonError | None = None
        self.reading: list[Any] | None = None  # a list: files that are attached wait there
        self._engine = engine
        self._mode = "auto"
        self.results = SearchResults()
        self._library = Library((), lambda _: ())
        self._next_id = 1
        self._active: int | None = None

    # --- what a test does -------------------------------------------------------------------------------------

    def add_conversation(self, title: str, age_s: float = 0.0, *turns: str) -> int:
        """A stored conversation whose turns are a person's and the model's in alternation."""
        moment = moment_of(age_s, datetime.now())
        conversation = Conversation(self._take_id(), title, moment, moment)
        self._library.put_conversation(conversation)
        for number, text in enumerate(turns):
            self._store(conversation.id, "user" if number % 2 == 0 else "assistant", text)
        self.conversations_changed.emit()
        return conversation.id

    def reply(self, conversation_id: int) -> Message:
        """The last reply that is shown of a conversation."""
        return next(m for m in reversed(self.messages(conversation_id)) if m.role == "assistant")

    def change(self, conversation_id: int, **changes: object) -> Message:
        """Change the last reply and tell it."""
        message = replace(self.reply(conversation_id), **changes)  # type: ignore[arg-type]
        self._library.put_message(message)
        if not message.state.unfinished and self._active == conversation_id:
            self._active = None
        self.message_changed.emit(message)
        return message

    def stream(self, conversation_id: int, text: str) -> None:
        """More text of the last reply."""
        message = self.reply(conversation_id)
        if message.state is not MessageState.STREAMING:
            message = self.change(conversation_id, state=MessageState.STREAMING)
        self._library.put_message(replace(message, content=message.content + text))
        self.reply_text_added.emit(conversation_id, message.id, text)

    def guess(self, conversation_id: int, text: str) -> None:
        """Unconfirmed text behind the last reply."""
        self.unconfirmed_changed.emit(conversation_id, self.reply(conversation_id).id, text)

    def finish(self, conversation_id: int, figures: ReplyStatistics | None = None) -> None:
        """The last reply is complete."""
        self.change(conversation_id, state=MessageState.COMPLETE, statistics=figures or statistics())

    def fail(self, conversation_id: int, sentence: str, trouble: ErrorReport | None = None) -> None:
        """The last reply failed; of one that came from a file only the sentence is known."""
        self.change(conversation_id, state=MessageState.FAILED, error=sentence, trouble=trouble)

    def set_engine(self, engine: EngineState) -> None:
        """Another state of the engine."""
        self._engine = engine
        self.engine_changed.emit(engine)

    def tell(self, event: Event) -> None:
        """An event of the engine, for the inspector and for what is known of the machine."""
        self.talk.hear(event)
        self.machine_talk.hear(event)

    # --- what the window calls --------------------------------------------------------------------------------

    def start(self) -> None:
        self.calls.append(("start",))

    def conversations(self, contains: str = "", archived: bool = False) -> list[Conversation]:
        return self._library.conversations(contains, archived=archived)

    def conversation(self, conversation_id: int) -> Conversation | None:
        hidden = self._library.is_hidden(conversation_id)
        return None if hidden else self._library.conversation(conversation_id)

    def open_conversation(self, conversation_id: int | None) -> None:
        self.opened.append(conversation_id)
        self.open_chat.show(conversation_id)

    def messages(self, conversation_id: int) -> list[Message]:
        return self._library.messages(conversation_id)

    def search(self, typed: str) -> SearchResults:
        self.calls.append(("search", typed))
        return self.results

    def new_conversation(self) -> int | None:
        return None

    def send(self, conversation_id: int | None, text: str, attachments: Sequence[Attachment] = ()) -> int:
        given = self.open_chat.options()
        if self.send_error is not None:
            raise self.send_error
        self.calls.append(("send", conversation_id, text))
        if conversation_id is None:
            conversation_id = self.add_conversation(text)
            self.set_options(conversation_id, given)
        busy = self._active is not None and self._active != conversation_id
        self.message_added.emit(self._store(conversation_id, "user", text, attachments=attachments))
        state = MessageState.QUEUED if busy else MessageState.WAITING
        if not busy:
            self._active = conversation_id
        self.message_added.emit(self._store(conversation_id, "assistant", "", state))
        self.conversations_changed.emit()
        return conversation_id

    def attach(
        self, path: Path, then: Callable[[Attachment], None], failed: Callable[[TenonError], None]
    ) -> Callable[[], None]:
        if self.reading is not None:
            self.reading.append((then, failed))
            return lambda: self.calls.append(("give up", path.name))
        try:
            then(read_attachment(path))
        except TenonError as error:
            failed(error)
        return lambda: None

    def stop(self, conversation_id: int) -> None:
        self.calls.append(("stop", conversation_id))
        if self.messages(conversation_id) and self.reply(conversation_id).state.unfinished:
            self.change(conversation_id, state=MessageState.STOPPED)

    def retry(self, conversation_id: int) -> None:
        self.calls.append(("retry", conversation_id))
        failed = self.reply(conversation_id)
        self._library.remove_message(failed)
        self._answer(conversation_id, failed.parent_id)

    def regenerate(self, conversation_id: int, reply_id: int) -> None:
        self.calls.append(("regenerate", conversation_id, reply_id))
        reply = self._library.message(conversation_id, reply_id)
        assert reply is not None
        self._answer(conversation_id, reply.parent_id)

    def edit_message(self, conversation_id: int, message_id: int, text: str) -> None:
        if self.send_error is not None:
            raise self.send_error
        self.calls.append(("edit_message", conversation_id, message_id, text))
        message = self._library.message(conversation_id, message_id)
        assert message is not None
        prompt = self._store(conversation_id, "user", text, parent_id=message.parent_id)
        self._answer(conversation_id, prompt.id)

    def alternatives(self, conversation_id: int, message_id: int) -> list[int]:
        return self._library.alternatives(conversation_id, message_id)

    def choose_alternative(self, conversation_id: int, message_id: int) -> None:
        if any(message.id == message_id for message in self.messages(conversation_id)):
            return
        self._library.show_branch(conversation_id, message_id)
        self.conversation_replaced.emit(conversation_id)

    def continue_reply(self, conversation_id: int) -> bool:
        self.calls.append(("continue_reply", conversation_id))
        self._active = conversation_id
        reply = replace(self.reply(conversation_id), state=MessageState.WAITING)
        self._library.put_message(replace(reply, kept_characters=len(reply.content)))
        self.conversation_replaced.emit(conversation_id)
        return True

    def delete_message(self, conversation_id: int, message_id: int) -> bool:
        self.calls.append(("delete_message", conversation_id, message_id))
        deleted = bool(self._library.delete_message(conversation_id, message_id))
        self.conversation_replaced.emit(conversation_id)
        return deleted

    def undo_delete_message(self) -> int | None:
        restored = self._library.undelete_messages()
        if restored is None:
            return None
        self.conversation_replaced.emit(restored.conversation_id)
        return restored.conversation_id

    def rename(self, conversation_id: int, title: str) -> None:
        self.calls.append(("rename", conversation_id, title))
        self._change_conversation(conversation_id, title=title)

    def pin(self, conversation_id: int, pinned: bool = True) -> None:
        self.calls.append(("pin", conversation_id, pinned))
        self._change_conversation(conversation_id, pinned=pinned)

    def delete(self, conversation_id: int) -> None:
        self.calls.append(("delete", conversation_id))
        self._library.hide(conversation_id, time.time())
        self.conversations_changed.emit()

    def undo_delete(self) -> int | None:
        latest = self._library.trash()
        if not latest:
            return None
        self.bring_back(latest[0][0].id)
        return latest[0][0].id

    def trash(self) -> list[tuple[Conversation, float]]:
        return self._library.trash()

    def bring_back(self, conversation_id: int) -> None:
        self._library.unhide(conversation_id)
        self.conversations_changed.emit()

    def erase(self, conversation_id: int) -> None:
        self.calls.append(("erase", conversation_id))
        self._library.forget(conversation_id)
        self.conversations_changed.emit()

    def export_conversation(self, conversation_id: int, path: Path) -> None:
        self.calls.append(("export_conversation", conversation_id, path))

    def export_all(self, path: Path) -> None:
        self.calls.append(("export_all", path))

    def import_conversations(self, path: Path) -> None:
        self.calls.append(("import_conversations", path))

    def engine_state(self) -> EngineState:
        return self._engine

    def models(self) -> list[ModelChoice]:
        return model_choices(self.settings.recent_models, self.model_store.installed.entries)

    def choose_model(self, ref: str) -> None:
        self.calls.append(("choose_model", ref))

    def settings_applied(self) -> None:
        self.calls.append(("settings_applied",))

    def settings_desk(self) -> FakeSettingsDesk:
        return self.desk

    def mode(self) -> str:
        return self.open_chat.options().mode or self._mode

    def choose_mode(self, mode: str) -> None:
        self._mode = mode
        self.calls.append(("choose_mode", mode))

    def advice(self) -> ModelAdvice | None:
        return self.model_advice

    def modes(self) -> list[ModeChoice]:
        choices = mode_choices(self.drafts.in_use, self._engine.gpu, self.settings.vram_budget_bytes)
        return with_plan(choices, self.plans.chosen)

    def active_conversation(self) -> int | None:
        return self._active

    def close(self) -> None:
        self.calls.append(("close",))
        self.model_store.close()

    # --- inside -----------------------------------------------------------------------------------------------

    def _take_id(self) -> int:
        self._next_id += 1
        return self._next_id

    def _tell_conversations(self) -> None:
        self.conversations_changed.emit()

    def _answer(self, conversation_id: int, parent_id: int | None) -> None:
        """A reply that waits, behind a message; the conversation shows it."""
        self._active = conversation_id
        self._store(conversation_id, "assistant", "", MessageState.WAITING, parent_id=parent_id)
        self.conversation_replaced.emit(conversation_id)

    def _store(
        self,
        conversation_id: int,
        role: str,
        text: str,
        state: MessageState = MessageState.COMPLETE,
        attachments: Sequence[Attachment] = (),
        parent_id: int | None = -1,
    ) -> Message:
        """Add a message behind another one; -1 is the end of what is shown."""
        message = Message(
            self._take_id(),
            conversation_id,
            role,  # type: ignore[arg-type]
            text,
            time.time(),
            state,
            parent_id=self._library.end_of(conversation_id) if parent_id == -1 else parent_id,
            attachments=tuple(attachments),
        )
        self._library.put_message(message)
        self._library.show_leaf(conversation_id, message.id)
        return message
