"""The models of this computer: listed, checked, brought in from elsewhere, and taken away."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.bridge.worker import Worker
from app.chat.model_entries import ImportEntry, InstalledEntry, RemovalEntry
from app.words import tr
from engine.errors import Cancelled, TenonError
from engine.hub.bundled import bundled_model, bundled_models
from engine.hub.endpoints import KIND_TITLES, endpoints, remote_name
from engine.hub.installed import InstalledModel, installed_model, installed_models, plan_removal, remove
from engine.hub.model_folders import HUGGING_FACE, OtherModel, models_folder, other_models
from engine.hub.model_head import ModelHead, read_heads
from engine.hub.titles import type_of_model
from engine.messages import DEFAULT_MODEL
from engine.weights.draft_kind import draft_kind

Result = TypeVar("Result")

_PROGRESS_STEP = 0.005  # of the whole, between two tellings


class Installed(QObject):
    """Everything here happens in threads; the signals come in the window's."""

    changed = Signal()
    removal_planned = Signal(object)  # RemovalEntry
    removed = Signal(str, object)  # name, and how many bytes that freed
    looked_at = Signal(object)  # ImportEntry
    imported = Signal(str)  # name
    import_refused = Signal(str)
    opened = Signal(str)  # reference of a model that is used where it is
    opening_refused = Signal(str)
    verified = Signal(str, tuple)  # name, and the files that are not what they were
    progressed = Signal(str, float)  # what is checked or imported, and how much of it is done
    problem = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # The bundled model first, where it is there, then what was installed, by name
        self.entries: tuple[InstalledEntry, ...] = _bundled()
        self._worker = Worker("models-list", self)
        self._reading = Worker("models-files", self)  # hashes gigabytes
        self._stop = threading.Event()
        self.reads = ""  # name of the model that is being checked or imported; empty for none

    def refresh(self) -> None:
        """Look again; `changed` follows where something did."""
        self._worker.run(_listed, self._take, self._tell)

    def plan_removal(self, name: str) -> None:
        """Find out what removing a model would free; `removal_planned` follows."""
        self._worker.run(lambda: _removal(name), self.removal_planned.emit, self._tell)

    def remove(self, names: Sequence[str]) -> None:
        """Remove models; nothing may be reading them."""

        def then(freed_bytes: int) -> None:
            self.removed.emit(names[0], freed_bytes)
            self.refresh()

        def failed(error: TenonError) -> None:
            self.problem.emit(error.message)
            self.refresh()

        self._worker.run(lambda: sum(map(remove, names)), then, failed)

    def look_at(self, paths: Sequence[str]) -> None:
        """Find out what importing a folder or files would bring; `looked_at` or `import_refused` follows."""
        self._worker.run(
            lambda: _importable(tuple(paths)),
            self.looked_at.emit,
            lambda error: self.import_refused.emit(error.message),
        )

    def open(self, path: str) -> None:
        """Make a folder or a file known and use it where it is; `opened` or `opening_refused` follows."""

        def then(ref: str) -> None:
            self.opened.emit(ref)
            self.refresh()

        self._worker.run(lambda: _opened(Path(path)), then, lambda error: self.opening_refused.emit(error.message))

    def bring_in(self, entry: ImportEntry, copy: bool) -> None:
        """Import what was looked at: used in place, or copied. `imported` or `import_refused` follows."""

        def then(name: str) -> None:
            self.imported.emit(name)
            self.refresh()

        self._read(entry.name, lambda: self._import(entry, copy), then, self.import_refused.emit)

    def verify(self, name: str) -> None:
        """Compare a model's files with what they were; `verified` follows."""
        self._read(name, lambda: self._verify(name), lambda bad: self.verified.emit(name, bad), self.problem.emit)

    def stop_reading(self) -> None:
        """Give up the check or the import that runs; an import leaves nothing behind."""
        self._stop.set()

    def close(self) -> None:
        """Do nothing more. May be called twice."""
        self._stop.set()
        self._worker.close()
        self._reading.close(1.0)

    def _read(
        self,
        name: str,
        work: Callable[[], Result],
        then: Callable[[Result], None],
        refused: Callable[[str], None],
    ) -> None:
        """Read a model's files, of one model at a time; gigabytes take a while."""
        if self.reads:
            self.problem.emit(tr("{name} is still being read: wait for that, or stop it.", name=self.reads))
            return
        self.reads = name
        self._stop.clear()
        self.changed.emit()

        def done(result: Result) -> None:
            self.reads = ""
            then(result)
            self.changed.emit()

        def failed(error: TenonError) -> None:
            self.reads = ""
            if not isinstance(error, Cancelled):
                refused(error.message)
            self.changed.emit()

        self._reading.run(work, done, failed)

    def _take(self, entries: tuple[InstalledEntry, ...]) -> None:
        if entries != self.entries:
            self.entries = entries
            self.changed.emit()

    def _tell(self, error: TenonError) -> None:
        self.problem.emit(error.message)

    # --- in the worker's thread ----------------------------------------------------------------------------

    def _import(self, entry: ImportEntry, copy: bool) -> str:
        from engine.hub.local_import import import_model

        progress = shares(self._stop, lambda share: self.progressed.emit(entry.name, share))
        return import_model(
            models_folder(), [Path(path) for path in entry.paths], copy, entry.name, progress=progress
        ).name

    def _verify(self, name: str) -> tuple[str, ...]:
        from engine.hub.installed import verify

        progress = shares(self._stop, lambda share: self.progressed.emit(name, share))
        checks = verify(installed_model(name), progress)
        return tuple(check.name for check in checks if check.state != "ok")


def shares(stop: threading.Event, tell: Callable[[float], object]) -> Callable[[int, int], None]:
    """Return a function that takes done and total bytes, tells the share now and then, and ends work that is to stop.

    Raises:
        Cancelled: Raised by that function once ``stop`` is set.
    """
    told = -1.0

    def progress(done_bytes: int, total_bytes: int) -> None:
        nonlocal told
        if stop.is_set():
            raise Cancelled("It was stopped.")
        share = done_bytes / max(1, total_bytes)
        if share - told >= _PROGRESS_STEP or share >= 1.0:
            told = share
            tell(share)

    return progress


def model_to_begin_with(chosen: str, recent: Sequence[str]) -> str:
    """Return the model that answers first: the chosen one, or another if that is not on this computer.

    A copy of Tenon may lack the bundled model, because it could not be fetched, and an earlier one had others.

    Returns:
        The reference to use; ``chosen`` where there is nothing else.
    """
    if Path(chosen).is_absolute() or any(model.name == chosen for model in bundled_models()):
        return chosen
    others = [ref for ref in recent if os.path.exists(ref)]
    with suppress(OSError):
        # Words go to a server only if the user chose it: none takes the place of a model of this computer.
        listed = [entry for entry in _found() if entry.kind == "target" and not entry.problem]
        others += [entry.ref for entry in listed if not entry.server or entry.ref == chosen]
    return chosen if chosen in others else next(iter(others), chosen)


def _bundled() -> tuple[InstalledEntry, ...]:
    found = bundled_model(DEFAULT_MODEL)
    if found is None or not found.is_there:
        return ()
    try:
        size_bytes = found.location.stat().st_size
    except OSError:
        return ()
    return (
        InstalledEntry(
            found.name,
            found.name,
            type=type_of_model(found.name),
            size_bytes=size_bytes,
            licence="apache-2.0",
            bundled=True,
            sees=False,
        ),
    )


def _listed() -> tuple[InstalledEntry, ...]:
    """Return what is here, with what the heads of its files say."""
    found = _found()
    files = [entry for entry in found if not (entry.bundled or entry.server or entry.problem)]
    here = {entry.ref: Path(entry.place or entry.ref) for entry in files}
    heads = read_heads([*here.values()])
    entries = []
    for entry in found:
        head = heads.get(here.get(entry.ref, Path()), ModelHead())
        base = head.only_continues and entry.kind == "target"
        sees = None if entry.server or entry.problem else head.sees
        told = replace(entry, type=head.type or entry.type, context=head.context, only_continues=base, sees=sees)
        entries.append(told)
    return tuple(entries)


def _found() -> tuple[InstalledEntry, ...]:
    own = (*_bundled(), *map(_entry, installed_models()))
    places, names = {entry.ref for entry in own}, {entry.name for entry in own}
    others = []
    for model in other_models():
        if str(model.location) in places:
            continue  # it was opened before its folder was read
        number, name = 1, model.name
        while name in names:
            name = f"{model.name} ({model.source})" if number == 1 else f"{model.name} ({model.source}, {number})"
            number += 1
        names.add(name)
        others.append(_others_entry(model, name))
    return (*own, *others, *_remote(names))


def _remote(taken: set[str]) -> Iterator[InstalledEntry]:
    """Yield the models of the servers that were added."""
    for server in endpoints():
        for model in server.models:
            ref = server.reference(model.name)
            name = remote_name(ref)
            if name in taken:
                name = f"{name} ({server.name})"
            while name in taken:
                name = f"{model.name}, {name}"
            taken.add(name)
            yield InstalledEntry(
                name,
                ref,
                type=KIND_TITLES[server.kind],
                in_place=True,
                source=server.name,
                place=server.address,
                server=server.name,
                recorded=False,
            )


def _others_entry(model: OtherModel, name: str) -> InstalledEntry:
    repo = model.reference.removeprefix(HUGGING_FACE) if model.reference.startswith(HUGGING_FACE) else ""
    head = model.format == "safetensors" and draft_kind(model.location) == "head"
    return InstalledEntry(
        name=name,
        ref=model.reference,
        kind="head" if head else "target",
        type=type_of_model(model.location.name) or model.format,
        size_bytes=model.size_bytes,
        repo="/".join(repo.split("/")[:2]),
        in_place=True,
        source=model.source,
        place=str(model.location),
        recorded=False,
    )


def _entry(model: InstalledModel) -> InstalledEntry:
    record, ref = model.record, str(model.location)
    if record is None:
        head = not model.problem and draft_kind(model.location) == "head"
        return InstalledEntry(
            model.name, ref, "head" if head else "target", recorded=False, problem=model.problem or ""
        )
    return InstalledEntry(
        name=model.name,
        ref=ref,
        kind=record.kind,
        type=record.quantization or record.format,
        size_bytes=record.size_bytes,
        licence=record.licence or "",
        repo=record.repo or "",
        catalogue_name=record.catalogue_name or "",
        in_place=record.location is not None,
        recorded=record.hashed,
        problem=model.problem or "",
        loss=None if record.loss is None else (record.loss.kl, record.loss.tokens, record.loss.text),
        made_from="" if record.loss is None else record.loss.original,
    )


def _removal(name: str) -> RemovalEntry:
    removal = plan_removal(name)
    drafts = tuple((draft, plan_removal(draft).freed_bytes) for draft in removal.drafts)
    return RemovalEntry(removal.name, removal.freed_bytes, removal.kept_location or "", drafts)


def _opened(path: Path) -> str:
    from engine.hub.local_import import adopt

    for model in other_models():
        if model.location == path.expanduser().absolute():
            return model.reference
    return str(adopt(models_folder(), path))


def _importable(paths: tuple[str, ...]) -> ImportEntry:
    from engine.hub.local_import import look_at
    from engine.hub.model_folders import free_bytes

    found = look_at(models_folder(), [Path(path) for path in paths])
    return ImportEntry(paths, found.name, found.format, found.size_bytes, free_bytes(models_folder()))
