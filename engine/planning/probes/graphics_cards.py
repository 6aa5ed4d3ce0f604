"""The graphics cards as the system knows them, with or without a torch that can use them."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Vendor = Literal["nvidia", "jetson", "amd", "intel", "apple"]

_SYS = Path("/sys/class/drm")
_TEGRA = Path("/etc/nv_tegra_release")
_BOARD = Path("/proc/device-tree/model")
_WINDOWS_SMI = Path("C:/Windows/System32/nvidia-smi.exe")
_SMI_S = 10.0
_PCI_VENDORS: dict[str, Vendor] = {"0x10de": "nvidia", "0x1002": "amd", "0x8086": "intel"}
_NAMES = {"nvidia": "NVIDIA GPU", "amd": "AMD GPU", "intel": "Intel GPU"}


@dataclass(frozen=True)
class GraphicsCard:
    """A graphics card, or a processor's own graphics."""

    vendor: Vendor  # vendor; NVIDIA's boards with a GPU in the processor are ``jetson``
    name: str  # name by the driver, else the vendor
    driver: str | None = None  # version of the driver; None if there is none or it does not say
    capability: float | None = None  # NVIDIA's compute capability, or None if it is not known


def read_graphics_cards() -> tuple[GraphicsCard, ...]:
    """Return every card that the system shows. On Windows only NVIDIA's are looked for."""
    if platform.system() == "Darwin":
        return (GraphicsCard("apple", "Apple GPU"),) if platform.machine() == "arm64" else ()
    if _TEGRA.is_file():
        return (GraphicsCard("jetson", _read(_BOARD) or "Jetson"),)
    with_driver = _nvidia_cards()
    rest = [card for card in _pci_cards() if not (with_driver and card.vendor == "nvidia")]
    return (*with_driver, *rest)


def _nvidia_cards() -> tuple[GraphicsCard, ...]:
    """Return the cards with NVIDIA's driver, as its own tool lists them."""
    tool = shutil.which("nvidia-smi") or (str(_WINDOWS_SMI) if _WINDOWS_SMI.is_file() else None)
    if tool is None:
        return ()
    # Drivers before 510 do not know compute_cap, and then print nothing else either.
    lines = _query(tool, "name,driver_version,compute_cap") or _query(tool, "name,driver_version")
    cards = []
    for line in lines:
        name, driver, *rest = (part.strip() for part in line.split(","))
        capability = float(rest[0]) if rest and re.fullmatch(r"\d+\.\d+", rest[0]) else None
        cards.append(GraphicsCard("nvidia", name, driver, capability))
    return tuple(cards)


def _query(tool: str, fields: str) -> list[str]:
    try:
        answer = subprocess.run(
            [tool, f"--query-gpu={fields}", "--format=csv,noheader"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SMI_S,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    wanted = fields.count(",")
    lines = [line for line in answer.stdout.splitlines() if line.count(",") == wanted]
    return lines if answer.returncode == 0 else []


def _pci_cards() -> list[GraphicsCard]:
    """Return Linux's list of cards, which has the vendor and hardly more."""
    cards = []
    for device in sorted(_SYS.glob("card*/device")):
        vendor = _PCI_VENDORS.get(_read(device / "vendor"))
        if vendor is not None and re.fullmatch(r"card\d+", device.parent.name):
            cards.append(GraphicsCard(vendor, _read(device / "product_name") or _NAMES[vendor]))
    return cards


def _read(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace").strip("\0 \n")
    return ""
