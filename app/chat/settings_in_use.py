"""Values that a loaded model really works with, beside what the settings ask for."""

from __future__ import annotations

from typing import Any

from app.chat.sampling_in_force import ADVISED
from engine.messages import LoadOptions, ModelReport, Reply

# Settings whose values only the engine can tell; of all others the applied value is in use.
TOLD_BY_ENGINE = frozenset(
    {"context", "weights", "threads", "ram_budget_bytes", "vram_budget_bytes", "drafts", "mode", "gpu_layers"}
) | frozenset(ADVISED)


def settings_in_use(
    report: ModelReport | None, options: LoadOptions | None, reply: Reply | None
) -> dict[str, Any]:
    """Values by the names of settings, the model's last reply among them; what the engine does not tell is left out."""
    if report is None or options is None:
        return {}
    in_use: dict[str, Any] = {
        "context": report.context,
        "weights": report.weights,
        "threads": options.threads or 0,
        "ram_budget_bytes": options.ram_budget_bytes,
        "vram_budget_bytes": options.vram_budget_bytes,
        "mode": options.mode if reply is None else reply.mode,
    }
    if reply is not None or options.drafts:
        in_use["drafts"] = options.drafts if reply is None else reply.drafts
    on_gpus = [place for place in report.places if place.place not in ("ram", "disk")]
    if any(share.layers for place in report.places for share in place.shares):
        in_use["gpu_layers"] = sum(share.layers for place in on_gpus for share in place.shares)
    return in_use
