"""The model of each chat, and what a blank one is to set for itself."""

from __future__ import annotations

from app.chat.conversation import ConversationOptions
from app.chat.engine_state import EnginePhase
from tests.app.bridge.conftest import Desk
from tests.app.bridge.test_turns import Watching


def other_model(desk: Desk) -> str:
    (desk.folder / "other").mkdir()
    return str(desk.folder / "other")


def test_a_chat_keeps_its_model_when_tenon_starts_again(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    other = other_model(desk)
    chat = desk.answer(workspace, "say 1")
    workspace.open_chat.show(chat)
    workspace.choose_model(other)
    desk.wait_for_phase(workspace, EnginePhase.READY)
    desk.answer(workspace, "say 1", chat)
    assert [message.model for message in workspace.library.messages(chat)] == ["", "smollm2", "", other]
    workspace.open_chat.show(None)
    workspace.choose_model("smollm2")
    desk.answer(workspace, "say 1")
    workspace.close()
    again = desk.open(client := Watching(desk))
    desk.wait_for_phase(again, EnginePhase.READY)
    again.open_chat.show(chat)
    state = again.model.state
    assert (state.phase, state.model_name) == (EnginePhase.IDLE, "other")  # nothing is loaded by looking
    again.open_chat.show(None)
    assert again.model.state.model_ref == other
    again.open_chat.show(chat)
    desk.answer(again, "say 1", chat)
    assert client.requests[-1].options.model == other
    assert again.model.state.phase is EnginePhase.READY


def test_a_model_chosen_in_a_chat_is_kept_before_a_message_is_sent(desk: Desk) -> None:
    workspace = desk.open()
    other = other_model(desk)
    first, second = desk.answer(workspace, "say 1"), desk.answer(workspace, "say 1")
    workspace.open_chat.show(first)
    workspace.choose_model(other)
    workspace.open_chat.show(second)
    assert workspace.model.state.model_ref == "smollm2"
    workspace.open_chat.show(first)
    assert workspace.model.state.model_ref == other


def test_a_model_that_is_gone_is_told_once_and_the_current_one_goes_on(desk: Desk) -> None:
    workspace = desk.open()
    said: list[str] = []
    workspace.open_chat.said.connect(said.append)
    other = other_model(desk)
    chat = desk.answer(workspace, "say 1")
    workspace.open_chat.show(chat)
    workspace.choose_model(other)
    workspace.open_chat.show(None)
    workspace.choose_model("smollm2")
    (desk.folder / "other").rmdir()
    workspace.open_chat.show(chat)
    workspace.open_chat.show(None)
    workspace.open_chat.show(chat)
    assert workspace.settings.model == "smollm2"
    assert said == ["other is not on this computer any more: SmolLM2 135M answers in this chat from here on."]
    desk.answer(workspace, "say 1", chat)
    assert workspace.library.messages(chat)[-1].model == "smollm2"


def test_a_new_chat_keeps_the_model_of_the_chat_it_was_opened_from(desk: Desk) -> None:
    workspace = desk.open()
    other = other_model(desk)
    first = desk.answer(workspace, "say 1")
    workspace.open_chat.show(None)
    workspace.choose_model(other)
    second = desk.answer(workspace, "say 1")
    for chat, model in ((first, "smollm2"), (second, other)):
        workspace.open_chat.show(chat)
        workspace.open_chat.show(None)
        assert workspace.settings.model == model
    (desk.folder / "other").rmdir()
    workspace.open_chat.show(first)
    workspace.open_chat.show(second)  # whose model is gone
    workspace.open_chat.show(None)
    assert workspace.settings.model == "smollm2"


def test_looking_at_a_conversation_of_the_loaded_model_loads_nothing(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "say 1")
    ready = workspace.model.state
    workspace.settings.model = "elsewhere"
    workspace.open_chat.show(chat)
    assert workspace.model.state == ready
    assert workspace.settings.model == "smollm2"


def test_a_blank_chat_takes_options_or_the_preset_for_new_chats(desk: Desk) -> None:
    workspace = desk.open()
    shown = workspace.open_chat
    assert shown.options() == ConversationOptions()
    shown.set_options(ConversationOptions("Be brief."))
    assert shown.options() == ConversationOptions("Be brief.")
    chat = desk.answer(workspace, "echo")
    assert workspace.library.messages(chat)[-1].content == "system:Be brief.|user:echo|"
    workspace.open_chat.show(None)
    assert shown.options() == ConversationOptions()
    workspace.shelf.save_preset("Polite", ConversationOptions("Be polite."))
    workspace.settings.new_chat_preset = "Polite"
    assert shown.options() == ConversationOptions("Be polite.")
    chat = desk.answer(workspace, "echo")
    assert workspace.library.messages(chat)[-1].content == "system:Be polite.|user:echo|"
    workspace.open_chat.show(chat)
    shown.set_options(ConversationOptions())
    assert shown.options() == ConversationOptions()
    workspace.settings.new_chat_preset = "gone"
    workspace.open_chat.show(None)
    assert shown.options() == ConversationOptions()


def test_a_chat_s_own_draft_and_memory_are_what_is_asked_for(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    chat = workspace.turns.send(None, "say 1", options=ConversationOptions(drafts=("off",), memory="disk"))
    desk.wait(lambda: len(client.requests) == 1)
    workspace.choose_draft("lookup")
    desk.answer(workspace, "say 1")
    asked = [(request.options.drafts, request.options.memory) for request in client.requests]
    assert asked == [(("off",), "disk"), (("lookup",), "auto")]
    assert workspace.library.conversation(chat).options.drafts == ("off",)  # type: ignore[union-attr]


def test_a_chat_s_draft_of_another_model_is_left_out(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    workspace.turns.send(None, "say 1", options=ConversationOptions.from_json('{"mode": "ghidorah"}'))
    desk.wait(lambda: len(client.requests) == 1)
    own = ConversationOptions(drafts=("smollm2-medusa", "/mine"))
    assert workspace.model.options_for("smollm2", own).drafts == own.drafts
    assert workspace.model.options_for("/other", own).drafts == ("/mine",)
    assert client.requests[0].options.drafts == ("smollm2-medusa",)


def test_a_reply_of_another_model_than_the_one_before_is_named(desk: Desk) -> None:
    workspace = desk.open()
    other = other_model(desk)
    chat = desk.answer(workspace, "say 1")
    workspace.open_chat.show(chat)
    desk.answer(workspace, "say 1", chat)
    workspace.choose_model(other)
    desk.answer(workspace, "say 1", chat)
    replies = [message.id for message in workspace.library.messages(chat) if message.role == "assistant"]
    assert [workspace.open_chat.model_change(reply) for reply in replies] == ["", "", "other"]
    workspace.open_chat.show(None)
    assert workspace.open_chat.model_change(replies[-1]) == ""
