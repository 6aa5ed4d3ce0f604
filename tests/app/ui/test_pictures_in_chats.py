"""Pictures in the window: pasted, chosen and dropped, shown, sent, kept, and refused in a sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from app.chat.conversation import MessageState
from app.ui.main_window import MainWindow
from app.ui.picture import PictureButton, PictureView
from engine.messages import Generate
from tests.app.ui.test_attachments import names, offer, wait_for_files
from tests.support.scripted_workspace import ScriptedWorkspace, wait_until


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    file = tmp_path / "photo.png"
    Image.new("RGB", (640, 320), "teal").save(file)
    return file


@pytest.fixture
def sees(workspace: ScriptedWorkspace) -> ScriptedWorkspace:
    """The chosen model sees."""
    installed = workspace.model_store.installed
    installed.entries = tuple(replace(one, sees=True) for one in installed.entries)
    return workspace


def sent(workspace: ScriptedWorkspace) -> Generate:
    wait_until(lambda: any(isinstance(command, Generate) for command in workspace.engine.sent))
    return workspace.engine.last(Generate)


def small(window: MainWindow) -> list[PictureButton]:
    return [one for one in window.page.findChildren(PictureButton) if one.isVisible()]


def test_a_picture_is_shown_sent_opened_and_kept(
    qtbot: QtBot, window: MainWindow, sees: ScriptedWorkspace, photo: Path
) -> None:
    offer(window, [photo])
    assert names(window) == ["photo.png"]
    (thumbnail,) = small(window)
    assert (thumbnail.accessibleName(), thumbnail.accessibleDescription()) == ("Picture photo.png", "640 × 320")
    assert thumbnail.width() == 2 * thumbnail.height()
    wait_until(lambda: thumbnail.grab().toImage().pixelColor(thumbnail.rect().center()) == QColor("teal"))
    window.page.composer.prompt.setPlainText("What is it?")
    qtbot.keyClick(window.page.composer.prompt, Qt.Key.Key_Return)
    assert names(window) == []
    photo.unlink()
    turn = sent(sees).messages[-1]
    (picture,) = turn.pictures
    assert (turn.content, turn.attachments, picture.at, picture.width) == ("What is it?", (), 0, 640)
    assert Path(picture.path).parent.name == "pictures"
    wait_until(lambda: len(small(window)) == 1)
    small(window)[0].click()
    view = window.findChild(PictureView)
    assert view is not None
    assert view.picture.width() == 640
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert window.page.current is not None
    sees.written()
    (kept, _) = sees._database.reader.messages(window.page.current)
    assert kept.attachments[0].picture == picture


def test_an_image_is_pasted_and_taken_away_by_a_key(qtbot: QtBot, window: MainWindow, sees: ScriptedWorkspace) -> None:
    image = QImage(30, 20, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    data = QMimeData()
    data.setImageData(image)
    prompt = window.page.composer.prompt
    prompt.setPlainText("typed")
    assert prompt.canInsertFromMimeData(data)
    prompt.insertFromMimeData(data)
    wait_for_files(window)
    assert (names(window), prompt.toPlainText()) == (["Pasted picture.png"], "typed")
    (thumbnail,) = small(window)
    thumbnail.setFocus()
    qtbot.keyClick(thumbnail, Qt.Key.Key_Delete)
    assert names(window) == []
    data.setText("a\tb")  # cells of a table
    prompt.insertFromMimeData(data)
    assert (names(window), prompt.toPlainText()) == ([], "a\tbtyped")


def test_a_model_without_eyes_says_so_before_anything_is_sent(
    window: MainWindow, workspace: ScriptedWorkspace, photo: Path
) -> None:
    offer(window, [photo])
    assert window.toast.text == (
        "SmolLM2 135M does not see pictures: choose a model that does, such as Gemma 3 or SmolVLM2, or send the "
        "message without them."
    )
    window.page.composer.prompt.setPlainText("What is it?")
    window.page.composer.send_button.click()
    assert (workspace.prompts, names(window), window.page.composer.text) == ([], ["photo.png"], "What is it?")
    installed = workspace.model_store.installed
    installed.entries = (*installed.entries, replace(installed.entries[0], ref="/models/eyes", name="eyes", sees=True))
    window.page.composer.send_button.click()
    assert "such as eyes," in window.toast.text
    chip = next(one for one in window.page.composer.attachments.findChildren(QToolButton) if one.isVisible())
    chip.click()
    window.page.composer.send_button.click()
    assert workspace.prompts == ["What is it?"]


def test_a_chat_goes_on_with_a_model_without_eyes(window: MainWindow, sees: ScriptedWorkspace, photo: Path) -> None:
    offer(window, [photo])
    window.page.composer.send_button.click()
    sent(sees)
    chat = window.page.current
    assert chat is not None
    sees.change(chat, content="Teal.", state=MessageState.COMPLETE)
    installed = sees.model_store.installed
    installed.entries = tuple(replace(one, sees=False) for one in installed.entries)
    sees.engine.sent.clear()
    window.page.composer.prompt.setPlainText("Thanks.")
    window.page.composer.send_button.click()
    assert not sent(sees).pictures
    assert sees.reply(chat).notices == ("This model does not see the pictures of earlier messages.",)


@pytest.mark.parametrize("kind", ["cut", "no picture", "svg"])
def test_what_fails_is_told_in_a_sentence_and_nothing_is_lost(
    window: MainWindow, sees: ScriptedWorkspace, photo: Path, tmp_path: Path, kind: str
) -> None:
    window.page.composer.prompt.setPlainText("typed")
    file = tmp_path / {"cut": "cut.png", "no picture": "notes.png", "svg": "logo.svg"}[kind]
    whole = {"cut": photo.read_bytes()[:-30], "no picture": b"words", "svg": b"<svg/>"}[kind]
    file.write_bytes(whole)
    offer(window, [file])
    told = {"cut": "is damaged", "no picture": "is no PNG", "svg": "goes along as text"}[kind]
    assert told in window.toast.text
    assert (names(window), window.page.composer.text) == (["logo.svg"] if kind == "svg" else [], "typed")


def test_a_picture_that_is_gone_is_shown_as_such(window: MainWindow, sees: ScriptedWorkspace, photo: Path) -> None:
    offer(window, [photo])
    (attachment,) = window.page.composer.attachments.attachments
    assert attachment.picture is not None
    Path(attachment.picture.path).unlink()
    elsewhere = replace(attachment, picture=replace(attachment.picture, path=f"{attachment.picture.path}0"))
    button = PictureButton(window.page._theme, elsewhere, window)
    button.fit(50, 50)
    button.show()
    wait_until(lambda: "is not there" in button.accessibleDescription() or bool(button.repaint()))


def test_edits_and_branches_keep_a_picture(window: MainWindow, sees: ScriptedWorkspace, photo: Path) -> None:
    offer(window, [photo])
    window.page.composer.send_button.click()
    chat = window.page.current
    assert chat is not None
    sent(sees)
    sees.change(chat, content="Teal.", state=MessageState.COMPLETE)
    (prompt, reply) = sees.library.messages(chat)
    sees.turns.branch(chat, reply.id)
    assert window.page.current not in (None, chat)
    assert sees.library.messages(window.page.current or 0)[0].attachments == prompt.attachments
    sees.engine.sent.clear()
    sees.turns.edit(chat, prompt.id, "What is it?")
    assert sent(sees).messages[-1].pictures == tuple(one.picture for one in prompt.attachments)
