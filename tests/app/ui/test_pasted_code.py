"""Code that is pasted into a message: fenced, in its own type, folded once it is sent, and its tokens counted."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor, QTextDocument
from pytestqt.qtbot import QtBot

from app.ui.composer.prompt_edit import PromptEdit, looks_like_code
from app.ui.main_window import MainWindow
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.bubble import OwnMessage
from engine.messages import Attachment, CountTokens, TokensCounted
from tests.support.scripted_workspace import ScriptedWorkspace

PYTHON = "def double(number):\n    # a comment\n    result = number * 2\n    return result\n\n\nprint(double(4))\n"
CODE = {
    "Python": PYTHON,
    "JavaScript": "const area = (r) => {\n  const pi = 3.14;\n  return pi * r * r;\n};\nconsole.log(area(2));",
    "C": '#include <stdio.h>\nint main(void) {\n    printf("hi\\n");\n    return 0;\n}\n',
    "Java": "public class Main {\n    private int x;\n\n    public int x() {\n        return x;\n    }\n}\n",
    "HTML": '<div class="a">\n  <p>Hello there, my friend</p>\n  <br>\n</div>',
    "JSON": '{\n  "name": "Tenon",\n  "sizes": [\n    1,\n    2\n  ]\n}',
    "SQL": "SELECT name, count(*)\nFROM people\nWHERE age > 3\nGROUP BY name\nORDER BY name",
    "configuration": "[server]\nhost = localhost\nport = 8080\n\n[log]\nlevel = debug",
    "CSS": "a {\n  color: red;\n  margin: 0 auto;\n}\n.b {\n  width: 3px;\n}",
    "Rust": 'fn main() {\n    let x = 5;\n    println!("{}", x);\n}',
    "YAML": 'services:\n  web:\n    image: nginx\n    ports:\n      - "80:80"',
    "a shell": '#!/bin/bash\nset -e\nfor f in *.txt; do\n  echo "$f"\ndone\nls -la | grep x',
    "a difference": "--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n-x = 1\n+x = 2\n print(x)",
    "Ruby": "class A\n  def x\n    @x ||= 3\n  end\nend\nputs A.new.x",
    "type hints": "x: int = 1\ny: str = 'a'\nz: list[int] = []",
}  # fmt: skip
PROSE = {
    "a letter": "Dear Anna,\n\nthank you for your letter. It came yesterday;\nI was glad.\n\nYours,\nBert",
    "a poem": "The woods are lovely, dark and deep,\nBut I have promises to keep;\nAnd miles to go before I sleep;\n"
    "And miles to go before I sleep.",
    "a list": "Buy:\n- milk\n- bread (two)\n- eggs; not the small ones\n- tea",
    "steps": "1. Open the door.\n2. Go in: slowly.\n3. Return the key to the desk.\n4. Leave.",
    "Markdown": "# Title\n\nSome *words* here.\n\n## Part\n\n- one\n- two\n\n> said",
    "a table": "Name\tAge\tTown\nAnna\t31\tBonn\nBert\t28\tKiel\nCarl\t44\tUlm",
    "one line": "print('x')",
    "a question": "Why is x = 2 here?\nI do not see it.\nAnd what would return y do?",
    "fenced already": f"```python\n{PYTHON}```",
    "Chinese": "从明天起，做一个幸福的人\n喂马、劈柴，周游世界；\n从明天起，关心粮食和蔬菜\n面朝大海，春暖花开",
    "addresses": "Anna Berg\nHauptstraße 1\n53111 Bonn\nanna@example.org",
    "a poem set in": "  The woods are lovely, dark and deep,\n  But I have promises to keep,\n  And miles to go.",
    "dialogue": "- Hello!\n- Hello (again).\n- How are you?\n  Fine;\n- Good.",
    "mathematics": "Let x = 3 and y = 4.\nThen x + y = 7.\nSo z = 2 follows.",
    "a recipe": "Ingredients:\n2 cups of flour;\n1 egg;\n3 spoons of oil;\nsalt;\nMix and bake.",
    "headlines": "From Bonn with love\nWhere it ends\nSelect readings",
}  # fmt: skip


@pytest.mark.parametrize("name", CODE)
def test_code_is_known(name: str) -> None:
    assert looks_like_code(CODE[name])


@pytest.mark.parametrize("name", PROSE)
def test_prose_is_not_taken_for_code(name: str) -> None:
    assert not looks_like_code(PROSE[name])


def paste(prompt: PromptEdit, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    prompt.paste()


def lines_of_code(document: QTextDocument, theme: Theme) -> list[bool]:
    """True for each line that is in the type of code."""
    families, found, block = theme.font(TextStyle.CODE).families(), [], document.begin()
    while block.isValid():
        cursor = QTextCursor(block)
        cursor.movePosition(cursor.MoveOperation.NextCharacter, cursor.MoveMode.KeepAnchor)
        found.append(bool(block.text()) and cursor.charFormat().fontFamilies() == families)
        block = block.next()
    return found


def test_pasted_code_is_fenced_and_in_its_own_type(qtbot: QtBot, window: MainWindow, theme: Theme) -> None:
    prompt = window.page.composer.prompt
    prompt.setFocus()
    prompt.insertPlainText("Make it shorter 👍:")
    paste(prompt, CODE["JSON"])
    qtbot.keyClicks(prompt, "Thanks")
    assert prompt.toPlainText() == f"Make it shorter 👍:\n```\n{CODE['JSON']}\n```\nThanks"
    assert lines_of_code(prompt.document(), theme) == [False, *[True] * 9, False]
    for _ in range(2):  # what was typed, and the paste
        qtbot.keyClick(prompt, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert prompt.toPlainText() == "Make it shorter 👍:"


def test_code_with_fences_in_it_and_code_within_a_fence(window: MainWindow) -> None:
    prompt = window.page.composer.prompt
    code = 'text = """\n```\nx = 1\n```\n"""\nprint(text)\ny = 2\nz = 3\n'
    paste(prompt, code)
    assert prompt.toPlainText() in (code, f"````\n{code}````\n")
    prompt.setPlainText("```\n")
    prompt.moveCursor(prompt.textCursor().MoveOperation.End)
    paste(prompt, PYTHON)
    assert prompt.toPlainText() == f"```\n{PYTHON}"


def test_prose_is_pasted_as_it_is(window: MainWindow) -> None:
    prompt = window.page.composer.prompt
    paste(prompt, PROSE["a letter"])
    assert prompt.toPlainText() == PROSE["a letter"]


def sent(window: MainWindow, workspace: ScriptedWorkspace, *turns: str) -> OwnMessage:
    window.page.open(workspace.add_conversation("Chat", 0, *turns))
    view = window.page.transcript.view_of(window.page.messages[0].id)
    assert isinstance(view, OwnMessage)
    return view


def test_code_of_a_sent_message_is_in_its_own_type(
    window: MainWindow, workspace: ScriptedWorkspace, theme: Theme
) -> None:
    view = sent(window, workspace, "Why 👍?\n```\nx = 1\n```\nThanks", "So.")
    assert lines_of_code(view.blocks.selectables()[0].document(), theme) == [False, True, True, True, False]
    view.edit()
    assert lines_of_code(view.editor.prompt.document(), theme) == [False, True, True, True, False]
    assert not view.editor.prompt.document().isUndoAvailable()


@pytest.mark.parametrize("width", [1280, 420])
def test_a_long_message_is_folded_and_unfolded(window: MainWindow, workspace: ScriptedWorkspace, width: int) -> None:
    window.resize(width, 700)
    lines = "\n".join(f"x{number}" for number in range(300))
    view = sent(window, workspace, f"```\n{lines}\n```", "So.")
    folded = view.height()
    assert folded < 500
    assert view.fold.isVisible()
    assert view.rect().contains(view.fold.mapTo(view, view.fold.rect().bottomRight()))
    view.fold.click()
    assert view.height() > 5_000
    assert view.fold.text() == "Show less"
    view.fold.click()
    assert view.height() == folded
    assert not sent(window, workspace, "short\n" * 20, "So.").fold.isVisible()


def test_a_search_unfolds_the_message_that_it_goes_to(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    view = sent(window, workspace, "needle at the top\n" + "hay\n" * 300 + "needle", "So.")
    window.commands["find"].trigger()
    window.find_in_chat.bar.field.setText("needle")
    window.find_in_chat.bar.typed.emit("needle")
    folded = view.height()
    assert folded < 500
    window.find_in_chat.finder.next()
    assert view.height() > 5_000
    bar = window.page.transcript.verticalScrollBar()
    assert bar.value() > 4_000


def test_the_tokens_of_a_long_message_and_its_files_are_counted(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    composer = window.page.composer
    file = Attachment("notes.txt", 5, "a note")

    def asked() -> list[CountTokens]:
        return [command for command in workspace.engine.sent if isinstance(command, CountTokens)]

    composer.set_text("short")
    qtbot.wait(600)
    assert asked() == []
    composer.set_text("long " * 200)
    qtbot.waitUntil(lambda: len(asked()) == 1)
    assert asked()[0].request.raw_prompt == "long " * 200
    workspace.tell(TokensCounted(asked()[0].request_id, 1_234))
    assert (composer.tokens.isVisible(), composer.tokens.text()) == (True, "+ 1,234 tokens")
    composer.set_text("short")
    assert not composer.tokens.isVisible()
    composer.attachments.set_attachments([file])
    qtbot.waitUntil(lambda: len(asked()) == 2)
    assert "a note" in str(asked()[1].request.raw_prompt)
    composer.attachments.set_attachments([])
    workspace.tell(TokensCounted(asked()[1].request_id, 99))  # too late
    assert not composer.tokens.isVisible()
