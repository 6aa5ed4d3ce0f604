"""Tiny random checkpoints of the families, as folders and as GGUF files that llama.cpp's own converter wrote."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from filelock import FileLock
from gguf import TokenType
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, processors
from transformers import PreTrainedTokenizerFast

import engine.gguf.tokenizer
import tests.support.checkpoints
from engine.gguf.header import read_header
from engine.gguf.tokenizer import read_tokenizer
from tests.published.families import FAMILIES, Family
from tests.support.checkpoints import muse_glimmer, reference_model, save
from tests.support.fetched import folder as fetched
from tests.support.next_layers import write_with_next_layer
from tests.support.real_models import real_model

_CONVERTER = Path(__file__).with_name("converter.py")
_MADE_BY = [
    *(Path(__file__), _CONVERTER, Path(__file__).with_name("families.py")),
    *(Path(str(module.__file__)) for module in (tests.support.checkpoints, engine.gguf.tokenizer)),
]
# Rows of an embedding are padded to a multiple of it, as most models' are.
_ROWS = 64
# Tokens of a vocabulary that is not whole: they are its most frequent ones.
_SHORT = 8192
# Prompts with tools are long where few merges shorten them.
_CONTEXT_LENGTH = 2048


def vocabulary_file(family: Family, llama_cpp: Path) -> Path | None:
    """The GGUF file with a family's vocabulary; None where it is not here."""
    if family.vocabulary == "smollm2":
        return real_model()
    return llama_cpp / "models" / f"ggml-vocab-{family.vocabulary}.gguf"


def _vocabulary(file: Path, short: bool) -> dict[str, Any]:
    """Read a vocabulary without the tokens that fill it up.

    Args:
        file: A GGUF file.
        short: Leave its first tokens, and those with which any text is spelled.
    """
    metadata = dict(read_header(file).metadata)
    names, kinds = metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.token_type"]
    kept = [
        index
        for index, text in enumerate(names)
        if not text.startswith("[PAD")
        and (not short or index < _SHORT or kinds[index] != TokenType.NORMAL or len(text) == 1)
    ]
    for key in ("tokens", "token_type", "scores"):
        if values := list(metadata.get(f"tokenizer.ggml.{key}", ())):
            metadata[f"tokenizer.ggml.{key}"] = [values[index] for index in kept]
    ids = {old: new for new, old in enumerate(kept)}
    for key in [key for key in metadata if key.endswith("_token_id")]:
        metadata[key] = ids[metadata[key]]
    if (merges := metadata.get("tokenizer.ggml.merges")) is not None:
        known = set(metadata["tokenizer.ggml.tokens"])
        metadata["tokenizer.ggml.merges"] = [
            merge for merge in merges if known.issuperset([*merge.split(" "), merge.replace(" ", "")])
        ]
    return metadata


def write_folder(family: Family, metadata: dict[str, Any], llama_cpp: Path, folder: Path) -> None:
    """Write a family's checkpoint with a vocabulary."""
    metadata["tokenizer.ggml.add_bos_token"] = False
    if family.pre is not None:
        metadata["tokenizer.ggml.pre"] = family.pre
    if family.variant.startswith("gemma"):
        metadata["tokenizer.ggml.add_space_prefix"] = False
    names, kinds = metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.token_type"]
    backend, template = read_tokenizer(metadata)[0], metadata.get("tokenizer.chat_template")
    backend.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in family.special])
    backend.add_tokens([AddedToken(text, normalized=False) for text in family.plain])
    ids = backend.get_vocab()
    if family.start:
        backend.post_processor = processors.TemplateProcessing(
            single=[family.start, "$A"], special_tokens=[(family.start, ids[family.start])]
        )
    rows = max(len(names), -(-(max(ids.values()) + 1) // _ROWS) * _ROWS)
    if family.template:
        place = llama_cpp / "models" / "templates" / family.template
        template = place.read_text(encoding="utf-8") if family.template.endswith(".jinja") else family.template
    start = {"bos_token": family.start} if family.start else {}
    added = backend.get_added_tokens_decoder().values()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        eos_token=family.end,
        extra_special_tokens=[token.content for token in added if token.special],
        clean_up_tokenization_spaces=False,
        **start,
    )
    tokenizer.chat_template = template
    changes = {
        "vocab_size": rows,
        "max_position_embeddings": _CONTEXT_LENGTH,
        "pad_token_id": None,
        "eos_token_id": ids[family.end],
        **family.changes,
    }
    if "per_layer" in str(family.variant) or "inputs" in family.variant:
        changes["vocab_size_per_layer_input"] = rows
    if family.start:
        changes["bos_token_id"] = ids[family.start]
    if family.next_layer:
        write_with_next_layer(folder, family.variant, "qwen", **changes)
        tensors = {name: part.bfloat16() for name, part in load_file(folder / "model.safetensors").items()}
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    else:
        is_muse = family.variant == "muse-glimmer"
        model = muse_glimmer(**changes) if is_muse else reference_model(family.variant, **changes)
        save(model, folder, torch.bfloat16, None)
    tokenizer.save_pretrained(folder)
    ends = [ids[text] for text in family.ends]
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": ends}), encoding="utf-8")
    if "tokenizer.ggml.scores" in metadata and "tokenizer.ggml.merges" not in metadata:
        pieces = list(zip(names, metadata["tokenizer.ggml.scores"], kinds, strict=True))
        pieces += [(text, -1000.0, TokenType.CONTROL) for text in family.special]
        (folder / "tokenizer.model").write_text(json.dumps(pieces), encoding="utf-8")


def _convert(jobs: Sequence[dict[str, Any]], llama_cpp: Path, work: Path) -> None:
    """Let llama.cpp's converter write a GGUF file for each folder."""
    (work / "jobs.json").write_text(json.dumps(jobs), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(_CONVERTER), str(llama_cpp), str(work / "jobs.json")],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]


@dataclass(frozen=True)
class Written:
    """A family's checkpoint: the folder, and the GGUF file that llama.cpp's converter made of it."""

    folder: Path
    gguf: Path


def written(llama_cpp: Path, names: Collection[str]) -> dict[str, Written]:
    """Return the checkpoints of families whose vocabulary is here, and write those that nobody asked for before.

    They are kept until something that makes them is changed twice: another clone with other tests may read those
    before them meanwhile.
    """
    digest = hashlib.sha256()
    for made_by in _MADE_BY:
        digest.update(made_by.read_bytes())
    digest.update(transformers.__version__.encode())
    place = fetched() / f"families-{digest.hexdigest()[:16]}"
    found = {name: Written(place / name, place / f"{name}.gguf") for name in FAMILIES if name in names}
    with FileLock(fetched() / ".families.lock"):
        if not place.is_dir():
            for older in sorted(fetched().glob("families-*"), key=lambda one: one.stat().st_mtime)[:-1]:
                shutil.rmtree(older)
            place.mkdir()
        missing = [name for name, family in found.items() if not family.gguf.is_file()]
        with tempfile.TemporaryDirectory(prefix=".families-", dir=fetched()) as made:
            for name in _write(llama_cpp, missing, Path(made)):
                shutil.rmtree(found[name].folder, ignore_errors=True)
                (Path(made) / name).rename(found[name].folder)
                (Path(made) / found[name].gguf.name).rename(found[name].gguf)
        os.utime(place)
    return {name: family for name, family in found.items() if family.gguf.is_file()}


def _write(llama_cpp: Path, names: Iterable[str], place: Path) -> list[str]:
    jobs = []
    for name in names:
        family = FAMILIES[name]
        file = vocabulary_file(family, llama_cpp)
        if file is None:
            continue
        metadata = _vocabulary(file, not family.whole)
        pre = family.pre or (None if family.whole else metadata.get("tokenizer.ggml.pre"))
        write_folder(family, metadata, llama_cpp, place / name)
        jobs.append({"folder": str(place / name), "out": str(place / f"{name}.gguf"), "pre": pre})
    if jobs:
        _convert(jobs, llama_cpp, place)
    return [Path(job["folder"]).name for job in jobs]
