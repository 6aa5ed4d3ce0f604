"""Moving Tenon's models to another folder: copied, verified, switched to, and only then deleted where they were.

A journal in the data folder says how far it came, so that a move that was interrupted goes on: until the switch the
models are where they were, from then on where they are to be, and at no moment in neither.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import InvalidOption, OutOfDisk, WeightsCorrupt
from engine.hub.download.room import check_room
from engine.hub.hashing import sha256_of
from engine.hub.lock import held_alone
from engine.hub.model_folders import (
    data_folder,
    models_folder,
    read_folders,
    usual_models_folder,
    write_folders,
)
from engine.hub.record import write_json
from engine.json_text import read_json
from engine.sentences import say

_JOURNAL = "models-move.json"
_LOCK = "models-move.lock"
_PART = ".tenon-moving"

#: Bytes done, and in all. May raise to stop; the same move goes on from there.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Move:
    """A move of the models under way."""

    source: Path
    target: Path


def unfinished_move() -> Move | None:
    """A move that was interrupted; None where there is none."""
    try:
        found = read_json((data_folder() / _JOURNAL).read_text(encoding="utf-8"))
        return Move(Path(found["source"]), Path(found["target"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check_move(target: Path) -> int:
    """Check that the models can be moved to a folder.

    Returns:
        Bytes to move.

    Raises:
        InvalidOption: the folder cannot take them.
        OutOfDisk: there is no room for them.
    """
    source, target = models_folder(), target.expanduser().absolute()
    move = unfinished_move()
    going_on = move is not None and move.target == target
    if move is not None and not going_on:
        raise InvalidOption("A move to {target} is not finished: finish it first.", target=move.target)
    if target.resolve() == source.resolve():
        raise InvalidOption("The models are in {target} already.", target=target)
    if target.resolve().is_relative_to(source.resolve()) or source.resolve().is_relative_to(target.resolve()):
        raise InvalidOption("One of the two folders is in the other: choose a folder elsewhere.")
    if target.exists() and not target.is_dir():
        raise InvalidOption("{target} is a file: choose a folder.", target=target)
    if not going_on and target.is_dir() and any(target.iterdir()):
        raise InvalidOption(
            "{target} is not empty: choose an empty folder, or make a new one in it.", target=target
        )
    if source.exists() and not os.access(source, os.W_OK):
        raise InvalidOption("{source} cannot be changed: check who owns it.", source=source)
    total = sum(size for _, size in _files(source).values())
    there = next(folder for folder in (target, *target.parents) if folder.is_dir())
    if not os.access(there, os.W_OK):
        raise InvalidOption("{there} cannot be written to: choose another folder.", there=there)
    if not _one_disk(source, there):
        done = sum(size for path, (_, size) in _files(source).items() if _is_copied(target / path, size))
        check_room(there, total - done)
    return total


def move_models(target: Path, progress: Progress = lambda done_bytes, total_bytes: None) -> None:
    """Move them; nothing may be reading, downloading or importing models meanwhile.

    Args:
        target: An empty folder, one that is not there yet, or that of a move that was interrupted.
        progress: Called as bytes are copied and verified.

    Raises:
        InvalidOption: the folder cannot take them, or another program moves them.
        OutOfDisk: there is no room, or a file cannot be read or written; the models stay where they were.
        WeightsCorrupt: a copy is not what was copied.
    """
    target = target.expanduser().absolute()
    data_folder().mkdir(parents=True, exist_ok=True)
    busy = InvalidOption("The models are being moved already: wait for that.")
    with held_alone(data_folder() / _LOCK, busy):
        try:
            move = unfinished_move()
            if move is None or not _is_switched(move):
                check_move(target)
                move = Move(models_folder(), target)
                write_json(data_folder() / _JOURNAL, {"source": str(move.source), "target": str(move.target)})
                _bring(move, progress)
                _switch(move)
            _delete(move.source)
            (data_folder() / _JOURNAL).unlink(missing_ok=True)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            reason = say("the disk is full") if full else error.strerror
            raise OutOfDisk(
                "The models could not be moved to {target} ({reason}): they are still in {source}. Solve this "
                "and move them again, which continues the move, or keep them there.",
                target=target,
                reason=reason,
                source=models_folder(),
                details=repr(error),
            ) from error


def finish_move() -> None:
    """After a kill: switch to a folder that was renamed, and delete what a copied one has left behind."""
    move = unfinished_move()
    if move is not None and (_is_switched(move) or _renamed(move)):
        with suppress(OSError, InvalidOption, OutOfDisk):
            move_models(move.target)


def give_up_move() -> None:
    """Delete the copies of a move that was interrupted before the switch; the models stay where they are."""
    move = unfinished_move()
    if move is None or _is_switched(move) or _renamed(move):
        return
    for path in _files(move.source):
        for copy in (move.target / path, _part(move.target / path)):
            copy.unlink(missing_ok=True)
    _delete_empty(move.target)
    (data_folder() / _JOURNAL).unlink(missing_ok=True)


def _bring(move: Move, progress: Progress) -> None:
    """Have everything at the target: renamed on one disk, else copied and verified."""
    if _renamed(move):
        return
    if not move.source.is_dir():
        move.target.mkdir(parents=True, exist_ok=True)
        return
    move.target.parent.mkdir(parents=True, exist_ok=True)
    if _one_disk(move.source, move.target.parent) and not _files(move.target):
        with suppress(FileNotFoundError):
            move.target.rmdir()
        os.rename(move.source, move.target)
        return
    before = _files(move.source)
    total = 2 * sum(size for _, size in before.values())  # read, and read again where they are now
    done = 0
    for path, (_, size) in before.items():
        place = move.target / path
        if not _is_copied(place, size):
            _copy(move.source / path, place, lambda more, done=done: progress(done + more, total))  # type: ignore[misc]
        done += 2 * size
        progress(done, total)
    if _files(move.source) != before:
        raise InvalidOption("The models changed while they were copied: move them again.")


def _copy(source: Path, place: Path, progress: Callable[[int], None]) -> None:
    """Copy a file and compare what then lies on the disk; it has its name only when that is the same."""
    place.parent.mkdir(parents=True, exist_ok=True)
    part = _part(place)
    digest, size = sha256_of(source, progress, part), source.stat().st_size
    if sha256_of(part, lambda read: progress(size + read)) != digest:
        part.unlink()
        raise WeightsCorrupt(
            "The copy of {name} is not the same: check the disk of {folder}.", name=source.name, folder=place
        )
    shutil.copystat(source, part)
    os.replace(part, place)


def _switch(move: Move) -> None:
    """The target is in force from here on."""
    folders = read_folders()
    own = "" if move.target == usual_models_folder() else str(move.target)
    former = tuple(dict.fromkeys((*folders.former, str(move.source))))
    former = tuple(folder for folder in former if folder != str(move.target))
    write_folders(replace(folders, own=own, former=former))


def _is_switched(move: Move) -> bool:
    """True if the target is in force, so that only the old files are left to delete."""
    return models_folder() == move.target


def _delete(folder: Path) -> None:
    """Delete what was copied; what came meanwhile, and is not at the target, stays."""
    target = models_folder()
    for path, (_, size) in _files(folder).items():
        if _is_copied(target / path, size):
            (folder / path).unlink(missing_ok=True)
    for lock in folder.rglob("*.lock"):
        lock.unlink(missing_ok=True)
    _delete_empty(folder)


def _delete_empty(folder: Path) -> None:
    for place in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
        with suppress(OSError):
            place.rmdir()
    with suppress(OSError):
        folder.rmdir()


def _renamed(move: Move) -> bool:
    """True if the folder itself was renamed already, in one step."""
    return not move.source.exists() and move.target.is_dir()


def _files(folder: Path) -> dict[Path, tuple[int, int]]:
    """Every file with its time and size, by its path in the folder; locks and half-made files are left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".lock" and not path.name.endswith(_PART):
            stat = path.stat()
            found[path.relative_to(folder)] = (stat.st_mtime_ns, stat.st_size)
    return found


def _is_copied(place: Path, size: int) -> bool:
    """True if a file of this size is at its place; it gets its name only when it was verified."""
    return place.is_file() and place.stat().st_size == size


def _part(place: Path) -> Path:
    return place.with_name(place.name + _PART)


def _one_disk(source: Path, there: Path) -> bool:
    return source.is_dir() and source.stat().st_dev == there.stat().st_dev
