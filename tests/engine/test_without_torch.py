"""An engine's process without torch: the same texts, and a process with torch where one is needed."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gguf import GGMLQuantizationType as Kind

from engine import Engine, small_torch
from engine.engine_process import EngineProcess, run_engine
from engine.messages import (
    Cancel,
    ChatMessage,
    EngineReady,
    Event,
    Failed,
    FindPairs,
    Finished,
    Generate,
    HandedBack,
    KeptChat,
    LoadOptions,
    MachineReported,
    ModelUnloaded,
    OutputForm,
    PairsFound,
    Penalties,
    Picture,
    Ping,
    Pong,
    ReportMachine,
    SamplingOptions,
    TokensAdded,
    Unload,
)
from engine.run import settle
from tests.engine.gguf.test_gguf_families import CHANGES
from tests.support import stumbling_engine
from tests.support.checkpoints import reference_model, train_tokenizer
from tests.support.engine_client import EngineClient, engine_client
from tests.support.fast_cases import chosen
from tests.support.gguf_files import write_gguf
from tests.support.packed_logits import digest

Told = tuple[str, tuple[int, ...], str | None]
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or small_torch._installed() is None, reason="an engine begins with torch here"
)
ASKED = (ChatMessage("user", "Name three colours, then one of them again."),)
MODES = ("plain", "lookup", "ppd", "ghidorah", "dovetail", "minions")
SMALL = LoadOptions("smollm2", threads=1)
SAMPLED = {"temperature": 0.9, "top_k": 40, "top_p": 0.95, "min_p": 0.02, "seed": 5}
REQUESTS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "sampled": SAMPLED,
    "penalised": {
        **SAMPLED,
        "repetition_penalty": 1.2,
        "penalties": Penalties(presence=0.5, frequency=0.3, bias=((40, 2.0), (41, -5.0))),
    },
    "formed": {"form": OutputForm("regex", "[a-z]{3,9}(, [a-z]{3,9}){3}")},
    "of 8 bits": {"kv_cache": "q8_0"},
    "stopped": {"stop": (" and",), "show_unconfirmed": True, "round_texts": True},
    "a long prompt": {"messages": (ChatMessage("user", "one two three four " * 200),)},
    "until the context is full": {"context": 256, "max_tokens": None},
}


class Child:
    """An engine in a process that begins without torch."""

    def __init__(self, run: Callable[..., None] = run_engine) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.seen: list[Event] = []
        self.process = EngineProcess(run, self.events.put, lambda code: None)

    def answers(self, *requests: Generate) -> list[Told]:
        """Texts, tokens and ends of replies that are asked for at once, in the order of the requests."""
        for request in requests:
            self.process.send(request)
        return collected(requests, self._next)

    def _next(self) -> Event:
        self.seen.append(event := self.events.get(timeout=300))
        return event

    @property
    def has_torch(self) -> bool:
        return "libtorch" in Path(f"/proc/{self.process.process_id}/maps").read_text()


def collected(requests: Sequence[Generate], next_event: Callable[[], Event]) -> list[Told]:
    found: dict[str, Told] = {}
    while len(found) < len(requests):
        event = next_event()
        if isinstance(event, Finished):
            found[event.request_id] = (event.reply.text, tuple(event.reply.token_ids), event.reply.stop_reason)
        assert not isinstance(event, Failed), event
    return [found[request.request_id] for request in requests]


@contextmanager
def started(run: Callable[..., None] = run_engine) -> Iterator[Child]:
    child = Child(run)
    try:
        yield child
    finally:
        child.process.close()


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    with started() as child:
        yield child


@pytest.fixture(scope="module")
def client() -> Iterator[EngineClient]:
    with engine_client() as client:
        yield client


def same(child: Child, client: EngineClient, *requests: Generate) -> None:
    """Compare replies without torch to those of this process, which has it."""
    for request in requests:
        client.engine.submit(request)
    theirs = collected(requests, lambda: client.wait_for((Finished, Failed)))
    assert child.answers(*requests) == theirs
    assert not child.has_torch


def asked(client: EngineClient, name: str, mode: str, **values: Any) -> Generate:
    values = {"max_tokens": 24, **REQUESTS[name], **values}
    return client.request(list(values.pop("messages", ASKED)), "smollm2", mode=mode, **values)


CASES = chosen(((mode, name) for name in REQUESTS for mode in MODES), lambda case: "greedy" in case or "lookup" in case)


@pytest.mark.parametrize(("mode", "name"), CASES)
def test_replies_are_the_same_as_with_torch(child: Child, client: EngineClient, mode: str, name: str) -> None:
    same(child, client, asked(client, name, mode))


@pytest.mark.parametrize("mode", chosen(MODES, ("dovetail",)))
def test_replies_side_by_side_are_the_same(child: Child, client: EngineClient, mode: str) -> None:
    same(child, client, *(asked(client, name, mode) for name in ("greedy", "sampled", "penalised")))


def test_a_chat_that_was_kept_on_the_disk_goes_on(client: EngineClient, tmp_path: Path) -> None:
    chat = tmp_path / "chats" / "one"
    chat.mkdir(parents=True)
    kept, request = KeptChat(str(chat), 1 << 40), asked(client, "a long prompt", "lookup")
    replies = []
    for _ in range(2):
        with started() as child:
            replies += child.answers(replace(request, kept=kept))
            while not any(chat.iterdir()):  # an engine that rests writes
                time.sleep(0.1)
            child.process.send(Unload())
            while not isinstance(child._next(), ModelUnloaded):
                pass
            assert not child.has_torch
            cached = [event.reply.timings.cache_n for event in child.seen if isinstance(event, Finished)]
    assert cached[0] > 500
    client.engine.submit(request)
    assert replies == 2 * collected([request], lambda: client.wait_for((Finished, Failed)))


@pytest.mark.parametrize("variant", chosen(sorted(CHANGES), ("llama", "deepseek-v3", "gemma4-moe", "gpt-oss")))
def test_each_family_has_the_same_logits(variant: str, tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    write_gguf(reference_model(variant, **CHANGES[variant]), file, Kind.Q8_0)
    command = [sys.executable, "-m", "tests.support.packed_logits", str(file)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stdout.split() == [digest(file)] * 2, found.stderr


@pytest.mark.parametrize("variant", chosen(sorted(CHANGES), ("phi3-longrope", "gpt-oss")))
def test_each_family_replies_the_same(child: Child, client: EngineClient, variant: str, tmp_path: Path) -> None:
    """LongRoPE's change of frequencies, at 96 positions, falls into these replies."""
    file = tmp_path / "model.gguf"
    write_gguf(reference_model(variant, **CHANGES[variant]), file, Kind.Q4_0, train_tokenizer())
    if digest(file) == "torch":
        pytest.skip("a model that needs torch")
    for values in ({}, {"kv_cache": "q8_0"}, SAMPLED):
        request = client.request("", file, mode="lookup", max_tokens=50, **values)
        same(child, client, replace(request, raw_prompt=tuple((7 * at) % 290 + 3 for at in range(70))))


def test_a_process_with_torch_goes_on_where_one_is_needed() -> None:
    """Commands are carried out in their order, each once; one that was cancelled is not."""
    with started() as child:
        child.answers(Generate("1", SMALL, ASKED, max_tokens=4))
        assert not child.has_torch
        dense = replace(SMALL, weights="fp32")
        for number in range(2, 5):
            child.process.send(Generate(str(number), dense, ASKED, max_tokens=4))
        for command in (Cancel("3"), Ping(7)):
            child.process.send(command)
        while not isinstance(event := child._next(), Pong):
            pass
        ends = [event for event in child.seen if isinstance(event, Finished | Failed)]
        ended = {one.request_id: type(one) for one in ends}  # what was cancelled may end before what was begun
        assert ended == {"1": Finished, "2": Finished, "3": Failed, "4": Finished}
        assert len(ends) == 4
        assert event.number == 7
        assert child.has_torch


def test_a_reply_that_is_being_written_ends_before_the_process_and_can_be_cancelled() -> None:
    with started() as child:
        child.process.send(Generate("1", SMALL, ASKED, max_tokens=4000))
        while not isinstance(child._next(), TokensAdded):
            pass
        child.process.send(Generate("2", replace(SMALL, weights="fp32"), ASKED, max_tokens=4))
        child.process.send(Generate("3", SMALL, ASKED, max_tokens=4, logprobs=2))
        child.process.send(Cancel("1"))
        ends: list[Finished] = []
        while len(ends) < 3:
            event = child._next()
            assert not isinstance(event, Failed), event
            ends += [event] if isinstance(event, Finished) else []
        assert [(end.request_id, end.reply.stop_reason) for end in ends] == [
            ("1", "cancelled"),
            ("2", "length"),
            ("3", "length"),
        ]
        assert child.has_torch


def test_a_reply_that_needs_torch_in_its_middle_goes_on_there(client: EngineClient) -> None:
    """The user sees one text, each of its tokens once."""
    story = (ChatMessage("user", "Write a long story about a lamp."),)  # no seed makes it end before the stumble
    request = asked(client, "sampled", "lookup", messages=story)
    request = replace(request, sampling=SamplingOptions(temperature=0.9))
    with started(stumbling_engine.run) as child:
        child.process.send(request)
        while not isinstance(event := child._next(), Finished | Failed):
            pass
        assert isinstance(event, Finished), event
        assert child.has_torch
        assert sum(isinstance(one, EngineReady) for one in child.seen) == 2
        told = [one for one in child.seen if isinstance(one, TokensAdded)]
        tokens = [token for one in told for token in one.token_ids]
        assert tokens == list(event.reply.token_ids)
        assert "".join(one.text for one in told) == event.reply.text
        before = child.seen[: [type(one) for one in child.seen].index(ModelUnloaded)]
        assert any(isinstance(one, TokensAdded) for one in before)


def test_a_request_that_waits_for_a_process_with_torch_is_cancelled_beside_a_reply() -> None:
    with started() as child:
        child.process.send(Generate("1", SMALL, (ChatMessage("user", "Write a long story about a lamp."),)))
        while not isinstance(child._next(), TokensAdded):
            pass
        for number in "23":
            child.process.send(Generate(number, SMALL, ASKED, logprobs=2))
        for _ in range(6):  # they are handed back meanwhile
            child._next()
        child.process.send(Cancel("3"))
        child.process.send(Cancel("2"))
        ends: list[Finished | Failed] = []
        while len(ends) < 3:
            event = child._next()
            if isinstance(event, Finished | Failed):
                ends.append(event)
            if len(ends) == 2:
                child.process.send(Cancel("1"))
        assert sorted(end.request_id for end in ends[:2]) == ["2", "3"]
        assert isinstance(ends[2], Finished)
        assert all(end.error.kind == "Cancelled" for end in ends if isinstance(end, Failed))


def test_looks_end_before_commands_are_handed_back(monkeypatch: pytest.MonkeyPatch) -> None:
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def find(check: Callable[[], None]) -> tuple[()]:
        time.sleep(0.5)
        return ()

    monkeypatch.setattr("engine.engine.pairs", find)
    engine = Engine(events.put)
    try:
        engine._hands_back = True
        engine.submit(FindPairs("1"))
        engine.submit(Ping(2))
        assert [type(events.get(timeout=100)) for _ in range(3)] == [EngineReady, PairsFound, HandedBack]
    finally:
        engine.close()


@pytest.mark.parametrize("values", [{"logprobs": 2}, {"verify": "typical"}])
def test_logprobs_and_other_rules_need_torch(values: dict[str, Any]) -> None:
    with started() as child:
        child.answers(Generate("1", SMALL, ASKED, max_tokens=4, **values))
        assert child.has_torch


def test_pictures_need_torch() -> None:
    seen = (replace(ASKED[0], pictures=(Picture("", 1, 1),)),)
    assert [settle(SMALL).needs_torch(Generate("1", SMALL, words)) for words in (ASKED, seen)] == [False, True]


def test_the_machine_is_measured_in_a_process_that_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENON_CACHE_DIR", str(tmp_path))
    with started() as child:
        child.process.send(ReportMachine("1", measure=True))
        while not isinstance(event := child._next(), MachineReported | Failed):
            pass
        assert isinstance(event, MachineReported), event
        assert event.report.speeds is not None
        child.process.send(ReportMachine("2"))
        while not isinstance(again := child._next(), MachineReported | Failed):
            pass
        assert isinstance(again, MachineReported)
        assert again.report.speeds == event.report.speeds
        assert not child.has_torch


def test_an_engine_that_is_ended_is_not_started_anew() -> None:
    codes: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    process = EngineProcess(run_engine, lambda event: None, codes.put)
    first = process.process_id
    process.send(Generate("1", LoadOptions("smollm2", weights="fp32"), ASKED))
    process.kill()
    assert codes.get(timeout=100) is not None
    assert process.process_id == first
    assert first is not None
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
