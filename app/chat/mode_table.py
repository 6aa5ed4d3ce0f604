"""The rows of the plan on the page about this machine."""

from __future__ import annotations

from dataclasses import dataclass

from app.chat.modes import mode_title
from engine.messages import PlanReport

HOST = "host"


@dataclass(frozen=True)
class ModeRow:
    """A mode.

    Attributes:
        mode: Its ``--mode`` name.
        title: What to show for it.
        summary: Where things live.
        refusal: Why it cannot run; empty where it can, and only then have the others values.
        reason: Why ``auto`` takes it; empty where it does not.
        host_bytes: Of the host's memory.
        gpu_bytes: Of all GPUs' memory.
        first_token_s: Predicted.
        tokens_per_second: Predicted.
        times_plain: The same beside plain decoding; None where plain cannot run.
    """

    mode: str
    title: str
    summary: str = ""
    refusal: str = ""
    reason: str = ""
    host_bytes: int = 0
    gpu_bytes: int = 0
    first_token_s: float = 0.0
    tokens_per_second: float = 0.0
    times_plain: float | None = None


def mode_rows(plan: PlanReport) -> list[ModeRow]:
    """Every mode, fastest first, then those that cannot run."""
    plain = next((mode.tokens_per_second for mode in plan.modes if mode.mode == "plain"), None)
    rows = []
    for mode in plan.modes:
        title = mode_title(mode.mode)
        if mode.refusal or mode.tokens_per_second is None:
            rows.append(ModeRow(mode.mode, title, refusal=mode.refusal))
            continue
        rows.append(
            ModeRow(
                mode.mode,
                title,
                summary=mode.summary[:1].upper() + mode.summary[1:],
                reason=plan.reason if mode.mode == plan.chosen else "",
                host_bytes=mode.memory_bytes.get(HOST, 0),
                gpu_bytes=sum(taken for device, taken in mode.memory_bytes.items() if device != HOST),
                first_token_s=mode.first_token_s or 0.0,
                tokens_per_second=mode.tokens_per_second,
                times_plain=mode.tokens_per_second / plain if plain else None,
            )
        )
    return sorted(rows, key=lambda row: (bool(row.refusal), -row.tokens_per_second))
