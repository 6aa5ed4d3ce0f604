"""A GGUF file's metadata as the config.json of a Hugging Face checkpoint.

Source: llama.cpp, convert_hf_to_gguf.py (the values that are written) and src/llama-model.cpp (the assumed ones).
For files by Ollama's own converter: Ollama, convert/*.go and llama/compat (its own names, and values that it leaves
out). A value that a file leaves out is the family's own default.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

from engine.errors import ConfigInvalid, UnsupportedModel

#: Hugging Face's names of the model and its config, by llama.cpp's architecture.
_ARCHITECTURES = {
    "llama": ("LlamaForCausalLM", "llama"),
    "mistral3": ("Ministral3ForCausalLM", "ministral3"),
    "smollm3": ("SmolLM3ForCausalLM", "smollm3"),
    "qwen2": ("Qwen2ForCausalLM", "qwen2"),
    "qwen2moe": ("Qwen2MoeForCausalLM", "qwen2_moe"),
    "qwen3": ("Qwen3ForCausalLM", "qwen3"),
    "granite": ("GraniteForCausalLM", "granite"),
    "granitemoe": ("GraniteMoeForCausalLM", "granitemoe"),
    "qwen3moe": ("Qwen3MoeForCausalLM", "qwen3_moe"),
    "lfm2": ("Lfm2ForCausalLM", "lfm2"),
    "lfm2moe": ("Lfm2MoeForCausalLM", "lfm2_moe"),
    "deepseek2": ("DeepseekV3ForCausalLM", "deepseek_v3"),
    "glm4moe": ("Glm4MoeForCausalLM", "glm4_moe"),
    "gpt-oss": ("GptOssForCausalLM", "gpt_oss"),
    "phi3": ("Phi3ForCausalLM", "phi3"),
    "gemma2": ("Gemma2ForCausalLM", "gemma2"),
    "gemma3": ("Gemma3ForCausalLM", "gemma3_text"),
    "gemma4": ("Gemma4ForCausalLM", "gemma4_text"),
}
#: llama.cpp's names of architectures, by Ollama's.
_OTHER_NAMES = {"gptoss": "gpt-oss", "glm4moelite": "deepseek2"}
#: Ollama's names of values, by llama.cpp's.
_OTHER_KEYS = {
    "rope.freq_base": "rope.global.freq_base",
    "rope.freq_base_swa": "rope.local.freq_base",
    "rope.scaling.yarn_beta_fast": "rope.scaling.beta_fast",
    "rope.scaling.yarn_beta_slow": "rope.scaling.beta_slow",
    "rope.scaling.yarn_log_multiplier": "rope.scaling.mscale_all_dim",
    "attention.temperature_scale": "rope.scaling_beta",
    "expert_weights_norm": "norm_top_k_prob",
}
#: Gemma 3 with a context this long has its frequencies divided by 8, which Ollama's converter leaves out.
_LONG_GEMMA3, _LONG_GEMMA3_FACTOR = 131_072, 8.0
#: Models of the same architecture whose experts are chosen by shares and not by sigmoids.
_DEEPSEEK_V2 = ("DeepseekV2ForCausalLM", "deepseek_v2")
_SIGMOID = 2
_WITH_EXPERTS = ("granitemoe", "qwen2moe", "qwen3moe", "gpt-oss", "lfm2moe", "gemma4", "deepseek2", "glm4moe")
_WITH_MULTIPLIERS = ("granite", "granitemoe")
_MULTIPLIERS = {
    "embedding_scale": "embedding_multiplier",
    "residual_scale": "residual_multiplier",
    "logit_scale": "logits_scaling",
    "attention.scale": "attention_multiplier",
}
# Values that scale or clamp numbers that Tenon does not: neutral ones are harmless.
_NEUTRAL = {
    "logit_scale": 1,
    "residual_scale": 1,
    "embedding_scale": 1,
    "attention.clamp_kqv": 0,
    "attention.max_alibi_bias": 0,
    "rope.scale_linear": 1,
    "rope.scaling.yarn_attn_factor": 1,
    "rope.scaling.yarn_ext_factor": 1,
    "rope.scaling.yarn_log_multiplier": 0,
}
# Of Gemma's sizes only the largest scales attention by something other than the head's size: its layers say which.
_SCALED_BY_WIDTH = {"gemma2": 46, "gemma3": 62}

_LARGEST_HEAD = 8192
#: Ends of the names of tensors that correct the choice of experts.
_CORRECTIONS = (".exp_probs_b.bias", ".exp_probs_b")
_ABSENT = object()
# Divisors of frequencies above this mean no rotation.
_STILL = 1e20

Floats = Callable[[str], "list[float]"]


def architecture_of(metadata: Mapping[str, Any]) -> str:
    """Return llama.cpp's name of the architecture.

    Raises:
        ConfigInvalid: The file names none.
        UnsupportedModel: Tenon does not run it.
    """
    name = metadata.get("general.architecture")
    if not isinstance(name, str):
        raise ConfigInvalid("The GGUF file names no architecture; choose another file of this model.")
    name = _OTHER_NAMES.get(name, name)
    if name not in _ARCHITECTURES:
        raise UnsupportedModel(
            "Tenon cannot run GGUF files of the architecture {name}; choose another model. It runs {names}.",
            name=name,
            names=", ".join(_ARCHITECTURES),
        )
    return name


def read_gguf_config(
    metadata: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], floats: Floats
) -> dict[str, Any]:
    """Return the content of config.json for the same model.

    Args:
        metadata: Metadata of the file.
        shapes: Shapes of its tensors, by llama.cpp's names.
        floats: Reads a tensor of a few numbers.

    Raises:
        ConfigInvalid: A value is missing or of the wrong kind.
        UnsupportedModel: Tenon cannot run this architecture, or a feature that the file asks for.
    """
    architecture = architecture_of(metadata)
    try:
        return _Translation(metadata, architecture, shapes, floats).config()
    except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError) as error:
        raise ConfigInvalid(
            "A value in the GGUF file's metadata is missing or of the wrong kind; choose another file of this model.",
            details=repr(error),
        ) from error


class _Translation:
    """The config of one file while it is translated."""

    def __init__(
        self,
        metadata: Mapping[str, Any],
        architecture: str,
        shapes: Mapping[str, tuple[int, ...]],
        floats: Floats,
    ) -> None:
        self._metadata = metadata
        self._architecture = architecture
        self._prefix = metadata["general.architecture"]
        self._shapes = shapes
        self._floats = floats
        # Layers after the last one guess further tokens.
        self._layers = int(self._value("block_count")) - int(self._value("nextn_predict_layers", 0))
        self._hidden = int(self._value("embedding_length"))
        self._heads = self._same("attention.head_count")
        self._head_dim = int(self._value("attention.key_length", self._hidden // self._heads))
        self._context = int(self._value("context_length", 0))
        # A damaged number must not become a list of that many entries.
        if not 0 < self._layers <= len(shapes) or not 0 < self._head_dim <= _LARGEST_HEAD:
            raise ValueError(f"{self._layers} layers, heads of {self._head_dim}")

    def _value(self, key: str, default: Any = None) -> Any:
        """Return a value of this architecture; raise KeyError if it is missing and there is no default."""
        name = f"{self._prefix}.{key}"
        if name not in self._metadata and key in _OTHER_KEYS:
            name = f"{self._prefix}.{_OTHER_KEYS[key]}"
        if default is None:
            return self._metadata[name]
        return self._metadata.get(name, default)

    def _given(self, kind: Callable[[Any], float], **keys: str) -> dict[str, Any]:
        """Return the values of config.json that the file has; the family's defaults hold for the others."""
        return {
            name: kind(value)
            for name, value in ((name, self._value(key, _ABSENT)) for name, key in keys.items())
            if value is not _ABSENT
        }

    def _same(self, key: str, default: Any = None) -> int:
        """Return a number that may be given for each layer, but must be the same for all."""
        value = self._value(key, default)
        values = set(value) if isinstance(value, list) else {value}
        if len(values) != 1:
            raise UnsupportedModel(
                "Tenon runs models whose layers are alike, and {key} differs between this one's; choose "
                "another model.",
                key=key,
            )
        return int(values.pop())

    def _kv_heads(self) -> int:
        """Return the key-value heads; layers of LFM2 that have a convolution have none."""
        each = self._value("attention.head_count_kv", self._heads)
        if self._architecture.startswith("lfm2") and isinstance(each, list):
            return max(map(int, each))
        if self._architecture == "gemma4":
            return self._key_value_heads()[0]
        return self._same("attention.head_count_kv", self._heads)

    def _lfm2(self) -> dict[str, Any]:
        each = self._value("attention.head_count_kv")
        each = each if isinstance(each, list) else [each] * self._layers
        return {
            "layer_types": ["full_attention" if heads else "conv" for heads in each[: self._layers]],
            "conv_L_cache": int(self._value("shortconv.l_cache")),
            "block_auto_adjust_ff_dim": False,
            "use_expert_bias": any(name.endswith(_CORRECTIONS) for name in self._shapes),
        }

    def config(self) -> dict[str, Any]:
        neutrals = _NEUTRAL if self._architecture in _WITH_EXPERTS else {**_NEUTRAL, "expert_count": 0}
        own: Container[str] = _MULTIPLIERS if self._architecture in _WITH_MULTIPLIERS else ()
        if self._architecture in ("mistral3", "deepseek2"):
            own = ("rope.scaling.yarn_log_multiplier",)
        for key, neutral in neutrals.items():
            if key in own:
                continue
            found = self._value(key, neutral)
            if found != neutral:
                raise UnsupportedModel(
                    "Tenon has no {key} ({found}) in GGUF files of {architecture}; choose another model.",
                    key=key,
                    found=found,
                    architecture=self._architecture,
                )
        latents = self._architecture == "deepseek2"
        if not latents and self._value("attention.value_length", self._head_dim) != self._head_dim:
            raise UnsupportedModel(
                "Tenon has no heads whose keys and values differ in size; choose another model."
            )
        name, model_type = _ARCHITECTURES[self._architecture]
        if latents and not self._sigmoid():
            name, model_type = _DEEPSEEK_V2
        return {
            "architectures": [name],
            "model_type": model_type,
            "vocab_size": self._shapes["token_embd.weight"][0],
            "hidden_size": self._hidden,
            "intermediate_size": self._intermediate(),
            "num_hidden_layers": self._layers,
            "num_attention_heads": self._heads,
            "num_key_value_heads": self._kv_heads(),
            "head_dim": int(self._value("attention.key_length_swa", self._head_dim)),
            **self._given(int, max_position_embeddings="context_length"),
            **self._given(float, rms_norm_eps="attention.layer_norm_rms_epsilon"),
            "tie_word_embeddings": "output.weight" not in self._shapes,
            "bos_token_id": self._metadata.get("tokenizer.ggml.bos_token_id"),
            "eos_token_id": self._metadata.get("tokenizer.ggml.eos_token_id"),
            "pad_token_id": None,
            "rope_parameters": self._rope(),
            **self._variant(),
        }

    def _variant(self) -> dict[str, Any]:
        """Return the values that this architecture has beside the others."""
        own: dict[str, Any] = {}
        if self._architecture in _WITH_MULTIPLIERS:
            own = {name: float(self._value(key, 0.0)) or 1.0 for key, name in _MULTIPLIERS.items()}
        if self._architecture == "gemma4":
            return self._gemma4()
        if self._architecture == "deepseek2":
            return self._latents()
        if self._architecture == "glm4moe":
            own = self._shared_experts() | {
                "attention_bias": "blk.0.attn_q.bias" in self._shapes,
                "use_qk_norm": "blk.0.attn_q_norm.weight" in self._shapes,
            }
        if self._architecture == "qwen2moe":
            width = self._value("expert_shared_feed_forward_length", self._intermediate())
            own = {"shared_expert_intermediate_size": int(width)}
        if self._architecture == "gpt-oss":
            own = {**self._window(), **self._sliding_layers()}
        if self._architecture.startswith("lfm2"):
            own = self._lfm2()
        if self._architecture in _WITH_EXPERTS:
            return own | self._experts()
        if own and self._architecture == "lfm2":
            return own
        if self._architecture in ("llama", "smollm3", "qwen3", "granite"):
            return own | {
                "attention_bias": "blk.0.attn_q.bias" in self._shapes,
                "mlp_bias": "blk.0.ffn_gate.bias" in self._shapes,
            }
        if self._architecture == "phi3":
            own = {"sliding_window": self._value("attention.sliding_window", 0) or None}
            if "rope_factors_long.weight" in self._shapes:
                own["original_max_position_embeddings"] = self._value("rope.scaling.original_context_length")
            return own
        return self._gemma() if self._architecture in _SCALED_BY_WIDTH else {}

    def _experts(self) -> dict[str, Any]:
        router = "blk.{}.ffn_gate_inp.weight"
        return {
            "num_experts": int(self._value("expert_count")),
            "num_experts_per_tok": int(self._value("expert_used_count")),
            "moe_intermediate_size": self._expert_width(),
            "norm_topk_prob": bool(self._value("expert_weights_norm", self._architecture != "qwen2moe")),
            "routed_scaling_factor": float(self._value("expert_weights_scale", 0.0)) or 1.0,
            "mlp_layer_types": [
                "sparse" if router.format(layer) in self._shapes else "dense" for layer in range(self._layers)
            ],
        }

    def _expert_width(self) -> int:
        """Return the width of an expert from its matrices: Ollama's converter leaves it out for Qwen3."""
        stacks = (shape for name, shape in self._shapes.items() if name.endswith("ffn_down_exps.weight"))
        return next(stacks)[-1]

    def _sigmoid(self) -> bool:
        """Return whether experts are chosen by sigmoids; files that do not say it then have a correction."""
        corrected = any(name.endswith(_CORRECTIONS) for name in self._shapes)
        kind = int(self._value("expert_gating_func", 0))
        return kind == _SIGMOID if kind else corrected

    def _latents(self) -> dict[str, Any]:
        """Return DeepSeek's attention: the file has sizes of the cached latent, and those of a head beside them."""
        if "blk.0.attn_k_b.weight" not in self._shapes:
            raise UnsupportedModel(
                "This GGUF file is of an older kind, which has each head's keys and values in one tensor "
                "(attn_kv_b); choose a newer conversion of this model."
            )
        rank, rotated = int(self._value("attention.kv_lora_rank")), int(self._value("rope.dimension_count"))
        # Ollama's files of GLM-4.7-Flash have the sizes of a head where others have those of the latent.
        of_head = "" if self._prefix in _OTHER_NAMES else "_mla"
        shared = self._shared_experts()
        return {
            **self._experts(),
            **shared,
            "norm_topk_prob": bool(self._value("expert_weights_norm", False)),
            "kv_lora_rank": rank,
            "q_lora_rank": int(self._value("attention.q_lora_rank", 0)) or None,
            "qk_rope_head_dim": rotated,
            "qk_nope_head_dim": int(self._value(f"attention.key_length{of_head}")) - rotated,
            "v_head_dim": int(self._value(f"attention.value_length{of_head}")),
            "topk_method": "greedy" if shared["n_group"] == 1 else "group_limited_greedy",
        }

    def _shared_experts(self) -> dict[str, int]:
        """Return the experts that every token takes, and the groups of the others."""
        groups = int(self._value("expert_group_count", 1))
        return {
            "n_shared_experts": int(self._value("expert_shared_count", 0)),
            "n_group": groups,
            "topk_group": int(self._value("expert_group_used_count", groups)),
        }

    def _scaled_queries(self) -> dict[str, Any]:
        if self._architecture not in ("mistral3", "deepseek2"):
            return {}
        weight = float(self._value("rope.scaling.yarn_log_multiplier", 0.0))
        if self._architecture == "deepseek2":  # a tenth of what others write
            return {"mscale": 10 * weight, "mscale_all_dim": 10 * weight}
        beta = float(self._value("attention.temperature_scale", 0.0))
        return {"mscale": weight, "mscale_all_dim": weight, "llama_4_scaling_beta": beta}

    def _intermediate(self) -> int:
        """Return the width of the feed-forward network; layers that share keys and values may have twice that."""
        gate = self._shapes.get("blk.0.ffn_gate.weight")
        if self._architecture == "lfm2" and gate is not None:  # Ollama's files may say another number
            return gate[0]
        value = self._value("feed_forward_length")
        if self._architecture == "gemma4" and isinstance(value, list):
            return int(min(value))
        return self._same("feed_forward_length")

    def _key_value_heads(self) -> tuple[int, int]:
        """Return Gemma 4's key-value heads: of layers that slide, and of the others."""
        value = self._value("attention.head_count_kv")
        kinds = self._sliding_layers()["layer_types"]
        each = value if isinstance(value, list) else [value] * self._layers
        both = [
            {int(one) for one, own in zip(each, kinds, strict=True) if own == kind}
            for kind in sorted(set(kinds))
        ]
        (whole,), (sliding,) = both
        return sliding, whole

    def _gemma4(self) -> dict[str, Any]:
        lengths, shared = (
            self._value("feed_forward_length"),
            int(self._value("attention.shared_kv_layers", 0)),
        )
        width = int(self._value("embedding_length_per_layer_input", 0))
        experts = "blk.0.ffn_gate_inp.weight" in self._shapes
        whole = self._sliding_layers()["layer_types"].index("full_attention")
        return {
            "attention_k_eq_v": f"blk.{whole}.attn_v.weight" not in self._shapes,
            "num_global_key_value_heads": self._key_value_heads()[1],
            "global_head_dim": self._head_dim,
            "num_kv_shared_layers": shared,
            "use_double_wide_mlp": isinstance(lengths, list) and max(lengths) > min(lengths),
            "hidden_size_per_layer_input": width,
            "vocab_size_per_layer_input": self._shapes["per_layer_token_embd.weight"][0] if width else 0,
            "final_logit_softcapping": self._value("final_logit_softcapping", 0.0) or None,
            **self._window(),
            "enable_moe_block": experts,
            **(self._experts() if experts else {}),
            **self._sliding_layers(),
        }

    def _gemma(self) -> dict[str, Any]:
        scale = self._value("attention.scale", 0.0)
        scalar = self._head_dim
        if scale:
            scalar = round(float(scale) ** -2)
        elif self._layers == _SCALED_BY_WIDTH[self._architecture]:
            scalar = self._hidden // self._heads
        return {
            "query_pre_attn_scalar": scalar,
            "attn_logit_softcapping": self._value("attn_logit_softcapping", 0.0) or None,
            "final_logit_softcapping": self._value("final_logit_softcapping", 0.0) or None,
            **self._window(),
            **self._sliding_layers(),
        }

    def _window(self) -> dict[str, Any]:
        return self._given(int, sliding_window="attention.sliding_window")

    def _sliding_layers(self) -> dict[str, Any]:
        """Return the layers that see only a window, if the file says it."""
        pattern = self._value("attention.sliding_window_pattern", ())
        if isinstance(pattern, list):
            kinds = [("full_attention", "sliding_attention")[bool(slides)] for slides in pattern]
            return {"layer_types": kinds[: self._layers]}
        return {"sliding_window_pattern": int(pattern)} if pattern else {}

    def _rope(self) -> dict[str, Any]:
        if self._architecture == "gemma4":
            return self._gemma4_rope()
        parameters = self._scaled(self._given(float, rope_theta="rope.freq_base"))
        rotated = int(self._value("rope.dimension_count", self._head_dim))
        if rotated != self._head_dim and self._architecture != "deepseek2":
            parameters["partial_rotary_factor"] = rotated / self._head_dim
        if self._architecture != "gemma3":
            return parameters
        local = {"rope_type": "default", **self._given(float, rope_theta="rope.freq_base_swa")}
        return {"full_attention": parameters, "sliding_attention": local}

    def _left_out_by_ollama(self) -> bool:
        """Return whether the converter left out values that all of Gemma 3's larger sizes share."""
        return self._context >= _LONG_GEMMA3 and not self._given(float, it="attention.layer_norm_rms_epsilon")

    def _gemma4_rope(self) -> dict[str, Any]:
        """Return Gemma 4's RoPE; the file gives pairs that stand still a divisor without bound."""
        turning = [factor for factor in self._floats("rope_freqs.weight") if factor < _STILL]
        if set(turning) - {1.0}:
            raise ValueError(f"divisors {sorted(set(turning))}")
        share = 2 * len(turning) / self._head_dim
        return {
            "full_attention": {
                "rope_type": "proportional",
                "partial_rotary_factor": share,
                "rope_theta": float(self._value("rope.freq_base", 1_000_000.0)),
            },
            "sliding_attention": {
                "rope_type": "default",
                "rope_theta": float(self._value("rope.freq_base_swa", 10000.0)),
            },
        }

    def _scaled(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters with the scaling of the frequencies."""
        if "rope_factors_long.weight" in self._shapes:
            original = self._value("rope.scaling.original_context_length")
            parameters |= {
                "rope_type": "longrope",
                "short_factor": self._floats("rope_factors_short.weight"),
                "long_factor": self._floats("rope_factors_long.weight"),
                "original_max_position_embeddings": original,
                "factor": self._context / original,
            }
            factor = self._value("rope.scaling.attn_factor", 0.0)
            return {**parameters, "attention_factor": float(factor)} if factor else parameters
        if "rope_freqs.weight" in self._shapes:
            # Llama 3's scaling, as a divisor of each frequency: LongRoPE with one set for every length is the same.
            factors = self._floats("rope_freqs.weight")
            return {
                **parameters,
                "rope_type": "longrope",
                "short_factor": factors,
                "long_factor": factors,
                "attention_factor": 1.0,
                "factor": 1.0,
                "original_max_position_embeddings": self._context,
            }
        if self._value("rope.scaling.attn_factor", 1.0) != 1.0:
            raise UnsupportedModel(
                "Tenon has rope.scaling.attn_factor with LongRoPE alone; choose another model."
            )
        kind = self._value("rope.scaling.type", "yarn" if self._architecture == "gpt-oss" else "none")
        factor = float(self._value("rope.scaling.factor", 0.0))
        if self._architecture == "gemma3" and not factor and self._left_out_by_ollama():
            kind, factor = "linear", _LONG_GEMMA3_FACTOR
        if kind == "none" or not factor or (kind == "linear" and factor == 1.0):
            return {**parameters, "rope_type": "default"}
        if kind == "linear":
            return {**parameters, "rope_type": "linear", "factor": factor}
        if kind == "yarn":
            original = int(self._value("rope.scaling.original_context_length", self._context))
            return {
                **parameters,
                "rope_type": "yarn",
                "factor": factor,
                "original_max_position_embeddings": original,
                "beta_fast": float(self._value("rope.scaling.yarn_beta_fast", 32.0)),
                "beta_slow": float(self._value("rope.scaling.yarn_beta_slow", 1.0)),
                "truncate": self._architecture != "gpt-oss",
                **self._scaled_queries(),
            }
        raise UnsupportedModel(
            "Tenon has no RoPE of the type {kind} in GGUF files; choose another model.", kind=kind
        )
