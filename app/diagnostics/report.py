"""Report on this installation and on what went wrong, to show and to copy: never a word of any chat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from app.chat.engine_state import EngineState
from app.diagnostics.crash_record import crash_trace
from app.diagnostics.installation import installation_text, system_line
from app.diagnostics.log_files import ENGINE, WINDOW, log_tail
from app.diagnostics.traces import without_home
from engine.errors import EngineStopped
from engine.messages import ErrorReport


class Diagnostics:
    """Texts for somebody who mends it; each call reads a few kilobytes."""

    def __init__(self, log_folder: Path, data_folder: Path, engine: Callable[[], EngineState]) -> None:
        self.log_folder = log_folder
        self.data_folder = data_folder
        self._engine = engine

    def technical(self, report: ErrorReport) -> str:
        """Return an error and the system, in a few lines."""
        return self._described(report, system_line(self._engine().gpu))

    def whole(self, report: ErrorReport) -> str:
        """Return the text to copy: the error, the system, versions and the ends of the logs."""
        logs = {name: log_tail(self.log_folder, name) for name in (WINDOW, ENGINE)}
        parts = [self._described(report, self.installation())]
        parts += [f"--- {name}.log\n{tail}" for name, tail in logs.items() if tail]
        return without_home("\n\n".join(parts)) + "\n"

    def installation(self) -> str:
        """Versions, system and hardware, a line each."""
        state = self._engine()
        return f"{installation_text(state.gpu)}\nmodel {state.model_name} {state.weights}".rstrip()

    def _described(self, report: ErrorReport, system: str) -> str:
        if report.kind == EngineStopped.__name__ and not report.details:
            report = replace(report, details=crash_trace(self.log_folder, ENGINE))
        details = [f"  {line}" for line in report.details.splitlines()]
        return without_home("\n".join([f"{report.kind}: {report.message}", *details, system]))
