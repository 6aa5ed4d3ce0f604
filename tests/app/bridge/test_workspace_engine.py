"""The engine's process as it starts, dies, hangs and ends."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from app.bridge.engine_client import EngineClient
from app.chat.conversation import MessageState
from app.chat.engine_state import EnginePhase
from tests.app.bridge.conftest import Desk

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")


def test_the_model_is_loaded_ahead(desk: Desk) -> None:
    workspace = desk.open()
    assert workspace.model.state.phase is EnginePhase.STARTING
    desk.wait_for_phase(workspace, EnginePhase.READY)
    phases = [state.phase for state in desk.recorder.states]
    assert phases[0] is EnginePhase.LOADING
    fractions = [state.fraction for state in desk.recorder.states if state.fraction is not None]
    assert fractions == sorted(fractions)
    state = workspace.model.state
    assert (state.model_ref, state.weights, state.sentence) == ("smollm2", "fp32", "")


@needs_signals
def test_a_killed_engine_is_told_of_and_comes_back_with_the_next_message(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "slow 500")
    waiting = workspace.turns.send(None, "say 1")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    assert desk.client.process_id is not None
    os.kill(desk.client.process_id, signal.SIGKILL)
    reply = desk.wait_for_state(workspace, chat, MessageState.INTERRUPTED)
    assert reply.content.startswith("w0 ")
    sentence = (
        "The engine stopped unexpectedly (signal 9, most likely because memory ran out). "
        "Your chats are safe; it starts again with your next message."
    )
    assert reply.error == sentence
    state = workspace.model.state
    assert (state.phase, state.sentence) == (EnginePhase.STOPPED, sentence)
    assert workspace.library.messages(waiting)[-1].state is MessageState.QUEUED
    desk.answer(workspace, "say 1", chat)
    assert workspace.library.messages(waiting)[-1].state is MessageState.COMPLETE
    assert workspace.model.state.phase is EnginePhase.READY


@needs_signals
def test_what_waited_goes_on_when_the_engine_is_started_otherwise(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "slow 500")
    waiting = workspace.turns.send(None, "say 1")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    os.kill(desk.client.process_id or 0, signal.SIGKILL)
    desk.wait_for_phase(workspace, EnginePhase.STOPPED)
    assert workspace.library.messages(waiting)[-1].state is MessageState.QUEUED
    workspace.settings_applied()
    desk.wait_for_state(workspace, waiting, MessageState.COMPLETE)
    assert workspace.library.messages(chat)[-1].state is MessageState.INTERRUPTED


@needs_signals
def test_what_waited_goes_on_when_the_engine_dies_with_a_reply_that_was_stopped(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "deaf")
    waiting = workspace.turns.send(None, "say 1")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    workspace.replies.stop(chat)
    os.kill(desk.client.process_id or 0, signal.SIGKILL)
    desk.wait_for_state(workspace, waiting, MessageState.COMPLETE)
    assert workspace.library.messages(chat)[-1].state is MessageState.STOPPED
    assert workspace.model.state.sentence == ""


@needs_signals
def test_an_engine_that_dies_with_a_message_dies_again_with_it_and_nothing_is_lost(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "die")
    desk.wait_for_state(workspace, chat, MessageState.INTERRUPTED)
    workspace.turns.retry(chat)
    reply = desk.wait_for_state(workspace, chat, MessageState.INTERRUPTED)
    assert reply.content == "one two "
    workspace.close()
    assert [message.content for message in desk.open().library.messages(chat)] == ["die", "one two "]


def test_an_engine_that_cannot_start_says_so(desk: Desk) -> None:
    workspace = desk.open(EngineClient("tests.support.fake_engine:nothing"))
    chat = workspace.turns.send(None, "say 1")
    reply = desk.wait_for_state(workspace, chat, MessageState.INTERRUPTED)
    assert "(exit code 1)" in reply.error
    assert workspace.model.state.phase is EnginePhase.STOPPED


def test_an_engine_that_does_not_stop_is_replaced(desk: Desk) -> None:
    workspace = desk.open()
    desk.client.cancel_timeout_ms = 200
    chat = workspace.turns.send(None, "deaf")
    other = workspace.turns.send(None, "say 1")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    process_id = desk.client.process_id
    workspace.replies.stop(chat)
    stopped = workspace.library.messages(chat)[-1]
    assert stopped.state is MessageState.STOPPED
    desk.wait_for_state(workspace, other, MessageState.COMPLETE)
    assert desk.client.process_id != process_id
    assert workspace.library.messages(chat)[-1] == stopped
    assert desk.recorder.notices == []


def test_closing_leaves_nothing_behind(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "deaf")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    workspace.close()
    workspace.close()
    assert desk.left_behind() == []
    assert desk.open().library.messages(chat)[-1].state is MessageState.STOPPED


def test_an_engine_that_ignores_everything_is_ended(desk: Desk) -> None:
    workspace = desk.open(EngineClient("tests.support.fake_engine:serve_stubbornly"))
    desk.wait(lambda: workspace.model.state.phase is EnginePhase.LOADING)
    workspace.close()
    assert desk.left_behind() == []


def test_a_model_that_cannot_be_loaded_says_why_and_another_can_be_chosen(desk: Desk) -> None:
    workspace = desk.open()
    desk.wait_for_phase(workspace, EnginePhase.READY)
    broken = str(desk.folder / "broken")
    workspace.choose_model(broken)
    desk.wait(lambda: workspace.model.state.sentence != "")
    state = workspace.model.state
    assert (state.phase, state.model_ref, state.model_name) == (EnginePhase.IDLE, broken, "broken")
    assert state.sentence == "There is no model in that folder: choose another."
    assert workspace.settings.model == broken
    chat = workspace.turns.send(None, "say 1")
    assert desk.wait_for_state(workspace, chat, MessageState.FAILED).error == state.sentence
    workspace.choose_model("smollm2")
    desk.wait_for_phase(workspace, EnginePhase.READY)
    desk.answer(workspace, "say 1", chat)
    assert [choice.title for choice in workspace.models()] == ["SmolLM2 135M", "broken"]


def test_a_model_whose_file_is_damaged_does_not_stay_the_chosen_one(desk: Desk) -> None:
    workspace = desk.open()
    desk.wait_for_phase(workspace, EnginePhase.READY)
    good, damaged = str(desk.folder / "good"), str(desk.folder / "damaged")
    workspace.choose_model(good)
    desk.wait(lambda: workspace.model.state.model_name == "good")
    desk.wait_for_phase(workspace, EnginePhase.READY)
    workspace.choose_model(damaged)
    desk.wait(lambda: bool(desk.recorder.troubles))
    assert [report.kind for report in desk.recorder.troubles] == ["WeightsCorrupt"]
    assert workspace.settings.model == good
    assert damaged not in workspace.settings.recent_models
    desk.wait_for_phase(workspace, EnginePhase.READY)
    chat = desk.answer(workspace, "say 1")
    assert workspace.library.messages(chat)[-1].model == good
    workspace.close()
    assert desk.open(start=False).settings.model == good


def test_a_start_with_a_damaged_model_falls_back_to_the_built_in_one(desk: Desk) -> None:
    workspace = desk.open(start=False)
    workspace.settings.model = str(desk.folder / "damaged")
    workspace.start()
    desk.wait_for_phase(workspace, EnginePhase.READY)
    assert workspace.settings.model == workspace.model.state.model_ref == "smollm2"
    assert [report.kind for report in desk.recorder.troubles] == ["WeightsCorrupt"]


def test_the_loaded_model_is_not_loaded_again(desk: Desk) -> None:
    workspace = desk.open()
    desk.wait_for_phase(workspace, EnginePhase.READY)
    desk.recorder.states.clear()
    workspace.choose_model("smollm2")
    desk.answer(workspace, "say 1")
    assert desk.recorder.states == []


def test_another_draft_is_loaded_ahead_and_no_draft_is_no_load(desk: Desk) -> None:
    workspace = desk.open()
    desk.wait_for_phase(workspace, EnginePhase.READY)
    desk.recorder.states.clear()
    workspace.choose_draft("smollm2-medusa")
    desk.wait(lambda: EnginePhase.LOADING in [state.phase for state in desk.recorder.states])
    desk.wait_for_phase(workspace, EnginePhase.READY)
    desk.answer(workspace, "say 1")
    workspace.choose_draft("")
    desk.wait(lambda: workspace.model.options is not None and not workspace.model.options.drafts)
    desk.wait_for_phase(workspace, EnginePhase.READY)
    desk.recorder.states.clear()
    workspace.choose_draft("off")
    workspace.choose_memory("disk")
    desk.answer(workspace, "say 1")
    assert desk.recorder.states == []


def test_a_model_chosen_during_a_reply_comes_after_it(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "slow 30")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    other = str(desk.folder / "other")
    workspace.choose_model(other)
    state = workspace.model.state
    assert (state.model_ref, state.sentence) == (other, "Loads when the running reply is complete.")
    desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    desk.wait_for_phase(workspace, EnginePhase.READY)
    assert (workspace.model.state.model_name, workspace.model.state.sentence) == ("other", "")


def test_a_model_chosen_during_a_reply_is_loaded_by_the_next_one_in_the_queue(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "slow 20")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    workspace.choose_model(str(desk.folder / "other"))
    desk.answer(workspace, "say 1")
    desk.qtbot.wait(50)
    assert workspace.model.state.phase is EnginePhase.READY
    assert workspace.model.state.model_name == "other"


@needs_signals
def test_a_reply_loads_the_model_again_after_a_crash(desk: Desk) -> None:
    workspace = desk.open()
    desk.wait_for_phase(workspace, EnginePhase.READY)
    os.kill(desk.client.process_id or 0, signal.SIGTERM)
    desk.wait_for_phase(workspace, EnginePhase.STOPPED)
    assert "(signal 15)" in workspace.model.state.sentence
    desk.recorder.states.clear()
    desk.answer(workspace, "say 1")
    phases = [state.phase for state in desk.recorder.states]
    assert list(dict.fromkeys(phases)) == [EnginePhase.STARTING, EnginePhase.LOADING, EnginePhase.READY]


def test_stopping_an_engine_that_still_starts_does_not_kill_it(desk: Desk) -> None:
    workspace = desk.open(EngineClient("tests.support.fake_engine:serve_after_a_while"))
    desk.client.cancel_timeout_ms = 100
    process_id = desk.client.process_id
    chat = workspace.turns.send(None, "say 1")
    desk.qtbot.wait(50)
    workspace.replies.stop(chat)
    desk.answer(workspace, "say 1", chat)
    assert desk.client.process_id == process_id


def test_a_closed_workspace_starts_nothing(desk: Desk) -> None:
    workspace = desk.open()
    workspace.close()
    workspace.turns.send(None, "say 1")
    workspace.choose_model("other")
    assert desk.left_behind() == []


def test_a_choice_taken_back_during_a_reply_changes_nothing(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "slow 30")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    before = workspace.model.state
    workspace.choose_model(str(desk.folder / "other"))
    workspace.choose_model("smollm2")
    assert workspace.model.state == before
    desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert workspace.model.state == before


def test_choosing_again_gives_up_the_load_before(desk: Desk) -> None:
    workspace = desk.open()
    desk.wait_for_phase(workspace, EnginePhase.READY)
    workspace.choose_model("long")
    desk.wait(lambda: (workspace.model.state.fraction or 0) > 0)
    workspace.choose_model("other")
    desk.wait(lambda: workspace.model.state.phase is EnginePhase.READY)
    assert workspace.model.state.model_name == "other"
