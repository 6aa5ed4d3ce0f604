"""Reading a model's files from the disk while torch is imported, which takes a second and no disk."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

from engine.errors import TenonError
from engine.hub.installed import find_model

# A model that fills the memory is streamed, or would push out of the cache what others need.
_SHARE_OF_MEMORY = 4


def read_ahead(reference: str) -> None:
    """Have the system read a model's files into its cache, where it can be asked for that; returns at once.

    Args:
        reference: The person's name for the model; one that is not there is left to who loads it.
    """
    if not hasattr(os, "posix_fadvise"):  # Windows, macOS
        return
    # Asking waits for a disk whose queue is full, and nothing waits for it.
    threading.Thread(target=_ask_for, args=(reference,), name="tenon-read-ahead", daemon=True).start()


def _ask_for(reference: str) -> None:
    with contextlib.suppress(TenonError, OSError):
        found = find_model(reference)
        files = [found] if found.is_file() else [*found.glob("*.safetensors"), *found.glob("*.gguf")]
        memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if sum(path.stat().st_size for path in files) * _SHARE_OF_MEMORY > memory_bytes:
            return
        for path in files:
            _advise(path)


def _advise(path: Path) -> None:
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
