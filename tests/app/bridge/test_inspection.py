"""Traces that are kept of replies."""

from __future__ import annotations

from app.chat.conversation import Message, ReplyDetails
from app.chat.reply_trace import ReplyTrace, from_bytes, to_bytes
from engine.messages import ModelUnloaded, Notice, Plan, PlanChosen
from tests.app.bridge.conftest import Desk
from tests.support.inspector_scene import ROUNDS, STREAMED, finished, report, update
from tests.support.machine_scene import as_measured, plan
from tests.support.scripted_workspace import ScriptedWorkspace


def test_a_reply_keeps_the_plan_and_the_places_that_it_was_written_with(workspace: ScriptedWorkspace) -> None:
    workspace.load(report())
    inspection = workspace.inspection
    assert inspection.places(None) == report().places
    modes = as_measured(plan(), {"dovetail": 17.8})
    workspace.told_of(1, PlanChosen("", Plan("dovetail", "because"), modes, STREAMED))
    workspace.told_of(1, finished(59, 10_000.0))
    workspace.load(report())  # another model since
    assert (inspection.plan(reply_with(1)), inspection.places(reply_with(1))) == (modes, STREAMED)
    kept, read = to_bytes(inspection.trace(reply_with(1))), ReplyTrace()
    assert from_bytes(kept, read)
    assert (read.plan, read.places) == (modes, STREAMED)
    workspace.tell(ModelUnloaded())
    assert inspection.places(None) == ()
    assert inspection.places(reply_with(1)) == STREAMED


def reply_with(number: int, details: ReplyDetails | None = None) -> Message:
    return Message(number, 1, "assistant", "said", 0.0, details=details)


def test_old_replies_leave_the_memory_and_other_events_are_passed_over(workspace: ScriptedWorkspace) -> None:
    inspection = workspace.inspection
    for reply in range(20):
        workspace.told_of(reply, update(20, 1000.0, ROUNDS))
    known = [bool(inspection.trace(reply_with(reply)).last_round) for reply in range(20)]
    assert known == [False] * 4 + [True] * 16
    changes: list[int] = []
    inspection.changed.connect(lambda: changes.append(1))
    workspace.told_of(19, Notice("", "A sentence."))
    workspace.told_of(19, update(21, 1100.0))
    assert changes == [1]
    assert inspection.trace(None).last_round == 0


def test_a_finished_reply_keeps_its_rounds_though_nobody_looked(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "rounds")
    reply = workspace.library.messages(chat)[-1]
    assert reply.content == "round_texts:True"
    trace = workspace.inspection.trace(reply)
    assert trace.complete
    assert len(trace.gauges.samples) > 0
    workspace.close()
    workspace = desk.open()
    (chat,) = (one.id for one in workspace.library.conversations())
    again = workspace.inspection.trace(workspace.library.messages(chat)[-1])
    assert again.complete
    assert again.mode == trace.mode
    assert len(again.gauges.samples) == len(trace.gauges.samples)


def test_a_reply_that_goes_on_is_traced_from_there(workspace: ScriptedWorkspace) -> None:
    inspection = workspace.inspection
    workspace.told_of(1, update(20, 1000.0, ROUNDS))
    before = inspection.trace(reply_with(1))
    assert before.last_round == len(ROUNDS)
    workspace.told_of(1, PlanChosen("", Plan("plain", "because")))
    workspace.told_of(1, update(20, 1000.0, ROUNDS[:1]))
    again = inspection.trace(reply_with(1))
    assert again.last_round == 1
