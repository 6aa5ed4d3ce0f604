"""The whole window on a real workspace, with the scripted engine: whatever breaks, the window stays usable."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.bridge import journal
from app.chat.conversation import MessageState
from app.chat.engine_state import EnginePhase
from app.ui.trouble.dialogs import DetailsDialog, ShortageBar
from tests.support.desktop import Desktop

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")


@pytest.fixture
def desktop(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desktop]:
    monkeypatch.setattr(journal, "_RETRY_MS", 20)
    desktop = Desktop(qtbot, tmp_path)
    yield desktop
    desktop.window.close()


@needs_signals
def test_the_engine_dies_in_mid_reply(desktop: Desktop) -> None:
    desktop.send("slow 500")
    desktop.wait(MessageState.STREAMING)
    assert desktop.client.process_id is not None
    os.kill(desktop.client.process_id, signal.SIGKILL)
    reply = desktop.wait(MessageState.INTERRUPTED)
    assert reply.text.startswith("w0 ")
    notice = desktop.notice()
    assert notice.words[0] == "The engine stopped"
    assert "Your chats are safe" in notice.words[1]
    assert not desktop.window.toast.isVisible()
    notice.remedy_button.click()
    desktop.wait(MessageState.STREAMING)
    assert (
        desktop.workspace.settings.of_model("smollm2").context == 2048
    )  # killed by a signal: memory ran out, most likely
    desktop.window.page.stop()
    desktop.wait(MessageState.STOPPED)
    desktop.still_works()


def test_memory_runs_out_and_a_smaller_context_helps(desktop: Desktop) -> None:
    desktop.send("short")
    desktop.wait(MessageState.FAILED)
    notice = desktop.notice()
    notice.details_button.click()
    dialog = desktop.window.findChild(DetailsDialog)
    bar = dialog.findChild(ShortageBar)
    assert "missing 0.5 GB" in bar.accessibleName()
    assert not bar.grab().isNull()
    dialog.close()
    notice.remedy_button.click()
    assert desktop.wait(MessageState.COMPLETE).text == "w0 w1 w2 "
    assert desktop.workspace.settings.of_model("smollm2").context == 2048
    desktop.still_works()


def test_a_failed_reply_is_told_after_a_restart_as_it_was(qtbot: QtBot, tmp_path: Path) -> None:
    before = Desktop(qtbot, tmp_path)
    before.send("short")
    before.wait(MessageState.FAILED)
    told, remedy = before.notice().words, before.notice().remedy_button.text()
    before.window.close()

    again = Desktop(qtbot, tmp_path)
    notice = again.notice()
    assert notice.words == told
    assert notice.words[0] == "There is not enough memory"
    assert notice.remedy_button.text() == remedy
    assert remedy.strip() == "Reload with a smaller context"
    notice.details_button.click()
    dialog = again.window.findChild(DetailsDialog)
    assert "no room" in dialog.text.toPlainText()
    assert dialog.findChild(ShortageBar) is not None
    dialog.close()
    notice.remedy_button.click()
    assert again.wait(MessageState.COMPLETE).text == "w0 w1 w2 "
    again.window.close()


def test_the_folder_of_the_model_is_deleted(desktop: Desktop) -> None:
    desktop.still_works()
    desktop.workspace.choose_model("/models/broken")  # the scripted engine finds nothing there
    toast = desktop.window.toast
    desktop.qtbot.waitUntil(lambda: toast.isVisible())
    assert "choose another" in toast.text
    toast.dismiss()
    desktop.send("say 1")
    desktop.wait(MessageState.FAILED)
    notice = desktop.notice()
    assert notice.words[0] == "The model is not there"
    notice.remedy_button.click()
    popup = desktop.window.page.header.model_button.popup
    popup.choose("smollm2")
    desktop.qtbot.waitUntil(lambda: desktop.workspace.model.state.phase is EnginePhase.READY)
    desktop.still_works()


def test_the_gpu_fails_and_the_reply_goes_on(desktop: Desktop) -> None:
    desktop.send("gpu 4")
    reply = desktop.wait(MessageState.COMPLETE)
    assert reply.text == "w0 w1 w2 w3 "
    assert any("the reply goes on there" in notice for notice in reply.notice_texts)
    assert reply.error is None
    desktop.still_works()
