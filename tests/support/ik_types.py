"""Types of ik_llama.cpp by their definition: ggml/src/iqk/iqk_quantize.cpp, ``dequantize_row_*``."""

from __future__ import annotations

import numpy as np

from engine.gguf.types import GgmlType

_TABLES = {
    "2": [-31, -13, 1, 17],
    "3": [-63, -40, -23, -10, 1, 13, 28, 47],
    "4": [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113],
    "5": [
        *(-126, -114, -103, -92, -83, -74, -65, -57, -50, -43, -36, -30, -24, -18, -12, -6),
        *(-1, 5, 11, 17, 23, 29, 36, 43, 51, 59, 68, 77, 87, 97, 109, 121),
    ],
    # The cubic by which ik_llama.cpp quantizes, rounded as its products have it.
    "6": [round(-127.0 + i * (6.2568 + i * (-0.11218 + i * 0.0011972))) for i in range(64)],
}
_MORE = {"2": 5, "3": 4, "4": 4, "5": 2, "6": 1}
_ROW = {"IQ4_KS": "<f4", "IQ4_KSS": "<f4", "IQ5_KS": "<f4", "IQ2_KS": "<f2", "IQ3_KS": "<f2"}
NAMES = ("IQ2_K", "IQ3_K", "IQ4_K", "IQ5_K", "IQ6_K", "IQ2_KS", "IQ3_KS", "IQ4_KS", "IQ4_KSS", "IQ5_KS")


def dequantized(name: str, raw: np.ndarray) -> np.ndarray:
    """Rows (n, columns) float32 of one of these types, from bytes (n, bytes) uint8."""
    kind = GgmlType[name]
    count = (raw.shape[1] - kind.row_extra_bytes) // kind.block_bytes
    head, blocks = np.split(raw, [kind.row_extra_bytes], axis=1)
    blocks = blocks.reshape(len(raw), count, kind.block_bytes)
    if name in _ROW:
        scale = head.copy().view(_ROW[name]).astype(np.float32)[:, :, None]
    else:
        scale = blocks[..., :2].copy().view("<f2").astype(np.float32)
    b = blocks.astype(int)
    table, more = np.array(_TABLES[name[2]]), _MORE[name[2]]
    out = np.empty((*b.shape[:2], 256), np.float32)
    for start in range(0, 256, 16):
        group, sixteenth = start // 32, start // 16
        at = np.arange(start, start + 16)
        codes, whole, choice = _group(name, b, group, sixteenth, at % 32)
        values = table[codes] + more * choice[..., None]
        # A scale's product is rounded first.
        out[..., at] = (scale * whole.astype(np.float32)[..., None]) * values.astype(np.float32)
    return out.reshape(len(raw), 256 * count)


def _group(name: str, b: np.ndarray, group: int, sixteenth: int, at: np.ndarray) -> tuple[np.ndarray, ...]:
    """Codes, whole scale and choice of 16 elements; ``at`` are their places in the group of 32."""

    def nibble(first: int, index: int) -> np.ndarray:
        return b[..., first + index // 2] >> 4 * (index % 2) & 15

    def bit(first: int, index: int) -> np.ndarray:
        return b[..., first + index // 8] >> index % 8 & 1

    half, quarter = group // 4, group % 4
    if name == "IQ4_KSS":
        words = b[..., 16 * group : 16 * group + 16 : 2] | b[..., 16 * group + 1 : 16 * group + 16 : 2] << 8
        scale = ((words & 1) << np.arange(8)).sum(-1)
        words &= 0xFFFE
        words ^= words >> 1
        codes = np.stack([words & 255, words >> 8], -1).reshape(*words.shape[:-1], 16)
        return codes[..., at % 16] >> 4 * (at // 16) & 15, (scale & 254) - 127, scale & 1
    if name in ("IQ4_K", "IQ4_KS"):
        first = 16 if name == "IQ4_K" else 8
        codes = b[..., first + 16 * group + at % 16] >> 4 * (at // 16) & 15
    elif name in ("IQ5_K", "IQ5_KS"):
        first = 16 if name == "IQ5_K" else 8
        codes = b[..., first + 32 * (group // 2) + at] >> 4 * (group % 2) & 15
        codes |= (b[..., first + 128 + at] >> group & 1) << 4
    elif name == "IQ6_K":
        codes = b[..., 20 + 32 * (group // 2) + at] >> 4 * (group % 2) & 15
        codes |= (b[..., 148 + 32 * half + at] >> 2 * quarter & 3) << 4
    else:
        first = {"IQ2_K": 12, "IQ2_KS": 6, "IQ3_K": 14, "IQ3_KS": 6}[name]
        codes = b[..., first + 32 * half + at] >> 2 * quarter & 3
        if name[2] == "3":
            codes |= (b[..., first + 64 + at] >> group & 1) << 2
    if name in ("IQ4_KS", "IQ5_KS"):
        scale = b[..., group]
        return codes, (scale & 254) - 127, scale & 1
    if name == "IQ2_KS":
        return codes, (nibble(2, group) | bit(0, 8 + group) << 4) - 16, bit(0, group)
    if name == "IQ3_KS":
        low = b[..., 2 + quarter] >> 4 * half & 15
        return codes, (low | bit(0, group) << 4) - 16, bit(0, 8 + group)
    choice = bit(2, sixteenth)
    if name == "IQ2_K":
        return codes, nibble(4, sixteenth) - 8, choice
    if name == "IQ3_K":
        return codes, (2 * nibble(6, sixteenth) + 1) * (1 - 2 * bit(4, sixteenth)), choice
    if name == "IQ6_K":
        return codes, b[..., 4 + sixteenth].astype(np.int8).astype(int), choice
    high = b[..., 4 + sixteenth // 4] >> 2 * (sixteenth % 4) & 3
    return codes, (nibble(8, sixteenth) | high << 4) - 32, choice
