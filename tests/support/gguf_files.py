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

from engine.gguf.header import Strings, read_header

ARCHITECTURES = {
    "LlamaForCausalLM": "llama",
    "MistralForCausalLM": "llama",
    "Ministral3ForCausalLM": "mistral3",
    "SmolLM3ForCausalLM": "smollm3",
    "Qwen2ForCausalLM": "qwen2",
    "Qwen2MoeForCausalLM": "qwen2moe",
    "Qwen3ForCausalLM": "qwen3",
    "Qwen3MoeForCausalLM": "qwen3moe",
    "Qwen3NextForCausalLM": "qwen3next",
    "Qwen3_5ForCausalLM": "qwen35",
    "Qwen3_5MoeForCausalLM": "qwen35moe",
    "GraniteForCausalLM": "granite",
    "GraniteMoeForCausalLM": "granitemoe",
    "GraniteMoeHybridForCausalLM": "granitehybrid",
    "NemotronHForCausalLM": "nemotron_h",
    "Lfm2ForCausalLM": "lfm2",
    "Lfm2MoeForCausalLM": "lfm2moe",
    "DeepseekV2ForCausalLM": "deepseek2",
    "DeepseekV3ForCausalLM": "deepseek2",
    "Glm4MoeLiteForCausalLM": "deepseek2",
    "Glm4MoeForCausalLM": "glm4moe",
    "GptOssForCausalLM": "gpt-oss",
    "Phi3ForCausalLM": "phi3",
    "Gemma2ForCausalLM": "gemma2",
    "Gemma3ForCausalLM": "gemma3",
    "Gemma4ForCausalLM": "gemma4",
    "MuseGlimmerForCausalLM": "muse-glimmer",
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
    ("self_attn.gate_proj", "attn_gate"),
    ("mlp.gate_up_proj", "ffn_up"),
    ("mlp.shared_expert.gate_proj", "ffn_gate_shexp"),
    ("mlp.shared_expert.up_proj", "ffn_up_shexp"),
    ("mlp.shared_expert.down_proj", "ffn_down_shexp"),
    ("mlp.shared_expert_gate", "ffn_gate_inp_shexp"),
    ("mlp.gate_proj", "ffn_gate"),
    ("mlp.gate.e_score_correction_bias", "exp_probs_b.bias"),
    ("mlp.gate.", "ffn_gate_inp."),
    ("self_attn.q_a_proj", "attn_q_a"),
    ("self_attn.q_a_layernorm", "attn_q_a_norm"),
    ("self_attn.q_b_proj", "attn_q_b"),
    ("self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"),
    ("self_attn.kv_a_layernorm", "attn_kv_a_norm"),
    ("mlp.shared_experts.gate_proj", "ffn_gate_shexp"),
    ("mlp.shared_experts.up_proj", "ffn_up_shexp"),
    ("mlp.shared_experts.down_proj", "ffn_down_shexp"),
    ("mlp.router.", "ffn_gate_inp."),
    ("self_attn.sinks", "attn_sinks.weight"),
    ("model.embedding_norm", "token_embd_norm"),
    ("operator_norm", "attn_norm"),
    ("self_attn.q_layernorm", "attn_q_norm"),
    ("self_attn.k_layernorm", "attn_k_norm"),
    ("self_attn.out_proj", "attn_output"),
    ("feed_forward.w1", "ffn_gate"),
    ("feed_forward.w3", "ffn_up"),
    ("feed_forward.w2", "ffn_down"),
    ("feed_forward.gate.", "ffn_gate_inp."),
    ("feed_forward.expert_bias", "exp_probs_b.bias"),
    ("linear_attn.in_proj_qkv.", "attn_qkv."),
    ("linear_attn.in_proj_z", "attn_gate"),
    ("linear_attn.in_proj_ba", "ssm_ba"),
    ("linear_attn.in_proj_b.", "ssm_beta."),
    ("linear_attn.in_proj_a.", "ssm_alpha."),
    ("linear_attn.conv1d", "ssm_conv1d"),
    ("linear_attn.norm", "ssm_norm"),
    ("linear_attn.out_proj", "ssm_out"),
    ("linear_attn.dt_bias", "ssm_dt.bias"),
    ("linear_attn.A_log", "ssm_a"),
    ("mamba.in_proj", "ssm_in"),
    ("mamba.conv1d", "ssm_conv1d"),
    ("mamba.norm", "ssm_norm"),
    ("mamba.out_proj", "ssm_out"),
    ("mamba.dt_bias", "ssm_dt.bias"),
    ("mamba.A_log", "ssm_a"),
    ("mamba.D", "ssm_d"),
    ("conv.in_proj", "shortconv.in_proj"),
    ("conv.out_proj", "shortconv.out_proj"),
    ("conv.conv", "shortconv.conv"),
    ("block_sparse_moe.router.", "ffn_gate_inp."),
    ("mlp.up_proj", "ffn_up"),
    ("mlp.down_proj", "ffn_down"),
    ("input_layernorm", "attn_norm"),
)
_NEMOTRON = (
    ("model.embeddings", "token_embd"),
    ("model.norm_f", "output_norm"),
    ("mixer.experts.up_proj", "ffn_up_exps.weight"),
    ("mixer.experts.down_proj", "ffn_down_exps.weight"),
    ("mixer.shared_experts.up_proj", "ffn_up_shexp"),
    ("mixer.shared_experts.down_proj", "ffn_down_shexp"),
    ("mixer.fc1_latent_proj", "ffn_latent_down"),
    ("mixer.fc2_latent_proj", "ffn_latent_up"),
    ("mixer.gate.e_score_correction_bias", "exp_probs_b.bias"),
    ("mixer.gate.", "ffn_gate_inp."),
    *((f"mixer.{name}_proj", f"self_attn.{name}_proj") for name in "qkvo"),
    *((f"mixer.{name}_proj", f"mlp.{name}_proj") for name in ("up", "down")),
    ("mixer.", "mamba."),
    (".norm.", ".attn_norm."),
    ("mamba.attn_norm.", "mamba.norm."),
)
_GEMMA4 = (
    ("model.embed_tokens_per_layer", "per_layer_token_embd"),
    ("model.per_layer_model_projection", "per_layer_model_proj"),
    ("model.per_layer_projection_norm", "per_layer_proj_norm"),
    ("post_feedforward_layernorm_1", "post_ffw_norm_1"),
    ("post_feedforward_layernorm_2", "post_ffw_norm_2"),
    ("pre_feedforward_layernorm_2", "pre_ffw_norm_2"),
    ("router.proj", "ffn_gate_inp"),
    ("router.scale", "ffn_gate_inp.scale"),
    ("router.per_expert_scale", "ffn_down_exps.scale"),
    ("layer_scalar", "layer_output_scale.weight"),
    ("per_layer_input_gate", "inp_gate"),
    ("per_layer_projection", "proj"),
    ("post_per_layer_input_norm", "post_norm"),
)
_STACKED = tuple(f".experts.{name}{end}" for name in ("gate_up_proj", "down_proj") for end in ("", "_bias"))
_INTERLEAVED = ("llama", "mistral3", "smollm3", "granite", "granitemoe", "granitehybrid", "muse-glimmer")
_NORMS = (("post_attention_layernorm", "ffn_norm"),)
_GPT_OSS_NORMS = (("post_attention_layernorm", "post_attention_norm"),)
_HYBRIDS = ("qwen35", "qwen35moe", "qwen3next")
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
    if architecture == "nemotron_h" and "moe" in config.layers_block_type:
        architecture = "nemotron_h_moe"
    writer = gguf.GGUFWriter(str(path), architecture, **options)
    _add_config(writer, config, architecture)
    if file_type is not None:
        writer.add_file_type(file_type)
    if tokenizer is not None:
        add_vocabulary(writer, tokenizer, pre, config.vocab_size)
    if architecture != "gemma4" and not architecture.startswith("nemotron"):
        _add_frequencies(writer, config)
    kept: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        if name.endswith(_STACKED):
            kept[name] = _write_experts(writer, name, tensor, kind, architecture)
            continue
        if name.endswith("kv_b_proj.weight"):
            kept[name] = _write_heads(writer, config, name, tensor, kind)
            continue
        if "linear_attn." in name:
            kept[name] = _write_recurrent(writer, config, name, tensor, kind, architecture)
            continue
        if "shared_mlp." in name:
            kept[name] = _write_shared(writer, config, name, tensor, kind, architecture)
            continue
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        if name.endswith(("A_log", ".D", "mamba.norm.weight", "mixer.norm.weight")):
            kept[name] = tensor.float()
            shaped = -kept[name].exp() if name.endswith("A_log") else kept[name]
            groups = config.n_groups if hasattr(config, "n_groups") else config.mamba_n_groups
            rows = groups if name.endswith("weight") else len(shaped)
            writer.add_tensor(_renamed(name, architecture), shaped.view(rows, -1).numpy())
            continue
        values = tensor.float().numpy()
        values = values.squeeze(1) if values.ndim == 3 and values.shape[1] == 1 else values
        renamed = _renamed(name, architecture)
        wanted = kind(renamed) if callable(kind) else kind
        if "ffn_gate_inp_shexp" in renamed:  # a row that the converter squeezes
            values = values[0]
        # The converter leaves routers as floats.
        exact = values.ndim < 2 or any(part in renamed for part in ("ffn_gate_inp", "shortconv.conv", "ssm_conv1d"))
        stored = Kind.F32 if exact else wanted
        if blocks_of is not None and stored not in _WRITTEN:
            writer.add_tensor(renamed, blocks_of(values), raw_dtype=stored)
            continue
        kept[name] = torch.from_numpy(dequantized(values, stored)).view(tensor.shape)
        of_layer = architecture == "muse-glimmer" and "layernorm" in name
        if of_layer or (renamed.endswith("norm.weight") and architecture in ("gemma2", "gemma3", *_HYBRIDS)):
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


def _write(
    writer: gguf.GGUFWriter, name: str, values: Tensor, kind: Kind | Callable[[str], Kind], exact: bool = False
) -> Tensor:
    """Write a tensor, as float32 if it is to be exact; return its values after quantization."""
    stored = Kind.F32 if exact else kind(name) if callable(kind) else kind
    numbers = np.ascontiguousarray(values.numpy())
    writer.add_tensor(name, quantized(numbers, stored), raw_dtype=stored)
    return torch.from_numpy(dequantized(numbers, stored))


def _write_experts(
    writer: gguf.GGUFWriter, name: str, tensor: Tensor, kind: Kind | Callable[[str], Kind], architecture: str
) -> Tensor:
    """A stack of experts' matrices, gate and up apart; the values that it stands for."""
    both, bias, gpt_oss = "gate_up_proj" in name, name.endswith("_bias"), architecture == "gpt-oss"
    whole = tensor.float().transpose(1, 2) if gpt_oss and not bias else tensor.float()
    # gpt-oss has gate and up by turns.
    parts = ((whole[:, ::2], whole[:, 1::2]) if gpt_oss else whole.chunk(2, 1)) if both else (whole,)
    names = ("ffn_gate_exps", "ffn_up_exps") if both else ("ffn_down_exps",)
    if both and architecture == "gemma4":
        parts, names = (whole,), ("ffn_gate_up_exps",)
    kept = []
    for part, own in zip(parts, names, strict=True):
        layer = _renamed(name, architecture).split(".")[1]
        renamed = f"blk.{layer}.{own}.{'bias' if bias else 'weight'}"
        kept.append(_write(writer, renamed, part, kind, exact=bias))
    if not gpt_oss:
        return torch.cat(kept, 1)
    found = torch.stack(kept, 2).flatten(1, 2) if both else kept[0]
    return found if bias else found.transpose(1, 2).contiguous()


def _write_heads(
    writer: gguf.GGUFWriter, config: Any, name: str, tensor: Tensor, kind: Kind | Callable[[str], Kind]
) -> Tensor:
    """Each head's maps of a latent to keys, which are turned over, and to values; the values that they stand for."""
    layer = name.split(".")[2]
    heads = tensor.float().view(config.num_attention_heads, -1, tensor.shape[1])
    keys, values = heads.split((config.qk_nope_head_dim, config.v_head_dim), 1)
    kept = []
    for part, own in ((keys.transpose(1, 2), "attn_k_b"), (values, "attn_v_b")):
        kept.append(_write(writer, f"blk.{layer}.{own}.weight", part, kind))
    return torch.cat((kept[0].transpose(1, 2), kept[1]), 1).reshape(tensor.shape)


def _write_shared(
    writer: gguf.GGUFWriter,
    config: Any,
    name: str,
    tensor: Tensor,
    kind: Kind | Callable[[str], Kind],
    architecture: str,
) -> Tensor:
    """A matrix of Granite's network for all tokens, gate and up apart; the values that it stands for."""
    both, end = "input_linear" in name, "_shexp" if config.num_local_experts else ""
    kept = []
    for part, own in zip(tensor.float().chunk(1 + both), ("gate", "up") if both else ("down",), strict=True):
        renamed = f"blk.{_renamed(name, architecture).split('.')[1]}.ffn_{own}{end}.weight"
        kept.append(_write(writer, renamed, part, kind))
    return torch.cat(kept)


def _write_recurrent(
    writer: gguf.GGUFWriter,
    config: Any,
    name: str,
    tensor: Tensor,
    kind: Kind | Callable[[str], Kind],
    architecture: str,
) -> Tensor:
    """A tensor of gated DeltaNet; the values that it stands for.

    Qwen3-Next's maps are joined by key heads and are taken apart; Qwen3.5's value heads are ordered by their place
    among those of a key head.
    """
    renamed, keys = _renamed(name, architecture), config.linear_num_key_heads * config.linear_key_head_dim
    heads, each = config.linear_num_key_heads, config.linear_num_value_heads // config.linear_num_key_heads
    values = tensor.float()
    if name.endswith("A_log"):
        writer.add_tensor(renamed, _by_place(-values.exp(), heads, each, architecture).numpy())
        return values

    def write(part: Tensor, target: str, before: int = 0, columns: bool = False) -> Tensor:
        """Write a part, of which the rows after the first ones, or the columns, are those of value heads."""
        rows = part.t() if columns else part
        turned = torch.cat((rows[:before], _by_place(rows[before:], heads, each, architecture)))
        turned = turned.t() if columns else turned
        kept = _write(writer, target, turned, kind, exact=part.ndim < 2 or "conv1d" in target)
        kept = kept.t() if columns else kept
        kept = torch.cat((kept[:before], _by_place(kept[before:], each, heads, architecture)))
        return kept.t() if columns else kept

    if name.endswith("in_proj_qkvz.weight"):
        widths = [config.linear_key_head_dim] * 2 + [config.linear_value_head_dim * each] * 2
        parts = values.view(heads, sum(widths), -1).split(widths, 1)
        layer = renamed.split(".")[1]
        joined = write(torch.cat([part.flatten(0, 1) for part in parts[:3]]), f"blk.{layer}.attn_qkv.weight")
        gates = write(parts[3].flatten(0, 1), f"blk.{layer}.attn_gate.weight")
        apart = [*joined.split([keys, keys, len(gates)]), gates]
        return torch.cat([part.view(heads, -1, values.shape[1]) for part in apart], 1).flatten(0, 1)
    if "in_proj_qkv." in name or "conv1d" in name:
        return write(values.squeeze(1), renamed, 2 * keys).view(tensor.shape)
    if name.endswith(("in_proj_ba.weight", "linear_attn.norm.weight")):
        return _write(writer, renamed, values, kind, exact=values.ndim < 2)
    return write(values, renamed, columns="out_proj" in name)


def _by_place(rows: Tensor, heads: int, each: int, architecture: str) -> Tensor:
    """Order the rows of heads by their place in their group, as Qwen3.5's files have them."""
    if architecture == "qwen3next":
        return rows
    return rows.view(heads, each, -1, *rows.shape[1:]).transpose(0, 1).reshape(rows.shape)


def write_small_gguf(path: Path, architecture: str = "qwen3", values: int = 64) -> None:
    """A whole file of an architecture with a single tensor: enough to be imported, too little to run."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_tensor("token_embd.weight", np.ones(values, np.float32))
    finish(writer)


def edit_gguf(
    source: Path,
    target: Path,
    metadata: dict[str, Any],
    rename: Callable[[str], str] = str,
    tensors: dict[str, np.ndarray] | None = None,
    left_out: tuple[str, ...] = (),
) -> Path:
    """Write a file's tensors anew, with other metadata.

    Args:
        source: The file.
        target: The new one.
        metadata: All that it has.
        rename: A tensor's new name by its old one.
        tensors: Tensors to add.
        left_out: Tensors to leave out, by their old names.

    Returns:
        ``target``.
    """
    header = read_header(source)
    writer = gguf.GGUFWriter(str(target), metadata["general.architecture"])
    for key, value in metadata.items():
        if isinstance(value, (list, Strings)):
            writer.add_array(key, list(value))
        elif key != "general.architecture":
            whole = type(value) is int and value >= 0  # llama.cpp reads these as unsigned only
            kind = gguf.GGUFValueType.UINT32 if whole else gguf.GGUFValueType.get_type(value)
            writer.add_key_value(key, value, kind)
    for tensor in header.tensors.values():
        if tensor.name not in left_out:
            raw = np.fromfile(source, np.uint8, tensor.size_bytes, offset=tensor.start)
            writer.add_tensor(rename(tensor.name), raw.reshape(*tensor.shape[:-1], -1), raw_dtype=tensor.kind)
    for name, values in (tensors or {}).items():
        writer.add_tensor(name, values)
    finish(writer)
    return target


def finish(writer: gguf.GGUFWriter) -> None:
    """Write what was added to the writer."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _renamed(name: str, architecture: str) -> str:
    norms = _GEMMA_NORMS if architecture.startswith(("gemma", "muse")) else _NORMS
    norms = _GPT_OSS_NORMS if architecture in ("gpt-oss", "glm4moe", *_HYBRIDS) else norms
    own = _GEMMA4 if architecture == "gemma4" else _NEMOTRON if architecture.startswith("nemotron") else ()
    for theirs, ours in (*own, *_RENAMED, *norms):
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


def _add_gemma4(writer: gguf.GGUFWriter, config: Any) -> None:
    slides = [kind == "sliding_attention" for kind in config.layer_types]
    whole = config.per_layer_config[slides.index(False)]
    writer.add_head_count_kv([config.num_key_value_heads if one else whole.num_key_value_heads for one in slides])
    if config.use_double_wide_mlp:
        own = config.num_hidden_layers - config.num_kv_shared_layers
        writer.add_feed_forward_length([config.intermediate_size * (1 + (i >= own)) for i in range(len(slides))])
    else:
        writer.add_feed_forward_length(config.intermediate_size)
    writer.add_key_length(whole.head_dim)
    writer.add_value_length(whole.head_dim)
    writer.add_key_length_swa(config.head_dim)
    writer.add_value_length_swa(config.head_dim)
    writer.add_shared_kv_layers(config.num_kv_shared_layers)
    writer.add_embedding_length_per_layer_input(config.hidden_size_per_layer_input)
    writer.add_sliding_window(config.sliding_window)
    writer.add_sliding_window_pattern(slides)
    writer.add_final_logit_softcapping(config.final_logit_softcapping)
    writer.add_rope_freq_base(config.rope_parameters["full_attention"]["rope_theta"])
    writer.add_rope_freq_base_swa(config.rope_parameters["sliding_attention"]["rope_theta"])
    writer.add_rope_dimension_count(whole.head_dim)
    writer.add_rope_dimension_count_swa(config.head_dim)
    turning = int(whole.head_dim * config.rope_parameters["full_attention"]["partial_rotary_factor"] / 2)
    factors = [1.0] * turning + [1e30] * (whole.head_dim // 2 - turning)
    writer.add_tensor("rope_freqs.weight", np.array(factors, np.float32))
    if config.enable_moe_block:
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(config.top_k_experts)
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)


def _add_latents(writer: gguf.GGUFWriter, config: Any, rope: dict[str, Any]) -> None:
    writer.add_rope_dimension_count(config.qk_rope_head_dim)
    writer.add_kv_lora_rank(config.kv_lora_rank)
    if config.q_lora_rank is not None:
        writer.add_q_lora_rank(config.q_lora_rank)
    writer.add_key_length_mla(config.qk_nope_head_dim + config.qk_rope_head_dim)
    writer.add_value_length_mla(config.v_head_dim)
    _add_shared_experts(writer, config)
    if rope.get("mscale_all_dim"):
        writer.add_rope_scaling_yarn_log_mul(0.1 * rope["mscale_all_dim"])


def _add_shared_experts(writer: gguf.GGUFWriter, config: Any) -> None:
    kinds = getattr(config, "mlp_layer_types", ())
    writer.add_leading_dense_block_count(kinds.count("dense") if kinds else config.first_k_dense_replace)
    writer.add_expert_count(config.n_routed_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)
    writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    writer.add_expert_shared_count(config.n_shared_experts)
    writer.add_expert_weights_scale(config.routed_scaling_factor)
    if config.norm_topk_prob:
        writer.add_expert_weights_norm(True)
    sigmoid = config.model_type != "deepseek_v2"
    writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID if sigmoid else gguf.ExpertGatingFuncType.SOFTMAX)
    writer.add_expert_group_count(config.n_group)
    writer.add_expert_group_used_count(config.topk_group)


def _add_experts(writer: gguf.GGUFWriter, config: Any) -> None:
    writer.add_expert_count(config.num_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)
    writer.add_expert_feed_forward_length(config.moe_intermediate_size)


def _add_config(writer: gguf.GGUFWriter, config: Any, architecture: str) -> None:
    config.allow_global_per_layer_attribute_access = True
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    epsilons = (getattr(config, name, None) for name in ("rms_norm_eps", "norm_eps", "layer_norm_epsilon"))
    writer.add_layer_norm_rms_eps(next(epsilon for epsilon in epsilons if epsilon))
    writer.add_vocab_size(config.vocab_size)
    if architecture == "gemma4":
        _add_gemma4(writer, config)
        return
    if architecture.startswith("nemotron"):
        _add_nemotron(writer, config, architecture)
        return
    heads: Any = config.num_key_value_heads
    width = getattr(config, "intermediate_size", None) or config.moe_intermediate_size
    if architecture == "deepseek2":
        heads, head_dim = 1, config.kv_lora_rank + config.qk_rope_head_dim
    if architecture.startswith("lfm2"):
        heads = [heads if kind == "full_attention" else 0 for kind in config.layer_types]
        writer.add_shortconv_l_cache(config.conv_L_cache)
    if architecture == "granitehybrid":
        width = width if config.num_local_experts else config.shared_intermediate_size
        heads = [heads if kind == "full_attention" else 0 for kind in config.layer_types]
    if architecture == "lfm2":
        width = 32 * -(-int(2 * width / 3) // 32)
    writer.add_feed_forward_length(width)
    writer.add_head_count_kv(heads)
    writer.add_key_length(head_dim)
    writer.add_value_length(config.kv_lora_rank if architecture == "deepseek2" else head_dim)
    rope = config.rope_parameters
    rope = rope.get("full_attention", rope)
    writer.add_rope_freq_base(rope["rope_theta"])
    if architecture == "deepseek2":
        _add_latents(writer, config, rope)
    else:
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
        if architecture != "granite":
            writer.add_expert_count(config.num_local_experts)
            writer.add_expert_used_count(config.num_experts_per_tok)
        if architecture == "granitehybrid":
            writer.add_expert_shared_feed_forward_length(config.shared_intermediate_size)
            writer.add_rope_scaling_finetuned(config.position_embedding_type == "rope")
            writer.add_ssm_conv_kernel(config.mamba_d_conv)
            writer.add_ssm_state_size(config.mamba_d_state)
            writer.add_ssm_group_count(config.mamba_n_groups)
            writer.add_ssm_time_step_rank(config.mamba_n_heads)
            writer.add_ssm_inner_size(config.mamba_expand * config.hidden_size)
    elif architecture == "muse-glimmer":
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
        writer.add_logit_scale(config.output_multiplier)
        writer.add_sliding_window(config.sliding_window)
        writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config.layer_types])
    elif architecture == "mistral3":
        writer.add_attn_temperature_scale(rope["llama_4_scaling_beta"])
        writer.add_rope_scaling_yarn_log_mul(rope["mscale_all_dim"])
    elif architecture in ("qwen2moe", "qwen3moe"):
        _add_experts(writer, config)
        if architecture == "qwen2moe":  # whose files do not say whether weights are divided by their sum
            writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)
        else:
            writer.add_expert_weights_norm(config.norm_topk_prob)
    elif architecture in _HYBRIDS:
        writer.add_ssm_conv_kernel(config.linear_conv_kernel_dim)
        writer.add_ssm_state_size(config.linear_key_head_dim)
        writer.add_ssm_group_count(config.linear_num_key_heads)
        writer.add_ssm_time_step_rank(config.linear_num_value_heads)
        writer.add_ssm_inner_size(config.linear_value_head_dim * config.linear_num_value_heads)
        writer.add_full_attention_interval(4)
        if architecture != "qwen3next":
            writer.add_rope_dimension_sections([11, 11, 10, 0])
        if architecture != "qwen35":
            _add_experts(writer, config)
            writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)
    elif architecture == "glm4moe":
        _add_shared_experts(writer, config)
    elif architecture == "lfm2moe":
        _add_experts(writer, config)
        writer.add_leading_dense_block_count(config.num_dense_layers)
        writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    elif architecture == "gpt-oss":
        writer.add_sliding_window(config.sliding_window)
        writer.add_expert_count(config.num_local_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
        writer.add_expert_feed_forward_length(config.intermediate_size)
    elif architecture == "phi3":
        writer.add_sliding_window(config.sliding_window or 0)


def _add_nemotron(writer: gguf.GGUFWriter, config: Any, architecture: str) -> None:
    experts, kinds = architecture == "nemotron_h_moe", config.layers_block_type
    width = config.moe_intermediate_size if experts else config.intermediate_size
    writer.add_feed_forward_length([width if kind in ("moe", "mlp") else 0 for kind in kinds])
    writer.add_head_count_kv([config.num_key_value_heads if kind == "full_attention" else 0 for kind in kinds])
    writer.add_layer_norm_eps(config.layer_norm_epsilon)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_scaling_finetuned(False)
    writer.add_ssm_conv_kernel(config.conv_kernel)
    writer.add_ssm_state_size(config.ssm_state_size)
    writer.add_ssm_group_count(config.n_groups)
    writer.add_ssm_time_step_rank(config.mamba_num_heads)
    writer.add_ssm_inner_size(config.mamba_num_heads * config.mamba_head_dim)
    if experts:
        writer.add_expert_count(config.n_routed_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
        writer.add_expert_shared_feed_forward_length(config.moe_shared_expert_intermediate_size)
        writer.add_expert_shared_count(config.n_shared_experts)
        writer.add_expert_weights_norm(config.norm_topk_prob)
        writer.add_expert_weights_scale(config.routed_scaling_factor)
        writer.add_expert_group_count(config.n_group)
        if config.moe_latent_size is not None:
            writer.add_moe_latent_size(config.moe_latent_size)


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
