"""What the engine reports of drafts: each round, each token's origin, and where accepted drafts stand in the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.messages import Reply, StatisticsUpdated, TokensAdded
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient

PROMPT = "one two three four one two three four one two " * 3


@pytest.fixture(scope="module")
def reply(client: EngineClient, tmp_path_factory: pytest.TempPathFactory) -> Reply:
    folder = write_checkpoint(
        Path(tmp_path_factory.mktemp("model")), "llama-tied", seed=3, num_hidden_layers=2
    )
    found = client.answer(PROMPT, folder, mode="lookup", max_tokens=64)
    assert found.timings.draft_n_accepted > 0
    return found


def test_the_rounds_make_up_the_reply(client: EngineClient, reply: Reply) -> None:
    rounds = [record for event in client.seen(StatisticsUpdated) for record in event.rounds]
    assert len(rounds) == reply.timings.target_forwards <= 64
    # The first token comes out of the prompt's own forward.
    assert [token for record in rounds for token in record.emitted] == list(reply.token_ids[1:])
    assert sum(len(record.tokens) for record in rounds) == reply.timings.draft_n
    assert sum(len(record.accepted) for record in rounds) == reply.timings.draft_n_accepted
    assert sum(record.verify_ms for record in rounds) == pytest.approx(reply.timings.verify_ms)
    position = len(reply.prompt_ids) + 1
    for record in rounds:
        assert record.position == position
        position += len(record.emitted)
        for node, token in zip(record.accepted, record.emitted, strict=False):
            assert record.tokens[node] == token


def test_each_token_has_an_origin(client: EngineClient, reply: Reply) -> None:
    events = client.seen(TokensAdded)
    assert sum(len(event.token_ids) for event in events) == len(reply.token_ids)
    assert sum(event.drafted for event in events) == reply.timings.draft_n_accepted
    assert all(event.drafted < max(1, len(event.token_ids)) for event in events)


def test_drafted_text_is_what_the_drafted_tokens_added(client: EngineClient, reply: Reply) -> None:
    assert reply.drafted_text
    assert all(start < end for start, end in reply.drafted_text)
    assert reply.drafted_text[-1][1] <= len(reply.text)
    taken = place = 0
    for event in client.seen(TokensAdded):
        inside = sum(
            max(0, min(end, place + len(event.text)) - max(start, place)) for start, end in reply.drafted_text
        )
        assert (inside == 0) or event.drafted
        taken += inside
        place += len(event.text)
    assert taken == sum(end - start for start, end in reply.drafted_text)


def test_plain_decoding_has_rounds_without_drafts(client: EngineClient, llama_folder: Path) -> None:
    client.events.clear()
    plain = client.answer(PROMPT, llama_folder, mode="plain", max_tokens=8)
    rounds = [record for event in client.seen(StatisticsUpdated) for record in event.rounds]
    assert [record.tokens for record in rounds] == [()] * 7
    assert plain.drafted_text == ()
