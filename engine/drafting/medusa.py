"""Medusa heads as a draft: residual blocks on the target's last hidden state, each with its guess of one more token.

The target's own head predicts the next token, the root, from a hidden state; head k predicts from the same state
the token k places after the root. A block maps x to x + SiLU(W x + b). An output map follows a head's blocks: one
of its own, as published, or the target's head for all of them.

Source: Medusa (Cai et al. 2024), section 2.1, and the state dicts of its own code, whose names are head, place, and
``linear`` for a block. Where ``d2t`` and ``t2d`` are there, they name the tokens that are drafted, as in EAGLE-3.

One pass of the heads makes the whole draft; a node's score is the product of the heads' own probabilities along its
path.

A draft's calibration lies beside it if its training made it, and in the cache folder, beside the profile of the
model, if it was made on this machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from engine.drafting.fixed_trees import NO_RANK, WIDTHS, parents_of
from engine.drafting.fixed_trees import Path as Node
from engine.drafting.head_layout import MISMATCH, bad_value, slot_bytes
from engine.drafting.head_loader import HeadMaps, check_sizes, drafted_ids
from engine.drafting.kind import DraftLoad, DraftText, LoadedDraft
from engine.drafting.level_drafter import LastRowDrafter, LevelDrafter, likeliest_along
from engine.drafting.target_draft import L, TargetDraft
from engine.files import read_cached, read_text_file, write_cached, write_whole
from engine.hub.installed import cache_folder
from engine.json_text import from_plain, read_json
from engine.kernels.library import Matrix
from engine.kernels.medusa import Guess
from engine.messages import PromptKind
from engine.model.config import ModelConfig, check_counts
from engine.model.linear import Linear, LinearMap, PackedLinear, rows_of
from engine.model.loader import read_slots
from engine.model.tensors import Slot, compare_tensors, head_slot
from engine.model.token_tree import Draft, DraftShape
from engine.model.weight_format import WeightFormat
from engine.model_file import OpenedModel
from engine.sentences import mark, say
from engine.weights.checkpoint import Checkpoint
from engine.weights.draft_kind import MEDUSA_TENSOR
from engine.weights.head_checkpoint import HeadCheckpoint

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Positions whose logits are held at once.
_PIECE = 32
C = TypeVar("C")
#: Name of the calibration file beside the draft.
FILE = "calibration.json"
_FOLDER = "trees"
L_in = TypeVar("L_in", contravariant=True)
D = TypeVar("D", bound="CalibratedDraft[Any, Any]")
_UNUSED = mark(
    "The file {file} beside the heads {name} is damaged or was made for other heads, so their tree is not used."
)


@dataclass(frozen=True)
class MedusaLayout:
    """Contents of a checkpoint of Medusa heads."""

    # Tensors of each head: ``block0``, ``block0_bias`` and so on, and ``map`` if it has one of its own
    heads: tuple[tuple[Slot, ...], ...]
    blocks: int  # blocks of each head
    hidden_size: int  # hidden size of the target
    vocabulary_size: int | None  # vocabulary size of the target, or None if nothing says it
    drafted: int | None  # tokens that are drafted; None for all

    @property
    def own_maps(self) -> bool:
        """True if each head has an output map of its own."""
        return self.heads[0][-1].field == "map"

    def size_bytes(self, weights: WeightFormat) -> int:
        """Return the bytes of the heads, and of the target's rows of the drafted tokens if those are not all."""
        own = sum(slot_bytes(slot, weights) for head in self.heads for slot in head)
        if self.own_maps or self.drafted is None:
            return own
        return own + weights.matrix_bytes(self.drafted, self.hidden_size)


def read_medusa(checkpoint: HeadCheckpoint) -> MedusaLayout:
    """Count heads and blocks by their tensors; sizes in config.json must agree, but its number of heads need not.

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
    """Return the size that config.json has by this name, else the rows of a tensor, or None without both."""
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
        dtypes: Types of the inputs of blocks and maps.
        target_ids: (Vd,) the target's id of each of the draft's tokens; None if they are the same.
        soft_cap: c in c * tanh(logit / c) if the map is the head of a target that has a cap, else None.
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
        self.heads = len(further)  # number of heads
        self._first = first
        self._further = further
        self.target_ids = target_ids  # the ids that were given
        self._maps = maps
        self._dtypes = dtypes
        self._soft_cap = soft_cap
        self._guess = _guess_of(first, further, maps)

    def logits(self, hidden: Tensor, count: int) -> Tensor:
        """Map a hidden state after the target's final norm to logits of the first heads.

        Args:
            hidden: (n, h).
            count: Number of heads.

        Returns:
            (count * n, Vd) float32 logits of the tokens 1, 2 and so on after the root, head by head; valid until the
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
        """Compute the logits with torch's operators."""
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


def _guess_of(first: LinearMap, further: Sequence[Sequence[LinearMap]], maps: Sequence[LinearMap]) -> Guess | None:
    """Return the heads as the kernel library takes them, or None if it cannot compute them."""
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
    """Load heads. Maps are loaded one after the other if each head has its own, because they are large.

    Args:
        head: The target's, on the device; None for heads that have maps of their own.
        head_type: Type of the head's input.
        soft_cap: Soft cap of the head's logits, or None.
        weights: Format of the matrices. Packed formats need the CPU.
        check: Called before each tensor; raises to cancel.

    Raises:
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape, or d2t and t2d disagree.
        ConfigInvalid: A value of config.json makes no sense.
    """
    layout = read_medusa(checkpoint)
    linear = HeadMaps(weights, device)
    ids = None if layout.drafted is None else drafted_ids(checkpoint, "d2t", "t2d", layout.vocabulary_size or 0, device)
    first: list[tuple[Tensor, Tensor]] = []
    further: list[list[LinearMap]] = []
    maps: list[LinearMap] = []
    for slots in layout.heads:
        found = linear.read(checkpoint, slots, check)
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
    return MedusaNetwork(linear.linear(weight, bias), further, maps, (weights.activations, map_type), ids, cap)


def ranks_of(network: MedusaNetwork, hidden: Tensor, tokens: Sequence[int]) -> NDArray[numpy.uint8]:
    """Return the ranks of the tokens of one reply.

    Args:
        hidden: (n - 1, h) hidden rows of the target after its final norm, from the row that the reply's first token
            comes from; on the heads' device.
        tokens: (n) tokens of the reply.

    Returns:
        (n - 1, K) ranks, as in `RankLog`.
    """
    heads = network.heads
    wanted = torch.tensor(tokens, dtype=torch.long)
    own = wanted
    if network.target_ids is not None:
        ids = network.target_ids.cpu()
        table = torch.full((1 + int(max(ids.max(), wanted.max())),), -1)
        own = table.index_put((ids,), torch.arange(len(ids)))[wanted]
    found = torch.full((len(hidden), heads), NO_RANK, dtype=torch.uint8)
    for start in range(0, len(hidden), _PIECE):
        rows = hidden[start : start + _PIECE]
        logits = network.logits(rows, heads).view(heads, len(rows), -1)
        for head in range(min(heads, len(own) - start - 1)):
            true = own[start + 1 + head : start + 1 + head + len(rows)]
            known = (true >= 0).nonzero().squeeze(1)
            said = logits[head, known.to(logits.device)]
            above = said > said.gather(1, true[known].to(said.device)[:, None])
            found[start + known, head] = above.sum(1).clamp_max(NO_RANK).to(torch.uint8).cpu()
    return found.numpy()


@dataclass(frozen=True)
class HeadCalibration:
    """Calibration of a model's heads on its replies.

    Raises:
        ValueError: The nodes are no tree, or a width has no figure.
    """

    # Nodes of the searched tree, the best first: its first nodes are the tree of a smaller width
    tree: tuple[Node, ...]
    searched: tuple[float, ...]  # tokens of a round by `WIDTHS`, with these trees
    grown: tuple[float, ...]  # tokens of a round by `WIDTHS`, with trees of the heads' own probabilities
    follows: bool  # True if drafts follow the searched tree; else they are grown
    # Shares of tokens among a head's likeliest 1, 3 and 10, by head
    accuracies: tuple[tuple[float, ...], ...] = ()
    places: int = 0  # tokens that were counted
    # Likeliest tokens of a feature draft's first guess by the class of their share of probability, and those among them
    # that came: (class, tokens, came) each, by `engine.drafting.eagle.share_class`
    shares: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        """Refuse figures that no calibration can have."""
        parents_of(self.tree)
        if not len(self.searched) == len(self.grown) == len(WIDTHS):
            raise ValueError("a width has no figure")
        if not all(self.accuracies):
            raise ValueError("a head has no accuracy")
        if not all(0 <= held <= seen for _, seen, held in self.shares):
            raise ValueError("more guesses hold than there are")

    @property
    def depth(self) -> int:
        """Heads that the tree needs."""
        return max(map(len, self.tree), default=0)

    @property
    def followed(self) -> tuple[Node, ...]:
        """Nodes that drafts follow; none if drafts are grown."""
        return self.tree if self.follows else ()

    @property
    def tokens(self) -> dict[int, float]:
        """Tokens of a round by nodes of its draft, with the trees that drafts use."""
        taus = self.searched if self.follows else self.grown
        return {width - 1: tau for width, tau in zip(WIDTHS, taus, strict=True) if width > 1}

    def fits(self, layout: MedusaLayout) -> bool:
        """Return whether this may be the tree of such heads."""
        return self.depth <= len(layout.heads)


def read_calibration(kind: type[C], cache_folder: Path, target: str, draft: str) -> C | None:
    """Read the calibration that was made on this machine; return None if there is none or it is damaged.

    Args:
        kind: Class of the calibration.
        target: Digest of the model.
        draft: Digest of its draft; the calibration of another draft is not read.
    """
    try:
        return from_plain(kind, read_cached(_path(cache_folder, target, draft)))
    except ValueError:
        return None


def keep_calibration(cache_folder: Path, target: str, draft: str, calibration: DataclassInstance) -> None:
    """Keep a calibration. If it cannot be kept, it is made again later."""
    write_cached(_path(cache_folder, target, draft), asdict(calibration))


def calibration_beside(kind: type[C], folder: Path) -> C | None:
    """Read the calibration in the folder of a draft; return None if there is none or it is damaged."""
    try:
        return from_plain(kind, read_json(read_text_file(folder / FILE)))
    except (OSError, ValueError):
        return None


def write_beside(folder: Path, calibration: DataclassInstance) -> None:
    """Write a calibration into the folder of its draft, whole or not at all.

    Raises:
        OSError: The file cannot be written.
    """
    write_whole(folder / FILE, json.dumps(asdict(calibration)) + "\n")


def _path(cache_folder: Path, target: str, draft: str) -> Path:
    return cache_folder / _FOLDER / f"{target[:16]}-{draft[:16]}.json"


class Calibration(Protocol[L_in]):
    """Result of counting a draft's trees."""

    @property
    def tokens(self) -> dict[int, float]:
        """Tokens of a round by rows of its draft beside the root's."""

    def fits(self, layout: L_in) -> bool:
        """Return whether these may be the trees of such a draft."""


K = TypeVar("K", bound=Calibration[Any])


@dataclass(frozen=True)
class CalibratedDraft(TargetDraft[L], Generic[L, K]):
    """Tensors beside a model that have no cache of their own, with their calibration."""

    beside: K | None = None  # calibration that came with the draft, or None

    by_levels = False
    calibration_type: ClassVar[type[Any]]
    """The class K of their calibration."""

    @classmethod
    def read(cls: type[D], opened: OpenedModel, target: ModelConfig) -> D:
        """Read a draft, whose folder must be complete, and its calibration."""
        beside = calibration_beside(cls.calibration_type, opened.place)
        return replace(super().read(opened, target), beside=beside)

    def calibration(self, target: str) -> K | None:
        """Return the calibration for a model by its digest: the one made here, else the one beside the draft."""
        found: K | None = read_calibration(self.calibration_type, cache_folder(), target, self.digest)
        found = found or self.beside
        return found if found is None or found.fits(self.layout) else None

    def counted(self, target: str) -> Mapping[int, float]:
        """Return the tokens of a round by rows, as counted on the replies of the calibration."""
        calibration = self.calibration(target)
        return {} if calibration is None else calibration.tokens


@dataclass(frozen=True)
class MedusaDraft(CalibratedDraft[MedusaLayout, HeadCalibration]):
    """Medusa heads, which bring no tokenizer and may share the target's head."""

    read_layout = staticmethod(read_medusa)
    kind = "medusa"
    calibration_type = HeadCalibration
    # Half the gain of Vicuna-7B's heads in Ghidorah's table I (Wei et al. 2025) with trees of 16 rows on MT-bench,
    # HumanEval and GSM8K, MT-bench standing for instructions too: other heads are seldom as good.
    published: ClassVar[Mapping[PromptKind, float]] = {
        "chat": 1.97,
        "code": 2.10,
        "arithmetic": 2.04,
        "instruction": 1.97,
    }

    @property
    def layers(self) -> int:
        """Number of blocks of all heads."""
        return len(self.layout.heads) * self.layout.blocks

    @property
    def read_elements(self) -> int:
        """Elements of their matrices, and of the target's head if they share it."""
        slots = [slot for head in self.layout.heads for slot in head if len(slot.shape) == 2]
        own = sum(slot.shape[0] * slot.shape[1] for slot in slots)
        if self.layout.own_maps:
            return own
        return own + (self.layout.drafted or self.target.vocabulary_size) * self.target.hidden_size

    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Return the bytes of their weights, and on another device of a copy of a shared head."""
        own = self.layout.size_bytes(weights)
        if self.layout.own_maps or self.layout.drafted is not None or not elsewhere:
            return own
        return own + self.target.vocabulary_size * self.target.hidden_size * weights.dense.itemsize

    def check(self, target: OpenedModel) -> None:
        """Check that hidden size and vocabulary are the target's."""
        vocabulary = self.layout.vocabulary_size
        wanted = target.config.vocabulary_size if vocabulary is None else vocabulary
        check_sizes(self.layout.hidden_size, wanted, target.config)

    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Read the weights, and a copy of the target's head if they share it on another device."""
        source, config, link, check = parts.target.source, parts.target.config, parts.link, parts.check
        weights, head, head_type = parts.weights, source.whole_head, source.dtype
        if parts.plan.on_gpu:
            head_type = weights.dense
            if not self.layout.own_maps:
                head = _read_head(parts.checkpoint, config, head_type, link.device, check)
        cap = config.logit_soft_cap
        network = load_medusa(self.opened.head, head, head_type, cap, weights, link.device, check)
        calibration = self.calibration(parts.checkpoint.digest())

        def new_text() -> DraftText:
            return MedusaDrafter(network, config.layers, calibration).for_reply

        unused = calibration is None and (self.opened.place / FILE).exists()
        notes = (say(_UNUSED, file=FILE, name=self.name),) if unused else ()
        return LoadedDraft(self.name, self.kind, link, new_text, notes)


def _read_head(
    checkpoint: Checkpoint,
    config: ModelConfig,
    dtype: torch.dtype,
    device: torch.device,
    check: Callable[[], None],
) -> LinearMap:
    found = read_slots(checkpoint, [head_slot(config)], dtype, device, lambda count: None, check)
    return Linear(found["head"])


class MedusaDrafter(LastRowDrafter, LevelDrafter):
    """Drafts trees from the hidden state of the token before the root.

    Args:
        hidden_layer: As `LastRowDrafter` takes it.
    """

    def __init__(
        self,
        network: MedusaNetwork,
        hidden_layer: int,
        calibration: HeadCalibration | None = None,
    ) -> None:
        LevelDrafter.__init__(self, network.heads, {} if calibration is None else calibration.tokens)
        LastRowDrafter.__init__(self, hidden_layer)
        self._network = network
        self._nodes = () if calibration is None else calibration.followed
        self._known: dict[tuple[int, int], tuple[Sequence[Node], tuple[int, ...]]] = {}
        self._target_ids = None if network.target_ids is None else network.target_ids.tolist()

    def propose(self, shape: DraftShape) -> Draft:
        """Draft a tree below the last observed token: dynamic, fixed or searched.

        Raises:
            DraftMismatch: A fixed tree is deeper than there are heads.
        """
        network = self._network
        if shape.rows < 1:
            return Draft()
        searched: Sequence[Node] = ()
        if self.limits.searched and shape.parents is None:
            searched, parents = self._searched(shape.rows)
            shape = DraftShape.tree(parents) if searched else shape
        most = network.heads
        self._check_depth(shape)
        logits = network.logits(self._last, shape.depth or min(self.limits.depth, most, shape.rows))
        draft = likeliest_along(searched, shape.parents or (), logits) if searched else self._tree(shape, logits)
        ids = self._target_ids
        return draft if ids is None else replace(draft, tokens=tuple(ids[token] for token in draft.tokens))

    def _searched(self, rows: int) -> tuple[Sequence[Node], tuple[int, ...]]:
        """Return the first nodes of the searched tree within the depth that trees may have, and their parents."""
        depth = self.limits.depth
        if (rows, depth) not in self._known:
            nodes = [node for node in self._nodes if len(node) <= depth][:rows]
            self._known[rows, depth] = nodes, parents_of(nodes)
        return self._known[rows, depth]
