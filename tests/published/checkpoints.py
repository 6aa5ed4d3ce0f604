"""Tiny random checkpoints of the families, as folders and as GGUF files that llama.cpp's own converter wrote."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from filelock import FileLock
from gguf import TokenType
from tokenizers import AddedToken, processors
from transformers import PreTrainedTokenizerFast

import engine.gguf.pre_tokenizers
import engine.gguf.tokenizer
import tests.support.checkpoints
from engine.gguf.header import read_header
from engine.gguf.tokenizer import read_tokenizer
from tests.published.families import FAMILIES, Family
from tests.support.checkpoints import reference_model, save
from tests.support.fetched import folder as fetched
from tests.support.real_models import real_model

_CONVERTER = Path(__file__).with_name("converter.py")
_MADE_BY = [
    *(Path(__file__), _CONVERTER, Path(__file__).with_name("families.py")),
    *(
        Path(str(module.__file__))
        for module in (tests.support.checkpoints, engine.gguf.tokenizer, engine.gguf.pre_tokenizers)
    ),
]
# Rows of an embedding are padded to a multiple of it, as most models' are.
_ROWS = 64


def vocabulary_file(family: Family, llama_cpp: Path) -> Path | None:
    """The GGUF file with a family's vocabulary; None where it is not here."""
    if family.vocabulary == "smollm2":
        return real_model()
    return llama_cpp / "models" / f"ggml-vocab-{family.vocabulary}.gguf"


def write_folder(family: Family, vocabulary: Path, llama_cpp: Path, folder: Path) -> Any:
    """Write a family's checkpoint; the model in transformers."""
    metadata = dict(read_header(vocabulary).metadata)
    metadata["tokenizer.ggml.add_bos_token"] = False
    if family.pre is not None:
        metadata["tokenizer.ggml.pre"] = family.pre
    if family.variant.startswith("gemma"):
        metadata["tokenizer.ggml.add_space_prefix"] = False
    names, kinds = metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.token_type"]
    backend, _, template = read_tokenizer(metadata)
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
        template = (
            place.read_text(encoding="utf-8") if family.template.endswith(".jinja") else family.template
        )
    start = {"bos_token": family.start} if family.start else {}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token=family.end, clean_up_tokenization_spaces=False, **start
    )
    tokenizer.chat_template = template
    changes = {"vocab_size": rows, "pad_token_id": None, "eos_token_id": ids[family.end], **family.changes}
    if "per_layer" in str(family.variant) or "inputs" in family.variant:
        changes["vocab_size_per_layer_input"] = rows
    if family.start:
        changes["bos_token_id"] = ids[family.start]
    model = reference_model(family.variant, **changes)
    save(model, folder, torch.bfloat16, None)
    tokenizer.save_pretrained(folder)
    ends = [ids[text] for text in family.ends]
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": ends}), encoding="utf-8")
    if "tokenizer.ggml.scores" in metadata and "tokenizer.ggml.merges" not in metadata:
        pieces = list(zip(names, metadata["tokenizer.ggml.scores"], kinds, strict=True))
        pieces += [(text, -1000.0, TokenType.CONTROL) for text in family.special]
        (folder / "tokenizer.model").write_text(json.dumps(pieces), encoding="utf-8")
    return model


def convert(jobs: Sequence[tuple[Family, Path, Path]], llama_cpp: Path, work: Path) -> None:
    """Let llama.cpp's converter write a GGUF file for each folder."""
    listed = [{"folder": str(folder), "out": str(out), "pre": family.pre} for family, folder, out in jobs]
    (work / "jobs.json").write_text(json.dumps(listed), encoding="utf-8")
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


def written(llama_cpp: Path) -> dict[str, Written]:
    """Every family's checkpoint whose vocabulary is here; kept until something that makes them is changed."""
    digest = hashlib.sha256()
    for made_by in _MADE_BY:
        digest.update(made_by.read_bytes())
    digest.update(transformers.__version__.encode())
    place = fetched() / f"families-{digest.hexdigest()[:16]}"
    with FileLock(fetched() / ".families.lock"):
        if not place.is_dir():
            for older in fetched().glob("families-*"):
                shutil.rmtree(older)
            with tempfile.TemporaryDirectory(prefix=".families-", dir=fetched()) as made:
                _write_all(llama_cpp, Path(made))
                Path(made).rename(place)
                Path(made).mkdir()
    found = {name: Written(place / name, place / f"{name}.gguf") for name in FAMILIES}
    return {name: family for name, family in found.items() if family.gguf.is_file()}


def _write_all(llama_cpp: Path, place: Path) -> None:
    jobs = []
    for name, family in FAMILIES.items():
        vocabulary = vocabulary_file(family, llama_cpp)
        if vocabulary is not None:
            write_folder(family, vocabulary, llama_cpp, place / name)
            jobs.append((family, place / name, place / f"{name}.gguf"))
    convert(jobs, llama_cpp, place)
