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

# Bits that a Q4_K_M file has for each weight: Llama 3.1 8B's has 4.57 GiB for 8.03e9; and where blocks of 256 do not
# fill a row: bartowski's Gemma 3 1B has 806 MB for 1.00e9.
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
    gated: bool  # True if those are after terms to accept; the GGUF repositories are not
    gguf_repo: str  # repository of quantized weights
    drafts: tuple[str, ...]  # names of smaller models of the catalogue with its vocabulary
    heads: tuple[str, ...]  # repositories of draft heads that were trained for it
    older: bool = False  # True if there are better ones of its size by now
    # Family of tests/published that is written as its files are; one without any is not recommended
    tried_as: str = ""
    # Number of weights of a mixture that each token is multiplied with; None for others
    active_parameters: int | None = None
    expert_parameters: int = 0  # number of weights of its experts

    @property
    def context_length(self) -> int:
        """Tokens of its longest text."""
        return int(self.config["max_position_embeddings"])

    def typical_bytes(self, quantized: bool = True) -> int:
        """Estimate the size of its files; original weights have 16 bits each. The hub says it exactly."""
        if "quantization_config" in self.config:
            # Published with experts in MXFP4, whose blocks of 32 have 17 bytes; the rest of a GGUF file has 34.
            rest = self.parameters - self.expert_parameters
            return int((17 / 16 if quantized else 2) * rest + self.expert_parameters * 17 / 32)
        bits = _NARROW_BITS if self.config["hidden_size"] % 256 else _Q4_K_M_BITS
        return int(self.parameters * (bits if quantized else 16) / 8)


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
            parameters=model["parameters"],
            config=model["config"],
            safetensors_repo=model["safetensors"]["repo"],
            gated=model["safetensors"]["gated"],
            gguf_repo=model["gguf"]["repo"],
            drafts=tuple(model["drafts"]),
            heads=tuple(model["heads"]),
            older=model.get("older", False),
            tried_as=model.get("tried_as", ""),
            active_parameters=model.get("active_parameters"),
            expert_parameters=model.get("expert_parameters", 0),
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
