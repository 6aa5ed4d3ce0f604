"""A picture of a prompt on its way to rows: it is decoded and read when a row of it is first needed, and kept."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future
from functools import partial
from typing import Any

import torch
from torch import Tensor

from engine.documents.pictures import scaled_picture
from engine.messages import Picture
from engine.vision.tower import Tower

# Bytes of rows that stay beside a model for texts that have to be read again; older pictures are encoded again.
_KEPT_BYTES = 128 << 20
#: Does work beside the engine's turns, which is told whether nobody waits for it any more.
Beside = Callable[[Callable[[Callable[[], bool]], list[bytes]]], Generator[Future[Any], None, list[bytes]]]


class SeenPicture:
    """Rows of all runs of a picture.

    Args:
        tower: What reads it.
        picture: The picture.
    """

    def __init__(self, tower: Tower, picture: Picture) -> None:
        self._tower, self._picture = tower, picture
        self._rows: list[Tensor] | None = None

    def run(self, index: int) -> Tensor:
        """Return the rows of a run, (rows, h) float32.

        Raises:
            InvalidOption: The picture's file is gone, or was changed.
        """
        if self._rows is None:
            for _ in self.steps(_at_once):
                pass
        assert self._rows is not None, "its steps are done"
        return self._rows[index]

    @property
    def _bytes(self) -> int:
        return sum(rows.nbytes for rows in self._rows or ())

    def _keep(self, rows: list[Tensor]) -> None:
        self._rows, kept = rows, self._tower.kept
        kept.append(self)
        while len(kept) > 1 and sum(one._bytes for one in kept) > _KEPT_BYTES:
            kept.pop(0)._rows = None

    def steps(self, beside: Beside) -> Generator[Future[Any] | None, None, None]:
        """Read the picture unless it was read: yield what is waited for, and None between layers.

        Raises:
            InvalidOption: The picture's file is gone, or was changed.
        """
        if self._rows is not None:
            return
        tower, picture = self._tower, self._picture
        sizes = tower.sizes(picture.width, picture.height)
        scaled = yield from beside(partial(scaled_picture, picture, sizes, tower.resample))
        pixels = [
            torch.frombuffer(bytearray(one), dtype=torch.uint8).view(height, width, 3)
            for one, (width, height) in zip(scaled, sizes, strict=True)
        ]
        steps = tower.rows(pixels)
        while True:
            try:
                with torch.inference_mode():
                    next(steps)
            except StopIteration as end:
                self._keep(end.value)
                return
            yield None


def _at_once(work: Callable[[Callable[[], bool]], list[bytes]]) -> Generator[Future[Any], None, list[bytes]]:
    yield from ()
    return work(lambda: False)
