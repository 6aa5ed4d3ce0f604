"""State of GPU support, as the window shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: What can be seen: nothing yet; nothing to fetch; something to fetch, of unknown and of known size; on its way; held;
#: here and working; here and switched off; something went wrong.
GpuState = Literal["looking", "none", "offered", "sized", "fetching", "paused", "works", "off", "failed"]
GpuStep = Literal["", "sizing", "receiving", "waiting", "unpacking", "checking", "removing"]


@dataclass(frozen=True)
class GpuSupport:
    """GPU support on this computer.

    Attributes:
        state: State.
        sentence: The engine's, on what was found or what went wrong.
        title: Name of the build, such as ``CUDA 13.0``.
        address: Source.
        size_bytes: To fetch; 0 while it is not known.
        unpacked_bytes: On the disk in the end; 0 while it is not known.
        disk_bytes: Bytes that removing would free.
        step: The running step; nothing else can be asked for meanwhile but to stop it.
        done_bytes: Bytes done of the step.
        total_bytes: Total bytes of the step; 0 where there is nothing to count.
        restart: True if it changed since Tenon was started, so that the engine learns of it at its next start.
    """

    state: GpuState = "looking"
    sentence: str = ""
    title: str = ""
    address: str = ""
    size_bytes: int = 0
    unpacked_bytes: int = 0
    disk_bytes: int = 0
    step: GpuStep = ""
    done_bytes: int = 0
    total_bytes: int = 0
    restart: bool = False

    @property
    def busy(self) -> bool:
        """True if something is being done."""
        return bool(self.step)
