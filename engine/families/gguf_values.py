"""The values of a GGUF file's metadata, as families read them.

Source: llama.cpp, convert_hf_to_gguf.py (the values that are written) and src/llama-model.cpp (the assumed ones).
For files by Ollama's own converter: Ollama, convert/*.go and llama/compat (its own names, and values that it leaves
out). A value that a file leaves out is the family's own default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.errors import UnsupportedModel

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
_LARGEST_HEAD = 8192
#: Ends of the names of tensors that correct the choice of experts.
_CORRECTIONS = (".exp_probs_b.bias", ".exp_probs_b")
_ABSENT = object()


class GgufValues:
    """The values of one file.

    Args:
        shapes: Shapes of its tensors, by llama.cpp's names.
        floats: Reads a tensor of a few numbers.

    Raises:
        KeyError: A value is missing.
        ValueError: A value makes no sense.
    """

    def __init__(
        self,
        metadata: Mapping[str, Any],
        shapes: Mapping[str, tuple[int, ...]],
        floats: Callable[[str], list[float]],
    ) -> None:
        self.metadata = metadata
        self.prefix = metadata["general.architecture"]
        self.shapes = shapes
        self.floats = floats
        # Layers after the last one guess further tokens.
        self.layers = int(self.value("block_count")) - int(self.value("nextn_predict_layers", 0))
        self.hidden = int(self.value("embedding_length"))
        self.heads = self.same("attention.head_count")
        self.head_dim = int(self.value("attention.key_length", self.hidden // self.heads))
        self.context = int(self.value("context_length", 0))
        # A damaged number must not become a list of that many entries.
        if not 0 < self.layers <= len(shapes) or not 0 < self.head_dim <= _LARGEST_HEAD:
            raise ValueError(f"{self.layers} layers, heads of {self.head_dim}")

    def value(self, key: str, default: Any = None) -> Any:
        """Return a value of this architecture; raise KeyError if it is missing and there is no default."""
        name = f"{self.prefix}.{key}"
        if name not in self.metadata and key in _OTHER_KEYS:
            name = f"{self.prefix}.{_OTHER_KEYS[key]}"
        if default is None:
            return self.metadata[name]
        return self.metadata.get(name, default)

    def given(self, kind: Callable[[Any], float], **keys: str) -> dict[str, Any]:
        """Return the values of config.json that the file has; the family's defaults hold for the others."""
        return {
            name: kind(value)
            for name, value in ((name, self.value(key, _ABSENT)) for name, key in keys.items())
            if value is not _ABSENT
        }

    def each(self, key: str) -> list[int]:
        """Return a number of each layer."""
        value = self.value(key)
        return [int(one) for one in (value if isinstance(value, list) else [value] * self.layers)]

    def same(self, key: str, default: Any = None) -> int:
        """Return a number that may be given for each layer, but must be the same for all."""
        value = self.value(key, default)
        values = set(value) if isinstance(value, list) else {value}
        if len(values) != 1:
            raise UnsupportedModel(
                "Tenon runs models whose layers are alike, and {key} differs between this one's; choose another model.",
                key=key,
            )
        return int(values.pop())

    @property
    def corrected(self) -> bool:
        """True if a tensor corrects the choice of experts."""
        return any(name.endswith(_CORRECTIONS) for name in self.shapes)

    def shared_experts(self) -> dict[str, int]:
        """Return the experts that every token takes, and the groups of the others."""
        groups = int(self.value("expert_group_count", 1))
        return {
            "n_shared_experts": int(self.value("expert_shared_count", 0)),
            "n_group": groups,
            "topk_group": int(self.value("expert_group_used_count", groups)),
        }

    def soft_caps(self, *names: str) -> dict[str, Any]:
        """Return caps, None if there are none."""
        return {f"{name}_logit_softcapping": self.value(f"{name}_logit_softcapping", 0.0) or None for name in names}

    def windows(self) -> dict[str, Any]:
        """Return the window, and the layers that see only that, if the file says it."""
        window = self.given(int, sliding_window="attention.sliding_window")
        pattern = self.value("attention.sliding_window_pattern", ())
        if isinstance(pattern, list):
            kinds = [("full_attention", "sliding_attention")[bool(slides)] for slides in pattern]
            return {**window, "layer_types": kinds[: self.layers]}
        return {**window, "sliding_window_pattern": int(pattern)} if pattern else window

    def rope(self, kind: str = "none", factor: float = 0.0) -> dict[str, Any]:
        """Return RoPE and its scaling.

        Args:
            kind: Type of scaling if the file says none.
            factor: Its factor if the file says none.
        """
        parameters = self._scaled(self.given(float, rope_theta="rope.freq_base"), kind, factor)
        # A factor of 1 is written too, because some configs default to less.
        parameters["partial_rotary_factor"] = int(self.value("rope.dimension_count", self.head_dim)) / self.head_dim
        return parameters

    def _scaled(self, parameters: dict[str, Any], kind: str, factor: float) -> dict[str, Any]:
        """Return the parameters with the scaling of the frequencies."""
        if "rope_factors_long.weight" in self.shapes:
            original = self.value("rope.scaling.original_context_length")
            parameters |= {
                "rope_type": "longrope",
                "short_factor": self.floats("rope_factors_short.weight"),
                "long_factor": self.floats("rope_factors_long.weight"),
                "original_max_position_embeddings": original,
                "factor": self.context / original,
            }
            weight = self.value("rope.scaling.attn_factor", 0.0)
            return {**parameters, "attention_factor": float(weight)} if weight else parameters
        if "rope_freqs.weight" in self.shapes:
            # Llama 3's scaling, as a divisor of each frequency: LongRoPE with one set for every length is the same.
            factors = self.floats("rope_freqs.weight")
            return {
                **parameters,
                "rope_type": "longrope",
                "short_factor": factors,
                "long_factor": factors,
                "attention_factor": 1.0,
                "factor": 1.0,
                "original_max_position_embeddings": self.context,
            }
        if self.value("rope.scaling.attn_factor", 1.0) != 1.0:
            raise UnsupportedModel("Tenon has rope.scaling.attn_factor with LongRoPE alone; choose another model.")
        if said := float(self.value("rope.scaling.factor", 0.0)):
            kind, factor = self.value("rope.scaling.type", "none" if factor else kind), said
        if kind == "none" or not factor or (kind == "linear" and factor == 1.0):
            return {**parameters, "rope_type": "default"}
        if kind == "linear":
            return {**parameters, "rope_type": "linear", "factor": factor}
        if kind == "yarn":
            return {
                **parameters,
                "rope_type": "yarn",
                "factor": factor,
                "original_max_position_embeddings": int(
                    self.value("rope.scaling.original_context_length", self.context)
                ),
                "beta_fast": float(self.value("rope.scaling.yarn_beta_fast", 32.0)),
                "beta_slow": float(self.value("rope.scaling.yarn_beta_slow", 1.0)),
                "truncate": True,
            }
        raise UnsupportedModel("Tenon has no RoPE of the type {kind} in GGUF files; choose another model.", kind=kind)
