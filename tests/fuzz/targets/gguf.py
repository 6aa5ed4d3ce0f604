"""GGUF files: the real model's metadata above small tensors, and small ones of several families."""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random

import gguf

from engine.gguf.header import read_header
from tests.fuzz.asked_engine import AskedEngine
from tests.fuzz.mutation import damaged_bytes
from tests.support.checkpoints import reference_model, train_tokenizer
from tests.support.gguf_files import write_gguf
from tests.support.real_models import real_model

_SIZES = {"hidden_size": 32, "intermediate_size": 32, "num_attention_heads": 2, "num_key_value_heads": 1}
_VARIANTS = ("llama", "llama3-rope", "qwen2-yarn", "phi3", "gemma3")


class Target:
    """One file after the other, loaded as a person would."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "model.gguf"
        tokenizer = train_tokenizer()
        self._sources: list[tuple[bytes, int]] = []
        for variant in _VARIANTS:
            layers = {"num_hidden_layers": 2} if variant == "gemma3" else {"num_hidden_layers": 1}
            if variant == "gemma3":
                layers["layer_types"] = ["sliding_attention", "full_attention"]
            write_gguf(reference_model(variant, **_SIZES, **layers), self._path, tokenizer=tokenizer)
            self._add(self._path)
        real = real_model()
        if real is not None:
            self._add(_small_real(real, folder / "real.gguf"))
        self._engine = AskedEngine(folder / "models")
        assert all(self._ask(data) for data, _ in self._sources)

    def run(self, random: Random) -> None:
        data, head = random.choice(self._sources)
        self._ask(damaged_bytes(random, data, head))

    def close(self) -> None:
        self._engine.close()

    def _add(self, path: Path) -> None:
        header = read_header(path)
        self._sources.append((path.read_bytes(), min(tensor.start for tensor in header.tensors.values())))

    def _ask(self, data: bytes) -> bool:
        self._path.write_bytes(data)
        return self._engine.ask(self._path)


def _small_real(path: Path, copy: Path) -> Path:
    """The real model's metadata, cut to a few hundred tokens and one layer, above tensors of zeros."""
    header = read_header(path)
    metadata = dict(header.metadata)
    tokens = metadata["tokenizer.ggml.tokens"]
    kept = set(tokens[:600])
    merges = [pair for pair in metadata["tokenizer.ggml.merges"] if _known(pair, kept)]
    metadata |= {
        "tokenizer.ggml.tokens": tokens[:600],
        "tokenizer.ggml.token_type": metadata["tokenizer.ggml.token_type"][:600],
        "tokenizer.ggml.merges": merges,
        "llama.block_count": 1,
        "llama.vocab_size": 600,
    }
    # Its pairs and the table of tensors are written by hand: the package writes no types that it is not told.
    found = {
        name: tensor
        for name, tensor in header.tensors.items()
        if not name.startswith("blk.") or name.startswith("blk.0.")
    }
    body = b"GGUF" + struct.pack("<IQQ", 3, len(found), len(metadata))
    for key, value in metadata.items():
        body += _string(key) + _value(value)
    offset, sizes = 0, []
    for name, tensor in found.items():
        shape = (600, *tensor.shape[1:]) if name == "token_embd.weight" else tensor.shape
        block, block_bytes = gguf.GGML_QUANT_SIZES[tensor.kind]
        size = block_bytes
        for extent in shape:
            size *= extent
        size //= block
        body += _string(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
        body += struct.pack("<IQ", int(tensor.kind), offset)
        sizes.append(size)
        offset += size + -size % 32
    body += b"\0" * (-len(body) % 32)
    copy.write_bytes(body + b"\0" * offset)
    return copy


def _known(pair: str, tokens: set[str]) -> bool:
    left, _, right = pair.partition(" ")
    return {left, right, left + right} <= tokens


def _string(text: str) -> bytes:
    data = text.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def _value(value: object) -> bytes:
    if isinstance(value, list):
        kind = 8 if isinstance(value[0], str) else 5
        return struct.pack("<IIQ", 9, kind, len(value)) + b"".join(
            _string(one) if isinstance(one, str) else struct.pack("<i", one) for one in value
        )
    if isinstance(value, str):
        return struct.pack("<I", 8) + _string(value)
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    return struct.pack("<If", 6, value) if isinstance(value, float) else struct.pack("<II", 4, int(str(value)))
