"""The catalogue: good small instruct models, with the drafts and heads that belong to them. Data, in assets/.

Every shape is that of a public config. Left out are models that Tenon does not run, Qwen3.5 and 3.6 for one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from engine.errors import ModelNotFound
from engine.hub.bundled import assets_folder
from engine.sentences import together

#: Bits that a Q4_K_M file has for each weight: Llama 3.1 8B's has 4.57 GiB for 8.03e9. Small models have more.
Q4_K_M_BITS = 4.9
#: Most models that a sentence offers in the place of a missing one.
MOST_NAMED = 3


@dataclass(frozen=True)
class CatalogueModel:
    """A model of the catalogue."""

    name: str  # name for `tenon models get`
    title: str  # title that users see
    about: str  # one sentence
    licence: str  # licence as the hub names it
    # Part of config.json that its size follows from, under its own keys
    config: dict[str, Any] = field(hash=False)
    safetensors_repo: str  # repository of its original weights
    gated: bool  # True if those are after terms to accept; the GGUF repositories are not
    gguf_repo: str  # repository of quantized weights
    drafts: tuple[str, ...]  # names of smaller models of the catalogue with its vocabulary
    heads: tuple[str, ...]  # repositories of draft heads that were trained for it
    older: bool = False  # True if there are better ones of its size by now
    # Family of tests/published that is written as its files are; one without any is not recommended
    tried_as: str = ""

    @property
    def context_length(self) -> int:
        """Tokens of its longest text."""
        return int(self.config["max_position_embeddings"])

    @property
    def parameters(self) -> int:
        """Number of weights by its shape: matrices alone, as norms and biases are thousands beside millions."""
        shape, layers = self.config, range(self.config["num_hidden_layers"])
        tables = shape["vocab_size"] * shape["hidden_size"] * (1 if shape["tie_word_embeddings"] else 2)
        # Gemma 4's E models: each layer has a table of its own, and three matrices around it.
        width = shape.get("hidden_size_per_layer_input", 0)
        inputs = len(layers) * width * (shape["vocab_size"] + 3 * shape["hidden_size"])
        return int(
            tables + inputs + sum(self._attention(layer) + sum(self._network(layer)) for layer in layers)
        )

    @property
    def active_parameters(self) -> int | None:
        """Number of weights of a mixture that each token is multiplied with; None for others."""
        shape, count = self.config, self._expert_count
        if not count:
            return None
        experts = sum(self._network(layer)[1] for layer in range(shape["num_hidden_layers"]))
        chosen = shape.get("num_experts_per_tok") or shape["top_k_experts"]
        looked_up = 0 if shape["tie_word_embeddings"] else shape["vocab_size"] * shape["hidden_size"]
        return int(self.parameters - looked_up - experts * (count - chosen) // count)

    @property
    def _expert_count(self) -> int:
        names = ("num_experts", "num_local_experts", "n_routed_experts")
        return sum(self.config.get(name) or 0 for name in names)

    def _shares(self, layer: int) -> bool:
        """Return whether a layer reads another's keys and values (Gemma 4)."""
        return bool(layer >= self.config["num_hidden_layers"] - self.config.get("num_kv_shared_layers", 0))

    def _attention(self, layer: int) -> int:
        """Return the weights of a layer's attention, or of the convolution in its place."""
        shape = self.config
        hidden, kinds = shape["hidden_size"], shape.get("layer_types")
        kind = kinds[layer] if kinds else "full_attention"
        if kind == "conv":
            return int(4 * hidden * hidden)
        if "kv_lora_rank" in shape:  # latents (GLM-4.7-Flash)
            heads, rope, queries = (
                shape[name] for name in ("num_attention_heads", "qk_rope_head_dim", "q_lora_rank")
            )
            keys, values, latent = (
                shape[name] for name in ("qk_nope_head_dim", "v_head_dim", "kv_lora_rank")
            )
            mapped = queries * (hidden + heads * (keys + rope)) + hidden * (latent + rope)
            return int(mapped + heads * (latent * (keys + values) + values * hidden))
        whole = kind == "full_attention" and "global_head_dim" in shape
        width = shape["global_head_dim"] if whole else shape["head_dim"]
        kv_heads, matrices = shape["num_key_value_heads"], 2
        if whole and shape.get("attention_k_eq_v"):
            kv_heads, matrices = shape["num_global_key_value_heads"], 1
        if self._shares(layer):
            matrices = 0
        return int(hidden * width * (2 * shape["num_attention_heads"] + matrices * kv_heads))

    def _network(self, layer: int) -> tuple[int, int]:
        """Return the weights of a layer's network, and of its experts."""
        shape = self.config
        hidden, width = shape["hidden_size"], shape["intermediate_size"]
        experts = self._expert_count
        dense = 3 * hidden * width * (2 if self._shares(layer) and shape.get("use_double_wide_mlp") else 1)
        if not experts or layer < shape.get("num_dense_layers", shape.get("first_k_dense_replace", 0)):
            return dense, 0
        expert = 3 * hidden * shape.get("moe_intermediate_size", width)
        beside = dense if shape.get("enable_moe_block") else expert * shape.get("n_shared_experts", 0)
        return beside, expert * experts

    def typical_bytes(self, bits_per_weight: float) -> int:
        """Estimate the size of its files; original weights have 16 bits each. The hub says it exactly."""
        shape, whole = self.config, self.parameters
        if bits_per_weight < 16 or "quantization_config" not in shape:
            return int(whole * bits_per_weight / 8)
        # Published with experts in MXFP4 (gpt-oss), whose blocks of 32 have 17 bytes.
        experts = sum(self._network(layer)[1] for layer in range(shape["num_hidden_layers"]))
        return int(2 * (whole - experts) + experts * 17 / 32)


@cache
def catalogue() -> tuple[CatalogueModel, ...]:
    """Return all models of the catalogue."""
    found = json.loads((assets_folder() / "catalogue.json").read_text(encoding="utf-8"))
    return tuple(
        CatalogueModel(
            name=model["name"],
            title=model["title"],
            about=model["about"],
            licence=model["licence"],
            config=model["config"],
            safetensors_repo=model["safetensors"]["repo"],
            gated=model["safetensors"]["gated"],
            gguf_repo=model["gguf"]["repo"],
            drafts=tuple(model["drafts"]),
            heads=tuple(model["heads"]),
            older=model.get("older", False),
            tried_as=model.get("tried_as", ""),
        )
        for model in found["models"]
    )


def catalogue_model(name: str) -> CatalogueModel | None:
    """Return a model by its name, in any case, or None if there is none."""
    return next((model for model in catalogue() if model.name == name.lower()), None)


def catalogue_model_of(repo: str) -> CatalogueModel | None:
    """Return the model whose weights a repository holds, quantized or not."""
    return next((model for model in catalogue() if repo in (model.safetensors_repo, model.gguf_repo)), None)


def targets_of_head(repo: str) -> tuple[CatalogueModel, ...]:
    """Return the models that a repository's head was trained for."""
    return tuple(model for model in catalogue() if repo in model.heads)


def search_catalogue(text: str) -> tuple[CatalogueModel, ...]:
    """Return the models whose name, title or repositories hold every word of a text."""
    words = text.lower().split()
    return tuple(
        model
        for model in catalogue()
        if all(
            word in f"{model.name} {model.title} {model.safetensors_repo} {model.gguf_repo}".lower()
            for word in words
        )
    )


def require_catalogue_model(name: str) -> CatalogueModel:
    """Return a model by its name.

    Raises:
        ModelNotFound: There is no such model.
    """
    found = catalogue_model(name)
    near = search_catalogue(name)[:MOST_NAMED]
    if found is None and near:
        raise ModelNotFound(
            "The catalogue has no {name}, but {names}: give one of its names, or a repository like owner/name.",
            name=repr(name),
            names=together(model.name for model in near),
        )
    if found is None:
        raise ModelNotFound(
            "The catalogue has no {name}: give a repository like owner/name, or look with `tenon "
            "models search`.",
            name=repr(name),
        )
    return found
