from __future__ import annotations

import multiprocessing
import threading
from pathlib import Path

import pytest

from engine import process
from engine.messages import (
    ChatMessage,
    EngineReady,
    Event,
    Finished,
    Generate,
    Load,
    LoadOptions,
    ModelLoaded,
    Shutdown,
    TokensAdded,
)
from engine.messages.pipe import receive, send
from engine.process import serve
from engine.text import preparation
from engine.text.tokenizer import Tokenizer


def test_an_engine_in_a_process_of_its_own(llama_folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs,))
    process.start()
    theirs.close()
    events: list[Event] = []
    request = Generate(
        "1", LoadOptions(model=str(llama_folder)), (ChatMessage("user", "Hello"),), max_tokens=5
    )
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


@pytest.mark.parametrize("shared", [False, True])
def test_who_is_shared_gets_ready_for_forms_while_nobody_asks(
    llama_folder: Path, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, begun, begin = threading.Event(), [], preparation.FormCompiler

    def forms(tokenizer: Tokenizer) -> object:
        begun.append(tokenizer)
        made.set()
        return begin(tokenizer)

    monkeypatch.setattr(preparation, "FormCompiler", forms)
    ours, theirs = multiprocessing.Pipe()
    thread = threading.Thread(target=process.serve_shared if shared else serve, args=(theirs,))
    thread.start()
    for at in range(2):
        send(ours, Load(str(at), LoadOptions(model=str(llama_folder))))
        while not isinstance(receive(ours), ModelLoaded):
            pass
        assert len(begun) == (shared and at)
        assert made.wait(60 if shared else 1.5) == shared
    send(ours, Shutdown())
    thread.join(60)
    assert len(begun) == shared
