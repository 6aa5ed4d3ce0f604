"""Report on this installation, its parts and their licences, and on what went wrong: never a word of any chat."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

import psutil

from app.chat.engine_state import EngineState
from app.diagnostics.log_files import ENGINE, WINDOW, crash_trace, log_tail, without_home
from app.version import version_of
from engine.errors import EngineStopped
from engine.messages import ErrorReport

# Packages that replies and the window are made with, in the order of a report.
_REPORTED = ("torch", "tokenizers", "PySide6-Essentials", "numpy")
# Packages that pyproject.toml asks for, and those that the last of them brings along.
_PACKAGES = (
    "torch", "huggingface-hub", "httpx2", "filelock", "keyring", "tokenizers", "safetensors", "gguf",
    "numpy", "Jinja2", "psutil", "platformdirs", "Pygments", "PySide6-Essentials", "pyqtgraph",
    "ziamath", "ziafont", "latex2mathml", "pypdfium2", "python-docx", "lxml", "starlette", "uvicorn", "llguidance",
)  # fmt: skip
_LONGEST = 60


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
    for package in _PACKAGES:
        try:
            about = metadata.metadata(package)
        except metadata.PackageNotFoundError:
            continue
        found.append(Component(str(about["Name"]), str(about["Version"]), _licence(about)))
    model = Component("SmolLM2 135M Instruct by Hugging Face, converted by QuantFactory", "", "Apache-2.0")
    return [Component("Tenon", "", "Apache-2.0"), model, *sorted(found, key=lambda one: one.name.lower())]


def _licence(about: metadata.PackageMetadata) -> str:
    """Return the short name of a licence; some packages put its whole text where the name belongs."""
    for field in ("License-Expression", "License"):
        lines = "".join(about.get_all(field) or []).strip().splitlines()
        if len(lines) == 1 and len(lines[0]) <= _LONGEST:
            return lines[0]
    named = [line for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
    return ", ".join(line.rpartition("::")[2].strip() for line in named)
