"""State of GPU support on this machine: what there is to fetch, what is installed, and whether it works."""

from __future__ import annotations

from dataclasses import dataclass

from engine.gpu_addon.addon import AddonChoice, choose
from engine.gpu_addon.bundled_torch import BundledTorch, bundled_torch
from engine.gpu_addon.check import checked
from engine.gpu_addon.installed_addon import (
    InstalledAddon,
    Outcome,
    find_installed,
    gpu_folder,
    removable_bytes,
)
from engine.planning.probes.graphics_cards import GraphicsCard, read_graphics_cards
from engine.sentences import say, together


@dataclass(frozen=True)
class GpuStatus:
    """GPU support on this machine."""

    cards: tuple[GraphicsCard, ...]
    choice: AddonChoice
    installed: InstalledAddon | None  # the add-on that is here, None for none
    outcome: Outcome | None  # result of its check; None where nothing is installed
    disk_bytes: int  # bytes that removing it would free, unfinished ones included
    sentence: str  # all that in a sentence or two, for the user

    @property
    def works(self) -> bool:
        """True if an add-on is installed and in use from the next start on."""
        return self.outcome is not None and self.outcome.problem is None


def look_for_addons() -> tuple[AddonChoice, BundledTorch]:
    """Return the add-ons that could be fetched for this machine, and the torch that Tenon runs on without one.

    Raises:
        AddonUnusable: it is not known which torch Tenon runs on.
    """
    torch = bundled_torch(gpu_folder())
    return choose(read_graphics_cards(), torch), torch


def read_status() -> GpuStatus:
    """Look; that takes seconds where an installed add-on was not checked yet.

    Raises:
        AddonUnusable: it is not known which torch Tenon runs on.
    """
    torch = bundled_torch(gpu_folder())
    cards = read_graphics_cards()
    choice, installed = choose(cards, torch), find_installed()
    outcome = None
    if installed is not None:
        mismatch = installed.mismatch(torch)
        outcome = checked(installed) if mismatch is None else Outcome("", mismatch)
    sentence = choice.sentence
    if installed is not None and outcome is not None:
        sentence = outcome.problem or say(
            "GPU support ({title}) is installed and works with {seen}.",
            title=installed.title,
            seen=together(outcome.gpus),
        )
    return GpuStatus(cards, choice, installed, outcome, removable_bytes(), sentence)
