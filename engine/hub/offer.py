"""A model that is not here yet: the download (files, sizes, terms), and an outline to plan with."""

from __future__ import annotations

import atexit
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from engine.errors import AccessDenied, CheckpointError, HubError, InvalidOption, ModelNotFound, NotOnHub
from engine.families import SUPPORTED
from engine.files import read_text_file
from engine.gguf.files import gguf_name, names_block_draft
from engine.hub.bundled import check_name
from engine.hub.catalogue import (
    CatalogueModel,
    catalogue,
    catalogue_model,
    catalogue_model_of,
    require_catalogue_model,
    targets_of_head,
)
from engine.hub.installed import cache_folder, find_model
from engine.hub.model_folders import models_folder
from engine.hub.record import ModelKind, read_record, write_json
from engine.hub.repository import (
    DEFAULT_QUANTIZATION,
    FormatWish,
    Listing,
    base_of,
    choose_files,
    only_file,
)
from engine.json_text import read_json
from engine.text.pictures import ANCHORS
from engine.weights.draft_kind import ADAPTER_CONFIG, check_adapter

if TYPE_CHECKING:  # the hub's client takes 19 MB, and outlines of the catalogue need none of it
    from engine.hub.connection import Hub
    from engine.hub.download import DownloadPlan

#: ``owner/name``, and a GGUF file in it.
REPO = re.compile(r"[\w.-]+/[\w.-]+")
_FILE = re.compile(rf"({REPO.pattern})/(.+\.gguf)", re.IGNORECASE)
_NAME = re.compile(r"[^\w.+ -]")
_INDEX = "model.safetensors.index.json"


@dataclass(frozen=True)
class Offer:
    """A download that could be started."""

    plan: DownloadPlan  # plan for the queue
    gated: bool  # True if terms have to be accepted first
    page: str  # address of its page on the hub
    alternatives: tuple[str, ...] = ()  # quantizations there are, smallest first
    # Drafts that could be fetched along, smallest first: catalogue names and heads' repositories
    drafts: tuple[str, ...] = ()


def make_offer(
    hub: Hub,
    models: Path,
    reference: str,
    wish: FormatWish = "auto",
    quantization: str | None = None,
    revision: str = "main",
    kind: ModelKind | None = None,
    name: str | None = None,
) -> Offer:
    """Look up the model that a name or a repository stands for.

    Args:
        reference: A name of the catalogue, ``owner/name``, or one file of it, ``owner/name/FILE.gguf``.
        wish: The format; ``auto`` takes GGUF if there is some.
        quantization: Quantization of a GGUF file.
        kind: Use of the model; None takes the catalogue's word, or the files'.
        name: Name to install it under.

    Raises:
        ModelNotFound: The catalogue has no such name.
        InvalidOption: The format and the quantization contradict each other, or the name cannot be one.
        HubError: The hub does not know it, or cannot be asked.
    """
    from engine.hub.download import DownloadPlan

    known: CatalogueModel | None
    one = _FILE.fullmatch(reference)
    if one or REPO.fullmatch(reference):
        repo = one[1] if one else reference
        known = catalogue_model_of(repo)
    else:
        known = require_catalogue_model(reference)
        repo = known.safetensors_repo if wish == "safetensors" else known.gguf_repo
    targets = targets_of_head(repo)
    if targets:
        kind = kind or "head"
    listing = hub.listing(repo, revision)
    if one:
        listing = only_file(listing, one[2])
    chosen = choose_files(listing, wish, quantization, head=kind == "head")
    seeing = False
    if chosen.tower is not None:
        with suppress(AccessDenied):  # before its terms are accepted nothing can be fetched either
            seeing = hub.read_projector(repo, listing.commit, chosen.tower.name) in ANCHORS
    base: tuple[str, ...] = ()
    if any(file.name == ADAPTER_CONFIG for file in chosen.files):
        adapter = hub.read_config(repo, listing.commit, ADAPTER_CONFIG)
        base = base_of(adapter)
        if "num_special_tokens" in adapter:
            kind = kind or "head"
        else:
            check_adapter(adapter, repo)
    given, originals = _given_name(repo, chosen.quantization), _base(listing, known)
    if names_block_draft(chosen.files[-1].local_name):  # beside the model that it drafts for, or by itself
        given, base, originals, known = gguf_name(Path(chosen.files[-1].local_name)), (repo, *originals), (), None
        kind = kind or "head"
    plan = DownloadPlan(
        name=_install_name(models, name or given, repo, chosen.quantization),
        repo=repo,
        revision=revision,
        commit=listing.commit,
        format=chosen.format,
        files=chosen.files_with(seeing),
        quantization=chosen.quantization,
        kind=kind,
        catalogue_name=known.name if known else None,
        base=originals,
        belongs_to=_belongs_to(known, targets) or base,
        licence=listing.licence or (known.licence if known else None),
    )
    return Offer(
        plan=plan,
        gated=listing.gated,
        page=f"{hub.endpoint}/{repo}",
        alternatives=chosen.alternatives,
        drafts=(*(f"{repo}/{file}" for file in chosen.drafts), *((*known.drafts, *known.heads) if known else ())),
    )


def _base(listing: Listing, known: CatalogueModel | None) -> tuple[str, ...]:
    """Return the repositories of the quantized original: by the catalogue, and by the card's own word."""
    tagged = [tag.rpartition(":")[2] for tag in listing.tags if tag.startswith("base_model:quantized:")]
    stated = [known.safetensors_repo] if known and known.safetensors_repo != listing.repo else []
    return tuple(dict.fromkeys([*stated, *tagged]))


def _belongs_to(known: CatalogueModel | None, targets: tuple[CatalogueModel, ...]) -> tuple[str, ...]:
    """Return a draft's targets: a head's, or the larger models that the catalogue names a small one for."""
    if known is not None:
        targets += tuple(model for model in catalogue() if known.name in model.drafts)
    return tuple(dict.fromkeys(model.safetensors_repo for model in targets))


def _given_name(repo: str, quantization: str | None) -> str:
    """Return a folder's name for a repository: its last part, with the quantization in place of GGUF."""
    name = re.sub(r"[-_.]gguf$", "", repo.rpartition("/")[2], flags=re.IGNORECASE)
    return name if quantization is None else f"{name}-{quantization}"


def _install_name(models: Path, name: str, repo: str, quantization: str | None) -> str:
    """Return the name, with the owner before it if another model has it already."""
    if not name.strip() or name.startswith(".") or _NAME.search(name) or name != name.strip():
        raise InvalidOption(
            "A model cannot be called {name}: use letters, digits, spaces and . _ + - alone.", name=repr(name)
        )
    check_name(name)
    taken = {folder.name.casefold(): folder for folder in models.glob("[!.]*/")}
    folder = taken.get(name.casefold())
    if folder is None:
        return name
    try:
        record = read_record(folder)
    except CheckpointError:
        record = None
    if record is not None and (record.repo, record.quantization) == (repo, quantization):
        return folder.name
    return f"{repo.partition('/')[0]}--{name}"


def find_or_outline(reference: str, hub: Hub | None = None) -> Path:
    """Return the folder of an installed model, else one in the cache with config.json and an index with the size.

    Args:
        reference: A reference of `find_model`, a name of the catalogue, or a repository.
        hub: Hub to ask for sizes and for configs that the catalogue does not have; None asks nobody.

    Raises:
        ModelNotFound: Nobody knows it.
        HubError: The hub has to be asked and cannot be.
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
    """Return the bytes that fetching the model brings, by its outline, or None if the place is no outline."""
    try:
        index = read_json(read_text_file(place / _INDEX))
        return int(index["metadata"]["total_size"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _written(
    folder: Path, config: dict[str, Any], size_bytes: int, quantization: str | None, tower_bytes: int = 0
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", config)
    metadata = {"total_size": size_bytes, "quantization": quantization, "tower_bytes": tower_bytes}
    index = {"metadata": metadata, "weight_map": {}}
    write_json(folder / _INDEX, index)
    return folder


@cache
def _spare_folder() -> Path:
    """Make a folder in place of the cache, until this process ends."""
    folder = Path(mkdtemp(prefix="tenon-outlines-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


#: Config, size, quantization, and size of the encoder of pictures among it.
_Outline = tuple[dict[str, Any], int, str | None, int]


def _known(model: CatalogueModel, reference: str, hub: Hub | None) -> _Outline:
    """Return what the catalogue says; the hub's sizes are better if it answers."""
    if hub is not None:
        try:
            plan = make_offer(hub, models_folder(), reference).plan
            return config_of(model), plan.size_bytes, plan.quantization, plan.tower_bytes
        except HubError:
            pass
    if not model.own_type and (reference == model.safetensors_repo or not model.is_quantized):
        return config_of(model), model.typical_bytes(quantized=False), None, 0
    return config_of(model), model.typical_bytes(), model.own_type or DEFAULT_QUANTIZATION, 0


def _asked(repo: str, hub: Hub | None) -> _Outline:
    """Return what the repository's own config.json says, or that of its base model."""
    assert hub is not None
    plan = make_offer(hub, models_folder(), repo).plan
    for source, commit in ((repo, plan.commit), *((base, "main") for base in plan.base)):
        try:
            return hub.read_config(source, commit), plan.size_bytes, plan.quantization, plan.tower_bytes
        except NotOnHub:
            continue
    raise NotOnHub("{repo} says nothing of the model's shape before it is downloaded: get it first.", repo=repo)


def config_of(model: CatalogueModel) -> dict[str, Any]:
    """Return a config.json of a model of the catalogue, as far as its size needs it."""
    part = SUPPORTED[model.config["architectures"][0]].text_config
    if part is None:
        return dict(model.config)
    shape = {key: value for key, value in model.config.items() if key not in ("architectures", "model_type")}
    return {
        "architectures": model.config["architectures"],
        "model_type": model.config["model_type"],
        part: shape,
    }
