"""The catalogue: good small instruct models, with the drafts and heads that belong to them. Data, in assets/.

Every shape is that of a public config. Values that all models of a family share stand once, with the family.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from engine.errors import ModelNotFound
from engine.gguf.types import GgmlType
from engine.hub.bundled import assets_folder
from engine.json_text import from_plain
from engine.sentences import together

# Bits that a Q4_K_M file has for each weight: Llama 3.1 8B's has 4.57 GiB for 8.03e9. The second is for rows
# whose width is no multiple of 256, the size of a block: bartowski's Gemma 3 1B has 806 MB for 1.00e9.
_Q4_K_M_BITS, _NARROW_BITS = 4.9, 6.4
#: Most models that a sentence offers in the place of a missing one.
MOST_NAMED = 3


@dataclass(frozen=True)
class CatalogueModel:
    """A model of the catalogue."""

    name: str  # name for `tenon models get`
    title: str  # title that users see
    about: str  # one sentence
    licence: str  # licence as the hub names it
    # Number of weights, but for norms and biases, which are thousands beside millions
    parameters: int
    # Part of config.json that its size follows from, under its own keys
    config: dict[str, Any] = field(hash=False)
    safetensors_repo: str  # repository of its original weights
    gguf_repo: str  # repository of quantized weights; the original's if there is none
    gated: bool = False  # True if the original weights are after terms to accept; the GGUF repositories are not
    drafts: tuple[str, ...] = ()  # names of smaller models of the catalogue with its vocabulary
    heads: tuple[str, ...] = ()  # repositories of draft heads that were trained for it
    older: bool = False  # True if there are better ones of its size by now
    # Family of tests/published that is written as its files are; one without any is not recommended
    tried_as: str = ""
    # Number of weights of a mixture that each token is multiplied with; None for others
    active_parameters: int | None = None
    expert_parameters: int = 0  # number of weights of its experts
    # Bytes of the quantized files that are fetched unless others are asked for; 0 if they are not known
    gguf_bytes: int = 0
    own_head: bool = False  # True if these files have a layer that drafts for it (MTP)
    own_type: str = ""  # type of its only files, if they are quantized ones
    # True if it comes with an encoder of pictures, of a kind that tests/engine/vision runs with its family
    sees: bool = False

    @property
    def context_length(self) -> int:
        """Tokens of its longest text."""
        return int(self.config["max_position_embeddings"])

    @property
    def is_quantized(self) -> bool:
        """True if there are quantized files of it, which are fetched unless others are asked for."""
        return self.gguf_repo != self.safetensors_repo or bool(self.own_type)

    @property
    def type(self) -> str:
        """Type of the weights that are fetched unless others are asked for."""
        mxfp4 = "quantization_config" in self.config
        if self.own_type:
            return self.own_type
        return "MXFP4" if mxfp4 else "Q4_K_M" if self.is_quantized else "BF16"

    def typical_bytes(self, quantized: bool = True) -> int:
        """Return the bytes of its files, or an estimate if they are not known; the hub has the exact size.

        Args:
            quantized: False for the original weights, which have 16 bits each.
        """
        quantized = quantized and self.is_quantized
        if quantized and self.gguf_bytes:
            return self.gguf_bytes
        if "quantization_config" in self.config:
            # Published with experts in MXFP4, whose blocks of 32 have 17 bytes; those of Q8_0 beside them have 34.
            others = (17 / 16 if quantized else 2) * (self.parameters - self.expert_parameters)
            return int(others + self.expert_parameters * 17 / 32)
        narrow = self.config["hidden_size"] % 256
        bits = 16 if not quantized else _NARROW_BITS if narrow else _Q4_K_M_BITS
        if quantized and self.own_type:
            kind = GgmlType[self.own_type]
            bits = 8 * kind.block_bytes / kind.elements
        return int(self.parameters * bits / 8)


@cache
def catalogue() -> tuple[CatalogueModel, ...]:
    """Return all models of the catalogue."""
    found = json.loads((assets_folder() / "catalogue.json").read_text(encoding="utf-8"))
    return tuple(_model(model, found["families"][model["family"]]) for model in found["models"])


def _model(own: Mapping[str, Any], family: Mapping[str, Any]) -> CatalogueModel:
    kind = {"architectures": [family["architecture"]], "model_type": family["model_type"]}
    config = {**kind, **family.get("config", {}), **own["config"]}
    of_family = {
        "licence": family["licence"],
        "tried_as": family.get("tried_as", ""),
        "sees": family.get("sees", False),
    }
    return from_plain(CatalogueModel, {**of_family, "gguf_repo": own["safetensors_repo"], **own, "config": config})


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
            word in f"{model.name} {model.title} {model.safetensors_repo} {model.gguf_repo}".lower() for word in words
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
            "The catalogue has no {name}: give a repository like owner/name, or search for it.",
            name=repr(name),
        )
    return found
