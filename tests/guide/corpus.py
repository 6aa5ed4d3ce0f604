"""Batches of dialogues, made without end in a process of their own so that training never waits.

A row is one dialogue from position 0, as at run time; rows of like length share a batch, so little is padding.
Torch is not imported here.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.guide.dialogue import Source
from tests.guide.fact import read_facts
from tests.guide.vocabulary import Encoded, Encoder

LONGEST = 1024
POOL = 4096
LENGTH_STEP = 8


@dataclass(frozen=True)
class Batch:
    """Rows of one length.

    Attributes:
        kind: "guide" or "playground".
        tokens: (rows, length) int64.
        learn: (rows, length - 1), true where the next token is to be predicted.
    """

    kind: str
    tokens: NDArray[np.int64]
    learn: NDArray[np.bool_]

    @property
    def token_count(self) -> int:
        """Tokens, padding included."""
        return self.tokens.size


def pack(kind: str, rows: list[Encoded], pad: int) -> Batch:
    """One batch of rows, padded to a multiple of ``LENGTH_STEP``."""
    length = -(-max(len(row.ids) for row in rows) // LENGTH_STEP) * LENGTH_STEP
    tokens = np.full((len(rows), length), pad, dtype=np.int64)
    learn = np.zeros((len(rows), length - 1), dtype=np.bool_)
    for place, row in enumerate(rows):
        tokens[place, : len(row.ids)] = row.ids
        learn[place, : len(row.ids) - 1] = row.learn[1:]
    return Batch(kind, tokens, learn)


def batches(source: Source, encoder: Encoder, kind: str, size: int, rng: random.Random) -> Iterator[Batch]:
    """Batches of about ``size`` tokens without end; ``kind`` is "guide" or "playground"."""
    make = source.guide if kind == "guide" else source.playground
    while True:
        pool = [encoder.encode(make(rng), rng) for _ in range(POOL)]
        pool = sorted((row for row in pool if len(row.ids) <= LONGEST), key=lambda row: len(row.ids))
        groups: list[list[Encoded]] = [[]]
        for row in pool:
            if groups[-1] and (len(groups[-1]) + 1) * len(row.ids) > size:
                groups.append([])
            groups[-1].append(row)
        rng.shuffle(groups)
        for group in groups:
            yield pack(kind, group, encoder.pad)


def _produce(tokenizer: Path, sizes: dict[str, int], seed: int, out: Any) -> None:
    facts, phrases = read_facts(problems=[])
    source, encoder, rng = Source(facts, phrases), Encoder(tokenizer), random.Random(seed)
    streams = [batches(source, encoder, kind, size, rng) for kind, size in sizes.items()]
    parent = os.getppid()
    while True:
        step = [next(stream) for stream in streams]
        while True:
            try:
                out.put(step, timeout=5)
                break
            except queue.Full:
                if os.getppid() != parent:
                    out.cancel_join_thread()
                    return


class Supply:
    """Steps of training data from a background process; each step has one batch of each kind.

    The facts files are read when it starts: a resumed training learns what was added to them.
    """

    def __init__(self, tokenizer: Path, sizes: dict[str, int], seed: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._queue: Any = context.Queue(maxsize=32)
        self._process = context.Process(
            target=_produce, args=(tokenizer, sizes, seed, self._queue), daemon=True
        )
        self._process.start()

    def next(self) -> list[Batch]:
        """The next step's batches.

        Raises:
            RuntimeError: the background process has ended.
        """
        while True:
            try:
                step: list[Batch] = self._queue.get(timeout=10)
                return step
            except queue.Empty:
                if not self._process.is_alive():
                    raise RuntimeError("the process that makes the training text has ended") from None

    def close(self) -> None:
        """End the background process."""
        self._process.terminate()
        self._process.join()
