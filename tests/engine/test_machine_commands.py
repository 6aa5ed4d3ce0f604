"""Questions of the window about the machine: nothing is loaded or dropped for an answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.messages import (
    Cancel,
    Failed,
    Finished,
    LoadOptions,
    MachineReported,
    MakePlan,
    MeasuringProgress,
    ModelLoaded,
    ModelUnloaded,
    PlanMade,
    ReportMachine,
    TokensAdded,
)
from tests.support.engine_client import EngineClient, engine_client
from tests.support.toy import TOY


@pytest.fixture
def client() -> Iterator[EngineClient]:
    with engine_client() as opened:
        yield opened


def test_a_machine_is_told_before_it_was_measured_and_after(client: EngineClient) -> None:
    client.engine.submit(ReportMachine("first"))
    first = client.wait_for((MachineReported, Failed))
    assert isinstance(first, MachineReported)
    assert (first.request_id, first.report.speeds) == ("first", None)
    assert first.report.processor.usable_cores >= 1
    assert not client.seen(MeasuringProgress)
    client.engine.submit(ReportMachine("second", measure=True))
    second = client.wait_for((MachineReported, Failed))
    assert isinstance(second, MachineReported)
    assert second.report.speeds.host.memory_bytes_per_s > 0
    shares = [event.share for event in client.seen(MeasuringProgress)]
    assert len(shares) > 4
    assert shares == sorted(shares)
    client.engine.submit(ReportMachine("third"))
    third = client.wait_for((MachineReported, Failed))
    assert isinstance(third, MachineReported)
    assert third.report.speeds == second.report.speeds


def test_measuring_can_be_cancelled_and_keeps_nothing(client: EngineClient, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = client.engine._on_event

    def stop_at_once(event: object) -> None:
        seen(event)  # type: ignore[arg-type]
        if isinstance(event, MeasuringProgress):
            client.engine.submit(Cancel(event.request_id))

    monkeypatch.setattr(client.engine, "_on_event", stop_at_once)
    client.engine.submit(ReportMachine("measure", measure=True))
    last = client.wait_for((MachineReported, Failed))
    assert isinstance(last, Failed)
    assert last.error.kind == "Cancelled"
    client.engine.submit(ReportMachine("after"))
    after = client.wait_for((MachineReported, Failed))
    assert isinstance(after, MachineReported)
    assert after.report.speeds is None


def test_a_plan_leaves_the_loaded_model_where_it_is(client: EngineClient, llama_folder: Path) -> None:
    client.answer("abc", llama_folder, max_tokens=2)
    client.engine.submit(MakePlan("plan", LoadOptions(model=str(TOY))))
    made = client.wait_for((PlanMade, Failed))
    assert isinstance(made, PlanMade)
    assert made.request_id == "plan"
    assert made.plan.chosen
    assert not client.seen(ModelUnloaded)
    client.answer("abc", llama_folder, max_tokens=2)
    assert len(client.seen(ModelLoaded)) == 1


def test_a_plan_for_what_is_not_there_fails_with_a_sentence(client: EngineClient) -> None:
    client.engine.submit(MakePlan("plan", LoadOptions(model="no-such-model")))
    last = client.wait_for((PlanMade, Failed))
    assert isinstance(last, Failed)
    assert last.error.kind == "ModelNotFound"


def test_measuring_waits_for_a_reply_that_runs_and_a_plan_does_not(client: EngineClient, llama_folder: Path) -> None:
    client.engine.submit(client.request("abc", llama_folder, max_tokens=200))
    client.engine.submit(ReportMachine("report"))
    client.engine.submit(MakePlan("plan", LoadOptions(model=str(TOY))))
    client.wait_for(MachineReported)
    order = [type(event) for event in client.events]
    assert order.index(PlanMade) < order.index(Finished) < order.index(MachineReported)


def test_a_request_that_waits_can_be_cancelled(client: EngineClient, llama_folder: Path) -> None:
    client.engine.submit(client.request("abc", llama_folder, max_tokens=60))
    client.wait_for(TokensAdded)
    client.engine.submit(ReportMachine("report"))
    client.engine.submit(Cancel("report"))
    last = client.wait_for((MachineReported, Failed))
    assert isinstance(last, Failed)
    assert (last.request_id, last.error.kind) == ("report", "Cancelled")


@pytest.mark.parametrize("drafts", [(), ("lookup",)])
def test_a_model_in_memory_is_planned_with_the_speeds_as_soon_as_they_are_known(
    client: EngineClient, llama_folder: Path, drafts: tuple[str, ...]
) -> None:
    request = client.request("abc", llama_folder, max_tokens=2, drafts=drafts)
    before = client.finish(request)
    client.engine.submit(ReportMachine("measure", measure=True))
    assert isinstance(client.wait_for((MachineReported, Failed)), MachineReported)
    client.events.clear()
    after = client.finish(request)
    assert isinstance(before, Finished)
    assert isinstance(after, Finished)
    assert before.reply.plan.promise is None
    assert after.reply.plan.promise is not None
    assert not client.seen(ModelLoaded)
