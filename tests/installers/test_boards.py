"""A board's system in a folder: who is refused it, and, with ``-m slow``, a Debian for arm64 made and removed."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from installers.boards import root

FLAGS = "enabled\ninterpreter /usr/bin/qemu-aarch64-static\nflags: {}\noffset 0\n"


@pytest.fixture
def able(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PC with all that it takes; the folder of its binfmt_misc."""
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    monkeypatch.setattr(shutil, "which", lambda tool: tool)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(root, "BINFMT", tmp_path / "binfmt")
    monkeypatch.setattr(root, "QEMU", tmp_path / "none.conf")
    root.BINFMT.mkdir()
    return root.BINFMT / "qemu-aarch64"


def test_a_machine_that_can_have_no_board_says_what_it_lacks(able: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "qemu-user-static" in (root.trouble() or "")
    able.write_text(FLAGS.format("OC"))  # an emulator that is looked for inside, where it is not
    assert "binfmt_misc" in (root.trouble() or "")
    able.write_text(FLAGS.format("OCF"))
    assert root.trouble() is None
    able.unlink()
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")  # a board itself, or a server with its processor
    assert root.trouble() is None
    monkeypatch.setattr(shutil, "which", lambda tool: None if tool == "debootstrap" else tool)
    assert root.trouble() == "This needs debootstrap, which your system's packages have."
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "sudo" in (root.trouble() or "")


def test_sources_that_git_does_not_know_are_refused(
    able: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    able.write_text(FLAGS.format("F"))
    monkeypatch.setattr(root, "ROOT", tmp_path)
    assert "clone the repository" in (root.trouble() or "")


def test_a_system_is_removed_where_none_can_be_made(able: Path, tmp_path: Path) -> None:
    folder = tmp_path / "board"
    (folder / "home" / root.PERSON).mkdir(parents=True)
    assert root.trouble() is not None
    assert root.main([str(folder), "--remove"]) == 0
    assert not folder.exists()


def test_a_system_that_is_not_made_leaves_nothing_and_takes_nothing(
    able: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    able.write_text(FLAGS.format("F"))
    mine = tmp_path / "board.unfinished"
    mine.mkdir()
    run = subprocess.run

    def offline(command: list[str], **more: Any) -> Any:
        if command[0] != "debootstrap":
            return run(command, **more)
        Path(command[command.index("bookworm") + 1], "debootstrap").mkdir(parents=True)
        raise subprocess.CalledProcessError(1, command)

    monkeypatch.setattr(subprocess, "run", offline)
    before = set(tmp_path.iterdir())
    assert root.main([str(tmp_path / "board"), "--", "true"]) == 1
    assert "debootstrap says above why" in capsys.readouterr().err
    assert set(tmp_path.iterdir()) == before
    assert root.main([str(tmp_path / "binfmt/qemu-aarch64/board"), "--", "true"]) == 1
    assert "cannot be made: " in capsys.readouterr().err


def test_the_kernel_is_asked_for_emulation_where_nobody_had(able: Path) -> None:
    (root.BINFMT / "register").touch()
    root.QEMU.write_text(":qemu-aarch64:M::...:POF\n")
    assert not root.emulated()  # it was asked, and this stand-in of a kernel does nothing
    assert (root.BINFMT / "register").read_text() == ":qemu-aarch64:M::...:POF"


def test_an_emulated_processor_is_a_board_s_unless_another_is_named() -> None:
    assert f"QEMU_CPU={root.QEMU_CPU}" in root.inside_system(Path("/x"), 1, {}, "true")
    command = root.inside_system(Path("/x"), 1, {"QEMU_CPU": "max"}, "true")
    assert [part for part in command if part.startswith("QEMU_CPU")] == ["QEMU_CPU=max"]


@pytest.mark.parametrize("rest", [["--remove"], ["--", "true"]])
@pytest.mark.parametrize("mine", ["mine", "etc/debian_version"])  # a board's own card in a reader, or this PC's system
def test_a_folder_with_other_things_is_left_alone(
    mine: str, rest: list[str], able: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    able.write_text(FLAGS.format("F"))
    folder = tmp_path / "folder"
    (folder / mine).parent.mkdir(parents=True)
    (folder / mine).write_text("")
    assert root.main([str(folder), *rest]) == 2
    assert "name another" in capsys.readouterr().err
    assert (folder / mine).exists()


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("system", root.SYSTEMS)
def test_a_board_in_a_folder(system: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = root.trouble()
    if said is not None:
        pytest.skip(said)
    folder, more = tmp_path / "board", ["--system", system, "--"]
    script = "uname -m; id -u; pwd; test -w . && test -f Makefile && python3 installers/environment.py --check"
    assert root.main([str(folder), *more, "sh", "-c", script]) == 0
    assert capfd.readouterr().out.splitlines()[-3:] == ["aarch64", "1000", "/home/person/tenon"]
    assert root.main([str(folder), *more, "sh", "-c", "exit 3"]) == 3
    assert root.main([str(folder), "--remove"]) == 0
    assert not folder.exists()
