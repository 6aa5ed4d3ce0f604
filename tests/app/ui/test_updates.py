"""Notices of newer versions."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox

from app.bridge.update_check import ProgramWatch, Release, UpdateCheck
from app.ui import updates as module
from app.ui.main_window import MainWindow
from app.ui.updates import Updates
from app.version import HOMEPAGE, version
from tests.support.scripted_workspace import ScriptedWorkspace


@pytest.fixture
def updates(window: MainWindow, workspace: ScriptedWorkspace, tmp_path: Path) -> Updates:
    check = UpdateCheck(workspace.settings, window, stamp=tmp_path / "stamp")
    return Updates(check, ProgramWatch(None, window), window)


@pytest.mark.parametrize("by_system", [False, True])
def test_a_newer_version_says_what_is_new_and_who_installs_it(
    window: MainWindow, updates: Updates, by_system: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "installed_by_dpkg", lambda: by_system)
    updates._check.found.emit(Release("9.0", "Reads <b>aloud</b>."))
    assert window.toast.text == f"Tenon 9.0 is available; this is {version()}."
    assert not window.toast.fades
    window.toast.action_button.click()
    box = window.findChild(QMessageBox)
    assert box.informativeText().startswith("Reads <b>aloud</b>.\n\n")
    assert ("apt install tenon" in box.informativeText()) is by_system
    assert (HOMEPAGE in box.informativeText()) is not by_system
    assert [button.text() for button in box.buttons()] == (["Close"] if by_system else ["Open page", "Close"])
    box.close()


def test_a_replaced_program_offers_a_restart(window: MainWindow, updates: Updates) -> None:
    updates._watch.replaced.emit()
    assert window.toast.text == "Tenon was updated while it was open. Restart it to use the new version."
    assert not updates.restart_wanted
    window.toast.action_button.click()
    assert updates.restart_wanted
    assert not window.isVisible()
