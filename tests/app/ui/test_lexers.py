from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.ui.theme.lexers import Lexers, title_of
from app.ui.theme.theme import Theme
from app.ui.transcript.blocks import Block, BlockKind
from app.ui.transcript.code import CodeBlock


def test_a_lexer_is_made_beside_the_window_and_then_kept(qtbot: QtBot) -> None:
    lexers = Lexers()
    with qtbot.waitSignal(lexers.came) as told:
        assert lexers.lexer("Python") is None
        assert lexers.lexer("python") is None  # asked for once
    assert told.args == ["python"]
    assert lexers.lexer("python") is lexers.lexer("Python") is not None


def test_a_language_that_nobody_knows_is_not_asked_for(qtbot: QtBot) -> None:
    lexers = Lexers()
    with qtbot.assertNotEmitted(lexers.came, wait=50):
        assert lexers.lexer("no such language") is None
        assert lexers.lexer("") is None


def test_titles_are_those_of_the_lexers() -> None:
    assert (title_of("PYTHON"), title_of("rs"), title_of("no such language")) == ("Python", "Rust", "")


def test_code_that_grows_is_coloured_when_its_lexer_comes(qtbot: QtBot, theme: Theme) -> None:
    block = CodeBlock(theme, Block(BlockKind.CODE, "def f():", "python", closed=False))
    qtbot.addWidget(block)
    plain = block.colors()
    qtbot.waitUntil(lambda: theme.palette.keyword.lower() in block.colors())
    assert theme.palette.keyword.lower() not in plain
    block.set_block(Block(BlockKind.CODE, "def f():\n    pass  # note", "python", closed=False))
    assert theme.palette.comment.lower() in block.colors()


def test_an_unknown_language_stays_plain(qtbot: QtBot, theme: Theme) -> None:
    block = CodeBlock(theme, Block(BlockKind.CODE, "def f(): pass", "no-such-language"))
    qtbot.addWidget(block)
    assert theme.palette.keyword.lower() not in block.colors()
