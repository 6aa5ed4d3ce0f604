"""The graphics chips that a process of its own found and measured, as that is kept. Needs no torch and no driver."""

from __future__ import annotations

import hashlib
import os
import platform
import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from engine.files import read_cached, write_cached
from engine.hub.installed import cache_folder
from engine.json_text import from_plain
from engine.messages.machine import GpuSpeed
from engine.sentences import figure, mark, readable, say

#: With 0 no driver is asked. With 1 a chip is used though no option says so; with SOFTWARE too, and a driver that
#: computes on the processor counts as a chip, which tests need.
SWITCH, SOFTWARE = "TENON_GRAPHICS", "software"
#: Files and folders that change with the drivers, and cost nothing to read.
DRIVERS = (
    Path("/proc/driver/nvidia/version"),
    Path("/sys/module/amdgpu/version"),
    Path("/sys/module/xe/srcversion"),
    Path("/usr/share/vulkan/icd.d"),
    Path("C:/Windows/System32/nvcuda.dll"),
    Path("C:/Windows/System32/DriverStore/FileRepository"),
)

Kind = Literal["card", "shared", "software"]
Interface = Literal["vulkan", "metal", "d3d12"]

INTERFACES: dict[Interface, str] = {"vulkan": "Vulkan", "metal": "Metal", "d3d12": "Direct3D 12"}
NO_PACKAGE = mark("Graphics chips need the package wgpu, which is not installed here.")
NO_DRIVER = mark("No driver of this system offers a graphics chip that Tenon can use (Vulkan, Metal or Direct3D 12).")
SILENT = mark(
    "The driver of the graphics chip did not answer in {seconds} s: Tenon uses the processor, and asks again when the "
    "machine is measured again or a driver has changed."
)
ENDED = mark(
    "The driver of the graphics chip ended the process that asked it (code {code}): Tenon uses the processor, and asks "
    "again when the machine is measured again or a driver has changed."
)
FAILED = mark("{name} failed while it was measured ({reason}), so Tenon leaves it alone.")
_OFF = mark("Graphics chips are switched off for this start, so their drivers are not asked.")
_NOT_ASKED = mark("Tenon looks for graphics chips when the machine is measured.")
_FOUND = mark(
    'Tenon can use {name} through {interface} if you switch on "Use the graphics chip" in the settings. It reads '
    "{bytes}/s and computes {products} billion products/s."
)

_FILE_NAME = "graphics-chips.json"
# How systems say that a process has crashed: signals, and Windows' codes of errors.
_CRASHES = {-getattr(signal, name, 0) for name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE")} - {0}
_WINDOWS_ERROR, _CONSOLE_CLOSED = 0xC0000000, 0xC000013A


@dataclass(frozen=True)
class Adapter:
    """A graphics chip with a driver."""

    device: str  # name among the devices: ``vulkan:0``
    name: str  # name as its driver has it
    driver: str  # the driver and its version
    kind: Kind  # own memory, the host's, or a driver that computes on the processor
    interface: Interface
    largest_bytes: int  # largest buffer that a shader reads


@dataclass(frozen=True)
class Known:
    """The answer of the drivers."""

    key: str = ""  # of the drivers then; empty if nobody has asked
    chips: tuple[Adapter, ...] = ()
    speeds: dict[str, GpuSpeed] = field(default_factory=dict)  # by device; a chip that failed has none
    problem: str = ""  # the sentence on why a chip is not there, or not used
    figures: dict[str, str] = field(default_factory=dict)  # of that sentence
    process_id: int = 0  # of the process that has opened a chip


def read_known() -> Known:
    """Return the last answer of the drivers, an empty one if they have changed since."""
    if os.environ.get(SWITCH) == "0":
        return Known(problem=_OFF)
    try:
        known = from_plain(Known, read_cached(cache_folder() / _FILE_NAME))
    except ValueError:
        return Known()
    return known if known.key == _key() else Known()


def keep_known(known: Known) -> None:
    """Keep an answer of the drivers as they are now."""
    write_cached(cache_folder() / _FILE_NAME, asdict(replace(known, key=_key())))


def keep_crash(process_id: int | None, code: int | None) -> None:
    """Leave the chips alone if a process has crashed that had one open."""
    crashed = code is not None and (code in _CRASHES or _WINDOWS_ERROR <= code != _CONSOLE_CLOSED)
    if crashed and read_known().process_id == process_id:
        keep_known(Known(problem=ENDED, figures={"code": str(code)}))


def switched_on() -> bool:
    """Return whether the environment lets models use a chip."""
    return os.environ.get(SWITCH, "") in ("1", SOFTWARE)


def chip_sentence() -> str:
    """Say which chip models can use, or why none."""
    known = read_known()
    measured = [adapter for adapter in known.chips if adapter.device in known.speeds]
    if not measured:
        return say(known.problem or _NOT_ASKED, **known.figures)
    best = max(measured, key=lambda adapter: known.speeds[adapter.device].memory_bytes_per_s)
    speed = known.speeds[best.device]
    return say(
        _FOUND,
        name=best.name,
        interface=INTERFACES[best.interface],
        bytes=readable(speed.memory_bytes_per_s),
        products=figure(speed.products_per_s / 1e9, ".3g"),
    )


def state_of(paths: Iterable[Path]) -> list[tuple[str, object]]:
    """Return facts of files and folders that change with them; those that are not there have none."""
    found: list[tuple[str, object]] = []
    for path in paths:
        with suppress(OSError):
            status = path.stat()
            small = path.is_file() and status.st_size < 4096
            text = path.read_text(encoding="utf-8", errors="replace") if small else ""
            # Files of the kernel are made anew at each look, and their times say nothing.
            found.append((str(path), text or status.st_mtime_ns))
    return found


def _key() -> str:
    facts = (state_of(DRIVERS), platform.release(), os.environ.get(SWITCH) == SOFTWARE, find_spec("wgpu") is not None)
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
