from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.bridge.worker import LexerMaker
from app.chat.markdown_blocks import Block, BlockKind
from app.ui.theme.theme import Lexers, Theme, title_of
from app.ui.transcript.code import CodeBlock
from tests.support.instant_lexer_maker import InstantLexerMaker


@pytest.fixture
def maker(theme: Theme) -> LexerMaker:
    maker = LexerMaker(theme)
    theme.lexers.use(maker)
    return maker


def test_a_lexer_is_made_beside_the_window_and_then_kept(qtbot: QtBot, theme: Theme, maker: LexerMaker) -> None:
    with qtbot.waitSignal(theme.lexers.came) as told:
        assert theme.lexers.lexer("Python") is None
    assert told.args == ["python"]
    assert theme.lexers.lexer("python") is theme.lexers.lexer("Python") is not None


def test_each_language_is_asked_for_once_and_an_unknown_one_never() -> None:
    lexers, maker = Lexers(), InstantLexerMaker()
    lexers.use(maker)
    for language in ("Rust", "rust", "no such language", "", "RUST"):
        lexers.lexer(language)
    assert maker.asked == ["rust"]


def test_without_a_maker_code_stays_plain() -> None:
    assert Lexers().lexer("python") is None


def test_titles_are_those_of_the_lexers() -> None:
    assert (title_of("PYTHON"), title_of("rs"), title_of("no such language")) == ("Python", "Rust", "")


def test_code_that_grows_is_coloured_when_its_lexer_comes(qtbot: QtBot, theme: Theme, maker: LexerMaker) -> None:
    block = CodeBlock(theme, Block(BlockKind.CODE, "def f():", "python", closed=False))
    qtbot.addWidget(block)
    plain = block.colors()
    qtbot.waitUntil(lambda: theme.palette.keyword.lower() in block.colors())
    assert theme.palette.keyword.lower() not in plain
    block.set_block(Block(BlockKind.CODE, "def f():\n    pass  # note", "python", closed=False))
    assert theme.palette.comment.lower() in block.colors()


def test_an_unknown_language_stays_plain(qtbot: QtBot, theme: Theme, maker: LexerMaker) -> None:
    block = CodeBlock(theme, Block(BlockKind.CODE, "def f(): pass", "no-such-language"))
    qtbot.addWidget(block)
    assert theme.palette.keyword.lower() not in block.colors()
