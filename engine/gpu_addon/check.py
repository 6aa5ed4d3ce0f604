"""The check that an add-on works here: its torch is imported and computes on the GPU, in a process that may crash.

One that works is put before the bundled torch, in a process that has not imported that yet.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from engine.errors import AddonUnusable
from engine.gpu_addon.installed_addon import (
    OUTCOME,
    InstalledAddon,
    Outcome,
    altered_file,
    find_installed,
    gpu_folder,
    keep_outcome,
    read_outcome,
)
from engine.graphics.known import DRIVERS, state_of
from engine.json_text import read_json
from engine.sentences import mark

# The libraries of a GPU build are gigabytes: from a slow disk that takes a while.
_LONGEST_S = 180.0

_ALTERED = mark(
    "GPU support ({title}) is switched off, because {name} in its folder is not as it was installed: fetch it again."
)
_NO_IMPORT = mark(
    "GPU support ({title}) is switched off, because its torch cannot be imported ({reason}): check the GPU's "
    "driver, or fetch it again."
)
_ANOTHER = mark(
    "GPU support ({title}) is switched off, because another torch is imported in its place: check the GPU's "
    "driver, or fetch it again."
)
_NO_GPU = mark(
    "GPU support ({title}) is switched off, because its torch sees no GPU: check the GPU's driver, or fetch it again."
)
_NO_COMPUTING = mark(
    "GPU support ({title}) is switched off, because the GPU cannot compute with it ({reason}): check the GPU's "
    "driver, or fetch it again."
)
_WRONG = mark(
    "GPU support ({title}) is switched off, because the GPU computes wrong results with it: check the GPU's "
    "driver, or fetch it again."
)
_SILENT = mark(
    "GPU support ({title}) is switched off, because its torch did not answer in {seconds} s: check the GPU's "
    "driver, or fetch it again."
)
_UNCHECKED = mark(
    "GPU support ({title}) is switched off, because it cannot be checked ({reason}): check the GPU's driver, or "
    "fetch it again."
)
_ENDED = mark(
    "GPU support ({title}) is switched off, because its torch ended the process with code {code}: check the GPU's "
    "driver, or fetch it again."
)


def checked(addon: InstalledAddon) -> Outcome:
    """Return the result of the last check, or of a new one if the add-on, driver or program changed since.

    Nothing of a folder whose files are not those that were installed is imported.
    """
    altered = altered_file(addon.folder, OUTCOME)
    if altered is not None:
        return Outcome("", _ALTERED, figures={"title": addon.title, "name": altered})
    key = _key(addon)
    known = read_outcome(addon)
    if known is not None and known.key == key:
        return known
    outcome = _check_in_child(addon, key)
    with suppress(OSError):  # then the next start checks again
        keep_outcome(addon, outcome)
    return outcome


def run_check(folder: Path, result: Path) -> None:
    """Import the add-on's torch, compute on the GPU and write the result as JSON, in a process of its own."""
    sys.path.insert(0, str(folder))
    found = {"failure": None, "gpus": [], "figures": {}} | _look(folder)
    result.write_text(json.dumps(found), encoding="utf-8")


def _look(folder: Path) -> dict[str, object]:
    try:
        import torch
    except Exception as error:  # whatever a damaged package raises
        return {"failure": _NO_IMPORT, "figures": {"reason": _line(error)}}
    if not Path(str(torch.__file__)).resolve().is_relative_to(folder.resolve()):
        return {"failure": _ANOTHER}
    try:
        kind = next((name for name in ("cuda", "xpu") if getattr(torch, name).is_available()), None)
        if kind is None:
            return {"failure": _NO_GPU}
        interface = getattr(torch, kind)
        ones = torch.ones(64, 64, device=kind)
        right = float((ones @ ones).sum()) == 64.0**3
        names = [str(interface.get_device_name(index)) for index in range(interface.device_count())]
    except Exception as error:  # whatever a driver raises
        return {"failure": _NO_COMPUTING, "figures": {"reason": _line(error)}}
    return {"gpus": names} if right else {"failure": _WRONG}


def _check_in_child(addon: InstalledAddon, key: str) -> Outcome:
    def off(failure: str, **figures: str) -> Outcome:
        return Outcome(key, failure, figures={"title": addon.title, **figures})

    # An installed app runs no modules by name, but its own command line.
    program = ["gpu", "check"] if getattr(sys, "frozen", False) else ["-m", "engine.gpu_addon.check"]
    with tempfile.TemporaryDirectory(prefix="tenon-", ignore_cleanup_errors=True) as folder:
        result = Path(folder) / "result.json"
        try:
            code = subprocess.run(
                [sys.executable, *program, str(addon.folder), str(result)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_LONGEST_S,
                check=False,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)},
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            ).returncode
        except subprocess.TimeoutExpired:
            return off(_SILENT, seconds=f"{_LONGEST_S:.0f}")
        except OSError as error:
            return off(_UNCHECKED, reason=_line(error))
        try:
            found = read_json(result.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return off(_ENDED, code=str(code))
    if found["failure"] is not None:
        return off(found["failure"], **found["figures"])
    return Outcome(key, None, tuple(found["gpus"]))


def _key(addon: InstalledAddon) -> str:
    facts = (
        addon.name,
        addon.torch,
        sorted(addon.wheels.items()),
        sys.version,
        sys.executable,
        platform.release(),
    )
    return hashlib.sha256(repr((facts, state_of(DRIVERS))).encode()).hexdigest()[:16]


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def activate() -> str | None:
    """Let this process import the add-on's torch, where one is installed and works here.

    Costs next to nothing without one, and with one that was checked before.

    Returns:
        A sentence where one is installed and not used, else None.
    """
    addon = find_installed()
    if addon is None or "torch" in sys.modules:
        return None
    from engine.gpu_addon.bundled_torch import bundled_torch

    try:
        problem = addon.mismatch(bundled_torch(gpu_folder())) or checked(addon).problem
    except AddonUnusable as error:
        return error.message
    if problem is None:
        sys.path.insert(0, str(addon.folder))
    return problem


if __name__ == "__main__":
    run_check(Path(sys.argv[1]), Path(sys.argv[2]))
