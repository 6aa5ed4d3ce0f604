"""Random tiny checkpoints, written by transformers itself: what the decoder is compared with."""

from __future__ import annotations

import json
import logging
from functools import cache
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

VOCABULARY_SIZE = 384
CONTEXT_LENGTH = 512
PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

SENTENCES = (
    "The quick brown fox jumps over the lazy dog.",
    "A language model guesses the next token of a text.",
    "user assistant system",
    "Ein kleines Modell rät, ein großes prüft.",
    "Être ou ne pas être, telle est la question.",
    "for index in range(10): print(index)",
    "The model that guesses and the model that checks are two models.",
)

SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY_SIZE,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": CONTEXT_LENGTH,
    "bos_token_id": None,
    "eos_token_id": [2, 0],
    "pad_token_id": 0,
}

LLAMA3_ROPE = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
LONG_ROPE = {
    "rope_type": "longrope",
    "short_factor": [1.0 + 0.05 * i for i in range(6)],
    "long_factor": [1.5 + 0.4 * i for i in range(6)],
}
_GEMMA4 = {
    "head_dim": 32,
    "global_head_dim": 64,
    "sliding_window": 24,
    "num_hidden_layers": 5,
    "layer_types": [f"{kind}_attention" for kind in ("sliding", "full", "sliding", "sliding", "full")],
    "hidden_size_per_layer_input": 0,
    "vocab_size_per_layer_input": VOCABULARY_SIZE,
    "final_logit_softcapping": 3.0,
    "tie_word_embeddings": True,
}
_LATENTS = {
    "num_key_value_heads": 4,
    "kv_lora_rank": 64,
    "q_lora_rank": 32,
    "qk_rope_head_dim": 16,
    "qk_nope_head_dim": 32,
    "v_head_dim": 32,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "moe_intermediate_size": 64,
    "routed_scaling_factor": 1.8,
}
_HYBRID = {
    "num_hidden_layers": 4,
    "head_dim": 32,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 32,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
}
_HYBRID_EXPERTS = {
    "num_experts": 8,
    "num_experts_per_tok": 3,
    "moe_intermediate_size": 64,
    "shared_expert_intermediate_size": 96,
}
_GRANITE = {
    "embedding_multiplier": 3.0,
    "attention_multiplier": 0.2,
    "residual_multiplier": 0.6,
    "logits_scaling": 2.5,
}

_MAMBA = {
    **_GRANITE,
    "num_hidden_layers": 4,
    "layer_types": ["linear_attention", "linear_attention", "full_attention", "linear_attention"],
    "shared_intermediate_size": 96,
    "mamba_n_heads": 8,
    "mamba_n_groups": 2,
    "mamba_d_state": 32,
}

_NEMOTRON = {
    "head_dim": 32,
    "layers_block_type": ["linear_attention", "mlp", "full_attention", "linear_attention", "mlp"],
    "mamba_num_heads": 4,
    "mamba_head_dim": 16,
    "ssm_state_size": 32,
    "n_groups": 2,
}
_NEMOTRON_EXPERTS = {
    **_NEMOTRON,
    "layers_block_type": ["moe", "linear_attention", "full_attention", "moe", "linear_attention", "mlp"],
    "n_routed_experts": 8,
    "num_experts_per_tok": 3,
    "moe_intermediate_size": 64,
    "moe_shared_expert_intermediate_size": 96,
    "routed_scaling_factor": 1.8,
}

#: Name of a variant -> (architecture, what its config has beyond `SIZES`).
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaForCausalLM", {}),
    "llama-tied": ("LlamaForCausalLM", {"tie_word_embeddings": True}),
    "llama-biased": ("LlamaForCausalLM", {"attention_bias": True, "mlp_bias": True, "head_dim": 24}),
    "llama-gelu": ("LlamaForCausalLM", {"hidden_act": "gelu", "num_key_value_heads": 4}),
    "llama3-rope": ("LlamaForCausalLM", {"rope_parameters": LLAMA3_ROPE}),
    "llama-linear": ("LlamaForCausalLM", {"rope_parameters": {"rope_type": "linear", "factor": 4.0}}),
    "llama-dynamic": ("LlamaForCausalLM", {"rope_parameters": {"rope_type": "dynamic", "factor": 4.0}}),
    "smollm3": ("SmolLM3ForCausalLM", {"no_rope_layer_interval": 2, "tie_word_embeddings": True}),
    "mistral": ("MistralForCausalLM", {"sliding_window": None, "head_dim": 32}),
    "mistral-window": ("MistralForCausalLM", {"sliding_window": 24}),
    "ministral3": (
        "Ministral3ForCausalLM",
        {
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
        },
    ),
    "qwen2": ("Qwen2ForCausalLM", {"tie_word_embeddings": True}),
    "qwen2-window": (
        "Qwen2ForCausalLM",
        {"use_sliding_window": True, "sliding_window": 24, "max_window_layers": 1},
    ),
    "qwen2-yarn": (
        "Qwen2ForCausalLM",
        {"rope_parameters": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128}},
    ),
    "qwen2-moe": (
        "Qwen2MoeForCausalLM",
        {
            "use_sliding_window": True,
            "sliding_window": 24,
            "num_experts": 10,
            "num_experts_per_tok": 3,
            "moe_intermediate_size": 64,
            "shared_expert_intermediate_size": 128,
            "mlp_only_layers": [1],
        },
    ),
    "qwen3": ("Qwen3ForCausalLM", {"head_dim": 32}),
    "qwen3-moe": (
        "Qwen3MoeForCausalLM",
        {
            "head_dim": 32,
            "num_experts": 12,
            "num_experts_per_tok": 3,
            "moe_intermediate_size": 64,
            "norm_topk_prob": True,
            "mlp_only_layers": [1],
        },
    ),
    "qwen3-moe-shares": (
        "Qwen3MoeForCausalLM",
        {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64, "decoder_sparse_step": 2},
    ),
    "qwen3-next": ("Qwen3NextForCausalLM", {**_HYBRID, **_HYBRID_EXPERTS}),
    "qwen35": ("Qwen3_5ForCausalLM", {**_HYBRID, "tie_word_embeddings": True}),
    "qwen35-moe": ("Qwen3_5MoeForCausalLM", {**_HYBRID, **_HYBRID_EXPERTS, "linear_num_value_heads": 6}),
    "granite": ("GraniteForCausalLM", _GRANITE),
    "granite-hybrid": (
        "GraniteMoeHybridForCausalLM",
        {**_MAMBA, "num_local_experts": 0, "num_experts_per_tok": 0, "tie_word_embeddings": True},
    ),
    "granite-hybrid-moe": (
        "GraniteMoeHybridForCausalLM",
        {**_MAMBA, "intermediate_size": 64, "num_local_experts": 8, "num_experts_per_tok": 3, "mamba_n_groups": 1},
    ),
    "granite-hybrid-attention": (
        "GraniteMoeHybridForCausalLM",
        {**_MAMBA, "layer_types": ["full_attention"] * 4, "position_embedding_type": "rope", "num_local_experts": 0},
    ),
    "nemotron-h": ("NemotronHForCausalLM", _NEMOTRON),
    "nemotron-h-moe": ("NemotronHForCausalLM", _NEMOTRON_EXPERTS),
    "nemotron-h-latent": (
        "NemotronHForCausalLM",
        {**_NEMOTRON_EXPERTS, "moe_latent_size": 32, "n_group": 2, "topk_group": 1},
    ),
    "granite-moe": (
        "GraniteMoeForCausalLM",
        {**_GRANITE, "num_local_experts": 9, "num_experts_per_tok": 2, "tie_word_embeddings": True},
    ),
    "gpt-oss": (
        "GptOssForCausalLM",
        {
            "head_dim": 32,
            "num_local_experts": 8,
            "num_experts_per_tok": 3,
            "sliding_window": 24,
            "attention_bias": True,
            "rope_parameters": {
                "rope_type": "yarn",
                "factor": 32.0,
                "rope_theta": 150_000.0,
                "truncate": False,
                "original_max_position_embeddings": 16,
            },
        },
    ),
    "lfm2": (
        "Lfm2ForCausalLM",
        {
            "layer_types": ["conv", "full_attention", "conv"],
            "block_multiple_of": 32,
            "tie_word_embeddings": True,
        },
    ),
    "lfm2-moe": (
        "Lfm2MoeForCausalLM",
        {
            "layer_types": ["full_attention", "conv", "conv"],
            "conv_L_cache": 4,
            "num_dense_layers": 1,
            "num_experts": 8,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 64,
            "tie_word_embeddings": True,
        },
    ),
    "lfm3": (
        "Lfm3ForCausalLM",
        {
            "head_dim": 32,
            "sliding_window": 24,
            "num_hidden_layers": 4,
            "layer_types": ["conv", "sliding_attention", "conv", "full_attention"],
            "tie_word_embeddings": True,
        },
    ),
    "glm4-moe": (
        "Glm4MoeForCausalLM",
        {
            "head_dim": 32,
            "attention_bias": True,
            "use_qk_norm": True,
            "n_routed_experts": 8,
            "num_experts_per_tok": 3,
            "moe_intermediate_size": 64,
            "first_k_dense_replace": 1,
            "routed_scaling_factor": 1.4,
        },
    ),
    "glm4-moe-lite": (
        "Glm4MoeLiteForCausalLM",
        {
            **_LATENTS,
            "num_experts_per_tok": 3,
            "n_group": 4,
            "topk_group": 2,
            "qk_nope_head_dim": 32,
            "v_head_dim": 64,
            "mlp_layer_types": ["dense", "sparse", "sparse"],
        },
    ),
    "deepseek-v2": (
        "DeepseekV2ForCausalLM",
        {
            **_LATENTS,
            "q_lora_rank": None,
            "topk_method": "group_limited_greedy",
            "n_group": 4,
            "topk_group": 3,
            "num_experts_per_tok": 3,
            "n_shared_experts": 2,
            "first_k_dense_replace": 1,
            "norm_topk_prob": False,
        },
    ),
    "deepseek-v3": (
        "DeepseekV3ForCausalLM",
        {
            **_LATENTS,
            "num_experts_per_tok": 2,
            "n_group": 1,
            "topk_group": 1,
            "first_k_dense_replace": 2,
            "routed_scaling_factor": 1.0,
            "rope_parameters": {
                "rope_type": "yarn",
                "rope_theta": 1e4,
                "factor": 8.0,
                "original_max_position_embeddings": 64,
                "mscale": 1.0,
                "mscale_all_dim": 1.0,
            },
        },
    ),
    "phi3": ("Phi3ForCausalLM", {"sliding_window": 40}),
    "phi3-longrope": (
        "Phi3ForCausalLM",
        {
            "sliding_window": None,
            "partial_rotary_factor": 0.75,
            "original_max_position_embeddings": 96,
            "rope_parameters": LONG_ROPE,
        },
    ),
    "gemma2": (
        "Gemma2ForCausalLM",
        {"head_dim": 32, "query_pre_attn_scalar": 24, "sliding_window": 24, "attn_logit_softcapping": 5.0},
    ),
    "gemma3": (
        "Gemma3ForCausalLM",
        {
            "head_dim": 32,
            "query_pre_attn_scalar": 24,
            "sliding_window": 24,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
            "rope_parameters": {
                "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
            },
        },
    ),
    "gemma4": (
        "Gemma4ForCausalLM",
        {**_GEMMA4, "attention_k_eq_v": True, "num_global_key_value_heads": 1},
    ),
    "gemma4-inputs": (
        "Gemma4ForCausalLM",
        {
            **_GEMMA4,
            "hidden_size_per_layer_input": 32,
            "num_kv_shared_layers": 2,
            "use_double_wide_mlp": True,
        },
    ),
    "gemma4-moe": (
        "Gemma4ForCausalLM",
        {
            **_GEMMA4,
            "attention_k_eq_v": True,
            "num_global_key_value_heads": 1,
            "enable_moe_block": True,
            "num_experts": 8,
            "top_k_experts": 3,
            "moe_intermediate_size": 64,
        },
    ),
}


def all_experts(variant: str) -> dict[str, int]:
    """Changes with which each token takes all experts: nearly equal ones change places where numbers are rounded."""
    values = VARIANTS[variant][1]
    experts = values.get("num_experts") or values.get("num_local_experts") or values.get("n_routed_experts")
    chosen = "top_k_experts" if "top_k_experts" in values else "num_experts_per_tok"
    groups = {"topk_group": values["n_group"]} if "n_group" in values else {}
    return {chosen: experts, **groups} if experts else {}


def reference_model(variant: str, seed: int = 0, **changes: Any) -> Any:
    """A transformers model of a variant with random weights large enough that every part of it matters.

    Args:
        variant: A key of `VARIANTS`.
        seed: Of the weights.
        **changes: Config values in place of the variant's.
    """
    architecture, values = VARIANTS[variant]
    model_class = getattr(transformers, architecture)
    values = {**SIZES, **values, **changes}
    if "rope_parameters" in values:  # transformers writes its defaults into the dictionary that it is given
        values["rope_parameters"] = {
            key: dict(value) if isinstance(value, dict) else value for key, value in values["rope_parameters"].items()
        }
    config = model_class.config_class(**values)
    model = model_class._from_config(config, attn_implementation="eager").eval()
    randomize(model, seed)
    if architecture.startswith("Gemma4"):
        with torch.no_grad():  # scores are not scaled: norms of queries are small where they are learned
            for name, parameter in model.named_parameters():
                if name.endswith("q_norm.weight"):
                    parameter.mul_(parameter.shape[0] ** -0.5)
    return model


def muse_glimmer(**changes: Any) -> Any:
    """Muse-Glimmer of six layers, the second and the last of which see all positions, beside an image encoder.

    Args:
        **changes: Values of the text part's config.
    """
    vision = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    text = {**SIZES, "num_hidden_layers": 6, "head_dim": 32, "sliding_window": 24, **changes}
    config = transformers.MuseGlimmerConfig(
        text_config=text, vision_config=vision, out_hidden_size=64, projector_hidden_size=16
    )
    model = transformers.MuseGlimmerForConditionalGeneration._from_config(config, attn_implementation="eager").eval()
    randomize(model, 0)
    return model


def randomize(model: Any, seed: int) -> None:
    """Give every parameter random values of a size that keeps activations near one."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if name.endswith("A_log"):  # some heads forget within a few tokens, and others within hundreds
                parameter.copy_(noise - 4.0)
            elif name.endswith("dt_bias"):  # transformers' prompts, but not its steps, have times of 0.001 at least
                parameter.copy_(1.0 + 0.1 * noise)
            elif parameter.ndim == 1:
                parameter.add_((1.0 if "sinks" in name else 0.1) * noise)
            else:
                scale = 1.0 if "embed" in name or "lm_head" in name else 1.5
                parameter.copy_(scale * noise * parameter.shape[-1] ** -0.5)
        for name, buffer in model.named_buffers():
            if name.endswith("layer_scalar"):
                buffer.add_(0.3 * torch.rand(buffer.shape, generator=generator) - 0.2)
            if name.endswith("e_score_correction_bias"):
                buffer.add_(0.2 * torch.rand(buffer.shape, generator=generator))


def train_tokenizer(chat_template: bool = True) -> Any:
    """A byte-level BPE tokenizer of a few sentences, with the special tokens of ChatML: any text round-trips."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE - 8,
        special_tokens=[PAD, START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=PAD, clean_up_tokenization_spaces=False
    )
    if chat_template:
        fast.chat_template = CHAT_TEMPLATE
    return fast


def write_checkpoint(
    folder: Path,
    variant: str = "llama",
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
    shard_bytes: int | None = None,
    chat_template: bool = True,
    tokenizer: bool = True,
    **changes: Any,
) -> Path:
    """Write a random checkpoint with its tokenizer, as a person would find it in a model's folder.

    Args:
        folder: The folder of the checkpoint; created.
        variant: A key of `VARIANTS`.
        seed: Of the weights.
        dtype: Type of the stored weights.
        shard_bytes: Largest weights file; None for one file.
        chat_template: True for a tokenizer with a chat template (ChatML).
        tokenizer: True for a checkpoint with a tokenizer.
        **changes: Config values in place of the variant's.

    Returns:
        ``folder``.
    """
    save(reference_model(variant, seed, **changes), folder, dtype, shard_bytes)
    if tokenizer:
        train_tokenizer(chat_template).save_pretrained(folder)
    return folder


def write_assistant(
    folder: Path,
    variant: str = "gemma4",
    seed: int = 0,
    ordered: bool = True,
    unified: bool = False,
    **changes: Any,
) -> Any:
    """A draft for a variant of Gemma 4, as its makers publish one.

    Args:
        folder: The folder; created.
        variant: A key of `VARIANTS`.
        seed: Of the weights.
        ordered: Its head looks at the tokens of some clusters alone.
        unified: It is one of those for models that take images and sound without encoders.
        **changes: Values of its text part.

    Returns:
        The assistant in transformers.
    """
    kept = (
        *("vocab_size", "num_key_value_heads", "num_global_key_value_heads", "attention_k_eq_v"),
        *("head_dim", "global_head_dim", "sliding_window", "max_position_embeddings"),
    )
    values = {**SIZES, **VARIANTS[variant][1]}
    name = f"Gemma4{'Unified' if unified else ''}Assistant"
    text = {
        "model_type": "gemma4_unified_text" if unified else "gemma4_text",
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "layer_types": ["sliding_attention", "full_attention", "full_attention"],
        "hidden_size_per_layer_input": 0,
        "vocab_size_per_layer_input": 0,
        **{key: values[key] for key in kept if key in values},
        **changes,
    }
    config = getattr(transformers, f"{name}Config")(
        text_config=text,
        backbone_hidden_size=values["hidden_size"],
        use_ordered_embeddings=ordered,
        num_centroids=32,
        centroid_intermediate_top_k=5,
    )
    _admit_queries_alone(type(config.text_config).__name__)
    model = getattr(transformers, f"{name}ForCausalLM")._from_config(config, attn_implementation="eager").eval()
    randomize(model, seed)
    if ordered:
        order = torch.randperm(VOCABULARY_SIZE, generator=torch.Generator().manual_seed(seed))
        model.masked_embedding.token_ordering.copy_(order)
    save(model, folder)
    return model


@cache
def _admit_queries_alone(name: str) -> None:
    """transformers 5.23 looks for a layer with keys in every config, and an assistant has none."""
    config_class: Any = getattr(transformers, name)
    usual = config_class.kv_sharing_modes.fget

    def modes(config: Any) -> Any:
        alone = config.num_kv_shared_layers == config.num_hidden_layers
        return ["reuse"] * config.num_hidden_layers if alone else usual(config)

    config_class.kv_sharing_modes = property(modes)


def write_published_gpt_oss(folder: Path, seed: int = 0, **changes: Any) -> Any:
    """A checkpoint as gpt-oss is published, experts in blocks of MXFP4 with their scales apart, all else in bfloat16.

    Returns:
        The transformers model with the weights that it stands for, in float32.
    """
    model = reference_model("gpt-oss", seed, **changes)
    generator = torch.Generator().manual_seed(seed)
    tensors: dict[str, torch.Tensor] = {}
    for name, value in model.state_dict().items():
        if not name.endswith(("experts.gate_up_proj", "experts.down_proj")):
            tensors[name] = value.bfloat16()
            value.copy_(tensors[name])
            continue
        experts, columns, rows = value.shape
        blocks = torch.randint(0, 256, (experts, rows, columns // 32, 16), generator=generator, dtype=torch.uint8)
        scales = torch.randint(121, 125, blocks.shape[:-1], generator=generator, dtype=torch.uint8)
        tensors |= {f"{name}_blocks": blocks, f"{name}_scales": scales}
        with torch.no_grad():
            value.copy_(convert_moe_packed_tensors(blocks, scales, dtype=torch.float32))
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "model.safetensors")
    quantization = {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]}
    config = {
        **model.config.to_dict(),
        "architectures": ["GptOssForCausalLM"],
        "quantization_config": quantization,
    }
    (folder / "config.json").write_text(json.dumps(config))
    return model


def save(model: Any, folder: Path, dtype: torch.dtype = torch.float32, shard_bytes: int | None = None) -> None:
    """Write a transformers model without its progress bars."""
    transformers.utils.logging.disable_progress_bar()
    logging.getLogger("transformers").setLevel(logging.ERROR)
    model.to(dtype).save_pretrained(folder, max_shard_size=shard_bytes or "5GB")
