"""Mixtures of experts: what a model's are like, and the computation of a layer's by torch's operators.

Source: Shazeer et al. 2017, "Outrageously large neural networks"; the routers of today's models as transformers 5 has
them, groups and correction as in DeepSeek-V3 (2024), section 2.1.2.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from engine.model.linear import LinearMap

#: Groups that the kernel library chooses among at most (TENON_MOST_GROUPS).
MOST_GROUPS = 64
# Numbers that torch takes at once, at most.
_VECTOR = 32


@dataclass(frozen=True)
class Mixture:
    """The experts of a model's feed-forward networks.

    Attributes:
        experts: Number of them in a layer, E.
        chosen: Number that a token takes, k.
        width: Intermediate size of an expert, f.
        layers: Per layer: True where it has experts; the others have a dense network alone.
        fused: The checkpoint has an expert's gate and up in one tensor.
        scores: What the router's logits become: shares of all, or each its sigmoid.
        normalised: The chosen experts' weights are divided by their sum.
        sum_floor: Added to that sum.
        scale: Multiplies the weights.
        groups: Experts come in so many groups of neighbours.
        chosen_groups: A token's experts are of so many of them, the best by the sum of their largest scores.
        group_scores: So many of them.
        corrected: A number per expert is added to the scores for the choice alone.
        shared_width: Intermediate size of the network that every token takes beside its experts; 0 for none.
        shared_gate: What that network gives is multiplied by the sigmoid of a number of the token's own.
        scaled: A number per expert multiplies its weight.
        beside: Router, experts and the dense network have norms of their own over the residual stream.
        reuse: Share of a row's choices that the row before it has made, where replies have shown it (`Repeats`); None
            where each row is taken to choose for itself.
    """

    experts: int
    chosen: int
    width: int
    layers: tuple[bool, ...]
    fused: bool = False
    scores: Literal["softmax", "sigmoid"] = "softmax"
    normalised: bool = True
    sum_floor: float = 0.0
    scale: float = 1.0
    groups: int = 1
    chosen_groups: int = 1
    group_scores: int = 2
    corrected: bool = False
    shared_width: int = 0
    shared_gate: bool = False
    scaled: bool = False
    beside: bool = False
    reuse: float | None = None

    def read(self, rows: int) -> float:
        """Return how many experts of a layer a forward of so many rows reads, at least one row.

        Each row after the first takes the same share of those that no row before it took: E (1 - (1 - k/E)^n) where
        rows choose for themselves, k experts where each chooses as the one before.
        """
        return self.experts - (self.experts - self.chosen) * (1.0 - self._fresh) ** (rows - 1)

    def brought(self, rows: int, kept: int) -> float:
        """Return how many experts the disk brings for so many rows if so many that were used last are kept."""
        # Of those that the row before took, as many as there is room for are there.
        there = min(kept / self.chosen, 1.0)
        others = self.experts - max(kept, self.chosen)
        return (1.0 - there) * self.read(rows) + there * others * (1.0 - (1.0 - self._fresh) ** rows)

    @property
    def _fresh(self) -> float:
        """Share of the experts that no row has taken yet that one more row takes."""
        if self.reuse is None or self.chosen == self.experts:
            return self.chosen / self.experts
        return min((1.0 - self.reuse) * self.chosen / (self.experts - self.chosen), 1.0)


class Repeats:
    """Counts how often a row chooses experts that the row before it chose, in prompts and in replies.

    `add` counts where Python has the choices: where experts come from the disk as they are chosen, and where the host
    computes those of a GPU's rows. The kernel library counts in `counts` by itself, where all of a layer is in the
    host's memory. Choices of layers that a GPU computes stay there.

    Args:
        layers: Of the model.
        chosen: Experts that a row takes, k.

    Attributes:
        counts: (layers, 3 + k) int64: choices of rows behind another one, those of them that the other had made too,
            whether the last forward's row was alone, and its choices.
    """

    def __init__(self, layers: int, chosen: int) -> None:
        self.counts = torch.zeros(layers, 3 + chosen, dtype=torch.int64)
        self._counts = self.counts.numpy()

    def add(self, layer: int, chosen: Sequence[int]) -> None:
        """Count the choices of a forward's rows in a layer, k of each, rows in the order of the text or against it.

        A row that was computed alone is compared with the one before it that was: behind several, whose branches may
        not have held, nobody knows here which of them it follows.
        """
        counts, width = self._counts[layer], self._counts.shape[1] - 3
        rows = [frozenset(chosen[first : first + width]) for first in range(0, len(chosen), width)]
        alone = len(rows) == 1
        if alone and counts[2]:
            rows.append(frozenset(counts[3:]))
        counts[0] += width * (len(rows) - 1)
        counts[1] += sum(len(one & other) for one, other in pairwise(rows))
        counts[2] = alone
        if alone:
            counts[3:] = chosen

    def take(self) -> float | None:
        """Share of the choices since the last call that the row before had made; None where there were none."""
        choices, repeated = self._counts[:, :2].sum(0).tolist()
        self._counts[:, :2] = 0
        return repeated / choices if choices else None


@dataclass(frozen=True)
class Experts:
    """The experts of one layer. f = intermediate size of an expert.

    Attributes:
        router: h -> E.
        gate_up: Of each expert h -> 2 f, gate first.
        down: Of each expert f -> h.
        shared_gate: h -> 1, or None.
        correction: (E,) float32, or None.
        scale: (E,) float32, or None.
        repeats: Of a `Repeats`, the layer's counts, where the kernel library is to count; or None.
        bring: Where experts may be elsewhere, brings those that rows have chosen, which stay until it is called again
            for a layer; names those whose matrices lie at another place than before. Takes each row's k, the last row's
            first. Raises to cancel.
        elsewhere: Where experts are not on the layer's device, and no matrices here: gives `mixed` of (n, h) rows,
            (n, k) experts and (n, k) weights.
    """

    router: LinearMap
    gate_up: tuple[LinearMap, ...]
    down: tuple[LinearMap, ...]
    shared_gate: LinearMap | None = None
    correction: Tensor | None = None
    scale: Tensor | None = None
    repeats: Tensor | None = None
    bring: Callable[[Sequence[int]], Collection[int]] | None = None
    elsewhere: Callable[[Tensor, Tensor, Tensor], Tensor] | None = None

    @property
    def vectors(self) -> tuple[Tensor | None, ...]:
        """Correction and scale."""
        return (self.correction, self.scale)

    @property
    def matrices(self) -> tuple[LinearMap, ...]:
        """All of them."""
        gate = () if self.shared_gate is None else (self.shared_gate,)
        return (self.router, *gate, *self.gate_up, *self.down)

    @property
    def size_bytes(self) -> int:
        """Bytes in memory."""
        vectors = sum(vector.nbytes for vector in self.vectors if vector is not None)
        return sum(matrix.size_bytes for matrix in self.matrices) + vectors


def choose(
    mixture: Mixture, logits: Tensor, correction: Tensor | None, scale: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The experts of each row of router logits, (n, E), and their weights: both (n, k)."""
    scores = logits.float()
    if mixture.scores == "sigmoid":
        # In whole vectors: torch rounds what is behind the last one otherwise, and rows must not depend on each other.
        experts = scores.shape[1]
        scores = functional.pad(scores, (0, -experts % _VECTOR)).sigmoid()[:, :experts]
    ranked = scores if correction is None else scores + correction
    if mixture.groups > 1:
        grouped = ranked.view(len(ranked), mixture.groups, -1)
        best = grouped.topk(mixture.group_scores).values.sum(-1).topk(mixture.chosen_groups).indices
        left_out = torch.ones(grouped.shape[:2], dtype=torch.bool, device=ranked.device).scatter(
            1, best, False
        )
        ranked = grouped.masked_fill(left_out[..., None], -torch.inf).view(ranked.shape)
    chosen = ranked.topk(mixture.chosen).indices
    if mixture.scores == "softmax":
        scores = scores.softmax(-1)
    weights = scores.gather(1, chosen)
    if mixture.normalised:
        # One after the other: torch adds the numbers of few rows in another order than those of many.
        total = reduce(torch.add, weights.unbind(-1))[:, None]
        weights = weights / (total + mixture.sum_floor)
    return chosen, weights * (mixture.scale if scale is None else mixture.scale * scale[chosen])


def mix(
    mixture: Mixture,
    experts: Experts,
    rows: Tensor,
    routed: Tensor,
    network: Callable[[LinearMap, LinearMap, Tensor], Tensor],
) -> Tensor:
    """Results of the experts for (n, h) normalised rows; each expert takes all the rows that chose it at once.

    Args:
        mixture: Of the model.
        experts: Of the layer.
        rows: Normalised.
        routed: (n, h) what the router maps.
        network: The gated network of an expert's matrices over some rows.
    """
    chosen, weights = choose(mixture, experts.router(routed), experts.correction, experts.scale)
    if experts.elsewhere is not None:
        return experts.elsewhere(rows, chosen, weights)
    return mixed(experts, rows, chosen, weights, network)


def mixed(
    experts: Experts,
    rows: Tensor,
    chosen: Tensor,
    weights: Tensor,
    network: Callable[[LinearMap, LinearMap, Tensor], Tensor],
) -> Tensor:
    """The same of (n, k) experts that were chosen and the weights of what they give; see `mix`."""
    mixed = rows.new_zeros(rows.shape)
    on_host = chosen.cpu()
    taken = on_host.flatten().tolist()
    if experts.bring is not None:
        experts.bring(taken[::-1])
    for expert in sorted(set(taken)):
        row, place = (on_host == expert).nonzero(as_tuple=True)
        row, place = row.to(rows.device), place.to(rows.device)
        given = network(experts.gate_up[expert], experts.down[expert], rows[row])
        mixed.index_add_(0, row, (given * weights[row, place, None]).to(rows.dtype))
    return mixed
