from __future__ import annotations

import errno
import json
import threading
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from app.version import version_of
from engine.decoding.sequence import AskedRows, PromptReading, TokenSequence
from engine.engine import Engine
from engine.errors import Allowed
from engine.messages import (
    Cancel,
    ChatMessage,
    ContextTrimmed,
    EngineReady,
    Event,
    Failed,
    Finished,
    Load,
    LoadOptions,
    LoadProgress,
    ModelLoaded,
    ModelUnloaded,
    Notice,
    PrefillProgress,
    StatisticsUpdated,
    TokensAdded,
    Unload,
)
from engine.model.block import block
from engine.verifying import RULES
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient, engine_client
from tests.support.toy import TOY_DRAFT


@pytest.fixture
def client() -> Iterator[EngineClient]:
    with engine_client() as opened:
        yield opened


def user(text: str) -> ChatMessage:
    return ChatMessage("user", text)


def test_events_of_a_reply_come_in_order(client: EngineClient, llama_folder: Path) -> None:
    reply = client.answer([user("Hello")], llama_folder, max_tokens=20)
    order = [type(event) for event in client.events]
    landmarks = [
        EngineReady,
        LoadProgress,
        ModelLoaded,
        PrefillProgress,
        TokensAdded,
        StatisticsUpdated,
        Finished,
    ]
    assert sorted(landmarks, key=order.index) == landmarks
    assert order.count(Finished) == 1
    added = client.seen(TokensAdded)
    assert "".join(event.text for event in added) == reply.text
    assert tuple(token for event in added for token in event.token_ids) == reply.token_ids
    progress = client.seen(LoadProgress)
    assert progress[-1].done_bytes == progress[-1].total_bytes > 0
    final = client.seen(StatisticsUpdated)[-1]
    assert final.context_used == len(reply.prompt_ids) + len(reply.token_ids)
    assert final.context_limit == client.seen(ModelLoaded)[0].report.context
    assert reply.timings.prompt_n == len(reply.prompt_ids)
    assert reply.memory.resident_peak_bytes > 50 << 20


def test_a_second_turn_computes_only_what_is_new(client: EngineClient, llama_folder: Path) -> None:
    history = [user("The quick brown fox")]
    first = client.answer(history, llama_folder, max_tokens=12, mode="lookup")
    history += [ChatMessage("assistant", first.text), user("and the lazy dog")]
    second = client.answer(history, llama_folder, max_tokens=12)
    shared = 0
    for left, right in zip([*first.prompt_ids, *first.token_ids[:-1]], second.prompt_ids, strict=False):
        if left != right:
            break
        shared += 1
    assert shared >= len(first.prompt_ids)
    assert second.timings.cache_n == shared
    assert second.timings.prompt_n == len(second.prompt_ids) - shared
    # The reused cache is as good as a fresh one.
    with engine_client() as fresh:
        assert fresh.answer(history, llama_folder, max_tokens=12).token_ids == second.token_ids


def test_an_edited_message_reuses_the_prefix_before_it(client: EngineClient, llama_folder: Path) -> None:
    opening = [user("The quick brown fox"), ChatMessage("assistant", "jumps")]
    client.answer([*opening, user("over the lazy dog")], llama_folder, max_tokens=8)
    edited = client.answer([*opening, user("under the moon")], llama_folder, max_tokens=8)
    assert 10 < edited.timings.cache_n < len(edited.prompt_ids)
    with engine_client() as fresh:
        again = fresh.answer([*opening, user("under the moon")], llama_folder, max_tokens=8)
    assert again.token_ids == edited.token_ids


def test_a_reply_that_was_begun_is_continued(client: EngineClient, llama_folder: Path) -> None:
    asked = [user("The quick brown fox")]
    whole = client.answer(asked, llama_folder, max_tokens=4, temperature=0.0)
    begun = client.answer([*asked, ChatMessage("assistant", "jumps over")], llama_folder, max_tokens=4)
    shared = len(whole.prompt_ids)
    assert begun.prompt_ids[:shared] == whole.prompt_ids
    assert len(begun.prompt_ids) > shared
    assert "jumps" not in begun.text
    template = client.request([*asked, ChatMessage("assistant", "jumps over"), user("x")], llama_folder)
    later = client.answer(list(template.messages), llama_folder, max_tokens=1)
    assert later.prompt_ids[: len(begun.prompt_ids)] == begun.prompt_ids


def test_the_same_prompt_twice_computes_one_token(client: EngineClient, llama_folder: Path) -> None:
    first = client.answer("abcdefgh", llama_folder, max_tokens=8)
    second = client.answer("abcdefgh", llama_folder, max_tokens=8)
    assert second.token_ids == first.token_ids
    assert second.timings.prompt_n == 1


@pytest.mark.parametrize("mode", ["plain", "lookup"])
def test_limit_is_exact_and_the_context_ends_the_reply(mode: str, client: EngineClient, llama_folder: Path) -> None:
    for limit in (1, 2, 7, 33):
        reply = client.answer("aaaa bbbb aaaa bbbb", llama_folder, mode=mode, max_tokens=limit)
        assert (len(reply.token_ids), reply.stop_reason) == (limit, "length")
    reply = client.answer("abc", llama_folder, mode=mode, context=64)
    assert reply.stop_reason == "length"
    # The newest token needs no row of its own, so it may stand just behind the last one.
    assert len(reply.prompt_ids) + len(reply.token_ids) == 65


@pytest.mark.parametrize("mode", ["plain", "lookup"])
def test_end_of_text_ends_the_reply_in_mid_path(mode: str, client: EngineClient, tmp_path: Path) -> None:
    """Pitfall 12 of the fifteen: nothing after end-of-text, even where a drafted path went on."""
    folder = write_checkpoint(tmp_path / "model", "llama", seed=1)
    prompt = "one two three four one two three four one two " * 3
    free = client.answer(prompt, folder, mode="plain", max_tokens=48)
    planted = free.token_ids[17]
    (folder / "generation_config.json").write_text(f'{{"eos_token_id": {planted}}}')
    client.engine.submit(Unload())
    ended = client.answer(prompt, folder, mode=mode, max_tokens=48)
    first = free.token_ids.index(planted)
    assert ended.token_ids == free.token_ids[: first + 1]
    assert ended.stop_reason == "end"


@pytest.mark.parametrize("ids", [[10**30, 99_999, -1], 384, []])
def test_ends_beyond_the_vocabulary_end_nothing_and_break_nothing(
    ids: object, client: EngineClient, tmp_path: Path
) -> None:
    folder = write_checkpoint(tmp_path / "model", "llama", seed=1)
    prompt = "one two three four"
    free = client.answer(prompt, folder, max_tokens=24)
    for name in ("generation_config.json", "config.json"):
        path = folder / name
        values = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**values, "eos_token_id": ids}))
    client.engine.submit(Unload())
    for mode in ("plain", "lookup"):
        reply = client.answer(prompt, folder, mode=mode, max_tokens=24)
        assert (reply.token_ids, reply.stop_reason) == (free.token_ids, free.stop_reason)


def test_stop_strings_end_the_reply_and_are_not_shown(client: EngineClient, llama_folder: Path) -> None:
    free = client.answer("abc", llama_folder, max_tokens=40)
    stop = free.text[10:14]
    reply = client.answer("abc", llama_folder, max_tokens=40, stop=(stop,))
    assert reply.text == free.text[: free.text.index(stop)]
    assert reply.stop_reason == "stop"


def test_cancel_during_decoding_keeps_what_was_written(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers_run = 0

    def counted(*arguments: Any, **named: Any) -> torch.Tensor:
        nonlocal layers_run
        layers_run += 1
        if layers_run == 20:  # long before a random model may come to an end
            client.engine.submit(Cancel(request.request_id))
        return block(*arguments, **named)

    monkeypatch.setattr("engine.model.decoder.block", counted)
    request = client.request([user("Hello")], llama_folder)
    last = client.finish(request)
    assert isinstance(last, Finished)
    assert last.reply.stop_reason == "cancelled"
    assert 1 < len(last.reply.token_ids) < 20
    assert last.reply.text == "".join(event.text for event in client.seen(TokensAdded))
    # And the engine is as good as new.
    assert client.answer([user("Hello")], llama_folder, max_tokens=4).stop_reason == "length"


def test_cancel_is_seen_between_layers_of_the_prompt(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers_run = 0

    def counted(*arguments: Any, **named: Any) -> torch.Tensor:
        nonlocal layers_run
        layers_run += 1
        client.engine.submit(Cancel(request.request_id))
        return block(*arguments, **named)

    monkeypatch.setattr("engine.model.decoder.block", counted)
    request = client.request("word " * 60, llama_folder)
    last = client.finish(request)
    assert isinstance(last, Finished)
    assert (last.reply.stop_reason, last.reply.text, layers_run) == ("cancelled", "", 1)


def test_cancel_during_load_leaves_nothing_loaded(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop_at_once(event: LoadProgress) -> None:
        client.engine.submit(Cancel(event.request_id))

    monkeypatch.setattr(client.engine, "_on_event", _tap(client, LoadProgress, stop_at_once))
    client.engine.submit(Load("load", LoadOptions(model=str(llama_folder))))
    last = client.wait_for((ModelLoaded, Failed))
    assert isinstance(last, Failed)
    assert last.error.kind == "Cancelled"


def test_a_request_that_waits_can_be_cancelled(client: EngineClient, llama_folder: Path) -> None:
    first = client.request("abc", llama_folder, max_tokens=100)
    second = client.request("abc", llama_folder)
    client.engine.submit(first)
    client.engine.submit(second)
    client.engine.submit(Cancel(second.request_id))
    client.wait_for((Finished, Failed))
    client.wait_for((Finished, Failed))
    (ended,), (failed,) = client.seen(Finished), client.seen(Failed)
    assert ended.request_id == first.request_id
    assert (failed.request_id, failed.error.kind) == (second.request_id, "Cancelled")


def test_closing_cancels_what_runs_and_joins_the_thread(llama_folder: Path) -> None:
    with engine_client() as client:
        client.engine.submit(client.request("abc", llama_folder))
        client.wait_for(TokensAdded)
    assert not [thread for thread in threading.enumerate() if thread.name == "tenon-engine"]


def test_a_model_is_loaded_once_and_again_when_options_change(client: EngineClient, llama_folder: Path) -> None:
    client.answer("a", llama_folder, mode="plain", max_tokens=2)
    client.answer("a", llama_folder, mode="lookup", max_tokens=2)
    assert len(client.seen(ModelLoaded)) == 1
    client.engine.submit(Load("again", client.request("a", llama_folder, mode="lookup").options))
    client.wait_for(ModelLoaded)
    assert [one.total_bytes == 0 for one in client.seen(LoadProgress)].count(True) == 1  # one load
    client.answer("a", llama_folder, weights="bf16", max_tokens=2)
    assert len(client.seen(ModelLoaded)) == 3
    client.engine.submit(Unload())
    client.wait_for(ModelUnloaded)


def test_a_long_conversation_leaves_out_its_oldest_turns_and_says_so(client: EngineClient, llama_folder: Path) -> None:
    turns = [message for _ in range(12) for message in (user("hello " * 4), ChatMessage("assistant", "world " * 4))]
    messages = [ChatMessage("system", "Be brief."), *turns, user("and now?")]
    reply = client.answer(messages, llama_folder, context=128, max_tokens=10)
    (trimmed,) = client.seen(ContextTrimmed)
    assert 0 < trimmed.messages_left_out < len(messages)
    assert trimmed.messages_left_out % 2 == 0
    assert len(reply.prompt_ids) <= 118


def test_a_model_without_chat_template_answers_and_says_so(client: EngineClient, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "model", chat_template=False)
    client.answer([user("Hello")], folder, max_tokens=4)
    (notice,) = client.seen(Notice)
    assert "no chat template" in notice.text


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"temperature": -1.0}, "temperature is -1"),
        ({"top_p": 3.0}, "top-p is 3"),
        ({"max_tokens": 0}, "limit of tokens is 0"),
        ({"mode": "magic"}, "no mode 'magic'"),
        ({"weights": "int3"}, "no weight format 'int3'"),
        ({"threads": 0}, "threads is 0"),
        ({"context": 4}, "context is 4"),
        ({"verify": "guess"}, "no rule of verification 'guess'"),
        ({"draft": str(TOY_DRAFT)}, "made for another vocabulary"),
        ({"ram_budget_bytes": 1000}, "memory budget of 1 kB"),
    ],
)
def test_bad_options_get_one_sentence(
    values: dict[str, object], sentence: str, client: EngineClient, llama_folder: Path
) -> None:
    failed = client.failure("abc", llama_folder, **values)
    assert sentence in failed.error.message
    assert "\n" not in failed.error.message
    assert failed.error.message.endswith(".")


def test_a_lossy_rule_is_announced_and_lossless_ones_are_not(client: EngineClient, llama_folder: Path) -> None:
    for name, rule in RULES.items():
        client.events.clear()
        client.answer("abc abc", llama_folder, verify=name, max_tokens=4)
        assert ["lossy" in notice.text for notice in client.seen(Notice)] == [True] * (not rule.lossless)


@pytest.mark.parametrize(("faster", "tiny_bytes", "expected"), [(1, 1 << 20, 1), (2, 1 << 20, 2), (1, 0, 2)])
def test_a_tiny_model_computes_with_as_many_threads_as_are_faster_and_others_with_all(
    client: EngineClient,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    faster: int,
    tiny_bytes: int,
    expected: int,
) -> None:
    used: list[int] = []
    ask = PromptReading.ask

    def watched(reading: PromptReading) -> AskedRows:
        used.append(torch.get_num_threads())
        return ask(reading)

    monkeypatch.setattr("engine.loaded_model.usable_cores", lambda: 2)
    monkeypatch.setattr("engine.loaded_model._TINY_BYTES", tiny_bytes)
    monkeypatch.setattr(
        TokenSequence, "seconds_of_forward", lambda sequence, rows: abs(torch.get_num_threads() - faster)
    )
    monkeypatch.setattr(PromptReading, "ask", watched)
    client.answer("abc", write_checkpoint(tmp_path / "small", "llama"), threads=None, max_tokens=1)
    assert (used, client.seen(ModelLoaded)[-1].report.threads) == ([expected], expected)


def test_empty_and_overlong_prompts_get_one_sentence(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.failure([user(" ")], llama_folder).error.kind == "EmptyPrompt"
    failed = client.failure([user("word " * 400)], llama_folder, context=128)
    assert (failed.error.kind, failed.error.allowed) == ("PromptTooLong", None)  # the model has 512 tokens
    failed = client.failure([user("word " * 40)], llama_folder, context=128)
    assert (failed.error.kind, failed.error.allowed) == ("PromptTooLong", Allowed("context", 256))
    assert "128" in failed.error.message
    needed = []

    def forecast(options: LoadOptions, held_bytes: int) -> SimpleNamespace:
        """Read a context of 256 from the disk, and at last one of any length."""
        needed.append(options.context)
        from_disk = options.context >= 256 or len(needed) > 2
        return SimpleNamespace(taken=SimpleNamespace(disk_bytes_per_round=from_disk))

    monkeypatch.setattr("engine.engine.forecast", forecast)
    failed = client.failure([user("word " * 40)], llama_folder, context=128)
    assert failed.error.allowed == Allowed("context", needed[1])  # what memory holds, and no more
    assert 128 < needed[1] < needed[0] == 256
    assert client.failure([user("word " * 40)], llama_folder, context=128).error.allowed is None
    assert client.failure([user("a\ud800b")], llama_folder).error.kind == "InvalidOption"


def test_a_bug_ends_the_reply_and_not_the_engine(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("words of the chat")

    with monkeypatch.context() as patched:
        patched.setattr("engine.reply.settled_sampler", broken)
        failed = client.failure("abc", llama_folder)
    assert failed.error.kind == "InternalError"
    assert "RuntimeError" in failed.error.details
    assert "words of the chat" not in failed.error.message + failed.error.details.replace(
        'raise RuntimeError("words of the chat")', ""
    )
    assert client.answer("abc", llama_folder, max_tokens=2).token_ids


@pytest.mark.parametrize(("asked", "told"), [(None, 512), (64, 64)])
def test_short_memory_is_told_with_who_holds_it_and_what_context_could_be_less(
    client: EngineClient,
    llama_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: int | None,
    told: int,
) -> None:
    def short(*_: object, **__: object) -> None:
        raise MemoryError("words of the chat")

    monkeypatch.setattr("engine.reply.settled_sampler", short)
    error = client.failure("abc", llama_folder, context=asked).error
    assert (error.kind, error.context) == ("OutOfMemory", told)
    assert error.memory.own_bytes > 1e7
    assert error.memory.total_bytes >= error.memory.own_bytes + error.memory.others_bytes
    assert "MemoryError" in error.details


def test_a_gpu_without_memory_left_is_a_kind_of_its_own(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("no memory")

    monkeypatch.setattr("engine.reply.settled_sampler", short)
    error = client.failure("abc", llama_folder).error
    assert (error.kind, error.context, error.memory) == ("OutOfDeviceMemory", 0, None)


def _tap(client: EngineClient, kind: type[LoadProgress], action: object) -> object:
    forward = client._queue.put

    def on_event(event: Event) -> None:
        if isinstance(event, kind):
            action(event)  # type: ignore[operator]
        forward(event)

    return on_event


def test_events_come_from_the_owner_thread() -> None:
    names: list[str] = []
    engine = Engine(lambda event: names.append(threading.current_thread().name))
    engine.close()
    assert names == ["tenon-engine"]


@pytest.mark.parametrize(
    "error", [metadata.PackageNotFoundError("tenon"), OSError(errno.EMFILE, "Too many open files")]
)
def test_an_engine_answers_if_its_version_cannot_be_read(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(package: str) -> str:
        raise error

    monkeypatch.setattr(metadata, "version", fail)
    with engine_client() as client:
        client.wait_for(EngineReady)
        (ready,) = client.seen(EngineReady)
    assert ready.version == "unknown"
    assert version_of("tenon") == ""
