"""Reports of drafts: each round, each token's origin, and the places of accepted drafts in the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.messages import Reply, StatisticsUpdated, TokensAdded
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient

PROMPT = "one two three four one two three four one two " * 3


@pytest.fixture(scope="module")
def reply(client: EngineClient, tmp_path_factory: pytest.TempPathFactory) -> Reply:
    folder = write_checkpoint(Path(tmp_path_factory.mktemp("model")), "llama-tied", seed=3, num_hidden_layers=2)
    # While the machine is busy a draft may seem to cost more than it saves: it is verified whatever it costs.
    found = client.answer(PROMPT, folder, mode="lookup", max_tokens=64, as_published=True)
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
    rounds = [record for event in client.seen(StatisticsUpdated) for record in event.rounds]
    # The limit may end the reply within what the last draft had accepted.
    assert [event.drafted for event in events[1 : 1 + len(rounds)]] == [
        min(len(record.accepted), len(record.emitted)) for record in rounds
    ]
    assert all(event.drafted < max(1, len(event.token_ids)) for event in events[: len(rounds)])


def test_drafted_text_is_what_the_drafted_tokens_added(client: EngineClient, reply: Reply) -> None:
    assert reply.drafted_text
    assert all(start < end for start, end in reply.drafted_text)
    assert reply.drafted_text[-1][1] <= len(reply.text)
    taken = place = 0
    for event in client.seen(TokensAdded):
        inside = sum(max(0, min(end, place + len(event.text)) - max(start, place)) for start, end in reply.drafted_text)
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


def test_rounds_say_what_their_tokens_say_where_that_is_asked_for(client: EngineClient, llama_folder: Path) -> None:
    client.events.clear()
    reply = client.answer(PROMPT, llama_folder, mode="lookup", max_tokens=300, round_texts=True)
    texts = [record.texts for event in client.seen(StatisticsUpdated) for record in event.rounds]
    # All of them, and not the latest few.
    assert len(texts) == reply.timings.target_forwards > 64
    assert texts[0] is not None
    said = texts[0].root
    for index, record in enumerate(record for event in client.seen(StatisticsUpdated) for record in event.rounds):
        found = texts[index]
        assert len(found.drafted) == len(record.tokens)
        assert [found.drafted[node] for node in record.accepted][: len(found.emitted)] == list(
            found.emitted[: len(record.accepted)]
        )
        if index:
            before = texts[index - 1]
            assert found.root == before.emitted[-1]
        said += "".join(found.emitted)
    assert _without_marks(said) == _without_marks(reply.text)


def test_rounds_keep_quiet_where_nobody_asks(client: EngineClient, llama_folder: Path) -> None:
    client.events.clear()
    client.answer(PROMPT, llama_folder, mode="plain", max_tokens=4)
    rounds = [record for event in client.seen(StatisticsUpdated) for record in event.rounds]
    assert [record.texts for record in rounds] == [None] * 3


def _without_marks(text: str) -> str:
    """A text without characters outside ASCII: those may be spread over several tokens."""
    return "".join(character for character in text if character.isascii())
