"""Serving: start the engine, load the model, and answer requests until somebody stops it."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import uvicorn

from engine import messages
from engine.errors import InvalidOption, TenonError
from engine.gguf.files import SUFFIX, gguf_name
from engine.hub.bundled import bundled_model
from engine.hub.endpoints import is_remote, remote_name
from engine.hub.installed import find_model, installed_as
from engine.hub.model_folders import HUGGING_FACE, OLLAMA
from engine.sentences import mark, say
from engine.server.application import Metrics, application
from engine.server.connection import Connection, most_connections
from engine.server.engine_link import EngineLink, HostMaker, watch
from engine.server.exchange import Served
from engine.server.phones import Phones

_ADDRESS = "127.0.0.1"
EVERYWHERE = "0.0.0.0"
_PHONES_SHARE = 0.25  # of the connections that programs may have
_WAITING_CONNECTIONS = 2048
#: Connections that are taken at once, each with a descriptor, before any of them is looked at.
_TAKEN_AT_ONCE = 16
#: Time for which a crowd of connections is told of, once.
CROWDED_S = 60.0
_CROWDED = mark("Another program keeps many connections open without a request: the oldest ones are closed.")
#: Time for answers to end once the server is asked to stop: each has got its error by then.
_CLOSING_S = 2


def serve(
    options: messages.LoadOptions,
    port: int,
    key: str | None,
    ready: Callable[[str, str, int], None],
    progress: Callable[[messages.Event], None],
    parse_special: bool = False,
    guess_from_replies: bool = True,
    phones: Phones | None = None,
    page_address: str = EVERYWHERE,
    picture_addresses: bool = False,
) -> None:
    """Serve a model until SIGINT or SIGTERM.

    Args:
        options: Options of the load, the model among them.
        port: Port of this computer alone; 0 takes any.
        key: Key that each request has to bring; None for none.
        ready: Called with address, the model's name and the page's port once requests are answered.
        progress: Called with events of the load: `LoadProgress` and `Notice`.
        parse_special: True if control tokens in a raw prompt are control tokens, unless a request says otherwise.
        guess_from_replies: True if earlier replies to any client serve to guess the next ones.
        phones: Phones for which the page is served, at the next port; None for none.
        page_address: Address of this computer at which it is.
        picture_addresses: True if pictures are fetched from addresses of the internet that requests name.

    Raises:
        TenonError: The port is not free, or the model cannot be loaded.
    """
    find_model(options.model)  # before torch is imported for one that is not there

    async def run() -> None:
        metrics = Metrics()
        link = EngineLink(metrics.take)
        loading = asyncio.ensure_future(load(link, options, progress))
        servers: list[ModelServer] = []

        def stop() -> None:
            loading.cancel()
            for server in servers:
                server.should_exit = True

        try:
            with _on_signals(stop):
                try:
                    name = served_name(options.model)
                    earlier = messages.EarlierReplies("programs") if guess_from_replies else None
                    served = Served(
                        name,
                        options,
                        await loading,
                        parse_special=parse_special,
                        picture_addresses=picture_addresses,
                        earlier=earlier,
                    )
                except asyncio.CancelledError:
                    return
                doors = (key,) if phones is None else (key, phones)
                servers += (
                    ModelServer(link, application(lambda: served, link, metrics, door), progress, _share_of(door))
                    for door in doors
                )
                watching = asyncio.ensure_future(watch(link))
                ready(local_address(listeners[0]), served.name, port_of(listeners[-1]))
                try:
                    await asyncio.gather(*(one.serve([at]) for one, at in zip(servers, listeners, strict=True)))
                finally:
                    watching.cancel()
        finally:
            await link.close()

    with ExitStack() as stack:
        listeners = [stack.enter_context(listening(port))]
        if phones is not None:
            listeners.append(stack.enter_context(listening(port and port + 1, page_address)))
        asyncio.run(run())


async def load(
    link: EngineLink, options: messages.LoadOptions, progress: Callable[[messages.Event], None]
) -> messages.ModelReport:
    """Load the model and write a token with it: a mode that cannot run is told now, and not to each client."""
    answers = link.ask([messages.Generate("", options, raw_prompt="Hello", max_tokens=1)])
    report = None
    while (item := await answers.next()) is not None:
        event = item[1]
        if isinstance(event, messages.LoadProgress | messages.Notice):
            progress(event)
        elif isinstance(event, messages.ModelLoaded):
            report = event.report
        elif isinstance(event, messages.Failed):
            error = TenonError(event.error.message, event.error.details)
            error.exit_code = event.error.exit_code
            raise error
        elif isinstance(event, messages.Finished):
            break
    assert report is not None, "the engine had no model before"
    if report.template_note:
        progress(messages.Notice("", report.template_note))
    return report


class ModelServer(uvicorn.Server):
    """Server that ends what runs with an error for each client before it closes their connections.

    Args:
        app: Application that answers requests.
        tell: Told with `Notice`, at most once in `CROWDED_S`, that other programs keep too many connections open.
        share: Share of the connections that a server may have.
    """

    def __init__(
        self,
        link: EngineLink,
        app: Callable[..., Any],
        tell: Callable[[messages.Event], None] = lambda event: None,
        share: float = 1.0,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=cast("Any", partial(Connection, int(most_connections() * share), self._note_crowd)),
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",  # its words may quote a request
                access_log=False,
                server_header=False,
                proxy_headers=False,
                backlog=_TAKEN_AT_ONCE,
                timeout_graceful_shutdown=_CLOSING_S,
            )
        )
        self._link = link
        self._tell = tell
        self._crowded_s = -CROWDED_S

    @property
    def crowded(self) -> bool:
        """True if there were too many connections lately."""
        return time.monotonic() - self._crowded_s < CROWDED_S

    def _note_crowd(self) -> None:
        if not self.crowded:
            self._tell(messages.Notice("", say(_CROWDED)))
            self._crowded_s = time.monotonic()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        asyncio.get_running_loop().set_exception_handler(self._handle)
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(_WAITING_CONNECTIONS)  # uvicorn takes one number for both

    async def on_tick(self, counter: int) -> bool:
        """Look at the connections."""
        for connection in list(self.server_state.connections):
            cast(Connection, connection).check()
        return await super().on_tick(counter)

    def _handle(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Tell of an error of the loop; no connection is taken for a second if descriptors run out."""
        if isinstance(context.get("exception"), OSError) and "socket" in context:
            self._note_crowd()
        else:
            loop.default_exception_handler(context)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to who starts the server."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close."""
        self._link.refuse_all()
        await super().shutdown(sockets)


def _share_of(door: str | Phones | None) -> float:
    return _PHONES_SHARE if isinstance(door, Phones) else 1.0


@contextmanager
def listening(port: int, address: str = _ADDRESS) -> Iterator[socket.socket]:
    """Open a socket at an address of this computer; what connects waits until the model is there."""
    if not 0 <= port <= 65535:
        raise InvalidOption("The port is {port}, but it must be between 0 (any) and 65535.", port=port)
    # With the protocol named asyncio sends small pieces at once; else each answer waits 40 ms for an acknowledgement.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform == "win32":  # where the other option lets two programs share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, port))
        except OSError as error:
            reason = error.strerror or error
            raise InvalidOption(
                "Port {port} cannot be used ({reason}): choose another.", port=port, reason=reason
            ) from error
        listener.listen(_WAITING_CONNECTIONS)
        yield listener
    finally:
        listener.close()


def local_address(listener: socket.socket) -> str:
    """Return the address of the server that listens to a socket."""
    return f"http://{_ADDRESS}:{port_of(listener)}"


def port_of(listener: socket.socket) -> int:
    """Return the port of a socket that listens."""
    return int(listener.getsockname()[1])


@contextmanager
def _on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call a function on SIGINT and SIGTERM."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def served_name(reference: str) -> str:
    """Return the model's name for clients: the one that it was asked for by, or that of its file or folder."""
    if bundled_model(reference) is not None or installed_as(reference) is not None:
        return reference
    if is_remote(reference):
        return remote_name(reference)
    location = find_model(reference)
    if reference.startswith((OLLAMA, HUGGING_FACE)):
        return reference.partition(":")[2].rpartition("/")[2].removesuffix(SUFFIX)
    return gguf_name(location) if location.is_file() else location.name


@dataclass(frozen=True)
class Figures:
    """Figures of the moment, and sums since the start."""

    clients: int = 0  # number of open connections
    crowded: bool = False  # True if there were too many connections lately
    running: int = 0  # number of requests that the engine has
    waiting: int = 0  # number of requests that wait for their turn
    tokens: int = 0  # tokens of replies so far, those that run included
    drafted: int = 0  # drafted tokens of replies that have ended
    accepted: int = 0  # drafted tokens that held


class BackgroundServer:
    """Server in a thread of its own, for an engine of somebody else: it takes connections until `stop`.

    Args:
        port: Port of this computer alone, or of the page for phones; 0 takes any.
        key: Key that each request has to bring, or the phones that get the page.
        start: Gives it the engine.

    Raises:
        InvalidOption: The port is not free.
        OSError: The system has no room for the server.
    """

    def __init__(self, port: int, key: str | Phones, served: Served, start: HostMaker) -> None:
        self.served = served  # the model; another one may take its place
        self._metrics = Metrics()
        self._ready = threading.Event()
        self._stack = ExitStack()
        of_page = isinstance(key, Phones)
        listener = self._stack.enter_context(listening(port, EVERYWHERE if of_page else _ADDRESS))
        self.address = local_address(listener)

        async def run() -> None:
            self._link = EngineLink(self._metrics.take, start, name="phone" if of_page else "served")
            app = application(lambda: self.served, self._link, self._metrics, key)
            self._server = ModelServer(self._link, app, share=_share_of(key))
            self._ready.set()
            await self._server.serve([listener])

        failed: list[OSError] = []

        def thread() -> None:
            with self._stack, closing(run()) as running:
                try:
                    asyncio.run(running)
                except OSError as error:
                    failed.append(error)
                    for frame, _ in traceback.walk_tb(error.__traceback__):
                        half_made = frame.f_locals.get("self")
                        if isinstance(half_made, asyncio.BaseEventLoop):
                            half_made.__dict__["_closed"] = True  # or it complains that it cannot be closed
                finally:
                    self._ready.set()

        self._thread = threading.Thread(target=thread, name="tenon-server", daemon=True)
        self._thread.start()
        self._ready.wait()
        if failed:
            raise failed[0]

    def figures(self) -> Figures:
        """Return figures of the moment; from any thread."""
        link, done, clients = self._link, self._metrics, len(self._server.server_state.connections)
        drafts = done.sums["drafted_tokens"], done.sums["accepted_tokens"]
        return Figures(clients, self._server.crowded, link.running, link.waiting, done.tokens, *drafts)

    def stop(self, wait_s: float | None = None) -> None:
        """End what runs with an error for each client, and wait for the end as long as said; None waits for ever."""
        self._server.should_exit = True
        self._thread.join(wait_s)
