"""Fetching an add-on: what it would bring, its wheels one after the other, and the whole folder to its place."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.errors import AddonUnusable, HubError
from engine.files import file_trouble
from engine.gpu_addon.addon import Addon, index_address
from engine.gpu_addon.bundled_torch import BundledTorch, python_tag
from engine.gpu_addon.check import checked
from engine.gpu_addon.installed_addon import (
    INCOMING,
    InstalledAddon,
    Outcome,
    find_installed,
    gpu_folder,
    place,
    write_manifest,
    write_record,
)
from engine.gpu_addon.wheels import Wheel, WheelIndex, choose_wheels, unpack
from engine.hub.kept_list import held_alone
from engine.hub.model_folders import RESERVE_BYTES, check_room
from engine.hub.repository import HubFile
from engine.hub.transfer import PART, Patience, StopSignal, Transfer
from engine.sentences import either, say

AddonStep = Literal["receiving", "waiting", "unpacking", "checking"]


@dataclass(frozen=True)
class AddonPlan:
    """An add-on to be fetched: its version of torch, and its wheels in a package index."""

    addon: Addon
    address: str
    torch: str
    wheels: tuple[Wheel, ...]

    @property
    def size_bytes(self) -> int:
        """Bytes that come over the net."""
        return sum(wheel.size_bytes for wheel in self.wheels)

    @property
    def unpacked_bytes(self) -> int:
        """Bytes that it takes on the disk in the end."""
        return sum(wheel.unpacked_bytes for wheel in self.wheels)


@dataclass(frozen=True)
class AddonProgress:
    """Progress of a step of installing an add-on, in bytes; the message says why it waits."""

    step: AddonStep
    done_bytes: int
    total_bytes: int
    message: str | None = None


def make_plan(addons: Sequence[Addon], torch: BundledTorch, address: str | None = None) -> AddonPlan:
    """Look up what there is to fetch, and how large it is.

    Args:
        addons: In the order in which they are preferred; the first that the index has is taken.
        torch: Tenon's own.
        address: Address of another package index than the add-on's own.

    Raises:
        AddonUnusable: there is none for this system, Python and torch.
        HubError: the index does not give what it should.
    """
    for addon in addons:
        where = address or index_address(addon)
        if where is None:
            raise AddonUnusable(
                "{title} needs the address of a package index: {caution}",
                title=addon.title,
                caution=addon.caution and say(addon.caution),
            )
        with closing(WheelIndex(where)) as index:
            wheels = choose_wheels(index, torch)
        if wheels:
            return AddonPlan(addon, where, torch.version, wheels)
    raise AddonUnusable(
        "The package index has no torch {version} with {names} for this system and Python "
        "({python}): Tenon goes on without the GPU.",
        version=torch.version,
        names=either(addon.title for addon in addons),
        python=python_tag(),
    )


class Installation:
    """One add-on on its way. What has come stays on the disk, and another one with the same plan goes on from there."""

    def __init__(
        self,
        plan: AddonPlan,
        stop: StopSignal,
        report: Callable[[AddonProgress], None] = lambda progress: None,
        patience: Patience | None = None,
        reserve_bytes: int = RESERVE_BYTES,
    ) -> None:
        self._plan, self._stop, self._report = plan, stop, report
        self._patience = patience or Patience()
        self._reserve_bytes = reserve_bytes
        self._folder = gpu_folder() / INCOMING
        self._arrived: dict[str, int] = {}

    def run(self) -> Outcome:
        """Fetch, check every hash, unpack, rename into place, and look whether it works here.

        Returns:
            Findings of the check; the add-on stays in its place, switched off, if it does not work.

        Raises:
            Cancelled: the stop signal was set.
            HubError: the index does not give it, or another Tenon is fetching one.
            OutOfDisk: there is no room.
            AddonUnusable: an earlier one is in use and cannot make way.
        """
        busy = HubError("Another window or command of Tenon is fetching GPU support: wait for it.")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with held_alone(gpu_folder() / f"{INCOMING}.lock", busy):
                self._clear_leftovers()
                self._check_room()
                for wheel in self._plan.wheels:
                    self._fetch(wheel)
                self._unpack()
                place(self._unpacked, self._plan.addon.name)
                shutil.rmtree(self._folder, ignore_errors=True)
        except OSError as error:
            raise file_trouble(error, self._folder) from error
        addon = find_installed()
        assert addon is not None
        self._report(AddonProgress("checking", 0, 0))
        return checked(addon)

    @property
    def _unpacked(self) -> Path:
        return self._folder / "unpacked"

    def _clear_leftovers(self) -> None:
        """Remove what another plan brought and this one does not know."""
        names = {wheel.file_name for wheel in self._plan.wheels}
        for path in self._folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name.removesuffix(PART) not in names:
                path.unlink()
        for name in names:
            for path in (self._folder / name, self._folder / (name + PART)):
                if path.is_file():
                    self._arrived[name] = path.stat().st_size
                    break

    def _check_room(self) -> None:
        """Check the room for the wheels, which stay until all are unpacked."""
        missing = max(0, self._plan.size_bytes - sum(self._arrived.values()))
        check_room(gpu_folder(), missing + self._plan.unpacked_bytes, reserve_bytes=self._reserve_bytes)

    def _fetch(self, wheel: Wheel) -> None:
        def tell(message: str | None = None) -> None:
            step: AddonStep = "receiving" if message is None else "waiting"
            done = sum(self._arrived.values())
            self._report(AddonProgress(step, done, self._plan.size_bytes, message))

        def arrived(size_bytes: int) -> None:
            self._arrived[wheel.file_name] = size_bytes
            tell()

        file = HubFile(wheel.file_name, wheel.size_bytes, wheel.sha256, None)
        with closing(WheelIndex(self._plan.address)) as index:
            Transfer(
                *(index, say("the package index"), wheel.url, file, self._folder),
                *(self._stop, self._patience, arrived, tell),
            ).run()

    def _unpack(self) -> None:
        plan, done = self._plan, 0

        def written(size_bytes: int) -> None:
            nonlocal done
            self._stop.check()
            done += size_bytes
            self._report(AddonProgress("unpacking", done, plan.unpacked_bytes))

        self._unpacked.mkdir()
        hashes: dict[str, str] = {}
        for wheel in plan.wheels:
            hashes |= unpack(self._folder / wheel.file_name, self._unpacked, written)
        wheels = {wheel.file_name: wheel.sha256 for wheel in plan.wheels}
        record = InstalledAddon(self._unpacked, plan.addon.name, plan.addon.title, plan.torch, python_tag(), wheels)
        write_record(self._unpacked, record)
        write_manifest(self._unpacked, hashes)
