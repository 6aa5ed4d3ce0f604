"""Gemma 3 with an image encoder: the text part runs, in both spellings of its tensors' names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from tests.support.checkpoints import SIZES, randomize, save
from tests.support.decoders import greedy, load_decoder

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


@pytest.mark.parametrize("prefix", ["language_model.model.", "model.language_model."])
def test_the_text_part_gives_the_logits_of_transformers(tmp_path: Path, prefix: str) -> None:
    config = transformers.Gemma3Config(
        text_config={**SIZES, **TEXT}, vision_config=VISION, mm_tokens_per_image=4, image_token_index=380
    )
    model = transformers.Gemma3ForConditionalGeneration._from_config(
        config, attn_implementation="eager"
    ).eval()
    randomize(model, 0)
    save(model, tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    found = {name for name in tensors if "embed_tokens" in name}.pop().removesuffix("embed_tokens.weight")
    renamed = {name.replace(found, prefix): tensor for name, tensor in tensors.items()}
    save_file(renamed, tmp_path / "model.safetensors")
    assert any("vision_tower" in name for name in renamed)
    assert json.loads((tmp_path / "config.json").read_text())["architectures"] == [
        "Gemma3ForConditionalGeneration"
    ]

    prompt = torch.randint(3, 300, (60,), generator=torch.Generator().manual_seed(7))
    decoder = load_decoder(tmp_path)
    with torch.no_grad():
        theirs = model(prompt[None]).logits[0]
    ours = decoder.forward(prompt, torch.arange(60), decoder.new_cache(60)).logits
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
    assert greedy(decoder, prompt, 1) == [int(theirs[-1].argmax())]
