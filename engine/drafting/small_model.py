"""A whole model of the target's vocabulary as its draft, and how its own prompt tokens speed it up.

Behind nodes that the draft runs stand probes, which say what it would say some tokens further on. The tree is filled
with these guesses, and the next forward runs its likeliest nodes of all levels at once: where a guess was right, the
levels behind it are the draft's own words already.

Source of prompted drafts: Parallel Prompt Decoding (Chen et al. 2024; the report, section 6.4.2).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from engine.drafting.draft_model import DraftModel, DraftModelDrafter
from engine.drafting.drafter import Drafter
from engine.drafting.kind import (
    Drafting,
    DraftKind,
    DraftLoad,
    DraftPlan,
    DraftText,
    LoadedDraft,
    Pacing,
    ReadTokenizer,
    Seconds,
)
from engine.drafting.paced_tree import PacedTree
from engine.drafting.prompt_tokens import (
    PromptTokens,
    check_prompt_tokens,
    load_prompt_tokens,
    prompt_tokens_beside,
    read_prompt_tokens,
)
from engine.drafting.trees import DraftSampling, TreeShape
from engine.errors import DraftMismatch
from engine.kernels.sampling import likeliest
from engine.messages import PromptKind
from engine.model.config import ModelConfig, read_config
from engine.model.decoder import Decoder
from engine.model.footprint import cache_bytes, layer_elements, weight_bytes
from engine.model.layer import ModelWeights
from engine.model.loader import load_weights
from engine.model.packed_loader import load_packed
from engine.model.token_tree import ROOT, Draft, DraftShape
from engine.model.weight_format import WeightFormat, stored_format, weight_format
from engine.placement.device import half_type
from engine.placement.resident import Resident
from engine.text.pairing import check_pair
from engine.weights.checkpoint import Checkpoint
from engine.weights.checkpoint_outline import CheckpointOutline, checkpoint_or_outline
from engine.weights.draft_kind import draft_kind, is_prompt_tokens
from engine.weights.head_checkpoint import HeadCheckpoint

# Levels that a forward comes to in the mean: its own, and what holds of its guesses.
_LEVELS = 2
# Nodes that a forward runs, and those of them behind which it asks.
_RUN, _ASKING = 8, 2

Following = Sequence[tuple[int, float]]
"""Tokens that may stand in a place and the logarithms of their chances, the likeliest first."""
# Up to this size in float32 the time of a draft is that of its operators, beyond it that of its bytes.
SMALL_DRAFT_BYTES = 64 << 20


@dataclass
class _Node:
    token: int
    parent: int
    depth: int
    score: float
    #: Its row among the draft's uncommitted ones, once it was run; the root's is committed.
    row: int | None = None
    #: Of the next place, and of those that its probes asked for; empty until it was run.
    following: Sequence[Following] = ()


class PromptedDraft(DraftModelDrafter):
    """Drafts the trees of a second model in fewer forwards. Fixed and drawn trees grow level by level all the same.

    Args:
        model: The draft.
        tokens: Its prompt tokens.
        limits: On the size of its trees.
        sampling: The way of drawing drafts; None for the likeliest tokens.
    """

    def __init__(
        self,
        model: DraftModel,
        tokens: PromptTokens,
        limits: TreeShape,
        sampling: DraftSampling | None = None,
    ) -> None:
        super().__init__(model, limits, sampling)
        self._tokens = tokens

    def propose(self, shape: DraftShape) -> Draft:
        """The likeliest nodes, by what the draft says of those that it has run and guesses of the others."""
        limits, tokens = self._limits, self._tokens
        most = min(limits.nodes, shape.rows)
        grows = self._sampling is None and shape.parents is None and most > 0
        if not grows or limits.depth + tokens.count > self._model.same_kind_room:
            return super().propose(shape)
        first, said = self._model.ask_root(tokens.behind([tokens.count]))
        tree = _Growth(limits, most, self._places(first[None], said))
        rows = 0
        for _ in range(-(-min(limits.depth, most) // _LEVELS) - 1):
            chosen = tree.to_run()
            if not chosen:
                break
            tree.learn(chosen, rows, self._run(tree, chosen, rows))
            rows += len(chosen)
        draft = tree.draft()
        self._row_of = tree.rows()
        return draft

    def _run(self, tree: _Growth, chosen: Sequence[int], rows: int) -> list[Sequence[Following]]:
        """One forward over nodes, with probes behind the likeliest of them."""
        count = self._tokens.count
        asking = min(_ASKING, len(chosen))
        # Node i of these probes is the i-th that is run here; the root is committed and asks no more.
        probes = self._tokens.behind([0, *[count] * asking])
        new, depths = len(chosen), [tree.nodes[node].depth for node in chosen]
        sees = torch.zeros(new + len(probes), rows + new + len(probes), dtype=torch.bool)
        place = {node: rows + at for at, node in enumerate(chosen)}
        for at, node in enumerate(chosen):
            for above in tree.path(node):
                row = tree.nodes[above].row
                sees[at, place[above] if row is None else row] = True
        for probe, node in enumerate(probes.nodes, new):
            sees[probe] = sees[node]
        sees[new:, rows + new :] = probes.sees()
        depths += [depths[node] + away for node, away in zip(probes.nodes, probes.distances, strict=True)]
        following = self._model.run(
            [tree.nodes[node].token for node in chosen],
            [len(self._model.text) + depth - 1 for depth in depths],
            sees,
            rows,
            probes=probes,
        )
        own, said = following[:new], following[new:].chunk(asking)
        asked = [self._places(own[at : at + 1], said[at]) for at in range(asking)]
        return [*asked, *([one] for one in self._places(own[asking:]))]

    def _places(self, own: Tensor, said: Tensor | None = None) -> Sequence[Following]:
        """Of what the draft says after nodes, and after the probes of one."""
        rows = own if said is None else torch.cat((own, self._tokens.average(said)))
        found = likeliest(rows, self._limits.width)
        return [list(zip(*each, strict=True)) for each in zip(*found, strict=True)] if len(rows) else []


class _Growth:
    """A tree that grows by what is known of each node.

    Args:
        limits: On its size.
        most: Nodes that are drafted.
        following: Of the root.
    """

    def __init__(self, limits: TreeShape, most: int, following: Sequence[Following]) -> None:
        self.nodes = [_Node(-1, ROOT, 0, 0.0, following=following)]
        self._limits = limits
        self._most = most
        self._by_path: dict[tuple[int, int], int] = {}

    def to_run(self) -> list[int]:
        """The likeliest nodes that were not run, parents first."""
        nodes = [node for node in self._likeliest() if not self.nodes[node].following]
        inner = [node for node in nodes if self.nodes[node].depth < self._limits.depth]
        return inner[:_RUN]

    def learn(self, chosen: Sequence[int], rows: int, following: Sequence[Sequence[Following]]) -> None:
        """These nodes were run, behind so many rows."""
        for at, (node, each) in enumerate(zip(chosen, following, strict=True)):
            self.nodes[node].row, self.nodes[node].following = rows + at, each

    def path(self, node: int) -> list[int]:
        """The node and those above it, without the root."""
        return [node, *self.path(self.nodes[node].parent)] if node else []

    def rows(self) -> dict[tuple[int, int], int]:
        """Of the nodes that were run, by the row above and the token."""
        found = {}
        for node in self.nodes[1:]:
            if node.row is not None:
                above = self.nodes[node.parent].row
                found[ROOT if above is None else above, node.token] = node.row
        return found

    def draft(self) -> Draft:
        """The likeliest nodes, parents first and with their scores."""
        kept = self._likeliest()
        place = {0: ROOT} | {node: at for at, node in enumerate(kept)}
        return Draft(
            tuple(self.nodes[node].token for node in kept),
            tuple(place[self.nodes[node].parent] for node in kept),
            tuple(self.nodes[node].score for node in kept),
        )

    def _likeliest(self) -> list[int]:
        """As many nodes as are drafted, the likeliest first: none scores above its parent."""
        waiting: list[tuple[float, int, int, int, Following]] = []
        found: list[int] = []

        def offer(parent: int, rank: int, following: Following) -> None:
            # The next likeliest below a node, behind those that were taken.
            if rank < len(following) and following[rank][1] > -torch.inf:
                score = self.nodes[parent].score + min(following[rank][1], 0.0)
                heapq.heappush(waiting, (-score, parent, rank, len(waiting), following))

        offer(0, 0, self._following(0))
        while waiting and len(found) < self._most:
            score, parent, rank, _, following = heapq.heappop(waiting)
            node = self._node(parent, following[rank][0], -score)
            found.append(node)
            offer(parent, rank + 1, following)
            if self.nodes[node].depth < self._limits.depth:
                offer(node, 0, self._following(node))
        return found

    def _node(self, parent: int, token: int, score: float) -> int:
        node = self._by_path.setdefault((parent, token), len(self.nodes))
        if node == len(self.nodes):
            self.nodes.append(_Node(token, parent, self.nodes[parent].depth + 1, score))
        self.nodes[node].score = score
        return node

    def _following(self, node: int) -> Following:
        """The draft's logits after a node, or its guess from the last one above it that was run."""
        away = 0
        while not self.nodes[node].following:
            node, away = self.nodes[node].parent, away + 1
        places = self.nodes[node].following
        return places[away] if away < len(places) else ()


@dataclass(frozen=True)
class ModelDraft(DraftKind):
    """A whole model.

    Attributes:
        config: Of its checkpoint.
    """

    config: ModelConfig

    kind = "model"
    # Dovetail's table I (Zhang et al. 2024): tau of LLaMA2-Chat-7B with TinyLlama-1.1B.
    published: ClassVar[Mapping[PromptKind, float]] = {
        "chat": 4.89,
        "code": 5.70,
        "arithmetic": 4.38,
        "instruction": 4.57,
    }

    @classmethod
    def accepts(cls, folder: Path) -> bool:
        """Whatever is no head is a model, whose reader says what is wrong with it."""
        return draft_kind(folder) == "model"

    @classmethod
    def read(cls, name: str, folder: Path, target: ModelConfig) -> ModelDraft:
        """The model in a folder or file; of one that is not here yet its config.json is enough."""
        found = checkpoint_or_outline(folder)
        return cls(name, "" if isinstance(found, CheckpointOutline) else found.digest(), read_config(found))

    @property
    def layers(self) -> int:
        """Its layers."""
        return self.config.layers

    @property
    def read_elements(self) -> int:
        """All layers and the head."""
        config = self.config
        return config.layers * layer_elements(config) + config.vocabulary_size * config.hidden_size

    @property
    def context_length(self) -> int:
        """Tokens of context that it was made for."""
        return self.config.context_length

    def host_format(self, seconds: Seconds, kernels: bool) -> WeightFormat:
        """The format of its file, where that is quantized, else the fastest one.

        A draft need not be exact, so a small one takes 16 bits where the kernel library runs them: a third of float32's
        time, for what costs there is the number of operators. One that is larger than the processor's caches takes
        what multiplies fastest; 4 bits would cost too many of its guesses.
        """
        if self.config.quantization is not None:
            return stored_format(self.config)
        if weight_bytes(self.config, weight_format("fp32")) <= SMALL_DRAFT_BYTES:
            return weight_format("bf16" if kernels else "fp32")
        measured = seconds()
        return weight_format(min(("fp32", "bf16", "q8_0"), key=measured.__getitem__))

    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Weights and cache; nothing is shared with the target."""
        return weight_bytes(self.config, weights) + cache_bytes(self.config, context, weights)

    def check(self, folder: Path, target: Path, config: ModelConfig, read: ReadTokenizer) -> None:
        """Its tokens must be the target's."""
        check_pair(read(target), read(folder))

    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Read the weights."""
        weights = self._weights(Checkpoint(parts.folder), parts.plan, parts.check)
        decoder = Decoder(self.config, Resident(weights))
        vocabulary_size = parts.target.config.vocabulary_size

        def new_text() -> DraftText:
            model = DraftModel(decoder, vocabulary_size, parts.context, parts.link, parts.check)
            return partial(_drafter, model, parts.folder, self.config)

        return LoadedDraft(self.name, self.kind, parts.link, new_text, weights.notes)

    def _weights(self, checkpoint: Checkpoint, plan: DraftPlan, check: Callable[[], None]) -> ModelWeights:
        device = torch.device(plan.device)
        if plan.on_gpu:
            return load_weights(checkpoint, self.config, half_type(device), device, check=check)
        if plan.weights.packed:
            return load_packed(checkpoint, self.config, plan.weights, check=check)
        return load_weights(checkpoint, self.config, plan.weights.dense, device, check=check)


def _drafter(model: DraftModel, folder: Path, config: ModelConfig, wanted: Drafting) -> Drafter:
    """Levels of a dynamic tree, with or without prompt tokens, or branches that are paced."""
    if isinstance(wanted.growth, Pacing):
        return PacedTree(model, wanted.growth, wanted.drafted)
    if wanted.prompted:
        return PromptedDraft(model, _prompt_tokens(folder, config), wanted.growth, wanted.sampling)
    return DraftModelDrafter(model, wanted.growth, wanted.sampling)


def _prompt_tokens(model: Path, config: ModelConfig) -> PromptTokens:
    folder = prompt_tokens_beside(model)
    if not is_prompt_tokens(folder):
        raise DraftMismatch(
            "There are no prompt tokens in {folder}, where those of the draft are looked for: train them with "
            "`tenon train draft --kind prompt-tokens`, or draft without them.",
            folder=folder,
        )
    checkpoint = HeadCheckpoint(folder)
    check_prompt_tokens(read_prompt_tokens(checkpoint), config)
    return load_prompt_tokens(checkpoint)
