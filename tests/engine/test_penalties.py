"""Presence and frequency penalties and biases: the same text with and without drafts, and the text they ask for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import RepetitionPenaltyLogitsProcessor

from engine.messages import Finished, OutputForm, Penalties
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import load_reference
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import chosen
from tests.support.heads import make_head
from tests.support.prompt_tokens import write_prompt_tokens

pytestmark = pytest.mark.usefixtures("no_gpu", "always_drafted")
PROMPT = "four three two one " * 5
LAYERS = 6
PENALTIES = (
    Penalties(presence=1.5),
    Penalties(frequency=0.4),
    Penalties(presence=-0.5, frequency=0.7, bias=((300, 2.5), (17, -100.0))),
    Penalties(presence=2.0, window=8),
)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("target") / "llama", num_hidden_layers=LAYERS)


@pytest.fixture(scope="module")
def drafts(tmp_path_factory: pytest.TempPathFactory, target: Path, draft: Path) -> dict[str, tuple[str, ...]]:
    """Drafts for each mode; the target itself guesses most tokens right that no penalty moves."""
    folder = tmp_path_factory.mktemp("drafts")
    heads = {name: str(make_head(name).write(folder / name, safetensors=True)) for name in ("eagle3", "medusa")}
    asking = str(write_prompt_tokens(folder / "prompt-tokens", num_layers=LAYERS))
    return {
        "lookup": (),
        "dovetail": (str(target),),
        "ghidorah": (heads["medusa"],),
        "ppd": (asking,),
        "minions": (str(target), str(draft), *heads.values(), asking),
    }


def _expected(model: Any, prompt: tuple[int, ...], count: int, penalties: Penalties, repetition: float) -> list[int]:
    """The greedy text by OpenAI's formula, token by token over transformers' logits."""
    written: list[int] = []
    for _ in range(count):
        text = torch.tensor([[*prompt, *written]])
        logits = model(text).logits[0, -1].detach().float()
        for token, value in penalties.bias:
            logits[token] += value
        divide = RepetitionPenaltyLogitsProcessor(repetition)
        logits = divide(text[:, -penalties.window :], logits[None])[0]
        for token, times in Counter(written).items():
            logits[token] -= times * penalties.frequency + penalties.presence
        written.append(int(logits.argmax()))
    return written


@pytest.mark.parametrize(
    ("penalties", "repetition"),
    chosen(zip(PENALTIES, (1.0, 1.2, 1.0, 1.2), strict=True), lambda case: case[0] in PENALTIES[2:]),
)
def test_greedy_text_is_that_of_openai_s_formula_in_every_mode(
    penalties: Penalties,
    repetition: float,
    client: EngineClient,
    target: Path,
    drafts: dict[str, tuple[str, ...]],
) -> None:
    settings: dict[str, Any] = {"temperature": 0.0, "repetition_penalty": repetition, "weights": "fp32"}
    settings |= {"penalties": penalties, "max_tokens": 30}
    plain = client.answer(PROMPT, target, mode="plain", **settings)
    model = load_reference(target)
    expected = _expected(model, plain.prompt_ids, len(plain.token_ids), penalties, repetition)
    assert list(plain.token_ids) == expected
    assert len(expected) == 30 or plain.stop_reason == "end"
    bare = client.answer(PROMPT, target, mode="plain", **{**settings, "penalties": Penalties()})
    assert repetition != 1.0 or plain.token_ids != bare.token_ids
    for mode, used in drafts.items():
        reply = client.answer(PROMPT, target, mode=mode, drafts=used, **settings)
        assert reply.token_ids == plain.token_ids, mode
        assert reply.mode == mode


@pytest.mark.parametrize("penalties", chosen(PENALTIES, PENALTIES[2:3]))
def test_a_seed_gives_one_text_in_every_mode_with_filters_and_a_form(
    penalties: Penalties, client: EngineClient, target: Path, drafts: dict[str, tuple[str, ...]]
) -> None:
    settings: dict[str, Any] = {
        "temperature": 0.9,
        "top_k": 40,
        "min_p": 0.02,
        "repetition_penalty": 1.1,
        "seed": 3,
    }
    settings |= {"penalties": penalties, "max_tokens": 30, "logprobs": 1}
    for form in (None, OutputForm("regex", "[a-d ]{30,60}")):
        plain = client.answer(PROMPT, target, mode="plain", form=form, **settings)
        for mode, used in drafts.items():
            reply = client.answer(PROMPT, target, mode=mode, drafts=used, form=form, **settings)
            assert (reply.token_ids, reply.text) == (plain.token_ids, plain.text), mode


def test_replies_beside_each_other_have_penalties_of_their_own(
    client: EngineClient, target: Path, drafts: dict[str, tuple[str, ...]]
) -> None:
    own: list[dict[str, Any]] = [
        {
            "penalties": penalties,
            "mode": mode,
            "drafts": drafts["dovetail"],
            "max_tokens": 40,
            "weights": "fp32",
        }
        for penalties in (*PENALTIES[:2], Penalties())
        for mode in ("plain", "dovetail")
    ]
    alone = [client.answer(PROMPT, target, **one).token_ids for one in own]
    requests = [client.request(PROMPT, target, **one) for one in own]
    for request in requests:
        client.engine.submit(request)
    ended: dict[str, Any] = {}
    while len(ended) < len(requests):
        event = client.wait_for(Finished)
        assert isinstance(event, Finished)
        ended[event.request_id] = event.reply.token_ids
    assert [ended[request.request_id] for request in requests] == alone
    assert alone[0] == alone[1] != alone[4]


def test_the_lossy_rule_has_them_too(client: EngineClient, target: Path, drafts: dict[str, tuple[str, ...]]) -> None:
    """At temperature 0 it gives the text of the model alone."""
    settings: dict[str, Any] = {
        "temperature": 0.0,
        "penalties": PENALTIES[2],
        "max_tokens": 40,
        "weights": "fp32",
    }
    plain = client.answer(PROMPT, target, mode="plain", **settings)
    reply = client.answer(PROMPT, target, mode="dovetail", drafts=drafts["dovetail"], verify="typical", **settings)
    assert reply.token_ids == plain.token_ids


def test_a_bias_forbids_and_forces_a_token(client: EngineClient, llama_folder: Path) -> None:
    plain = client.answer("The quick", llama_folder, max_tokens=8).token_ids
    without = client.answer("The quick", llama_folder, max_tokens=8, penalties=Penalties(bias=((plain[0], -100.0),)))
    assert plain[0] not in without.token_ids
    forced = client.answer("The quick", llama_folder, max_tokens=8, penalties=Penalties(bias=((300, 100.0),)))
    assert forced.token_ids == (300,) * 8


def test_a_prompt_of_tokens_is_read_as_it_is(client: EngineClient, llama_folder: Path) -> None:
    text = client.answer("The quick brown", llama_folder, max_tokens=12)
    ids = client.request("x", llama_folder, max_tokens=12)
    object.__setattr__(ids, "raw_prompt", text.prompt_ids)
    ended = client.finish(ids)
    assert isinstance(ended, Finished)
    assert (ended.reply.prompt_ids, ended.reply.text) == (text.prompt_ids, text.text)


@pytest.mark.parametrize(
    ("penalties", "said"),
    [
        (Penalties(presence=2.1), "presence penalty is 2.1"),
        (Penalties(frequency=float("nan")), "frequency penalty is nan"),
        (Penalties(bias=((1, 101.0),)), "bias of a token is 101"),
        (Penalties(window=0), "last 0 tokens"),
        (Penalties(bias=((100_000, 1.0),)), "no token 100000 in this model"),
    ],
)
def test_what_makes_no_sense_is_refused(
    penalties: Penalties, said: str, client: EngineClient, llama_folder: Path
) -> None:
    failed = client.failure("a", llama_folder, penalties=penalties)
    assert failed.error.kind == "InvalidOption"
    assert said in failed.error.message
