"""Text of a model, or of a file of chats, opens no file: neither as Markdown nor in a label or a tool tip."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage, QTextDocument, QTextFragment
from PySide6.QtWidgets import QApplication, QTextEdit, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from app.chat.conversation import MessageState
from app.ui.main_window import MainWindow
from app.ui.parts import InertDocument, PlainLabel, PlainQuestion
from app.ui.theme.theme import Theme
from app.ui.transcript.markdown_style import plain_text
from app.ui.transcript.reply_blocks import ReplyBlocks
from app.ui.transcript.table import TableGrid
from tests.support.fast_cases import examples
from tests.support.opened_files import AVAILABLE, OpenedFiles
from tests.support.scripted_workspace import ScriptedWorkspace
from tests.support.sources import tree_of

ROOT = Path(__file__).resolve().parents[3]
linux = pytest.mark.skipif(not AVAILABLE, reason="only Linux tells which files are opened")


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "picture.png"
    QImage(300, 200, QImage.Format.Format_RGB32).save(str(path))
    return path


@pytest.fixture
def opened(picture: Path) -> Iterator[OpenedFiles]:
    files = OpenedFiles(picture)
    yield files
    files.close()


ATTACKS = (
    # A mark that Tenon takes out makes an image of what is none.
    "|h|\n|-|\n|[b](http://x/$y$) !\ufffc[a](ADDRESS)|",
    "[b](http://x/$y$) !\ufffc[a](ADDRESS)",
    "![a](ADDRESS)",
    "![a][r]\n\n[r]: ADDRESS",
    "|h|\n|-|\n|![a](ADDRESS) $x$|",
    "- ![a](ADDRESS)\n- [![a](ADDRESS)](http://x)",
    "> # ![$y$](ADDRESS)",
    "<think>![a](ADDRESS)</think>![b](ADDRESS)",
    '<img src="ADDRESS">\n\n<link rel="stylesheet" href="ADDRESS">',
    '|h|\n|-|\n|<img src="ADDRESS"> &#xfffc;|',
    "```\n![a](ADDRESS)\n```\n\n\\[ ![a](ADDRESS) \\]",
)


@linux
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("scheme", ["file://", ""])
def test_a_reply_opens_no_file(
    qtbot: QtBot, theme: Theme, picture: Path, opened: OpenedFiles, attack: str, scheme: str
) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    blocks = ReplyBlocks(theme, page)
    text = attack.replace("ADDRESS", f"{scheme}{picture}")
    for end in (len(text) // 2, len(text)):  # as it is written, and when it is complete
        blocks.set_text(text[:end])
        blocks.resize(600, blocks.fit(600))
        blocks.show()
        qtbot.wait(1)
    blocks.set_complete(True)
    blocks.fit(600)
    blocks.grab()
    plain_text(text)
    assert opened.count() == 0


# Pieces of Markdown, formulas and Tenon's own marks, in any order.
PIECES = st.sampled_from(
    (
        "![", "[", "](", ")", "ADDRESS", "[r]: ADDRESS", "[r]", "$", "$$", "\\(", "\\)", "x", "y^2", "!", "\ufffc",
        "&#xfffc;", "&#33;", "\n", "\n\n", "|", "|h|\n|-|\n|", "- ", "> ", "# ", "`", "```\n", "<", ">", "*", "\\", " ",
        "<img src=ADDRESS>", "<think>",
    )
)  # fmt: skip


@linux
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, min_size=2, max_size=24), st.sampled_from(["file://", ""]))
def test_no_markdown_opens_a_file_or_leaves_an_image(
    qapp: QApplication, theme: Theme, picture: Path, opened: OpenedFiles, pieces: list[str], scheme: str
) -> None:
    text = "".join(pieces).replace("ADDRESS", f"{scheme}{picture}")
    page = QWidget()
    blocks = ReplyBlocks(theme, page)
    blocks.set_text(text)
    blocks.set_complete(True)
    blocks.resize(600, blocks.fit(600))
    blocks.grab()
    for edit in blocks.findChildren(QTextEdit):
        assert type(edit.document()) is InertDocument
        assert not has_images(edit.document())
    for grid in blocks.findChildren(TableGrid):
        assert not any(has_images(cell.document) for cell in grid._cells())
    plain_text(text)
    page.deleteLater()
    assert opened.count() == 0


def has_images(document: QTextDocument) -> bool:
    """True if anything in a document is shown as an image; looks at the cleaned text."""
    return any(fragment.charFormat().isImageFormat() for fragment in fragments(document))


def fragments(document: QTextDocument) -> Iterator[QTextFragment]:
    block = document.begin()
    while block.isValid():
        part = block.begin()
        while not part.atEnd():
            yield part.fragment()
            part += 1
        block = block.next()


@linux
@pytest.mark.parametrize("markup", ['<img src="ADDRESS">', '<link rel="stylesheet" href="ADDRESS">x'])
def test_labels_boxes_and_tips_show_markup_as_it_is(
    qtbot: QtBot, theme: Theme, picture: Path, opened: OpenedFiles, markup: str
) -> None:
    theme.apply()
    text = "Remove " + markup.replace("ADDRESS", str(picture))
    page = QWidget()
    qtbot.addWidget(page)
    label = PlainLabel(text, page)
    assert label.sizeHint().width() > 100
    page.show()
    QToolTip.showText(QPoint(5, 5), text, page)
    assert QToolTip.text() == text
    qtbot.wait(1)
    QToolTip.hideText()
    box = PlainQuestion(text, text, page)
    box.show()
    qtbot.wait(1)
    box.close()
    assert opened.count() == 0


@linux
def test_a_chat_that_somebody_else_made_opens_no_file(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, picture: Path, opened: OpenedFiles
) -> None:
    evil = f'<img src="{picture}"> ![a]({picture})'
    chat = workspace.add_conversation(evil, 0, evil, evil)
    workspace.change(chat, notices=(evil,), error=evil, state=MessageState.FAILED, model=evil)
    window.page.open(chat)
    window.show()
    qtbot.wait(50)
    window.grab()
    for widget in window.findChildren(QWidget):
        if widget.toolTip():
            QToolTip.showText(QPoint(5, 5), widget.toolTip(), widget)
    qtbot.wait(1)
    QToolTip.hideText()
    assert opened.count() == 0


# Classes that make a document of their own, and the one place that may name each.
LOADING = {
    "QTextDocument",
    "QLabel",
    "QMessageBox",
    "QTextEdit",
    "QTextBrowser",
    "QStaticText",
    "QErrorMessage",
}


def test_every_document_in_the_window_is_one_that_loads_nothing() -> None:
    found = []
    for path in sorted((ROOT / "app").rglob("*.py")):
        if path.relative_to(ROOT).as_posix() == "app/ui/parts.py":
            continue
        tree = tree_of(path)
        made_inert = "setDocument(InertDocument(" in path.read_text(encoding="utf-8")
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                names = [node.func.id] if isinstance(node.func, ast.Name) else []
                names += [node.func.attr] if isinstance(node.func, ast.Attribute) else []
            elif isinstance(node, ast.ClassDef):
                names = [base.id for base in node.bases if isinstance(base, ast.Name)]
            else:
                continue
            texts = {"QTextEdit", "QTextBrowser"} if made_inert else set()
            found += [f"{path.name}:{node.lineno} {name}" for name in names if name in LOADING - texts]
            found += [f"{path.name}:{node.lineno} clone" for name in names if name == "clone"]
    assert found == [], "InertDocument, PlainLabel and PlainQuestion of app/ui/parts.py take their place"
