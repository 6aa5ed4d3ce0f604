"""Images in a reply's Markdown."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QImage, QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.ui.theme.theme import Theme
from app.ui.transcript.formula_text import set_markdown
from app.ui.transcript.markdown_style import NO_HTML_MARKDOWN, plain_text
from app.ui.transcript.prose import ProseBlock


def links(document: QTextDocument) -> list[tuple[str, str]]:
    found = []
    block = document.begin()
    while block.isValid():
        part = block.begin()
        while not part.atEnd():
            shape = part.fragment().charFormat()
            found += [(part.fragment().text(), shape.anchorHref())] if shape.isAnchor() else []
            part += 1
        block = block.next()
    return found


def test_an_image_is_its_description_and_links_to_itself(qapp: QApplication) -> None:
    document = QTextDocument()
    set_markdown(document, "A ![cat](http://cats.example/1.png) and not `![x](y)`.", NO_HTML_MARKDOWN)
    assert document.toPlainText() == "A cat and not ![x](y)."
    assert links(document) == [("cat", "http://cats.example/1.png")]


def test_a_formula_beside_an_image_is_typeset(qapp: QApplication) -> None:
    document = QTextDocument()
    assert len(set_markdown(document, "![cat](c.png) weighs $m$", NO_HTML_MARKDOWN)) == 1


def test_a_copy_says_what_the_image_was(qapp: QApplication) -> None:
    assert plain_text("See ![the cat](c.png).").strip() == "See the cat."


def test_no_file_is_opened_for_a_reply(qtbot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "tall.png"
    picture = QImage(10, 500, QImage.Format.Format_RGB32)
    assert picture.save(str(file))
    prose = ProseBlock(Theme(), f"![a]({file.as_uri()})")
    qtbot.addWidget(prose)
    assert prose.fit(400) < 100
