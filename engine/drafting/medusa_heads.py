"""Medusa heads: residual blocks on the target's last hidden state, each head with its guess of one further token.

The target's own head says from a hidden state which token comes next, the root; head k says from the same state which
token comes k places behind the root. A block maps x to x + SiLU(W x + b). An output map follows a head's blocks: one
of its own, as published, or the target's head for all of them.

Source: Medusa (Cai et al. 2024), section 2.1, and the state dicts of its own code, whose names are head, place, and
``linear`` for a block. Where ``d2t`` and ``t2d`` are there, they name the tokens that are drafted, as in EAGLE-3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from engine.drafting.config_keys import bad_value
from engine.drafting.head_layout import MISMATCH, slot_bytes
from engine.drafting.head_loader import HeadMaps, drafted_ids
from engine.kernels.library import Matrix
from engine.kernels.medusa import Guess
from engine.model.config import check_counts
from engine.model.linear import LinearMap, PackedLinear, rows_of
from engine.model.loader import read_slots
from engine.model.tensors import Slot, compare_tensors
from engine.model.weight_format import WeightFormat
from engine.weights.draft_kind import MEDUSA_TENSOR
from engine.weights.head_checkpoint import HeadCheckpoint


@dataclass(frozen=True)
class MedusaLayout:
    """Contents of a checkpoint of Medusa heads.

    Attributes:
        heads: The tensors of each: ``block0``, ``block0_bias`` and so on, and ``map`` where it has one of its own.
        blocks: Of each head.
        hidden_size: The target's.
        vocabulary_size: The target's; None where nothing says it.
        drafted: Tokens that are drafted; None for all.
    """

    heads: tuple[tuple[Slot, ...], ...]
    blocks: int
    hidden_size: int
    vocabulary_size: int | None
    drafted: int | None

    @property
    def own_maps(self) -> bool:
        """True if each head has an output map of its own."""
        return self.heads[0][-1].field == "map"

    def size_bytes(self, weights: WeightFormat) -> int:
        """Bytes of their weights, and of the target's rows of what they draft where that is not all."""
        own = sum(slot_bytes(slot, weights) for head in self.heads for slot in head)
        if self.own_maps or self.drafted is None:
            return own
        return own + weights.matrix_bytes(self.drafted, self.hidden_size)


def read_medusa(checkpoint: HeadCheckpoint) -> MedusaLayout:
    """Count heads and blocks by their tensors; sizes that config.json has must be theirs, its number of heads need not.

    Raises:
        ConfigInvalid: A value of config.json makes no sense.
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape.
    """
    shapes = checkpoint.shapes
    found = [match for match in map(MEDUSA_TENSOR.fullmatch, shapes) if match]
    prefix = found[0][1] or "" if found else ""
    blocks = 1 + max((int(match[3]) for match in found if match[4]), default=0)
    own_maps = any(not match[4] for match in found)
    last = f"{prefix}0.{blocks}.weight"
    hidden = _size(checkpoint, "hidden_size", f"{prefix}0.0.linear.weight") or 0
    vocabulary = _size(checkpoint, "vocab_size", "t2d" if "t2d" in shapes else last)
    drafted = _size(checkpoint, "draft_vocab_size", "d2t")
    if drafted is None and "t2d" in shapes:
        drafted = 0
    rows = vocabulary if drafted is None else drafted

    def slots(head: int) -> tuple[Slot, ...]:
        made = []
        for block in range(blocks):
            name = f"{prefix}{head}.{block}.linear"
            made.append(Slot(f"{name}.weight", (hidden, hidden), f"block{block}"))
            made.append(Slot(f"{name}.bias", (hidden,), f"block{block}_bias"))
        if own_maps:
            made.append(Slot(f"{prefix}{head}.{blocks}.weight", (rows or 0, hidden), "map"))
        return tuple(made)

    count = 1 + max((int(match[2]) for match in found), default=0)
    check_counts(count * blocks, max(1, len(shapes)))
    heads = tuple(slots(head) for head in range(count))
    expected = {slot.name: slot.shape for head in heads for slot in head}
    if drafted is not None:
        expected |= {"d2t": (drafted,), "t2d": (vocabulary or 0,)}
    compare_tensors(shapes, expected, lambda name: False, MISMATCH)
    return MedusaLayout(heads, blocks, hidden, vocabulary, drafted)


def _size(checkpoint: HeadCheckpoint, name: str, tensor: str) -> int | None:
    """A size that config.json has by this name, else the rows of a tensor; None without both."""
    said = checkpoint.config.get(name)
    try:
        return next(iter(checkpoint.shapes.get(tensor, ())), None) if said is None else int(said)
    except (TypeError, ValueError) as error:
        raise bad_value(error) from error


class MedusaNetwork:
    """Medusa heads in memory. h = the target's hidden size, V and Vd = its vocabulary and the tokens they draft.

    Args:
        first: The first block of all heads, which read the same row: h -> heads * h.
        further: The other blocks of each, h -> h.
        maps: The output map of each, or the one of all of them, h -> Vd.
        dtypes: Types of what blocks and maps take.
        target_ids: (Vd,) the target's id of each of the draft's tokens; None where they are the same.
        soft_cap: c in c * tanh(logit / c) where the map is the head of a target that has one; None without.

    Attributes:
        heads: Their number.
        target_ids: As given.
    """

    def __init__(
        self,
        first: LinearMap,
        further: Sequence[Sequence[LinearMap]],
        maps: Sequence[LinearMap],
        dtypes: tuple[torch.dtype, torch.dtype],
        target_ids: Tensor | None,
        soft_cap: float | None,
    ) -> None:
        self.heads = len(further)
        self._first = first
        self._further = further
        self.target_ids = target_ids
        self._maps = maps
        self._dtypes = dtypes
        self._soft_cap = soft_cap
        self._guess = _guess_of(first, further, maps)

    def logits(self, hidden: Tensor, count: int) -> Tensor:
        """Logits of the first heads for a hidden state behind the target's final norm.

        Args:
            hidden: (n, h).
            count: Of the heads.

        Returns:
            (count * n, Vd) float32 logits of the tokens 1, 2 and so on behind the root, head by head; valid until the
            next call.
        """
        logits = None
        if self._guess is not None and len(hidden) == 1 and hidden.dtype == torch.float32:
            logits = self._guess(hidden, count)
        if logits is None:
            logits = self._logits(hidden, count)
        cap = self._soft_cap
        return logits if cap is None else torch.tanh(logits / cap) * cap

    @torch.inference_mode()
    def _logits(self, hidden: Tensor, count: int) -> Tensor:
        """The same with torch's operators."""
        block_type, map_type = self._dtypes
        hidden = hidden.to(block_type)
        blocks = functional.silu(self._first(hidden)).view(len(hidden), self.heads, -1)
        made = (hidden + blocks.transpose(0, 1))[:count]
        for head, further in zip(made, self._further, strict=False):
            for block in further:
                head += functional.silu(block(head))
        made = made.to(map_type)
        if len(self._maps) == 1:
            return self._maps[0](made.flatten(0, 1)).float()
        return torch.cat([own(row) for own, row in zip(self._maps, made, strict=False)]).float()


def _guess_of(
    first: LinearMap, further: Sequence[Sequence[LinearMap]], maps: Sequence[LinearMap]
) -> Guess | None:
    """The heads for the kernel library; None where they are not its to compute."""
    every = (first, *(block for blocks in further for block in blocks), *maps)
    if not all(isinstance(linear, PackedLinear) for linear in every):
        return None

    def structure(linear: LinearMap) -> Matrix:
        assert isinstance(linear, PackedLinear)
        return linear.structure

    blocks = [[structure(block) for block in of_head] for of_head in further]
    return Guess(structure(first), blocks, [structure(one) for one in maps])


def load_medusa(
    checkpoint: HeadCheckpoint,
    head: LinearMap | None,
    head_type: torch.dtype,
    soft_cap: float | None,
    weights: WeightFormat,
    device: torch.device,
    check: Callable[[], None] = lambda: None,
) -> MedusaNetwork:
    """Load heads, the maps one after the other where each has its own: they are large.

    Args:
        checkpoint: Theirs.
        head: The target's, on the device; None for heads that have maps of their own.
        head_type: Of what it maps.
        soft_cap: Of its logits, or None.
        weights: Format of the matrices. Packed formats need the CPU.
        device: The device to load to.
        check: Called before each tensor; raises to cancel.

    Raises:
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape, or d2t and t2d disagree.
        ConfigInvalid: A value of config.json makes no sense.
    """
    layout = read_medusa(checkpoint)
    linear = HeadMaps(weights, device)
    ids = (
        None
        if layout.drafted is None
        else drafted_ids(checkpoint, "d2t", "t2d", layout.vocabulary_size or 0, device)
    )
    first: list[tuple[Tensor, Tensor]] = []
    further: list[list[LinearMap]] = []
    maps: list[LinearMap] = []
    for slots in layout.heads:
        found = read_slots(checkpoint, list(slots), linear.read_dtype, device, lambda count: None, check)
        first.append((found["block0"], found["block0_bias"]))
        names = [f"block{block}" for block in range(1, layout.blocks)]
        further.append([linear.linear(found[name], found[f"{name}_bias"]) for name in names])
        if layout.own_maps:
            maps.append(linear.linear(found["map"], None))
    map_type = weights.activations
    if not layout.own_maps:
        assert head is not None, "heads without output maps share the target's"
        maps = [head if ids is None else linear.linear(rows_of(head, ids), None)]
        map_type = head_type if ids is None else map_type
    cap = None if layout.own_maps else soft_cap
    weight, bias = (torch.cat(parts) for parts in zip(*first, strict=True))
    return MedusaNetwork(
        linear.linear(weight, bias), further, maps, (weights.activations, map_type), ids, cap
    )
