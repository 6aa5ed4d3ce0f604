"""Titles of models for users. A title follows from the reference alone, so that it is the same wherever it stands."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from engine.gguf.files import gguf_name, quantization_of
from engine.hub.bundled import BundledModel, bundled_model, bundled_models
from engine.hub.catalogue import catalogue
from engine.hub.endpoints import is_remote, remote_name
from engine.hub.model_folders import HUGGING_FACE, OLLAMA
from engine.messages import OWN_HEAD
from engine.sentences import say, translated

_BETWEEN = re.compile(r"[\s_-]+")
_TUNED = re.compile(r"(?:^|[-_. ])(?:instruct|chat|it|assistant)(?=[-_. ]|$)", re.IGNORECASE)
_BASE = re.compile(r"(?:^|[-_. ])(?:base|pt|pretrained)(?=[-_. ]|$)", re.IGNORECASE)


def title_of_model(reference: str) -> str:
    """Return a model's title: a bundled one's, the catalogue's, or its own name without the type of its weights.

    Args:
        reference: A reference of `find_model`, the name of an installed model or of a download, a repository
            ``owner/name``, a name of the catalogue, or the draft that models come with.
    """
    bundled = bundled_model(reference)
    if bundled is not None:
        return translated(bundled.title or bundled.name)
    if reference == OWN_HEAD:
        return say("The model's own layer (MTP)")
    name = _without_type(_own_name(reference))
    return _known_titles(tuple(bundled_models())).get(_key(name), name)


def type_of_model(reference: str) -> str:
    """Return the type of a model's weights by its name, such as Q4_K_M, or an empty text if the name has none."""
    bundled = bundled_model(reference)
    return quantization_of(bundled.file if bundled is not None else _own_name(reference)) or ""


def names_base(name: str) -> bool:
    """Return True if a name says that its model only continues texts, whatever chat template came with its files."""
    return _BASE.search(name) is not None and _TUNED.search(name) is None


def _own_name(reference: str) -> str:
    """Return the last part of a reference, without an ending, the number of a part and an owner before it."""
    if is_remote(reference):
        return remote_name(reference)
    path = Path(reference.removeprefix(OLLAMA).removeprefix(HUGGING_FACE))
    name = path.name or path.absolute().name
    name = gguf_name(path) if name.lower().endswith(".gguf") else name
    return name.partition("--")[2] or name or reference


def _without_type(name: str) -> str:
    end = re.escape(quantization_of(name) or "gguf")
    return re.sub(rf"(?<=.)[-._ /](?:UD-)?{end}(?=[-. ]|$)", "", name, flags=re.IGNORECASE)


@cache
def _known_titles(shipped: tuple[BundledModel, ...]) -> dict[str, str]:
    """Return the titles of the catalogue and of bundled files by the names that their repositories and files have."""
    titles = {_key(_without_type(gguf_name(Path(model.file)))): model.title for model in shipped if model.file}
    for model in catalogue():
        for name in (model.name, model.safetensors_repo, model.gguf_repo):
            titles[_key(_without_type(name.rpartition("/")[2]))] = model.title
    return titles


def _key(name: str) -> str:
    return _BETWEEN.sub("-", name).casefold()
