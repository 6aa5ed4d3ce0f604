"""Text files that go along with a message: chosen, pasted, shown and sent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtWidgets import QLabel, QToolButton
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from app.words import tr
from engine.errors import InvalidOption, TenonError
from engine.messages import Attachment, Section
from tests.support.scripted_workspace import ScriptedWorkspace, refusal, wait_until


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    file = tmp_path / "notes.txt"
    file.write_text("Roses are red.\n" * 100)
    return file


def names(window: MainWindow) -> list[str]:
    return [attachment.name for attachment in window.page.composer.attachments.attachments]


def offer(window: MainWindow, files: list[Path]) -> None:
    """Attach files, and wait until they are read."""
    window.page.composer.files_offered.emit(files)
    wait_for_files(window)


def wait_for_files(window: MainWindow) -> None:
    wait_until(lambda: not window.page.attaching._readings)


class SlowDisk:
    """Files are not read before a test says what they hold."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers: SimpleQueue[Attachment | TenonError] = SimpleQueue()
        self.given_up: list[str] = []
        monkeypatch.setattr("app.bridge.worker.read_attachment", self.read)

    def read(self, path: Path, cancelled: Callable[[], bool]) -> Attachment:
        while not cancelled():
            with suppress(Empty):
                answer = self.answers.get(timeout=0.01)
                if isinstance(answer, TenonError):
                    raise answer
                return answer
        self.given_up.append(path.name)
        raise InvalidOption("It was given up.")


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> SlowDisk:
    return SlowDisk(monkeypatch)


def data_of(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def test_chosen_files_are_sent_along_and_shown_in_the_bubble(
    qtbot: QtBot,
    window: MainWindow,
    workspace: ScriptedWorkspace,
    monkeypatch: pytest.MonkeyPatch,
    notes: Path,
) -> None:
    monkeypatch.setattr(
        "app.ui.composer.unsent_message.QFileDialog.getOpenFileNames", lambda *arguments: ([str(notes)], "")
    )
    composer = window.page.composer
    height = composer.sizeHint().height()
    composer.attach_button.click()
    wait_for_files(window)
    assert names(window) == ["notes.txt"]
    assert composer.sizeHint().height() > height
    assert composer.send_button.isEnabled()  # a file is enough
    composer.prompt.setPlainText("What is this?")
    qtbot.keyClick(composer.prompt, Qt.Key.Key_Return)
    assert names(window) == []
    assert window.page.current is not None
    prompt = workspace.library.messages(window.page.current)[0]
    assert [(file.name, file.text) for file in prompt.attachments] == [("notes.txt", "Roses are red.\n" * 100)]
    labels = [one.text() for one in window.page.transcript.views[0].findChildren(QLabel)]
    assert "notes.txt, 2 kB" in labels


def test_a_file_without_a_word(window: MainWindow, workspace: ScriptedWorkspace, notes: Path) -> None:
    offer(window, [notes])
    window.page.composer.send_button.click()
    assert workspace.prompts == [""]
    bubble = window.page.transcript.views[0]
    assert bubble.text == ""
    assert bubble.height() > 0


def test_pasted_files_are_attached_and_links_are_typed(window: MainWindow, notes: Path) -> None:
    prompt = window.page.composer.prompt
    assert prompt.canInsertFromMimeData(data_of(notes))
    prompt.insertFromMimeData(data_of(notes))
    wait_for_files(window)
    assert (names(window), prompt.toPlainText()) == (["notes.txt"], "")
    link = QMimeData()
    link.setUrls([QUrl("https://example.org/notes.txt")])
    link.setText("https://example.org/notes.txt")
    prompt.insertFromMimeData(link)
    assert (names(window), prompt.toPlainText()) == (["notes.txt"], "https://example.org/notes.txt")


def test_what_is_no_text_is_told_and_the_others_stay(window: MainWindow, tmp_path: Path, notes: Path) -> None:
    sound = tmp_path / "sound.ogg"
    sound.write_bytes(b"OggS\0\0")
    offer(window, [sound, notes])
    assert names(window) == ["notes.txt"]
    assert window.toast.text == "sound.ogg holds no text that can be read: attach text, PDF, DOCX, HTML or EPUB."


def test_all_that_is_wrong_is_told_at_once(window: MainWindow, tmp_path: Path, notes: Path) -> None:
    for name in ("a.ogg", "b.png"):
        (tmp_path / name).write_bytes(b"OggS\0\0")
    offer(window, [tmp_path / "a.ogg", notes, tmp_path / "b.png"])
    assert [line.split()[0] for line in window.toast.text.splitlines()] == ["a.ogg", "b.png"]


def test_the_same_file_is_attached_once(window: MainWindow, notes: Path) -> None:
    offer(window, [notes])
    offer(window, [notes])
    assert names(window) == ["notes.txt"]
    notes.write_text("Violets are blue.")
    offer(window, [notes])
    assert names(window) == ["notes.txt", "notes.txt"]


def test_a_chip_takes_its_file_away(window: MainWindow, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.txt" for number in range(3)]
    for file in files:
        file.write_text("text")
    offer(window, files)
    row = window.page.composer.attachments
    chips = [b for b in row.findChildren(QToolButton) if not b.isHidden()]
    chip = next(b for b in chips if b.accessibleName() == "Remove 1.txt")
    chip.click()
    assert names(window) == ["0.txt", "2.txt"]
    row.set_attachments(())
    assert row.isHidden()
    assert not window.page.composer.send_button.isEnabled()


def test_files_stay_with_their_chat_and_come_back_when_sending_fails(
    window: MainWindow, workspace: ScriptedWorkspace, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = workspace.add_conversation("Chat", 0, "a", "b")
    offer(window, [notes])
    window.page.open(chat)
    assert names(window) == []
    window.page.open(None)
    assert names(window) == ["notes.txt"]
    refused = refusal(InvalidOption("A message holds 16 files at most."))
    monkeypatch.setattr(workspace.turns, "send", refused)
    window.page.composer.send_button.click()
    assert names(window) == ["notes.txt"]
    assert window.toast.text == "A message holds 16 files at most."


def test_many_files_take_several_lines(window: MainWindow, tmp_path: Path) -> None:
    files = [tmp_path / f"a file with a name of some length {number}.txt" for number in range(6)]
    for file in files:
        file.write_text("text")
    row = window.page.composer.attachments
    offer(window, files[:1])
    one = row.height()
    offer(window, files[1:])
    chips = [b for b in row.findChildren(QToolButton) if not b.isHidden()]
    assert row.height() > 2 * one
    assert all(row.rect().contains(chip.geometry()) for chip in chips)


def test_a_document_that_is_being_read_is_seen_and_is_waited_for(
    qtbot: QtBot, window: MainWindow, disk: SlowDisk
) -> None:
    composer = window.page.composer
    composer.files_offered.emit([Path("report.pdf")])
    chip = composer.attachments.findChildren(QToolButton)[-1]
    assert chip.text() == " report.pdf, being read"
    composer.prompt.setPlainText("What is it?")
    assert not composer.send_button.isEnabled()
    assert composer.send_button.toolTip() == "report.pdf is being read"
    qtbot.keyClick(composer.prompt, Qt.Key.Key_Return)
    assert composer.text == "What is it?"
    assert window.toast.text == "report.pdf is still being read: send your message when it is there."
    disk.answers.put(Attachment("report.pdf", 9, "a\n\nb", "page", (Section("1", 0), Section("2", 3))))
    wait_for_files(window)
    assert [one.text() for one in composer.attachments.findChildren(QToolButton) if one.isVisible()] == [
        f" report.pdf, {tr('%n page(s)', 2)}"
    ]
    qtbot.keyClick(composer.prompt, Qt.Key.Key_Return)
    labels = [one.text() for one in window.page.transcript.views[0].findChildren(QLabel)]
    assert f"report.pdf, {tr('%n page(s)', 2)}" in labels


def test_a_document_goes_to_the_chat_that_it_was_attached_in(
    window: MainWindow, workspace: ScriptedWorkspace, disk: SlowDisk
) -> None:
    chat = workspace.add_conversation("Chat", 0, "a", "b")
    row = window.page.composer.attachments
    window.page.composer.files_offered.emit([Path("report.pdf")])
    window.page.open(chat)
    assert row.pending == {}
    assert row.isHidden()
    disk.answers.put(Attachment("report.pdf", 9, "text"))
    wait_for_files(window)
    assert names(window) == []
    window.page.open(None)
    assert names(window) == ["report.pdf"]


def test_reading_is_given_up_by_its_chip(window: MainWindow, disk: SlowDisk) -> None:
    row = window.page.composer.attachments
    window.page.composer.files_offered.emit([Path("a.pdf"), Path("b.pdf")])
    next(chip for chip in row.findChildren(QToolButton) if chip.accessibleName() == "Remove b.pdf").click()
    assert list(row.pending.values()) == ["a.pdf"]
    disk.answers.put(InvalidOption("a.pdf is damaged."))
    wait_for_files(window)
    assert row.isHidden()
    assert window.toast.text == "a.pdf is damaged."
    wait_until(lambda: disk.given_up == ["b.pdf"])


def test_what_is_missing_of_a_file_is_told_once_and_stays_in_its_card(window: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>the beginning</p><!-- the end")
    sentence = "The text after “the beginning” is missing."
    offer(window, [tmp_path / "page.html"])
    assert window.toast.text == f"page.html: {sentence}"
    (chip,) = window.page.composer.attachments.findChildren(QToolButton)
    assert chip.text().endswith("text missing")
    assert sentence in chip.toolTip()
    window.page.composer.send_button.click()
    labels = window.page.transcript.views[0].findChildren(QLabel)
    assert [one.text() for one in labels if sentence in one.toolTip()] == ["page.html, 1 kB, text missing"]
