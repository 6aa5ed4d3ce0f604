"""The drafts that Gemma 4 comes with (``*-it-assistant``): a few layers of queries over their target's keys and values.

A step joins the target's embedding of a token with the hidden state of the token before, the target's or the last
step's. Each layer reads the keys and values of the target's last layer of its type, up to the token that was emitted
last, whose position every step has. So a step depends on the steps before it by its input alone: there is no cache, and
the nodes of a tree are rows beside each other.

Source: transformers (models/gemma4_assistant, and SinglePositionMultiTokenCandidateGenerator in generation).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from engine.drafting.eagle import HeadDraft
from engine.drafting.head_layout import MISMATCH, LayoutOfBlocks, bad_value, refuse
from engine.drafting.head_loader import HeadMaps, check_sizes
from engine.drafting.kind import Drafting, DraftLoad, LoadedDraft
from engine.drafting.level_drafter import LastRowDrafter
from engine.drafting.target_draft import TargetDraft
from engine.drafting.trees import Level, TreeShape, grow_tree, with_states
from engine.errors import DraftMismatch, TensorMismatch
from engine.families import ASSISTANTS
from engine.model.attention import FOLD_LIMIT_ROWS, StepMask
from engine.model.block import block
from engine.model.config import ModelConfig, check_counts, read_config
from engine.model.embedding import Embedding
from engine.model.kv_cache import KVCache, SeenRows
from engine.model.layer import LayerWeights
from engine.model.linear import LinearMap, Norm
from engine.model.loader import final_norm
from engine.model.rope import RopeTable
from engine.model.tensors import HARMLESS_SUFFIXES, Slot, compare_tensors, layer_slots, outer_slots
from engine.model.token_tree import Draft, DraftShape
from engine.model.weight_format import WeightFormat
from engine.model_file import OpenedModel
from engine.sentences import say
from engine.weights.checkpoint import CheckpointOutline
from engine.weights.head_checkpoint import HeadCheckpoint

_ORDERING = "masked_embedding.token_ordering"


@dataclass(frozen=True, kw_only=True)
class AssistantLayout(LayoutOfBlocks):
    """Contents of such a checkpoint; its slots leave out the order of the tokens.

    In `for_target` each layer's ``keys_of`` becomes a layer of the target.
    """

    centroids: int  # clusters of its tokens; 0 for a head over all of them
    chosen: int  # clusters whose tokens a step looks at

    def size_bytes(self, weight_format: WeightFormat) -> int:
        """Bytes in memory; the order of the tokens is 64 bits each."""
        order = 8 * self.blocks.vocabulary_size if self.centroids else 0
        return order + super().size_bytes(weight_format)

    def for_target(self, target: ModelConfig) -> AssistantLayout:
        """Return the layout with the layers of the target whose keys and values it reads.

        Raises:
            DraftMismatch: The draft was made for another target.
        """
        if not target.family.global_heads:
            raise DraftMismatch(
                "The draft reads the keys and values of a Gemma 4 model, and this one is of the family {family}; "
                "choose a draft that was made for this model.",
                family=say(target.family.name),
            )
        check_sizes(self.target_hidden_size, self.blocks.vocabulary_size, target)
        shapes = []
        for shape, window in zip(self.blocks.shapes, self.blocks.windows, strict=True):
            try:
                layer = target.last_keys(window is not None)
            except ValueError:
                layer = None
            theirs = None if layer is None else (target.shapes[layer].kv_heads, target.shapes[layer].head_dim)
            if theirs != (shape.kv_heads, shape.head_dim):
                raise DraftMismatch(
                    "The draft reads keys of the shape {heads} x {width}, and this model has none; choose a "
                    "draft that was made for this model.",
                    heads=shape.kv_heads,
                    width=shape.head_dim,
                )
            shapes.append(replace(shape, keys_of=layer))
        return replace(self, blocks=replace(self.blocks, shapes=tuple(shapes)))


def read_assistant(checkpoint: HeadCheckpoint) -> AssistantLayout:
    """Read a layout and check its tensors.

    Raises:
        UnsupportedModel: A setting that Tenon does not run.
        ConfigInvalid: A value of config.json is missing or makes no sense.
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape.
    """
    raw, text = checkpoint.config, checkpoint.config.get("text_config") or {}
    for key in ("enable_moe_block", "use_double_wide_mlp", "attention_bias"):
        if text.get(key):
            raise refuse(key, text[key])
    blocks = replace(read_config(CheckpointOutline(checkpoint.folder), ASSISTANTS), tied=True)
    check_counts(blocks.layers, len(checkpoint.shapes))
    if blocks.input_width:
        raise refuse("hidden_size_per_layer_input", blocks.input_width)
    hidden, vocabulary = blocks.hidden_size, blocks.vocabulary_size
    try:
        target_hidden = int(raw["backbone_hidden_size"])
        centroids = int(raw["num_centroids"]) if raw.get("use_ordered_embeddings") else 0
        chosen = int(raw["centroid_intermediate_top_k"]) if centroids else 0
        if target_hidden < 1 or (centroids and (vocabulary % centroids or not 1 <= chosen <= centroids)):
            raise ValueError(f"{vocabulary} tokens around {centroids} centroids, of which {chosen} are chosen")
    except (TypeError, ValueError, KeyError) as error:
        raise bad_value(error) from error
    table, norm = outer_slots(blocks)
    outer = [
        norm,
        # A table is read by clusters, a head as a whole.
        table if centroids else replace(table, field="head"),
        Slot("pre_projection.weight", (hidden, 2 * target_hidden), "join"),
        Slot("post_projection.weight", (target_hidden, hidden), "feature"),
    ]
    expected: dict[str, tuple[int, ...]] = {}
    if centroids:
        outer.append(Slot("masked_embedding.centroids.weight", (centroids, hidden), "centroids"))
        expected[_ORDERING] = (vocabulary,)
    layout = AssistantLayout(
        blocks=blocks,
        target_hidden_size=target_hidden,
        draft_vocabulary_size=vocabulary,
        centroids=centroids,
        chosen=chosen,
        outer=tuple(outer),
        layers=tuple(tuple(layer_slots(blocks, index)) for index in range(blocks.layers)),
    )
    compare_tensors(
        checkpoint.shapes,
        expected | {slot.name: slot.shape for slot in layout.slots},
        lambda name: name.endswith(HARMLESS_SUFFIXES) or name == "lm_head.weight",
        MISMATCH,
    )
    return layout


class CentroidHead:
    """A head that looks at the tokens of the clusters whose centroids a row is nearest to, and at no others.

    Args:
        centroids: h -> C.
        table: (C, V / C, h) the rows of each cluster's tokens.
        order: (C, V / C) int64, their ids.
        chosen: Clusters that are looked at.
    """

    def __init__(self, centroids: LinearMap, table: Tensor, order: Tensor, chosen: int) -> None:
        self._centroids, self._table, self._order, self._chosen = centroids, table, order, chosen

    def __call__(self, rows: Tensor) -> Tensor:
        """Map (n, h) rows to (n, V) logits; tokens that are not looked at get minus infinity."""
        chosen = self._centroids(rows).topk(self._chosen, -1).indices
        near = self._table[chosen].flatten(1, 2).to(rows.dtype)
        logits = (near @ rows[:, :, None])[..., 0]
        every = logits.new_full((len(rows), self._order.numel()), -torch.inf)
        return every.scatter_(1, self._order[chosen].flatten(1), logits)


class AssistantNetwork:
    """Runs such a draft.

    Args:
        layout: Sizes, for its target.
        target_layers: Number of the target's layers.
        embedding: The target's.
        scale: Multiplies the embedding.
        join: [embedding; hidden state] -> h.
        layers: The draft's layers.
        norm: Norm after the layers.
        head: h -> V.
        feature: h -> the target's hidden size.
        dtype: Type of the activations.
    """

    def __init__(
        self,
        layout: AssistantLayout,
        target_layers: int,
        embedding: Embedding,
        scale: float,
        join: LinearMap,
        layers: tuple[LayerWeights, ...],
        norm: Norm,
        head: LinearMap | CentroidHead,
        feature: LinearMap,
        dtype: torch.dtype,
    ) -> None:
        # Index of the target's hidden rows that the draft takes: the input of the target's head
        self.hidden_layers = (target_layers,)
        self._dtype = dtype
        self._embedding, self._scale = embedding, scale
        self._join, self._layers, self._norm, self._head, self._feature = join, layers, norm, head, feature
        blocks = layout.blocks
        self._windows = blocks.windows
        self._configs = [blocks.of_layer(index) for index in range(blocks.layers)]
        self._layer_ropes = blocks.layer_ropes
        self._ropes = [RopeTable(rope, dtype, embedding.device) for rope in blocks.ropes]

    @torch.inference_mode()
    def run(
        self, tokens: Tensor, features: Tensor, cache: KVCache, check: Callable[[], None] = lambda: None
    ) -> tuple[Tensor, Tensor]:
        """Run one step for some nodes of a tree.

        Args:
            tokens: (n,) int64.
            features: (n, target's h) hidden states of the tokens before them: the target's after its final norm, or
                what this returned.
            cache: The target's, which holds all tokens before the one that was emitted last.
            check: Called before each layer; raises to cancel.

        Returns:
            (n, V) float32 logits of what follows, and (n, target's h) the features of these nodes.
        """
        count, length = len(tokens), cache.length
        rotations = []
        for rope in self._ropes:
            rope.reserve(length + 1)
            rotations.append(rope.rows(torch.full((count,), length), False))
        embedded = self._embedding(tokens).to(self._dtype) * self._scale
        hidden = self._join(torch.cat((embedded, features.to(self._dtype)), -1))
        for index, layer in enumerate(self._layers):
            check()
            config, window, kind = self._configs[index], self._windows[index], self._layer_ropes[index]
            # transformers counts the window from the last committed token, without that one.
            first = 0 if window is None else max(0, length - window - 1)
            seen = SeenRows(count, StepMask(first, None, count <= FOLD_LIMIT_ROWS), cache, committed=True)
            assert config.keys_of is not None, "a layout for its target"
            rotation = None if kind is None else rotations[kind]
            hidden = block(config, layer, config.keys_of, hidden, rotation, [seen])
        hidden = self._norm(hidden)
        return self._head(hidden).float(), self._feature(hidden)


def load_assistant(
    checkpoint: HeadCheckpoint,
    target: ModelConfig,
    embedding: Embedding,
    embedding_type: torch.dtype,
    weight_format: WeightFormat,
    check: Callable[[], None] = lambda: None,
) -> AssistantNetwork:
    """Load such a draft into the memory of the host.

    Args:
        checkpoint: The draft's.
        target: Config of the model that it drafts for.
        embedding: The target's.
        embedding_type: Type of the target's activations, which the factor of its embedding is rounded to.
        weight_format: Format of the draft's matrices.
        check: Called before each tensor; raises to cancel.

    Raises:
        DraftMismatch: The draft was made for another target.
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape, or the order of its tokens is none.
        UnsupportedModel: A setting that Tenon does not run.
        ConfigInvalid: A value of its config.json makes no sense.
    """
    layout = read_assistant(checkpoint).for_target(target)
    blocks, maps = layout.blocks, HeadMaps(weight_format, torch.device("cpu"))
    outer, *layers = (maps.read(checkpoint, slots, check) for slots in (layout.outer, *layout.layers))
    head: LinearMap | CentroidHead
    if layout.centroids:
        order = checkpoint.tensor(_ORDERING).long()
        if not torch.equal(order.sort().values, torch.arange(len(order))):
            raise TensorMismatch(
                "The draft's {name} does not name each token once; choose another draft.", name=_ORDERING
            )
        table = outer["embedding"].to(weight_format.dense)[order]
        clusters = order.view(layout.centroids, -1)
        head = CentroidHead(
            maps.linear(outer["centroids"], None),
            table.view(*clusters.shape, -1),
            clusters,
            layout.chosen,
        )
    else:
        head = maps.linear(outer["head"], None)
    return AssistantNetwork(
        layout,
        target.layers,
        embedding,
        1.0 if target.embedding_scale is None else torch.tensor(target.embedding_scale, dtype=embedding_type).item(),
        maps.linear(outer["join"], None),
        tuple(
            maps.layer(config, tensors)
            for config, tensors in zip(map(blocks.of_layer, range(blocks.layers)), layers, strict=True)
        ),
        final_norm(blocks, outer["final_norm"]),
        head,
        maps.linear(outer["feature"], None),
        weight_format.activations,
    )


@dataclass(frozen=True)
class AssistantDraft(TargetDraft[AssistantLayout]):
    """An assistant, which shares the target's embedding."""

    read_layout = staticmethod(read_assistant)
    kind = "head"
    # The target's keys are where the target is, and a step is small.
    on_host = True
    # Nothing is published about trees. The figures of a head stand here until replies have counted.
    published = HeadDraft.published

    @property
    def layers(self) -> int:
        """Number of layers."""
        return self.layout.blocks.layers

    @property
    def read_elements(self) -> int:
        """Elements of its matrices; of a table by clusters, only the rows that one step looks at."""
        layout = self.layout
        slots = [slot for slot in layout.slots if len(slot.shape) == 2 and slot.field != "embedding"]
        near = 0
        if layout.centroids:
            near = layout.chosen * (layout.blocks.vocabulary_size // layout.centroids) * layout.blocks.hidden_size
        return near + sum(slot.shape[0] * slot.shape[1] for slot in slots)

    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Return the bytes of its weights; it has no cache."""
        return self.layout.size_bytes(weights)

    def check(self, target: OpenedModel) -> None:
        """Check that family, sizes and the shape of keys are the target's."""
        self.layout.for_target(target.config)

    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Read the weights."""
        source = parts.target.source
        network = load_assistant(
            self.opened.head,
            parts.target.config,
            source.embedding,
            source.dtype,
            parts.plan.weights,
            parts.check,
        )
        return LoadedDraft(self.name, self.kind, parts.link, lambda: partial(AssistantDrafter, network, parts.check))


class AssistantDrafter(LastRowDrafter):
    """Trees of an assistant; between replies nothing is kept.

    Args:
        check: Called between its layers; raises to cancel.
        wanted: The reply's drafts, and the target's cache.
    """

    def __init__(self, network: AssistantNetwork, check: Callable[[], None], wanted: Drafting) -> None:
        assert isinstance(wanted.growth, TreeShape), "a mode that paces branches was given an assistant"
        assert wanted.cache is not None, "an assistant reads the target's cache"
        super().__init__(*network.hidden_layers)
        self._network, self._check = network, check
        self._limits, self._cache = wanted.growth, wanted.cache

    @torch.inference_mode()
    def propose(self, shape: DraftShape) -> Draft:
        """Draft a tree below the last observed token, dynamic or fixed."""
        if shape.rows < 1:
            return Draft()
        network, cache, check = self._network, self._cache(), self._check
        first, feature = network.run(torch.tensor(self._text[-1:]), self._last, cache, check)

        def run(level: Level, features: Tensor) -> tuple[Tensor, Tensor]:
            return network.run(torch.tensor(level.tokens), features, cache, check)

        return grow_tree(self._limits, shape, first[0], with_states(run, feature))
