"""DFlash and DSpark as drafts: one forward fills a block, and trees are made of what its rows hold likely.

The target's hidden rows, reduced by ``fc`` and a norm, are mapped to keys and values by each layer alike. A block is
the root's token and mask tokens after it; its rows see the cache, up to a layer's window, and each other or those
before them. In DSpark a Markov head adds to the logits of a row what the token before it says.

Source: DFlash (Chen et al. 2026, arXiv 2602.06036), and the public code that `block_layout` names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from engine.drafting.block_layout import BlockLayout, MarkovKind, read_block
from engine.drafting.feature_network import Ends
from engine.drafting.head_loader import HeadMaps, SharedWeights, check_target, ends_of
from engine.drafting.kind import DraftLoad, DraftText
from engine.drafting.level_drafter import RowLevelDrafter
from engine.drafting.medusa import MedusaDraft
from engine.drafting.target_draft import CHUNK_ROWS, SharingDraft
from engine.drafting.trees import Level, with_states
from engine.errors import DraftMismatch
from engine.messages import PromptKind
from engine.model.attention import step_mask
from engine.model.block import block
from engine.model.config import ModelConfig
from engine.model.embedding import Embedding, Table
from engine.model.kv_cache import KVCache, SeenRows
from engine.model.layer import LayerWeights
from engine.model.linear import LinearMap, Norm
from engine.model.rope import RopeTable, rotate
from engine.model.token_tree import Draft, DraftShape
from engine.model.weight_format import WeightFormat
from engine.placement.device import Link
from engine.weights.head_checkpoint import HeadCheckpoint


class MarkovHead:
    """A bias of the logits from the token before, of low rank r.

    Args:
        kind: vanilla: the token alone; gated: the row decides how much of it; rnn: a state goes along the path.
        table: V rows of r.
        out: r -> Vd.
        inner: The gate's map, [row; token] -> r, or the state's, [state; token; row] -> 3 r; None for vanilla.
        rank: r.
    """

    def __init__(self, kind: MarkovKind, table: Embedding, out: LinearMap, inner: LinearMap | None, rank: int) -> None:
        self.rank = rank
        self._kind, self._table, self._out, self._inner = kind, table, out, inner

    def __call__(self, tokens: Tensor, rows: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return the bias of the logits for rows that each follow a token.

        Args:
            tokens: (n,) the target's ids.
            rows: (n, h) outputs of the block.
            states: (n, r) of the rows before, zeros at the root.

        Returns:
            (n, Vd) float32, and (n, r) the states of these rows.
        """
        latent = self._table(tokens).to(rows.dtype)
        if self._kind == "gated":
            assert self._inner is not None, "a gate has a map"
            latent = torch.sigmoid(self._inner(torch.cat((rows, latent), -1))) * latent
        elif self._kind == "rnn":
            assert self._inner is not None, "a state has a map"
            gate, candidate, out = self._inner(torch.cat((states, latent, rows), -1)).chunk(3, -1)
            gate = torch.sigmoid(gate)
            states = gate * states + (1.0 - gate) * torch.tanh(candidate)
            latent = torch.tanh(out)
        return self._out(latent).float(), states


@dataclass(frozen=True, kw_only=True)
class BlockWeights(Ends):
    """Weights of such a draft in memory. h = its hidden size."""

    fc: LinearMap  # hidden rows of several of the target's layers side by side -> h
    target_norm: Norm  # norm after ``fc``
    layers: tuple[LayerWeights, ...]  # weights of the draft's layers
    final_norm: Norm  # before the head
    logit_scale: float  # factor of the rows before the head if it is a target's, else 1
    markov: MarkovHead | None  # markov head, or None
    noise: Tensor | None  # (2, h) vectors that are added to the root's row and to each mask's; None for none


class BlockNetwork:
    """Runs such a draft.

    Args:
        layout: Sizes.
        hidden_layers: Layers of the target whose input rows `take_in` takes, side by side.
        dtype: Type of the activations.
        cache_dtype: Type of keys and values.
    """

    def __init__(
        self,
        layout: BlockLayout,
        weights: BlockWeights,
        hidden_layers: tuple[int, ...],
        dtype: torch.dtype,
        cache_dtype: torch.dtype,
    ) -> None:
        self.layout = layout
        self.weights = weights
        self.hidden_layers = hidden_layers
        self.dtype = dtype
        self._cache_dtype = cache_dtype
        self.device = weights.embedding.device
        self._rope = RopeTable(layout.blocks.ropes[0], dtype, self.device)

    @property
    def _config(self) -> ModelConfig:
        return self.layout.blocks

    def new_cache(self, capacity: int) -> KVCache:
        """Return an empty cache for this many rows."""
        return KVCache(self._config.cache_shapes, capacity, self._cache_dtype, self.device)

    @torch.inference_mode()
    def take_in(self, rows: Tensor, cache: KVCache, check: Callable[[], None] = lambda: None) -> None:
        """Commit the target's next (n, k * target's h) rows to the cache; ``check`` is called before each layer."""
        config, weights, first, count = self._config, self.weights, cache.length, len(rows)
        positions = torch.arange(first, first + count, device=self.device)
        cache.place(positions)
        self._rope.reserve(first + count)
        rotation = self._rope.rows(positions, False)
        features = weights.target_norm(weights.fc(rows.to(self.dtype)))
        turning = config.heads + config.kv_heads
        for index, layer in enumerate(weights.layers):
            check()
            assert layer.qkv is not None
            mapped = layer.qkv(features).view(count, turning + config.kv_heads, config.head_dim)
            assert layer.key_norm is not None, "its blocks have Qwen3's norms"
            keys = rotate(layer.key_norm(mapped[:, config.heads : turning]), *rotation[:2])
            cache.append(index, keys, mapped[:, turning:])
        cache.commit(range(count))

    @torch.inference_mode()
    def run(self, root: int, cache: KVCache, check: Callable[[], None] = lambda: None) -> Tensor:
        """Fill a block after the cache's rows, which stay as they are.

        Args:
            root: The token at its first row.
            cache: A cache from `new_cache`.
            check: Called before each layer; raises to cancel.

        Returns:
            (b, h) for a block of b rows, after the final norm.
        """
        config, weights, size = self._config, self.weights, self.layout.block_size
        rows = torch.arange(size, device=self.device)
        positions, ahead = cache.length + rows, rows - rows[:, None]
        placed = cache.place(positions)
        kinds = tuple(zip(config.windows, self.layout.causal, strict=True))
        seen = {}
        for window, causal in set(kinds):
            tree = ahead < (1 if causal else window or size)
            mask = step_mask(placed, size, tree, cache.length, window, self._cache_dtype, config.group)
            seen[window, causal] = [SeenRows(size, mask, cache)]
        self._rope.reserve(cache.length + size)
        rotation = self._rope.rows(positions, False)
        tokens = torch.tensor([root] + [self.layout.mask_token] * (size - 1), device=self.device)
        hidden = weights.embedding(tokens).to(self.dtype)
        if weights.noise is not None:
            hidden = hidden + weights.noise[rows.clamp(max=1)]
        for index, layer in enumerate(weights.layers):
            check()
            hidden = block(config, layer, index, hidden, rotation, seen[kinds[index]])
        cache.commit([])
        return weights.final_norm(hidden)

    @torch.inference_mode()
    def logits(self, rows: Tensor) -> Tensor:
        """Map (n, h) rows of a block to (n, Vd) float32 logits, by the draft's own ids."""
        return self.weights.logits(rows * self.weights.logit_scale)


def load_block(
    checkpoint: HeadCheckpoint,
    target: ModelConfig,
    shared: SharedWeights,
    weight_format: WeightFormat,
    check: Callable[[], None] = lambda: None,
) -> BlockNetwork:
    """Load such a draft onto the device of what it shares with its target; arguments as `load_feature_network`.

    Raises:
        DraftMismatch: The draft was made for another target, or would need a scaled embedding.
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape, or d2t and t2d disagree.
        UnsupportedModel: A block, a window or a setting that Tenon does not run.
        ConfigInvalid: A value of its config.json makes no sense.
    """
    layout = read_block(checkpoint)
    hidden_layers = check_target(layout, target)
    maps = HeadMaps(weight_format, shared.embedding.device)

    outer = maps.read(checkpoint, [slot for slot in layout.outer if slot.field not in ("d2t", "t2d")], check)
    if "embedding" not in outer and target.embedding_scale is not None:
        raise DraftMismatch(
            "This model scales its embedding, and the draft has none of its own; choose a draft that has one, or "
            "an EAGLE-3 draft."
        )
    epsilon = layout.blocks.norm_epsilon
    weights = BlockWeights(
        **vars(ends_of(checkpoint, layout, outer, target, shared, maps)),
        fc=maps.linear(outer["fc"], None),
        target_norm=Norm(outer["target_norm"], epsilon),
        layers=tuple(maps.layer(layout.blocks, maps.read(checkpoint, slots, check)) for slots in layout.layers),
        final_norm=Norm(outer["final_norm"], epsilon),
        logit_scale=1.0 if "head" in outer else target.logit_scale,
        markov=_markov(layout, outer, maps),
        noise=_noise(outer).to(weight_format.activations) if "noise_1" in outer else None,
    )
    return BlockNetwork(layout, weights, hidden_layers, weight_format.activations, weight_format.cache)


def _noise(outer: dict[str, Tensor]) -> Tensor:
    """Return a network's rows for a token without noise, the root, and one of noise alone, a mask: (2, h) float32.

    Source: PrismML's llama.cpp, src/models/dflash.cpp (log-SNR conditioning); its inputs are 1000 and 0 by sines and
    cosines of 10000^(-i/half).
    """
    first, second = (outer[f"noise_{at}"].float() for at in (1, 2))
    half = first.shape[1] // 2
    turns = torch.tensor([1000.0, 0.0])[:, None] * torch.exp(-math.log(10000.0) * torch.arange(half) / half)
    features = torch.cat((turns.sin(), turns.cos()), 1).to(first.device)
    inner = torch.nn.functional.silu(features @ first.T + outer["noise_1_bias"].float())
    return inner @ second.T + outer["noise_2_bias"].float()


def _markov(layout: BlockLayout, outer: dict[str, Tensor], maps: HeadMaps) -> MarkovHead | None:
    if not layout.markov_rank:
        return None
    inner = None
    if "markov_inner" in outer:
        inner = maps.linear(outer["markov_inner"], outer["markov_inner_bias"])
    table = Table(outer["markov_table"].to(maps.weight_format.dense))
    out = maps.linear(outer["markov_map"], None)
    return MarkovHead(layout.markov_kind, table, out, inner, layout.markov_rank)


@dataclass(frozen=True)
class BlockDraft(SharingDraft[BlockLayout]):
    """A draft of a whole block."""

    read_layout = staticmethod(read_block)
    kind = "block"
    by_levels = False
    # Published tables are of blocks checked whole on large GPUs. Medusa's stand here until replies have counted.
    published: ClassVar[Mapping[PromptKind, float]] = MedusaDraft.published

    @property
    def block_rows(self) -> int:
        """Number of rows in a block."""
        return self.layout.block_size

    def texts(self, shared: SharedWeights, parts: DraftLoad) -> Callable[[], DraftText]:
        """Read the blocks."""
        network = load_block(self.opened.head, parts.target.config, shared, parts.weights, parts.check)
        return lambda: BlockDrafter(network, parts.context, parts.link, parts.check).for_reply


class BlockDrafter(RowLevelDrafter):
    """Trees of one block.

    Args:
        context: Tokens of context of the target.
        link: The way to the draft's device.
        check: Called between its layers; raises to cancel.
    """

    def __init__(self, network: BlockNetwork, context: int, link: Link, check: Callable[[], None]) -> None:
        cache = network.new_cache(context + network.layout.block_size)
        super().__init__(network.layout.levels, network.hidden_layers, cache, 0, network.weights.target_ids)
        self._network, self._link, self._check = network, link, check

    @torch.inference_mode()
    def propose(self, shape: DraftShape) -> Draft:
        """Draft a tree below the last observed token, dynamic or fixed."""
        if shape.rows < 1:
            return Draft()
        network, link, root = self._network, self._link, self._text[-1]
        waiting = self._rows.take()
        if waiting is not None:
            for start in range(0, len(waiting), CHUNK_ROWS):
                network.take_in(waiting[start : start + CHUNK_ROWS], self._cache, self._check)
        rows = network.run(root, self._cache, self._check)
        rows = rows if network.layout.from_anchor else rows[1:]
        levels, markov = network.logits(rows), network.weights.markov

        if markov is None:
            draft = self._grown(shape, levels[0], lambda level: levels[level.depth, None])
        else:
            bias, state = markov(link.to_device(torch.tensor([root])), rows[:1], rows.new_zeros(1, markov.rank))

            def run(level: Level, before: Tensor) -> tuple[Tensor, Tensor]:
                tokens = link.to_device(torch.tensor(self._by_target(level.tokens)))
                bias, made = markov(tokens, rows[level.depth].expand(len(tokens), -1), before)
                return levels[level.depth] + bias, made

            draft = self._grown(shape, (levels[:1] + bias)[0], with_states(run, state, link.to_device))
        return replace(draft, tokens=self._by_target(draft.tokens))
