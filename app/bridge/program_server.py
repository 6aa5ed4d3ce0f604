"""The server for other programs: in a thread of the window's process, with the window's engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.bridge.engine_client import Question
from app.bridge.model_in_engine import ModelInEngine
from app.bridge.worker import Worker
from app.settings.settings import Settings
from app.words import mark, tr
from engine.errors import EngineStopped, TenonError
from engine.messages import (
    Cancel,
    Command,
    CountTokens,
    ErrorReport,
    Event,
    Failed,
    Generate,
    LoadOptions,
    ModelReport,
)

if TYPE_CHECKING:  # starlette and uvicorn are imported when the server is started
    from engine.server.engine_link import HostMaker
    from engine.server.exchange import Served
    from engine.server.phones import Phone, Phones
    from engine.server.serving import BackgroundServer, Figures

_STOPPED = "The engine stopped unexpectedly: ask again, and it starts anew."
_END_S = 1.0


class ServerPhase(str, Enum):
    """Phases of the server."""

    OFF = "off"
    STARTING = "starting"  # it waits for the model, or for the keyring
    ON = "on"
    FAILED = "failed"


@dataclass(frozen=True)
class ServerState:
    """The server."""

    phase: ServerPhase = ServerPhase.OFF
    address: str = ""  # without a path; empty while it is off
    key: str = ""  # key that programs send
    key_kept: bool = True  # the same key holds at the next start
    key_new: bool = False  # the key was made by this start, so that nobody has seen it yet
    model: str = ""  # name of the model for programs
    sentence: str = ""  # reason why it could not be started


@dataclass(frozen=True)
class ProgramSettings:
    """Settings of one kind of program."""

    name: str
    place: str  # place where the settings go
    text: str  # to be copied


@dataclass(frozen=True)
class PhonesNow:
    """The page for phones at the moment."""

    links: dict[str, str]  # links with the code of the next phone, by the addresses of this computer
    port: int
    phones: tuple[Phone, ...]  # those that came in


_TERMINAL = mark("into a terminal, before the program is started")


def settings_of_programs(state: ServerState) -> list[ProgramSettings]:
    """Return settings with which the usual programs reach a server."""
    base, key, model = state.address, state.key, state.model
    chat = f'{{"model": "{model}", "messages": [{{"role": "user", "content": "Hello"}}]}}'
    return [
        ProgramSettings(
            tr("Programs with OpenAI's library"),
            tr(_TERMINAL),
            f"export OPENAI_BASE_URL={base}/v1\nexport OPENAI_API_KEY={key}\n",
        ),
        ProgramSettings(
            "Claude Code",
            tr(_TERMINAL),
            f"export ANTHROPIC_BASE_URL={base}\nexport ANTHROPIC_AUTH_TOKEN={key}\nexport ANTHROPIC_MODEL={model}\n",
        ),
        ProgramSettings(
            "Continue",
            tr("into {file}, under “models”", file="~/.continue/config.yaml"),
            f"  - name: Tenon\n    provider: openai\n    model: {model}\n    apiBase: {base}/v1\n    apiKey: {key}\n"
            "    roles: [chat, edit, apply]\n",
        ),
        ProgramSettings(
            "Aider",
            tr("into a terminal"),
            f"export OPENAI_API_BASE={base}/v1\nexport OPENAI_API_KEY={key}\naider --model openai/{model}\n",
        ),
        ProgramSettings(
            "Open WebUI",
            tr(_TERMINAL),
            f"export OPENAI_API_BASE_URL={base}/v1\nexport OPENAI_API_KEY={key}\n",
        ),
        ProgramSettings(
            "curl",
            tr("into a terminal, to try it"),
            f"curl {base}/v1/chat/completions -H 'Authorization: Bearer {key}' "
            f"-H 'Content-Type: application/json' \\\n  -d '{chat}'\n",
        ),
    ]


class SharedEngine(QObject):
    """The window's engine as the server has it: commands come from the server's thread and go on in the window's."""

    asked = Signal()  # for a reply
    process_id = None  # the window watches over it
    _sent = Signal(object)

    def __init__(self, model: ModelInEngine, parent: QObject) -> None:
        super().__init__(parent)
        self._model = model
        self._tell: Callable[[Event], None] = lambda event: None
        self._questions: dict[str, Question] = {}
        self._ended = False
        self._sent.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def begin(self, tell: Callable[[Event], None], end: Callable[[int | None], None]) -> SharedEngine:
        """Have this told of each event of what is asked, in the window's thread."""
        self._tell = tell
        return self

    def send(self, command: Command) -> None:
        """Hand a command over."""
        self._sent.emit(command)

    def kill(self) -> None:
        """Do nothing: the window ends its engine itself."""

    def close(self) -> None:
        """Do nothing: the window goes on with its engine."""

    def end(self) -> None:
        """Cancel all requests after the server ended."""
        self._ended = True
        for question in tuple(self._questions.values()):
            question.drop()
        self._questions.clear()

    @Slot(object)
    def _take(self, command: Command) -> None:
        if self._ended:
            return
        if isinstance(command, Cancel):
            if command.request_id in self._questions:
                self._questions[command.request_id].cancel(or_kill=False)
        elif isinstance(command, Generate | CountTokens):
            if isinstance(command, Generate):
                self.asked.emit()
            number = command.request_id
            question = self._questions[number] = self._model.ask_for_program(command)
            question.each(self._hear).failed(lambda report: self._lose(number, report))

    def _hear(self, event: Event) -> None:
        number = getattr(event, "request_id", "")
        if number in self._questions and not self._questions[number].open:
            del self._questions[number]
        self._tell(event)

    def _lose(self, number: str, report: ErrorReport) -> None:
        self._questions.pop(number, None)
        if report.kind == EngineStopped.__name__:  # its words are for the user at the window
            self._tell(Failed(number, ErrorReport(report.kind, _STOPPED)))


class ProgramServer(QObject):
    """Switches the server on and off, and keeps it at the model that the window has."""

    changed = Signal(object)  # ServerState
    asked = Signal()  # a program wants a reply
    switched_by: ClassVar[str] = "server_on"  # setting that has the switch

    def __init__(self, settings: Settings, model: ModelInEngine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._model = model
        self._server: BackgroundServer | None = None
        self._shared: SharedEngine | None = None
        self._worker = Worker("tenon-server-start", self)
        self._starts = 0  # tells an answer to this start from one to a start that was taken back
        on = getattr(settings, self.switched_by)
        self.state = ServerState(ServerPhase.STARTING if on else ServerPhase.OFF)
        model.loaded.connect(self._model_loaded)

    @property
    def on(self) -> bool:
        """True if it runs or is about to."""
        return self.state.phase in (ServerPhase.STARTING, ServerPhase.ON)

    def switch(self, on: bool) -> None:
        """Switch it on or off, at the next starts of Tenon too."""
        self._remember(on)
        if on == self.on:
            return
        if on:
            self._show(ServerState(ServerPhase.STARTING))
            if self._model.report is None:
                self._model.load_in_background()
            else:
                self._start()
        else:
            self._end()

    def choose_port(self, port: int) -> None:
        """Answer at another port; a server that runs goes there."""
        if port == self._settings.server_port:
            return
        self._settings.server_port = port
        self.again()

    def figures(self) -> Figures | None:
        """Figures of the moment; None while it does not run."""
        return None if self._server is None else self._server.figures()

    def close(self) -> None:
        """End it. May be called twice."""
        self._starts += 1
        self._worker.close(_END_S)
        if self._server is not None:
            self._server.stop(_END_S)
            self._server = self._shared = None

    @Slot()
    def _model_loaded(self) -> None:
        if self._server is None:
            if self.state.phase is ServerPhase.STARTING:
                self._start()
            return
        options, report, number = self._model.options, self._model.report, self._starts
        if options is not None and report is not None:
            self._worker.run(lambda: _served(options, report), lambda served: self._serve(number, served))

    def _serve(self, number: int, served: Served) -> None:
        if number == self._starts and self._server is not None:
            self._server.served = served
            self._show(replace(self.state, model=served.name))

    def _start(self, new_key: bool = False) -> None:
        options, report = self._model.options, self._model.report
        if options is None or report is None:
            return
        self._starts += 1
        number = self._starts
        shared = SharedEngine(self._model, self)
        shared.asked.connect(self.asked)

        def start() -> tuple[BackgroundServer, ServerState]:
            return self._open(_served(options, report), shared.begin, new_key)

        def started(made: tuple[BackgroundServer, ServerState]) -> None:
            self._shared = shared
            self._server, state = made
            if number == self._starts:
                self._show(state)
            else:  # it was switched off meanwhile
                self._stop()

        def failed(error: TenonError) -> None:
            shared.deleteLater()
            if number == self._starts:
                self._remember(False)
                self._show(ServerState(ServerPhase.FAILED, sentence=error.message))

        self._worker.run(start, started, failed)

    def _open(self, served: Served, begin: HostMaker, new_key: bool) -> tuple[BackgroundServer, ServerState]:
        """Make the server; runs in the worker's thread."""
        from engine.server.guard import own_key
        from engine.server.serving import BackgroundServer

        key = own_key(another=new_key)
        server = BackgroundServer(self._settings.server_port, key.text, served, begin)
        return server, ServerState(ServerPhase.ON, server.address, *key, served.name)

    def _remember(self, on: bool) -> None:
        setattr(self._settings, self.switched_by, on)

    def _end(self) -> None:
        self._starts += 1
        self._show(ServerState(ServerPhase.OFF))
        self._stop()

    def _stop(self) -> None:
        server, self._server = self._server, None
        shared, self._shared = self._shared, None
        if server is None or shared is None:
            return
        shared.end()
        # In the worker, so that the port is free before another start.
        self._worker.run(server.stop, lambda _: shared.deleteLater())

    def again(self, new_key: bool = False) -> None:
        """End it and start it anew, where it is on; with another key the one before opens nothing any more."""
        if self.on:
            self._end()
            self._show(ServerState(ServerPhase.STARTING))
            self._start(new_key)

    def _show(self, state: ServerState) -> None:
        if state != self.state:
            self.state = state
            self.changed.emit(state)


class PhoneServer(ProgramServer):
    """The page for phones, at the port after that for programs."""

    switched_by = "phones_on"
    phones: Phones | None = None  # None until it was on

    def look(self, then: Callable[[PhonesNow], None]) -> None:
        """Have it told which phones there are, if the page is served."""
        phones = self.phones
        if phones is None or self._server is None:
            return
        port = int(self._server.address.rpartition(":")[2])

        def now() -> PhonesNow:
            from engine.server.phones import local_addresses

            links = {address: phones.link(address, port) for address in local_addresses()}
            return PhonesNow(links, port, phones.listed())

        self._worker.run(now, then)

    def remove(self, digest: str | None, then: Callable[[], None], failed: Callable[[TenonError], None]) -> None:
        """Remove a phone, or all of them."""
        if self.phones is not None:
            self._worker.run(partial(self.phones.remove, digest), lambda _: then(), failed)

    def _open(self, served: Served, begin: HostMaker, new_key: bool) -> tuple[BackgroundServer, ServerState]:
        from engine.server.phones import Phones
        from engine.server.serving import BackgroundServer

        self.phones = phones = self.phones or Phones()
        server = BackgroundServer(self._settings.server_port + 1, phones, served, begin)
        return server, ServerState(ServerPhase.ON, server.address, model=served.name)


def _served(options: LoadOptions, report: ModelReport) -> Served:
    """Return the model as programs see it; runs in the worker's thread, since it reads the disk."""
    from engine.server.exchange import Served
    from engine.server.serving import served_name

    return Served(served_name(options.model), options, report)
