from __future__ import annotations

from PySide6.QtGui import QGuiApplication, QKeySequence
from pytestqt.qtbot import QtBot

from app.chat.conversation import MessageState
from app.ui.commands import FIELD_KEYS, ShortcutTable, key_sections
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.reply import ReplyView
from tests.support.scripted_workspace import ScriptedWorkspace

ANSWER = "Two **words**.\n\n```py\nfirst\n```\n\n```sh\nlast\n```"


def run(window: MainWindow, name: str) -> None:
    assert window.commands[name].isEnabled(), name
    window.commands[name].trigger()


def test_no_row_of_a_field_has_the_same_key_as_another_or_no_key_at_all() -> None:
    for _, rows in FIELD_KEYS:
        keys = [key for _, keys in rows for key in keys]
        assert len(set(keys)) == len(keys)
        assert all(not QKeySequence(key).isEmpty() for key in keys)


def test_keys_are_none_that_a_field_for_text_needs(window: MainWindow) -> None:
    standard = QKeySequence.StandardKey
    needed = {
        keys.toString()
        for one in (standard.Copy, standard.Cut, standard.Paste, standard.Redo, standard.SelectAll,
                    standard.MoveToNextWord, standard.MoveToPreviousWord, standard.DeleteStartOfWord)
        for keys in QKeySequence.keyBindings(one)
    }  # fmt: skip
    used = {keys.toString() for command in window.commands for keys in command.action.shortcuts()}

    assert used & needed == set()


def test_the_table_has_every_command_with_a_key(window: MainWindow) -> None:
    rows = {done: keys for _, section in key_sections(window.commands) for done, keys in section}

    for command in window.commands:
        if command.action.shortcuts():
            assert len(rows[command.action.text()]) == len(command.action.shortcuts())
    assert rows["Send"] == ("Return",)


def test_a_key_opens_the_table(window: MainWindow) -> None:
    assert QKeySequence("Ctrl+/") in window.commands["shortcuts"].shortcuts()

    run(window, "shortcuts")

    table = window.findChild(ShortcutTable)
    assert table.isVisible()
    table.close()


def test_a_blank_chat_has_no_message_to_do_anything_with(window: MainWindow) -> None:
    names = (
        "stop",
        "regenerate",
        "continue",
        "edit",
        "copy-reply",
        "copy-plain",
        "copy-code",
        "next-version",
    )

    assert [name for name in names if window.commands[name].isEnabled()] == []


def test_the_last_reply_and_its_last_code_are_copied(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.page.open(workspace.add_conversation("Chat", 0, "Q", ANSWER))

    run(window, "copy-reply")
    assert QGuiApplication.clipboard().text() == ANSWER
    run(window, "copy-plain")
    assert QGuiApplication.clipboard().text() == "Two words.\n\nfirst\n\nlast"
    run(window, "copy-code")
    assert QGuiApplication.clipboard().text() == "last"


def test_a_reply_is_made_again_and_versions_are_stepped_through(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("Chat", 0, "Q", "first")
    window.page.open(chat)

    run(window, "regenerate")
    assert workspace.answered_anew(chat)
    assert window.commands["stop"].isEnabled()
    assert not window.commands["regenerate"].isEnabled()
    workspace.stream(chat, "second")
    workspace.finish(chat)
    assert not window.commands["next-version"].isEnabled()
    run(window, "previous-version")
    assert workspace.reply(chat).content == "first"
    run(window, "next-version")
    assert workspace.reply(chat).content == "second"


def test_stop_and_continue(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.turns.send(None, "Q")
    window.page.open(chat)
    workspace.stream(chat, "half")

    run(window, "stop")
    assert workspace.reply(chat).state is MessageState.STOPPED
    assert not window.commands["stop"].isEnabled()
    run(window, "continue")
    assert workspace.goes_on(chat)


def test_the_last_message_is_edited(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.page.open(workspace.add_conversation("Chat", 0, "One", "a", "Two", "b"))

    run(window, "edit")

    view = window.page.transcript.views[-2]
    assert isinstance(view, OwnMessage)
    assert view.editor is not None


LONG = "A sentence of some length. " * 200  # one block: higher than the view, and light


def answered_twice(window: MainWindow, workspace: ScriptedWorkspace, chat: int, at: int, text: str) -> None:
    """A second version of a reply, and the first one shown again."""
    reply = workspace.library.messages(chat)[at]
    workspace.turns.regenerate(chat, reply.id)
    workspace.stream(chat, text)
    workspace.finish(chat)
    workspace.turns.choose(chat, reply.id)


def texts(window: MainWindow) -> list[str]:
    return [view.text for view in window.page.transcript.views]


def test_versions_are_stepped_through_of_the_message_that_has_the_focus(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("Chat", 0, "Q", "upper", "Q", "lower")
    window.page.open(chat)
    answered_twice(window, workspace, chat, 3, "other lower")
    answered_twice(window, workspace, chat, 1, "other upper")
    upper = window.page.transcript.views[1]
    assert isinstance(upper, ReplyView)

    run(window, "previous-version")
    assert texts(window)[1::2] == ["upper", "lower"]
    upper.blocks.widgets[0].setFocus()
    run(window, "next-version")
    assert texts(window)[1::2] == ["other upper"]
    run(window, "previous-version")  # the keyboard has gone on to the version in its place
    assert texts(window)[1] == "upper"


def test_versions_are_stepped_through_of_the_lowest_message_in_view(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("Chat", 0, "Q", "upper", "Q", LONG)
    window.page.open(chat)
    answered_twice(window, workspace, chat, 3, LONG + "other")
    answered_twice(window, workspace, chat, 1, "other upper")
    bar = window.page.transcript.verticalScrollBar()

    bar.setValue(bar.maximum())
    run(window, "previous-version")
    assert [texts(window)[1], texts(window)[3]] == ["upper", LONG]
    workspace.turns.edit(chat, workspace.library.messages(chat)[2].id, "Q, in other words")
    workspace.stream(chat, LONG)
    workspace.finish(chat)
    window.page.transcript.show_message(workspace.library.messages(chat)[0].id)
    run(window, "previous-version")  # of one's own message: the reply below has no other version
    assert texts(window)[2] == "Q"
    run(window, "next-version")  # back, though the reply below has another version here
    assert texts(window)[2] == "Q, in other words"


def test_nothing_is_stepped_through_out_of_view(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("Chat", 0, "Q", "upper", "Q", LONG)
    window.page.open(chat)
    answered_twice(window, workspace, chat, 1, "other")
    bar = window.page.transcript.verticalScrollBar()
    window.page.transcript.jump_to_latest()
    assert not window.commands["next-version"].isEnabled()

    bar.setValue(0)

    assert window.commands["next-version"].isEnabled()


def test_the_reply_in_view_and_its_code_in_view_are_copied(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    upper = f"```py\none\n```\n\n{LONG}\n\n```py\ntwo\n```"
    window.page.open(workspace.add_conversation("Chat", 0, "Q", upper, "Q", LONG))
    transcript = window.page.transcript
    transcript.show_message(transcript.messages[0].id)

    run(window, "copy-reply")
    assert QGuiApplication.clipboard().text() == upper
    run(window, "copy-code")
    assert QGuiApplication.clipboard().text() == "one"
    transcript.show_message(transcript.messages[2].id)
    transcript.verticalScrollBar().setValue(transcript.verticalScrollBar().value() - 80)
    run(window, "copy-reply")
    assert QGuiApplication.clipboard().text() == LONG
    run(window, "copy-code")
    assert QGuiApplication.clipboard().text() == "two"


def test_the_message_that_the_reply_in_view_answers_is_edited(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("Chat", 0, "One", LONG, "Two", LONG * 4)
    window.page.open(chat)

    run(window, "edit")

    asked = workspace.library.messages(chat)[2]
    view = window.page.transcript.view_of(asked.id)
    assert isinstance(view, OwnMessage)
    assert view.editor is not None


def test_the_last_reply_is_made_again_from_far_above(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    turns = [text for number in range(40) for text in (f"Q{number}", LONG)]
    chat = workspace.add_conversation("Chat", 0, *turns)
    window.page.open(chat)
    last = workspace.library.messages(chat)[-1]
    window.page.transcript.show_message(workspace.library.messages(chat)[0].id)
    assert window.page.transcript.view_of(last.id) is None

    run(window, "regenerate")

    assert workspace.answered_anew(chat)


def test_chats_are_stepped_through_in_the_order_of_the_list(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    older, newer = (workspace.add_conversation(name, age, "Q", "A") for name, age in (("b", 90.0), ("a", 1.0)))

    run(window, "next-chat")
    assert window.page.current == newer
    assert not window.commands["previous-chat"].isEnabled()
    run(window, "next-chat")
    assert window.page.current == older
    assert not window.commands["next-chat"].isEnabled()
    run(window, "previous-chat")
    assert window.page.current == newer


def test_saved_chats_can_be_stepped_to_as_soon_as_the_window_is_there(
    qtbot: QtBot, theme: Theme, workspace: ScriptedWorkspace
) -> None:
    older, newer = (workspace.add_conversation(name, age, "Q", "A") for name, age in (("b", 90.0), ("a", 1.0)))
    window = MainWindow(theme, workspace)
    qtbot.addWidget(window)

    for chat in (newer, older):
        assert window.commands["next-chat"].isEnabled()
        run(window, "next-chat")
        assert window.page.current == chat


def test_menus_of_model_and_draft_open(window: MainWindow) -> None:
    run(window, "choose-draft")
    mode = window.page.composer.draft_button.popup
    mode.close()
    run(window, "choose-model")
    model = window.page.header.model_button.popup
    model.close()


def test_a_command_of_a_message_leads_back_to_the_chat(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.page.open(workspace.add_conversation("Chat", 0, "Q", "A"))
    run(window, "models")
    assert window.places.current == "models"

    run(window, "edit")

    assert window.places.current == "chat"


def test_a_failed_reply_is_tried_again(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("Chat", 0, "Q", "A")
    window.page.open(chat)
    workspace.change(chat, state=MessageState.FAILED, error="It broke.")

    run(window, "regenerate")

    assert workspace.answered_anew(chat)
