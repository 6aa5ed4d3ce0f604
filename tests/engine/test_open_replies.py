"""Several replies of one engine: their rounds take turns, and each is what it is alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby, product
from pathlib import Path
from typing import Any

import pytest

from engine.loaded_model import LoadedModel
from engine.messages import (
    Cancel,
    CountTokens,
    Event,
    Failed,
    Finished,
    Generate,
    ModelLoaded,
    Notice,
    OutputForm,
    Ping,
    Pong,
    TokensAdded,
    TokensCounted,
    Unload,
)
from engine.model.text_states import CHUNK
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient, engine_client
from tests.support.fast_cases import chosen
from tests.support.next_layers import HYBRIDS as WITH_STATES
from tests.support.next_layers import write_with_next_layer

#: Models with layers that keep a state, or with windows and convolutions.
HYBRIDS = ("granite-hybrid-moe", "lfm3", "nemotron-h-moe", "qwen3-next", "qwen35", "qwen35-moe")
TRIED = chosen(
    product(("fp32", "q8_0"), HYBRIDS), (("fp32", "lfm3"), *product(("q8_0",), ("lfm3", "nemotron-h-moe", "qwen35")))
)
WORDS = "one two three four one two three four one two " * 3
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("The quick brown fox", {"mode": "plain", "max_tokens": 60}),
    (WORDS, {"mode": "lookup", "max_tokens": 80}),
    ("abcdefgh", {"mode": "plain", "max_tokens": 40, "temperature": 1.0, "seed": 4}),
    (WORDS + "five", {"mode": "lookup", "max_tokens": 50, "temperature": 0.8, "seed": 9}),
]


@pytest.fixture
def client() -> Iterator[EngineClient]:
    with engine_client() as opened:
        yield opened


def submit(client: EngineClient, folder: Path, weights: str = "fp32") -> list[Generate]:
    """Ask for all of them while the model is loaded already."""
    client.answer("abc", folder, mode="plain", max_tokens=1, weights=weights)
    client.events.clear()
    requests = [client.request(prompt, folder, weights=weights, **values) for prompt, values in ASKED]
    for request in requests:
        client.engine.submit(request)
    return requests


def wait(client: EngineClient, count: int) -> dict[str, Event]:
    """The last events of so many requests."""
    ended: dict[str, Event] = {}
    while len(ended) < count:
        event = client.wait_for((Finished, Failed))
        assert isinstance(event, Finished | Failed)
        ended[event.request_id] = event
    return ended


def tokens(event: Event) -> tuple[int, ...]:
    assert isinstance(event, Finished), event
    return event.reply.token_ids


@pytest.mark.parametrize(("weights", "variant"), [("fp32", "llama"), ("q8_0", "llama"), *TRIED])
def test_replies_take_turns_and_are_what_each_is_alone(
    weights: str, variant: str, client: EngineClient, checkpoint_of: Callable[[str], Path]
) -> None:
    folder = checkpoint_of(variant)
    requests = submit(client, folder, weights)
    ended = wait(client, len(requests))
    added = client.seen(TokensAdded)
    turns = [request_id for request_id, _ in groupby(event.request_id for event in added)]
    assert len(turns) > len(added) / 2
    for request, (prompt, values) in zip(requests, ASKED, strict=True):
        client.engine.submit(Unload())
        assert tokens(ended[request.request_id]) == client.answer(prompt, folder, weights=weights, **values).token_ids


@pytest.mark.usefixtures("always_drafted")
@pytest.mark.parametrize(
    ("weights", "variant"), chosen(product(("fp32", "q8_0"), WITH_STATES), (("fp32", "qwen35"), ("q8_0", "qwen35-moe")))
)
def test_replies_with_the_layer_that_drafts_are_what_each_is_alone(
    weights: str, variant: str, client: EngineClient, tmp_path: Path
) -> None:
    write_with_next_layer(tmp_path / "model", variant, "qwen", copies=True)
    drafted = {"draft": "mtp", "weights": weights, "max_tokens": 40}
    asked = [(WORDS, {}), (WORDS + "five", {"temperature": 0.8, "seed": 9}), ("abcdefgh", {"draft_width": 4})]
    alone = [client.answer(prompt, tmp_path / "model", mode="dovetail", **drafted, **own) for prompt, own in asked]
    assert all(reply.timings.draft_n > 0 for reply in alone)
    requests = [client.request(prompt, tmp_path / "model", mode="dovetail", **drafted, **own) for prompt, own in asked]
    for request in requests:
        client.engine.submit(request)
    ended = wait(client, len(requests))
    for request, reply in zip(requests, alone, strict=True):
        assert tokens(ended[request.request_id]) == reply.token_ids


@pytest.mark.parametrize("variant", chosen(["llama", *HYBRIDS], ("llama", "qwen35")))
def test_a_cancel_ends_one_reply_alone(
    variant: str, client: EngineClient, checkpoint_of: Callable[[str], Path]
) -> None:
    folder = checkpoint_of(variant)
    requests = submit(client, folder)
    stopped = requests[0].request_id
    while sum(event.request_id == stopped for event in client.seen(TokensAdded)) < 5:
        client.wait_for(TokensAdded)
    client.engine.submit(Cancel(stopped))
    last = wait(client, len(requests))
    cut = last.pop(stopped)
    assert isinstance(cut, Finished)
    assert cut.reply.stop_reason == "cancelled"
    assert all(event.reply.stop_reason != "cancelled" for event in last.values() if isinstance(event, Finished))
    whole = client.answer(ASKED[0][0], folder, weights="fp32", **ASKED[0][1])
    assert 5 <= len(cut.reply.token_ids) < len(whole.token_ids)
    assert whole.token_ids[: len(cut.reply.token_ids)] == cut.reply.token_ids
    for request, (prompt, values) in list(zip(requests, ASKED, strict=True))[1:]:
        alone = client.answer(prompt, folder, weights="fp32", **values)
        assert tokens(last[request.request_id]) == alone.token_ids


def test_a_request_larger_than_the_context_fails_alone(client: EngineClient, llama_folder: Path) -> None:
    requests = submit(client, llama_folder)
    client.wait_for(TokensAdded)
    large = client.request(WORDS * 100, llama_folder, mode="lookup", weights="fp32")
    client.engine.submit(large)
    ended = wait(client, len(requests) + 1)
    failed = ended.pop(large.request_id)
    assert isinstance(failed, Failed)
    assert failed.error.kind == "PromptTooLong"
    assert "shorten it" in failed.error.message
    running = next(at for at, event in enumerate(client.events) if event is failed)
    assert all(client.events.index(event) > running for event in ended.values())
    for request, (prompt, values) in zip(requests, ASKED, strict=True):
        alone = client.answer(prompt, llama_folder, weights="fp32", **values)
        assert tokens(ended[request.request_id]) == alone.token_ids


def test_what_needs_another_model_waits_for_its_turn(client: EngineClient, llama_folder: Path, tmp_path: Path) -> None:
    other = write_checkpoint(tmp_path / "other", "llama", seed=8)
    requests = submit(client, llama_folder)
    waiting = client.request("abc", other, mode="plain", max_tokens=3)
    client.engine.submit(waiting)
    client.engine.submit(Ping(1))
    client.wait_for(Pong)
    order = [(type(event), event.request_id) for event in client.events if isinstance(event, Finished | ModelLoaded)]
    assert {request_id for _, request_id in order[: len(requests)]} == {one.request_id for one in requests}
    assert order[len(requests) :] == [(ModelLoaded, waiting.request_id), (Finished, waiting.request_id)]


def test_without_room_for_another_cache_one_reply_follows_the_other(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LoadedModel, "has_room", lambda *_: False)
    requests = submit(client, llama_folder)
    wait(client, len(requests))
    turns = [request_id for request_id, _ in groupby(event.request_id for event in client.seen(TokensAdded))]
    assert turns == [request.request_id for request in requests]


def test_a_request_that_lets_others_first_is_overtaken_while_it_waits(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LoadedModel, "has_room", lambda *_: False)
    client.answer("abc", llama_folder, mode="plain", max_tokens=1)
    client.events.clear()
    asked = [
        client.request(f"abc {number}", llama_folder, mode="plain", max_tokens=30, lets_others_first=number < 3)
        for number in range(4)
    ]
    for request in asked:
        client.engine.submit(request)
    wait(client, len(asked))
    ended = [event.request_id for event in client.seen(Finished)]
    first, second, third, mine = (request.request_id for request in asked)
    assert ended in ([first, mine, second, third], [mine, first, second, third])


def test_a_ping_keeps_no_reply_from_joining(client: EngineClient, llama_folder: Path) -> None:
    client.answer("abc", llama_folder, mode="plain", max_tokens=1)
    client.events.clear()
    long = client.request("abc", llama_folder, mode="plain", max_tokens=200)
    short = client.request("def", llama_folder, mode="plain", max_tokens=2)
    client.engine.submit(long)
    client.wait_for(TokensAdded)
    client.engine.submit(Ping(1))
    client.engine.submit(short)
    client.wait_for(Pong)
    assert [event.request_id for event in client.seen(Finished)] == [short.request_id, long.request_id]


def test_a_count_of_tokens_passes_a_reply_that_waits_for_room(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LoadedModel, "has_room", lambda *_: False)
    requests = submit(client, llama_folder)
    client.wait_for(TokensAdded)
    counted = CountTokens("counted", client.request("The quick brown fox", llama_folder, weights="fp32"))
    client.engine.submit(counted)
    client.wait_for(TokensCounted)
    assert len(client.seen(Finished)) < len(requests)
    while len(client.seen(Finished)) < len(requests):
        client.wait_for(Finished)
    # Replies do not overtake each other.
    assert [event.request_id for event in client.seen(Finished)] == [one.request_id for one in requests]


def test_drafts_on_the_models_own_device_are_said_to_have_no_pipeline(
    client: EngineClient, llama_folder: Path, draft: Path
) -> None:
    values: dict[str, Any] = {"drafts": (str(draft),), "mode": "minions", "weights": "fp32", "max_tokens": 40}
    for _ in range(2):
        requests = [client.request(text, llama_folder, **values) for text in (WORDS, "one two", "abc")]
        for request in requests:
            client.engine.submit(request)
        wait(client, len(requests))
    said = [event.text for event in client.seen(Notice) if "pipeline is off" in event.text]
    assert len(said) == 1
    assert "one device (cpu)" in said[0]


def test_the_engine_closes_with_replies_open(client: EngineClient, llama_folder: Path) -> None:
    submit(client, llama_folder)
    client.wait_for(TokensAdded)
    client.engine.close()
    ended = wait(client, len(ASKED)).values()
    assert {"cancelled"} == {event.reply.stop_reason for event in ended if isinstance(event, Finished)}
    assert {"Cancelled"} >= {event.error.kind for event in ended if isinstance(event, Failed)}


@pytest.mark.parametrize("variant", chosen(["llama", *HYBRIDS], ("llama", "qwen35")))
def test_conversations_that_take_turns_are_each_found_in_the_cache(
    variant: str, client: EngineClient, checkpoint_of: Callable[[str], Path]
) -> None:
    folder = checkpoint_of(variant)
    texts = [4 * text for text in ("The quick brown fox jumps", "A language model guesses the next", "one two three")]
    # A text with states goes on from a kept one, so the last chunk and the head of a reply may be read again.
    again_read = 5 if variant == "llama" else 5 + CHUNK + 8
    for text in texts:
        client.answer(text, folder, mode="plain", max_tokens=8)
    for text in texts:
        again = client.answer(text + " over", folder, mode="plain", max_tokens=8)
        assert again.timings.cache_n >= len(again.prompt_ids) - again_read > 0
        client.engine.submit(Unload())
        assert again.token_ids == client.answer(text + " over", folder, mode="plain", max_tokens=8).token_ids
        for each in texts:
            client.answer(each, folder, mode="plain", max_tokens=8)


def test_without_room_the_text_that_was_used_longest_ago_gives_way(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def has_room_for_two(model: LoadedModel, sequences: int, kept_bytes: int = 0) -> bool:
        return kept_bytes < 2 * max(kept.cache_bytes for kept in model.sequences._kept)

    monkeypatch.setattr(LoadedModel, "has_room", has_room_for_two)
    texts = ("The quick brown fox jumps", "A language model guesses the next", "one two three four")
    for text in texts:
        client.answer(text, llama_folder, mode="plain", max_tokens=8)
    found = [
        client.answer(text, llama_folder, mode="plain", max_tokens=8).timings.cache_n > 0 for text in reversed(texts)
    ]
    assert found == [True, True, False]


def test_what_takes_long_to_prepare_keeps_nobody_waiting_and_may_be_left(
    client: EngineClient, llama_folder: Path
) -> None:
    client.answer("abc", llama_folder, mode="plain", max_tokens=1)
    endless = OutputForm("schema", '{"type": "integer", "multipleOf": 9999991}')
    heavy = client.request("abc", llama_folder, mode="plain", max_tokens=9, form=endless)
    plain = client.request("abc", llama_folder, mode="plain", max_tokens=9)
    client.engine.submit(heavy)
    client.engine.submit(plain)
    assert client.wait_for((Finished, Failed)).request_id == plain.request_id
    client.engine.submit(Cancel(heavy.request_id))
    ended = client.wait_for((Finished, Failed))
    assert isinstance(ended, Failed)
    assert (ended.request_id, ended.error.kind) == (heavy.request_id, "Cancelled")
    form = OutputForm("regex", "[a-c]{3}")
    assert len(client.answer("abc", llama_folder, mode="plain", max_tokens=9, form=form).text) == 3
