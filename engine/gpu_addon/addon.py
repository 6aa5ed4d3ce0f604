"""The add-ons that there are, those for this machine's graphics card, and the state of the installed one."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from engine.gpu_addon.bundled_torch import BundledTorch, bundled_torch
from engine.gpu_addon.check import checked
from engine.gpu_addon.installed_addon import (
    InstalledAddon,
    Outcome,
    find_installed,
    gpu_folder,
    removable_bytes,
)
from engine.graphics.known import chip_sentence
from engine.hub.bundled import assets_folder
from engine.planning.probes.graphics_cards import GraphicsCard, Vendor, read_graphics_cards
from engine.sentences import mark, paragraph, say, together

_CAUTIONS = {
    "jetson": mark(
        "NVIDIA keeps the wheels for Jetson in an index for each JetPack release, so give the address of the one for "
        "your release."
    ),
    "rocm-7.2": mark(
        "ROCm supports newer Radeon and Instinct cards alone, so look yours up in AMD's list before you fetch it."
    ),
    "intel-xpu": mark(
        "It supports Arc cards and the graphics of Core Ultra processors alone, and is of no use with older Intel "
        "graphics."
    ),
}
_VENDORS: tuple[Vendor, ...] = ("nvidia", "jetson", "amd", "intel", "apple")


@dataclass(frozen=True)
class Addon:
    """A build of torch for one kind of GPU."""

    name: str  # name for ``tenon gpu install``
    title: str  # for people
    vendor: Vendor  # whose graphics cards
    systems: tuple[str, ...]  # on which systems, as `platform.system` calls them
    folder: str | None  # folder of the wheel index; None where the user has to give an index
    least_driver: int | None = None  # NVIDIA's oldest driver that it runs on, the first part of its version
    least_capability: float | None = None  # the oldest compute capability that it was built for
    most_capability: float | None = None  # the newest
    caution: str | None = None  # advice before it is fetched, a sentence to be said

    def fits(self, card: GraphicsCard) -> bool:
        """Return True if it was built for such a card and runs on its driver; an unknown compute capability fits."""
        if card.vendor != self.vendor:
            return False
        if self.least_driver is not None and _major(card.driver) < self.least_driver:
            return False
        capability = card.capability
        if capability is None:
            return True
        return (self.least_capability or 0.0) <= capability <= (self.most_capability or float("inf"))


@dataclass(frozen=True)
class AddonChoice:
    """Choose the add-ons that are for a machine."""

    # In the order in which they are preferred; none where there is nothing to fetch
    addons: tuple[Addon, ...]
    sentence: str  # why, for the user


@cache
def known_addons() -> tuple[Addon, ...]:
    """All of them, in the order in which they are preferred."""
    entries = _data()["addons"]
    return tuple(
        Addon(**{**entry, "systems": tuple(entry["systems"])}, caution=_CAUTIONS.get(entry["name"]))
        for entry in entries
    )


def index_address(addon: Addon) -> str | None:
    """Address of the package index that has its wheels, None where the user has to give one."""
    return None if addon.folder is None else f"{_data()['index']}/{addon.folder}"


def choose(cards: Sequence[GraphicsCard], torch: BundledTorch, system: str | None = None) -> AddonChoice:
    """Return the add-ons for a machine with these cards and this torch; None asks for this system."""
    system = system or platform.system()
    if any(card.vendor == "apple" for card in cards):
        return AddonChoice((), say("Tenon uses Apple's GPU as it is: there is nothing to fetch."))
    if torch.gpu is not None:
        return AddonChoice(
            (),
            say("The torch that Tenon runs on was built for {gpu}: there is nothing to fetch.", gpu=torch.gpu),
        )
    if not cards:
        return AddonChoice((), say("No graphics card was found that GPU support could be fetched for."))
    addons = [addon for addon in known_addons() if system in addon.systems]
    # A card beside a processor's own graphics is the one that is meant.
    vendor = min((card.vendor for card in cards), key=_VENDORS.index)
    addons = [addon for addon in addons if addon.vendor == vendor]
    cards = [card for card in cards if card.vendor == vendor]
    for card in cards:
        fitting = tuple(addon for addon in addons if addon.fits(card))
        if fitting:
            return AddonChoice(fitting, _offer(card, fitting[0]))
    return AddonChoice((), _refusal(cards[0], addons))


def _offer(card: GraphicsCard, addon: Addon) -> str:
    if card.driver:
        offer = say(
            "GPU support for {name} with driver {driver} is {title}.",
            name=card.name,
            driver=card.driver,
            title=addon.title,
        )
    else:
        offer = say("GPU support for {name} is {title}.", name=card.name, title=addon.title)
    return paragraph(offer, say(addon.caution) if addon.caution else "")


def _refusal(card: GraphicsCard, addons: Sequence[Addon]) -> str:
    if not addons:
        return say("There is no GPU support for {name} on this system.", name=card.name)
    if card.vendor == "nvidia" and card.driver is None:
        return say("{name} has no driver of NVIDIA's: install it, and look again.", name=card.name)
    drivers = [addon.least_driver for addon in addons if addon.least_driver is not None]
    if drivers and _major(card.driver) < min(drivers):
        return say(
            "{name} has driver {driver}, and GPU support needs {drivers} or newer: update "
            "NVIDIA's driver, and look again.",
            name=card.name,
            driver=card.driver,
            drivers=min(drivers),
        )
    newer = [addon for addon in addons if addon.fits(GraphicsCard(card.vendor, "", "9999", card.capability))]
    if newer:
        return say(
            "{name} has driver {driver}, and {title} needs {least_driver} or newer: update "
            "NVIDIA's driver, and look again.",
            name=card.name,
            driver=card.driver,
            title=newer[0].title,
            least_driver=newer[0].least_driver,
        )
    return say(
        "{name} is older than what today's torch was built for: Tenon runs on the processor here.",
        name=card.name,
    )


def _major(driver: str | None) -> int:
    found = re.match(r"\d+", driver or "")
    return int(found[0]) if found else 0


@cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((assets_folder() / "gpu_addons.json").read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True)
class GpuStatus:
    """GPU support on this machine."""

    cards: tuple[GraphicsCard, ...]
    choice: AddonChoice
    installed: InstalledAddon | None  # the add-on that is here, None for none
    outcome: Outcome | None  # result of its check; None where nothing is installed
    disk_bytes: int  # bytes that removing it would free, unfinished ones included
    sentence: str  # all that in a sentence or two, for the user
    chips: str  # the graphics chip that models can use, or why none; empty where torch computes on a GPU

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
    computes = torch.gpu is not None or (outcome is not None and outcome.problem is None)
    chips = "" if computes else chip_sentence()
    return GpuStatus(cards, choice, installed, outcome, removable_bytes(), sentence, chips)
