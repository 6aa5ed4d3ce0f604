"""Content of the inspector, gathered from the engine's events whether or not it is open."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.model_in_engine import ModelInEngine
from app.bridge.plans import Plans
from app.bridge.replies import Replies
from app.chat.conversation import Message
from app.chat.reply_trace import ReplyTrace, from_bytes, to_bytes
from engine.messages import (
    Event,
    Finished,
    MemoryPlace,
    PlanChosen,
    PlanReport,
)

# The rounds of older replies are on the disk.
_REPLIES_KEPT = 16


class Inspection(QObject):
    """Follows every reply, so that the latest ones can be looked at when they are done.

    Args:
        plans: Predictions; asked for while somebody looks.
        keep: Takes a reply's id and how it was made, once it is finished.
        read: Gives back what `keep` took; nothing where there is none.
    """

    changed = Signal()

    def __init__(
        self,
        replies: Replies,
        model: ModelInEngine,
        plans: Plans,
        keep: Callable[[int, bytes], None],
        read: Callable[[int], bytes],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._plans = plans
        self._keep_on_disk = keep
        self._read = read
        self._traces: dict[int, ReplyTrace] = {}
        self._from_disk: tuple[int, ReplyTrace] | None = None  # the one that was asked for last
        self.watched = False  # True if somebody looks, so that predictions are wanted
        self.clock: Callable[[], float] = monotonic  # tells the moment that a sample belongs to, in seconds
        replies.told.connect(self._hear)
        model.loaded.connect(self._ask_for_plan)
        plans.answered.connect(self.changed)

    def watch(self, watched: bool) -> None:
        """Somebody looks, or nobody any more."""
        self.watched = watched
        self._ask_for_plan()

    def trace(self, message: Message | None) -> ReplyTrace:
        """Trace of a reply, as far as it is known."""
        if message is None:
            return ReplyTrace()
        if message.id in self._traces:
            return self._traces[message.id]
        if message.details is None:
            return ReplyTrace()
        if self._from_disk is None or self._from_disk[0] != message.id:
            trace = ReplyTrace(message.details.mode, message.details.timings, complete=True)
            from_bytes(self._read(message.id), trace)
            self._from_disk = message.id, trace
        return self._from_disk[1]

    def places(self, message: Message | None) -> tuple[MemoryPlace, ...]:
        """Places of the model that wrote a reply, as they were then; without a reply those of the model in memory."""
        if message is not None:
            return self.trace(message).places
        return () if self._model.report is None else self._model.report.places

    @property
    def elsewhere(self) -> bool:
        """True if a server's model is the chosen one, so that nothing of it is placed or planned here."""
        return self._model.state.server is not None

    def plan(self, message: Message | None) -> PlanReport | None:
        """Every mode as it was when a reply began, or for the chosen model without a reply; None where not known."""
        return self._plans.chosen if message is None else self.trace(message).plan

    @Slot()
    def _ask_for_plan(self) -> None:
        if self.watched:
            self._plans.ask_for_chosen()

    @Slot(int, object)
    def _hear(self, reply_id: int, event: Event) -> None:
        # Each request begins with its plan: a reply that goes on after it was cut is traced anew from there.
        begins = isinstance(event, PlanChosen)
        trace = ReplyTrace() if begins else self._traces.get(reply_id) or ReplyTrace()
        if not trace.take(event, self.clock()):
            return
        self._keep(reply_id, trace)
        if isinstance(event, Finished):
            self._keep_on_disk(reply_id, to_bytes(trace))
        self.changed.emit()

    def _keep(self, reply_id: int, trace: ReplyTrace) -> None:
        self._traces[reply_id] = trace
        while len(self._traces) > _REPLIES_KEPT:
            del self._traces[next(iter(self._traces))]
