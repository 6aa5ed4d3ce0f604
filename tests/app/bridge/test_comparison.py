"""Two ways on one prompt, with the scripted engine."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QCoreApplication

from app.chat.comparison import Contender
from app.chat.conversation import ConversationOptions, MessageState
from app.chat.engine_state import EnginePhase
from engine.errors import EmptyPrompt, UsageError
from engine.messages import ChatMessage
from tests.app.bridge.conftest import Desk
from tests.app.bridge.test_idle_measuring import Quiet
from tests.app.bridge.test_turns import Watching

MODES = tuple(Contender("smollm2", "SmolLM2 135M", way) for way in ("plain", "lookup"))


def test_both_modes_answer_and_nothing_is_kept(desk: Desk) -> None:
    client = Watching(desk)
    workspace = desk.open(client)
    comparison = workspace.comparison
    assert comparison.agreement is None
    comparison.start("say 5", MODES, 64)
    assert comparison.running
    desk.wait(lambda: not comparison.running)
    first, second = comparison.trials
    assert [request.options.drafts for request in client.requests] == [("off",), ("lookup",)]
    assert {request.sampling.temperature for request in client.requests} == {0.0}
    assert first.text == second.text == "w0 w1 w2 w3 w4 "
    assert first.seconds is not None
    assert second.ran == "lookup"
    agreement = comparison.agreement
    assert (agreement.identical, agreement.tokens, agreement.complete) == (True, 5, True)
    assert workspace.library.conversations() == []
    assert workspace.model.state.phase is EnginePhase.READY


def test_it_can_be_stopped_and_begun_again(desk: Desk) -> None:
    workspace = desk.open()
    comparison = workspace.comparison
    comparison.start("slow 500", MODES, 600)
    desk.wait(lambda: bool(comparison.trials[0].text))
    comparison.stop()
    desk.wait(lambda: not comparison.running)
    first, second = comparison.trials
    assert (first.stopped, second.ended) == (True, False)
    assert comparison.agreement is None
    comparison.start("say 1", MODES, 8)
    desk.wait(lambda: not comparison.running)
    assert comparison.agreement is not None
    comparison.forget()
    assert comparison.trials == ()


def test_it_does_not_run_beside_a_reply_nor_without_a_prompt(desk: Desk) -> None:
    workspace = desk.open()
    with pytest.raises(EmptyPrompt):
        workspace.comparison.start("  ", MODES, 8)
    chat = workspace.turns.send(None, "slow 500")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    with pytest.raises(UsageError, match="A reply is being written"):
        workspace.comparison.start("say 1", MODES, 8)
    workspace.replies.stop(chat)


def test_what_is_measured_unasked_gives_way_to_it(desk: Desk) -> None:
    quiet = Quiet(desk)
    quiet.look()
    comparison, machine = quiet.workspace.comparison, quiet.machine
    quiet.pass_time()
    assert machine.measuring.running
    comparison.start("say 1", MODES, 8)
    assert comparison.running
    desk.wait(lambda: not comparison.running)
    assert [trial.text for trial in comparison.trials] == ["w0 ", "w0 "]
    assert (machine.measuring.running, machine.declined) == (False, False)
    quiet.pass_time()
    assert machine.measuring.running  # it is taken up again
    comparison.start("say 1", MODES, 8)
    comparison.stop()
    assert not comparison.running
    desk.wait(lambda: not machine.measuring.running)
    QCoreApplication.processEvents()
    assert (comparison.running, comparison.trials[0].ended) == (False, False)


def test_what_the_person_has_measured_is_not_stopped_by_it(desk: Desk) -> None:
    quiet = Quiet(desk)
    quiet.look()
    quiet.machine.measure_speeds()
    with pytest.raises(UsageError, match="This machine is being measured"):
        quiet.workspace.comparison.start("say 1", MODES, 8)
    assert not quiet.machine.measuring.stopping
    quiet.machine.stop()
    quiet.workspace.comparison.start("say 1", MODES, 8)  # it waits no longer than that takes
    desk.wait(lambda: not quiet.workspace.comparison.running)
    assert quiet.workspace.comparison.agreement is not None


def test_what_fails_is_told_and_the_other_mode_still_answers(desk: Desk) -> None:
    workspace = desk.open()
    workspace.comparison.start("fail", MODES, 8)
    desk.wait(lambda: not workspace.comparison.running)
    assert [trial.problem for trial in workspace.comparison.trials] == ["Tenon made a mistake."] * 2
    assert workspace.comparison.agreement is None


def test_an_engine_that_ends_ends_the_comparison(desk: Desk) -> None:
    workspace = desk.open()
    workspace.comparison.start("die", MODES, 8)
    desk.wait(lambda: not workspace.comparison.running)
    assert "stopped unexpectedly" in workspace.comparison.trials[0].problem
    assert not workspace.comparison.trials[1].ended


def test_the_prompt_of_a_message_has_what_was_said_before_it(desk: Desk) -> None:
    workspace = desk.open()
    workspace.settings.system_prompt = "Be polite."
    chat = desk.answer(workspace, "first\nsay 1")
    desk.answer(workspace, "echo", chat)
    prompt, reply = workspace.library.messages(chat)[-2:]
    before, asked = workspace.comparison.prompt_of(chat, prompt.id)
    assert asked.content == "echo"
    assert [turn.role for turn in before] == ["system", "user", "assistant"]
    assert workspace.comparison.prompt_of(chat, reply.id) == (before, asked)
    workspace.comparison.start(asked.content, MODES, 8, before)
    desk.wait(lambda: not workspace.comparison.running)
    assert workspace.comparison.trials[0].text == "system:Be polite.|user:first\nsay 1|assistant:w0 |user:echo|"
    workspace.comparison.start("echo", MODES, 8)
    desk.wait(lambda: not workspace.comparison.running)
    assert workspace.comparison.trials[0].text == "system:Be polite.|user:echo|"
    workspace.shelf.set_options(chat, ConversationOptions(system_prompt=""))
    before, _ = workspace.comparison.prompt_of(chat, prompt.id)
    assert before[0] == ChatMessage("user", "first\nsay 1")
