"""The downloads of this machine, one after the other in a thread of their own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from engine.errors import Cancelled, InvalidOption, TenonError
from engine.files import file_trouble
from engine.hub.connection import Hub
from engine.hub.download import Download, DownloadPlan, Progress, read_download
from engine.hub.model_folders import INCOMING, RESERVE_BYTES, check_room
from engine.hub.transfer import Patience, StopSignal, TransferRate
from engine.messages import DownloadState, DownloadStatus
from engine.sentences import say

_REPORT_EVERY_S = 0.25
_log = logging.getLogger(__name__)


class DownloadQueue:
    """Downloads in the order in which they were asked for. Downloads on the disk go on when the program starts again.

    Every method returns at once and may be called from any thread.

    Args:
        models: The folder of installed models.
        connect: Makes the connection; called in the queue's own thread, before each download.
        listener: Called with what changes, from the thread that changes it; must return soon.
        patience: Limits on trying.
        reserve_bytes: Space that has to stay free on the disk.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        models: Path,
        connect: Callable[[], Hub],
        listener: Callable[[DownloadStatus], None],
        patience: Patience | None = None,
        reserve_bytes: int = RESERVE_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._models, self._connect, self._listener, self._clock = models, connect, listener, clock
        self._patience = patience or Patience()
        self._reserve_bytes = reserve_bytes
        self._changed = threading.Condition()
        self._downloads = {download.plan.name: download for download in stored_downloads(models)}
        self._running: str | None = None
        self._stop = StopSignal()
        self._closing = False
        self._rate = TransferRate()
        self._progress: Progress | None = None
        self._last_report_s = float("-inf")
        self._thread = threading.Thread(target=self._work, name="downloads", daemon=True)
        self._thread.start()

    def statuses(self) -> tuple[DownloadStatus, ...]:
        """Return all downloads, in the queue's order."""
        with self._changed:
            return tuple(self._status(download) for download in self._in_order())

    def add(self, plan: DownloadPlan) -> None:
        """Put a download at the end of the queue, or let it go on if it is there already.

        Raises:
            OutOfDisk: There is no room for it beside the queued ones.
        """
        with self._changed:
            download = self._downloads.get(plan.name) or Download(self._models, plan)
            others = sum(
                other.remaining_bytes()
                for other in self._downloads.values()
                if other is not download and other.stored.state == "queued"
            )
            check_room(self._models, download.remaining_bytes(), others, self._reserve_bytes)
            last = max((other.stored.place for other in self._downloads.values()), default=0.0)
            download.keep("queued", place=last + 1)
            self._downloads[plan.name] = download
            self._tell(download)
            self._changed.notify_all()

    def pause(self, name: str) -> None:
        """Hold a download; the bytes that have come stay."""
        with self._changed:
            download = self._named(name)
            if download.stored.state == "queued":
                download.keep("paused")
                if self._running == name:
                    self._stop.set()
                self._tell(download)

    def resume(self, name: str) -> None:
        """Let a held or failed download go on."""
        with self._changed:
            download = self._named(name)
            if download.stored.state != "queued":
                download.keep("queued")
                self._tell(download)
                self._changed.notify_all()

    def cancel(self, name: str) -> None:
        """Give a download up and remove the files that have come."""
        with self._changed:
            download = self._named(name)
            del self._downloads[name]
            if self._running == name:
                self._stop.set()  # its thread removes the files when it has let go of them
            else:
                download.discard()
            self._tell(download, "cancelled")

    def reconnect(self) -> None:
        """Let the running download go on over a new connection, from where it is."""
        with self._changed:
            if self._running is not None:
                self._stop.set()  # it is still queued, so it is the next one, too

    def close(self, wait_s: float = 5.0) -> None:
        """Stop and leave everything on the disk as it is; a running download is queued when the program starts again.

        The queue's thread, which may be about to reach the hub, is waited for so long.
        """
        with self._changed:
            self._closing = True
            self._stop.set()
            self._changed.notify_all()
        self._thread.join(wait_s)

    def _named(self, name: str) -> Download:
        if name not in self._downloads:
            raise InvalidOption("There is no download of {name}.", name=repr(name))
        return self._downloads[name]

    def _in_order(self) -> list[Download]:
        return sorted(self._downloads.values(), key=lambda download: download.stored.place)

    def _work(self) -> None:
        while True:
            with self._changed:
                download = self._next()
                while download is None and not self._closing:
                    self._changed.wait()
                    download = self._next()
                if download is None or self._closing:
                    return
                self._running = download.plan.name
                self._stop = stop = StopSignal()
                self._rate.forget()
                self._progress = None
            try:
                self._run(download, stop)
            except Exception as error:  # nothing may end the queue
                _log.exception("the queue could not end %s", download.plan.name)
                self._fail(download, _unexpected(error))
            with self._changed:
                self._running = None
                self._progress = None

    def _next(self) -> Download | None:
        return next((download for download in self._in_order() if download.stored.state == "queued"), None)

    def _run(self, download: Download, stop: StopSignal) -> None:
        failure: str | None = None
        try:
            with closing(self._connect()) as hub:
                download.run(
                    hub,
                    stop,
                    lambda progress: self._note(download, progress),
                    self._patience,
                    reserve_bytes=self._reserve_bytes,
                )
        except Cancelled:
            with self._changed:
                if download.plan.name not in self._downloads:
                    download.discard()
            return
        except TenonError as error:
            failure = error.message
        except OSError as error:
            failure = file_trouble(error).message
        except Exception as error:  # whatever it was, the queue goes on with the next one
            _log.exception("%s failed", download.plan.name)
            failure = _unexpected(error)
        with self._changed:
            if download.plan.name not in self._downloads:  # cancelled in the last moment
                download.discard()
            elif failure is None:
                del self._downloads[download.plan.name]
                self._tell(download, "done")
            else:
                self._fail(download, failure)

    def _fail(self, download: Download, failure: str) -> None:
        with self._changed:
            if download.stored.state == "queued":
                download.keep("failed", failure)
                self._running = None
                self._tell(download)

    def _note(self, download: Download, progress: Progress) -> None:
        with self._changed:
            now_s = self._clock()
            news = self._progress is None or progress.step != self._progress.step
            self._progress = progress
            if progress.step == "waiting":
                self._rate.forget()
            else:
                self._rate.note(now_s, progress.done_bytes)
            if download.stored.state == "queued" and (news or now_s - self._last_report_s >= _REPORT_EVERY_S):
                self._last_report_s = now_s
                self._tell(download)

    def _tell(self, download: Download, state: DownloadState | None = None) -> None:
        self._listener(self._status(download, state))

    def _status(self, download: Download, state: DownloadState | None = None) -> DownloadStatus:
        plan, stored = download.plan, download.stored
        total = plan.size_bytes
        if state == "done":
            return DownloadStatus(plan.name, plan.repo, state, total, total)
        done = download.done_bytes()
        if state is None and self._running == plan.name and stored.state == "queued" and self._progress:
            return DownloadStatus(
                plan.name,
                plan.repo,
                self._progress.step,
                done,
                total,
                self._rate.bytes_per_s(),
                self._rate.seconds_left(total - done),
                self._progress.message or "",
            )
        return DownloadStatus(plan.name, plan.repo, state or stored.state, done, total, message=stored.message or "")


def _unexpected(error: Exception) -> str:
    return say("The download failed ({name}: {error}): try again.", name=type(error).__name__, error=error)


def stored_downloads(models: Path) -> list[Download]:
    """Return the unfinished downloads that are on the disk."""
    stored = map(read_download, sorted((models / INCOMING).glob("[!.]*/")))
    return [Download(models, one.plan) for one in stored if one is not None]
