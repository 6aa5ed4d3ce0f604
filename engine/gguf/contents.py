"""Contents of a GGUF file: a text model, or something else that comes in the same container.

Source: llama.cpp, gguf-py/gguf/constants.py (``general.type``); convert_lora_to_gguf.py, tools/imatrix and
tools/cvector-generator write the other kinds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from engine.errors import UnsupportedModel
from engine.sentences import mark

_ADAPTER = mark(
    "This GGUF file holds a LoRA adapter: a change to a model, and not a model. Choose the model with the adapter "
    "merged into it."
)
_IMATRIX = mark(
    "This GGUF file holds an importance matrix for quantizing a model, and not a model. Choose the model's own file."
)
_VECTOR = mark(
    "This GGUF file holds a control vector for steering a model, and not a model. Choose the model's own file."
)
_TOWER = mark(
    "This GGUF file holds the part of a model that reads images or sound, and no text model; choose the model's own "
    "file."
)
_VOCABULARY = mark(
    "This GGUF file holds a vocabulary and no weights, so it is no model; choose the model's own file."
)
#: By ``general.type``.
_TYPES = {"adapter": _ADAPTER, "imatrix": _IMATRIX, "mmproj": _TOWER}
#: By ``general.architecture``, where files have no type.
_ARCHITECTURES = {"clip": _TOWER, "mmproj": _TOWER, "controlvector": _VECTOR}
#: By the last parts of their tensors' names, where files say nothing.
_ENDINGS = {
    ".lora_a": _ADAPTER,
    ".lora_b": _ADAPTER,
    ".loraA": _ADAPTER,
    ".loraB": _ADAPTER,
    ".in_sum2": _IMATRIX,
}


def other_kind(metadata: Mapping[str, Any], tensors: Collection[str]) -> str | None:
    """The sentence on what a file holds in a text model's place, as `mark` returns it; None for a text model.

    Args:
        metadata: Of the file, or of the first of a model's parts.
        tensors: Names of its tensors, of all parts.
    """
    said = _TYPES.get(str(metadata.get("general.type")))
    said = said or _ARCHITECTURES.get(str(metadata.get("general.architecture")))
    if said is not None:
        return said
    if not tensors:
        return _VOCABULARY if "tokenizer.ggml.model" in metadata else None
    return next((kind for end, kind in _ENDINGS.items() if any(name.endswith(end) for name in tensors)), None)


def check_text_model(metadata: Mapping[str, Any], tensors: Collection[str]) -> None:
    """Refuse what `other_kind` names.

    Raises:
        UnsupportedModel: The file holds something else than a text model.
    """
    said = other_kind(metadata, tensors)
    if said is not None:
        raise UnsupportedModel(said)
