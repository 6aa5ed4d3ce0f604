"""Description of the installation in a few lines: versions, system and hardware, for a report."""

from __future__ import annotations

import platform

import psutil

from app.version import version_of

# Packages that replies and the window are made with, in the order of a report.
_PACKAGES = ("torch", "tokenizers", "PySide6-Essentials", "numpy")


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
    versions = ((package, version_of(package)) for package in _PACKAGES)
    lines = [system_line(gpu), f"Python {platform.python_version()}"]
    return "\n".join([*lines, *(f"{package} {version}" for package, version in versions if version)])
