"""Tiny random checkpoints of the families, as folders and as GGUF files that llama.cpp's own converter wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from gguf import TokenType
from tokenizers import AddedToken, processors
from transformers import PreTrainedTokenizerFast

from engine.gguf.header import read_header
from engine.gguf.tokenizer import read_tokenizer
from tests.published.families import FAMILIES, Family
from tests.support.checkpoints import reference_model, save
from tests.support.real_models import real_model

_CONVERTER = Path(__file__).with_name("converter.py")
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
        template = place.read_text(encoding="utf-8") if family.template.endswith(".jinja") else family.template
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


__all__ = ["FAMILIES", "convert", "vocabulary_file", "write_folder"]
