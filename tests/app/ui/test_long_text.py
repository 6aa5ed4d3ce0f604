"""Text of any size, in one word or many: it stays what it is, and what one key or one view costs is bounded."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor, QTextDocument, QTextOption
from pytestqt.qtbot import QtBot

from app.chat.markdown_blocks import joined_text
from app.chat.search import visible_text
from app.chat.title import TITLE_CHARACTERS, title_of
from app.help import about_tenon
from app.ui import form_fields
from app.ui.form_fields import LONGEST_BLOCK, LongTextEdit
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.code import CodeBlock, CodeText
from app.ui.transcript.message_actions import Action
from app.ui.transcript.prose import ProseBlock, wrap_mode
from app.ui.transcript.reply import ReplyView
from app.ui.transcript.selectable import SelectableText
from app.ui.transcript.table import TableBlock
from tests.support.fast_cases import chosen
from tests.support.markdown import split_blocks
from tests.support.scripted_workspace import ScriptedWorkspace

WORD = "QUJD" * 75_000
TEXTS = {
    "one word": WORD,
    "a word between lines": f"first\n\n{WORD}\nlast line",
    "words in one line": "word " * 60_000,
    "lines": "The quick brown fox jumps over the lazy dog.\n" * 6_000,
    "chinese": "你好世界我们today" * 20_000,
    "right to left": "שלום" * 40_000,
    "characters of several code points": "👩\u200d👩\u200d👧\u200d👦e\u0301" * 9_000,
    "spaces that do not break": "a\u00a0b" * 40_000,
    "no characters": "a\x00b" * 40_000,
}
moves, keep = QTextCursor.MoveOperation, QTextCursor.MoveMode.KeepAnchor


def blocks(document: QTextDocument) -> Iterator[str]:
    """The texts of Qt's blocks, each of which is laid out as a whole."""
    block = document.begin()
    while block.isValid():
        yield block.text()
        block = block.next()


def paste(edit: LongTextEdit, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    edit.paste()


def place(edit: LongTextEdit, anchor: int, position: int | None = None) -> None:
    cursor = edit.textCursor()
    cursor.setPosition(anchor)
    if position is not None:
        cursor.setPosition(position, keep)
    edit.setTextCursor(cursor)


@pytest.fixture
def field(qtbot: QtBot) -> LongTextEdit:
    edit = LongTextEdit()
    qtbot.addWidget(edit)
    edit.resize(400, 120)
    edit.show()
    return edit


# --- the field ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["pasted", "set"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_text_stays_what_it_is_in_short_blocks(field: LongTextEdit, text: str, way: str) -> None:
    if way == "pasted":
        paste(field, text)
    else:
        field.setPlainText(text)
    assert field.toPlainText() == text
    assert max(map(len, blocks(field.document()))) <= 2 * LONGEST_BLOCK
    field.selectAll()
    field.copy()
    assert QGuiApplication.clipboard().text() == text


def test_a_key_lays_out_as_little_behind_a_long_word_as_behind_a_short_one(qtbot: QtBot, field: LongTextEdit) -> None:
    paste(field, WORD)
    for _ in range(3):
        qtbot.keyClick(field, Qt.Key.Key_A)
        assert len(field.textCursor().block().text()) <= 2 * LONGEST_BLOCK
    assert field.toPlainText() == f"{WORD}aaa"
    for _ in range(2):
        qtbot.keyClick(field, Qt.Key.Key_Backspace)
    assert field.toPlainText() == f"{WORD}a"


def test_undo_takes_a_paste_back_as_a_whole(field: LongTextEdit) -> None:
    paste(field, "before ")
    paste(field, WORD)
    field.undo()
    assert field.toPlainText() == "before "
    field.redo()
    assert field.toPlainText() == f"before {WORD}"


def test_a_block_that_grows_too_long_is_parted_with_the_key_that_made_it_so(qtbot: QtBot, field: LongTextEdit) -> None:
    field.setPlainText("x" * LONGEST_BLOCK)
    paste(field, "y" * LONGEST_BLOCK)
    qtbot.keyClicks(field, "abc")
    text = "y" * LONGEST_BLOCK + "abc" + "x" * LONGEST_BLOCK
    assert field.toPlainText() == text
    assert field.document().blockCount() == 3 or max(map(len, blocks(field.document()))) <= 2 * LONGEST_BLOCK
    while field.document().isUndoAvailable():
        field.undo()
    assert field.toPlainText() == "x" * LONGEST_BLOCK
    while field.document().isRedoAvailable():
        field.redo()
    assert field.toPlainText() == text


@pytest.mark.parametrize("key", [Qt.Key.Key_Backspace, Qt.Key.Key_Delete])
def test_a_key_that_deletes_takes_a_character_at_a_soft_break(qtbot: QtBot, field: LongTextEdit, key: Qt.Key) -> None:
    text = "".join(chr(ord("a") + number % 26) for number in range(3 * LONGEST_BLOCK))
    field.setPlainText(text)
    backward = key == Qt.Key.Key_Backspace
    place(field, LONGEST_BLOCK + 1 if backward else LONGEST_BLOCK)  # the break is one of Qt's positions
    qtbot.keyClick(field, key)
    at = LONGEST_BLOCK - 1 if backward else LONGEST_BLOCK
    assert field.toPlainText() == text[:at] + text[at + 1 :]


def test_a_line_break_beside_a_soft_one_is_kept(field: LongTextEdit) -> None:
    field.setPlainText("x" * (LONGEST_BLOCK + 1))
    place(field, LONGEST_BLOCK + 1, LONGEST_BLOCK + 2)
    field.textCursor().removeSelectedText()  # what follows the soft break is empty now
    field.moveCursor(moves.End)
    field.textCursor().insertText("\n")
    field.textCursor().insertText("y\nz")
    assert field.toPlainText() == "x" * LONGEST_BLOCK + "\ny\nz"


@pytest.mark.parametrize("seed", range(20))
def test_any_changes_leave_what_they_would_leave_in_a_plain_text(
    qtbot: QtBot, field: LongTextEdit, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(form_fields, "LONGEST_BLOCK", 6)
    draw = random.Random(seed)
    text = ""

    def at(position: int) -> int:
        """Qt's position of a place in the text: soft breaks are counted there."""
        qt = 0
        for number, block in enumerate(blocks(field.document())):
            soft = number and form_fields.is_continued(field.document().findBlockByNumber(number))
            if number and not soft:
                position -= 1
            if position <= len(block):
                return qt + position
            position -= len(block)
            qt += len(block) + 1
        raise AssertionError(position)

    for _ in range(120):
        start = draw.randint(0, len(text))
        end = draw.choice([start, start, draw.randint(start, len(text))])
        place(field, at(start), at(end))
        kind = draw.choice(["key", "paste", "line", "back", "delete", "cut"])
        if kind == "back":
            qtbot.keyClick(field, Qt.Key.Key_Backspace)
            text = text[: start - (start == end and start > 0)] + text[end:]
        elif kind == "delete":
            qtbot.keyClick(field, Qt.Key.Key_Delete)
            text = text[:start] + text[end + (start == end) :]
        elif kind == "cut":
            field.cut()
            text = text[:start] + text[end:]
        else:
            new = {
                "key": "k",
                "line": "\n",
                "paste": draw.choice(["abc def ghi" * 3, "one\ntwo", "QUJD" * 9]),
            }[kind]
            if kind == "key":
                qtbot.keyClicks(field, new)
            else:
                paste(field, new)
            text = text[:start] + new + text[end:]
        assert field.toPlainText() == text
        assert max(map(len, blocks(field.document()))) <= 13
    while field.document().isUndoAvailable():
        field.undo()
    assert field.toPlainText() == ""
    while field.document().isRedoAvailable():
        field.redo()
    assert field.toPlainText() == text


def test_no_character_is_cut(field: LongTextEdit) -> None:
    family = "👩\u200d👩\u200d👧\u200d👦"
    field.setPlainText(family * 2_000)
    assert all(len(block) % len(family) == 0 for block in blocks(field.document()))


# --- the composer ---------------------------------------------------------------------------------------------


def test_what_is_pasted_is_what_is_sent(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    paste(window.page.composer.prompt, WORD)
    assert window.page.composer.send_button.isEnabled()
    qtbot.keyClick(window.page.composer.prompt, Qt.Key.Key_Return)
    assert workspace.prompts == [WORD]
    chat = window.page.current
    assert chat is not None
    assert workspace.library.messages(chat)[0].content == WORD
    assert window.page.composer.text == ""


def test_a_long_text_is_not_read_at_each_key(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = window.page.composer.prompt
    paste(prompt, WORD)
    reads: list[str] = []
    read = LongTextEdit.toPlainText
    monkeypatch.setattr(LongTextEdit, "toPlainText", lambda edit: reads.append("") or read(edit))
    qtbot.keyClicks(prompt, "abcdef")
    assert not reads
    qtbot.waitUntil(lambda: workspace.unsent.of(None).text == f"{WORD}abcdef")
    assert len(reads) == 1


def test_blank_text_of_any_size_is_not_sent(window: MainWindow) -> None:
    paste(window.page.composer.prompt, " \n" * 50_000)
    assert not window.page.composer.send_button.isEnabled()


# --- the transcript -------------------------------------------------------------------------------------------


def shown_message(window: MainWindow, workspace: ScriptedWorkspace, text: str) -> OwnMessage:
    window.page.open(workspace.add_conversation("Long", 0, text, "ok"))
    view = window.page.transcript.views[0]
    assert isinstance(view, OwnMessage)
    return view


def shown_reply(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, text: str) -> ReplyView:
    window.page.open(workspace.add_conversation("Long", 0, "q", text))
    view = window.page.transcript.views[-1]
    assert isinstance(view, ReplyView)
    qtbot.waitUntil(lambda: view.blocks.settled)
    return view


@pytest.mark.parametrize("name", chosen(TEXTS, ("a word between lines", "lines", "characters of several code points")))
def test_a_long_message_is_shown_in_parts(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, name: str
) -> None:
    text = TEXTS[name]
    view = shown_message(window, workspace, text)
    assert view.text == text
    view.fold.click()
    qtbot.waitUntil(lambda: view.blocks.settled)
    bar = window.page.transcript.verticalScrollBar()
    for place, part in ((0, text[:40]), (bar.maximum() * 2, text[-40:])):
        bar.setValue(place)
        qtbot.waitUntil(lambda: view.blocks.settled)
        shown = [one.toPlainText() for one in view.blocks.selectables() if isinstance(one, SelectableText)]
        assert max(map(len, shown)) < 2_500
        assert len(shown) < 30
        assert part.strip().split("\n")[0] in "".join(shown)
    view.buttons.triggered.emit(Action.COPY)
    assert QGuiApplication.clipboard().text() == text.replace("\0", "")


def test_all_of_a_long_message_is_selected(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    view = shown_message(window, workspace, WORD)
    qtbot.waitUntil(lambda: view.blocks.settled)
    window.page.transcript.selection.select_message(view.blocks.selectables()[0])
    assert window.page.transcript.selection.text() == WORD


def test_a_long_message_is_edited_whole(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    view = shown_message(window, workspace, WORD)
    view.edit()
    assert view.editor.prompt.toPlainText() == WORD
    assert max(map(len, blocks(view.editor.prompt.document()))) <= 2 * LONGEST_BLOCK
    qtbot.keyClick(view.editor.prompt, Qt.Key.Key_Z)
    qtbot.keyClick(view.editor.prompt, Qt.Key.Key_Return)
    chat = window.page.current
    assert chat is not None
    assert workspace.library.messages(chat)[0].content == f"{WORD}z"


@pytest.mark.parametrize(
    "markdown",
    [WORD, f"# {WORD}", f"- {WORD}", f"> {WORD}", f"https://example.org/{WORD}", f"**{WORD}**",
     f"[a link](https://example.org/{WORD})", f"`{WORD}`", "&amp;" * 60_000, "\ue000" * 60_000],
    ids=["paragraph", "heading", "list", "quote", "address", "bold", "link", "code", "entities", "private"],
)  # fmt: skip
def test_a_long_block_of_a_reply_is_laid_out_in_parts(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, markdown: str
) -> None:
    view = shown_reply(qtbot, window, workspace, f"before\n\n{markdown}\n\nafter")
    parts = split_blocks(view.text)
    assert joined_text((block.text, block.joined) for block in parts).replace("> ", "") == view.text.replace("> ", "")
    assert max(len(block.text) for block in parts) < 2_100
    assert 1 < len(view.blocks.widgets) < 20
    assert view.text == f"before\n\n{markdown}\n\nafter"


@pytest.mark.parametrize("marks", [("$$\n", "\n$$"), ("$$", "$$"), ("<think>", "</think>"), ("\\[\n", "\n\\]")])
def test_what_is_too_long_between_its_marks_is_parted(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, marks: tuple[str, str]
) -> None:
    markdown = f"{marks[0]}{'QUJD ' * 30_000}{marks[1]}"
    view = shown_reply(qtbot, window, workspace, f"before\n\n{markdown}\n\nafter")
    assert max(len(block.text) for block in split_blocks(view.text)) < 8_100
    assert view.text == f"before\n\n{markdown}\n\nafter"


def test_a_long_word_that_streams_in_is_not_laid_out_again_with_each_piece(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.turns.send(None, "Go")
    window.page.open(chat)
    view = window.page.transcript.views[-1]
    assert isinstance(view, ReplyView)
    for number in range(1, 9):
        view.blocks.set_text("QUJD" * 2_500 * number)
        block = view.blocks.widgets[0]
        assert isinstance(block, ProseBlock)
        assert len(block.toPlainText()) <= 2_000


def test_code_with_a_long_line_is_wrapped_in_parts(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    script = "function a(b,c){return b.map(d=>d*c)}" * 8_000
    view = shown_reply(qtbot, window, workspace, f"```js\n{script}\n```")
    window.page.transcript.verticalScrollBar().setValue(0)
    qtbot.waitUntil(lambda: view.blocks.settled)
    block = view.blocks.widgets[0]
    assert isinstance(block, CodeBlock)
    text = block.selectables()[0]
    assert isinstance(text, CodeText)
    assert 1_000 < len(text.toPlainText()) <= 8_000
    assert len(view.blocks.widgets) < 5
    document = text.document()
    assert document.begin().layout().lineCount() > 50
    assert document.size().width() <= block.width()
    assert text.height() >= document.size().height()
    block.copy_requested.emit()
    assert QGuiApplication.clipboard().text() == script


def test_code_of_usual_lines_is_not_wrapped(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    code = "\n".join(["x = 1" + " + 1" * 300] * 6)
    view = shown_reply(qtbot, window, workspace, f"```\n{code}\n```")
    text = view.blocks.widgets[0].selectables()[0]
    assert text.toPlainText() == code  # type: ignore[union-attr]
    assert text.document().begin().layout().lineCount() == 1  # type: ignore[union-attr]


def test_a_long_cell_of_a_table_shows_its_beginning_and_is_copied_whole(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    table = f"| a | b |\n|---|---|\n| {WORD} | 1 |"
    view = shown_reply(qtbot, window, workspace, table)
    block = view.blocks.widgets[0]
    assert isinstance(block, TableBlock)
    assert block.height() < 20 * window.height()
    block.copy()
    assert QGuiApplication.clipboard().text() == f"a\tb\n{WORD}\t1"
    assert block.whole_source() == table


@pytest.mark.parametrize(
    ("text", "anywhere"),
    [
        ("word " * 9_000, False),
        (WORD, True),
        (f"a {WORD} b", True),
        ("你好世界" * 9_000, False),
        ("a\u00a0" * 9_000, True),
        ("！" * 9_000, True),
        ("x" * 400, False),
    ],
)
def test_lines_break_anywhere_only_where_a_word_is_very_long(text: str, anywhere: bool) -> None:
    assert (wrap_mode(text) is QTextOption.WrapMode.WrapAnywhere) == anywhere


def test_a_message_that_is_no_widget_is_looked_through_once() -> None:
    marks = ("[" * 60_000, "[a](" * 15_000, "[a](b" * 15_000)  # each once as far as the next of them
    assert [visible_text(text) for text in marks] == list(marks)
    assert visible_text("[words](https://example.org) here") == "words here"


def test_a_title_and_the_help_read_little_of_a_long_text() -> None:
    assert len(title_of(WORD)) == TITLE_CHARACTERS
    assert not about_tenon(WORD)


def test_the_theme_changes_with_a_long_text(window: MainWindow, theme: Theme, workspace: ScriptedWorkspace) -> None:
    view = shown_message(window, workspace, WORD)
    theme.set_dark(True)
    assert len(view.blocks.widgets) < 30
