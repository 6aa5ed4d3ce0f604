"""Characters in code that nobody would see have boxes, and are copied as they are."""

from __future__ import annotations

import unicodedata

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from app.chat.markdown_blocks import Block, BlockKind
from app.ui.theme.theme import Theme
from app.ui.transcript.code import CodeBlock
from app.ui.transcript.formula_text import OBJECT, selected_text
from app.ui.transcript.hidden_signs import HIDDEN
from app.ui.transcript.prose import ProseBlock
from app.ui.transcript.table import TableCell

TROJAN = "if access != \"user\u202e \u2066// only for admins\u2069 \u2066\" {\n    go(\u200b'x')\n}"
SIGNS = [
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    0x200B,
    0x200C,
    0x200D,
    0x200E,
    0x200F,
    0x61C,
    0xFEFF,
]
SIGNS += [
    0xAD,
    0x34F,
    0x3164,
    0xFE0F,
    0xE0001,
    *range(0xE0020, 0xE0080),
    0xE0100,
    0,
    0x1B,
    0x8,
    0x7F,
    0x2028,
    0x2029,
]


def code_block(qtbot: QtBot, theme: Theme, code: str, closed: bool = True) -> CodeBlock:
    block = CodeBlock(theme, Block(BlockKind.CODE, code, "rust", closed))
    qtbot.addWidget(block)
    return block


def shown(block: CodeBlock) -> str:
    return block._text.document().toRawText().replace("\u2029", "\n")


def copied(block: CodeBlock) -> str:
    cursor = QTextCursor(block._text.document())
    cursor.select(QTextCursor.SelectionType.Document)
    return selected_text(cursor)


@pytest.mark.parametrize("sign", SIGNS, ids=hex)
def test_each_sign_has_a_box(qtbot: QtBot, theme: Theme, sign: int) -> None:
    code = f"let a{chr(sign)}b = 1;\nlet c = 2;"
    block = code_block(qtbot, theme, code)
    assert shown(block) == code.replace(chr(sign), OBJECT)
    assert copied(block) == code
    assert block._hidden.text().startswith("1 hidden character")


def test_code_that_would_be_turned_around_is_read_as_it_is_run(qtbot: QtBot, theme: Theme) -> None:
    block = code_block(qtbot, theme, TROJAN)
    document = block._text.document()
    wide = [document.begin().layout().lineAt(0).cursorToX(at) for at in (5, 25, 40)]
    places = [place[0] if isinstance(place, tuple) else place for place in wide]
    assert places == sorted(places)  # from the left to the right
    assert copied(block) == TROJAN == block.code
    before = document.idealWidth()
    assert before > code_block(qtbot, theme, HIDDEN.sub("", TROJAN))._text.document().idealWidth()


@pytest.mark.parametrize(
    "code",
    ["s = '👩\u200d💻 ☀\ufe0f 1\ufe0f\u20e3 👍🏽 🏳\ufe0f\u200d🌈'", "x = 'नमस्ते ไทย é'\t\r\n", "plain = 1"],
)
def test_what_is_as_it_seems_has_none(qtbot: QtBot, theme: Theme, code: str) -> None:
    block = code_block(qtbot, theme, code)
    assert OBJECT not in shown(block)
    assert not block._hidden.text()


def test_code_that_comes_sign_by_sign_ends_as_the_whole(qtbot: QtBot, theme: Theme) -> None:
    code = TROJAN + " '👩\u200d💻' \U000e0041\U000e0042 end"
    block = code_block(qtbot, theme, "", closed=False)
    for end in range(1, len(code) + 1):
        block.set_block(Block(BlockKind.CODE, code[:end], "rust", closed=end == len(code)))
    assert shown(block) == shown(code_block(qtbot, theme, code))
    assert copied(block) == code
    assert block._hidden.text().startswith("7 hidden character")


def test_so_many_of_them_are_shown_that_drawing_them_costs_little(qtbot: QtBot, theme: Theme) -> None:
    block = code_block(qtbot, theme, "a" + "\u200b" * 5_000 + "b")
    assert shown(block) == "a" + OBJECT * 2_000 + "\ufffd" * 3_000 + "b"
    assert block._hidden.text().startswith("5000 hidden character")


@pytest.mark.parametrize("sign", ["\u202e", "\u200b", "\U000e0041", "\u2066"])
def test_inline_code_has_boxes_too_and_other_text_none(qtbot: QtBot, theme: Theme, sign: str) -> None:
    markdown = f"run `rm{sign} -rf` or {sign}not: $x^2$, `{sign}`"
    block = ProseBlock(theme, markdown)
    qtbot.addWidget(block)
    cursor = QTextCursor(block.document())
    cursor.select(QTextCursor.SelectionType.Document)
    assert selected_text(cursor) == markdown.replace("`", "")
    boxes = [at for at, character in enumerate(block.document().toRawText()) if character == OBJECT]
    assert len(boxes) == (2 if "$" in block.document().toRawText() else 3)
    cell = TableCell(theme, f"`a{sign}b`", Qt.AlignmentFlag.AlignLeft, False)
    assert cell.document.toRawText() == f"a{OBJECT}b"
    assert cell.text == f"a{sign}b"


def test_every_character_without_a_look_of_its_own_is_known() -> None:
    """What Unicode calls a format character is marked, but for those that are seen (Arabic number signs)."""
    unseen = {chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cf", "Zl", "Zp")}
    missed = sorted(f"{ord(sign):X}" for sign in unseen if HIDDEN.match(sign) is None)
    assert set(missed) <= {
        *(f"{code:X}" for code in (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD)),
        *(f"{code:X}" for code in range(0x13430, 0x13440)),  # of hieroglyphs
    }
