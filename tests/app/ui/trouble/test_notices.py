from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from app.chat.engine_state import EnginePhase, EngineState
from app.chat.troubles import TROUBLES, Remedy
from app.ui import figures
from app.ui.main_window import MainWindow
from app.ui.transcript.reply import ErrorNotice, ReplyView
from app.ui.trouble.dialogs import AboutDialog, DetailsDialog
from engine.errors import Allowed
from engine.messages import ErrorReport, Load, MemoryShortage, ModelUnloaded
from tests.support.scripted_workspace import ScriptedWorkspace

SHORT = ErrorReport(
    "OutOfMemory",
    "Other programs now use 8.4 GB, so the cache no longer fits.",
    "no room for the cache",
    context=8192,
    memory=MemoryShortage(16_000_000_000, 8_400_000_000, 5_300_000_000, 460_000_000),
)


def failed(window: MainWindow, workspace: ScriptedWorkspace, report: ErrorReport, text: str = "So far") -> int:
    """A chat whose last reply failed."""
    chat = workspace.add_conversation("A chat", 0, "A private question", "An answer")
    window.page.open(chat)
    workspace.turns.send(chat, "And then?")
    if text:
        workspace.stream(chat, text)
    workspace.fail(chat, report.message, report)
    return chat


def notice_of(window: MainWindow) -> ErrorNotice:
    view = window.page.transcript.views[-1]
    assert isinstance(view, ReplyView)
    assert view.error is not None
    return view.error


def details_of(window: MainWindow) -> list[DetailsDialog]:
    return [dialog for dialog in window.findChildren(DetailsDialog) if dialog.isVisible()]


def test_every_kind_has_its_words_in_the_transcript(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = failed(window, workspace, SHORT)
    for kind, trouble in TROUBLES.items():
        report = ErrorReport(kind, "One sentence.")
        workspace.change(chat, error=report.message, trouble=report)
        notice = notice_of(window)
        assert notice.words == (trouble.title, "One sentence.")
        assert notice.remedy_button.isVisible()
        assert notice.remedy_button.text().strip() != ""
        assert notice.details_button.isVisible()


def test_settings_open_where_a_message_found_the_context_too_small(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    failed(window, workspace, ErrorReport("PromptTooLong", "One sentence."), text="")
    notice_of(window).remedy_button.click()
    dialog = window.settings.dialog
    assert dialog.row("context").isVisible()
    assert dialog.focusWidget() in dialog.row("context").field.controls
    dialog.close()


def test_a_smaller_context_is_half_of_it_and_the_reply_is_tried_again(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = failed(window, workspace, SHORT, text="")
    notice = notice_of(window)
    assert notice.remedy_button.text().strip() == "Reload with a smaller context"
    assert notice.retry_button.isVisible()
    notice.remedy_button.click()
    assert workspace.settings.of_model("smollm2").context == 4096
    assert workspace.settings.of_model("/models/other").context == 0
    assert workspace.tried_again(chat)
    assert f"{figures.whole(4096)} tokens" in window.toast.text


def test_a_memory_budget_is_raised_to_what_would_do_and_the_reply_is_tried_again(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    settings = workspace.settings
    settings.ram_budget_bytes = 100_000_000
    refused = ErrorReport("OutOfMemory", "Too small.", allowed=Allowed("ram_budget_bytes", 400_000_000))
    chat = failed(window, workspace, refused, text="")
    notice = notice_of(window)
    assert notice.remedy_button.text() == "Raise the memory budget"
    notice.remedy_button.click()
    assert (settings.ram_budget_bytes, settings.by_model) == (400_000_000, {})
    assert workspace.tried_again(chat)
    assert window.toast.text == "The memory budget is 0.4 GB from now on."
    settings.set_for_model("smollm2", "ram_budget_bytes", 200_000_000)  # a model's own is what stands in the way
    window.trouble._mend(refused, Remedy.MEMORY_BUDGET)
    assert settings.of_model("smollm2").ram_budget_bytes == 400_000_000


def test_a_context_that_the_model_does_not_have_is_corrected_for_this_model(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    workspace.settings.context = 1 << 24
    chat = failed(window, workspace, ErrorReport("InvalidOption", "x", allowed=Allowed("context", 2048)), text="")
    notice_of(window).remedy_button.click()
    assert workspace.settings.of_model("smollm2").context == 2048
    assert workspace.settings.context == 1 << 24
    assert workspace.tried_again(chat)


def test_a_larger_context_takes_the_message_that_did_not_fit(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = failed(window, workspace, ErrorReport("PromptTooLong", "x", allowed=Allowed("context", 16_384)), text="")
    notice = notice_of(window)
    assert notice.remedy_button.text().strip() == "Reload with 16,384 tokens of context"
    notice.remedy_button.click()
    assert workspace.settings.of_model("smollm2").context == 16_384
    assert workspace.tried_again(chat)


def test_trying_again_as_it_was_changes_nothing(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = failed(window, workspace, SHORT, text="")
    notice_of(window).retry_button.click()
    assert workspace.settings.of_model("smollm2").context == 0
    assert workspace.tried_again(chat)


def test_what_was_written_stays_as_a_version_when_it_is_tried_again(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = failed(window, workspace, ErrorReport("EngineStopped", "It stopped."))
    notice_of(window).remedy_button.click()
    assert workspace.answered_anew(chat)


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("WeightsMissing", "models"),
        ("AddonUnusable", "machine"),
        ("InvalidOption", "settings"),
        ("EmptyPrompt", "write"),
    ],
)
def test_a_remedy_can_be_a_command(window: MainWindow, workspace: ScriptedWorkspace, kind: str, command: str) -> None:
    triggered: list[str] = []
    window.commands[command].triggered.connect(lambda: triggered.append(command))
    failed(window, workspace, ErrorReport(kind, "A sentence."))
    notice_of(window).remedy_button.click()
    assert triggered == [command]
    for dialog in window.findChildren(QDialog):
        dialog.close()


def test_another_model_is_chosen_in_the_menu_of_models(window: MainWindow) -> None:
    window.commands["machine"].trigger()
    window.trouble.tell(ErrorReport("ModelNotFound", "It is gone."))
    window.toast.action_button.click()
    popup = window.page.header.model_button.popup
    assert window.places.current == "chat"
    popup.close()


def test_a_draft_that_does_not_fit_is_left_out(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace.settings.remember_drafts("smollm2", ("/models/misfit",))
    chat = failed(window, workspace, ErrorReport("DraftMismatch", "It does not fit."), text="")
    notice_of(window).remedy_button.click()
    assert workspace.settings.drafts_of("smollm2") == ()
    assert workspace.tried_again(chat)


def test_trouble_beside_replies_is_told_with_title_remedy_and_details(
    window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()) or True)
    workspace.trouble.emit(ErrorReport("StorageError", "The disk is full: free some space.", "OSError 28"))
    bar = window.trouble.unsaved
    assert bar.text == "The disk is full: free some space."
    assert bar.accessibleName().startswith("Your chats cannot be saved. ")
    bar.folder_button.click()
    assert opened == [str(workspace.diagnostics.data_folder)]
    assert bar.isVisible()
    bar.details_button.click()
    (dialog,) = details_of(window)
    assert "OSError 28" in dialog.text.toPlainText()
    dialog.close()


def test_a_model_that_cannot_be_loaded_is_told_with_its_kind(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    report = ErrorReport("ModelNotFound", "There is no model in that folder: choose another.")
    state = EngineState(EnginePhase.IDLE, "/gone", "Gone", sentence=report.message, trouble=report)
    workspace.tell(ModelUnloaded())
    workspace.set_engine(state)
    qtbot.waitUntil(lambda: window.toast.isVisible())
    assert window.toast.action_button.text() == Remedy.OTHER_MODEL.value
    window.trouble._mend(report, Remedy.TRY_AGAIN)
    assert isinstance(workspace.engine.sent[-1], Load)


def test_the_toast_is_plain_again_afterwards(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace.trouble.emit(ErrorReport("WeightsMissing", "The disk is full."))
    window.toast.say("Saved.", "Undo")
    assert (window.toast.text, window.toast.accessibleName()) == ("Saved.", "Saved.")
    assert not window.toast.details_button.isVisible()
    QApplication.processEvents()
    assert window.toast.action_button.y() < window.toast.height() / 2


def test_remarks_go_by_themselves(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace.power.remark.emit("Running on battery: replies may be slower.")
    assert window.toast.text == "Running on battery: replies may be slower."
    assert window.toast.fades
    workspace.trouble.emit(ErrorReport("WeightsMissing", "The disk is full."))
    workspace.power.remark.emit("Running on battery: replies may be slower.")
    assert window.toast.text == "The disk is full."


def test_details_hold_everything_but_the_chat(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    folder = workspace.diagnostics.log_folder
    folder.mkdir(parents=True)
    (folder / "window.log").write_text("INFO app: the last line\n", encoding="utf-8")
    failed(window, workspace, SHORT)
    notice_of(window).details_button.click()
    (dialog,) = details_of(window)
    shown = dialog.text.toPlainText()
    assert "OutOfMemory: Other programs now use 8.4 GB" in shown
    assert "no room for the cache" in shown
    assert "GB RAM" in shown
    dialog.foot.copy_button.click()
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("OutOfMemory")
    assert "the last line" in copied
    assert "Python 3" in copied
    for text in ("private", "And then?", "So far"):
        assert text not in shown + copied
    assert dialog.foot.copy_button.text().strip() == "Copied"
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert details_of(window) == []


def test_the_log_folder_is_opened_or_named(
    window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: bool(opened.append(Path(url.toLocalFile()))))
    window.commands["log-folder"].trigger()
    folder = workspace.diagnostics.log_folder
    assert opened == [folder]
    assert str(folder) in window.toast.text


def test_the_installation_is_copied(window: MainWindow) -> None:
    window.commands["copy-installation"].trigger()
    assert QGuiApplication.clipboard().text().startswith("tenon ")
    assert "copied" in window.toast.text


def test_about_names_versions_and_licences(window: MainWindow) -> None:
    window.commands["about"].trigger()
    dialog = window.findChild(AboutDialog)
    lines = dialog.licences.toPlainText().splitlines()
    assert lines[0] == "Tenon: Apache-2.0"
    assert any(line.startswith("PySide6_Essentials 6.") and "LGPL" in line for line in lines)
    assert all(line.rpartition(": ")[2] for line in lines)
    dialog.foot.copy_button.click()
    assert QGuiApplication.clipboard().text() == dialog.installation.toPlainText()
    dialog.close()


def test_exceptions_open_one_dialog_and_not_a_storm(window: MainWindow) -> None:
    for number in range(10):
        window.trouble.tell_uncaught(ErrorReport("InternalError", "A mistake.", f"place {number}"))
        assert len(details_of(window)) == 1
    for expected in (1, 1, 0):
        for dialog in details_of(window):
            dialog.close()
        window.trouble.tell_uncaught(ErrorReport("InternalError", "A mistake.", "elsewhere"))
        assert len(details_of(window)) == expected


def test_a_bad_end_is_told_and_its_details_are_offered(window: MainWindow) -> None:
    window.trouble.tell_bad_end("Fatal Python error: Aborted")
    assert "chats are safe" in window.toast.text
    assert not window.toast.action_button.isVisible()
    window.toast.details_button.click()
    (dialog,) = details_of(window)
    assert "Fatal Python error: Aborted" in dialog.text.toPlainText()
    dialog.close()


def test_trouble_that_is_over_is_not_told_of_any_longer(
    window: MainWindow, workspace: ScriptedWorkspace, qtbot: QtBot
) -> None:
    full = ErrorReport("StorageError", "The disk is full.")
    workspace.trouble.emit(full)
    assert window.trouble.unsaved.isVisible()
    workspace.set_engine(EngineState(EnginePhase.READY, "smollm2", "SmolLM2 135M"))
    assert window.trouble.unsaved.isVisible()
    workspace.trouble_over.emit(full.message)
    assert not window.trouble.unsaved.isVisible()
    workspace.set_engine(
        EngineState(EnginePhase.STOPPED, "smollm2", "SmolLM2 135M", sentence=SHORT.message, trouble=SHORT)
    )
    qtbot.waitUntil(lambda: window.toast.isVisible() and window.toast.text == SHORT.message)
    workspace.set_engine(EngineState(EnginePhase.READY, "smollm2", "SmolLM2 135M"))
    assert not window.toast.isVisible()


def test_an_engine_that_is_up_again_without_its_model_has_not_stopped(
    window: MainWindow, workspace: ScriptedWorkspace, qtbot: QtBot
) -> None:
    workspace.set_engine(
        EngineState(EnginePhase.STOPPED, "smollm2", "SmolLM2 135M", sentence=SHORT.message, trouble=SHORT)
    )
    qtbot.waitUntil(lambda: window.toast.isVisible() and window.toast.text == SHORT.message)
    workspace.set_engine(EngineState(EnginePhase.LOADING, "smollm2", "SmolLM2 135M"))
    assert window.toast.isVisible()
    workspace.set_engine(EngineState(EnginePhase.IDLE, "smollm2", "SmolLM2 135M"))
    assert not window.toast.isVisible()


def test_other_words_stay_when_trouble_is_over(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace.trouble.emit(ErrorReport("StorageError", "The disk is full."))
    window.toast.say("The chat is deleted.", "Undo")
    workspace.trouble_over.emit("The disk is full.")
    assert window.toast.isVisible()
