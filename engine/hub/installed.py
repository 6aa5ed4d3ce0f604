"""From what a person calls a model to the folder it lies in."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from engine.errors import ModelNotFound
from engine.gguf.files import SUFFIX, gguf_name, is_gguf
from engine.hub.bundled import bundled_model
from engine.hub.catalogue import MOST_NAMED, search_catalogue
from engine.hub.endpoints import find_remote, is_remote
from engine.hub.inventory import installed_as
from engine.hub.model_folders import current_reference
from engine.hub.other_programs import HUGGING_FACE, OLLAMA, find_other
from engine.messages import DEFAULT_MODEL
from engine.sentences import together


def cache_folder() -> Path:
    """Folder of files that can be made again."""
    override = os.environ.get("TENON_CACHE_DIR")
    return Path(override or platformdirs.user_cache_dir("tenon", appauthor=False))


def find_model(reference: str) -> Path:
    """The folder of a model, or its file where it was imported as one.

    Args:
        reference: The name of a bundled model, an installed one's name, the catalogue's or its repository's, a
            folder, or a GGUF file.

    Raises:
        ModelNotFound: there is nothing of that name.
        WeightsMissing: it is a piece of a GGUF file that was cut up.
    """
    try:
        return _found_model(reference)
    except OSError as error:  # a name that no file can have, or a folder that may not be looked into
        raise ModelNotFound(
            "The model {reference} cannot be looked up ({reason}): check its name and the rights to its folder.",
            reference=repr(reference),
            reason=error.strerror or error,
        ) from error


def _found_model(reference: str) -> Path:
    if is_remote(reference):
        server, model = find_remote(reference)
        raise ModelNotFound(
            "{model} runs on the server {server}, and none of its files are here: choose a model of this computer "
            "for this.",
            model=model,
            server=server.name,
        )
    bundled = bundled_model(reference)
    if bundled is not None:
        if bundled.is_there:
            return bundled.location
        raise ModelNotFound(
            "The model {name}, which ships with Tenon, is not in {folder}: get a model on the page Models or with "
            "`tenon models get`, or in a checkout run `make model`.",
            name=bundled.title or bundled.name,
            folder=bundled.folder,
        )
    if not reference.strip():
        raise ModelNotFound(
            "The model's name is empty: give a folder, a GGUF file, an installed model's name, or {default}.",
            default=DEFAULT_MODEL,
        )
    other = find_other(reference)
    if other is not None:
        return other
    installed = installed_as(reference)
    if installed is not None:
        if installed.problem is not None:
            raise ModelNotFound(installed.problem)
        return installed.location.resolve()
    folder = Path(current_reference(reference)).expanduser()
    if folder.is_dir():
        return folder.resolve()
    if folder.is_file():
        if is_gguf(folder):
            return folder.resolve() if folder.resolve().suffix.lower() == SUFFIX else folder.absolute()
        raise ModelNotFound(
            "{folder} is a file: give the model folder, the one that holds config.json, or a GGUF file.",
            folder=folder,
        )
    if folder.exists():
        raise ModelNotFound(
            "{folder} is a pipe, a device or a socket: give the model folder, the one that holds config.json, or "
            "a GGUF file.",
            folder=folder,
        )
    near = search_catalogue(reference)
    if near:
        raise ModelNotFound(
            "{reference} is not on this computer. The catalogue has {names}: download on the page Models or with "
            "`tenon models get`.",
            reference=repr(reference),
            names=together(model.name for model in near[:MOST_NAMED]),
        )
    raise ModelNotFound(
        "There is no model {reference}: give the folder of a checkpoint, a GGUF file, an "
        "installed model's name, or {default}.",
        reference=repr(reference),
        default=DEFAULT_MODEL,
    )


def model_name(reference: str, location: Path) -> str:
    """Name of a model of this computer for people: a bundled one's title, or its folder's or GGUF file's name."""
    bundled = bundled_model(reference)
    if bundled is not None:
        return bundled.title or bundled.name
    if reference.startswith((OLLAMA, HUGGING_FACE)):
        return reference.partition(":")[2].rpartition("/")[2].removesuffix(SUFFIX)
    return gguf_name(location) if location.is_file() else location.name
