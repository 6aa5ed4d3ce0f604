"""Live search of the hub for models that Tenon runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from engine.hub.connection import Hub
from engine.model.families import SUPPORTED
from engine.sentences import say

SearchFormat = Literal["any", "gguf", "safetensors"]

# Fields asked for with every result; the hub leaves out those that it does not know.
_FIELDS: Any = ["downloads", "likes", "gated", "tags", "lastModified", "config", "gguf", "safetensors"]
# llama.cpp calls a family as its class in transformers begins; Mistral's files say llama.
_GGUF_ARCHITECTURES = {name.removesuffix("ForCausalLM").lower() for name in SUPPORTED}
_QUANTIZED_TAGS = ("awq", "gptq", "exl2", "bitsandbytes", "compressed-tensors", "mlx")


@dataclass(frozen=True)
class FoundModel:
    """A repository that the hub found.

    Attributes:
        gated: Terms have to be accepted first.
        downloads: In the last month.
        parameters: Number of weights, as far as the hub knows it.
        changed: The day of its last change, ISO 8601.
        problem: The reason why Tenon cannot run it; None where nothing speaks against it.
    """

    repo: str
    format: Literal["gguf", "safetensors", "other"]
    licence: str | None
    gated: bool
    downloads: int | None
    likes: int | None
    parameters: int | None
    context_length: int | None
    architecture: str | None
    changed: str | None
    problem: str | None


def search(
    hub: Hub, text: str, wish: SearchFormat = "any", limit: int = 20, author: str | None = None
) -> tuple[FoundModel, ...]:
    """Ask the hub for repositories whose names hold all words of a text, most downloaded first.

    Raises:
        HubError: it cannot be asked.
    """
    filters = ["text-generation", *([] if wish == "any" else [wish])]
    found = hub.ask(
        text,
        lambda: list(
            hub.api.list_models(
                search=text or None,
                author=author,
                filter=filters,
                sort="downloads",
                limit=limit,
                expand=_FIELDS,
            )
        ),
    )
    return tuple(_found(model) for model in found)


def _found(model: Any) -> FoundModel:
    tags = tuple(model.tags or ())
    quantized = model.gguf or {}
    config = model.config or {}
    architecture = quantized.get("architecture") or next(iter(config.get("architectures") or ()), None)
    format_: Literal["gguf", "safetensors", "other"]
    format_ = "gguf" if "gguf" in tags else "safetensors" if "safetensors" in tags else "other"
    parameters = quantized.get("total") or (model.safetensors.total if model.safetensors else None)
    return FoundModel(
        repo=model.id,
        format=format_,
        licence=next((tag.partition(":")[2] for tag in tags if tag.startswith("license:")), None),
        gated=bool(model.gated),
        downloads=model.downloads,
        likes=model.likes,
        parameters=parameters,
        context_length=quantized.get("context_length"),
        architecture=architecture,
        changed=None if model.last_modified is None else model.last_modified.date().isoformat(),
        problem=_problem(format_, architecture, tags),
    )


def _problem(format_: str, architecture: str | None, tags: tuple[str, ...]) -> str | None:
    if format_ == "other":
        return say("It holds neither GGUF nor safetensors files.")
    if format_ == "gguf":
        supported = architecture is None or architecture in _GGUF_ARCHITECTURES
        return None if supported else say("Tenon does not run {architecture}.", architecture=architecture)
    method = next((tag for tag in tags if tag in _QUANTIZED_TAGS), None)
    if method is not None:
        return say("It is quantized with {method}; take the original or a GGUF version.", method=method)
    if architecture is not None and architecture not in SUPPORTED:
        return say("Tenon does not run {architecture}.", architecture=architecture)
    return None
