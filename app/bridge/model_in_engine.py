"""The model that the engine holds and the one that was chosen, brought together."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engine_client import EngineClient, Question
from app.chat.conversation import ConversationOptions
from app.chat.engine_options import load_options
from app.chat.engine_state import EnginePhase, EngineState, ServerPlace
from app.settings.settings import Settings
from app.words import mark, tr
from engine.hub.bundled import bundled_drafts, bundled_model
from engine.hub.endpoints import is_remote, server_of
from engine.hub.titles import title_of_model
from engine.messages import (
    CheckLoaded,
    CountTokens,
    EarlierReplies,
    EngineReady,
    ErrorReport,
    Event,
    Finished,
    Generate,
    KeptChat,
    Load,
    LoadOptions,
    ModelLoaded,
    ModelReport,
    ModelUnloaded,
    Reply,
    Unload,
)

#: Names of the earlier replies that lookup guesses from: those of chats, and those that programs asked for.
OF_CHATS, OF_PROGRAMS = "chats", "programs"
# Errors that another try does not mend, unlike a disk that is not mounted or memory that is full.
_UNUSABLE = frozenset({
    "ConfigInvalid", "TensorMismatch", "TokenizerInvalid", "UnsupportedModel", "WeightsCorrupt", "WeightsMissing",
})  # fmt: skip

_LATER = mark("Loads when the running reply is complete.")
_MEASURED_FIRST = mark("Loads when this machine is measured.")


class ModelInEngine(QObject):
    """Starts the engine, loads the chosen model, and says where that stands."""

    changed = Signal(object)  # EngineState
    loaded = Signal()
    unusable = Signal(str, object)  # a model whose files cannot be used, and an ErrorReport that says why

    def __init__(self, settings: Settings, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._client = client
        self._load: Question | None = None  # in the background
        self._reply: Question | None = None  # a request that may load a model on its way
        self._check: Question | None = None  # whether the model in memory serves what was chosen
        self._in_memory: LoadOptions | None = None
        self._load_wanted = False
        self._measuring = False
        self._resting = False  # whether `rest` waits for the engine
        self.context = 0
        self.report: ModelReport | None = None
        self.last_reply: Reply | None = None  # of the model in memory
        self.state = self._named(EngineState(EnginePhase.STARTING, "", ""), settings.model)
        self._state_in_memory = self.state
        client.event_received.connect(self._receive)
        client.stopped.connect(self._engine_stopped)

    @property
    def options(self) -> LoadOptions | None:
        """Options that the model in memory was loaded with."""
        return self._in_memory

    def context_of(self, ref: str) -> int:
        """Tokens of context that a model has in memory; 0 for one that is not there."""
        there = self.report is not None and self._in_memory is not None and self._in_memory.model == ref
        return self.context if there else 0

    def ensure_engine(self) -> None:
        """Start the engine unless it runs."""
        if not self._client.running:
            self._show(self.state.starting())
            self._client.start()

    def bring_in(self, reply_runs: Callable[[], bool]) -> None:
        """Load what the settings name now, unless it is there or a reply runs; then it comes after that."""
        options = load_options(self._settings)
        if self._in_memory is not None and self._in_memory.model == options.model != self.state.model_ref:
            self._show(self._state_in_memory)  # until the engine says that something has to be loaded
        if self._loading is None or self._loading != options:
            self._check_chosen(partial(self._bring_in, options, reply_runs))

    def _bring_in(self, options: LoadOptions, reply_runs: Callable[[], bool], there: bool) -> None:
        self._load_wanted = not there
        if there:
            self.cancel_load()
            self._show(self._state_in_memory)
        elif reply_runs():
            idle = replace(self.state, phase=EnginePhase.IDLE)
            sentence = tr(_MEASURED_FIRST if self._measuring else _LATER)
            self._show(replace(self._named(idle, options.model), sentence=sentence))
        else:
            self._load_chosen(False)

    def adopt(self, ref: str) -> None:
        """Make a model the chosen one without loading it: the next message does."""
        if ref == self._settings.model:
            return
        self._settings.model = ref
        self._load_wanted = False
        if self._loading is not None and self._loading.model != ref:
            self.cancel_load()
        waiting = self.state.phase in (EnginePhase.STARTING, EnginePhase.STOPPED)
        phase = self.state.phase if waiting else EnginePhase.IDLE
        idle = self._named(replace(self.state, phase=phase), ref)
        if self._in_memory is not None and self._in_memory.model == ref:
            self._show(self._state_in_memory)  # until the engine says that something has to be loaded
        self._check_chosen(lambda there: self._show(self._state_in_memory if there else idle))

    def load_in_background(self) -> None:
        """Start the engine and load the chosen model ahead of the first message."""
        self._load_wanted = True
        self.load_if_chosen()

    def load_if_chosen(self) -> None:
        """Load the chosen model if that was asked for and has not been done."""
        wanted, self._load_wanted = self._load_wanted, False
        if wanted:
            self._check_chosen(self._load_chosen)

    def _load_chosen(self, there: bool) -> None:
        self._load_wanted = False
        if there:
            return
        if self._load is not None:
            self._load.drop()
        self.ensure_engine()
        options = load_options(self._settings)
        self._expect(options)
        self._load = self._ask(Load("", options)).failed(partial(self._load_failed, options))

    def check(
        self, options: LoadOptions, then: Callable[[bool], None], kept: KeptChat | None = None
    ) -> Question | None:
        """Ask the engine if the model in memory serves a request with these options without a load.

        Args:
            then: Called with the answer.
            kept: Files of a chat, which the engine reads into memory before it answers yes; None for no chat.

        Returns:
            The question to the engine; None if another model is in memory, and ``then`` was called at once.
        """
        if self._in_memory is None or self._in_memory.model != options.model:
            then(False)
            return None
        return self._client.ask(CheckLoaded("", options, kept)).done(lambda answer: then(answer.loaded))

    def _check_chosen(self, then: Callable[[bool], None]) -> None:
        if self._check is not None:
            self._check.drop()
        self._check = self.check(load_options(self._settings), then)

    def holds_any(self, refs: Collection[str]) -> bool:
        """Return True if one of these is in the engine's memory, as the model or as a draft."""
        return self._in_memory is not None and (
            any(ref in refs for ref in (self._in_memory.model, *self._in_memory.drafts))
        )

    def rest(self) -> None:
        """Take the model out of memory until the next message, and say so."""
        self._resting = True
        self._client.send(Unload())

    def cancel_load(self) -> None:
        """Give up the load in the background: a reply after it was stopped, or another model chosen."""
        if self._load is not None:
            self._load.cancel(or_kill=False)

    def set_measuring(self, measuring: bool) -> None:
        """Say that the engine is busy with measuring, or no longer."""
        self._measuring = measuring
        self._show(self.state)

    def options_for(self, ref: str, own: ConversationOptions | None = None) -> LoadOptions:
        """Options of a reply of a model, in a chat with options of its own."""
        if own is not None and own.drafts is not None:  # the chat may have another model since
            shipped = bundled_drafts(ref)
            drafts = (draft for draft in own.drafts if draft in shipped or bundled_model(draft) is None)
            own = replace(own, drafts=tuple(drafts))
        return load_options(self._settings, ref, own)

    def ask(self, request: Generate) -> Question:
        """Ask for a reply, which loads its model where that is not in memory.

        A model that was chosen since is loaded afterwards.
        """
        if request.options.model != self._settings.model:
            self._load_wanted = True
        elif self._in_memory is None:
            self._expect(request.options)
        self._reply = self._ask(request)
        return self._reply

    def ask_for_program(self, request: Generate | CountTokens) -> Question:
        """Ask for what another program wants, beside what the window wants."""
        if request.options.model == self._settings.model and self._in_memory is None:
            self._expect(request.options)
        if isinstance(request, Generate) and self._settings.guess_from_replies:
            request = replace(request, earlier=EarlierReplies(OF_PROGRAMS))
        return self._ask(request)

    def count(self, text: str, then: Callable[[int], None]) -> Question | None:
        """Have the tokens of a text counted; None where no model is in memory, or it is a server's."""
        if self._in_memory is None or self.state.phase is not EnginePhase.READY or is_remote(self._in_memory.model):
            return None
        command = CountTokens("", Generate("", self._in_memory, raw_prompt=text))
        return self._client.ask(command).done(lambda counted: then(counted.tokens))

    @property
    def _loading(self) -> LoadOptions | None:
        """Options of the load in the background; None while there is none."""
        load = self._load
        return load.command.options if load is not None and load.open and isinstance(load.command, Load) else None

    def _ask(self, command: Load | Generate | CountTokens) -> Question:
        return self._client.ask(command).each(lambda event: self._hear(command.options, event))

    def _hear(self, asked: LoadOptions, event: Event) -> None:
        """Take an event of a load, or of a reply that may load its model."""
        if isinstance(event, ModelLoaded):
            self._in_memory = asked
            self._state_in_memory = self._named(self.state, asked.model).after(event)
            self.context = event.report.context
            self.report, self.last_reply = event.report, None
        if isinstance(event, Finished) and event.reply.mode:
            self.last_reply = event.reply
        if asked.model == self.state.model_ref:
            self._show(self.state.after(event))
        if isinstance(event, ModelLoaded):
            self.loaded.emit()

    def _load_failed(self, asked: LoadOptions, report: ErrorReport) -> None:
        if report.kind in _UNUSABLE and not asked.drafts and asked.model == self._settings.model:
            self.unusable.emit(asked.model, report)

    @Slot(object)
    def _receive(self, event: Event) -> None:
        """Take an event that belongs to no request."""
        if isinstance(event, EngineReady):
            state = self.state.after(event)
            waits = any(question is not None and question.open for question in (self._load, self._reply))
            self._show(state.loading() if waits else state)
        elif isinstance(event, ModelUnloaded):
            state = self.state.after(event)
            self._in_memory = self.report = None
            resting, self._resting = self._resting, False
            self._show(replace(state, resting=resting and state.phase is EnginePhase.IDLE))

    @Slot(str)
    def _engine_stopped(self, sentence: str) -> None:
        self._resting = False
        self._load = self._reply = self._check = self._in_memory = self.report = None
        self._show(self.state.stopped(sentence))

    def _named(self, state: EngineState, ref: str) -> EngineState:
        """Return the state with the name of what is chosen."""
        return state.with_model(ref, title_of_model(ref), _server_place(ref))

    def _expect(self, options: LoadOptions) -> None:
        """Show that a model is about to be loaded, unless the engine itself is still starting."""
        state = self._named(self.state, options.model)
        self._show(state if state.phase is EnginePhase.STARTING else state.loading())

    def _show(self, state: EngineState) -> None:
        state = replace(state, measuring=self._measuring)
        if state != self.state:
            self.state = state
            self.changed.emit(state)


def _server_place(ref: str) -> ServerPlace | None:
    """Return the server that a model is asked on, or None for a model of this computer."""
    server = server_of(ref)
    if server is None:
        return ServerPlace(ref.partition(":")[2].partition("/")[0]) if is_remote(ref) else None
    return ServerPlace(server.name, server.address, server.is_here, not (server.encrypted or server.is_here))
