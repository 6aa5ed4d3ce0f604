"""DFlash and DSpark drafts fill a block as a few lines of torch over the same files say."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
import transformers
from transformers.cache_utils import DFlashCache

from engine.decoding.worth import Worth
from engine.drafting.block import BlockDraft, BlockDrafter, load_block
from engine.drafting.block_layout import read_block
from engine.drafting.head_loader import share
from engine.drafting.kinds import kind_of
from engine.drafting.trees import TreeShape
from engine.errors import ConfigInvalid, TensorMismatch, UnsupportedModel
from engine.hub.catalogue import catalogue
from engine.model.decoder import Decoder
from engine.model.token_tree import DraftShape
from engine.model.weight_format import weight_format
from engine.model_file import OpenedModel
from engine.placement.device import Link
from engine.weights.draft_kind import draft_kind
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.block_drafts import (
    CONFIGS,
    DFLASH,
    MASK,
    PROMPT,
    PUBLISHED,
    SIZE,
    TEXT,
    block_of,
    chain_of,
    make_state,
    random_tensors,
    shapes_of,
    small,
    write,
)
from tests.support.checkpoints import all_experts, muse_glimmer, save, train_tokenizer, write_checkpoint
from tests.support.decoders import load_decoder, load_reference, reference_greedy
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import chosen
from tests.support.heads import HIDDEN, VOCABULARY


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Decoder:
    folder = tmp_path_factory.mktemp("target") / "llama"
    return load_decoder(write_checkpoint(folder, num_hidden_layers=7, tokenizer=False))


@pytest.mark.parametrize("name", CONFIGS)
def test_a_block_is_that_of_the_reference(target: Decoder, tmp_path: Path, name: str) -> None:
    state = make_state(name)
    folder = write(tmp_path / "draft", CONFIGS[name], state)
    assert draft_kind(folder) == "head"
    assert kind_of(OpenedModel("draft", folder)) is BlockDraft
    network = load_block(HeadCheckpoint(folder), target.config, share(target.source), weight_format("fp32"))
    assert network.hidden_layers == (2, 4, 6)
    drafter = BlockDrafter(network, 64, Link(torch.device("cpu")), lambda: None)
    embedding = state.get("embed_tokens.weight", target.source.embedding(torch.arange(VOCABULARY)))
    head = state.get("lm_head.weight")
    rows = torch.randn(len(TEXT) + 3, 3 * HIDDEN, generator=torch.Generator().manual_seed(2))
    assert drafter.reset(TEXT[:-1]) == 0
    text = list(TEXT)
    drafter.observe(text[-1:], rows[: len(text) - 1])
    drafter.limits = TreeShape(1, SIZE, SIZE)
    for more in ([], [5, 9, 7]):  # the second block stands behind rows that the first one did not see
        if more:
            drafter.observe(more, rows[len(text) - 1 : len(text) - 1 + len(more)])
            text += more
        hidden = block_of(CONFIGS[name], state, rows[: len(text) - 1], text[-1], embedding)
        matrix = target.source.whole_head(torch.eye(HIDDEN)).T if head is None else head
        assert drafter.propose(DraftShape(SIZE)).tokens == tuple(chain_of(name, state, hidden, text[-1], matrix))


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("name", chosen(CONFIGS, ("dflash", "dspark-gated")))
def test_a_reply_is_the_models_own(
    client: EngineClient, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However busy the machine is: the schedule goes by measured times, and would draft less or nothing.
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 7)
    model = write_checkpoint(tmp_path / "llama", num_hidden_layers=7)
    draft = write(tmp_path / "draft", CONFIGS[name], make_state(name))
    settings = {"weights": "fp32", "max_tokens": 40}
    reply = client.answer(PROMPT, model, mode="dovetail", draft=str(draft), **settings)
    assert list(reply.token_ids) == reference_greedy(load_reference(model), reply.prompt_ids, 40)
    assert reply.token_ids == client.answer(PROMPT, model, mode="plain", **settings).token_ids
    assert reply.timings.draft_n > 0


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_layout_is_read(name: str) -> None:
    variant, config, count = PUBLISHED[name]
    assert name in {head for model in catalogue() for head in model.heads}
    shapes = shapes_of({"vocab_size": 202_048, **config} if variant == "muse-glimmer" else config, tables=False)
    layout = read_block(cast(HeadCheckpoint, SimpleNamespace(config=config, shapes=shapes)))
    (target,) = (model for model in catalogue() if name in model.heads)
    assert layout.blocks.hidden_size == target.config["hidden_size"]
    assert layout.blocks.vocabulary_size == target.config["vocab_size"]
    layers = layout.layers_of(target.config["num_hidden_layers"])
    assert max(layers) < target.config["num_hidden_layers"]
    if count is not None:
        assert sum(math.prod(shape) for shape in shapes.values()) == count


def test_every_draft_of_the_new_models_was_tried() -> None:
    tried = {"qwen3.5", "qwen3.5-moe", "qwen3-coder-next", "muse-glimmer"}
    assert {head for model in catalogue() if model.tried_as in tried for head in model.heads} == set(PUBLISHED)


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("name", chosen(PUBLISHED, [name for name in PUBLISHED if "9B" not in name]))
def test_a_reply_with_a_published_layout_is_the_models_own(
    client: EngineClient, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 7)
    variant, config, _ = PUBLISHED[name]
    model, muse = tmp_path / "model", variant == "muse-glimmer"
    if muse:
        save(muse_glimmer(num_hidden_layers=8), model)
        train_tokenizer().save_pretrained(model)
    else:
        write_checkpoint(model, variant, num_hidden_layers=8, **all_experts(variant))
    config = small(config, **({"vocab_size": VOCABULARY} if muse else {}))
    draft = write(tmp_path / "draft", config, random_tensors(shapes_of(config, tables=False)))
    settings = {"weights": "fp32", "max_tokens": 24}
    reply = client.answer(PROMPT, model, mode="dovetail", draft=str(draft), **settings)
    reference, decoder, prompt = load_reference(model), load_decoder(model), torch.tensor(reply.prompt_ids)
    assert list(reply.token_ids) == reference_greedy(reference, reply.prompt_ids, len(reply.token_ids))
    cache = decoder.new_cache(len(prompt))
    rows = decoder.forward(prompt, torch.arange(len(prompt)), cache, hidden_layers=(2, 4, 6)).layer_inputs
    with torch.no_grad():
        theirs = reference(prompt[None], output_hidden_states=True).hidden_states
    for layer, row in rows.items():
        torch.testing.assert_close(row, theirs[layer][0], atol=1e-3, rtol=1e-3)
    assert len(reply.prompt_ids) > 2 * config.get("transformer_layer_config", config).get("sliding_window", 16)
    assert reply.timings.draft_n > 0


@torch.no_grad()
def test_muse_glimmers_blocks_are_those_of_transformers(tmp_path: Path) -> None:
    folder = tmp_path / "target"
    save(muse_glimmer(num_hidden_layers=8, output_multiplier=0.3), folder)
    target = load_decoder(folder)
    config = small(PUBLISHED["meta-models/Muse-Glimmer-30B-assistant"][1], vocab_size=VOCABULARY, block_size=SIZE)
    config |= {"sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}
    state = random_tensors(shapes_of(config, tables=False))
    draft = HeadCheckpoint(write(tmp_path / "draft", config, state))
    network = load_block(draft, target.config, share(target.source), weight_format("fp32"))
    own = transformers.MuseGlimmerAssistantConfig(**config)
    model = transformers.MuseGlimmerAssistantModel._from_config(own, attn_implementation="eager").eval()
    model.load_state_dict(state)
    reference = load_reference(folder)
    cache, theirs = network.new_cache(64), DFlashCache(config=own)
    theirs.activate_past_recording()
    rows = torch.randn(40, 3 * HIDDEN, generator=torch.Generator().manual_seed(2))
    table = reference.get_input_embeddings().weight  # without the norm that its model applies to it
    at = 0
    for count in (17, 3, 1, 9):
        new = rows[at : at + count]
        network.take_in(new, cache)
        theirs.set_previous_accepted_tokens(count)
        if at:
            theirs.crop(-SIZE)
        wanted = model(
            noise_embeds=table[torch.tensor([TEXT[count - 1]] + [MASK] * (SIZE - 1))][None],
            context_hidden_states=new[None],
            position_ids=torch.arange(at, at + count + SIZE)[None],
            past_key_values=theirs,
        ).last_hidden_state[0]
        found = network.run(TEXT[count - 1], cache)
        torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-4)
        logits = 20.0 * torch.tanh(0.3 * reference.lm_head(wanted) / 20.0)
        torch.testing.assert_close(network.logits(found), logits, atol=1e-4, rtol=1e-4)
        at = cache.length


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"layer_types": ["linear_attention"] * 2}, UnsupportedModel, "linear_attention"),
        ({"layer_types": ["sliding_attention"] * 2}, ConfigInvalid, "sliding_window is None"),
        ({"rope_parameters": {"rope_theta": 1e6, "partial_rotary_factor": 0.25}}, UnsupportedModel, "0.25"),
        ({"model_type": "gemma4_text"}, UnsupportedModel, "blocks of the type gemma4_text"),
        ({"dflash_config": {**DFLASH["dflash_config"], "use_swa": True}}, UnsupportedModel, "use_swa"),
        ({"dflash_config": {**DFLASH["dflash_config"], "conv_kernel_size": 2}}, UnsupportedModel, "conv_kernel_size"),
        ({"dflash_config": {"target_layer_ids": [1, 3, 5]}}, ConfigInvalid, "mask_token_id"),
        ({"block_size": 1}, ConfigInvalid, "block_size 1"),
    ],
)
def test_what_is_not_run_is_refused_by_name(
    target: Decoder, tmp_path: Path, change: dict[str, Any], error: type[Exception], message: str
) -> None:
    folder = write(tmp_path / "draft", {**DFLASH, **change}, make_state("dflash"))
    with pytest.raises(error, match=message):
        load_block(HeadCheckpoint(folder), target.config, share(target.source), weight_format("fp32"))


def test_every_missing_tensor_is_named(target: Decoder, tmp_path: Path) -> None:
    state = make_state("dspark-rnn")
    for at, name in enumerate(("markov_head.joint_proj.bias", "hidden_norm.weight", "layers.1.mlp.up_proj.weight")):
        folder = write(tmp_path / str(at), CONFIGS["dspark-rnn"], {k: v for k, v in state.items() if k != name})
        with pytest.raises(TensorMismatch, match=name):
            load_block(HeadCheckpoint(folder), target.config, share(target.source), weight_format("fp32"))
