"""The models' folder is moved whole, or stays where it was, whenever it is interrupted."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.errors import Cancelled, FileRefused, InvalidOption, OutOfDisk, WeightsCorrupt
from engine.hub import model_folders, model_move
from engine.hub.installed import find_model, installed_models, remove
from engine.hub.local_import import adopt, import_model
from engine.hub.model_folders import current_reference, models_folder, read_folders, usual_models_folder
from engine.hub.model_move import check_move, finish_move, give_up_move, move_models, unfinished_move
from tests.support.gguf_files import write_small_gguf


@pytest.fixture
def content(tmp_path: Path) -> dict[str, bytes]:
    """Two models, one of them used in place, and half a download."""
    for name in ("one", "two"):
        write_small_gguf(tmp_path / f"{name}.gguf", values=4_096)
    import_model(models_folder(), [tmp_path / "one.gguf"], copy=True, reserve_bytes=0)
    adopt(models_folder(), tmp_path / "two.gguf")
    half = models_folder() / ".incoming" / "three" / "model" / "three.gguf.part"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"half of it")
    return files_of(models_folder())


@pytest.fixture
def two_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_move, "_one_disk", lambda source, there: False)


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


def assert_moved(content: dict[str, bytes], before: Path, target: Path) -> None:
    assert models_folder() == target
    assert files_of(target) == content
    assert not files_of(before)
    assert [model.name for model in installed_models()] == ["one", "two"]
    assert find_model(str(before / "one")) == (target / "one").resolve()
    assert unfinished_move() is None


@pytest.mark.parametrize("disks", [1, 2])
def test_there_and_back(disks: int, content: dict[str, bytes], tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if disks == 2:
        request.getfixturevalue("two_disks")
    usual, target = models_folder(), tmp_path / "large disk" / "models"
    shares: list[float] = []
    assert check_move(target) == sum(map(len, content.values()))
    move_models(target, lambda done, total: shares.append(done / total))
    assert_moved(content, usual, target)
    assert shares == sorted(shares)
    assert disks == 1 or shares[-1] == 1.0
    old = str(target / "one")
    move_models(usual_models_folder())
    assert_moved(content, target, usual)
    assert read_folders().own == ""
    assert current_reference(old) == str(usual / "one")


class Killed(BaseException):
    """An error that no handler catches, as a kill is not caught."""


STEPS = ("write_json", "_copy", "_switch", "write_folders", "_delete", "os.rename", "os.fsync", "os.replace")


@pytest.mark.parametrize("disks", [1, 2])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_loses_nothing_and_the_move_goes_on(
    step: str,
    after: bool,
    disks: int,
    content: dict[str, bytes],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    if disks == 2:
        request.getfixturevalue("two_disks")
    usual, target = models_folder(), tmp_path / "target"
    owner = os if step.startswith("os.") else model_move
    name = step.removeprefix("os.")
    real: Callable[..., object] = getattr(owner, name)
    calls = 0

    def killed(*arguments: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        if calls > 1 and step in ("_copy", "os.replace"):
            raise Killed  # some were done
        if after or step in ("_copy", "os.replace"):
            result = real(*arguments, **named)
            if step in ("_copy", "os.replace"):
                return result
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, killed)
        with contextlib.suppress(Killed):
            move_models(target)
    assert content in (files_of(usual), files_of(target))
    finish_move()  # as every start does
    assert files_of(models_folder()) == content
    if models_folder() == usual:
        move_models(target)
    assert_moved(content, usual, target)


def test_it_is_stopped_goes_on_or_is_given_up(content: dict[str, bytes], tmp_path: Path, two_disks: None) -> None:
    usual, target = models_folder(), tmp_path / "target"

    def stop(done: int, total: int) -> None:
        if done > total // 2:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        move_models(target, stop)
    assert files_of(usual) == content
    assert unfinished_move() is not None
    with pytest.raises(InvalidOption, match="not finished"):
        check_move(tmp_path / "elsewhere")
    give_up_move()
    assert not target.exists()
    assert unfinished_move() is None
    assert files_of(usual) == content


def test_a_copy_that_is_not_the_same_and_a_full_disk_change_nothing(
    content: dict[str, bytes], tmp_path: Path, two_disks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, target = models_folder(), tmp_path / "target"
    real = os.fsync

    def spoil(descriptor: int) -> None:
        real(descriptor)
        for part in target.rglob("*.tenon-moving"):
            part.write_bytes(b"?" + part.read_bytes()[1:])

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", spoil)
        with pytest.raises(WeightsCorrupt, match="not the same"):
            move_models(target)
    assert files_of(usual) == content
    assert models_folder() == usual
    give_up_move()
    monkeypatch.setattr(model_folders, "free_bytes", lambda folder: 1 << 10)
    with pytest.raises(OutOfDisk):
        check_move(target)


def test_folders_that_cannot_take_them_are_refused(content: dict[str, bytes], tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "letter.txt").write_text("mine")
    for folder, words in (
        (full, "not empty"),
        (full / "letter.txt", "is a file"),
        (models_folder(), "already"),
        (models_folder() / "inside", "in the other"),
        (models_folder().parent, "in the other"),
    ):
        with pytest.raises(InvalidOption, match=words):
            check_move(folder)
    assert (full / "letter.txt").read_text() == "mine"


def halfway(done: int, total: int) -> None:
    if done > total // 2:
        raise Cancelled("Stopped.")


def newer(path: Path, like: os.stat_result) -> bytes:
    """Put another version of a file in its place: of the same size, and of the same time."""
    content = path.read_bytes()[:-4] + b"newr"
    path.unlink()
    path.write_bytes(content)
    os.utime(path, ns=(like.st_atime_ns, like.st_mtime_ns))
    return content


def test_what_changes_comes_and_goes_meanwhile_is_followed(
    content: dict[str, bytes], tmp_path: Path, two_disks: None
) -> None:
    usual, target = models_folder(), tmp_path / "target"
    write_small_gguf(tmp_path / "four.gguf")

    def change_all(done: int, total: int) -> None:
        if done == total and models_folder() == usual and (usual / "two").exists():
            newer(usual / "one" / "one.gguf", (usual / "one" / "one.gguf").stat())
            remove("two")
            import_model(usual, [tmp_path / "four.gguf"], copy=True, reserve_bytes=0)

    with pytest.raises(Cancelled):
        move_models(target, halfway)
    move_models(target, change_all)
    assert (target / "one" / "one.gguf").read_bytes().endswith(b"newr")
    assert [model.name for model in installed_models()] == ["four", "one"]
    assert not usual.exists()
    assert not list(target.glob("**/.moving"))


def test_what_was_changed_or_removed_between_two_runs_is_followed(
    content: dict[str, bytes], tmp_path: Path, two_disks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, target = models_folder(), tmp_path / "target"
    with monkeypatch.context() as patch:
        patch.setattr(model_move, "_is_all_copied", lambda move: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            move_models(target)
    assert not list(target.glob("[!.]*"))  # nothing of it is a model before all is there
    changed = newer(usual / "one" / "one.gguf", (usual / "one" / "one.gguf").stat())
    remove("two")
    move_models(target)
    assert (target / "one" / "one.gguf").read_bytes() == changed
    assert [model.name for model in installed_models()] == ["one"]


def test_after_the_switch_only_what_was_compared_is_deleted(
    content: dict[str, bytes], tmp_path: Path, two_disks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, target = models_folder(), tmp_path / "target"
    write_small_gguf(tmp_path / "four.gguf", values=4_096)
    import_model(usual, [tmp_path / "four.gguf"], copy=True, reserve_bytes=0)
    with monkeypatch.context() as patch:
        patch.setattr(model_move, "_delete", lambda move: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            move_models(target)
    assert models_folder() == target
    remove("two")
    came = usual / "five" / "five.gguf"
    came.parent.mkdir()
    came.write_bytes(b"by another program")
    changed = newer(usual / "one" / "one.gguf", (usual / "one" / "one.gguf").stat())
    both = newer(usual / "four" / "four.gguf", (usual / "four" / "four.gguf").stat())
    (target / "four" / "four.gguf").write_bytes(b"here too")
    finish_move()
    assert (target / "one" / "one.gguf").read_bytes() == changed
    assert (target / "five" / "five.gguf").read_bytes() == b"by another program"
    assert not (target / "two").exists()
    assert (target / "four" / "four.gguf").read_bytes() == b"here too"
    assert files_of(usual) == {os.path.join("four", "four.gguf"): both}


def test_a_disk_that_was_unplugged_is_no_removal(content: dict[str, bytes], tmp_path: Path, two_disks: None) -> None:
    usual, target = models_folder(), tmp_path / "target"
    with pytest.raises(Cancelled):
        move_models(target, halfway)
    for empty in (False, True):
        usual.rename(tmp_path / "unplugged")
        if empty:  # the folder that it is mounted on
            usual.mkdir()
        with pytest.raises(InvalidOption, match="plug its disk in"):
            move_models(target)
        if empty:
            usual.rmdir()
        (tmp_path / "unplugged").rename(usual)
    move_models(target)
    assert_moved(content, usual, target)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_links_lead_where_they_led(content: dict[str, bytes], tmp_path: Path, two_disks: None) -> None:
    usual, target = models_folder(), tmp_path / "target"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.gguf").write_bytes(b"elsewhere")
    (usual / "outside").symlink_to(os.path.relpath(tmp_path / "elsewhere", usual), True)
    (usual / "inside").symlink_to(usual / "one", True)
    move_models(target)
    assert (target / "outside" / "x.gguf").read_bytes() == b"elsewhere"
    assert (target / "inside").resolve() == (target / "one").resolve()
    assert (tmp_path / "elsewhere" / "x.gguf").is_file()
    assert not usual.exists()


@pytest.mark.parametrize("disks", [1, 2])
def test_models_that_arrive_hold_off_the_switch(
    disks: int, content: dict[str, bytes], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if disks == 2:
        request.getfixturevalue("two_disks")
    usual, target = models_folder(), tmp_path / "target"
    write_small_gguf(tmp_path / "four.gguf")

    def move(done: int, total: int) -> None:
        with pytest.raises(InvalidOption, match="downloaded or imported"):
            move_models(target)

    import_model(usual, [tmp_path / "four.gguf"], copy=True, reserve_bytes=0, progress=move)
    move_models(target)
    assert [model.name for model in installed_models()] == ["four", "one", "two"]
    with pytest.raises(InvalidOption, match="were moved to"):
        import_model(usual, [tmp_path / "four.gguf"], name="five", copy=True, reserve_bytes=0)
    assert not usual.exists()


def test_a_move_that_runs_is_not_given_up_by_another_window(
    content: dict[str, bytes], tmp_path: Path, two_disks: None
) -> None:
    def give_up(done: int, total: int) -> None:
        with ThreadPoolExecutor() as pool, pytest.raises(InvalidOption, match="being moved already"):
            pool.submit(give_up_move).result()

    usual, target = models_folder(), tmp_path / "target"
    move_models(target, give_up)
    assert_moved(content, usual, target)


def test_a_list_that_cannot_be_written_leaves_the_models_where_they_were(
    content: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, target = models_folder(), tmp_path / "target"
    with monkeypatch.context() as patch:
        patch.setattr(model_move, "write_folders", lambda change: os.write(-1, b""))
        with pytest.raises(FileRefused, match=f"still in {re.escape(str(usual))}"):
            move_models(target)
    assert files_of(usual) == content
    move_models(target)
    assert_moved(content, usual, target)


def test_two_views_of_one_disk_are_copied_between(
    content: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def apart(source: Path, target: Path) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    usual, target = models_folder(), tmp_path / "target"
    monkeypatch.setattr(os, "rename", apart)
    move_models(target)
    assert_moved(content, usual, target)


@pytest.mark.parametrize("disks", [1, 2])
def test_another_move_finishes_the_one_before_first(
    disks: int,
    content: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    if disks == 2:
        request.getfixturevalue("two_disks")
    usual = models_folder()
    with monkeypatch.context() as patch:
        patch.setattr(model_move, "_delete", lambda move: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            move_models(tmp_path / "target")
    move_models(tmp_path / "other")
    assert_moved(content, usual, tmp_path / "other")
    assert not (tmp_path / "target").exists()
