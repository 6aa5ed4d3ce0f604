"""The loop of calls in a chat: asked first, carried out in view, kept, and told to the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from pytestqt.qtbot import QtBot

from app.bridge import tools
from app.chat.conversation import Message, MessageState, ToolStep
from app.chat.exchange import chat_files
from app.chat.exchange.chat_files import ConversationRecord
from engine.messages import Generate, ToolCall
from engine.tools.calling import OfferedTool, Outcome
from engine.tools.servers import ToolServer, change_server, keep_server
from tests.support.scripted_workspace import ScriptedWorkspace

Calls = list[tuple[str, str]]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The calls that were carried out; each has a result with its number."""
    made: Calls = []

    def call(one: OfferedTool, wish: ToolCall, cancelled: Callable[[], bool]) -> Outcome:
        made.append((wish.name, wish.arguments))
        return Outcome(f"result {len(made)}", failed="bad" in wish.arguments, seconds=0.5)

    monkeypatch.setattr(tools, "call", call)
    return made


@pytest.fixture
def chat(workspace: ScriptedWorkspace, tmp_path: Path) -> int:
    """A chat that is shown, in which the model may read a folder."""
    workspace.tools.set_own("folder", str(tmp_path))
    workspace.tools.switch("folder", True)
    chat = workspace.turns.send(None, "What is in my folder?")
    workspace.open_chat.show(chat)
    return chat


def wish(name: str = "list_folder", **arguments: object) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def say(workspace: ScriptedWorkspace, chat: int, text: str, stop_reason: str = "end") -> None:
    """A turn of the model, in two pieces."""
    workspace.stream(chat, text[: len(text) // 2])
    workspace.stream(chat, text[len(text) // 2 :])
    workspace.finish(chat, text=text, stop_reason=stop_reason)


def states(workspace: ScriptedWorkspace, chat: int) -> list[str]:
    return [step.state for step in workspace.reply(chat).steps]


def test_a_call_is_asked_for_then_its_result_goes_to_the_model(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls
) -> None:
    say(workspace, chat, f"I look.\n{wish(path='a')}")
    qtbot.waitUntil(lambda: states(workspace, chat) == ["asks"])
    reply = workspace.reply(chat)
    assert reply.state is MessageState.QUEUED
    assert reply.content == "I look."
    assert made == []
    assert not workspace.replies.busy  # another chat could be answered
    workspace.tools.answer(reply.id, 0, "once")
    qtbot.waitUntil(lambda: workspace.reply(chat).state is MessageState.WAITING)
    assert [json.loads(arguments) for _, arguments in made] == [{"path": "a"}]
    qtbot.waitUntil(lambda: workspace.engine.last(Generate).messages[-1].role == "tool")
    asked = workspace.engine.last(Generate)
    user, call, result = asked.messages[-3:]
    assert (user.role, call.content, result.content) == ("user", "I look.", "result 1")
    assert call.calls[0].name == "list_folder"
    assert result.answers == call.calls[0].id
    assert [tool.name for tool in asked.tools.offered] == ["list_folder", "read_file", "search_files"]
    say(workspace, chat, "There is one file.")
    reply = workspace.reply(chat)
    assert reply.state is MessageState.COMPLETE
    assert reply.content == "I look.\n\nThere is one file."
    assert reply.steps == (ToolStep(0, 7, "list_folder", '{"path": "a"}', "list_folder", "done", "result 1", 0.5),)
    workspace.turns.send(chat, "And?")
    qtbot.waitUntil(lambda: workspace.engine.last(Generate).messages[-1].content == "And?")
    roles = [turn.role for turn in workspace.engine.last(Generate).messages]
    assert roles[-5:] == ["user", "assistant", "tool", "assistant", "user"]


@pytest.mark.parametrize("answer", ["chat", "always"])
def test_what_is_allowed_is_not_asked_again(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls, answer: tools.Answer
) -> None:
    say(workspace, chat, wish() + "\n" + wish())  # several in a turn
    qtbot.waitUntil(lambda: states(workspace, chat) == ["asks", "asks"])
    workspace.tools.answer(workspace.reply(chat).id, 1, answer)
    qtbot.waitUntil(lambda: workspace.reply(chat).state is MessageState.WAITING)
    assert len(made) == 2
    say(workspace, chat, wish(path="b"))
    qtbot.waitUntil(lambda: len(made) == 3)
    qtbot.waitUntil(lambda: workspace.reply(chat).state is MessageState.WAITING)
    say(workspace, chat, "Done.")
    other = workspace.turns.send(None, "And here?")
    workspace.open_chat.show(other)
    say(workspace, other, wish())
    asks = answer == "chat"
    qtbot.waitUntil(lambda: states(workspace, other) == (["asks"] if asks else ["done"]))


def test_a_refusal_and_a_failure_are_told_to_the_model(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls
) -> None:
    say(workspace, chat, "\n".join([wish(path="bad"), wish(path="b"), wish("no_such_tool")]))
    qtbot.waitUntil(lambda: states(workspace, chat)[0] == "asks")
    reply = workspace.reply(chat)
    workspace.tools.answer(reply.id, 1, "no")
    workspace.tools.answer(reply.id, 0, "once")
    qtbot.waitUntil(lambda: workspace.reply(chat).state is MessageState.WAITING)
    assert states(workspace, chat)[:2] == ["failed", "refused"]
    qtbot.waitUntil(lambda: workspace.engine.last(Generate).messages[-1].role == "tool")
    results = [turn.content for turn in workspace.engine.last(Generate).messages if turn.role == "tool"]
    assert results[:2] == ["result 1", "The user did not allow this call."]


def test_a_chat_that_is_not_shown_waits_with_its_question_and_its_calls(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls
) -> None:
    tool = workspace.tools.tool("folder", "list_folder")
    assert tool is not None
    workspace.tools.change_tool("folder", "list_folder", lambda one: replace(one, allowed=one.digest))
    told: list[str] = []
    workspace.notice.connect(told.append)
    workspace.open_chat.show(None)
    say(workspace, chat, wish())
    qtbot.wait(100)
    assert made == []
    assert states(workspace, chat) == ["asks"]
    assert any("wants to call a tool" in sentence for sentence in told)
    workspace.open_chat.show(chat)
    qtbot.waitUntil(lambda: states(workspace, chat) == ["done"])


def test_a_tool_that_was_switched_off_while_its_call_waited_is_not_called(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls, tmp_path: Path
) -> None:
    workspace.tools.change_tool("folder", "list_folder", lambda one: replace(one, allowed=one.digest))
    workspace.open_chat.show(None)
    say(workspace, chat, wish())
    workspace.tools.switch("folder", False)
    workspace.open_chat.show(chat)
    qtbot.waitUntil(lambda: states(workspace, chat) == ["failed"])
    assert made == []


def test_what_was_allowed_of_a_folder_is_asked_for_in_another(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls, tmp_path: Path
) -> None:
    workspace.tools.change_tool("folder", "list_folder", lambda one: replace(one, allowed=one.digest))
    workspace.tools._for_chat.add(tools._in_chat(chat, workspace.tools.offered()["list_folder"]))
    (tmp_path / "other").mkdir()
    workspace.tools.set_own("folder", str(tmp_path / "other"))
    offer = workspace.tools.offered()["list_folder"]
    assert not offer.tool.is_allowed
    assert tools._in_chat(chat, offer) not in workspace.tools._for_chat


def test_what_is_allowed_in_a_chat_is_not_allowed_of_another_server(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls
) -> None:
    tool = workspace.tools.tool("folder", "list_folder")
    assert tool is not None
    one, other = (ToolServer(name, "command", "none", on=True, tools=(tool,)) for name in ("one", "other"))
    workspace.tools._for_chat.add(tools._in_chat(chat, OfferedTool("a", one, tool)))
    assert tools._in_chat(chat, OfferedTool("b", other, tool)) not in workspace.tools._for_chat


def test_what_the_user_takes_back_while_a_server_is_asked_stays_taken_back(
    workspace: ScriptedWorkspace, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, chat: int
) -> None:
    tool = workspace.tools.tool("folder", "list_folder")
    keep_server(ToolServer("one", "command", "none", on=True, tools=(replace(tool, allowed=tool.digest),)), {})
    workspace.tools._read_again()

    def listed(server: ToolServer, opened: object, cancelled: object) -> ToolServer:
        change_server("one", lambda now: replace(now, tools=tuple(replace(t, allowed="") for t in now.tools)))
        return server

    monkeypatch.setattr(tools, "list_tools", listed)
    workspace.tools.connect_server("one")
    qtbot.waitUntil(lambda: not workspace.tools.busy)
    now = workspace.tools.tool("one", "list_folder")
    assert not now.is_allowed


def test_a_stop_ends_a_question_and_a_call_that_hangs(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, given_up = Event(), Event()

    def call(one: OfferedTool, wish: ToolCall, cancelled: Callable[[], bool]) -> Outcome:
        begun.set()
        while not cancelled():
            given_up.wait(0.01)
        given_up.set()
        return Outcome("late")

    monkeypatch.setattr(tools, "call", call)
    say(workspace, chat, wish())
    qtbot.waitUntil(lambda: states(workspace, chat) == ["asks"])
    workspace.tools.answer(workspace.reply(chat).id, 0, "once")
    qtbot.waitUntil(begun.is_set)
    workspace.replies.stop(chat)
    assert workspace.reply(chat).state is MessageState.STOPPED
    qtbot.waitUntil(given_up.is_set)
    qtbot.wait(50)
    assert states(workspace, chat) == ["runs"]  # what it would have brought comes too late
    workspace.turns.send(chat, "Go on.")
    qtbot.waitUntil(lambda: workspace.engine.last(Generate).messages[-1].content == "Go on.")
    assert "The call was not finished." in [turn.content for turn in workspace.engine.last(Generate).messages]


def test_a_loop_of_calls_ends(workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls) -> None:
    workspace.settings.tool_turns = 2
    workspace.tools.change_tool("folder", "list_folder", lambda one: replace(one, allowed=one.digest))
    for number in (1, 2):
        say(workspace, chat, wish(path=str(number)))
        while len(made) < number:
            qtbot.wait(5)
        qtbot.waitUntil(lambda: workspace.reply(chat).state is MessageState.WAITING)
    say(workspace, chat, wish())
    qtbot.waitUntil(lambda: not workspace.engine.last(Generate).tools.offered)
    say(workspace, chat, "There is one file.")
    reply = workspace.reply(chat)
    assert (reply.state, reply.content) == (MessageState.COMPLETE, "There is one file.")
    assert "2 rounds" in reply.notices[-1]
    assert states(workspace, chat) == ["done", "done"]


@pytest.mark.parametrize(("text", "kept"), [("", ""), ("I look once more.\n", "I look once more.")])
def test_a_call_in_the_place_of_the_answer_is_told_and_not_shown(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls, text: str, kept: str
) -> None:
    workspace.tools.change_tool("folder", "list_folder", lambda one: replace(one, allowed=one.digest))
    for turn in (wish(), wish()):
        say(workspace, chat, turn)
        qtbot.waitUntil(lambda: workspace.reply(chat).state is MessageState.WAITING)
    qtbot.waitUntil(lambda: not workspace.engine.last(Generate).tools.offered)
    say(workspace, chat, text + json.dumps({"name": "list_folder", "arguments": {}}))
    reply = workspace.reply(chat)
    assert (reply.state, reply.content, len(reply.steps)) == (MessageState.COMPLETE, kept, 1)
    assert "in place of an answer" in reply.notices[-1]


def test_a_call_that_fails_twice_alike_is_not_made_a_third_time(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "call", lambda one, wish, cancelled: Outcome("It is not there.", failed=True))
    workspace.tools.change_tool("folder", "list_folder", lambda one: replace(one, allowed=one.digest))
    for count in (1, 2, 2):
        say(workspace, chat, wish())
        qtbot.waitUntil(lambda: workspace.reply(chat).state is MessageState.WAITING)
        assert states(workspace, chat) == ["failed"] * count
    qtbot.waitUntil(lambda: not workspace.engine.last(Generate).tools.offered)


@pytest.mark.parametrize(
    ("first", "second"), [(wish(path="a"), wish(path="a")), (wish(path="a"), ""), (wish(path="bad"), "")]
)
def test_a_model_that_asks_again_or_says_nothing_answers_without_tools(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls, first: str, second: str
) -> None:
    workspace.tools.change_tool("folder", "list_folder", lambda one: replace(one, allowed=one.digest))
    completed: list[int] = []
    workspace.replies.completed.connect(completed.append)
    for turn in (first, second):
        say(workspace, chat, turn)
        qtbot.waitUntil(lambda: workspace.reply(chat).state is MessageState.WAITING)
    qtbot.waitUntil(lambda: not workspace.engine.last(Generate).tools.offered)
    assert len(made) == 1
    asked = workspace.engine.last(Generate)
    assert asked.messages[-1].role == "tool"
    assert completed == []
    say(workspace, chat, "There is one file.")
    assert completed == [chat]
    reply = workspace.reply(chat)
    assert (reply.state, reply.content) == (MessageState.COMPLETE, "There is one file.")
    workspace.turns.send(chat, "And?")
    qtbot.waitUntil(lambda: workspace.engine.last(Generate).messages[-1].content == "And?")
    assert workspace.engine.last(Generate).tools.offered


def test_a_call_is_repeated_after_another_one(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls
) -> None:
    workspace.tools.change_tool("folder", "list_folder", lambda one: replace(one, allowed=one.digest))
    for number, path in enumerate("aba", 1):
        say(workspace, chat, wish(path=path))
        qtbot.waitUntil(lambda count=number: len(made) == count)
        qtbot.waitUntil(lambda: workspace.reply(chat).state is MessageState.WAITING)
    assert states(workspace, chat) == ["done"] * 3


def test_a_call_that_was_stopped_before_it_was_made_is_asked_for_again(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls
) -> None:
    say(workspace, chat, f"I look.\n{wish(path='a')}")
    qtbot.waitUntil(lambda: states(workspace, chat) == ["asks"])
    workspace.replies.stop(chat)
    assert workspace.turns.continue_last(chat)
    qtbot.waitUntil(lambda: workspace.reply(chat).state is MessageState.WAITING)
    say(workspace, chat, wish(path="a"))
    qtbot.waitUntil(lambda: states(workspace, chat) == ["asks", "asks"])


def test_a_reply_that_was_stopped_before_it_answered_without_tools_has_them_when_it_goes_on(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls
) -> None:
    workspace.tools.change_tool("folder", "list_folder", lambda one: replace(one, allowed=one.digest))
    say(workspace, chat, f"I look.\n{wish(path='a')}")
    qtbot.waitUntil(lambda: workspace.reply(chat).state is MessageState.WAITING)
    workspace.replies.hold()
    say(workspace, chat, wish(path="a"))
    workspace.replies.stop(chat)
    workspace.replies.release()
    assert workspace.turns.continue_last(chat)
    qtbot.waitUntil(lambda: workspace.reply(chat).state is MessageState.WAITING)
    assert workspace.engine.last(Generate).tools.offered


def test_a_call_that_was_cut_short_is_not_made(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls
) -> None:
    say(workspace, chat, 'I look.\n<tool_call>\n{"name": "list_fol', stop_reason="length")
    assert workspace.reply(chat).state is MessageState.COMPLETE
    assert workspace.reply(chat).content == "I look."
    assert workspace.reply(chat).steps == ()


def test_a_tool_that_changed_is_asked_again(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = [Outcome("It is another tool now.", True, True), Outcome("result")]
    monkeypatch.setattr(tools, "call", lambda one, wish, cancelled: outcomes.pop(0))
    say(workspace, chat, wish())
    qtbot.waitUntil(lambda: states(workspace, chat) == ["asks"])
    workspace.tools.answer(workspace.reply(chat).id, 0, "once")
    qtbot.waitUntil(lambda: len(outcomes) == 1 and states(workspace, chat) == ["asks"])
    assert workspace.reply(chat).steps[0].result == "It is another tool now."
    workspace.tools.answer(workspace.reply(chat).id, 0, "once")
    qtbot.waitUntil(lambda: states(workspace, chat) == ["done"])


def test_thoughts_of_all_turns_are_one_thought(
    workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls
) -> None:
    say(workspace, chat, f"<think>\nI need a list.\n</think>\n\n{wish()}")
    qtbot.waitUntil(lambda: states(workspace, chat) == ["asks"])
    workspace.tools.answer(workspace.reply(chat).id, 0, "once")
    qtbot.waitUntil(lambda: workspace.reply(chat).state is MessageState.WAITING)
    say(workspace, chat, "<think>\nNow I know.\n</think>\n\nOne file.")
    assert workspace.reply(chat).content == "<think>\nI need a list.\n\nNow I know.\n</think>\n\nOne file."
    workspace.turns.send(chat, "And?")
    qtbot.waitUntil(lambda: workspace.engine.last(Generate).messages[-1].content == "And?")
    said = [turn.content for turn in workspace.engine.last(Generate).messages if turn.role == "assistant"]
    assert said == ["", "One file."]


def test_calls_are_kept_with_the_chat(workspace: ScriptedWorkspace, qtbot: QtBot, chat: int, made: Calls) -> None:
    say(workspace, chat, wish())
    qtbot.waitUntil(lambda: states(workspace, chat) == ["asks"])
    workspace.tools.answer(workspace.reply(chat).id, 0, "once")
    qtbot.waitUntil(lambda: workspace.reply(chat).state is MessageState.WAITING)
    say(workspace, chat, "One file.")
    workspace.written()
    reply = workspace.reply(chat)
    stored = next(one for one in workspace._database.reader.messages(chat) if one.id == reply.id)
    assert stored.steps == reply.steps
    conversation = workspace.library.conversation(chat)
    assert conversation is not None
    record = ConversationRecord(conversation, tuple(workspace.library.all_messages(chat)))
    (read,) = map(chat_files.conversation_from, chat_files.conversations_of(json.loads(chat_files.to_json([record]))))
    assert read.messages[-1].steps == reply.steps
    assert "list_folder: {}\n```\nresult 1\n```" in chat_files.to_markdown([record])
    workspace.turns.branch(chat, reply.id)
    copies: list[Message] = [
        message
        for one in workspace.library.all_conversations()
        if one.id != chat
        for message in workspace.library.messages(one.id)
    ]
    assert copies[-1].steps == reply.steps


def test_nothing_is_offered_until_it_is_switched_on(workspace: ScriptedWorkspace, qtbot: QtBot) -> None:
    assert workspace.tools.offered() == {}
    workspace.tools.switch("folder", True)
    assert workspace.tools.offered() == {}  # no folder was chosen
    chat = workspace.turns.send(None, "Hello")
    workspace.stream(chat, wish())
    workspace.finish(chat)
    assert workspace.reply(chat).content == wish()
    assert workspace.reply(chat).state is MessageState.COMPLETE
