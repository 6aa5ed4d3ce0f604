"""First steps of the engine's process. No Qt: the process must stay small and start fast."""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path

from app.diagnostics import ENGINE, log_uncaught, start_log, watch_hard_crashes
from engine.engine_process import run_engine
from engine.terminal import set_up_streams


def run(connection: Connection, serve: str, log_folder: Path | None, torch: bool = False) -> None:
    """Run an engine at the other end of a pipe.

    ``serve`` is ``module:function`` that does the work until the pipe ends. The log and the place of a crash go into
    ``log_folder``, None for nowhere. ``torch`` is True if the engine needs torch.
    """
    set_up_streams()
    if log_folder is not None:
        start_log(log_folder, ENGINE)
        log_uncaught()
        watch_hard_crashes(log_folder, ENGINE)
    run_engine(connection, serve, torch)
