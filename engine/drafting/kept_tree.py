"""The searched tree of a model and its heads, kept in the cache folder beside the model's profile."""

from __future__ import annotations

from pathlib import Path

from engine.cached_json import read_cached, write_cached
from engine.drafting.rank_log import Path as Node
from engine.drafting.searched_tree import parents_of

_FOLDER = "trees"


def read_tree(cache_folder: Path, target: str, heads: str) -> tuple[Node, ...]:
    """The nodes of a tree, the best first; none where none was kept for these, or what was kept is damaged.

    Args:
        cache_folder: The folder.
        target: Digest of the model.
        heads: Digest of its heads; a tree of others is no tree of theirs.
    """
    try:
        tree = tuple(tuple(map(int, node)) for node in read_cached(_path(cache_folder, target, heads)) or ())
        parents_of(tree)
    except (TypeError, ValueError):
        return ()
    return tree


def keep_tree(cache_folder: Path, target: str, heads: str, tree: tuple[Node, ...]) -> None:
    """Keep a tree, or an empty one where trees of the heads' own probabilities are better."""
    write_cached(_path(cache_folder, target, heads), tree)


def _path(cache_folder: Path, target: str, heads: str) -> Path:
    return cache_folder / _FOLDER / f"{target[:16]}-{heads[:16]}.json"
