from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from app.chat.reply import ReplyQueue, Ticket
from tests.support.fast_cases import examples

CONVERSATIONS = st.integers(1, 4)


class ReplyQueueMachine(RuleBasedStateMachine):
    """Wild sequences of what a person and an engine can do."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = ReplyQueue()
        self.sent: list[Ticket] = []
        self.started: list[Ticket] = []
        self.ended: list[Ticket] = []  # finished, taken out or lost

    def _start(self) -> None:
        ticket = self.queue.start_next()
        if ticket is not None:
            self.started.append(ticket)

    @rule(conversation=CONVERSATIONS)
    def send(self, conversation: int) -> None:
        ticket = Ticket(conversation, len(self.sent))
        self.sent.append(ticket)
        self.queue.add(ticket)
        self.queue.resume()
        self._start()

    @rule(conversation=CONVERSATIONS)
    def stop_or_delete(self, conversation: int) -> None:
        taken = self.queue.take_out(conversation)
        assert all(ticket.conversation_id == conversation for ticket in taken)
        assert all(ticket.conversation_id != conversation for ticket in self.queue.waiting)
        self.ended.extend(taken)

    @precondition(lambda self: self.queue.running is not None)
    @rule()
    def finish(self) -> None:
        running = self.queue.running
        assert self.queue.finish(running.reply_id)
        self.ended.append(running)
        self._start()

    @rule(reply_id=st.integers(-1, 50))
    def late_news(self, reply_id: int) -> None:
        running = self.queue.running
        if running is None or running.reply_id != reply_id:
            assert not self.queue.finish(reply_id)
            assert self.queue.running == running

    @rule()
    def crash(self) -> None:
        lost = self.queue.halt()
        if lost is not None:
            self.ended.append(lost)
        assert self.queue.start_next() is None

    @invariant()
    def every_reply_is_in_one_place(self) -> None:
        here = [*self.ended, *self.queue.waiting, *([self.queue.running] if self.queue.running else [])]
        assert sorted(here, key=lambda ticket: ticket.reply_id) == self.sent

    @invariant()
    def first_come_first_served(self) -> None:
        assert self.started == sorted(self.started, key=lambda ticket: ticket.reply_id)

    @invariant()
    def nothing_waits_without_reason(self) -> None:
        if self.queue.waiting:
            assert self.queue.running is not None or self.queue.halted


TestReplyQueue = ReplyQueueMachine.TestCase
TestReplyQueue.settings = settings(max_examples=examples(60), stateful_step_count=30)
