"""Minions through the engine: the model's own text with any drafts beside each other, and bad ones refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.messages import Notice, StatisticsUpdated
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import load_reference, reference_greedy
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import covering
from tests.support.heads import make_head
from tests.support.prompt_tokens import write_prompt_tokens
from tests.support.toy import TOY_DRAFT

pytestmark = pytest.mark.usefixtures("no_gpu", "always_drafted")
PROMPT = "one two three four one two three four one two " * 3
LAYERS = 6
WAYS = ({}, {"as_published": True})


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("target") / "llama", num_hidden_layers=LAYERS)


@pytest.fixture(scope="module")
def drafts(tmp_path_factory: pytest.TempPathFactory, draft: Path) -> tuple[str, ...]:
    """One of each kind, and a head that reads three layers."""
    folder = tmp_path_factory.mktemp("drafts")
    heads = [make_head(name).write(folder / name, safetensors=True) for name in ("eagle", "eagle3", "medusa")]
    asking = write_prompt_tokens(folder / "prompt-tokens", num_layers=LAYERS)
    return tuple(map(str, (draft, *heads, asking)))


@pytest.mark.parametrize("way", WAYS)
def test_greedy_tokens_are_those_of_transformers(
    way: dict[str, bool], client: EngineClient, target: Path, drafts: tuple[str, ...]
) -> None:
    reply = client.answer(PROMPT, target, drafts=drafts, mode="minions", weights="fp32", max_tokens=40, **way)
    assert list(reply.token_ids) == reference_greedy(load_reference(target), reply.prompt_ids, 40)
    assert (reply.mode, reply.drafts) == ("minions", drafts)
    names = [member.name for member in reply.timings.members]
    assert names == ["lookup", *drafts]
    if not way:
        silent = {member.name for member in reply.timings.members if not member.draft_n}
        assert silent <= {
            "lookup",
            drafts[-1],
        }  # nothing is repeated here, or held likely by random prompt tokens
    assert [event.text for event in client.seen(Notice) if "stopped working" in event.text] == []


@pytest.mark.parametrize(("weights", "way"), covering(["fp32", "q8_0"], WAYS, together=1))
def test_a_seed_gives_one_text_with_and_without_them(
    weights: str, way: dict[str, bool], client: EngineClient, target: Path, drafts: tuple[str, ...]
) -> None:
    options: dict[str, Any] = {"weights": weights, "max_tokens": 32, "temperature": 0.8, "top_p": 0.95}
    for seed in (1, 2):
        plain = client.answer(PROMPT, target, mode="plain", seed=seed, **options)
        reply = client.answer(PROMPT, target, drafts=drafts, mode="minions", seed=seed, **options, **way)
        assert reply.token_ids == plain.token_ids


def test_the_next_question_goes_on_in_every_cache(client: EngineClient, target: Path, drafts: tuple[str, ...]) -> None:
    options = {"weights": "fp32", "max_tokens": 24}
    reply = client.answer(PROMPT, target, drafts=drafts, mode="minions", **options)
    following = client.answer(PROMPT + reply.text, target, drafts=drafts, mode="minions", **options)
    assert following.timings.cache_n > 0
    plain = client.answer(PROMPT + reply.text, target, mode="plain", **options)
    assert following.token_ids == plain.token_ids
    told = {notice.text for notice in client.seen(Notice) if "no GPU" in notice.text}
    assert told == {"There is no GPU that Tenon can use here, so the drafts run on the CPU beside the model."}


def test_rounds_say_who_guessed_and_what_the_votes_weighed(client: EngineClient, target: Path, draft: Path) -> None:
    """The target as its own draft is always right, another random model hardly ever."""
    client.events.clear()
    reply = client.answer(
        PROMPT, target, drafts=(str(target), str(draft)), mode="minions", weights="fp32", max_tokens=40
    )
    rounds = [record for event in client.seen(StatisticsUpdated) for record in event.rounds]
    assert all(len(record.sources) == len(record.tokens) for record in rounds)
    assert any(record.sources for record in rounds)
    assert all(len(record.weights) == 3 for record in rounds)
    _, right, wrong = reply.timings.members
    assert right.acceptance_rate == 1.0
    assert wrong.acceptance_rate is not None
    assert wrong.acceptance_rate < 0.5
    assert right.weight > wrong.weight
    assert rounds[-1].weights[1:] == (right.weight, wrong.weight)


def test_a_single_draft_is_a_member_beside_lookup(client: EngineClient, target: Path, draft: Path) -> None:
    reply = client.answer(PROMPT, target, draft=str(draft), mode="minions", weights="fp32", max_tokens=24)
    assert [member.name for member in reply.timings.members] == ["lookup", str(draft)]
    plain = client.answer(PROMPT, target, mode="plain", weights="fp32", max_tokens=24)
    assert reply.token_ids == plain.token_ids


def test_bad_committees_are_refused(
    client: EngineClient, target: Path, draft: Path, tmp_path: Path, drafts: tuple[str, ...]
) -> None:
    def failure(**options: Any) -> str:
        return client.failure(PROMPT, target, mode="minions", **options).error.message

    assert failure(drafts=(str(draft), str(draft))) == (f"The draft {draft} is named twice: name each draft once.")
    there = f"{draft.parent}/./{draft.name}/"
    assert failure(drafts=(str(draft), there)) == f"The draft {there} is named twice: name each draft once."
    assert failure().startswith("The mode Minions cannot run. It needs a draft")
    assert "made for another vocabulary" in failure(drafts=(str(draft), str(TOY_DRAFT)))
    narrow = write_prompt_tokens(tmp_path / "narrow", hidden_size=32)
    message = failure(drafts=(str(draft), str(narrow)))
    assert "for a model with hidden size 32, and this model's is 64" in message
