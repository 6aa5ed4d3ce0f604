from __future__ import annotations

from pathlib import Path

from engine.messages import Cancel, ChatMessage, Failed, MachineReported, MeasuringProgress, ReportMachine
from tests.support.engine_client import engine_client


def test_measuring_that_a_question_stopped_can_be_done_afterwards(llama_folder: Path) -> None:
    with engine_client() as client:
        client.engine.submit(ReportMachine("first", measure=True))
        client.wait_for(MeasuringProgress)
        client.engine.submit(Cancel("first"))
        stopped = client.wait_for((Failed, MachineReported))
        assert isinstance(stopped, Failed)
        assert stopped.error.kind == "Cancelled"
        assert client.answer([ChatMessage("user", "Hello")], llama_folder, max_tokens=4).token_ids
        client.engine.submit(ReportMachine("known"))
        known = client.wait_for(MachineReported)
        assert isinstance(known, MachineReported)
        assert known.report.speeds is None  # nothing half measured is taken for the machine's speeds
        client.engine.submit(ReportMachine("again", measure=True))
        again = client.wait_for((Failed, MachineReported))
        assert isinstance(again, MachineReported)
        assert again.report.speeds
