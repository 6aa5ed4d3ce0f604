from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.settings.settings_file import SettingsFile
from app.storage.files import write_export
from engine.files import write_cached
from engine.planning.profile import Profile, keep_profile
from engine.weights.packed_file import write_packed_file

WRITERS: dict[str, Callable[[Path], Any]] = {
    "settings.json": lambda path: SettingsFile(path.parent).write("{}"),
    "tenon.changes": lambda path: write_cached(path, [1, 2]),
    ".chats.md": lambda path: write_export(path.with_name(path.name[1:]), "# Chats"),
    "profile.json": lambda path: keep_profile(path, Profile()),
    "a[1]-tenon-q8_0.packed": lambda path: write_packed_file(path, "0" * 64, "q8_0", iter(())),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_a_killed_process_has_left_of_a_file_goes_with_the_next_write(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    for end in ("part", "part-journal"):
        tmp_path.joinpath(f"{name}.{killed.pid}.{end}").write_text("half a")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as writing:
        part = tmp_path / f"{name}.{writing.pid}.part"
        part.write_text("of a process that is writing now")
        WRITERS[name](path)
        writing.communicate(b"\n")
    assert set(tmp_path.iterdir()) == {path.with_name(name.removeprefix(".")), part}


@pytest.mark.parametrize("name", ["settings.json", ".chats.md", "a[1]-tenon-q8_0.packed"])
def test_what_is_not_made_again_in_a_moment_is_on_the_disk_before_it_has_its_name(
    name: str, tmp_path: Path, unsynced: list[str]
) -> None:
    WRITERS[name](tmp_path / name)
    assert len(list(tmp_path.iterdir())) == 1
    assert unsynced == []
