"""Download of one model: it is planned, its files come into a folder apart, and the complete folder goes to its place.

The plan and the state of a download outlive the program: download.json in a folder of its own.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

from engine.errors import CheckpointError, HubError, NotOnHub
from engine.files import read_text_file, set_aside
from engine.gguf.files import names_tower
from engine.hub.connection import Hub
from engine.hub.model_folders import INCOMING, RESERVE_BYTES, check_room
from engine.hub.model_move import arriving, models_held
from engine.hub.record import (
    FileFormat,
    ModelFile,
    ModelKind,
    ModelRecord,
    read_record,
    write_json,
    write_record,
)
from engine.hub.repository import FormatWish, HubFile, choose_files
from engine.hub.transfer import PART, Patience, StopSignal, Transfer
from engine.json_text import from_plain, read_json
from engine.weights.draft_kind import draft_kind

_FILE = "download.json"
_VERSION = 1

#: Waiting or running; held by the user; ended by an error that the message names.
StoredState = Literal["queued", "paused", "failed"]
_log = logging.getLogger(__name__)

# Other programs use the disk too: its free space is read again whenever so much has come.
_LOOK_AT_DISK_BYTES = 64 << 20

Step = Literal["receiving", "waiting"]


@dataclass(frozen=True)
class DownloadPlan:
    """A model to be fetched; more about its fields in `ModelRecord`."""

    name: str
    repo: str
    revision: str  # the branch, tag or commit that was asked for
    commit: str  # commit that the revision stood for then, which is fetched
    format: FileFormat
    files: tuple[HubFile, ...]
    quantization: str | None = None
    kind: ModelKind | None = None  # use of the model; None lets the files say it
    catalogue_name: str | None = None
    base: tuple[str, ...] = ()
    belongs_to: tuple[str, ...] = ()
    licence: str | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes of all its files."""
        return sum(file.size_bytes for file in self.files)

    @property
    def tower_bytes(self) -> int:
        """Bytes of its encoder of pictures among them; 0 if it has none of its own."""
        return sum(file.size_bytes for file in self.files if names_tower(file.name))


@dataclass(frozen=True)
class StoredDownload:
    """A download as it is on the disk."""

    plan: DownloadPlan
    state: StoredState = "queued"
    place: float = 0.0  # place in the queue: smaller numbers first
    message: str | None = None  # reason why it failed


def write_download(folder: Path, stored: StoredDownload) -> None:
    """Keep a download in its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / _FILE, {"version": _VERSION, **asdict(stored)})


def read_download(folder: Path) -> StoredDownload | None:
    """Read the download of a folder; set a damaged one aside. Return None if there is none of this version."""
    try:
        found = read_json(read_text_file(folder / _FILE))
        return from_plain(StoredDownload, found) if found["version"] == _VERSION else None
    except OSError:
        return None
    except (ValueError, KeyError, TypeError):
        with suppress(OSError):
            set_aside(folder / _FILE)
            (folder / _FILE).unlink()
        return None


@dataclass(frozen=True)
class Progress:
    """Progress of a download by the bytes on the disk, which never decrease; the message says why it waits."""

    done_bytes: int
    total_bytes: int
    step: Step = "receiving"
    message: str | None = None


class Download:
    """A download on the disk, running or not.

    Args:
        models: The folder of installed models.
        plan: Files to fetch. If a download of this name is on the disk already, that one goes on.
    """

    def __init__(self, models: Path, plan: DownloadPlan) -> None:
        self._models = models
        self.folder = models / INCOMING / plan.name
        self._files, self._place = self.folder / "model", models / plan.name
        self._replaced = self.folder / "replaced"
        self.stored = read_download(self.folder) or StoredDownload(plan)
        if self._other_files_wanted(plan):
            self.stored = replace(self.stored, plan=plan)
        self._most_bytes = 0
        self._links = True  # False once a file system was found to have no hard links
        self._waiting: str | None = None

    @property
    def plan(self) -> DownloadPlan:
        """Plan of the model that it fetches."""
        return self.stored.plan

    def keep(self, state: StoredState, message: str | None = None, place: float | None = None) -> None:
        """Note its state: in memory always, and on the disk if that can be written to.

        The note often says that the disk is full; then the next start goes on from an older note.
        """
        place = self.stored.place if place is None else place
        self.stored = StoredDownload(self.plan, state, place, message)
        try:
            write_download(self.folder, self.stored)
        except OSError as error:
            _log.warning("how the download %s stands was not written: %s", self.plan.name, error)

    def done_bytes(self) -> int:
        """Return the bytes on the disk, or the most that there ever were."""
        on_disk = 0
        for file in self.plan.files:
            whole = self._files / file.local_name
            part = whole.with_name(whole.name + PART)
            for path in (whole, part):
                if path.is_file():
                    on_disk += min(path.stat().st_size, file.size_bytes)
                    break
        self._most_bytes = max(self._most_bytes, on_disk)
        return self._most_bytes

    def remaining_bytes(self) -> int:
        """Return the bytes that are still to come."""
        shared = sum(file.size_bytes for file in self._shared())
        return max(0, self.plan.size_bytes - self.done_bytes() - shared)

    def _shared(self) -> dict[HubFile, Path]:
        """Return files to come that another model here has, with their places: all quantizations share an encoder."""
        wanted = {file.sha256: file for file in self.plan.files if not (self._files / file.local_name).exists()}
        found: dict[HubFile, Path] = {}
        for folder in self._models.glob("[!.]*/") if self._links else ():
            with suppress(CheckpointError, OSError):
                record = read_record(folder)
                for one in () if record is None else record.files:
                    if one.sha256 in wanted and (folder / one.name).stat().st_size == one.size_bytes:
                        found[wanted[one.sha256]] = folder / one.name
        return found

    def run(
        self,
        hub: Hub,
        stop: StopSignal,
        report: Callable[[Progress], None],
        patience: Patience | None = None,
        queued_bytes: Callable[[], int] = lambda: 0,
        reserve_bytes: int = RESERVE_BYTES,
    ) -> Path:
        """Fetch what is missing and put the model into its place.

        Args:
            patience: Limits on trying.
            queued_bytes: Bytes that other downloads are still to bring to this disk.
            reserve_bytes: Space that has to stay free on it.

        Returns:
            The installed model's folder.

        Raises:
            Cancelled: the stop signal was set.
            HubError: The hub does not give the files, or another Tenon is fetching them.
            OutOfDisk: There is no room.
        """
        patience = patience or Patience()
        busy = HubError(
            "Another window or command of Tenon is fetching {name} already: wait for it, or pause it.",
            name=self.plan.name,
        )
        with arriving(self._models, self.folder.name, busy):
            _make_folder(self.folder)
            if self._arrived():  # the program ended between the last two steps
                self.discard()
                return self._place
            if read_download(self.folder) is None:
                write_download(self.folder, self.stored)
            _make_folder(self._files)
            self._clear_leftovers()
            for file, place in self._shared().items():
                try:
                    os.link(place, self._files / file.local_name)
                except OSError:  # a file system without hard links
                    self._links = False
            check_room(self._models, self.remaining_bytes(), queued_bytes(), reserve_bytes)

            looked_at_bytes = self.done_bytes()

            def tell() -> None:
                nonlocal looked_at_bytes
                if self.done_bytes() - looked_at_bytes >= _LOOK_AT_DISK_BYTES:
                    looked_at_bytes = self.done_bytes()
                    check_room(self._models, self.remaining_bytes(), reserve_bytes=reserve_bytes)
                step: Step = "receiving" if self._waiting is None else "waiting"
                report(Progress(self.done_bytes(), self.plan.size_bytes, step, self._waiting))

            def fetch_files() -> tuple[ModelFile, ...]:
                return tuple(self._file(hub, index, stop, patience, tell) for index in range(len(self.plan.files)))

            tell()
            try:
                files = fetch_files()
            except NotOnHub:
                # The commit is gone, as after a branch was rewritten: the files may be there under another.
                if not self._find_again(hub):
                    raise
                check_room(self._models, self.remaining_bytes(), queued_bytes(), reserve_bytes)
                files = fetch_files()
            self._install(files)
            return self._place

    def discard(self) -> None:
        """Remove the files that have come; an earlier revision that was making way comes back."""
        if self._replaced.exists() and not self._place.exists():
            os.replace(self._replaced, self._place)
        _remove(self.folder)
        with contextlib.suppress(OSError):  # held by someone; it is empty and may stay
            self.folder.with_name(self.folder.name + ".lock").unlink()

    def _file(self, hub: Hub, index: int, stop: StopSignal, patience: Patience, tell: Callable[[], None]) -> ModelFile:
        plan, file = self.plan, self.plan.files[index]

        def waiting(reason: str | None) -> None:
            self._waiting = reason
            tell()

        url = hub.file_url(plan.repo, plan.commit, file.name)
        return Transfer(hub, plan.repo, url, file, self._files, stop, patience, lambda _bytes: tell(), waiting).run()

    def _find_again(self, hub: Hub) -> bool:
        """Look up what the revision stands for now; keep the bytes of files that are the same."""
        old = self.plan
        listing = hub.listing(old.repo, old.revision)
        if listing.commit == old.commit:
            return False
        wish: FormatWish = "gguf" if old.format == "gguf" else "safetensors"
        chosen = choose_files(listing, wish, old.quantization, head=old.format == "pytorch" or old.kind == "head")
        files = chosen.files_with(any(names_tower(file.name) for file in old.files))
        plan = replace(old, commit=listing.commit, files=files, format=chosen.format)
        for file in set(old.files) - set(files):
            for path in (self._files / file.local_name, self._files / (file.local_name + PART)):
                path.unlink(missing_ok=True)
        self.stored = replace(self.stored, plan=plan)
        write_download(self.folder, self.stored)
        return True

    def _clear_leftovers(self) -> None:
        """Remove files that an earlier plan of this name brought and this one does not have."""
        names = {file.local_name for file in self.plan.files}
        for path in self._files.iterdir():
            if path.name.removesuffix(PART) not in names:
                _remove(path)

    def _install(self, files: tuple[ModelFile, ...]) -> None:
        plan = self.plan
        kind = plan.kind
        if kind is None:
            kind = "head" if plan.format != "gguf" and draft_kind(self._files) == "head" else "target"
        record = ModelRecord(
            name=plan.name,
            kind=kind,
            format=plan.format,
            files=files,
            quantization=plan.quantization,
            repo=plan.repo,
            revision=plan.commit,
            catalogue_name=plan.catalogue_name,
            base=plan.base,
            belongs_to=plan.belongs_to,
            licence=plan.licence,
            added=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        )
        write_record(self._files, record)
        with models_held(self._models):
            if self._place.exists():  # an earlier revision makes way
                os.replace(self._place, self._replaced)
            os.replace(self._files, self._place)
        self.discard()

    def _arrived(self) -> bool:
        if self._files.exists() or not self._place.is_dir():
            return False
        record = read_record(self._place)
        if record is None or (record.repo, record.revision) != (self.plan.repo, self.plan.commit):
            return False
        return {file.local_name for file in self.plan.files} <= {file.name for file in record.files}

    def _other_files_wanted(self, plan: DownloadPlan) -> bool:
        """Return whether the plan on the disk is for other files than this one, and not only for an older commit."""
        old = self.stored.plan
        return (old.repo, old.revision, old.format, old.quantization) != (
            plan.repo,
            plan.revision,
            plan.format,
            plan.quantization,
        )


def _make_folder(folder: Path) -> None:
    """Make a folder, in place of a file or of a link that leads nowhere."""
    if not folder.is_dir() and (folder.is_symlink() or folder.exists()):
        folder.unlink()
    folder.mkdir(parents=True, exist_ok=True)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
