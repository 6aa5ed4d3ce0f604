"""Calibration of Medusa heads: the tree that was searched for them, and the worth of trees by the rows of a forward.

A draft's calibration lies beside it where its training made it, and in the cache folder, beside the profile of the
model, where it was made on this machine.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engine.cached_json import read_cached, write_cached
from engine.drafting.medusa_heads import MedusaLayout
from engine.drafting.rank_log import Path as Node
from engine.drafting.searched_tree import WIDTHS, parents_of
from engine.json_text import read_json
from engine.outside_file import read_text_file
from engine.plain_data import from_plain
from engine.unfinished_file import write_whole

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

C = TypeVar("C")
#: Its name beside the draft.
FILE = "calibration.json"
_FOLDER = "trees"


@dataclass(frozen=True)
class HeadCalibration:
    """Calibration of a model's heads on its replies.

    Attributes:
        tree: Nodes of the searched tree, the best first: the first nodes of it are the tree of a smaller width.
        searched: Tokens of a round by `WIDTHS`, with these trees.
        grown: Tokens of a round by `WIDTHS`, with trees of the heads' own probabilities.
        follows: Drafts follow the searched tree; else they are grown.
        accuracies: By head, the shares of tokens among its likeliest 1, 3 and 10.
        places: Tokens that were counted.

    Raises:
        ValueError: The tree is none, or a width has no figure.
    """

    tree: tuple[Node, ...]
    searched: tuple[float, ...]
    grown: tuple[float, ...]
    follows: bool
    accuracies: tuple[tuple[float, ...], ...] = ()
    places: int = 0

    def __post_init__(self) -> None:
        """Refuse what was not counted so."""
        parents_of(self.tree)
        if not len(self.searched) == len(self.grown) == len(WIDTHS):
            raise ValueError("a width has no figure")

    @property
    def depth(self) -> int:
        """Heads that the tree takes."""
        return max(map(len, self.tree), default=0)

    @property
    def followed(self) -> tuple[Node, ...]:
        """Nodes that drafts follow; none where they are grown."""
        return self.tree if self.follows else ()

    @property
    def tokens(self) -> dict[int, float]:
        """Tokens of a round by nodes of its draft, with the trees that drafts have."""
        taus = self.searched if self.follows else self.grown
        return {width - 1: tau for width, tau in zip(WIDTHS, taus, strict=True) if width > 1}

    def fits(self, layout: MedusaLayout) -> bool:
        """True if this may be the tree of such heads."""
        return self.depth <= len(layout.heads)


def read_calibration(kind: type[C], cache_folder: Path, target: str, draft: str) -> C | None:
    """The calibration that was made on this machine; None where there is none of these, or it is damaged.

    Args:
        kind: Its class.
        cache_folder: The folder.
        target: Digest of the model.
        draft: Digest of its draft; the calibration of another is none of its.
    """
    try:
        return from_plain(kind, read_cached(_path(cache_folder, target, draft)))
    except ValueError:
        return None


def keep_calibration(cache_folder: Path, target: str, draft: str, calibration: DataclassInstance) -> None:
    """Keep a calibration. One that cannot be kept is made again."""
    write_cached(_path(cache_folder, target, draft), asdict(calibration))


def calibration_beside(kind: type[C], folder: Path) -> C | None:
    """The calibration that lies in the folder of a draft; None where there is none, or it is damaged."""
    try:
        return from_plain(kind, read_json(read_text_file(folder / FILE)))
    except (OSError, ValueError):
        return None


def write_beside(folder: Path, calibration: DataclassInstance) -> None:
    """Write a calibration into the folder of its draft, whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    write_whole(folder / FILE, json.dumps(asdict(calibration)) + "\n")


def _path(cache_folder: Path, target: str, draft: str) -> Path:
    return cache_folder / _FOLDER / f"{target[:16]}-{draft[:16]}.json"
