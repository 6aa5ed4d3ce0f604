"""A smaller copy of a model from its request to its place among the installed ones."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from engine.errors import InvalidOption, UnsupportedModel
from engine.files import file_trouble, read_text_file
from engine.gguf.files import SUFFIX, gguf_name
from engine.gguf.mixtures import MIXTURES, PLAIN_TYPES
from engine.gguf.parts import find_gguf
from engine.hub.bundled import check_name
from engine.hub.installed import installed_models
from engine.hub.kept_list import held_alone
from engine.hub.local_import import check_free_name
from engine.hub.model_folders import INCOMING, models_folder
from engine.hub.model_move import arriving, models_held
from engine.hub.record import MeasuredLoss, ModelFile, ModelRecord, sha256_of, write_record
from engine.kernels import blocks, library
from engine.model.decoder import Decoder
from engine.model.footprint import weight_bytes
from engine.model.packed_loader import load_packed
from engine.model.weight_format import stored_format
from engine.model_file import OpenedModel, open_model
from engine.placement.resident import Resident
from engine.planning.hardware import available_memory_bytes
from engine.quantizing.copy_file import CopyPlan, check_free, no_room, plan_copy, write_copy
from engine.quantizing.folder import differences, from_folder
from engine.quantizing.original import Original, from_gguf
from engine.quantizing.reading import LayerByLayer, Loss, Text, loss_of, read_texts
from engine.sentences import figure
from engine.training.examples import requests
from engine.training.generation import Turn, Writer

CopyStep = Literal["replies", "reading", "writing", "measuring"]
#: Called with what is done, how much of it, and in all.
Progress = Callable[[CopyStep, int, int], None]
Check = Callable[[], None]

_WINDOW = 512
# Texts of a file that are read, and each how-manieth of them the loss is measured on.
_WINDOWS, _MEASURED = 24, 6
_LEAST_TOKENS = 64
# Replies, and tokens of each: of these the loss is measured on about 2,000.
_REPLIES, _REPLY_TOKENS, _COMPARED = 48, 128, 2000
_REPLY_WINDOW = 384
# Replies that are written at once: the cache has room for the longest of each.
_WIDTH = 16
# Share of the free memory that an original may take while it writes its replies.
_ROOM = 0.7
_STATE = "texts.safetensors"
_SAID_TYPE = re.compile(r"[-._](?:I?Q\d\w*|B?F16|F32|FP16|FP32)$", re.IGNORECASE)


@dataclass(frozen=True)
class CopyRequest:
    """Request for a copy of a model."""

    model: str  # its name, folder or file
    to: str  # a key of `MIXTURES`
    out: Path | None = None  # the file to write, or None for an installed model
    name: str | None = None  # name of the installed copy; None for the original's with the type
    calibrate: Path | None = None  # a text that decides what counts, or None for the model's own replies


@dataclass(frozen=True)
class Copied:
    """A copy that was written."""

    path: Path  # its file
    name: str
    size_bytes: int
    loss: MeasuredLoss
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Copying:
    """A copy as it would be."""

    opened: OpenedModel
    original: Original
    plan: CopyPlan
    name: str


def prepare(request: CopyRequest) -> Copying:
    """Check a request and plan the copy; nothing is written.

    Raises:
        TenonError: There is no such model or type, the model cannot be copied, or its name is taken.
    """
    if request.to not in MIXTURES:
        raise InvalidOption(
            "There is no type {name}: choose one of {names}.", name=repr(request.to), names=", ".join(MIXTURES)
        )
    if library.loaded() is None:
        raise UnsupportedModel(
            "This computer has no kernel library, which writes smaller copies: {reason}", reason=library.reason()
        )
    opened = open_model(request.model)
    in_gguf = find_gguf(opened.place) is not None
    if in_gguf and opened.checkpoint.converts:
        raise UnsupportedModel(
            "{name} has an adapter, which a copy of a GGUF file cannot take: name the model without it, or its "
            "safetensors.",
            name=_name_of(opened),
        )
    original = from_gguf(opened) if in_gguf else from_folder(opened)
    _check_bits(opened, request.to)
    name = request.name or f"{_SAID_TYPE.sub('', _name_of(opened))}-{request.to.upper()}"
    if request.out is not None:
        if request.out.exists():
            raise InvalidOption(
                "There is a file {path} already: remove it first, or choose another name.", path=request.out
            )
        if request.out.suffix.lower() != SUFFIX:
            raise InvalidOption("The copy is a GGUF file: give it a name that ends in .gguf.")
    else:
        if Path(name).name != name or name.startswith(".") or not name.strip():
            raise InvalidOption("A model cannot be called {name}: choose another name.", name=repr(name))
        check_name(name)
        check_free_name(models_folder(), name)
    return Copying(opened, original, plan_copy(original, request.to, weighed=_weighs(request.to)), name)


def convert(request: CopyRequest, progress: Progress, check: Check = lambda: None) -> Copied:
    """Write a copy, measure its loss, and install it, or put it where it was asked for.

    A copy that was interrupted goes on where it stopped.

    Args:
        progress: Called as it goes on.
        check: Called often; an exception that it raises ends the work, which the same call goes on with.

    Raises:
        TenonError: As `prepare`, or a file cannot be read or written.
    """
    copying = prepare(request)
    opened, plan = copying.opened, copying.plan
    with _place(request, copying) as folder:
        check_free(plan, folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise file_trouble(error, folder) from error
        measuring, hidden, importance = _texts(request, copying, folder, progress, check)
        path = folder / f"{'copy' if request.out is not None else copying.name}{SUFFIX}"
        if not opened.checkpoint.from_gguf:
            _check_form(copying, folder / f".form{SUFFIX}")
        write_copy(
            copying.original, plan, importance, path, lambda done, total: progress("writing", done, total), check
        )
        own = OpenedModel(str(path), path)
        loss = loss_of(
            (opened.checkpoint, opened.config),
            (own.checkpoint, own.config),
            measuring,
            hidden,
            lambda done, total: progress("measuring", done, total),
            check,
        )
        return _finish(request, copying, path, loss)


def discard(request: CopyRequest) -> None:
    """Remove what is left of a copy that was interrupted."""
    with _place(request, prepare(request)) as folder:
        shutil.rmtree(folder, ignore_errors=True)


def _weighs(to: str) -> bool:
    return MIXTURES[to][1] not in (*PLAIN_TYPES, "Q8_0")


def _name_of(opened: OpenedModel) -> str:
    """Return the model's name: that of its installed folder, else of its file or folder."""
    for model in installed_models():
        if model.location.resolve() == opened.place:
            return model.name
    first = find_gguf(opened.place)
    return opened.place.name if first is None else gguf_name(first)


def _check_bits(opened: OpenedModel, to: str) -> None:
    """Refuse a copy in more bits than the original has, or of quantized weights: those of a folder may have 8 bits.

    Raises:
        UnsupportedModel: The original is quantized.
        InvalidOption: The copy would have more bits.
    """
    have, wanted, name = opened.checkpoint.plain_bits, _bits(MIXTURES[to][1]), _name_of(opened)
    if have is None:
        raise UnsupportedModel(
            "{name} is quantized already ({type}), and a copy of a copy loses twice: convert the original model, whose "
            "weights are F16, BF16 or F32.",
            name=name,
            type=opened.config.quantization,
        )
    if wanted > max(have, _bits("Q8_0")):  # whose scales take half a bit more than FP8's
        raise InvalidOption(
            "{name} has {have} bits for each weight, and {to} has {wanted}: more bits bring nothing back, so choose a "
            "smaller type.",
            name=name,
            have=figure(have, ".3g"),
            to=to,
            wanted=figure(wanted, ".3g"),
        )


def _bits(kind: str) -> float:
    """Return the bits of a weight of a type."""
    if kind == "F32":
        return 32.0
    elements, size_bytes = blocks.block_of(blocks.NAMES[kind])
    return 8 * size_bytes / elements


def _check_form(copying: Copying, path: Path) -> None:
    """Refuse a copy that would be read as another model; its file is tried without weights, which takes no room.

    Raises:
        UnsupportedModel: A value is lost on the way.
    """
    plan = copying.plan
    try:
        with path.open("wb") as file:
            file.write(plan.head)
            for tensor, place in zip(plan.tensors, plan.places, strict=True):
                if tensor.given is not None:
                    file.seek(place.start)
                    file.write(tensor.given.float().contiguous().numpy().tobytes())
            file.truncate(plan.size_bytes)
        lost = differences(copying.opened.config, OpenedModel(str(path), path).config)
    finally:
        path.unlink(missing_ok=True)
    if lost:
        raise UnsupportedModel(
            "A GGUF file of {name} would be read as another model ({field}), so no smaller copy of it can be written.",
            name=_name_of(copying.opened),
            field=lost,
        )


@contextmanager
def _place(request: CopyRequest, copying: Copying) -> Iterator[Path]:
    """Yield the folder of the unfinished copy, held alone.

    Raises:
        InvalidOption: Another thread or process holds it.
    """
    busy = InvalidOption("This copy is being made already: wait for it.")
    try:
        if request.out is not None:
            folder = request.out.with_name(f".{request.out.name}.part")
            request.out.parent.mkdir(parents=True, exist_ok=True)
            lock = folder.with_name(f"{folder.name}.lock")
            try:
                with held_alone(lock, busy):
                    yield folder
            finally:
                if not folder.exists():
                    lock.unlink(missing_ok=True)
        else:
            models = models_folder()
            name = f"copy-{copying.name}"
            with arriving(models, name, busy):
                yield models / INCOMING / name
    except OSError as error:
        raise file_trouble(error, request.out) from error


def _texts(
    request: CopyRequest, copying: Copying, folder: Path, progress: Progress, check: Check
) -> tuple[list[Text], list[Tensor], dict[str, Tensor]]:
    """Return texts that the loss is measured on with the original's rows for them, and the importance.

    They are kept in the folder, for a copy that is interrupted.
    """
    opened, kept = copying.opened, folder / _STATE
    given = "" if request.calibrate is None else _text_of(request.calibrate)
    told = f"{copying.original.digest} {hashlib.sha256(given.encode()).hexdigest()} {request.to}"
    try:
        return _read_state(kept, told)
    except (OSError, SafetensorError, KeyError, ValueError):
        pass
    if request.calibrate is None:
        calibrating, measuring = _own_replies(opened, progress, check)
    else:
        calibrating, measuring = _windows(opened, request.calibrate, given)
    weighs = _weighs(request.to)
    hidden, importance = read_texts(
        opened.checkpoint,
        opened.config,
        [*measuring, *(calibrating if weighs else ())],
        lambda done, total: progress("reading", done, total),
        check,
        watched=weighs,
    )
    hidden = hidden[: len(measuring)]
    tensors = {f"importance.{name}": one for name, one in importance.items()}
    for index, (text, rows) in enumerate(zip(measuring, hidden, strict=True)):
        tensors[f"hidden.{index}"] = rows.contiguous()
        tensors[f"ids.{index}"] = torch.tensor(text.ids)
        tensors[f"counts.{index}"] = torch.tensor(text.counts)
    try:
        save_file({name: one.clone() for name, one in tensors.items()}, kept, {"of": told})
    except (OSError, SafetensorError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise no_room(copying.plan, folder) from error
    return measuring, hidden, importance


def _read_state(path: Path, told: str) -> tuple[list[Text], list[Tensor], dict[str, Tensor]]:
    with safe_open(path, framework="pt") as file:
        if (file.metadata() or {})["of"] != told:
            raise ValueError("of another copy")
        names = set(file.keys())
        importance = {
            name.removeprefix("importance."): file.get_tensor(name) for name in names if name.startswith("importance.")
        }
        texts, hidden = [], []
        for index in range(sum(name.startswith("hidden.") for name in names)):
            ids, counts = (tuple(file.get_tensor(f"{part}.{index}").tolist()) for part in ("ids", "counts"))
            texts.append(Text(ids, counts))
            hidden.append(file.get_tensor(f"hidden.{index}"))
        return texts, hidden, importance


def _text_of(path: Path) -> str:
    try:
        return read_text_file(path)
    except (OSError, ValueError) as error:
        raise InvalidOption(
            "{path} cannot be read as text: give a text file in UTF-8.", path=path, details=str(error)
        ) from error


def _windows(opened: OpenedModel, path: Path, text: str) -> tuple[list[Text], list[Text]]:
    """Cut a file's text into windows, all over it: most decide what counts, and the loss is measured on others.

    Raises:
        InvalidOption: It is too short.
    """
    ids = opened.tokenizer.encode(text)
    if len(ids) < _LEAST_TOKENS:
        raise InvalidOption(
            "The text in {path} has {count} tokens, and at least {least} are needed: give a longer one.",
            path=path,
            count=len(ids),
            least=_LEAST_TOKENS,
        )
    pieces = [tuple(ids[start : start + _WINDOW]) for start in range(0, len(ids) - 1, _WINDOW)]
    pieces = [piece for piece in pieces if len(piece) > 1]
    chosen = [pieces[at] for at in np.unique(np.linspace(0, len(pieces) - 1, min(_WINDOWS, len(pieces))).astype(int))]
    texts = [Text(piece, (True,) * len(piece)) for piece in chosen]
    measuring = texts[::_MEASURED]
    others = [text for at, text in enumerate(texts) if at % _MEASURED]
    return others or measuring, measuring


def _own_replies(opened: OpenedModel, progress: Progress, check: Check) -> tuple[list[Text], list[Text]]:
    """Let the original reply, all chats side by side: the loss is measured on the first replies, the others decide."""
    config, checkpoint, tokenizer = opened.config, opened.checkpoint, opened.tokenizer
    weights = stored_format(config)
    progress("replies", 0, _REPLIES)
    if weight_bytes(config, weights) < _ROOM * available_memory_bytes():
        source: Resident | LayerByLayer = Resident(load_packed(checkpoint, config, weights, check=check))
    else:
        source = LayerByLayer(checkpoint, config, lambda done, total: None, check)
    longest = min(_REPLY_WINDOW, config.context_length)
    writer = Writer(Decoder(config, source), tokenizer.end_ids, longest, _WIDTH, check)

    def asked() -> Iterator[Sequence[Turn]]:
        for turns in requests(tokenizer, seed=1):
            check()
            yield [replace(turn, limit=min(turn.limit, _REPLY_TOKENS)) for turn in turns]

    found = []
    for example in writer.write(asked(), _REPLIES):
        if sum(example.learn) > 1:
            found.append(Text(example.ids, example.learn))
        progress("replies", len(found), _REPLIES)
    if not found:
        raise UnsupportedModel(
            "{name} writes nothing, so nothing shows what counts in it: give a text file to calibrate with.",
            name=_name_of(opened),
        )
    found.sort(key=lambda text: text.ids)  # in the same order whenever they end
    measuring, compared = [], 0
    for text in found:
        if compared >= _COMPARED:
            break
        measuring.append(text)
        compared += sum(text.counts)
    return found[len(measuring) :] or measuring, measuring


def _finish(request: CopyRequest, copying: Copying, path: Path, loss: Loss) -> Copied:
    """Put the copy in its place, with its record if it is to be installed."""
    text = "" if request.calibrate is None else request.calibrate.name
    measured = MeasuredLoss(round(loss.kl, 6), round(loss.same, 6), loss.tokens, text, _name_of(copying.opened))
    size_bytes, notes = path.stat().st_size, copying.original.notes
    for left in path.parent.iterdir():
        if left != path:
            left.unlink()
    if request.out is not None:
        path.replace(request.out)
        path.parent.rmdir()
        return Copied(request.out, request.out.stem, size_bytes, measured, notes)
    models = models_folder()
    original = next(
        (model.record for model in installed_models() if model.name == measured.original and model.record), None
    )
    record = ModelRecord(
        name=copying.name,
        kind="target",
        format="gguf",
        files=(ModelFile(path.name, size_bytes, sha256_of(path)),),
        quantization=request.to.upper(),
        base=(measured.original,) if original is None else tuple(filter(None, (original.repo, *original.base))),
        licence=None if original is None else original.licence,
        added=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        loss=measured,
    )
    write_record(path.parent, record)
    with models_held(models):
        check_free_name(models, copying.name)
        path.parent.replace(models / copying.name)
    return Copied(models / copying.name / path.name, copying.name, size_bytes, measured, notes)
