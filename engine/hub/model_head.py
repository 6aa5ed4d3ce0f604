"""Facts of a model that is here, read from the head of its file without a load, and kept for the next start."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.errors import TenonError
from engine.files import read_cached, read_text_file, write_cached
from engine.gguf.files import gguf_name
from engine.hub.installed import cache_folder
from engine.hub.titles import names_base, title_of_model
from engine.json_text import from_plain, read_json
from engine.sentences import either, say
from engine.weights.watched_file import identity

_VERSION = 3
# Names of installed models that a sentence has at most, and of models that see if none is installed.
_MOST_NAMED, _SEEING = 3, ("Gemma 3", "SmolVLM2")
# Files of a folder that decide on the facts.
_DECIDING = ("config.json", "tokenizer_config.json", "chat_template.jinja", "chat_template.json")


@dataclass(frozen=True)
class ModelHead:
    """Facts of a model."""

    type: str = ""  # quantization of a GGUF file, such as Q4_K_M, else the format of the files; empty if unknown
    context: int | None = None  # tokens of its longest text; None if unknown
    only_continues: bool = False  # True for a base model, which continues texts and was not made for chats
    sees: bool = False  # True if it takes pictures


def read_heads(places: list[Path]) -> dict[Path, ModelHead]:
    """Return the facts of models by their folders or files; one that cannot be read has none.

    A head is read once: 150,000 tokens take a quarter of a second.
    """
    path = cache_folder() / "model-heads.json"
    value = read_cached(path)
    kept: dict[str, Any] = value["heads"] if isinstance(value, dict) and value.get("version") == _VERSION else {}
    found, news = {}, False
    for place in places:
        key = f"{place} {_identity(place)}"
        try:
            found[place] = from_plain(ModelHead, kept[key])
        except (KeyError, ValueError):
            found[place], news = read_head(place), True
    if news:
        heads = {f"{place} {_identity(place)}": asdict(head) for place, head in found.items()}
        write_cached(path, {"version": _VERSION, "heads": heads})
    return found


def read_head(place: Path) -> ModelHead:
    """Return the facts of one model, as far as its files can be read."""
    # Imported here, because most starts of the window read no head.
    from engine.gguf.header import most_weights, quantization, read_header
    from engine.gguf.parts import all_parts, find_gguf, find_tower
    from engine.text.tokenizer import read_templates

    with suppress(TenonError, OSError, ValueError, TypeError, KeyError, AttributeError):
        gguf = find_gguf(place)
        if gguf is None:
            config = read_json(read_text_file(place / "config.json"))
            length = config.get("text_config", config).get("max_position_embeddings")
            return _head("safetensors", length, not read_templates(place) or names_base(place.name), _sees(config))
        headers = [read_header(part) for part in all_parts(gguf)]
        said = headers[0].metadata
        return _head(
            quantization(headers) or most_weights(headers).name,
            said.get(f"{said['general.architecture']}.context_length"),
            not read_templates(place) or names_base(f"{gguf_name(gguf)} {said.get('general.name', '')}"),
            sees_with(gguf, find_tower(gguf)),
        )
    return ModelHead()


def unseen(model: str, here: Sequence[str]) -> str:
    """Return a sentence that a model does not see pictures.

    Args:
        model: Its name or place.
        here: Titles of installed models that do; where there is none, it names some that can be fetched.
    """
    return say(
        "{model} does not see pictures: choose a model that does, such as {names}, or send the message without them.",
        model=title_of_model(model),
        names=either(here[:_MOST_NAMED] or _SEEING),
    )


def _sees(config: dict[str, Any]) -> bool:
    """Return whether a folder's model takes pictures."""
    from engine.families import SUPPORTED

    family = SUPPORTED.get((config.get("architectures") or [""])[0])
    return family is not None and bool(family.sights and config.get("vision_config"))


def sees_with(gguf: Path, tower: Path | None) -> bool:
    """Return whether a file's encoder turns pictures into the rows of a GGUF model.

    Raises:
        WeightsCorrupt: One of the files cannot be read.
    """
    from engine.families import GGUF, SUPPORTED
    from engine.gguf.header import read_header
    from engine.gguf.parts import projector_of
    from engine.text.pictures import names_pictures

    said = read_header(gguf).metadata
    form = GGUF.get(str(said.get("general.architecture")))
    if tower is None or form is None:
        return False
    projector = projector_of(read_header(tower).metadata)
    return projector in SUPPORTED[form.architecture].sights and names_pictures(said, projector)


def _head(type_: str, context: object, base: bool, sees: bool) -> ModelHead:
    return ModelHead(type_, context if isinstance(context, int) and context > 0 else None, base, sees)


def _identity(place: Path) -> str:
    stamps = []
    with suppress(OSError):
        files = [place / name for name in _DECIDING] if place.is_dir() else [place]
        files += sorted(
            (place if place.is_dir() else place.parent).glob("*.gguf" if place.is_dir() else "*mmproj*.gguf")
        )
        for file in filter(Path.exists, files):
            stamps.append((file.name, *identity(file.stat())))
    return repr(stamps)
