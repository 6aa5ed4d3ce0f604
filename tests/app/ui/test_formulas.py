from __future__ import annotations

import subprocess
import sys

import pytest
from PySide6.QtGui import QGuiApplication, QImage, QTextCursor
from pytestqt.qtbot import QtBot

from app.chat.conversation import Message, MessageState
from app.chat.formula import Formula
from app.ui.theme.theme import Theme
from app.ui.transcript.formula_block import FormulaBlock
from app.ui.transcript.formula_text import OBJECT
from app.ui.transcript.markdown_style import plain_text
from app.ui.transcript.prose import ProseBlock
from app.ui.transcript.reply import ReplyView
from app.ui.transcript.table import TableBlock
from tests.app.ui.test_transcript import add_text
from tests.support.instant_typesetter import InstantTypesetter
from tests.support.scripted_workspace import READY


@pytest.fixture
def typesetter(theme: Theme) -> InstantTypesetter:
    typesetter = InstantTypesetter(theme)
    theme.formulas.use(typesetter)
    return typesetter


def make_prose(qtbot: QtBot, theme: Theme, text: str) -> ProseBlock:
    prose = ProseBlock(theme, text)
    qtbot.addWidget(prose)
    prose.resize(500, prose.fit(500))
    return prose


def ink_rows(image: QImage) -> list[int]:
    """Rows of a picture that are not all of one colour."""
    return [y for y in range(image.height()) if len({image.pixel(x, y) for x in range(image.width())}) > 1]


def test_a_formula_stands_in_the_text_and_copies_as_its_source(
    qtbot: QtBot, theme: Theme, typesetter: InstantTypesetter
) -> None:
    prose = make_prose(qtbot, theme, r"Let **$a_1 * b_2$** 😀 be \(c\), `$d$`.")

    assert prose.toPlainText() == f"Let {OBJECT} 😀 be {OBJECT}, $d$."
    prose.selectAll()
    prose.copy()
    assert QGuiApplication.clipboard().text() == r"Let $a_1 * b_2$ 😀 be \(c\), $d$."


def test_only_the_selected_formulas_are_copied(qtbot: QtBot, theme: Theme, typesetter: InstantTypesetter) -> None:
    prose = make_prose(qtbot, theme, "$a$ and $b$$c$ end")
    cursor = prose.textCursor()
    cursor.setPosition(2)
    cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
    prose.setTextCursor(cursor)

    prose.copy()

    assert QGuiApplication.clipboard().text().startswith("and ")
    assert "$a$" not in QGuiApplication.clipboard().text()


def test_letters_of_a_formula_stand_on_the_texts_baseline(
    qtbot: QtBot, theme: Theme, typesetter: InstantTypesetter
) -> None:
    bottoms = []
    for text in ("x", "$x$", r"$x$ $\frac{x}{x}$"):
        prose = make_prose(qtbot, theme, text)
        rows = ink_rows(prose.grab().toImage().copy(0, 0, 9, prose.height()))
        bottoms.append(prose.height() - rows[-1])

    assert abs(bottoms[0] - bottoms[1]) <= 1
    assert bottoms[2] > bottoms[1]  # the fraction hangs below the line


def test_what_cannot_be_read_is_shown_as_its_source(qtbot: QtBot, theme: Theme, typesetter: InstantTypesetter) -> None:
    prose = make_prose(qtbot, theme, r"Not $\frac{a$ but $b$")

    assert prose.toPlainText() == rf"Not $\frac{{a$ but {OBJECT}"


def test_a_formula_that_comes_later_replaces_its_source(
    qtbot: QtBot, theme: Theme, typesetter: InstantTypesetter
) -> None:
    typesetter.waits = True
    prose = make_prose(qtbot, theme, "Let $x$ be")
    assert prose.toPlainText() == "Let $x$ be"

    with qtbot.waitSignal(prose.height_changed):
        typesetter.answer_all()

    assert prose.toPlainText() == f"Let {OBJECT} be"


def test_each_formula_is_asked_for_once(qtbot: QtBot, theme: Theme, typesetter: InstantTypesetter) -> None:
    make_prose(qtbot, theme, "$x$ and $x$").set_text("$x$ and $x$ and $y$")

    assert typesetter.asked == [Formula("x"), Formula("y")]


def test_a_reply_has_a_block_for_a_formula_on_its_own(
    qtbot: QtBot, theme: Theme, typesetter: InstantTypesetter
) -> None:
    view = ReplyView(theme, Message(1, 1, "assistant", "So\n\n$$\n", 0.0, MessageState.STREAMING), READY)
    qtbot.addWidget(view)
    add_text(view, r"\frac{a}{b}")
    view.blocks.refresh()
    view.fit(600)
    block = view.blocks.widgets[1]
    assert not block.typeset

    add_text(view, "\n$$\n")
    view.blocks.refresh()

    assert view.blocks.widgets[1] is block
    assert block.typeset
    assert view.fit(600) > 0


def test_a_wide_formula_shrinks_and_then_scrolls(qtbot: QtBot, theme: Theme, typesetter: InstantTypesetter) -> None:
    wide = "$$" + "abc + " * 20 + "b$$"
    view = ReplyView(theme, Message(1, 1, "assistant", wide, 0.0), READY)
    qtbot.addWidget(view)
    block = view.blocks.widgets[0]
    assert isinstance(block, FormulaBlock)

    heights = [block.fit(width) for width in (2_000, 860, 200)]

    assert heights[1] < heights[0]
    assert heights[2] > heights[1]  # the bar


def test_cells_have_formulas(qtbot: QtBot, theme: Theme, typesetter: InstantTypesetter) -> None:
    table = TableBlock(theme, "| a | b |\n|---|---|\n| $x_1$ | 2 |")
    qtbot.addWidget(table)
    table.fit(400)

    table.copy()

    assert QGuiApplication.clipboard().text() == "a\tb\n$x_1$\t2"


def test_plain_text_keeps_the_source() -> None:
    assert plain_text("**Let** $a_1*b$:\n\n$$\nx\n$$") == "Let $a_1*b$:\n\n$$\nx\n$$"


def test_a_formula_takes_the_colour_of_the_theme(qtbot: QtBot, theme: Theme, typesetter: InstantTypesetter) -> None:
    prose = make_prose(qtbot, theme, r"$\rule{1em}{1em}\blacksquare W$")
    dark = min(prose.grab().toImage().pixelColor(x, y).lightness() for x in range(60) for y in range(20))
    theme.set_dark(True)
    prose.restyle()
    light = max(prose.grab().toImage().pixelColor(x, y).lightness() for x in range(60) for y in range(20))

    assert dark < 80
    assert light > 180


def test_the_window_never_loads_the_library() -> None:
    program = "import app.ui.main_window, app.bridge.workspace, sys; sys.exit('ziamath' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
