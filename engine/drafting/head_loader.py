"""Feature drafts from their checkpoints into memory, checked against the target that they are to draft for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.drafting.feature_network import (
    DovetailFusion,
    Eagle3Fusion,
    EagleFusion,
    Ends,
    FeatureNetwork,
    FeatureWeights,
    Fusion,
)
from engine.drafting.head_layout import HeadLayout, LayoutOfBlocks, read_layout
from engine.errors import DraftMismatch, TensorMismatch
from engine.model.config import ModelConfig
from engine.model.embedding import Embedding, Table
from engine.model.layer import LayerWeights, WeightSource
from engine.model.linear import Linear, LinearMap, Norm, PackedLinear, rows_of
from engine.model.loader import dress_layer, read_slots
from engine.model.packed_loader import pack
from engine.model.tensors import Slot, outer_slots
from engine.model.weight_format import WeightFormat
from engine.weights.checkpoint import Checkpoint
from engine.weights.head_checkpoint import HeadCheckpoint

# Fields of the tensors that name the tokens that are drafted.
_IDS = ("d2t", "t2d")


@dataclass(frozen=True)
class SharedWeights:
    """Weights that a draft takes from its target, on the draft's device."""

    embedding: Embedding  # V rows of h, on that device
    head: LinearMap  # h -> V
    head_dtype: torch.dtype  # type of the head's input
    # True if they are copies made for the draft, so that their memory counts as the draft's
    copied: bool = False


def share(source: WeightSource) -> SharedWeights:
    """Return the target's own embedding and head, for a draft on the same device."""
    return SharedWeights(source.embedding, source.whole_head, source.dtype)


def read_shared(
    checkpoint: Checkpoint,
    config: ModelConfig,
    dtype: torch.dtype,
    device: torch.device,
    check: Callable[[], None] = lambda: None,
) -> SharedWeights:
    """Read copies of the target's embedding and head, for a draft on another device."""
    slots = [slot for slot in outer_slots(config) if slot.field != "final_norm"]
    tensors = read_slots(checkpoint, slots, dtype, device, lambda count: None, check)
    head = Linear(tensors["embedding"] if config.tied else tensors["head"])
    return SharedWeights(Table(tensors["embedding"]), head, dtype, copied=True)


def check_sizes(hidden_size: int, vocabulary_size: int, target: ModelConfig) -> None:
    """Refuse a draft for a target of other sizes.

    Raises:
        DraftMismatch: Hidden size or vocabulary are not the target's.
    """
    if hidden_size != target.hidden_size:
        raise DraftMismatch(
            "The draft is for a model with hidden size {target_hidden_size}, and this model's is "
            "{hidden_size}; choose a draft that was made for this model.",
            target_hidden_size=hidden_size,
            hidden_size=target.hidden_size,
        )
    if vocabulary_size != target.vocabulary_size:
        raise DraftMismatch(
            "The draft is for a model with a vocabulary of {vocabulary_size}, and this model's "
            "has {wanted}; choose a draft that was made for this model.",
            vocabulary_size=vocabulary_size,
            wanted=target.vocabulary_size,
        )


def check_target(layout: LayoutOfBlocks, target: ModelConfig) -> tuple[int, ...]:
    """Refuse a draft for another target; return the indices of the target's hidden rows that it needs.

    Raises:
        DraftMismatch: Hidden size, vocabulary or layers are not the target's.
    """
    check_sizes(layout.target_hidden_size, layout.blocks.vocabulary_size, target)
    fields = {slot.field for slot in layout.outer}
    if layout.blocks.hidden_size != target.hidden_size and not {"embedding", "head"} <= fields:
        raise DraftMismatch(
            "The draft's hidden size is {hidden_size} and the model's {wanted}, so it "
            "needs an embedding and a head of its own; choose another draft.",
            hidden_size=layout.blocks.hidden_size,
            wanted=target.hidden_size,
        )
    hidden_layers = layout.layers_of(target.layers)
    if not all(0 <= layer <= target.layers for layer in hidden_layers):
        raise DraftMismatch(
            "The draft reads the layers {names} of a model, and this one has {layers}; choose a "
            "draft that was made for this model.",
            names=", ".join(map(str, hidden_layers)),
            layers=target.layers,
        )
    return hidden_layers


def load_feature_network(
    checkpoint: HeadCheckpoint,
    target: ModelConfig,
    shared: SharedWeights,
    weight_format: WeightFormat,
    check: Callable[[], None] = lambda: None,
) -> FeatureNetwork:
    """Load a draft onto the device of what it shares with its target.

    Args:
        checkpoint: The draft's.
        target: Config of the model that it drafts for.
        shared: The target's embedding and head.
        weight_format: Format of its matrices. Packed formats need the CPU.
        check: Called before each tensor; raises to cancel.

    Raises:
        DraftMismatch: The draft was made for another target.
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape, or d2t and t2d disagree.
        UnsupportedModel: A kind of draft that Tenon does not run.
        ConfigInvalid: A value of its config.json makes no sense.
    """
    layout = read_layout(checkpoint)
    hidden_layers = check_target(layout, target)
    maps = HeadMaps(weight_format, shared.embedding.device)

    outer = maps.read(checkpoint, [slot for slot in layout.outer if slot.field not in (*_IDS, "mask_hidden")], check)
    blocks = [maps.read(checkpoint, slots, check) for slots in layout.layers]
    final, mask_hidden = outer.get("final_norm"), None
    for slot in layout.outer:
        if slot.field == "mask_hidden":
            mask_hidden = checkpoint.tensor(slot.name).reshape(1, -1).to(maps.device, weight_format.activations)
    weights = FeatureWeights(
        **vars(ends_of(checkpoint, layout, outer, target, shared, maps)),
        fusion=_fusion(layout, outer | blocks[0], maps),
        layers=tuple(maps.layer(layout.blocks, tensors) for tensors in blocks),
        final_norm=None if final is None else Norm(final, layout.blocks.norm_epsilon),
        norm_output=layout.norm_output,
        mask_hidden=mask_hidden,
    )
    return FeatureNetwork(layout.blocks, weights, hidden_layers, weight_format.activations, weight_format.cache)


def ends_of(
    checkpoint: HeadCheckpoint,
    layout: LayoutOfBlocks,
    outer: Mapping[str, Tensor],
    target: ModelConfig,
    shared: SharedWeights,
    maps: HeadMaps,
) -> Ends:
    """Return a draft's embedding and head: its own, by field in ``outer``, or those of its target.

    Raises:
        TensorMismatch: d2t and t2d disagree.
    """
    names, vocabulary = {slot.field: slot.name for slot in layout.outer}, layout.blocks.vocabulary_size
    embedding, head, ids = outer.get("embedding"), outer.get("head"), None
    soft_cap = target.logit_soft_cap if head is None else None
    if layout.draft_vocabulary_size != vocabulary:
        ids = drafted_ids(checkpoint, names["d2t"], names.get("t2d"), vocabulary, maps.device)
        head = rows_of(shared.head, ids) if head is None else head
    kept = [part.size_bytes for part, own in ((shared.embedding, embedding), (shared.head, head)) if own is None]
    return Ends(
        embedding=shared.embedding if embedding is None else Table(embedding.to(maps.weight_format.dense)),
        head=shared.head if head is None else maps.linear(head, None),
        head_dtype=shared.head_dtype if head is None else maps.weight_format.activations,
        target_ids=ids,
        logit_soft_cap=soft_cap,
        shared_bytes=0 if shared.copied else sum(kept),
    )


@dataclass(frozen=True)
class HeadMaps:
    """Makes linear maps from a draft's matrices, in this format and on this device."""

    weight_format: WeightFormat
    device: torch.device

    @property
    def read_dtype(self) -> torch.dtype:
        """Type that tensors are read in; packing starts from more precision than it keeps."""
        return torch.float32 if self.weight_format.packed else self.weight_format.dense

    def read(self, checkpoint: HeadCheckpoint, slots: Sequence[Slot], check: Callable[[], None]) -> dict[str, Tensor]:
        """Read tensors by field; ``check`` is called before each and raises to cancel."""
        return read_slots(checkpoint, list(slots), self.read_dtype, self.device, lambda count: None, check)

    def linear(self, weight: Tensor, bias: Tensor | None) -> LinearMap:
        """Make the map of a matrix as it was read, (out, in), and a bias, (out,)."""
        if not self.weight_format.packed:
            return Linear(weight.to(self.weight_format.dense), bias)
        return PackedLinear(pack(weight, self.weight_format.matrix_kind(weight.shape[1])), bias)

    def layer(self, config: ModelConfig, tensors: dict[str, Tensor]) -> LayerWeights:
        """Make a block from its tensors, keyed by the field names of `layer_slots`."""
        return dress_layer(
            config,
            tensors.keys(),
            vector=tensors.__getitem__,
            linear=lambda field: self.linear(tensors[field], tensors.get(f"{field}_bias")),
        )


def _fusion(layout: HeadLayout, tensors: dict[str, Tensor], maps: HeadMaps) -> Fusion:
    epsilon = layout.blocks.norm_epsilon
    if layout.kind == "dovetail":
        # The paper's code multiplies rows from the left: its matrices are (in, out).
        first, second, gate = (
            maps.linear(tensors[field].t().contiguous(), None) for field in ("feature_map", "token_map", "gate_map")
        )
        return DovetailFusion(Norm(tensors["token_norm"], epsilon), first, second, gate)
    fc = maps.linear(tensors["fc"], tensors.get("fc_bias"))
    if layout.kind == "eagle":
        norm = tensors.get("token_norm")
        return EagleFusion(fc, None if norm is None else Norm(norm, epsilon))
    return Eagle3Fusion(
        fc,
        Norm(tensors["embedding_norm"], epsilon),
        Norm(tensors["feature_norm"], epsilon),
        [Norm(value, epsilon) for field, value in tensors.items() if field.startswith("target_norm.")],
        layout.norm_before_residual,
    )


def never_ends(checkpoint: HeadCheckpoint, end_ids: Collection[int]) -> bool:
    """Return whether a head drafts some of the target's tokens only, and none of those that end a text."""
    name = next((name for name in checkpoint.shapes if name.rpartition(".")[2] == "d2t"), None)
    if name is None or not end_ids:
        return False
    offsets = checkpoint.tensor(name).long()
    return not bool(torch.isin(torch.arange(len(offsets)) + offsets, torch.tensor([*end_ids])).any())


def drafted_ids(
    checkpoint: HeadCheckpoint, d2t: str, t2d: str | None, vocabulary_size: int, device: torch.device
) -> Tensor:
    """Return the target's id of each of the draft's tokens: d2t holds the difference to the draft's id.

    Args:
        checkpoint: The draft's.
        d2t: Name of that tensor.
        t2d: Name of the tensor that marks the tokens, or None if there is none.
        vocabulary_size: The target's.

    Raises:
        TensorMismatch: A token is not among the target's or is drafted twice, or t2d marks other tokens.
    """
    offsets = checkpoint.tensor(d2t).long()
    ids = torch.arange(len(offsets)) + offsets
    if not bool(((ids >= 0) & (ids < vocabulary_size)).all()) or len(set(ids.tolist())) < len(ids):
        raise TensorMismatch(
            "The draft's d2t names tokens that the model does not have, or one twice: it should hold what is added "
            "to the draft's own numbers; choose another draft."
        )
    if t2d is not None:
        drafted = checkpoint.tensor(t2d).bool()
        if not bool(drafted[ids].all()) or int(drafted.sum()) != len(ids):
            raise TensorMismatch(
                "The draft's d2t and t2d disagree about which of the model's tokens it drafts; choose another draft."
            )
    return ids.to(device)
