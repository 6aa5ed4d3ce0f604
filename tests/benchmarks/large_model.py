"""The 1.1 B Llama shape that forwards are measured on: random weights, as a checkpoint and as GGUF files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from tests.support.checkpoints import train_tokenizer

LAYERS, HIDDEN, WIDE, HEADS, KV_HEADS, VOCABULARY = 22, 2048, 5632, 32, 4, 32000
HEAD_DIM = HIDDEN // HEADS
CONTEXT = 2048

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": HIDDEN,
    "intermediate_size": WIDE,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": CONTEXT,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "hidden_act": "silu",
    "bos_token_id": 1,
    "eos_token_id": 2,
    "torch_dtype": "bfloat16",
}

#: Of a layer: name in the checkpoint, name in GGUF, shape.
LAYER_TENSORS = (
    ("input_layernorm", "attn_norm", (HIDDEN,)),
    ("self_attn.q_proj", "attn_q", (HIDDEN, HIDDEN)),
    ("self_attn.k_proj", "attn_k", (KV_HEADS * HEAD_DIM, HIDDEN)),
    ("self_attn.v_proj", "attn_v", (KV_HEADS * HEAD_DIM, HIDDEN)),
    ("self_attn.o_proj", "attn_output", (HIDDEN, HIDDEN)),
    ("post_attention_layernorm", "ffn_norm", (HIDDEN,)),
    ("mlp.gate_proj", "ffn_gate", (WIDE, HIDDEN)),
    ("mlp.up_proj", "ffn_up", (WIDE, HIDDEN)),
    ("mlp.down_proj", "ffn_down", (HIDDEN, WIDE)),
)


def tensors() -> Iterator[tuple[str, str, Tensor]]:
    """Name in the checkpoint, name in GGUF, and the same random values each time."""
    generator = torch.Generator().manual_seed(0)

    def random(shape: tuple[int, ...]) -> Tensor:
        if len(shape) == 1:
            return torch.ones(shape, dtype=torch.bfloat16)
        return (torch.randn(shape, generator=generator) * shape[1] ** -0.5).to(torch.bfloat16)

    yield "model.embed_tokens.weight", "token_embd.weight", random((VOCABULARY, HIDDEN))
    for layer in range(LAYERS):
        for ours, theirs, shape in LAYER_TENSORS:
            yield f"model.layers.{layer}.{ours}.weight", f"blk.{layer}.{theirs}.weight", random(shape)
    yield "model.norm.weight", "output_norm.weight", random((HIDDEN,))
    yield "lm_head.weight", "output.weight", random((VOCABULARY, HIDDEN))


def write_checkpoint(folder: Path) -> Path:
    """The model as Hugging Face has it, in bfloat16; written once."""
    if not (folder / "model.safetensors").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(CONFIG))
        train_tokenizer().save_pretrained(folder)
        save_file({name: tensor for name, _, tensor in tensors()}, folder / "model.safetensors")
    return folder


def write_gguf(folder: Path, kind: str) -> Path:
    """The same model for llama.cpp, as BF16, Q8_0 or Q4_0; written once. Needs the package gguf."""
    import gguf

    path = folder / f"{kind}.gguf"
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    wanted = gguf.GGMLQuantizationType[kind]
    writer = gguf.GGUFWriter(str(path), "llama", use_temp_file=True)
    writer.add_block_count(LAYERS)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(WIDE)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(HEAD_DIM)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("no_vocab")
    for _, name, tensor in tensors():
        values = tensor.float().numpy()
        if values.ndim == 1:
            writer.add_tensor(name, values)
        else:
            writer.add_tensor(name, gguf.quants.quantize(values, wanted), raw_dtype=wanted)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
