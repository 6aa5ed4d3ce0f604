"""Report on this installation and on what went wrong, to show and to copy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from app.chat.engine_state import EngineState
from app.diagnostics.crash_record import crash_trace
from app.diagnostics.installation import installation_text, system_line
from app.diagnostics.log_files import ENGINE, WINDOW, log_tail
from app.diagnostics.report_text import report_text, technical_text
from engine.errors import EngineStopped
from engine.messages import ErrorReport


class Diagnostics:
    """Texts without a word of any chat; each call reads a few kilobytes.

    Args:
        log_folder: Where logs lie.
        data_folder: Where conversations lie.
        engine: Gives the engine's state now.
    """

    def __init__(self, log_folder: Path, data_folder: Path, engine: Callable[[], EngineState]) -> None:
        self.log_folder = log_folder
        self.data_folder = data_folder
        self._engine = engine

    def technical(self, report: ErrorReport) -> str:
        """Report of an error, in a few lines for somebody who mends it."""
        return technical_text(self._complete(report), system_line(self._engine().gpu))

    def whole(self, report: ErrorReport) -> str:
        """The same, with versions and the ends of the logs: what is copied."""
        logs = {name: log_tail(self.log_folder, name) for name in (WINDOW, ENGINE)}
        return report_text(self._complete(report), self.installation(), logs)

    def installation(self) -> str:
        """Versions, system and hardware, a line each."""
        state = self._engine()
        return f"{installation_text(state.gpu)}\nmodel {state.model_name} {state.weights}".rstrip()

    def _complete(self, report: ErrorReport) -> ErrorReport:
        if report.kind != EngineStopped.__name__ or report.details:
            return report
        crash = crash_trace(self.log_folder, ENGINE)
        return replace(report, details=crash)
