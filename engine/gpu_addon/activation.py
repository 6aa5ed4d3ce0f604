"""Putting the add-on before the bundled torch, in a process that has not imported it yet."""

from __future__ import annotations

import sys

from engine.errors import AddonUnusable
from engine.gpu_addon.installed_addon import find_installed, gpu_folder


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
    from engine.gpu_addon.check import checked

    try:
        problem = addon.mismatch(bundled_torch(gpu_folder())) or checked(addon).problem
    except AddonUnusable as error:
        return error.message
    if problem is None:
        sys.path.insert(0, str(addon.folder))
    return problem
