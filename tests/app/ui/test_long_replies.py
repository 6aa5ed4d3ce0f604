"""A reply of any length costs what is seen: widgets are counted, and pieces of work measured in characters."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from app.chat.markdown_blocks import Block, BlockKind, BlockSplitter, joined_text
from app.chat.search import phrase_pattern
from app.ui.chat_page import find
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from app.ui.transcript import reply_blocks
from app.ui.transcript.markdown_style import plain_text
from app.ui.transcript.reply import ReplyView
from app.ui.transcript.reply_blocks import ReplyBlocks
from app.ui.transcript.selectable import SelectableText
from app.ui.transcript.table import TableCell, TableGrid
from tests.benchmarks.long_replies import KINDS
from tests.support.markdown import split_blocks
from tests.support.scripted_workspace import ScriptedWorkspace

PARAGRAPHS = [f"paragraph number {number}" for number in range(3_000)]
_MOST = 120  # widgets: what fits into five heights of the window


def opened(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, text: str) -> ReplyView:
    window.page.open(workspace.add_conversation("Long", 0, "q", text))
    view = window.page.transcript.views[-1]
    assert isinstance(view, ReplyView)
    qtbot.waitUntil(lambda: view.blocks.settled)
    return view


def first_seen(window: MainWindow, view: ReplyView) -> str:
    """The text at the upper edge of the view."""
    top = window.page.transcript.verticalScrollBar().value() - view.y() - view.blocks.y()
    widget = next(widget for widget in view.blocks.widgets if widget.y() + widget.height() > top)
    part = widget.selectables()[0]
    assert isinstance(part, SelectableText)
    return part.toPlainText()


# --- parts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_no_block_is_long(kind: str) -> None:
    blocks = split_blocks(KINDS[kind](60_000))
    most = {BlockKind.CODE: 8_300, BlockKind.THINK: 8_300}
    assert max(len(block.text) - most.get(block.kind, 2_300) for block in blocks) <= 0


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_the_same_however_the_text_comes(kind: str) -> None:
    text = KINDS[kind](30_000)
    splitter = BlockSplitter()
    for start in range(0, len(text), 7):
        splitter.feed(text[start : start + 7])
    splitter.finish()
    assert splitter.frozen == split_blocks(text)


@pytest.mark.parametrize(
    "text",
    [
        "a line of a poem\n" * 999 + "end",
        "word " * 4_000 + "end",
        "x" * 9_000,
        "- an item\n" * 999 + "- end",
        "\n\n".join(PARAGRAPHS),
    ],
    ids=["lines", "words", "one word", "list", "paragraphs"],
)
def test_parts_make_the_text(text: str) -> None:
    assert joined_text((block.text, block.joined) for block in split_blocks(text)) == text


def test_parts_of_code_and_tables_are_one_in_plain_text(qtbot: QtBot) -> None:
    code = "\n".join(f"line {number}" for number in range(900))
    assert plain_text(f"```\n{code}\n```") == code
    rows = [f"{number}\tx" for number in range(500)]
    table = "|a|b|\n|-|-|\n" + "\n".join(f"|{number}|x|" for number in range(500))
    assert plain_text(table) == "\n".join(["a\tb", *rows])


def test_code_is_parted_before_a_line_that_begins_something() -> None:
    function = "def f():\n" + "    x = 1\n" * 9 + "\n"
    parts = split_blocks(f"```py\n{function * 60}```")
    assert len(parts) > 3
    assert all(part.text.startswith("def") for part in parts)


# --- widgets --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["short paragraphs", "code blocks", "rows of a table", "lines of code", "rules", "lines"]
)
def test_what_is_near_the_view_is_made_of_widgets(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    turns: list[int] = []
    build_more = ReplyBlocks._build_more

    def watched(blocks: ReplyBlocks) -> None:
        build_more(blocks)
        turns.append(blocks._spent)

    monkeypatch.setattr(ReplyBlocks, "_build_more", watched)
    view = opened(qtbot, window, workspace, KINDS[kind](40_000))
    bar = window.page.transcript.verticalScrollBar()
    assert bar.maximum() > 3 * window.height()
    for place in (bar.maximum(), bar.maximum() // 2, bar.maximum() // 3, 0, bar.maximum()):
        bar.setValue(place)
        qtbot.waitUntil(lambda: view.blocks.settled)
        assert 0 < len(view.blocks.widgets) < _MOST
        top = bar.value() - view.y() - view.blocks.y()
        seen = [w for w in view.blocks.widgets if w.y() < top + window.height() / 2 and w.y() + w.height() > top]
        assert seen
    assert max(turns) < 4 * reply_blocks._WORK


def test_a_long_text_is_parsed_in_pieces(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    fed: list[int] = []
    feed = BlockSplitter.feed
    monkeypatch.setattr(BlockSplitter, "feed", lambda splitter, text: (fed.append(len(text)), feed(splitter, text))[1])
    view = opened(qtbot, window, workspace, "word " * 40_000)
    assert 200_000 <= sum(fed) < 250_000  # what is near the view is parsed again
    assert max(fed) <= reply_blocks._FED
    assert view.text == "word " * 40_000


def test_what_is_read_stays_when_heights_change(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    view = opened(qtbot, window, workspace, "\n\n".join(f"{text} " * 30 for text in PARAGRAPHS[:400]))
    bar = window.page.transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    qtbot.waitUntil(lambda: view.blocks.settled)
    before = first_seen(window, view)
    for width in (700, 1_000):
        window.resize(width, 700)
        qtbot.waitUntil(lambda: view.blocks.settled)
        number = int(first_seen(window, view).split()[2])
        assert abs(number - int(before.split()[2])) <= 2


def test_a_reply_that_streams_below_leaves_what_is_read(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.turns.send(None, "Go")
    window.page.open(chat)
    workspace.stream(chat, "\n\n".join(PARAGRAPHS[:300]))
    view = window.page.transcript.views[-1]
    assert isinstance(view, ReplyView)
    qtbot.waitUntil(lambda: bool(view.text) and view.blocks.settled)
    bar = window.page.transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 2_000)
    bar.setValue(900)
    qtbot.waitUntil(lambda: view.blocks.settled and first_seen(window, view) != "")
    before = first_seen(window, view)
    for start in range(300, 1_500, 100):
        workspace.stream(chat, "\n\n" + "\n\n".join(PARAGRAPHS[start : start + 100]))
        qtbot.wait(40)
        assert len(view.blocks.widgets) < _MOST
    assert first_seen(window, view) == before
    workspace.finish(chat)
    window.page.transcript.jump_to_latest()
    qtbot.waitUntil(lambda: view.blocks.settled)
    last = view.blocks.widgets[-1].selectables()[0]
    assert isinstance(last, SelectableText)
    assert last.toPlainText() == PARAGRAPHS[1_499]


@pytest.mark.parametrize("kind", ["short paragraphs", "code blocks", "lines"])
def test_what_is_far_from_the_view_keeps_no_blocks(qtbot: QtBot, theme: Theme, kind: str) -> None:
    blocks = ReplyBlocks(theme, None)  # type: ignore[arg-type]
    qtbot.addWidget(blocks)
    text = KINDS[kind](400_000)
    blocks.set_text(text)
    while blocks.split.fed < len(text):
        blocks._feed()
    assert blocks.fit(700) <= reply_blocks._TALLEST_PX + 30_000
    for top in (0, blocks.fit(700) // 2):
        blocks.see(top, top + 600)
        for _ in range(6):
            blocks.fit(700)
            blocks._build_more()
        near = [section for section in blocks.sections if section.pieces]
        assert 0 < len(near) < 8
        assert 0 < len(blocks.widgets) < _MOST
    assert len(blocks.sections) < text.count("\n") / 250
    whole = whole_blocks([block for section in blocks.sections[:-1] for block in blocks.split.blocks_of(section)])
    assert whole[:-1] == whole_blocks(split_blocks(text))[: len(whole) - 1]


def test_thoughts_of_any_length_unfold_in_parts(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    text = "before\n\n<think>" + "\n\n".join(PARAGRAPHS) + "</think>\n\nafter"
    view = opened(qtbot, window, workspace, text)
    bar = window.page.transcript.verticalScrollBar()
    assert bar.maximum() < 200
    for shown in (True, False):
        bar.setValue(0)
        qtbot.waitUntil(lambda: view.blocks.settled)
        (button,) = (one for one in view.findChildren(QToolButton) if one.accessibleName() == "Thoughts of the model")
        button.setChecked(shown)
        qtbot.waitUntil(lambda: view.blocks.settled)
        assert (bar.maximum() > 3_000) == shown
        assert sum(bool(section.pieces) for section in view.blocks.sections) < 5
        assert len(view.blocks.widgets) < _MOST
    assert plain_text(text) == "before\n\nafter"


def test_a_search_looks_through_a_long_text_in_pieces(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(qtbot, window, workspace, "word " * 100_000 + "needle")
    looked: list[int] = []
    visible = reply_blocks.visible_text
    monkeypatch.setattr(reply_blocks, "visible_text", lambda text: (looked.append(len(text)), visible(text))[1])
    finder = window.find_in_chat.finder
    finder.search(phrase_pattern("needle"))
    assert finder.total == 0
    assert sum(looked) < 2 * find._TURN
    qtbot.waitUntil(lambda: finder.number == 1)
    assert finder.total == 1
    assert max(looked) < 10_000


# --- what reaches over it -------------------------------------------------------------------------------------


def test_all_of_it_is_copied(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    text = "\n\n".join(PARAGRAPHS)
    view = opened(qtbot, window, workspace, text)
    part = view.blocks.widgets[-1].selectables()[0]
    part.setFocus()
    qtbot.keyClick(part, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(part, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == text


def test_a_selection_holds_what_is_no_widget_between_its_ends(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    view = opened(qtbot, window, workspace, "\n\n".join(PARAGRAPHS))
    bar = window.page.transcript.verticalScrollBar()
    bar.setValue(0)
    qtbot.waitUntil(lambda: view.blocks.settled)
    first = view.blocks.widgets[1].selectables()[0]
    assert isinstance(first, SelectableText)
    qtbot.mousePress(first.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(0, 8))
    bar.setValue(bar.maximum())
    qtbot.waitUntil(lambda: view.blocks.settled)
    last = view.blocks.widgets[-1].selectables()[0]
    assert isinstance(last, SelectableText)
    window.page.transcript.selection._drag(last.mapToGlobal(QPoint(last.width(), 8)))
    qtbot.mouseRelease(last.viewport(), Qt.MouseButton.LeftButton)
    assert window.page.transcript.selection.text() == "\n\n".join(PARAGRAPHS[1:])
    assert len(view.blocks.widgets) < 2 * _MOST


def test_a_search_goes_to_what_is_no_widget(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    view = opened(qtbot, window, workspace, "\n\n".join(PARAGRAPHS))
    finder = window.find_in_chat.finder
    finder.search(phrase_pattern("paragraph number 1234"))
    qtbot.waitUntil(lambda: finder.total == 1)
    qtbot.waitUntil(lambda: view.blocks.settled)
    marked = [w for w in view.blocks.widgets if isinstance(w, SelectableText) and w.toPlainText() == PARAGRAPHS[1_234]]
    assert len(marked) == 1
    bar = window.page.transcript.verticalScrollBar()
    top = marked[0].y() + view.blocks.y() + view.y() - bar.value()
    assert 0 <= top < window.height()


def test_another_size_of_text_makes_few_widgets_anew(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    view = opened(qtbot, window, workspace, "\n\n".join(PARAGRAPHS))
    height = view.height()
    window.page.transcript._theme.set_scale(1.5)
    qtbot.waitUntil(lambda: view.blocks.settled)
    assert len(view.blocks.widgets) < _MOST
    assert view.height() > 1.2 * height


def test_unfolding_leaves_the_button_where_it_is(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    thought = "<think>" + "\n\n".join(PARAGRAPHS[:60]) + "</think>"
    view = opened(qtbot, window, workspace, "\n\n".join(PARAGRAPHS[:60]) + f"\n\n{thought}\n\nafter")
    column = window.page.transcript
    assert column.follows
    (button,) = (one for one in view.findChildren(QToolButton) if one.accessibleName() == "Thoughts of the model")
    place = button.mapTo(column, QPoint(0, 0))
    for shown in (True, False):
        button.setChecked(shown)
        qtbot.waitUntil(lambda: view.blocks.settled)
        assert column.follows == (not shown)
        assert abs(button.mapTo(column, QPoint(0, 0)).y() - place.y()) <= 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("plain", [False, True])
def test_what_is_skipped_has_the_same_blocks(qtbot: QtBot, theme: Theme, kind: str, plain: bool) -> None:
    blocks = ReplyBlocks(theme, None, plain=plain)  # type: ignore[arg-type]
    qtbot.addWidget(blocks)
    mixed = "# Head\n\nProse `code`\n\n- item\n\n  more\n\n```py\nx = 1\n\n# y\n```\n\n> quote\n\n1. one\n\n2. two\n\n"
    text = (mixed * 50 + KINDS[kind](30_000) + "\n\n" + mixed * 50) * 2
    blocks.set_text(text)
    while blocks.split.fed < len(text):
        blocks._feed()
    found = [block for section in blocks.sections[:-1] for block in blocks.split.blocks_of(section)]
    found += [*blocks.split.splitter.frozen, *blocks.split.splitter.tail()]
    if plain:
        assert joined_text((block.text, block.joined) for block in found).rstrip("\n") == text.rstrip("\n")
    else:
        assert whole_blocks(found) == whole_blocks(split_blocks(text))


def whole_blocks(blocks: list[Block]) -> list[tuple[BlockKind, str, str]]:
    """Return the blocks with their parts joined, because two splits may cut them in different places."""
    found: list[tuple[BlockKind, str, str]] = []
    for block in blocks:
        text = block.text
        if block.joined is None:
            found.append((block.kind, block.language, text))
            continue
        if block.kind is BlockKind.TABLE:
            text = text.split("\n", 2)[2]  # without the head
        kind, language, before = found.pop()
        assert (kind, language) == (block.kind, block.language)
        found.append((kind, language, f"{before}{block.joined}{text}"))
    return found


def test_a_long_text_is_seldom_split(qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[int] = []
    feed = BlockSplitter.feed
    monkeypatch.setattr(BlockSplitter, "feed", lambda splitter, text: (fed.append(len(text)), feed(splitter, text))[1])
    kinds = [
        "short paragraphs",
        "headings",
        "code blocks",
        "rules",
        "list",
        "quote",
        "thoughts",
        "rows of a table",
        "lines",
    ]
    for plain, kind in (*((False, kind) for kind in kinds), (True, "lines")):
        fed.clear()
        blocks = ReplyBlocks(theme, None, plain=plain)  # type: ignore[arg-type]
        qtbot.addWidget(blocks)
        blocks.set_text(KINDS[kind](400_000))
        while blocks.split.fed < len(blocks.text):
            blocks._feed()
        assert sum(fed) < 20_000


def test_a_search_that_shows_nothing_there_does_no_harm(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    opened(qtbot, window, workspace, "&amp;" * 4_000)
    finder = window.find_in_chat.finder
    finder.search(phrase_pattern("amp"))
    qtbot.waitUntil(lambda: not finder._worker.isActive())
    assert finder.number <= 1


def test_cells_that_stay_are_kept_while_a_table_grows(
    qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    init = TableCell.__init__
    monkeypatch.setattr(TableCell, "__init__", lambda cell, *given: (made.append(given[1]), init(cell, *given))[1])
    grid = TableGrid(theme, "|a|b|\n|-|-|\n" + "|x|x|\n" * 20 + "|y|y|")
    qtbot.addWidget(grid)
    made.clear()
    grid.set_markdown("|a|b|\n|-|-|\n" + "|x|x|\n" * 20 + "|y|y|\n|z|x|")
    assert sorted(made) == ["x", "z"]


def test_a_view_that_moves_over_heights_that_differ_comes_to_rest(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_blocks, "_TALLEST_PX", 40_000)
    text = "a\n\n" + "\n" * 40_000 + "p\n\n" * 40_000
    view = opened(qtbot, window, workspace, text)
    bar = window.page.transcript.verticalScrollBar()
    for place in range(10, -1, -1):
        bar.setValue(bar.maximum() * place // 10)
        qtbot.waitUntil(lambda: view.blocks.settled)
        assert len(view.blocks.widgets) < _MOST
