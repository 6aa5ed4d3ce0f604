"""A model that is not here, as far as planning needs it: its config and the size of its files."""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from engine.errors import HubError, ModelNotFound, NotOnHub
from engine.hub.catalogue import Q4_K_M_BITS, CatalogueModel, catalogue_model, catalogue_model_of
from engine.hub.connection import Hub
from engine.hub.installed import cache_folder, find_model
from engine.hub.model_folders import models_folder
from engine.hub.offer import REPO, make_offer
from engine.hub.record import write_json
from engine.hub.selection import DEFAULT_QUANTIZATION
from engine.json_text import read_json
from engine.model.families import SUPPORTED
from engine.outside_file import read_text_file

_INDEX = "model.safetensors.index.json"


def find_or_outline(reference: str, hub: Hub | None = None) -> Path:
    """The folder of an installed model, else one in the cache that holds config.json and an index with the size.

    Args:
        reference: A reference of `find_model`, a name of the catalogue, or a repository.
        hub: To ask for sizes and for configs that the catalogue does not have; None asks nobody.

    Raises:
        ModelNotFound: nobody knows it.
        HubError: the hub has to be asked and cannot be.
    """
    try:
        return find_model(reference)
    except ModelNotFound:
        known = catalogue_model(reference) or catalogue_model_of(reference)
        if known is None and (hub is None or not REPO.fullmatch(reference)):
            raise
    found = _known(known, reference, hub) if known is not None else _asked(reference, hub)
    name = reference.replace("/", "--")
    try:
        return _written(cache_folder() / "outlines" / name, *found)
    except OSError:  # a full disk, a home that cannot be written
        return _written(_spare_folder() / name, *found)


def outlined_bytes(place: Path) -> int | None:
    """Bytes that fetching the model brings, by its outline; None where the place is no outline."""
    try:
        index = read_json(read_text_file(place / _INDEX))
        return int(index["metadata"]["total_size"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _written(folder: Path, config: dict[str, Any], size_bytes: int, quantization: str | None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", config)
    metadata = {"total_size": size_bytes, "quantization": quantization}
    index = {"metadata": metadata, "weight_map": {}}
    write_json(folder / _INDEX, index)
    return folder


@cache
def _spare_folder() -> Path:
    """In the place of the cache, until this process ends."""
    folder = Path(mkdtemp(prefix="tenon-outlines-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


def _known(model: CatalogueModel, reference: str, hub: Hub | None) -> tuple[dict[str, Any], int, str | None]:
    """By the catalogue; the hub's size is better where it answers."""
    if hub is not None:
        try:
            plan = make_offer(hub, models_folder(), reference).plan
            return config_of(model), plan.size_bytes, plan.quantization
        except HubError:
            pass
    if reference == model.safetensors_repo:
        return config_of(model), model.typical_bytes(16), None
    return config_of(model), model.typical_bytes(Q4_K_M_BITS), DEFAULT_QUANTIZATION


def _asked(repo: str, hub: Hub | None) -> tuple[dict[str, Any], int, str | None]:
    """By the repository's own config.json, or that of the model that it is a quantization of."""
    assert hub is not None
    plan = make_offer(hub, models_folder(), repo).plan
    for source, commit in ((repo, plan.commit), *((base, "main") for base in plan.base)):
        try:
            return hub.read_config(source, commit), plan.size_bytes, plan.quantization
        except NotOnHub:
            continue
    raise NotOnHub(
        "{repo} says nothing of the model's shape before it is downloaded: get it first.", repo=repo
    )


def config_of(model: CatalogueModel) -> dict[str, Any]:
    """A config.json of a model of the catalogue, as far as its size goes."""
    part = SUPPORTED[model.config["architectures"][0]].text_config
    if part is None:
        return dict(model.config)
    shape = {key: value for key, value in model.config.items() if key not in ("architectures", "model_type")}
    return {
        "architectures": model.config["architectures"],
        "model_type": model.config["model_type"],
        part: shape,
    }
