"""Tools for the models of the chats: the list of them, what the user allows, and the calls of the replies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from typing import Literal

from PySide6.QtCore import QObject, QTimer, Signal

from app.bridge.worker import Worker
from app.chat.conversation import ToolStep
from app.chat.reply import Ticket
from app.words import tr
from engine.errors import TenonError
from engine.messages import ToolCall
from engine.tools.acts import Act, acts, erase_acts
from engine.tools.calling import OfferedTool, Outcome, call, end_session, list_tools, offered
from engine.tools.servers import (
    KnownTool,
    ToolServer,
    change_server,
    forget_server,
    keep_server,
    read_servers,
    servers,
    with_tools,
)

Answer = Literal["once", "chat", "always", "no"]
_END_S = 2.0


@dataclass
class _Calls:
    """Calls that a reply waits for."""

    ticket: Ticket
    steps: list[ToolStep]
    offered: dict[str, OfferedTool]
    once: set[int] = field(default_factory=set)  # numbers of the steps that the user allowed
    runs: bool = False
    left: Event = field(default_factory=Event)


class ToolDesk(QObject):
    """Asks before a call, and makes it only while its chat is shown; nothing here waits.

    The list of tools is read from the disk, and changed there first.
    """

    changed = Signal()  # the list of tools, or what is done about it
    steps_changed = Signal(int, int, object)  # conversation id, reply's id, tuple of ToolStep
    done = Signal(int, int)  # conversation id, reply's id: each call has its result
    waits = Signal(int)  # conversation id: it is not shown, and its reply wants to call a tool
    said = Signal(str)  # a sentence for the user
    sign_in = Signal(str)  # address of a page where the user signs in

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.servers = servers()
        self.busy: set[str] = set()  # names of servers that are asked for their tools
        # Conversation id, name, place and arguments of a server, digest of a tool
        self._for_chat: set[tuple[int, str, str, tuple[str, ...], str]] = set()
        self._open: dict[int, _Calls] = {}
        self._shown: int | None = None
        self._worker = Worker("tenon-tool-list", self)
        self._callers: dict[int | str, Worker] = {}  # by the id of a chat, or the name of a server
        self._closed = Event()

    @property
    def open(self) -> list[Ticket]:
        """Replies that wait for calls."""
        return [one.ticket for one in self._open.values()]

    def offered(self) -> dict[str, OfferedTool]:
        """Return the tools of the next reply, by their names for the model."""
        return offered(self.servers)

    # --- calls --------------------------------------------------------------------------------------------

    def begin(self, ticket: Ticket, steps: tuple[ToolStep, ...], offers: dict[str, OfferedTool]) -> None:
        """Take the calls of a reply: ask for them, and carry out what is allowed."""
        self._open[ticket.conversation_id] = _Calls(ticket, list(steps), dict(offers))
        if ticket.conversation_id != self._shown:
            self.waits.emit(ticket.conversation_id)
        # The reply itself learns of them first.
        QTimer.singleShot(0, self, lambda: self._go_on(ticket.conversation_id))

    def answer(self, reply_id: int, number: int, answer: Answer) -> None:
        """Take the user's answer to a question; the number is that of the step in its reply."""
        one = next((one for one in self._open.values() if one.ticket.reply_id == reply_id), None)
        if one is None or number >= len(one.steps) or one.steps[number].state != "asks":
            return
        chat, step = one.ticket.conversation_id, one.steps[number]
        offer = one.offered[step.name]
        if answer == "no":
            self._change(one, number, state="refused")
        elif answer == "chat":
            self._for_chat.add(_in_chat(chat, offer))
        elif answer == "always":
            allowed = offer.tool.digest
            try:
                self.change_tool(offer.server.name, offer.tool.name, lambda tool: replace(tool, allowed=allowed))
            except TenonError as error:  # then it is allowed this once
                self.said.emit(error.message)
        one.once.add(number)
        self._go_on(chat)

    def show(self, conversation_id: int | None) -> None:
        """Go on with the calls of the chat that is shown now."""
        self._shown = conversation_id
        if conversation_id is not None:
            self._go_on(conversation_id)

    def stop(self, conversation_id: int) -> int | None:
        """Give up the calls of a chat; return the id of the reply that waited for them."""
        one = self._open.pop(conversation_id, None)
        if one is None:
            return None
        one.left.set()
        return one.ticket.reply_id

    def _go_on(self, chat: int) -> None:
        """Carry out the next call that is allowed, or let the reply go on after the last one."""
        one = self._open.get(chat)
        if one is None or one.runs or chat != self._shown:
            return
        for at, step in enumerate(one.steps):  # what was switched off or replaced meanwhile is not called
            if step.state == "asks" and not self._is_on(one.offered[step.name]):
                self._change(one, at, state="failed", result=tr("There is no tool of this name."))
        waiting = [number for number, step in enumerate(one.steps) if step.state == "asks"]
        number = next((number for number in waiting if self._allowed(one, number)), None)
        if number is None:
            self.steps_changed.emit(chat, one.ticket.reply_id, tuple(one.steps))
            if not waiting:
                del self._open[chat]
                self.done.emit(chat, one.ticket.reply_id)
            return
        one.runs = True
        self._change(one, number, state="runs", result="")
        step, offer = one.steps[number], one.offered[one.steps[number].name]
        wish = ToolCall(step.name, step.arguments)
        self._caller(chat).run(
            lambda: call(offer, wish, one.left.is_set),
            partial(self._came, one, number),
            lambda error: self._came(one, number, Outcome(error.message, failed=True)),
        )

    def _caller(self, key: int | str) -> Worker:
        """Return the worker of a chat or a server: one that takes long keeps no other from its own."""
        if key not in self._callers:
            self._callers[key] = Worker(f"tenon-tools-{key}", self)
        return self._callers[key]

    def _is_on(self, offer: OfferedTool) -> bool:
        server, tool = self.server(offer.server.name), self.tool(offer.server.name, offer.tool.name)
        return server is not None and server.on and server.is_as(offer.server) and tool is not None and tool.on

    def _allowed(self, one: _Calls, number: int) -> bool:
        offer = one.offered[one.steps[number].name]
        known = self.tool(offer.server.name, offer.tool.name)
        always = known is not None and known.is_allowed and known.digest == offer.tool.digest
        return number in one.once or always or _in_chat(one.ticket.conversation_id, offer) in self._for_chat

    def _came(self, one: _Calls, number: int, outcome: Outcome) -> None:
        chat = one.ticket.conversation_id
        if self._open.get(chat) is not one:
            return
        one.runs = False
        if outcome.changed:  # asked again, of the tool as it is now
            self._read_again()
            one.once.discard(number)
            offer = one.offered[one.steps[number].name]
            now = self.tool(offer.server.name, offer.tool.name)
            if now is not None and not now.problem:
                one.offered[offer.name] = replace(offer, tool=now)
                self._change(one, number, state="asks", result=outcome.text, reads_only=now.reads_only)
                self._go_on(chat)
                return
        state = "failed" if outcome.failed else "done"
        self._change(one, number, state=state, result=outcome.text, seconds=outcome.seconds)
        self._go_on(chat)

    def _change(self, one: _Calls, number: int, **changes: object) -> None:
        one.steps[number] = replace(one.steps[number], **changes)  # type: ignore[arg-type]
        self.steps_changed.emit(one.ticket.conversation_id, one.ticket.reply_id, tuple(one.steps))

    # --- the list -----------------------------------------------------------------------------------------

    def add(self, text: str) -> None:
        """Add servers by a command, an address or JSON, and ask them for their tools.

        Raises:
            TenonError: It is none of them, or cannot be kept.
        """
        for server, secret in read_servers(text):
            kept = keep_server(server, secret)
            self._read_again()
            self.connect_server(kept.name)

    def set_own(self, name: str, place: str, key: str = "") -> None:
        """Give one of Tenon's own tools its folder or its search.

        Raises:
            TenonError: It cannot be used, or the key cannot be kept.
        """
        server = self.server(name)
        assert server is not None
        if place != server.place:  # what was allowed was so for the place before
            server = replace(server, tools=tuple(replace(tool, allowed="") for tool in server.tools))
        keep_server(replace(server, place=place), {"key": key} if key else {})
        self._read_again()

    def connect_server(self, name: str) -> None:
        """Ask a server for its tools; it is switched on once it has told them."""
        server = self.server(name)
        if server is None or server.own or name in self.busy:
            return
        self.busy.add(name)
        self.changed.emit()

        def ended(error: TenonError | None) -> None:
            self.busy.discard(name)
            self._read_again()
            if error is not None:
                self.said.emit(error.message)

        def ask() -> None:
            listed = list_tools(server, self.sign_in.emit, self._closed.is_set)
            # The user may have changed what is allowed meanwhile.
            change_server(name, lambda now: replace(with_tools(now, listed.tools), on=True))

        self._caller(name).run(ask, lambda _: ended(None), ended)

    def switch(self, name: str, on: bool) -> None:
        """Switch a server, or one of Tenon's own tools.

        Raises:
            TenonError: It cannot be kept.
        """
        change_server(name, lambda server: replace(server, on=on))
        if not on:
            self._worker.run(lambda: end_session(name))
        self._read_again()

    def change_tool(self, server: str, name: str, change: Callable[[KnownTool], KnownTool]) -> None:
        """Switch a tool, or change what is allowed of it.

        Raises:
            TenonError: It cannot be kept.
        """
        change_server(
            server,
            lambda one: replace(one, tools=tuple(change(tool) if tool.name == name else tool for tool in one.tools)),
        )
        self._read_again()

    def remove(self, name: str) -> None:
        """Forget a server and its secrets.

        Raises:
            TenonError: The list cannot be written.
        """
        server = self.server(name)
        if server is not None and not server.own:
            forget_server(server)
            self._worker.run(lambda: end_session(name))
            self._read_again()

    def acts(self) -> list[Act]:
        """Return the record of what tools have done, the latest first."""
        return acts()

    def erase_acts(self) -> None:
        """Erase that record."""
        self._worker.run(erase_acts, lambda _: self.changed.emit(), lambda error: self.said.emit(error.message))

    def close(self) -> None:
        """Give up every call, and end the servers. May be called twice."""
        self._closed.set()
        for one in self._open.values():
            one.left.set()
        for worker in (self._worker, *self._callers.values()):
            worker.close(_END_S)
        end_session()

    def server(self, name: str) -> ToolServer | None:
        """Return a server; None for one that is gone."""
        return next((one for one in self.servers if one.name == name), None)

    def tool(self, server: str, name: str) -> KnownTool | None:
        """Return a tool of a server; None for one that is gone."""
        known = self.server(server)
        return None if known is None else next((tool for tool in known.tools if tool.name == name), None)

    def _read_again(self) -> None:
        self.servers = servers()
        self.changed.emit()


def _in_chat(chat: int, offer: OfferedTool) -> tuple[int, str, str, tuple[str, ...], str]:
    """Return the mark by which a tool is allowed in a chat: as it is, of the server that has it."""
    return chat, offer.server.name, offer.server.place, offer.server.arguments, offer.tool.digest
