"""Safetensors files, their indexes, and weights in PyTorch's own format."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import torch

from engine.errors import TenonError
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.fuzz.asked_engine import AskedEngine
from tests.fuzz.models import write_small
from tests.fuzz.mutation import damaged_bytes, damaged_json
from tests.fuzz.sentence import check_sentence

_SINGLE, _INDEX, _PICKLE = "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"


class Target:
    """One damaged file in an otherwise good folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = write_small(folder / "model")
        self._weights = (self._folder / _SINGLE).read_bytes()
        size = int.from_bytes(self._weights[:8], "little")
        self._header = json.loads(self._weights[8 : 8 + size])
        self._data = self._weights[8 + size :]
        self._index = {"weight_map": dict.fromkeys(self._header, _SINGLE), "metadata": {"total_size": 7}}
        self._head = folder / "head"
        self._head.mkdir()
        (self._head / "config.json").write_text("{}")
        torch.save({"fc.weight": torch.zeros(8, 4), "norm": torch.ones(4)}, self._head / _PICKLE)
        self._pickles = [(self._head / _PICKLE).read_bytes()]
        torch.save({"fc.weight": torch.zeros(8)}, self._head / _PICKLE, _use_new_zipfile_serialization=False)
        self._pickles.append((self._head / _PICKLE).read_bytes())
        self._engine = AskedEngine(folder / "models")
        assert self._engine.ask(self._folder)

    def run(self, random: Random) -> None:
        (self._folder / _INDEX).unlink(missing_ok=True)
        kind = random.randrange(6)
        if kind == 0:
            self._read_head(damaged_bytes(random, random.choice(self._pickles)))
            return
        weights = self._weights
        if kind == 1:
            (self._folder / _INDEX).write_bytes(damaged_json(random, self._index))
        elif kind == 2:
            weights = damaged_bytes(random, weights, 8 + len(weights) - len(self._data))
        else:
            header = damaged_json(random, self._header)
            weights = len(header).to_bytes(8, "little") + header + self._data
        (self._folder / _SINGLE).write_bytes(weights)
        self._engine.ask(self._folder)

    def close(self) -> None:
        self._engine.close()

    def _read_head(self, data: bytes) -> None:
        (self._head / _PICKLE).write_bytes(data)
        try:
            head = HeadCheckpoint(self._head)
            for name in head.shapes:
                head.tensor(name)
        except TenonError as error:
            check_sentence(error)
