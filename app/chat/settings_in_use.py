"""Values that a loaded model really works with, beside what the settings ask for."""

from __future__ import annotations

from typing import Any

from app.chat.modes import known_modes
from app.chat.sampling_in_force import ADVISED
from engine.messages import LoadOptions, ModelReport, Reply

# Settings whose value in use is told; of all others it is the applied one, where there is one.
TOLD = frozenset({
    "context", "weights", "kv_cache", "threads", "ram_budget_bytes", "vram_budget_bytes", "drafts", "mode",
    "gpu_layers", "language", *ADVISED,
})  # fmt: skip


def settings_in_use(
    report: ModelReport | None, options: LoadOptions | None, reply: Reply | None
) -> dict[str, Any]:
    """Values by the names of settings, the model's last reply among them; what the engine does not tell is left out.

    Options of modes are those that the mode takes where none is chosen.
    """
    if report is None or options is None:
        return {}
    running = options.mode if reply is None else reply.mode
    usual = {
        each.name: each.default for mode in known_modes() if mode.name == running for each in mode.options
    }
    in_use: dict[str, Any] = {
        **usual,
        "context": report.context,
        "weights": report.weights,
        "ram_budget_bytes": options.ram_budget_bytes,
        "vram_budget_bytes": options.vram_budget_bytes,
        "mode": running,
    }
    if report.threads:
        in_use |= {"kv_cache": report.kv_cache, "threads": report.threads}
    if reply is not None or options.drafts:
        in_use["drafts"] = options.drafts if reply is None else reply.drafts
    on_gpus = [place for place in report.places if place.place not in ("ram", "disk")]
    if any(share.layers for place in report.places for share in place.shares):
        in_use["gpu_layers"] = sum(share.layers for place in on_gpus for share in place.shares)
    return in_use
