"""Gemma 4's assistants draft as transformers' do over the same files, and what is no draft for a model is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import DynamicCache

from engine.decoding.worth import Worth
from engine.drafting.assistant import AssistantDraft, load_assistant, read_assistant
from engine.drafting.kinds import kind_of
from engine.errors import ConfigInvalid, TensorMismatch, UnsupportedModel
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.kv_cache import KVCache
from engine.model.weight_format import weight_format
from engine.model_file import OpenedModel
from engine.weights.checkpoint import Checkpoint
from engine.weights.draft_kind import draft_kind
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.checkpoints import all_experts, reference_model, save, write_assistant, write_checkpoint
from tests.support.decoders import load_decoder, load_reference, prefill, reference_greedy
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import chosen

# Longer than the windows, which are of 24 tokens.
TEXT = torch.randint(4, 300, (41,), generator=torch.Generator().manual_seed(4))
STEPS = 4
PROMPT = "one two three four one two three four one two " * 3


def made(
    folder: Path, variant: str = "gemma4", ordered: bool = True, unified: bool = False
) -> tuple[Decoder, Any, Any, Path]:
    target = reference_model(variant)
    save(target, folder / "target")
    assistant = write_assistant(folder / "draft", variant, seed=5, ordered=ordered, unified=unified)
    return load_decoder(folder / "target"), target, assistant, folder / "draft"


@pytest.mark.parametrize(
    ("variant", "ordered", "unified"),
    [("gemma4", True, False), ("gemma4", False, True), ("gemma4-inputs", True, False)],
)
def test_steps_are_those_of_transformers(tmp_path: Path, variant: str, ordered: bool, unified: bool) -> None:
    decoder, target, assistant, folder = made(tmp_path, variant, ordered, unified)
    assert draft_kind(folder) == "head"
    assert kind_of(OpenedModel("draft", folder)) is AssistantDraft
    source = decoder.source
    network = load_assistant(
        HeadCheckpoint(folder), decoder.config, source.embedding, source.dtype, weight_format("fp32")
    )
    kept = DynamicCache()  # without a config: layers with a window keep all keys too
    with torch.no_grad():
        seen = target(TEXT[None], output_hidden_states=True, past_key_values=kept)
    feature = seen.hidden_states[-1][:, -1:]
    # transformers hands keys to assistants where the target's own layers share some, and only then.
    kinds = zip(target.config.layer_types, kept.layers, strict=False)
    keys = {kind: (layer.keys, layer.values) for kind, layer in kinds}
    cache = prefill(decoder, TEXT, len(TEXT) + 8)
    token, own = int(seen.logits[0, -1].argmax()), feature[0]
    for _ in range(STEPS):
        embedded = target.get_input_embeddings()(torch.tensor([[token]]))
        with torch.no_grad():
            wanted = assistant(
                inputs_embeds=torch.cat((embedded, feature), -1),
                position_ids=torch.tensor([[len(TEXT)]]),
                shared_kv_states=keys,
            )
        logits, own = network.run(torch.tensor([token]), own, cache)
        theirs = wanted.logits[0]
        near = logits > -torch.inf
        assert int(near.sum()) == (60 if ordered else 384)
        torch.testing.assert_close(logits[near], theirs[near], atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(own, wanted.last_hidden_state[0], atol=1e-4, rtol=1e-4)
        feature, token = wanted.last_hidden_state, int(theirs.argmax())


def test_nodes_side_by_side_are_those_of_one_after_the_other(tmp_path: Path) -> None:
    decoder, _, _, folder = made(tmp_path)
    source = decoder.source
    network = load_assistant(
        HeadCheckpoint(folder), decoder.config, source.embedding, source.dtype, weight_format("fp32")
    )
    cache = prefill(decoder, TEXT, len(TEXT) + 8)
    tokens = torch.arange(90) + 5
    features = torch.randn(90, decoder.config.hidden_size, generator=torch.Generator().manual_seed(1))
    together = network.run(tokens, features, cache)
    for row in (0, 7, 89):
        alone = network.run(tokens[row, None], features[row, None], cache)
        for one, all_of_them in zip(alone, together, strict=True):
            torch.testing.assert_close(one[0], all_of_them[row], atol=1e-5, rtol=1e-5)


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("variant", chosen(["gemma4", "gemma4-inputs", "gemma4-moe"], ("gemma4-inputs",)))
def test_a_reply_is_the_models_own(
    client: EngineClient, tmp_path: Path, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However busy the machine is: the schedule goes by measured times, and would draft less or nothing.
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 7)
    changes: dict[str, Any] = {**all_experts(variant)}
    target = write_checkpoint(tmp_path / "target", variant, **changes)
    write_assistant(tmp_path / "draft", variant, seed=5)
    draft = {"draft": str(tmp_path / "draft"), "mode": "dovetail"}
    settings = {"weights": "fp32", "max_tokens": 40}
    plain = client.answer(PROMPT, target, mode="plain", **settings)
    reply = client.answer(PROMPT, target, **draft, **settings)
    assert reply.token_ids == plain.token_ids
    assert reply.timings.draft_n > 0
    assert len(reply.prompt_ids) > 24  # the window
    assert list(reply.token_ids) == reference_greedy(load_reference(target), reply.prompt_ids, 40)
    voted = client.answer(PROMPT, target, **{**draft, "mode": "minions"}, **settings)
    assert voted.token_ids == reply.token_ids
    following = client.answer(PROMPT + reply.text, target, **draft, **settings)
    assert following.timings.cache_n > 0
    drawn = {**settings, "temperature": 0.8, "seed": 3}
    wanted = client.answer(PROMPT, target, mode="plain", **drawn)
    assert client.answer(PROMPT, target, **draft, **drawn).token_ids == wanted.token_ids


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("kv_cache", ["full", "q8_0"])
def test_keys_are_read_in_any_format(
    client: EngineClient, tmp_path: Path, kv_cache: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 7)
    target = write_checkpoint(tmp_path / "target", "gemma4")
    write_assistant(tmp_path / "draft")
    settings = {"weights": "q8_0", "kv_cache": kv_cache, "max_tokens": 24}
    plain = client.answer(PROMPT, target, mode="plain", **settings)
    reply = client.answer(PROMPT, target, mode="dovetail", draft=str(tmp_path / "draft"), **settings)
    assert reply.token_ids == plain.token_ids
    assert reply.timings.draft_n > 0


def test_rows_of_8_bits_are_those_that_were_kept(tmp_path: Path) -> None:
    decoder = load_decoder(write_checkpoint(tmp_path / "target", "gemma4", tokenizer=False))
    shapes, device = decoder.config.cache_shapes, torch.device("cpu")
    cache = KVCache(shapes, 8, torch.int8, device)
    codes = torch.randint(-127, 128, (2, 1, 8, 64), generator=torch.Generator().manual_seed(0))
    scales = torch.rand(2, 1, 8, 2, generator=torch.Generator().manual_seed(1)).bfloat16()
    cache.store(1)[..., :64] = codes
    cache.store(1)[..., 64:] = scales.view(torch.int8)
    cache.length = 6
    keys, values = cache.committed(1, 2, 64, device)
    exact = codes * scales.float().repeat_interleave(32, -1)
    assert torch.equal(keys, exact[0, :, 2:6])
    assert torch.equal(values, exact[1, :, 2:6])


def changed(folder: Path, text: bool = False, **values: Any) -> Path:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    (config["text_config"] if text else config).update(values)
    path.write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize(
    ("text", "values", "error", "message"),
    [
        (True, {"hidden_size_per_layer_input": 8}, UnsupportedModel, "hidden_size_per_layer_input = 8"),
        (True, {"enable_moe_block": True}, UnsupportedModel, "enable_moe_block"),
        (False, {"num_centroids": 31}, ConfigInvalid, "384 tokens around 31 centroids"),
        (False, {"centroid_intermediate_top_k": 33}, ConfigInvalid, "of which 33 are chosen"),
        (False, {"backbone_hidden_size": None}, ConfigInvalid, "draft's config.json"),
        (False, {"backbone_hidden_size": 48}, TensorMismatch, "pre_projection.weight"),
        (False, {"use_ordered_embeddings": False}, TensorMismatch, "masked_embedding"),
        (False, {"text_config": None}, UnsupportedModel, "without a text part"),
    ],
)
def test_what_is_not_run_is_refused_by_name(
    tmp_path: Path, text: bool, values: dict[str, Any], error: type[Exception], message: str
) -> None:
    write_assistant(tmp_path / "draft")
    with pytest.raises(error, match=message):
        read_assistant(HeadCheckpoint(changed(tmp_path / "draft", text, **values)))


def test_tensors_that_are_missing_or_no_order_are_named(tmp_path: Path) -> None:
    decoder, _, _, folder = made(tmp_path)
    tensors = load_file(folder / "model.safetensors")
    name = "masked_embedding.token_ordering"
    source = decoder.source
    for value, message in (
        (None, f"1 missing .{name}"),
        (tensors[name] // 2, "does not name each token once"),
    ):
        kept = {key: one for key, one in tensors.items() if key != name}
        save_file(kept if value is None else kept | {name: value}, folder / "model.safetensors")
        with pytest.raises(TensorMismatch, match=message):
            load_assistant(
                HeadCheckpoint(folder), decoder.config, source.embedding, source.dtype, weight_format("fp32")
            )


@pytest.mark.parametrize(
    ("variant", "changes", "message"),
    [
        ("llama", {}, "reads the keys and values of a Gemma 4 model, and this one is of the family Llama"),
        ("gemma4", {"hidden_size": 96}, "hidden size 64, and this model's is 96"),
        ("gemma4", {"vocab_size": 400}, "vocabulary of 384"),
        ("gemma4-inputs", {}, "keys of the shape 1 x 64, and this model has none"),
        ("gemma4", {"layer_types": ["full_attention"] * 5}, "keys of the shape 2 x 32"),
    ],
)
def test_an_assistant_of_another_target_is_refused(
    client: EngineClient, tmp_path: Path, variant: str, changes: dict[str, Any], message: str
) -> None:
    target = write_checkpoint(tmp_path / "target", variant, **changes)
    write_assistant(tmp_path / "draft")
    assert message in client.failure("a", target, draft=str(tmp_path / "draft")).error.message


def test_its_bytes_are_counted(tmp_path: Path) -> None:
    for ordered in (True, False):
        write_assistant(tmp_path / "draft", ordered=ordered)
        tensors = load_file(tmp_path / "draft" / "model.safetensors").values()
        target = read_config(Checkpoint(write_checkpoint(tmp_path / "target", "gemma4", tokenizer=False)))
        draft = AssistantDraft.read(OpenedModel("a", tmp_path / "draft"), target)
        stored = sum(tensor.nbytes for tensor in tensors)
        assert draft.size_bytes(weight_format("fp32"), 4096) == draft.size_bytes(weight_format("fp32"), 8) == stored
