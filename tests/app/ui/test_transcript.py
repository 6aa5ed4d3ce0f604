from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextDocument
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.chat.conversation import Message, MessageState
from app.chat.engine_state import EnginePhase, EngineState
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from app.ui.transcript.code import CodeBlock
from app.ui.transcript.prose import ProseBlock, ThoughtBlock
from app.ui.transcript.reply import ReplyView
from app.ui.transcript.table import TableBlock, TableCell
from tests.support.instant_lexer_maker import InstantLexerMaker
from tests.support.scripted_workspace import READY, ScriptedWorkspace, statistics

ANSWER = """Two **bold** words and `code`.

- one
- two

| a | b |
|---|--:|
| 1 | 2 |

```python
def f(x):
    return "text"  # note
```

The end."""


def make_reply(qtbot: QtBot, theme: Theme, text: str, state: MessageState = MessageState.COMPLETE) -> ReplyView:
    view = ReplyView(theme, Message(1, 1, "assistant", text, 0.0, state), READY)
    qtbot.addWidget(view)
    view.fit(600)
    return view


def open_chat(window: MainWindow, workspace: ScriptedWorkspace, *turns: str) -> int:
    chat = workspace.add_conversation("Chat", 0, *turns)
    window.page.open(chat)
    return chat


def test_each_block_has_its_widget(qtbot: QtBot, theme: Theme) -> None:
    view = make_reply(qtbot, theme, "<think>hm</think>\n" + ANSWER)
    assert [type(widget) for widget in view.blocks.widgets] == [
        ThoughtBlock, ProseBlock, ProseBlock, TableBlock, CodeBlock, ProseBlock,
    ]  # fmt: skip


def test_streaming_ends_in_the_same_widgets_as_the_whole(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = open_chat(window, workspace, "Hello")
    workspace.turns.send(chat, "And?")
    for start in range(0, len(ANSWER), 7):
        workspace.stream(chat, ANSWER[start : start + 7])
    workspace.finish(chat)
    streamed = window.page.transcript.views[-1]
    assert isinstance(streamed, ReplyView)
    window.page.open(None)
    window.page.open(chat)
    whole = window.page.transcript.views[-1]
    assert isinstance(whole, ReplyView)
    assert [type(w) for w in streamed.blocks.widgets] == [type(w) for w in whole.blocks.widgets]
    assert streamed.text == whole.text == ANSWER


def add_text(view: ReplyView, text: str) -> None:
    """More of a reply has come."""
    view.change_text(replace(view.message, content=view.text + text))


def test_finished_blocks_are_not_touched_again(qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    view = make_reply(qtbot, theme, "", MessageState.STREAMING)
    add_text(view, "First paragraph.\n\nSecond")
    view.blocks.refresh()
    first = view.blocks.widgets[0]
    assert isinstance(first, ProseBlock)
    monkeypatch.setattr(ProseBlock, "set_text", _refuse_first(first))
    for _ in range(20):
        add_text(view, " more")
        view.blocks.refresh()
    assert view.blocks.widgets[0] is first
    assert first.toPlainText() == "First paragraph."


def _refuse_first(first: ProseBlock):  # type: ignore[no-untyped-def]
    original = ProseBlock.set_text

    def set_text(self: ProseBlock, text: str) -> None:
        assert self is not first
        original(self, text)

    return set_text


def test_the_first_token_shows_at_once(qtbot: QtBot, theme: Theme) -> None:
    view = make_reply(qtbot, theme, "", MessageState.STREAMING)
    qtbot.wait(40 + int(3 * view.blocks._cost_ms))  # a slow machine rests longer between refreshes
    add_text(view, "Now")
    widget = view.blocks.widgets[0]
    assert isinstance(widget, ProseBlock)
    assert widget.toPlainText() == "Now"


def test_the_caret_goes_with_the_reply_though_several_blocks_come_at_its_end(qtbot: QtBot, theme: Theme) -> None:
    message = Message(1, 1, "assistant", "", 0.0, MessageState.STREAMING)
    view = ReplyView(theme, message, READY)
    qtbot.addWidget(view)
    add_text(view, "I do not know that.")
    whole = "I do not know that.\n\nOr did you mean:\n\n- This?\n- That?\n\nSay which."
    view.set_message(replace(message, content=whole, state=MessageState.COMPLETE))
    assert not any(widget._caret for widget in view.blocks.widgets if isinstance(widget, ProseBlock))


def test_html_is_shown_as_text(qtbot: QtBot, theme: Theme) -> None:
    view = make_reply(qtbot, theme, 'a <b>b</b> <img src="https://example.org/x.png">')
    widget = view.blocks.widgets[0]
    assert isinstance(widget, ProseBlock)
    assert "<b>b</b>" in widget.toPlainText()
    assert "<img" in widget.toPlainText()


def test_code_is_coloured_labelled_and_copied(qtbot: QtBot, theme: Theme) -> None:
    theme.lexers.use(InstantLexerMaker(theme))
    view = make_reply(qtbot, theme, ANSWER)
    code = next(widget for widget in view.blocks.widgets if isinstance(widget, CodeBlock))
    roles = {theme.palette.keyword, theme.palette.string, theme.palette.comment, theme.palette.call}
    assert roles <= {color.lower() for color in code.colors()} or roles <= {c.upper() for c in code.colors()}
    copy = next(b for b in code.findChildren(QToolButton) if b.accessibleName() == "Copy code")
    copy.click()
    assert QGuiApplication.clipboard().text() == 'def f(x):\n    return "text"  # note'


def test_a_table_is_copied_as_tab_separated_text(qtbot: QtBot, theme: Theme) -> None:
    view = make_reply(qtbot, theme, ANSWER)
    table = next(widget for widget in view.blocks.widgets if isinstance(widget, TableBlock))
    table.copy()
    assert QGuiApplication.clipboard().text() == "a\tb\n1\t2"


def test_thoughts_are_folded(qtbot: QtBot, theme: Theme) -> None:
    view = make_reply(qtbot, theme, "<think>deep\n\nthoughts</think>\n\nHello")
    view.show()
    thought = view.blocks.widgets[0]
    assert isinstance(thought, ThoughtBlock)
    folded = view.fit(600)
    thought.findChildren(QToolButton)[0].click()
    assert view.fit(600) > folded + 30


def test_following_the_end(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = open_chat(window, workspace, "Hello", "Line.\n\n" * 80)
    workspace.turns.send(chat, "More")
    transcript = window.page.transcript
    bar = transcript.verticalScrollBar()
    workspace.stream(chat, "Text.\n\n" * 20)
    qtbot.waitUntil(lambda: bar.value() == bar.maximum())
    bar.setValue(bar.maximum() - 300)
    assert not transcript.follows
    jump = next(b for b in transcript.findChildren(QToolButton) if b.accessibleName() == "Jump to latest")
    assert jump.isVisible()
    held = bar.value()
    workspace.stream(chat, "Text.\n\n" * 20)
    qtbot.wait(80)
    assert bar.value() == held
    qtbot.mouseClick(jump, Qt.MouseButton.LeftButton)
    assert bar.value() == bar.maximum()
    assert not jump.isVisible()
    workspace.stream(chat, "Text.\n\n" * 20)
    qtbot.waitUntil(lambda: bar.value() == bar.maximum())


def test_a_long_chat_opens_at_its_end_and_fills_upwards(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("Long", 0, *["Question?", ANSWER] * 500)
    window.page.open(chat)
    window.repaint()
    transcript = window.page.transcript
    assert transcript.unbuilt > 900
    assert transcript.verticalScrollBar().value() == transcript.verticalScrollBar().maximum()
    before = transcript.unbuilt
    top = transcript.views[0]
    transcript.verticalScrollBar().setValue(0)
    qtbot.waitUntil(lambda: transcript.unbuilt < before - 4)
    assert abs(top.y() - transcript.verticalScrollBar().value() - 24) < 30


@pytest.mark.parametrize(
    ("state", "engine", "prefill", "words"),
    [
        (MessageState.QUEUED, READY, None, "Waiting for the other reply"),
        (
            MessageState.QUEUED,
            replace(READY, measuring=True),
            None,
            "Waiting until this machine is measured",
        ),
        (MessageState.QUEUED, READY.stopped("It stopped."), None, "Waiting for the engine to start again"),
        (MessageState.WAITING, replace(READY, phase=EnginePhase.STARTING), None, "Warming up"),
        (
            MessageState.WAITING,
            replace(READY, phase=EnginePhase.LOADING, fraction=0.38),
            None,
            "Loading the model, 38 %",
        ),
        (MessageState.WAITING, READY, 0.4, "Reading the prompt, 40 %"),
        (MessageState.STOPPED, READY, None, "Stopped"),
        (MessageState.INTERRUPTED, READY, None, "Interrupted"),
    ],
)
def test_the_strip_says_what_happens(
    qtbot: QtBot, theme: Theme, state: MessageState, engine: EngineState, prefill: float | None, words: str
) -> None:
    view = ReplyView(theme, Message(1, 1, "assistant", "", 0.0, state), engine)
    qtbot.addWidget(view)
    if prefill is not None:
        view.set_prefill(prefill)
    assert view.strip.status.text == words


def test_the_strip_says_how_long_the_prompt_takes(qtbot: QtBot, theme: Theme) -> None:
    view = ReplyView(theme, Message(1, 1, "assistant", "", 0.0, MessageState.WAITING), READY)
    qtbot.addWidget(view)
    view.set_prefill(0.4, 37.2)
    assert view.strip.status.text == "Reading the prompt, 40 %, 37 s left"


def test_the_strip_shows_figures_that_do_not_jitter(qtbot: QtBot, theme: Theme) -> None:
    message = Message(1, 1, "assistant", "x", 0.0, MessageState.STREAMING, statistics())
    view = ReplyView(theme, message, READY)
    qtbot.addWidget(view)
    assert "14.2 tok/s" in view.strip.status.text
    assert view.strip.status.text == "14.2 tok/s, first token 940 ms, Lookup"
    view.fit(744)
    places = view.strip.places()
    for speed in (11.1, 88.8, 9.4):
        view.set_message(replace(message, statistics=statistics(tokens=111, tokens_per_second=speed)))
        view.fit(744)
        assert view.strip.places() == places


def test_only_the_last_reply_offers_to_try_again(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = open_chat(window, workspace, "Hello")
    workspace.turns.send(chat, "And?")
    workspace.fail(chat, "It failed.")
    first = window.page.transcript.views[-1]
    assert isinstance(first, ReplyView)
    assert first.error.remedy_button.isVisible()
    workspace.turns.send(chat, "Again?")
    assert not first.error.remedy_button.isVisible()


def test_a_notice_stands_beside_the_reply(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = open_chat(window, workspace, "Hello", "Hi")
    workspace.change(chat, notices=("The 2 oldest messages were left out.",))
    view = window.page.transcript.views[-1]
    assert view.notice_texts == ["The 2 oldest messages were left out."]


def test_measuring_a_text_leaves_no_document_behind(
    qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies: list[QTextDocument] = []
    clone = QTextDocument.clone

    def kept(document: QTextDocument) -> QTextDocument:
        copies.append(clone(document))
        return copies[-1]

    monkeypatch.setattr(QTextDocument, "clone", kept)
    block = ProseBlock(theme, "Some words")
    qtbot.addWidget(block)
    assert block.fit(400) > 10
    qtbot.waitUntil(lambda: not any(isValid(copy) for copy in copies))


def test_a_text_is_never_laid_out_letter_by_letter(qtbot: QtBot, theme: Theme) -> None:
    """Qt goes through the rest of a word for each of its lines: 30,000 letters at a width of 0 take seconds."""
    block = ProseBlock(theme, "a" * 2000)
    qtbot.addWidget(block)
    assert block.document().firstBlock().layout().lineCount() < 100
    cell = TableCell(theme, "a" * 2000, Qt.AlignmentFlag.AlignLeft, head=False)
    assert cell.word_width > 2000
    assert cell.document.firstBlock().layout().lineCount() == 1
