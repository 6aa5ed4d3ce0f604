"""Order, folders, options and models of whole conversations."""

from __future__ import annotations

from app.chat.conversation import ConversationOptions, MessageState, Preset
from app.chat.engine_state import EnginePhase
from engine.messages import SamplingOptions
from tests.app.bridge.conftest import Desk
from tests.app.bridge.test_turns import Watching


def test_pinned_ones_stand_first_and_archived_ones_apart(desk: Desk) -> None:
    workspace = desk.open()
    first, second, third = (desk.answer(workspace, f"chat {number}\nsay 1") for number in range(3))
    with desk.qtbot.waitSignal(workspace.shelf.changed):
        workspace.shelf.pin(first)
    workspace.shelf.archive(second)
    workspace.shelf.pin(999)
    workspace.close()
    again = desk.open()
    assert [chat.id for chat in again.library.conversations()] == [first, third]
    assert [chat.id for chat in again.library.conversations(archived=True)] == [second]
    again.shelf.pin(first, False)
    assert [chat.id for chat in again.library.conversations()] == [third, first]
    desk.answer(again, "say 1", second)  # what is used is no longer archived
    assert [chat.id for chat in again.library.conversations()] == [second, third, first]


def test_folders_come_and_go_with_what_lies_in_them(desk: Desk) -> None:
    workspace = desk.open()
    first, second, third = (desk.answer(workspace, f"chat {number}\nsay 1") for number in range(3))
    workspace.shelf.move_to_folder(first, "  Work \n")
    workspace.shelf.move_to_folder(second, "home")
    assert workspace.shelf.folders() == ["home", "Work"]
    assert [chat.id for chat in workspace.library.conversations() if chat.folder == "Work"] == [first]
    assert [chat.id for chat in workspace.library.conversations() if not chat.folder] == [third]
    workspace.shelf.rename_folder("home", "Work")
    workspace.shelf.rename_folder("", "nothing")
    assert [chat.id for chat in workspace.library.conversations() if chat.folder == "Work"] == [second, first]
    workspace.close()
    again = desk.open()
    assert again.shelf.folders() == ["Work"]
    again.shelf.move_to_folder(first, " ")
    again.shelf.rename_folder("Work", "")
    assert again.shelf.folders() == []


def test_a_conversation_s_own_options_come_before_the_settings(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    workspace.settings.system_prompt = "Be polite."
    workspace.settings.temperature = 1.0
    options = ConversationOptions("Be brief.", 50, SamplingOptions(top_k=3))
    chat = workspace.turns.send(None, "echo", options=options)
    reply = desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert reply.content == "system:Be brief.|user:echo|"
    request = client.requests[-1]
    assert (request.sampling, request.max_tokens) == (SamplingOptions(temperature=1.0, top_k=3), 50)
    workspace.shelf.set_options(chat, ConversationOptions(system_prompt="", max_tokens=0))
    desk.answer(workspace, "echo", chat)
    assert workspace.library.messages(chat)[-1].content.startswith("user:echo|")
    assert client.requests[-1].max_tokens is None
    desk.answer(workspace, "echo")
    assert (
        workspace.library.messages(workspace.library.conversations()[0].id)[-1].content
        == "system:Be polite.|user:echo|"
    )
    workspace.close()
    conversation = desk.open().library.conversation(chat)
    assert conversation.options == ConversationOptions(system_prompt="", max_tokens=0)


def test_presets_are_kept_by_name(desk: Desk) -> None:
    workspace = desk.open()
    options = ConversationOptions("Translate to German.")
    with desk.qtbot.waitSignal(workspace.shelf.presets_changed):
        assert workspace.shelf.save_preset(" Translator\n", options) == Preset("Translator", options)
    workspace.shelf.save_preset("first name", options)
    workspace.shelf.rename_preset("first name", "other")
    workspace.shelf.rename_preset("first name", "nothing")
    workspace.shelf.rename_preset("other", " ")
    assert [preset.name for preset in workspace.shelf.presets()] == ["other", "Translator"]
    workspace.shelf.delete_preset("other")
    workspace.shelf.delete_preset("no such")
    workspace.close()
    assert desk.open().shelf.presets() == [Preset("Translator", options)]


def test_a_queued_reply_keeps_the_model_that_it_was_asked_of(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    running = workspace.turns.send(None, "slow 20")
    queued = workspace.turns.send(None, "say 1")
    desk.wait_for_state(workspace, running, MessageState.STREAMING)
    other = str(desk.folder / "other")
    workspace.choose_model(other)
    desk.wait_for_state(workspace, queued, MessageState.COMPLETE)
    assert [request.options.model for request in client.requests] == ["smollm2", "smollm2"]
    desk.wait_for_phase(workspace, EnginePhase.READY)
    assert workspace.model.state.model_ref == other
