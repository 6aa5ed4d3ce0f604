from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.bridge.worker import LexerMaker
from app.chat.markdown_blocks import Block, BlockKind
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Lexers, Theme, title_of
from app.ui.transcript import code as code_module
from app.ui.transcript.code import CodeBlock
from app.ui.transcript.reply import ReplyView
from tests.support.instant_lexer_maker import InstantLexerMaker
from tests.support.scripted_workspace import ScriptedWorkspace


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


def test_a_further_part_of_code_is_coloured_as_one_with_what_is_before(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    theme = window.page.transcript._theme
    theme.lexers.use(InstantLexerMaker())
    code = 'x = """\n' + "if it was for him\n" * 260 + '"""\n'
    window.page.open(workspace.add_conversation("Long", 0, "q", f"```python\n{code}```\n"))
    view = window.page.transcript.views[-1]
    assert isinstance(view, ReplyView)
    bar = window.page.transcript.verticalScrollBar()
    for place in (bar.maximum(), bar.maximum() // 2, 0):
        bar.setValue(place)
        qtbot.waitUntil(lambda: view.blocks.settled)
        parts = [widget for widget in view.blocks.widgets if isinstance(widget, CodeBlock)]
        assert parts
        for part in parts:
            assert theme.palette.string.lower() in part.colors()
            assert theme.palette.keyword.lower() not in part.colors()


def test_code_that_streams_is_lexed_in_proportion_to_its_length(
    window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    spans = code_module.spans_by_line
    monkeypatch.setattr(
        code_module, "spans_by_line", lambda code, lexer: (read.append(len(code)), spans(code, lexer))[1]
    )
    lines = "def f(x):  # a comment\n    return x + 1\n" * 40
    chat = workspace.turns.send(None, "Go")
    window.page.open(chat)
    workspace.stream(chat, "```python\n")
    for _ in range(40):
        workspace.stream(chat, lines)
        window.page.transcript.views[-1].blocks.refresh()
    workspace.finish(chat)
    assert 0 < sum(read) < 20 * 40 * len(lines)
    assert max(read) < 14_000
