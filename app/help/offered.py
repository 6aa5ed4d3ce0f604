"""The articles that a blank chat offers: what a person may want to know of this computer first."""

from __future__ import annotations

from engine.messages import MachineReport


def offered_articles(report: MachineReport | None, bundled: bool) -> tuple[str, ...]:
    """Names of three articles.

    Args:
        report: The computer; None while it is not known.
        bundled: Whether the small model that ships with Tenon is in use.
    """
    card = report is not None and bool(report.gpus)
    return ("size", "which-model" if bundled else "faster", "gpu" if card else "why-mode")
