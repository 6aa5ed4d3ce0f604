"""The catalogue: good small instruct models, with the drafts and heads that belong to them. Data, in assets/."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from engine.errors import ModelNotFound
from engine.hub.bundled import assets_folder
from engine.sentences import say

#: Bits that a Q4_K_M file has for each weight: Llama 3.1 8B's has 4.57 GiB for 8.03e9. Small models have more.
Q4_K_M_BITS = 4.9


@dataclass(frozen=True)
class CatalogueModel:
    """A model of the catalogue.

    Attributes:
        name: Name for `tenon models get`.
        title: For people.
        about: One sentence.
        licence: As the hub names it.
        config: The part of config.json that its size follows from, under its own keys.
        safetensors_repo: Repository of its original weights.
        gated: These are behind terms to accept; the GGUF repositories are not.
        gguf_repo: Repository of quantized ones.
        drafts: Names of smaller models of the catalogue with its vocabulary.
        heads: Repositories of draft heads that were trained for it.
        older: There are better ones of its size by now.
    """

    name: str
    title: str
    about: str
    licence: str
    config: dict[str, Any] = field(hash=False)
    safetensors_repo: str
    gated: bool
    gguf_repo: str
    drafts: tuple[str, ...]
    heads: tuple[str, ...]
    older: bool = False

    @property
    def context_length(self) -> int:
        """Tokens of its longest text."""
        return int(self.config["max_position_embeddings"])

    @property
    def parameters(self) -> int:
        """Its weights, from its shape: matrices alone, for norms and biases are thousands beside millions."""
        shape = self.config
        embedding = shape["vocab_size"] * shape["hidden_size"]
        heads = 2 * shape["num_attention_heads"] + 2 * shape["num_key_value_heads"]
        attention = shape["hidden_size"] * shape["head_dim"] * heads
        feed_forward = 3 * shape["hidden_size"] * self._widths
        tables = 1 if shape["tie_word_embeddings"] else 2
        return int(tables * embedding + shape["num_hidden_layers"] * (attention + feed_forward))

    @property
    def _experts(self) -> int:
        """Experts of a layer; 0 where there are none."""
        return int(self.config.get("num_experts") or self.config.get("num_local_experts") or 0)

    @property
    def _widths(self) -> int:
        """Width of a layer's network, or of all its experts together."""
        width = self.config.get("moe_intermediate_size") or self.config["intermediate_size"]
        return int(self._experts * width if self._experts else self.config["intermediate_size"])

    def typical_bytes(self, bits_per_weight: float) -> int:
        """About how large its files are; the hub says it exactly.

        Args:
            bits_per_weight: 16 for the original weights, `Q4_K_M_BITS` for the default quantization.
        """
        shape, whole = self.config, self.parameters
        if bits_per_weight < 16 or "quantization_config" not in shape:
            return int(whole * bits_per_weight / 8)
        # Published with experts in MXFP4 (gpt-oss), whose blocks of 32 have 17 bytes.
        experts = 3 * shape["num_hidden_layers"] * shape["hidden_size"] * self._widths
        return int(2 * (whole - experts) + experts * 17 / 32)


@cache
def catalogue() -> tuple[CatalogueModel, ...]:
    """All of it."""
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
        )
        for model in found["models"]
    )


def catalogue_model(name: str) -> CatalogueModel | None:
    """A model by its name, in any case; None where there is none."""
    return next((model for model in catalogue() if model.name == name.lower()), None)


def catalogue_model_of(repo: str) -> CatalogueModel | None:
    """The model whose weights a repository holds, quantized or not."""
    return next((model for model in catalogue() if repo in (model.safetensors_repo, model.gguf_repo)), None)


def targets_of_head(repo: str) -> tuple[CatalogueModel, ...]:
    """The models that a repository's head was trained for."""
    return tuple(model for model in catalogue() if repo in model.heads)


def search_catalogue(text: str) -> tuple[CatalogueModel, ...]:
    """The models whose name, title, family or repositories hold every word of a text."""
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
    """A model by its name.

    Raises:
        ModelNotFound: there is none.
    """
    found = catalogue_model(name)
    if found is None:
        raise ModelNotFound(
            say(
                "The catalogue has no {name}: give a repository like owner/name, or look with `tenon "
                "models search`.",
                name=repr(name),
            )
        )
    return found
