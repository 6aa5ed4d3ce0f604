"""One reply at a time: which one runs and which ones wait."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ticket:
    """A reply to be written, by its message's id."""

    conversation_id: int
    reply_id: int


class ReplyQueue:
    """Queue of replies. It says what to start and starts nothing itself.

    Attributes:
        running: The reply that the engine works on, also while it is being stopped.
        waiting: Replies after it, in the order that they came.
        halted: The engine is gone; nothing starts before `resume`.
        held: The engine is to do something else undisturbed; nothing starts meanwhile.
    """

    def __init__(self) -> None:
        self.running: Ticket | None = None
        self.waiting: tuple[Ticket, ...] = ()
        self.halted = False
        self.held = False

    def add(self, ticket: Ticket) -> None:
        """Queue a reply after all others."""
        self.waiting += (ticket,)

    def start_next(self) -> Ticket | None:
        """Make the first waiting reply the running one; None when one runs, none waits, or all is halted or held."""
        if self.running is not None or self.halted or self.held or not self.waiting:
            return None
        self.running, *rest = self.waiting
        self.waiting = tuple(rest)
        return self.running

    def finish(self, reply_id: int) -> bool:
        """Take a reply off the queue; return False if another one runs (news from before a crash)."""
        if self.running is None or self.running.reply_id != reply_id:
            return False
        self.running = None
        return True

    def take_out(self, conversation_id: int) -> tuple[Ticket, ...]:
        """Remove the waiting replies of a conversation and return them; a running one stays."""
        taken = tuple(ticket for ticket in self.waiting if ticket.conversation_id == conversation_id)
        self.waiting = tuple(ticket for ticket in self.waiting if ticket.conversation_id != conversation_id)
        return taken

    def halt(self) -> Ticket | None:
        """Hold replies back after the engine ended; return the reply that it lost."""
        lost, self.running, self.halted = self.running, None, True
        return lost

    def resume(self) -> None:
        """Let the queue go on after the engine started again."""
        self.halted = False
