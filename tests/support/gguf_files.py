"""Checkpoints as GGUF files, written with llama.cpp's own package and converted as its converter does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Kind
from torch import Tensor

ARCHITECTURES = {
    "LlamaForCausalLM": "llama",
    "MistralForCausalLM": "llama",
    "SmolLM3ForCausalLM": "smollm3",
    "Qwen2ForCausalLM": "qwen2",
    "Qwen3ForCausalLM": "qwen3",
    "Qwen3MoeForCausalLM": "qwen3moe",
    "GraniteForCausalLM": "granite",
    "GraniteMoeForCausalLM": "granitemoe",
    "Phi3ForCausalLM": "phi3",
    "Gemma2ForCausalLM": "gemma2",
    "Gemma3ForCausalLM": "gemma3",
}
_WRITTEN = (Kind.F32, Kind.F16, Kind.BF16, Kind.Q4_0, Kind.Q4_1, Kind.Q5_0, Kind.Q5_1, Kind.Q8_0, Kind.Q4_K)
_RENAMED = (
    ("model.embed_tokens", "token_embd"),
    ("model.norm", "output_norm"),
    ("lm_head", "output"),
    ("model.layers.", "blk."),
    ("self_attn.q_proj", "attn_q"),
    ("self_attn.k_proj", "attn_k"),
    ("self_attn.v_proj", "attn_v"),
    ("self_attn.qkv_proj", "attn_qkv"),
    ("self_attn.o_proj", "attn_output"),
    ("self_attn.q_norm", "attn_q_norm"),
    ("self_attn.k_norm", "attn_k_norm"),
    ("mlp.gate_up_proj", "ffn_up"),
    ("mlp.gate_proj", "ffn_gate"),
    ("mlp.gate.", "ffn_gate_inp."),
    ("block_sparse_moe.router.", "ffn_gate_inp."),
    ("mlp.up_proj", "ffn_up"),
    ("mlp.down_proj", "ffn_down"),
    ("input_layernorm", "attn_norm"),
)
_STACKED = (".experts.gate_up_proj", ".experts.down_proj")
_INTERLEAVED = ("llama", "smollm3", "granite", "granitemoe")
_NORMS = (("post_attention_layernorm", "ffn_norm"),)
_GEMMA_NORMS = (
    ("post_attention_layernorm", "post_attention_norm"),
    ("pre_feedforward_layernorm", "ffn_norm"),
    ("post_feedforward_layernorm", "post_ffw_norm"),
)


def write_gguf(
    model: Any,
    path: Path,
    kind: Kind | Callable[[str], Kind] = Kind.F32,
    tokenizer: Any = None,
    pre: str = "gpt-2",
    file_type: int | None = None,
    blocks_of: Callable[[np.ndarray], np.ndarray] | None = None,
    **options: Any,
) -> dict[str, Tensor]:
    """Write a transformers model as llama.cpp's converter would.

    Args:
        model: The model.
        path: The file.
        kind: Type of its matrices, or of each by llama.cpp's name; vectors are F32.
        tokenizer: A byte-level fast tokenizer, None for none.
        pre: llama.cpp's name of how it splits a text.
        file_type: The file's own type, None for nothing.
        blocks_of: Makes the blocks of a type that the package does not write.
        **options: Of the package's writer: ``split_max_tensors``, say.

    Returns:
        The weights that the file stands for, by transformers' names.
    """
    config = model.config
    architecture = ARCHITECTURES[type(model).__name__]
    writer = gguf.GGUFWriter(str(path), architecture, **options)
    _add_config(writer, config, architecture)
    if file_type is not None:
        writer.add_file_type(file_type)
    if tokenizer is not None:
        add_vocabulary(writer, tokenizer, pre, config.vocab_size)
    _add_frequencies(writer, config)
    kept: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        if name.endswith(_STACKED):
            kept[name] = _write_experts(writer, name, tensor, kind, architecture)
            continue
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        values = tensor.float().numpy()
        renamed = _renamed(name, architecture)
        wanted = kind(renamed) if callable(kind) else kind
        # The converter leaves routers as floats.
        stored = wanted if values.ndim == 2 and "ffn_gate_inp" not in renamed else Kind.F32
        if blocks_of is not None and stored not in _WRITTEN:
            writer.add_tensor(renamed, blocks_of(values), raw_dtype=stored)
            continue
        kept[name] = torch.from_numpy(dequantized(values, stored))
        if renamed.endswith("norm.weight") and architecture.startswith("gemma"):
            values = values + 1
        if architecture in _INTERLEAVED and ".attn_q." in renamed:
            values = interleaved(values, config.num_attention_heads)
        if architecture in _INTERLEAVED and ".attn_k." in renamed:
            values = interleaved(values, config.num_key_value_heads)
        writer.add_tensor(renamed, quantized(values, stored), raw_dtype=stored)
    if config.tie_word_embeddings:
        kept["lm_head.weight"] = kept["model.embed_tokens.weight"]
    finish(writer)
    return kept


def _write_experts(
    writer: gguf.GGUFWriter, name: str, tensor: Tensor, kind: Kind | Callable[[str], Kind], architecture: str
) -> Tensor:
    """A stack of experts' matrices, gate and up apart; the values that it stands for."""
    parts = tensor.float().chunk(2, 1) if name.endswith("gate_up_proj") else (tensor.float(),)
    names = ("ffn_gate_exps", "ffn_up_exps") if len(parts) == 2 else ("ffn_down_exps",)
    kept = []
    for part, own in zip(parts, names, strict=True):
        layer = _renamed(name, architecture).split(".")[1]
        renamed = f"blk.{layer}.{own}.weight"
        stored = kind(renamed) if callable(kind) else kind
        values = np.ascontiguousarray(part.numpy())
        writer.add_tensor(renamed, quantized(values, stored), raw_dtype=stored)
        kept.append(torch.from_numpy(dequantized(values, stored)))
    return torch.cat(kept, 1)


def write_small_gguf(path: Path, architecture: str = "qwen3", values: int = 64) -> None:
    """A whole file of an architecture with a single tensor: enough to be imported, too little to run."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_tensor("token_embd.weight", np.ones(values, np.float32))
    finish(writer)


def finish(writer: gguf.GGUFWriter) -> None:
    """Write what was added to the writer."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _renamed(name: str, architecture: str) -> str:
    norms = _GEMMA_NORMS if architecture.startswith("gemma") else _NORMS
    for theirs, ours in (*_RENAMED, *norms):
        name = name.replace(theirs, ours)
    return name


def interleaved(values: np.ndarray, heads: int) -> np.ndarray:
    """The converter's permutation of q and k, weights or biases."""
    halves = values.reshape(heads, 2, values.shape[0] // heads // 2, *values.shape[1:])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(values.shape))


def quantized(values: np.ndarray, kind: Kind) -> np.ndarray:
    """The blocks of a tensor."""
    if kind in (Kind.F32, Kind.F16):
        return values.astype(np.float16 if kind == Kind.F16 else np.float32)
    if kind == Kind.Q4_K:
        return quantized_q4_k(values)
    return gguf.quants.quantize(values, kind)


def dequantized(values: np.ndarray, kind: Kind) -> np.ndarray:
    """Values that the blocks of a tensor stand for."""
    return gguf.quants.dequantize(quantized(values, kind), kind).astype(np.float32)


def quantized_q4_k(values: np.ndarray) -> np.ndarray:
    """Q4_K by the least and the largest value of each group of 32; llama.cpp's own search does a little better."""
    groups = values.astype(np.float32).reshape(*values.shape[:-1], -1, 8, 32)
    low = np.minimum(groups.min(-1), 0)
    scale = (groups.max(-1) - low) / 15
    wide_scale, wide_low = scale.max(-1, keepdims=True) / 63, -low.min(-1, keepdims=True) / 63
    d, dmin = wide_scale.astype(np.float16), wide_low.astype(np.float16)
    with np.errstate(all="ignore"):
        sc = np.nan_to_num(np.round(scale / d.astype(np.float32))).clip(0, 63).astype(np.uint8)
        m = np.nan_to_num(np.round(-low / dmin.astype(np.float32))).clip(0, 63).astype(np.uint8)
        step = (d.astype(np.float32) * sc)[..., None]
        q = np.nan_to_num(np.round((groups + (dmin.astype(np.float32) * m)[..., None]) / step))
    q = q.clip(0, 15).astype(np.uint8)
    packed_scales = np.concatenate(
        [
            (sc[..., :4] & 63) | (sc[..., 4:] >> 4 << 6),
            (m[..., :4] & 63) | (m[..., 4:] >> 4 << 6),
            (sc[..., 4:] & 15) | (m[..., 4:] & 15) << 4,
        ],
        -1,
    )
    pairs = q.reshape(*q.shape[:-2], 4, 2, 32)
    nibbles = (pairs[..., 0, :] | pairs[..., 1, :] << 4).reshape(*q.shape[:-2], 128)
    blocks = np.concatenate([d.view(np.uint8), dmin.view(np.uint8), packed_scales, nibbles], -1)
    return blocks.reshape(*values.shape[:-1], -1)


def _add_config(writer: gguf.GGUFWriter, config: Any, architecture: str) -> None:
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    rope = config.rope_parameters
    rope = rope.get("full_attention", rope)
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_dimension_count(int(head_dim * (rope.get("partial_rotary_factor") or 1)))
    if rope.get("rope_type") in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(rope["rope_type"]))
        writer.add_rope_scaling_factor(rope["factor"])
    original = rope.get("original_max_position_embeddings")
    if original is not None:
        writer.add_rope_scaling_orig_ctx_len(original)
    if architecture.startswith("gemma"):
        writer.add_attention_scale(config.query_pre_attn_scalar**-0.5)
        writer.add_sliding_window(config.sliding_window)
        writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config.layer_types])
        if config.attn_logit_softcapping:
            writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        if config.final_logit_softcapping:
            writer.add_final_logit_softcapping(config.final_logit_softcapping)
    elif architecture.startswith("granite"):
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_logit_scale(config.logits_scaling)
        writer.add_attention_scale(config.attention_multiplier)
        if architecture == "granitemoe":
            writer.add_expert_count(config.num_local_experts)
            writer.add_expert_used_count(config.num_experts_per_tok)
    elif architecture == "qwen3moe":
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
        writer.add_expert_weights_norm(config.norm_topk_prob)
    elif architecture == "phi3":
        writer.add_sliding_window(config.sliding_window or 0)


def _add_frequencies(writer: gguf.GGUFWriter, config: Any) -> None:
    rope = config.rope_parameters
    if rope.get("rope_type") == "llama3":
        writer.add_tensor("rope_freqs.weight", _llama3_factors(config, rope))
    if rope.get("rope_type") == "longrope":
        writer.add_tensor("rope_factors_long.weight", np.array(rope["long_factor"], np.float32))
        writer.add_tensor("rope_factors_short.weight", np.array(rope["short_factor"], np.float32))
        ratio = config.max_position_embeddings / rope["original_max_position_embeddings"]
        writer.add_rope_scaling_attn_factors(
            float(np.sqrt(1 + np.log(ratio) / np.log(rope["original_max_position_embeddings"])))
        )


def _llama3_factors(config: Any, rope: dict[str, Any]) -> np.ndarray:
    head_dim = config.head_dim
    frequencies = rope["rope_theta"] ** -(np.arange(0, head_dim, 2) / head_dim)
    old, low, high = (
        rope["original_max_position_embeddings"],
        rope["low_freq_factor"],
        rope["high_freq_factor"],
    )
    factors = []
    for wavelength in 2 * np.pi / frequencies:
        if wavelength < old / high:
            factors.append(1.0)
        elif wavelength > old / low:
            factors.append(rope["factor"])
        else:
            smooth = (old / wavelength - low) / (high - low)
            factors.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return np.array(factors, np.float32)


def add_vocabulary(writer: gguf.GGUFWriter, tokenizer: Any, pre: str = "gpt-2", rows: int = 0) -> None:
    """A byte-level tokenizer's tokens, merges and special tokens, filled up to the rows of the embedding."""
    backend = json.loads(tokenizer.backend_tokenizer.to_str())
    added = {token["id"]: token for token in backend["added_tokens"]}
    by_id = {token_id: token for token, token_id in tokenizer.get_vocab().items()}
    size = max(rows, max(by_id) + 1)
    by_id |= {token_id: f"[PAD{token_id}]" for token_id in range(size) if token_id not in by_id}

    def kind(token_id: int) -> gguf.TokenType:
        if token_id in added:
            return gguf.TokenType.CONTROL if added[token_id]["special"] else gguf.TokenType.USER_DEFINED
        return gguf.TokenType.UNUSED if by_id[token_id].startswith("[PAD") else gguf.TokenType.NORMAL

    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list([by_id[token_id] for token_id in range(size)])
    writer.add_token_types([kind(token_id) for token_id in range(size)])
    writer.add_token_merges([" ".join(pair) for pair in backend["model"]["merges"]])
    if tokenizer.eos_token_id is not None:
        writer.add_eos_token_id(tokenizer.eos_token_id)
    if tokenizer.bos_token_id is not None:
        writer.add_bos_token_id(tokenizer.bos_token_id)
    if tokenizer.chat_template:
        writer.add_chat_template(tokenizer.chat_template)
