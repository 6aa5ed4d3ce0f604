"""Logs of the window and the engine's process, marks of crashes, and the report that a user copies: no words of chats.

Logs are small and rotate. Tracebacks are written without the words of exceptions: those may quote what a user wrote.
The place of a hard crash is kept in a file of its own.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import platform
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import platformdirs
import psutil

from app.chat.engine_state import EngineState
from app.version import version_of
from engine.errors import EngineStopped, TenonError
from engine.messages import ErrorReport

if TYPE_CHECKING:
    from importlib.metadata import PackageMetadata

_log = logging.getLogger(__name__)

WINDOW = "window"
ENGINE = "engine"
_MOST_BYTES = 1_000_000
_KEPT = 3
_LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_OWN = ("app", "engine")
# Packages that replies and the window are made with, in the order of a report.
_REPORTED = ("torch", "tokenizers", "PySide6-Essentials", "numpy")
# Packages that pyproject.toml asks for, and those that the last of them brings along.
_PACKAGES = (
    "torch", "huggingface-hub", "httpx2", "filelock", "keyring", "tokenizers", "safetensors",
    "numpy", "Jinja2", "psutil", "platformdirs", "Pygments", "PySide6-Essentials", "pyqtgraph",
    "ziamath", "ziafont", "latex2mathml", "pypdfium2", "python-docx", "lxml", "pillow", "starlette", "uvicorn",
    "llguidance", "segno",
)  # fmt: skip
_LONGEST = 60


def watch_hard_crashes(folder: Path, name: str) -> None:
    """Write to a process's file in a folder where a segmentation fault or an abort happens, from here on."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Left open: the handler writes to it when nothing else can be done any more.
        faulthandler.enable(_crash_file(folder, name).open("w", encoding="utf-8"))
    except OSError:
        faulthandler.enable()


def crash_trace(folder: Path, name: str) -> str:
    """Words of the process of this name that was watched last as it crashed; empty for one that did not."""
    try:
        return _crash_file(folder, name).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _crash_file(folder: Path, name: str) -> Path:
    return folder / f"{name}.crash"


def trace_of(error: BaseException) -> str:
    """Places and classes of an exception and its causes; words only of Tenon's own errors."""
    return "\n".join(_lines(error))


def without_home(text: str) -> str:
    """Return a text with the user's folder, which often holds a name, written as ~."""
    home = str(Path.home())
    return text.replace(home, "~") if len(home) > 3 else text


def _lines(error: BaseException) -> Iterator[str]:
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        yield from _lines(cause)
        yield "which led to"
    for frame in traceback.format_list(traceback.extract_tb(error.__traceback__)):
        yield frame.rstrip()
    name = type(error).__name__
    yield f"{name}: {error.message}" if isinstance(error, TenonError) else name


def log_folder() -> Path:
    """Folder of the logs: TENON_LOG_DIR, else beside TENON_DATA_DIR's conversations, else the system's place."""
    override, data = os.environ.get("TENON_LOG_DIR"), os.environ.get("TENON_DATA_DIR")
    if override:
        return Path(override)
    return Path(data) / "logs" if data else Path(platformdirs.user_log_dir("tenon", appauthor=False))


def log_file(folder: Path, name: str) -> Path:
    """Return the file that a process of this name writes to now; older ones end in .1, .2, ..."""
    return folder / f"{name}.log"


class PrivateFormatter(logging.Formatter):
    """Lines with the place and class of an exception, but not its words: those may quote what a user wrote."""

    def __init__(self) -> None:
        super().__init__(_LINE)

    def format(self, record: logging.LogRecord) -> str:
        """One record; its exception is written anew, whatever another handler has made of it."""
        line = f"{self.formatMessage(self._stamped(record))}"
        error = record.exc_info[1] if record.exc_info else None
        return line if error is None else f"{line}\n{trace_of(error)}"

    def _stamped(self, record: logging.LogRecord) -> logging.LogRecord:
        record.message = record.getMessage()
        record.asctime = self.formatTime(record)
        return record


class _QuietFile(RotatingFileHandler):
    """A log that cannot be written ends nothing and says nothing."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore a failed write: a full disk is reported where something is lost by it."""


def start_log(folder: Path, name: str) -> logging.Handler | None:
    """Write this process's log to a file from here on; return the handler for `stop_log`, None if that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = _QuietFile(log_file(folder, name), maxBytes=_MOST_BYTES, backupCount=_KEPT, encoding="utf-8")
    except OSError:
        return None
    handler.setFormatter(PrivateFormatter())
    root = logging.getLogger()
    root.addHandler(handler)
    for own in _OWN:
        logging.getLogger(own).setLevel(logging.INFO)
    if sys.stderr is not None and sys.stderr.isatty():  # a developer looks on
        console = logging.StreamHandler()
        console.setFormatter(PrivateFormatter())
        root.addHandler(console)
    return handler


def log_uncaught() -> None:
    """Write exceptions that end a thread or the process to the log, in a process without a window."""

    def log_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _log.error("Nobody caught this:\n%s", trace_of(error))

    def log_thread(problem: threading.ExceptHookArgs) -> None:
        if problem.exc_value is not None:
            log_exception(problem.exc_type, problem.exc_value, problem.exc_traceback)

    sys.excepthook = log_exception
    threading.excepthook = log_thread


def stop_log(handler: logging.Handler | None) -> None:
    """Close the file."""
    if handler is not None:
        logging.getLogger().removeHandler(handler)
        with suppress(OSError):  # on a full disk the last lines are lost
            handler.close()


def log_tail(folder: Path, name: str, most_bytes: int = 4_000) -> str:
    """Return the last whole lines of a log, or an empty text."""
    try:
        with log_file(folder, name).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - most_bytes))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    return text.strip() if size <= most_bytes else text.partition("\n")[2].strip()


class SessionRecord:
    """Begins the window's log and watches for crashes; a file is there as long as Tenon runs."""

    def __init__(self, folder: Path) -> None:
        # Place where that one crashed; empty where it was ended from outside
        self.crash_trace = crash_trace(folder, WINDOW)
        self._mark = folder / "running"
        self.ended_badly = is_left_behind(self._mark)  # True if the run before is gone without having closed
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            self._mark.write_text(f"{os.getpid()} {_started(os.getpid())}", encoding="ascii")
        self._handler = start_log(folder, WINDOW)
        watch_hard_crashes(folder, WINDOW)
        _log.info("Tenon starts")
        if self.ended_badly:
            _log.warning("The run before did not end as it should:\n%s", self.crash_trace or "no trace")

    def close(self) -> None:
        """Note that the window was closed in order."""
        _log.info("Tenon ends")
        with suppress(OSError):
            self._mark.unlink()
        stop_log(self._handler)


def is_left_behind(mark: Path) -> bool:
    """Return True if a mark is of a process that is gone without having taken it away."""
    try:
        number, _, started = mark.read_text(encoding="ascii").partition(" ")
        # A number may have been given again since; the time at which a process began tells them apart.
        return _started(int(number)) != started
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True


def _started(process_id: int) -> str:
    try:
        return f"{psutil.Process(process_id).create_time():.0f}"
    except psutil.Error:
        return "gone"


def system_line(gpu: str | None) -> str:
    """Tenon's version, the system and the hardware in one line; ``gpu`` is that of `EngineState`."""
    memory = psutil.virtual_memory()
    parts = [
        f"tenon {version_of('tenon') or 'from source'}",
        f"{platform.system()} {platform.release()} {platform.machine()}",
        f"{psutil.cpu_count(logical=False) or psutil.cpu_count() or 1} cores",
        f"{memory.total / 1e9:.3g} GB RAM, {memory.available / 1e9:.3g} free",
    ]
    if gpu is not None:
        parts.append(f"GPU {gpu}" if gpu else "no GPU")
    return ", ".join(parts)


def installation_text(gpu: str | None) -> str:
    """System and versions, a line each."""
    versions = ((package, version_of(package)) for package in _REPORTED)
    lines = [system_line(gpu), f"Python {platform.python_version()}"]
    return "\n".join([*lines, *(f"{package} {version}" for package, version in versions if version)])


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


@dataclass(frozen=True)
class Component:
    """A piece of software."""

    name: str
    version: str  # installed version; empty where it has none
    licence: str  # by its usual name; empty where the package does not say


def components() -> list[Component]:
    """Installed works by name; Tenon itself and the bundled model first."""
    found = [
        Component("Lucide icons", "", "ISC"),
        Component("STIX Two Math", "", "OFL-1.1"),
    ]
    from importlib import metadata  # a start does without

    for package in _PACKAGES:
        try:
            about = metadata.metadata(package)
        except metadata.PackageNotFoundError:
            continue
        found.append(Component(str(about["Name"]), str(about["Version"]), _licence(about)))
    model = Component("SmolLM2 135M Instruct by Hugging Face, converted by QuantFactory", "", "Apache-2.0")
    return [Component("Tenon", "", "Apache-2.0"), model, *sorted(found, key=lambda one: one.name.lower())]


def _licence(about: PackageMetadata) -> str:
    """Return the short name of a licence; some packages put its whole text where the name belongs."""
    for field in ("License-Expression", "License"):
        lines = "".join(about.get_all(field) or []).strip().splitlines()
        if len(lines) == 1 and len(lines[0]) <= _LONGEST:
            return lines[0]
    named = [line for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
    return ", ".join(line.rpartition("::")[2].strip() for line in named)
