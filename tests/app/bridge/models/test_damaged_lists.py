"""Lists that were damaged are said in the window, and what can be read of them stays in use."""

from __future__ import annotations

from pathlib import Path

from engine.hub.model_folders import add_folder, data_folder, read_folders
from tests.app.bridge.conftest import Desk


def test_the_window_says_which_list_was_damaged(desk: Desk, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        add_folder(tmp_path / name)
    path = data_folder() / "model-folders.json"
    path.write_bytes(path.read_bytes()[:-10])
    workspace = desk.open(start=False)
    said: list[str] = []
    workspace.notice.connect(said.append)
    workspace.start()
    desk.wait(lambda: len(said) == 1)
    assert "model-folders.json was damaged" in said[0]
    # The sentence comes before the mended list is written, which would overwrite what a test writes earlier.
    desk.wait(lambda: path.read_bytes().rstrip().endswith(b"}"))
    assert read_folders().added[0] == str(tmp_path / "one")
    path.write_bytes(b"{")  # while the window is open
    workspace.model_store.folders.add(str(tmp_path / "two"))
    desk.wait(lambda: read_folders().added == (str(tmp_path / "two"),))  # written after the sentence was said
    desk.wait(lambda: len(said) == 2)
