"""An error as text to copy: what happened, where, and what the logs said last."""

from __future__ import annotations

from app.diagnostics.traces import without_home
from engine.messages import ErrorReport


def technical_text(report: ErrorReport, system: str) -> str:
    """The error for somebody who mends it; no word of any chat.

    Args:
        report: The error.
        system: `system_line`.
    """
    lines = [f"{report.kind}: {report.message}"]
    if report.details:
        lines += [f"  {line}" for line in report.details.splitlines()]
    return without_home("\n".join([*lines, system]))


def report_text(report: ErrorReport, installation: str, logs: dict[str, str]) -> str:
    """All of it: the error, the installation and the ends of the logs.

    Args:
        report: The error.
        installation: `installation_text`.
        logs: The last lines of each log, by its name.
    """
    parts = [technical_text(report, installation)]
    parts += [f"--- {name}.log\n{tail}" for name, tail in logs.items() if tail]
    return without_home("\n\n".join(parts)) + "\n"
