"""The program's file, and another version in its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.bridge.update_check import ProgramWatch, installed_by_dpkg, own_program, restart


def test_a_source_checkout_is_nobody_s_package() -> None:
    assert own_program() is None
    assert not installed_by_dpkg()


def test_a_new_file_is_told_once_when_it_stands(tmp_path: Path) -> None:
    program = tmp_path / "tenon"
    program.write_text("one")
    watch, told = ProgramWatch(program), []
    watch.replaced.connect(lambda: told.append(True))
    watch.look()
    program.unlink()  # an update takes the old one away first
    watch.look()
    watch.look()
    assert told == []
    program.write_text("the other")
    watch.look()
    assert told == []  # its package is still being unpacked
    watch.look()
    watch.look()
    assert told == [True]
    program.write_text("one more")
    watch.look()
    watch.look()
    assert told == [True, True]


def test_a_program_that_is_removed_is_no_update(tmp_path: Path) -> None:
    watch, told = ProgramWatch(tmp_path / "gone"), []
    watch.replaced.connect(lambda: told.append(True))
    for _ in range(3):
        watch.look()
    assert told == []


def test_a_restart_is_a_start_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(os, "execv", lambda program, arguments: run.append((program, arguments)))
    monkeypatch.setattr("sys.executable", "/usr/lib/tenon/tenon")
    monkeypatch.setenv("PYINSTALLER_RESET_ENVIRONMENT", "")
    restart()
    assert run == [("/usr/lib/tenon/tenon", ["/usr/lib/tenon/tenon"])]
    assert os.environ["PYINSTALLER_RESET_ENVIRONMENT"] == "1"
