"""The model that the engine holds and the one that was chosen, brought together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engine_client import EngineClient
from app.chat.choices import draft_name, model_name
from app.chat.engine_options import load_options, same_in_memory
from app.chat.engine_state import EnginePhase, EngineState
from app.settings.settings import Settings
from app.words import mark, tr
from engine.messages import (
    Cancel,
    EngineReady,
    Event,
    Failed,
    Finished,
    Load,
    LoadOptions,
    ModelLoaded,
    ModelReport,
    ModelUnloaded,
    Unload,
)

_LATER = mark("Loads when the running reply is complete.")
_MEASURED_FIRST = mark("Loads when this machine is measured.")


class ModelInEngine(QObject):
    """Starts the engine, loads the chosen model, and says where that stands."""

    changed = Signal(object)  # EngineState

    def __init__(self, settings: Settings, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._client = client
        self._loads = 0
        self._load_id = ""  # the load in the background
        self._reply_id = ""  # the request that may load a model on its way
        self._asked: dict[str, LoadOptions] = {}  # by request
        self._in_memory: LoadOptions | None = None
        self._load_wanted = False
        self._measuring = False
        self._resting = False  # whether `rest` waits for the engine
        self.context = 0
        self.report: ModelReport | None = None
        self.running_mode = ""  # of the last reply of the model in memory
        self.state = self._named(EngineState(EnginePhase.STARTING, "", ""), load_options(settings))
        self._state_in_memory = self.state
        client.event_received.connect(self._receive)
        client.stopped.connect(self._engine_stopped)

    @property
    def options(self) -> LoadOptions | None:
        """Options that the model in memory was loaded with."""
        return self._in_memory

    def ensure_engine(self) -> None:
        """Start the engine unless it runs."""
        if not self._client.running:
            starting = replace(self.state, phase=EnginePhase.STARTING, fraction=None, sentence="")
            self._show(replace(starting, trouble=None, resting=False))
            self._client.start()

    def bring_in(self, reply_runs: bool) -> None:
        """Load what the settings name now, unless it is there or a reply runs; then it comes after that."""
        options = load_options(self._settings)
        if self._holds(options):
            self._load_wanted = False
            self.cancel_load()
            self._show(self._state_in_memory)
        elif not self._load_id or not same_in_memory(self._asked[self._load_id], options):
            self._load_wanted = True
            if reply_runs:
                idle = replace(self.state, phase=EnginePhase.IDLE)
                sentence = tr(_MEASURED_FIRST if self._measuring else _LATER)
                self._show(replace(self._named(idle, options), sentence=sentence))
            else:
                self.load_if_chosen()

    def adopt(self, ref: str) -> None:
        """Make a model the chosen one without loading it: the next message does."""
        if ref == self._settings.model:
            return
        self._settings.model = ref
        self._load_wanted = False
        options = load_options(self._settings)
        asked = self._asked.get(self._load_id)
        if asked is None or asked.model != ref:
            self.cancel_load()
        if self._holds(options):
            self._show(self._state_in_memory)
        else:
            waiting = self.state.phase in (EnginePhase.STARTING, EnginePhase.STOPPED)
            phase = self.state.phase if waiting else EnginePhase.IDLE
            self._show(self._named(replace(self.state, phase=phase), options))

    def load_in_background(self) -> None:
        """Start the engine and load the chosen model ahead of the first message."""
        self._load_wanted = True
        self.load_if_chosen()

    def load_if_chosen(self) -> None:
        """Load the chosen model if that was asked for and has not been done."""
        wanted, self._load_wanted = self._load_wanted, False
        if not wanted or self._holds(load_options(self._settings)):
            return
        self.cancel_load()
        self.ensure_engine()
        self._loads += 1
        self._load_id = f"load-{self._loads}"
        options = self._options(self._load_id, self._settings.model)
        self._expect(options)
        self._client.send(Load(self._load_id, options))

    def holds_any(self, refs: Collection[str]) -> bool:
        """True if one of these is in the engine's memory, as the model or as its draft."""
        return self._in_memory is not None and (
            self._in_memory.model in refs or (self._in_memory.draft or "") in refs
        )

    def rest(self) -> None:
        """Take the model out of memory until the next message, and say so."""
        self._resting = True
        self._client.send(Unload())

    def cancel_load(self) -> None:
        """Give up the load in the background: a reply behind it was stopped, or another model chosen."""
        if self._load_id:
            self._client.send(Cancel(self._load_id))

    def set_measuring(self, measuring: bool) -> None:
        """Say that the engine is busy with measuring, or no longer."""
        self._measuring = measuring
        self._show(self.state)

    def options_for(self, reply_request_id: str, ref: str, mode: str | None = None) -> LoadOptions:
        """The options of a reply that is about to be sent.

        Args:
            reply_request_id: Its request.
            ref: The model that it was asked of. Where another one was chosen since, that is loaded afterwards.
            mode: Another mode than that of the settings.
        """
        self._reply_id = reply_request_id
        options = self._options(reply_request_id, ref, mode)
        if ref != self._settings.model:
            self._load_wanted = True
        elif not self._holds(options):
            self._expect(options)
        return options

    def in_memory(self, mode: str | None = None) -> LoadOptions | None:
        """The options of a request that the model in memory serves as it is; None where something would be loaded."""
        options = load_options(self._settings)
        options = options if mode is None else replace(options, mode=mode)
        return options if self._holds(options) else None

    def _options(self, request_id: str, ref: str, mode: str | None = None) -> LoadOptions:
        self._asked = {
            known: self._asked[known] for known in (self._load_id, self._reply_id) if known in self._asked
        }
        options = load_options(self._settings, ref)
        self._asked[request_id] = options if mode is None else replace(options, mode=mode)
        return self._asked[request_id]

    def _holds(self, options: LoadOptions) -> bool:
        return self._in_memory is not None and same_in_memory(self._in_memory, options)

    @Slot(object)
    def _receive(self, event: Event) -> None:
        request_id = getattr(event, "request_id", "")
        if request_id and request_id not in (self._load_id, self._reply_id):
            return  # a load that was given up
        asked = self._asked.get(request_id)
        if isinstance(event, ModelLoaded) and asked is not None:
            self._in_memory = asked
            self._state_in_memory = self._named(self.state, asked).after(event)
            self.context = event.report.context
            self.report, self.running_mode = event.report, ""
        if isinstance(event, Finished) and event.reply.mode:
            self.running_mode = event.reply.mode
        chosen = not request_id or (asked is not None and asked.model == self.state.model_ref)
        state = self.state.after(event) if chosen else self.state
        if isinstance(event, EngineReady) and (self._load_id or self._reply_id):
            state = state.loading()
        if isinstance(event, (ModelLoaded, Finished, Failed)) and request_id == self._load_id:
            self._load_id = ""
        if isinstance(event, ModelUnloaded):
            self._in_memory = self.report = None
            resting, self._resting = self._resting, False
            state = replace(state, resting=resting and state.phase is EnginePhase.IDLE)
        self._show(state)

    @Slot(str)
    def _engine_stopped(self, sentence: str) -> None:
        self._load_id = self._reply_id = ""
        self._resting = False
        self._in_memory = self.report = None
        self._show(self.state.stopped(sentence))

    def _named(self, state: EngineState, options: LoadOptions) -> EngineState:
        """The state with the names of what is chosen."""
        return state.with_model(options.model, model_name(options.model), draft_name(options.draft or ""))

    def _expect(self, options: LoadOptions) -> None:
        """Show that a model is about to be loaded, unless the engine itself is still starting."""
        state = self._named(self.state, options)
        self._show(state if state.phase is EnginePhase.STARTING else state.loading())

    def _show(self, state: EngineState) -> None:
        state = replace(state, measuring=self._measuring)
        if state != self.state:
            self.state = state
            self.changed.emit(state)
