"""Facts of what ran to make a reply, kept with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.chat.choices import draft_names
from engine.messages import Reply, Timings


@dataclass(frozen=True)
class ReplyDetails:
    """The engine's own account of one reply; settings say what was asked, this says what was done.

    Attributes:
        mode: The mode that ran, by its ``--mode`` name.
        mode_reason: The planner's reason for it.
        model: The model that ran: a name, a folder or a file.
        draft: Names of the drafts, None where none was used.
        weights: Number format of the weights in memory.
        devices: Devices of target and draft, by ``target`` and ``draft``; None where there was none.
        stop_reason: ``end``, ``stop``, ``length`` or ``cancelled``.
        timings: Speed and acceptance. Of a reply that was continued: of its last part.
        resident_peak_bytes: Most memory that the engine's process held.
        continued: True if `timings` are of a part after what stood there before.
        new_characters: Length of a looping reply's content before it says the same
            again; None of others.
    """

    mode: str
    mode_reason: str
    model: str
    draft: str | None
    weights: str
    devices: dict[str, str | None] = field(default_factory=dict)
    stop_reason: str = "end"
    timings: Timings = field(default_factory=Timings)
    resident_peak_bytes: int = 0
    new_characters: int | None = None
    continued: bool = False

    @classmethod
    def of(cls, reply: Reply, kept_characters: int = 0) -> ReplyDetails:
        """Details from the engine's report of a finished reply.

        So many characters of the message stood there before.
        """
        new = reply.new_characters
        return cls(
            mode=reply.mode,
            mode_reason=reply.plan.reason,
            model=reply.model,
            draft=draft_names(reply.drafts) or None,
            weights=reply.weights,
            devices=dict(reply.devices),
            stop_reason=reply.stop_reason,
            timings=reply.timings,
            resident_peak_bytes=reply.memory.resident_peak_bytes,
            new_characters=None if new is None else kept_characters + new,
            continued=kept_characters > 0,
        )
