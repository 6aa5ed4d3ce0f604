"""The cache alone: rows are kept, moved, cut and grown without a mistake."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from engine.kernels import library
from engine.model.kv_cache import FIRST_ROWS, KVCache

LAYERS, KV_HEADS, HEAD_DIM = 3, 2, 4


@pytest.fixture(params=["library", "torch"])
def mover(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mover of rows."""
    if request.param == "torch":
        monkeypatch.setattr(library, "loaded", lambda: None)


def make(capacity: int = 1000, short_text_limit: int | None = None) -> KVCache:
    return KVCache(((KV_HEADS, HEAD_DIM),) * LAYERS, capacity, torch.float32, torch.device("cpu"), short_text_limit)


def write(cache: KVCache, marks: list[int], uncommitted: int = 0) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Append one row per mark; layer l's keys hold mark + l / 10 and its values the negative of that."""
    cache.place(torch.arange(len(marks)) + cache.length + uncommitted, uncommitted)
    rows = torch.tensor(marks, dtype=torch.float32)[:, None, None].expand(-1, KV_HEADS, HEAD_DIM)
    return [cache.append(layer, rows + layer / 10, -rows - layer / 10) for layer in range(LAYERS)]


def committed(cache: KVCache) -> list[int]:
    """The marks of the committed rows, the same in all layers, heads and channels."""
    seen = write(cache, [0])
    marks = seen[0][0][0, :-1, 0].round().long().tolist()
    for layer, (keys, values) in enumerate(seen):
        expected = torch.tensor(marks)[None, :, None].expand(KV_HEADS, -1, HEAD_DIM) + layer / 10
        torch.testing.assert_close(keys[:, :-1], expected)
        torch.testing.assert_close(values[:, :-1], -expected)
    return [int(mark) for mark in marks]


def test_only_committed_rows_stay() -> None:
    cache = make()
    write(cache, [1, 2, 3])
    cache.commit([0, 1, 2])
    write(cache, [4, 5, 6, 7])
    assert committed(cache) == [1, 2, 3]
    assert cache.length == 3


@pytest.mark.usefixtures("mover")
@pytest.mark.parametrize("rows", [[], [0], [0, 1, 2], [0, 2, 3, 5], [0, 5], [0, 1, 3, 4, 5]])
def test_a_path_moves_down_in_every_layer(rows: list[int]) -> None:
    cache = make()
    write(cache, [1, 2])
    cache.commit(range(2))
    write(cache, [10, 11, 12, 13, 14, 15])
    cache.commit(rows)
    assert committed(cache) == [1, 2] + [10 + row for row in rows]


def test_rows_survive_growth() -> None:
    cache = make(capacity=5000)
    small = cache.bytes
    write(cache, list(range(FIRST_ROWS)))
    cache.commit(range(FIRST_ROWS))
    write(cache, list(range(1000)))
    cache.commit(range(1000))
    assert committed(cache) == [*range(FIRST_ROWS), *range(1000)]
    assert small < cache.bytes <= 2 * 4 * LAYERS * KV_HEADS * HEAD_DIM * 5000


def test_a_growth_that_fails_half_way_leaves_an_empty_cache_that_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first layer has grown when memory ends: rows of two sizes would be read wrongly."""
    cache, empty, calls = make(), KVCache._empty, []
    write(cache, [1, 2, 3])
    cache.commit(range(3))
    small = cache.bytes

    def short(cache: KVCache, shape: Sequence[int], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        calls.append(shape)
        if len(calls) == 2:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return empty(cache, shape, dtype, device)

    monkeypatch.setattr(KVCache, "_empty", short)
    with pytest.raises(RuntimeError, match="can't allocate"):
        write(cache, list(range(FIRST_ROWS)))
    assert (cache.length, cache.bytes) == (0, small)
    many = list(range(FIRST_ROWS + 50))
    write(cache, many)
    cache.commit(range(len(many)))
    assert committed(cache) == many


def test_there_is_room_up_to_the_capacity_and_not_beyond() -> None:
    cache = make(capacity=10)
    write(cache, list(range(10)))
    cache.commit(range(9))
    cache.place(torch.tensor([9]))
    with pytest.raises(ValueError, match="10 rows"):
        cache.place(torch.tensor([9, 10]))
    with pytest.raises(ValueError, match="10 rows"):
        cache.place(torch.tensor([10]), uncommitted=1)


@pytest.mark.parametrize("first", [3, FIRST_ROWS])
def test_levels_of_a_tree_stay_behind_each_other_until_a_path_is_kept(first: int) -> None:
    cache = make(capacity=2 * FIRST_ROWS)
    write(cache, [1, 2])
    cache.commit(range(2))
    write(cache, [10 + row for row in range(first)])
    seen = write(cache, [20, 21], uncommitted=first)
    assert seen[0][0].shape[1] == 2 + first + 2
    write(cache, [99, 99, 99], uncommitted=first + 1)
    write(cache, [30], uncommitted=first + 1)
    assert cache.length == 2
    cache.commit([1, first, first + 1])
    assert committed(cache) == [1, 2, 11, 20, 30]
    with pytest.raises(ValueError, match="cannot stay"):
        cache.place(torch.tensor([5]), uncommitted=2)


@pytest.mark.usefixtures("mover")
@pytest.mark.parametrize(
    ("rows", "keep"),
    [
        ([0], [2, 1]),
        ([0], [1, 2]),
        ([0, 2], [4, 5]),
        ([1], [3, 5]),
        ([], [2, 4]),
        ([0, 1], []),
        ([4], [5]),
        ([0, 3], [4]),
    ],
)
def test_rows_below_the_path_may_stay_uncommitted(rows: list[int], keep: list[int]) -> None:
    cache = make()
    write(cache, [1, 2])
    cache.commit(range(2))
    write(cache, [10, 11, 12, 13, 14, 15])
    cache.commit(rows, keep)
    assert cache.length == 2 + len(rows)
    with pytest.raises(ValueError, match="cannot stay"):
        cache.place(torch.tensor([0]), uncommitted=len(keep) + 1)
    # A later forward builds on them, and they are committed as rows of their own.
    write(cache, [20], uncommitted=len(keep))
    cache.commit(range(len(keep) + 1))
    assert committed(cache) == [1, 2, *(10 + row for row in [*rows, *keep]), 20]


def test_rows_that_stay_keep_their_positions() -> None:
    cache = make()
    cache.place(torch.tensor([0, 1, 1, 2, 2]))
    cache.commit([0, 2], [3, 4])
    assert cache.place(torch.tensor([3]), uncommitted=2).tolist() == [2, 2, 3]


def test_positions_of_uncommitted_rows_are_remembered() -> None:
    cache = make()
    assert cache.place(torch.tensor([0, 1, 1])).tolist() == [0, 1, 1]
    assert cache.place(torch.tensor([2]), uncommitted=2).tolist() == [0, 1, 2]
    cache.commit([0, 1])
    assert cache.place(torch.tensor([2])).tolist() == [2]
    cache.truncate(1)
    with pytest.raises(ValueError, match="cannot stay"):
        cache.place(torch.tensor([2]), uncommitted=1)


def test_truncate_cuts_and_never_lengthens() -> None:
    cache = make()
    write(cache, [1, 2, 3])
    cache.commit(range(3))
    cache.truncate(2)
    assert committed(cache) == [1, 2]
    for length in (-1, 3):
        with pytest.raises(ValueError, match="cannot cut"):
            cache.truncate(length)


def test_a_text_that_becomes_long_starts_anew() -> None:
    cache = make(short_text_limit=8)
    assert (cache.begin(5), cache.text_limit) == (0, 8)
    write(cache, [1, 2, 3, 4, 5])
    cache.commit(range(5))
    assert cache.begin(8) == 5
    assert cache.begin(9) == 0
    assert cache.text_limit is None
    write(cache, list(range(9)))
    cache.commit(range(9))
    assert cache.begin(12) == 9
    assert cache.begin(4) == 0


def test_other_models_keep_their_rows_at_any_length() -> None:
    cache = make()
    write(cache, [1, 2])
    cache.commit(range(2))
    assert cache.begin(900) == 2
    assert cache.text_limit is None
