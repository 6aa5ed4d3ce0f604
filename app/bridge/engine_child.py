"""First steps of the engine's process. No Qt: the process must stay small and start fast."""

from __future__ import annotations

import logging
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path

from app.diagnostics.crash_record import watch_hard_crashes
from app.diagnostics.log_files import ENGINE, log_uncaught, start_log
from engine.child_process import belong_to_window

_log = logging.getLogger(__name__)


def run(connection: Connection, serve: str, log_folder: Path | None) -> None:
    """Run an engine at the other end of a pipe.

    ``serve`` is ``module:function`` that does the work until the pipe ends. The log and the place of a crash go into
    ``log_folder``, None for nowhere.
    """
    if log_folder is not None:
        start_log(log_folder, ENGINE)
        log_uncaught()
        watch_hard_crashes(log_folder, ENGINE)
    belong_to_window()
    from engine.gpu_addon.activation import activate  # the window imports this file, and never needs that one

    problem = activate()
    if problem is not None:
        _log.warning(problem)
    module, _, function = serve.partition(":")
    getattr(import_module(module), function)(connection)
