"""A picture of a prompt on its way to rows: it is decoded and read when a row of it is first needed, and kept."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor

from engine.documents.pictures import scaled_picture
from engine.messages import Picture, PictureLayout
from engine.vision.tower import Tower

# Bytes of rows that stay beside a model for texts that have to be read again; pictures not used for longer are encoded
# again.
_KEPT_BYTES = 128 << 20
#: Rows of pictures, of each run, by their layouts' keys; the picture that was used last is at the end.
KeptRows = dict[str, list[Tensor]]
#: Function that does work in another thread (`Preparation.beside`). It yields what is waited for and returns the
#: work's result; the work receives a function that says whether nobody waits for it any more.
Beside = Callable[[Callable[[Callable[[], bool]], list[bytes]]], Generator[Future[Any], None, list[bytes]]]


class SeenPicture:
    """A picture, and its rows while they are kept.

    Args:
        tower: Tower that reads it.
        layout: Its layout (`Tower.layout`).
        kept: Rows of a model's pictures.
    """

    def __init__(self, tower: Tower, picture: Picture, layout: PictureLayout, kept: KeptRows) -> None:
        self._tower, self._picture, self._layout, self._kept = tower, picture, layout, kept

    @property
    def bytes(self) -> int:
        """Bytes of its rows."""
        return sum(self._layout.runs) * self._tower.row_width * torch.float32.itemsize

    def runs(self) -> list[PictureRows]:
        """Return its runs of rows, without reading any."""
        grid, mutual = self._tower.grid(self._picture), self._tower.mutual
        return [PictureRows(self, run, count, grid, mutual) for run, count in enumerate(self._layout.runs)]

    def rows(self) -> list[Tensor]:
        """Return the rows of each run, (rows, row width) float32; they are read at once if they are not kept.

        Raises:
            InvalidOption: The picture's file is gone, or was changed.
        """
        for _ in self.steps(_at_once):
            pass
        return self._kept[self._layout.key]

    def steps(self, beside: Beside) -> Generator[Future[Any] | None, None, None]:
        """Read the picture unless its rows are kept: yield what is waited for, and None between layers.

        Raises:
            InvalidOption: The picture's file is gone, or was changed.
        """
        tower, picture, key, kept = self._tower, self._picture, self._layout.key, self._kept
        if key in kept:
            kept[key] = kept.pop(key)
            return
        sizes = tower.sizes(picture.width, picture.height)
        scaled = yield from beside(partial(scaled_picture, picture, sizes, tower.resample, chained=tower.chained))
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
                kept.pop(key, None)  # another reply may have read it meanwhile
                kept[key] = end.value
                break
            yield None
        while len(kept) > 1 and sum(run.nbytes for runs in kept.values() for run in runs) > _KEPT_BYTES:
            del kept[next(iter(kept))]


@dataclass(frozen=True)
class PictureRows:
    """The rows of one run of a picture, for the first layer."""

    picture: SeenPicture
    run: int  # number of the run
    count: int  # number of rows
    grid: tuple[int, int] | None  # rows and columns of the picture if they have positions in it (M-RoPE), or None
    mutual: Literal["", "windows", "all"]  # as `Tower.mutual`

    @property
    def embeddings(self) -> Tensor:
        """The rows, (count, row width) float32. Raises as `SeenPicture.rows`."""
        return self.picture.rows()[self.run]

    @property
    def extent(self) -> int:
        """Number of positions that they take."""
        return self.count if self.grid is None else max(self.grid)

    @property
    def places(self) -> Tensor:
        """Positions of the rows from the first one on, by axis, (3, count)."""
        assert self.grid is not None, "they have positions"
        place = torch.arange(self.count)
        return torch.stack((torch.zeros_like(place), place // self.grid[1], place % self.grid[1]))


def read_ahead(runs: Iterable[PictureRows], beside: Beside) -> Generator[Future[Any] | None, None, None]:
    """Read the pictures of some runs in order, as many as are kept beside each other and at least one.

    Each of the others is read when its rows are needed, in the place of one that is taken in already. Yields and raises
    as `SeenPicture.steps`.
    """
    room = _KEPT_BYTES
    for at, picture in enumerate(dict.fromkeys(run.picture for run in runs)):
        room -= picture.bytes
        if at and room < 0:
            break
        yield from picture.steps(beside)


def _at_once(work: Callable[[Callable[[], bool]], list[bytes]]) -> Generator[Future[Any], None, list[bytes]]:
    yield from ()
    return work(lambda: False)
