"""Rows of ik_llama.cpp's types against its own library, and woven rows, which are put in order as a file is read."""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.gguf import woven
from engine.gguf.stored_tensor import StoredTensor
from engine.gguf.types import GgmlType
from engine.gguf.woven import PLAIN_OF, put_in_order, unwoven
from engine.kernels import blocks
from engine.weights import direct_reader
from engine.weights.direct_reader import read_pieces, read_rows
from engine.weights.watched_file import WatchedFile

#: CRC-32 of 32 rows of 512 numbers that ``dequantize_row_*`` of ik_llama.cpp (its wheel 0.1.5) makes of `_wild`, after
#: NaN and minus zero became zero. IQ6_K has none: its rows are a cubic in floats there, and its products go by a table.
_THEIRS = {
    **{"IQ2_K": 0x8B0B4B8E, "IQ3_K": 0x6D601623, "IQ4_K": 0x7BA80744, "IQ5_K": 0xD45BD31C, "IQ2_KS": 0xCCDA917D},
    **{"IQ3_KS": 0xA6F6EC58, "IQ4_KS": 0x273CB555, "IQ4_KSS": 0x2CEE720B, "IQ5_KS": 0x804AE306},
    **{"Q4_0_R8": 0x4D9BC38A, "Q5_0_R4": 0x0C133A47, "Q8_0_R8": 0x59193850, "Q2_K_R4": 0xCD340019},
    **{"Q3_K_R4": 0x771D0339, "Q4_K_R4": 0xCC11BAD0, "Q5_K_R4": 0x783B89E0, "Q6_K_R4": 0x3370AE62},
    **{"IQ2_XXS_R4": 0x1BADCA05, "IQ2_XS_R4": 0x32DE4350, "IQ3_XXS_R4": 0xDB7790D1, "IQ4_NL_R4": 0x8D03A9B9},
    **{"IQ3_S_R4": 0xD5EF5522, "IQ2_S_R4": 0x8C030E95, "IQ4_XS_R8": 0xE37CE949, "IQ2_K_R4": 0x90F2C2DD},
    **{"IQ3_K_R4": 0xA1709BFE, "IQ4_K_R4": 0x9F666B53, "IQ5_K_R4": 0x2CC94DD4, "IQ4_KS_R4": 0x88F8D4E4},
    **{"IQ5_KS_R4": 0x0779F835},
}


def _wild(kind: GgmlType) -> Tensor:
    """Bytes of 32 rows of 512 numbers, those of rows that belong together in a line."""
    lines, size = 32 // kind.rows_together, kind.rows_together * kind.row_bytes(512)
    found = np.frombuffer(hashlib.shake_128(kind.name.encode()).digest(lines * size), np.uint8)
    return torch.from_numpy(found.reshape(lines, size).copy())


@pytest.mark.parametrize("name", _THEIRS)
def test_rows_equal_those_of_ik_llama_cpp(name: str) -> None:
    kind, raw = GgmlType[name], _wild(GgmlType[name])
    raw = unwoven(kind, raw) if kind in PLAIN_OF else raw
    found = blocks.dequantize(int(PLAIN_OF.get(kind, kind)), raw, 512).numpy()
    found = np.where(np.isnan(found) | (found == 0), np.float32(0), found)
    assert zlib.crc32(found.tobytes()) == _THEIRS[name]


def test_mxfp4_is_woven_as_q4_0_is() -> None:
    """The wheel has no function of it: exponents of eight rows, then four bytes of each row, codes as in Q4_0_R8."""
    raw = _wild(GgmlType.MXFP4_R8)
    blocks_of_eight = raw.view(4, 16, 8 * 17)
    scales = torch.zeros(4, 16, 16, dtype=torch.uint8)
    like = unwoven(GgmlType.Q4_0_R8, torch.cat((scales, blocks_of_eight[..., 8:]), -1).flatten(1)).view(32, 16, 18)
    exponents = blocks_of_eight[..., :8].transpose(1, 2).reshape(32, 16, 1)
    assert torch.equal(unwoven(GgmlType.MXFP4_R8, raw).view(32, 16, 17), torch.cat((exponents, like[..., 2:]), -1))


@pytest.mark.parametrize("kind", PLAIN_OF)
def test_woven_rows_are_read_in_order(kind: GgmlType, tmp_path: Path) -> None:
    """A tensor behind other bytes, by pieces, and by rows anywhere."""
    raw = _wild(kind)
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF+" + raw.numpy().tobytes())
    stored = StoredTensor("w", path, 5, raw.numel(), int(kind), (32, 512))
    ordered, whole = put_in_order(stored), unwoven(kind, raw)
    assert (ordered.kind, ordered.size_bytes) == (int(PLAIN_OF[kind]), whole.numel())
    files = {path: WatchedFile(path)}
    pieces = list(read_pieces(files, [ordered], lambda: None, 32))
    assert torch.equal(torch.cat([piece.raw for piece in pieces]), whole.flatten())
    for first, count in ((0, 1), (3, 2), (8, 8), (13, 19)):
        assert torch.equal(read_rows(files, ordered, first, count), whole[first : first + count].flatten())


@pytest.mark.parametrize("multiple", [1, 32])
def test_each_woven_row_is_put_in_order_once(multiple: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows are made at a time, whose number comes from their columns."""
    raw, lines = _wild(GgmlType.Q8_0_R8), []
    path = tmp_path / "model.gguf"
    path.write_bytes(raw.numpy().tobytes())

    def counted(kind: GgmlType, some: Tensor) -> Tensor:
        lines.append(len(some))
        return unwoven(kind, some)

    monkeypatch.setattr(woven, "unwoven", counted)
    monkeypatch.setattr(direct_reader, "_MADE_NUMBERS", 13 * 512)
    monkeypatch.setattr(direct_reader, "PIECE_BYTES", 20 * GgmlType.Q8_0.row_bytes(512))
    ordered = put_in_order(StoredTensor("w", path, 0, raw.numel(), int(GgmlType.Q8_0_R8), (32, 512)))
    pieces = read_pieces({path: WatchedFile(path)}, [ordered], lambda: None, multiple)
    assert torch.equal(torch.cat([piece.raw.clone() for piece in pieces]), unwoven(GgmlType.Q8_0_R8, raw).flatten())
    assert sum(lines) == 4
