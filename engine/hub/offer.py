"""From what a person asks for to what would be downloaded: repository, files, sizes, terms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from engine.errors import CheckpointError, InvalidOption, UnsupportedModel
from engine.hub.bundled import check_name
from engine.hub.catalogue import (
    CatalogueModel,
    catalogue,
    catalogue_model_of,
    require_catalogue_model,
    targets_of_head,
)
from engine.hub.connection import Hub
from engine.hub.download.plan import DownloadPlan
from engine.hub.listing import Listing
from engine.hub.record import ModelKind, read_record
from engine.hub.selection import NO_PROMPT_TOKENS, FormatWish, base_of, choose_files
from engine.weights.draft_kind import ADAPTER_CONFIG

#: ``owner/name``.
REPO = re.compile(r"[\w.-]+/[\w.-]+")
_NAME = re.compile(r"[^\w.+ -]")


@dataclass(frozen=True)
class Offer:
    """A download that could be started.

    Attributes:
        plan: For the queue.
        gated: Terms have to be accepted first.
        page: Its address on the hub.
        alternatives: The quantizations there are, smallest first.
        drafts: Drafts that could be fetched along, smallest first: catalogue names and heads' repositories.
    """

    plan: DownloadPlan
    gated: bool
    page: str
    alternatives: tuple[str, ...] = ()
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
    """Look up what a name or a repository stands for.

    Args:
        hub: The hub.
        models: The folder of installed models.
        reference: A name of the catalogue, or ``owner/name``.
        wish: The format; ``auto`` takes GGUF where there is some.
        quantization: Of a GGUF file.
        revision: Branch, tag or commit.
        kind: Its use; None takes the catalogue's word, or the files'.
        name: To install it under.

    Raises:
        ModelNotFound: the catalogue has no such name.
        InvalidOption: the format and the quantization contradict each other, or the name cannot be one.
        HubError: the hub does not know it, or cannot be asked.
    """
    known: CatalogueModel | None
    if REPO.fullmatch(reference):
        repo, known = reference, catalogue_model_of(reference)
    else:
        known = require_catalogue_model(reference)
        repo = known.safetensors_repo if wish == "safetensors" else known.gguf_repo
    targets = targets_of_head(repo)
    if targets:
        kind = kind or "head"
    listing = hub.listing(repo, revision)
    chosen = choose_files(listing, wish, quantization, head=kind == "head")
    base: tuple[str, ...] = ()
    if any(file.name == ADAPTER_CONFIG for file in chosen.files):
        adapter = hub.read_config(repo, listing.commit, ADAPTER_CONFIG)
        if "num_special_tokens" not in adapter:
            raise UnsupportedModel(NO_PROMPT_TOKENS, place=repo)
        kind, base = kind or "head", base_of(adapter)
    plan = DownloadPlan(
        name=_install_name(models, name or _given_name(repo, chosen.quantization), repo, chosen.quantization),
        repo=repo,
        revision=revision,
        commit=listing.commit,
        format=chosen.format,
        files=chosen.files,
        quantization=chosen.quantization,
        kind=kind,
        catalogue_name=known.name if known else None,
        base=_base(listing, known),
        belongs_to=_belongs_to(known, targets) or base,
        licence=listing.licence or (known.licence if known else None),
    )
    return Offer(
        plan=plan,
        gated=listing.gated,
        page=f"{hub.endpoint}/{repo}",
        alternatives=chosen.alternatives,
        drafts=(*known.drafts, *known.heads) if known else (),
    )


def _base(listing: Listing, known: CatalogueModel | None) -> tuple[str, ...]:
    """Repositories of what was quantized: by the catalogue, and by the card's own word."""
    tagged = [tag.rpartition(":")[2] for tag in listing.tags if tag.startswith("base_model:quantized:")]
    stated = [known.safetensors_repo] if known and known.safetensors_repo != listing.repo else []
    return tuple(dict.fromkeys([*stated, *tagged]))


def _belongs_to(known: CatalogueModel | None, targets: tuple[CatalogueModel, ...]) -> tuple[str, ...]:
    """Whose draft it is: a head's targets; of a small model the larger ones that the catalogue names it for."""
    if known is not None:
        targets += tuple(model for model in catalogue() if known.name in model.drafts)
    return tuple(dict.fromkeys(model.safetensors_repo for model in targets))


def _given_name(repo: str, quantization: str | None) -> str:
    """A folder's name for a repository: its own last part, with the quantization in place of GGUF."""
    name = re.sub(r"[-_.]gguf$", "", repo.rpartition("/")[2], flags=re.IGNORECASE)
    return name if quantization is None else f"{name}-{quantization}"


def _install_name(models: Path, name: str, repo: str, quantization: str | None) -> str:
    """The name, with the owner before it where another model has it already."""
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
