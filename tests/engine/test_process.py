from __future__ import annotations

import multiprocessing
from pathlib import Path

from engine.messages import (
    ChatMessage,
    EngineReady,
    Event,
    Finished,
    Generate,
    LoadOptions,
    TokensAdded,
)
from engine.messages.pipe import receive, send
from engine.process import serve


def test_an_engine_in_a_process_of_its_own(llama_folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs,))
    process.start()
    theirs.close()
    events: list[Event] = []
    request = Generate("1", LoadOptions(model=str(llama_folder)), (ChatMessage("user", "Hello"),), max_tokens=5)
    send(ours, request)
    while not events or not isinstance(events[-1], Finished):
        assert ours.poll(60)
        events.append(receive(ours))
    assert isinstance(events[0], EngineReady)
    assert events[0].process_id == process.pid
    assert sum(isinstance(event, TokensAdded) for event in events) >= 1
    # The window goes away without a word: the process must not outlive it.
    ours.close()
    process.join(20)
    assert process.exitcode == 0
