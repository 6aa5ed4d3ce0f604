"""GPU support from the window: looking, asking how large it is, fetching, pausing, removing."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.worker import Worker
from app.chat.machine import GpuState, GpuStep, GpuSupport
from app.words import tr
from engine.errors import Cancelled, TenonError
from engine.sentences import paragraph

if TYPE_CHECKING:
    from engine.gpu_addon.installation import AddonPlan, AddonProgress
    from engine.hub.transfer import StopSignal

_PROGRESS_EVERY_S = 0.1
_CLOSING_S = 0.3


class GpuAddon(QObject):
    """Actions on GPU support. Whatever takes time is done in a thread, one thing at a time.

    Every method returns at once; `changed` tells what came of it.
    """

    changed = Signal(object)  # a GpuSupport
    _told = Signal(object)  # the same, from the thread

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.support = GpuSupport()  # state of GPU support
        self._plan: AddonPlan | None = None
        self._stop: StopSignal | None = None
        self._worker = Worker("gpu-support", self, _mistake)
        self._closed = False
        self._told.connect(self._tell)

    @Slot()
    def look(self) -> None:
        """Find out how it stands. That takes seconds where an add-on was not checked yet."""
        self._begin("checking", lambda before: self._look(before.restart))

    @Slot()
    def ask_size(self) -> None:
        """Ask the package index how large it would be."""
        self._begin("sizing", self._ask)

    @Slot()
    def fetch(self) -> None:
        """Fetch what was asked for, or go on with it; what it brings is asked first, for a user has to agree."""
        if self._plan is None:
            self.ask_size()
        else:
            self._begin("receiving", self._fetch)

    @Slot()
    def pause(self) -> None:
        """Hold it; what has come stays."""
        if self._stop is not None:
            self._stop.set()

    @Slot()
    def remove(self) -> None:
        """Remove it, whole or not."""
        self._begin("removing", self._remove)

    def close(self) -> None:
        """Pause, and tell nothing any more."""
        self._closed = True
        self.pause()
        self._worker.close(_CLOSING_S)

    def _begin(self, step: GpuStep, job: Callable[[GpuSupport], GpuSupport]) -> None:
        """Do something in a thread, unless something is being done."""
        before = self.support
        if before.busy or self._closed:
            return
        if step == "receiving":
            from engine.hub.transfer import StopSignal

            self._stop = StopSignal()
        now = replace(before, state="fetching") if step == "receiving" else before
        self._tell(replace(now, step=step, done_bytes=0, total_bytes=0))

        def done(after: GpuSupport) -> None:
            self._tell(replace(after, step="", done_bytes=0, total_bytes=0))

        def failed(error: TenonError) -> None:
            done(replace(before, state="failed", sentence=error.message))

        self._worker.run(lambda: self._outcome(job, before), done, failed)

    @Slot(object)
    def _tell(self, support: GpuSupport) -> None:
        if not self._closed:
            self.support = support
            self.changed.emit(support)

    # --- in the thread --------------------------------------------------------------------------------------------

    def _outcome(self, job: Callable[[GpuSupport], GpuSupport], before: GpuSupport) -> GpuSupport:
        try:
            return job(before)
        except Cancelled:
            return replace(before, state="paused", disk_bytes=self._disk_bytes())
        except TenonError as error:
            return replace(before, state="failed", sentence=error.message, disk_bytes=self._disk_bytes())

    def _look(self, restart: bool) -> GpuSupport:
        from engine.gpu_addon.addon import read_status

        status = read_status()
        state: GpuState
        if status.installed is not None:
            state, title = "works" if status.works else "off", status.installed.title
        elif status.choice.addons:
            state, title = "offered", status.choice.addons[0].title
        else:
            state, title = "none", ""
        sentence = paragraph(status.sentence, status.chips)
        return GpuSupport(state, sentence, title, disk_bytes=status.disk_bytes, restart=restart)

    def _ask(self, before: GpuSupport) -> GpuSupport:
        from engine.errors import AddonUnusable
        from engine.gpu_addon.addon import look_for_addons
        from engine.gpu_addon.installation import make_plan

        choice, torch = look_for_addons()
        if not choice.addons:
            raise AddonUnusable(choice.sentence)
        self._plan = plan = make_plan(choice.addons, torch)
        return replace(
            before,
            state="sized",
            sentence=choice.sentence,
            title=plan.addon.title,
            address=plan.address,
            size_bytes=plan.size_bytes,
            unpacked_bytes=plan.unpacked_bytes,
        )

    def _fetch(self, before: GpuSupport) -> GpuSupport:
        from engine.gpu_addon.installation import Installation

        assert self._plan is not None
        assert self._stop is not None
        last_s = float("-inf")

        def report(progress: AddonProgress) -> None:
            nonlocal last_s
            now_s = time.monotonic()
            if now_s - last_s >= _PROGRESS_EVERY_S or progress.step == "checking":
                last_s = now_s
                self._told.emit(
                    replace(
                        before,
                        state="fetching",
                        step=progress.step,
                        sentence=progress.message or before.sentence,
                        done_bytes=progress.done_bytes,
                        total_bytes=progress.total_bytes,
                    )
                )

        Installation(self._plan, self._stop, report).run()
        return self._look(restart=True)

    def _remove(self, before: GpuSupport) -> GpuSupport:
        from engine.gpu_addon.installed_addon import find_installed, remove_all

        was_used = find_installed() is not None
        remove_all()
        return self._look(restart=was_used or before.restart)

    def _disk_bytes(self) -> int:
        from engine.gpu_addon.installed_addon import removable_bytes

        return removable_bytes()


def _mistake(details: str) -> TenonError:
    return TenonError(tr("Something unexpected went wrong with GPU support: try again, or look into the log."), details)
