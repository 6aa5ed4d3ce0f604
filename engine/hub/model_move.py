"""Moving Tenon's models to another folder: copied, compared, switched to, and only then deleted where they were.

A journal in the data folder says how far the move came, and a list beside it which files were compared, so that an
interrupted move goes on. Until the move is decided the models are where they were, and the copies follow the
changes there; from then on they are in the target, whatever ends the program, and at no moment in neither. Code
that adds, removes or switches holds the lock of the data folder's lists while it renames.
"""

from __future__ import annotations

import errno
import filecmp
import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from engine.errors import FileRefused, InvalidOption, OutOfDisk, TenonError, WeightsCorrupt
from engine.hub.kept_list import held_alone, lists_held, mend_list, read_list
from engine.hub.model_folders import (
    INCOMING,
    ModelFolders,
    check_room,
    data_folder,
    models_folder,
    read_folders,
    usual_models_folder,
    write_folders,
)
from engine.hub.record import sha256_of, write_json
from engine.sentences import mark, say
from engine.weights.watched_file import identity

#: Prefix of a model that is being deleted: it is no model, and is never moved along.
LEAVING = ".leaving-"
_JOURNAL = "models-move.json"
_COPIED = "models-move.copied"
_LOCK = "models-move.lock"
_PART = ".tenon-moving"
# Folder in the target until the copies are decided for: nothing here is taken for a model.
_STAGE = ".moving"
# The clock of a file system ticks at least this often; a change later than that after a look has another time.
_TICK_NS = 50_000_000
_MOST_ROUNDS = 10
_NOT_THERE = mark("{source} is not there: plug its disk in, and move the models then.")

#: Called with bytes done, and in all. May raise to stop; the same move goes on from there.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Move:
    """A move of the models under way."""

    source: Path
    target: Path
    # ``copying`` until it is decided; then the next start finishes it, whatever happens
    step: Literal["copying", "renaming", "copied"] = "copying"


@dataclass(frozen=True)
class _Journal:
    """Content of the journal."""

    source: str = ""
    target: str = ""
    step: Literal["copying", "renaming", "copied"] = "copying"


def unfinished_move() -> Move | None:
    """Return a move that was interrupted, or None."""
    found = read_list(data_folder() / _JOURNAL, _Journal)
    return Move(Path(found.source), Path(found.target), found.step) if found.source and found.target else None


def check_move(target: Path) -> int:
    """Check that the models can be moved to a folder.

    Returns:
        Bytes to move.

    Raises:
        InvalidOption: The folder cannot take them, or models are arriving just now.
        OutOfDisk: There is no room for them.
    """
    source, target = models_folder(), target.expanduser().absolute()
    move = unfinished_move()
    going_on = move is not None and move.target == target
    if move is not None and not going_on:
        raise InvalidOption("A move to {target} is not finished: finish it first.", target=move.target)
    if not source.is_dir() and source != usual_models_folder():
        raise InvalidOption(_NOT_THERE, source=source)
    if target.resolve() == source.resolve():
        raise InvalidOption("The models are in {target} already.", target=target)
    if target.resolve().is_relative_to(source.resolve()) or source.resolve().is_relative_to(target.resolve()):
        raise InvalidOption("One of the two folders is in the other: choose a folder elsewhere.")
    if target.exists() and not target.is_dir():
        raise InvalidOption("{target} is a file: choose a folder.", target=target)
    if not going_on and target.is_dir() and any(target.iterdir()):
        raise InvalidOption("{target} is not empty: choose an empty folder, or make a new one in it.", target=target)
    if source.exists() and not os.access(source, os.W_OK):
        raise InvalidOption("{source} cannot be changed: check who owns it.", source=source)
    _check_nothing_arrives(source)
    files = _files(source)
    total = sum(status.st_size for status in files.values())
    there = next(folder for folder in (target, *target.parents) if folder.is_dir())
    if not os.access(there, os.W_OK):
        raise InvalidOption("{there} cannot be written to: choose another folder.", there=there)
    if not _one_disk(source, there):
        copied = _copied() if going_on else {}
        check_room(there, total - sum(files[path].st_size for path in copied.keys() & files.keys()))
    return total


def move_models(target: Path, progress: Progress = lambda done_bytes, total_bytes: None) -> None:
    """Move the models, with all that changes, comes and goes meanwhile.

    Args:
        target: An empty folder, one that is not there yet, or that of a move that was interrupted.
        progress: Called as bytes are copied and compared.

    Raises:
        InvalidOption: The folder cannot take them, another program moves them, or models are arriving.
        OutOfDisk: There is no room.
        FileRefused: A file cannot be read or written.
        WeightsCorrupt: A copy differs from its original.
    """
    target = target.expanduser().absolute()
    with _moving_alone():
        move = unfinished_move()
        try:
            if move is not None and _is_decided(move) and move.target != target:
                _finish(move)
                move = None
            if move is None or not _is_decided(move):
                check_move(target)
                if move is None:
                    move = Move(models_folder(), target)
                    (data_folder() / _COPIED).unlink(missing_ok=True)
                    _write(move)
                move = _bring(move, progress)
            _finish(move)
        except OSError as error:
            raise _trouble(target, error) from error


def finish_move() -> None:
    """Finish a move that was decided, and set a damaged journal aside, as each start does."""
    mend_list(data_folder() / _JOURNAL, _Journal)
    move = unfinished_move()
    if move is not None and _is_decided(move):
        with suppress(OSError, InvalidOption, FileRefused, WeightsCorrupt):
            move_models(move.target)


def finish_switch() -> None:
    """Do the quick part of `finish_move`: from then on the models are found in their new place."""
    if unfinished_move() is not None:
        with suppress(OSError, InvalidOption), models_held():
            pass


def give_up_move() -> None:
    """Delete the copies of a move that was interrupted before it was decided; the models stay where they are.

    Raises:
        InvalidOption: The move goes on just now, in another window or command.
        OSError: The copies cannot be deleted.
    """
    with _moving_alone():
        move = unfinished_move()
        if move is None or _is_decided(move):
            return
        shutil.rmtree(move.target / _STAGE, ignore_errors=True)
        _delete_empty(move.target)
        (data_folder() / _JOURNAL).unlink()


@contextmanager
def models_held(models: Path | None = None) -> Iterator[Path]:
    """Hold the models' folder, so that nothing else adds, removes or moves models. Only rename and write notes here.

    Args:
        models: Folder that was looked up before; None for the present one.

    Raises:
        InvalidOption: The models were moved since, or another process does not let go of them.
        OSError: The data folder cannot be written to.
    """
    with lists_held(data_folder()):
        move = unfinished_move()
        if move is not None and _is_decided(move):
            _switch(move)  # or what is changed here would be undone by the next start
        now = models_folder()
        if models not in (None, now) and str(models) in read_folders().former:
            raise InvalidOption("The models were moved to {folder} meanwhile: try again.", folder=now)
        yield models or now


@contextmanager
def arriving(models: Path, name: str, refusal: TenonError) -> Iterator[None]:
    """Hold off the switch to another folder while a model comes; raise ``refusal`` if it is coming already.

    Raises what `models_held` raises.
    """
    with ExitStack() as held:
        with models_held(models):
            (models / INCOMING).mkdir(parents=True, exist_ok=True)
            held.enter_context(held_alone(models / INCOMING / f"{name}.lock", refusal))
        yield


@contextmanager
def _moving_alone() -> Iterator[None]:
    data_folder().mkdir(parents=True, exist_ok=True)
    with held_alone(data_folder() / _LOCK, InvalidOption("The models are being moved already: wait for that.")):
        yield


def _check_nothing_arrives(folder: Path) -> None:
    busy = InvalidOption("A model is being downloaded or imported: wait for it or stop it, and move the models then.")
    for lock in (folder / INCOMING).glob("*.lock"):
        with held_alone(lock, busy):
            pass


def _trouble(target: Path, error: OSError) -> FileRefused:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    kind = OutOfDisk if full else FileRefused
    reason = say("the disk is full") if full else error.strerror
    if models_folder() == target:
        return kind(
            "The models are in {target} now, but what is left of them in {path} cannot be deleted ({reason}): the "
            "next start tries again.",
            target=target,
            path=error.filename,
            reason=reason,
            details=repr(error),
        )
    return kind(
        "The models could not be moved to {target} ({reason}): they are still in {source}. Solve this "
        "and move them again, which continues the move, or keep them there.",
        target=target,
        reason=reason,
        source=models_folder(),
        details=repr(error),
    )


def _write(move: Move) -> None:
    write_json(data_folder() / _JOURNAL, asdict(_Journal(str(move.source), str(move.target), move.step)))


def _is_decided(move: Move) -> bool:
    """Return whether the target is to be in force, so that only renaming and deleting is left."""
    return move.step != "copying" or models_folder() == move.target


def _bring(move: Move, progress: Progress) -> Move:
    """Make compared copies of everything on the target's disk and decide for it; at once if a rename suffices."""
    move.target.parent.mkdir(parents=True, exist_ok=True)
    if _one_disk(move.source, move.target.parent) and not _has_files(move.target):
        with lists_held(data_folder()):
            _check_nothing_arrives(move.source)
            renaming = _decide(move, "renaming")
            try:
                _switch(renaming)
                return renaming
            except OSError as error:
                if models_folder() == move.target:
                    raise
                with suppress(OSError):  # else the next start finishes it
                    if not move.source.exists():
                        os.rename(move.target, move.source)
                    _write(move)
                if error.errno != errno.EXDEV:  # two views of one disk, which only copying connects
                    raise
    (move.target / _STAGE).mkdir(parents=True, exist_ok=True)
    for _ in range(_MOST_ROUNDS):
        _copy_all(move, progress)
        with lists_held(data_folder()):
            _check_nothing_arrives(move.source)
            if _is_all_copied(move):
                _delete_empty(move.target / _STAGE)
                return _decide(move, "copied")
    raise InvalidOption("The models changed again and again while they were copied: move them again.")


def _finish(move: Move) -> None:
    """Do the rest of a move that is decided."""
    with lists_held(data_folder()):
        _switch(move)
    _delete(move)
    for name in (_JOURNAL, _COPIED):
        (data_folder() / name).unlink(missing_ok=True)


def _decide(move: Move, step: Literal["renaming", "copied"]) -> Move:
    decided = replace(move, step=step)
    _sync()
    _write(decided)
    _sync()  # nothing is renamed or deleted before a power cut would leave this decision
    return decided


def _copy_all(move: Move, progress: Progress) -> None:
    """Bring the copies up to date with the source, and note which were compared."""
    files, copied, stage = _files(move.source), _copied(), move.target / _STAGE
    if copied and not (move.source.is_dir() and any(move.source.iterdir())):
        raise InvalidOption(_NOT_THERE, source=move.source)
    for path in _files(stage).keys() - files.keys():
        (stage / path).unlink()
    total = 2 * sum(status.st_size for status in files.values())  # read, and read again where they are now
    done = 0
    for path, status in files.items():
        if copied.get(path) != (identity(status), _identity(stage / path)):
            with suppress(FileNotFoundError):  # removed meanwhile, as the next look finds
                _copy(move, path, stage, lambda more, done=done: progress(done + more, total))  # type: ignore[misc]
        done += 2 * status.st_size
    progress(done, total)


def _copy(move: Move, path: Path, into: Path, progress: Callable[[int], None] = lambda done_bytes: None) -> None:
    """Copy a file and compare the copy on the disk; only an equal one gets its name, and a note."""
    source, place = move.source / path, into / path
    before = source.lstat()
    if abs(time.time_ns() - max(before.st_ctime_ns, before.st_mtime_ns)) < _TICK_NS:
        time.sleep(_TICK_NS / 1e9)  # or a change in this moment would leave the times as they are
        before = source.lstat()
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(place.name + _PART)
    if source.is_symlink():
        part.unlink(missing_ok=True)
        part.symlink_to(_leads_to(move.source, source), source.is_dir())
    else:
        digest = sha256_of(source, progress, part)
        if sha256_of(part, lambda read: progress(before.st_size + read)) != digest:
            part.unlink()
            raise WeightsCorrupt(
                "The copy of {name} is not the same: check the disk of {folder}.",
                name=source.name,
                folder=place,
            )
        with suppress(OSError):  # some disks know no rights
            shutil.copystat(source, part)
    os.replace(part, place)
    with (data_folder() / _COPIED).open("a", encoding="ascii") as notes:
        notes.write(json.dumps([str(path), identity(before), _identity(place)]) + "\n")


def _leads_to(folder: Path, link: Path) -> str:
    """Return the text of a link that leads to the same place from another folder."""
    place = Path(os.path.normpath(link.parent / os.readlink(link)))
    return os.path.relpath(place, link.parent) if place.is_relative_to(folder) else str(place)


def _copied() -> dict[Path, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the identities of each file and its copy as they were compared, by the file's path in the folder."""
    found = {}
    with suppress(OSError):
        for line in (data_folder() / _COPIED).read_text(encoding="ascii", errors="replace").splitlines():
            with suppress(ValueError, TypeError):  # cut off by a kill
                path, source, copy = json.loads(line)
                found[Path(path)] = (tuple(source), tuple(copy))
    return found


def _is_all_copied(move: Move) -> bool:
    """Return whether the copies are all that is at the source now; raise if one of their places is taken."""
    files, copied, stage = _files(move.source), _copied(), move.target / _STAGE
    for place in stage.iterdir():
        if (move.target / place.name).exists():
            raise InvalidOption("{path} stands in the way: move it elsewhere.", path=move.target / place.name)
    return _files(stage).keys() == files.keys() and all(
        copied.get(path) == (identity(status), _identity(stage / path)) for path, status in files.items()
    )


def _switch(move: Move) -> None:
    """Put everything in its place and the target in force, under the lists' lock; goes on after an interruption."""
    stage = move.target / _STAGE
    if move.step == "renaming" and move.source.is_dir() and not _has_files(move.target):
        _delete_empty(move.target)
        os.rename(move.source, move.target)
    elif stage.is_dir():
        for place in stage.iterdir():
            os.replace(place, move.target / place.name)
        stage.rmdir()
    move.target.mkdir(parents=True, exist_ok=True)

    def switched(folders: ModelFolders) -> ModelFolders:
        former = dict.fromkeys((*folders.former, str(move.source)))
        former.pop(str(move.target), None)
        own = "" if move.target == usual_models_folder() else str(move.target)
        return replace(folders, own=own, former=tuple(former))

    write_folders(switched)


def _delete(move: Move) -> None:
    """Delete files that were compared and did not change since; first move along those that came or changed.

    A file that differs at both places stays at both.
    """
    copied = _copied()
    for path, status in _files(move.source).items():
        source_then, copy_then = copied.get(path, ((), ()))
        here, there = move.source / path, move.target / path
        if identity(status) != source_then:
            if _identity(there) == copy_then:
                _copy(move, path, move.target)
            elif not (here.is_file() and there.is_file() and filecmp.cmp(here, there, shallow=False)):
                continue
        here.unlink()
    for left in (*move.source.glob(f"{LEAVING}*"), *move.source.glob(f"{INCOMING}/*.lock")):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    _delete_empty(move.source)


def _delete_empty(folder: Path) -> None:
    for place in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
        with suppress(OSError):
            place.rmdir()
    with suppress(OSError):
        folder.rmdir()


def _files(folder: Path) -> dict[Path, os.stat_result]:
    """Return every file and link by its path in the folder, without locks of arriving and leaving models."""
    found = {}
    for place, folders, names in os.walk(folder, onerror=_unless_gone):
        inside = Path(place).relative_to(folder)
        folders[:] = sorted(name for name in folders if inside.parts or not name.startswith(LEAVING))
        for path in (inside / name for name in sorted((*names, *folders))):
            with suppress(FileNotFoundError):
                status = (folder / path).lstat()
                is_lock = path.suffix == ".lock" and path.parent == Path(INCOMING)
                if stat.S_ISLNK(status.st_mode) or (stat.S_ISREG(status.st_mode) and not is_lock):
                    found[path] = status
    return found


def _unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _has_files(folder: Path) -> bool:
    return bool(_files(folder))


def _identity(path: Path) -> tuple[int, ...]:
    """Return what tells a file from others, or nothing if there is no file."""
    try:
        return identity(path.lstat())
    except FileNotFoundError:
        return ()


def _sync() -> None:
    if hasattr(os, "sync"):
        os.sync()


def _one_disk(source: Path, there: Path) -> bool:
    return source.is_dir() and source.stat().st_dev == there.stat().st_dev
