"""Folders of safetensors of every family, copied to GGUF: transformers' logits, and the tokens of a text."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from engine.errors import UnsupportedModel
from engine.gguf.header import read_header
from engine.gguf.stored_tensor import BF16, F32, Part, StoredTensor, usual_type
from engine.hub.record import MeasuredLoss
from engine.model_file import OpenedModel, open_model
from engine.quantizing.convert import CopyRequest, convert, prepare
from engine.quantizing.copy_file import plan_copy, write_copy
from engine.quantizing.folder import differences, from_folder
from engine.weights.encodings import Scaled, nearest
from tests.engine.gguf.test_gguf_families import CHANGES, PROMPT
from tests.engine.weights.test_adapters import factors, write_peft
from tests.support.checkpoints import reference_model, save, train_tokenizer, write_checkpoint
from tests.support.decoders import load_decoder
from tests.support.fast_cases import families
from tests.support.quantized_checkpoints import FORMATS, write_quantized


def copied(folder: Path, target: Path, to: str = "f32") -> OpenedModel:
    """Copy a folder without a change of its numbers."""
    opened = OpenedModel(str(folder), folder)
    original = from_folder(opened)
    write_copy(original, plan_copy(original, to, False), {}, target, lambda done, total: None, lambda: None)
    copy = OpenedModel(str(target), target)
    assert differences(opened.config, copy.config) == ""
    return copy


def calibrated(folder: Path, to: str) -> MeasuredLoss:
    """Make a copy beside a model as the command does, and return its loss."""
    text = folder.with_name("text.txt")
    text.write_text("A language model guesses the next token of a text. " * 60, encoding="utf-8")
    return convert(CopyRequest(str(folder), to, folder.with_suffix(".gguf"), None, text), lambda *step: None).loss


@pytest.mark.parametrize("variant", families(CHANGES))
@torch.no_grad()
def test_a_copy_gives_the_logits_of_transformers(variant: str, tmp_path: Path) -> None:
    model = reference_model(variant, **CHANGES[variant])
    save(model, tmp_path / "folder")
    tokenizer = train_tokenizer()
    tokenizer.save_pretrained(tmp_path / "folder")
    copy = copied(tmp_path / "folder", tmp_path / "model.gguf")
    decoder = load_decoder(tmp_path / "model.gguf")
    cache = decoder.new_cache(len(PROMPT))
    cache.begin(len(PROMPT))
    ours = decoder.forward(PROMPT, torch.arange(len(PROMPT)), cache).logits
    torch.testing.assert_close(ours, model(PROMPT[None]).logits[0], atol=1e-4, rtol=1e-4)
    text = "A model guesses, 12 times: <|im_start|>Être!"
    assert copy.tokenizer.encode(text) == tokenizer(text)["input_ids"]
    assert copy.templates


@pytest.mark.parametrize(
    ("name", "to"), [("fp8-block", "q4_k_m"), ("int8-bitsandbytes", "iq4_xs"), ("fp8-block", "q8_0")]
)
def test_a_copy_of_eight_bits_is_made_of_the_numbers_they_stand_for(name: str, to: str, tmp_path: Path) -> None:
    save(write_quantized(tmp_path / "eight", FORMATS[name]), tmp_path / "plain")
    found = []
    for folder in (tmp_path / "eight", tmp_path / "plain"):
        train_tokenizer().save_pretrained(folder)
        header = read_header(copied(folder, folder.with_suffix(".plain.gguf"), to).place)
        raw = header.path.read_bytes()
        found.append({one.name: (one.kind, raw[one.start : one.stop]) for one in header.tensors.values()})
    assert found[0] == found[1]
    loss = calibrated(tmp_path / "eight", to)
    assert loss.kl < 0.05
    assert loss.kl == pytest.approx(calibrated(tmp_path / "plain", to).kl, rel=0.3)


def test_a_merged_adapter_is_in_the_copy(tmp_path: Path) -> None:
    base = write_checkpoint(tmp_path / "base", "llama", dtype=torch.bfloat16, hidden_size=256, head_dim=64)
    changed = factors(base)
    adapter = write_peft(tmp_path / "adapter", changed, base=str(base))
    loss = calibrated(adapter, "q8_0")
    assert loss.kl < 0.05
    copy, own = OpenedModel("copy", tmp_path / "adapter.gguf"), open_model(str(adapter))
    for module in changed:
        name = f"{module}.weight"
        torch.testing.assert_close(copy.checkpoint.tensor(name), own.checkpoint.tensor(name).float(), atol=0.02, rtol=0)


@pytest.mark.parametrize("name", ["nf4", "awq", "int4"])
def test_fewer_bits_of_others_are_refused(name: str, tmp_path: Path) -> None:
    write_quantized(tmp_path, FORMATS[name])
    train_tokenizer().save_pretrained(tmp_path)
    with pytest.raises(UnsupportedModel, match=r"is quantized already .* a copy of a copy loses twice"):
        prepare(CopyRequest(str(tmp_path), "q2_k"))


def test_matrices_of_many_widths_count_together_as_one_kind(tmp_path: Path) -> None:
    """Each has a scale for a row, so that the bits of a weight differ by its width."""
    tensors = [StoredTensor("plain", tmp_path, 0, 12800, BF16, (100, 64))]
    for columns in (32, 64, 96):
        shape = (5000 // columns, columns)
        codes, scales = Part(tmp_path, 0, torch.float8_e4m3fn, shape), Part(tmp_path, 0, torch.float32, (shape[0], 1))
        eight = Scaled((codes, scales), shape, nearest(columns), columns)
        tensors.append(StoredTensor("eight", tmp_path, 0, 4 * math.prod(shape), F32, shape, encoding=eight))
    kind, bits = usual_type(tensors)
    assert kind == F32
    assert bits == pytest.approx(8 + (1 + 0.5 + 1 / 3) * 32 / 96, rel=0.01)
