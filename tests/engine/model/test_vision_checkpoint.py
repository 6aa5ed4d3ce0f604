"""Gemma and Mistral 3 with encoders of images and sound: the text part runs, in the spellings of its names."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from engine.errors import UnsupportedModel
from engine.messages import Notice
from engine.model.config import read_config
from engine.weights.checkpoint import CheckpointOutline
from tests.support.checkpoints import SIZES, VARIANTS, randomize, save, train_tokenizer
from tests.support.decoders import greedy, load_decoder
from tests.support.engine_client import EngineClient

TEXT = {
    "head_dim": 32,
    "query_pre_attn_scalar": 24,
    "sliding_window": 24,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
}
VISION = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 28,
    "patch_size": 14,
}


MINISTRAL = {
    **SIZES,
    "model_type": "ministral3",
    "head_dim": 32,
    "rope_parameters": {
        "rope_type": "yarn",
        "rope_theta": 1e6,
        "factor": 16.0,
        "original_max_position_embeddings": 16,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
        "llama_4_scaling_beta": 0.5,
    },
}


def gemma3() -> Any:
    config = transformers.Gemma3Config(
        text_config={**SIZES, **TEXT}, vision_config=VISION, mm_tokens_per_image=4, image_token_index=380
    )
    return transformers.Gemma3ForConditionalGeneration._from_config(config, attn_implementation="eager")


def mistral3(tied: bool) -> Any:
    vision = {**VISION, "model_type": "pixtral", "head_dim": 8}
    config = transformers.Mistral3Config(
        text_config=MINISTRAL, vision_config=vision, image_token_index=380, tie_word_embeddings=tied
    )
    return transformers.Mistral3ForConditionalGeneration._from_config(config, attn_implementation="eager")


def lfm3() -> Any:
    vision = {**VISION, "head_dim": 8, "num_key_value_heads": 1}
    config = transformers.Lfm3VlConfig(text_config={**SIZES, **VARIANTS["lfm3"][1]}, vision_config=vision)
    return transformers.Lfm3VlForConditionalGeneration._from_config(config, attn_implementation="eager")


@pytest.mark.parametrize(("name", "variant"), [("Qwen3_5", "qwen35"), ("Qwen3_5Moe", "qwen35-moe")])
def test_qwen_without_its_encoder_and_its_own_guesses_gives_the_logits_of_transformers(
    tmp_path: Path, name: str, variant: str
) -> None:
    vision = {"depth": 1, "hidden_size": 32, "intermediate_size": 32, "num_heads": 2, "out_hidden_size": 64}
    rope = {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25}
    rope |= {"mrope_interleaved": True, "mrope_section": [2, 1, 1]}
    text = {**SIZES, **VARIANTS[variant][1], "rope_parameters": rope}
    config = getattr(transformers, f"{name}Config")(text_config=text, vision_config=vision)
    model = getattr(transformers, f"{name}ForConditionalGeneration")._from_config(config, attn_implementation="eager")
    randomize(model.eval(), 0)
    save(model, tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    assert any(key.startswith("model.visual.") for key in tensors)
    tensors["mtp.fc.weight"] = torch.zeros(64, 128)
    save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    tokens = torch.randint(3, 300, (40,), generator=torch.Generator().manual_seed(2))
    decoder = load_decoder(tmp_path)
    ours = decoder.forward(tokens, torch.arange(40), decoder.new_cache(40)).logits
    with torch.no_grad():
        torch.testing.assert_close(ours, model(tokens[None]).logits[0], atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    "made",
    [gemma3, partial(mistral3, True), partial(mistral3, False), lfm3],
    ids=["gemma3", "tied", "own head", "lfm3"],
)
@pytest.mark.parametrize("prefix", ["language_model.model.", "model.language_model."])
def test_the_text_part_gives_the_logits_of_transformers(tmp_path: Path, prefix: str, made: Callable[[], Any]) -> None:
    model = made().eval()
    randomize(model, 0)
    save(model, tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    found = {name for name in tensors if "embed_tokens" in name}.pop().removesuffix("embed_tokens.weight")
    head = "language_model.lm_head.weight" if prefix.startswith("language") else "lm_head.weight"
    renamed = {
        head if name.endswith("lm_head.weight") else name.replace(found, prefix): tensor
        for name, tensor in tensors.items()
    }
    save_file(renamed, tmp_path / "model.safetensors")
    assert any("vision_tower" in name for name in renamed)
    prompt = torch.randint(3, 300, (60,), generator=torch.Generator().manual_seed(7))
    decoder = load_decoder(tmp_path)
    with torch.no_grad():
        theirs = model(prompt[None]).logits[0]
    ours = decoder.forward(prompt, torch.arange(60), decoder.new_cache(60)).logits
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
    assert greedy(decoder, prompt, 1) == [int(theirs[-1].argmax())]


@pytest.mark.parametrize("name", ["Mistral3", "Gemma3", "Gemma4", "Gemma4Unified", "Lfm3Vl"])
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "without a text part .text_config"),
        ({"model_type": "qwen2"}, "with a text part of the type qwen2"),
    ],
)
def test_a_checkpoint_without_a_text_part_that_runs_is_refused(
    tmp_path: Path, name: str, text: object, sentence: str
) -> None:
    config = {
        "architectures": [f"{name}ForConditionalGeneration"],
        "model_type": name.lower(),
        "text_config": text,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(UnsupportedModel, match=sentence):
        read_config(CheckpointOutline(tmp_path))


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("Gemma4", "gemma4"),
        ("Gemma4", "gemma4-inputs"),
        ("Gemma4", "gemma4-moe"),
        ("Gemma4Unified", "gemma4"),
    ],
)
@torch.no_grad()
def test_gemma_4_leaves_images_and_sound_out(tmp_path: Path, name: str, variant: str) -> None:
    _, text = VARIANTS[variant]
    vision = {**VISION, "head_dim": 8, "num_key_value_heads": 2, "pooling_kernel_size": 1}
    config_class = getattr(transformers, f"{name}Config")
    config = config_class(text_config={**SIZES, **text}, vision_config=vision if name == "Gemma4" else None)
    if name == "Gemma4Unified":
        config.vision_config = config.audio_config = None
    model = getattr(transformers, f"{name}ForConditionalGeneration")._from_config(config, attn_implementation="eager")
    model.eval()
    randomize(model, 0)
    save(model, tmp_path)
    prompt = torch.randint(3, 300, (60,), generator=torch.Generator().manual_seed(7))
    decoder = load_decoder(tmp_path)
    theirs = model(prompt[None]).logits[0]
    ours = decoder.forward(prompt, torch.arange(60), decoder.new_cache(60)).logits
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def test_a_loaded_text_part_says_what_it_leaves_out(client: EngineClient, tmp_path: Path) -> None:
    model = lfm3()
    randomize(model, 0)
    save(model, tmp_path)
    train_tokenizer().save_pretrained(tmp_path)
    client.answer("Hello", tmp_path, max_tokens=2)
    assert [notice.text for notice in client.seen(Notice)] == [
        "Tenon runs the text part of this model alone: it takes no images and no sound."
    ]
