"""Mixtures of experts: a model's sizes, and a layer's computation by torch's operators.

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

#: Most groups that the kernel library chooses among (TENON_MOST_GROUPS).
MOST_GROUPS = 64
# Most numbers in a vector that torch computes at once.
_VECTOR = 32


@dataclass(frozen=True)
class Mixture:
    """The experts of a model's feed-forward networks."""

    experts: int  # number of them in a layer, E
    chosen: int  # number that a token takes, k
    width: int  # intermediate size of an expert, f
    layers: tuple[bool, ...]  # True for each layer that has experts; the others have only a dense network
    latent: int = 0  # width that experts map from and to, if it is not the residual stream's; 0 if it is
    fused: bool = False  # True if the checkpoint has an expert's gate and up in one tensor
    # Kind of scores that the router's logits become: shares of all, or each its sigmoid
    scores: Literal["softmax", "sigmoid"] = "softmax"
    normalised: bool = True  # True if the chosen experts' weights are divided by their sum
    sum_floor: float = 0.0  # number added to that sum
    scale: float = 1.0  # factor of the weights
    groups: int = 1  # number of groups of neighbouring experts
    # Number of groups that a token's experts may be of, the best by the sum of their largest scores
    chosen_groups: int = 1
    group_scores: int = 2  # number of largest scores in that sum
    corrected: bool = False  # True if a number per expert is added to the scores for the choice alone
    # Intermediate size of the network that every token takes beside its experts; 0 for none
    shared_width: int = 0
    # True if that network's result is multiplied by the sigmoid of a number of the token's own
    shared_gate: bool = False
    scaled: bool = False  # True if a number per expert multiplies its weight
    # True if router, experts and the dense network have norms of their own over the residual stream
    beside: bool = False
    # Share of a row's choices that the row before it has made, if replies have shown it (`Repeats`); None if each
    # row is taken to choose for itself
    reuse: float | None = None

    def read(self, rows: int) -> float:
        """Return how many experts of a layer a forward of so many rows reads, at least one row.

        Each row after the first takes the same share of the experts that no row before it took: in all E (1 - (1 -
        k/E)^n) if rows choose for themselves, k if each chooses like the one before.
        """
        return self.experts - (self.experts - self.chosen) * (1.0 - self._fresh) ** (rows - 1)

    def brought(self, rows: int, kept: int) -> float:
        """Return how many experts the disk brings for so many rows if so many that were used last are kept."""
        # The experts of the row before are here, as many as there is room for.
        there = min(kept / self.chosen, 1.0)
        others = self.experts - max(kept, self.chosen)
        return (1.0 - there) * self.read(rows) + there * others * (1.0 - (1.0 - self._fresh) ** rows)

    @property
    def _fresh(self) -> float:
        """Share of the experts taken by no row yet that one more row takes."""
        if self.reuse is None or self.chosen == self.experts:
            return self.chosen / self.experts
        return min((1.0 - self.reuse) * self.chosen / (self.experts - self.chosen), 1.0)


class Repeats:
    """Counts how often a row chooses experts that the row before it chose, in prompts and in replies.

    `add` counts choices that Python has: of experts that come from the disk as they are chosen, and of experts that
    the host computes for a GPU's rows. The kernel library counts in `counts` by itself if all of a layer is in the
    host's memory. Choices of layers that a GPU computes are not counted.

    Args:
        layers: Number of the model's layers.
        chosen: Experts that a row takes, k.
    """

    def __init__(self, layers: int, chosen: int) -> None:
        # (layers, 3 + k) int64: choices of rows after another one, those of them that the other had made too,
        # whether the last forward's row was alone, and its choices
        self.counts = torch.zeros(layers, 3 + chosen, dtype=torch.int64)
        self._counts = self.counts.numpy()

    def add(self, layer: int, chosen: Sequence[int]) -> None:
        """Count the choices of a forward's rows in a layer, k of each, rows in the order of the text or against it.

        A row that was computed alone is compared with the one before it that was alone too: after several rows,
        whose branches may not have held, it is not known here which of them it follows.
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
        """Return the share of the choices since the last call that the row before had made; None without any."""
        choices, repeated = self._counts[:, :2].sum(0).tolist()
        self._counts[:, :2] = 0
        return repeated / choices if choices else None


@dataclass(frozen=True)
class Experts:
    """The experts of one layer. f = intermediate size of an expert."""

    router: LinearMap  # map h -> E
    gate_up: tuple[LinearMap, ...]  # map of each expert h -> 2 f, gate first
    down: tuple[LinearMap, ...]  # map of each expert f -> h
    shared_gate: LinearMap | None = None  # map h -> 1, or None
    correction: Tensor | None = None  # (E,) float32, or None
    scale: Tensor | None = None  # (E,) float32, or None
    # The layer's counts of a `Repeats` if the kernel library is to count, or None
    repeats: Tensor | None = None
    # Maps of the rows that experts take to a latent, and of what they give from it, or None
    latent_in: LinearMap | None = None
    latent_out: LinearMap | None = None
    # Brings the experts that rows have chosen if they may be elsewhere; they stay until it is called again for a
    # layer. Returns those whose matrices lie at another place than before. Takes each row's k, the last row's
    # first. Raises to cancel.
    bring: Callable[[Sequence[int]], Collection[int]] | None = None
    # Computes `mixed` of (n, h) rows, (n, k) experts and (n, k) weights if experts are not on the layer's device
    # and have no matrices here
    elsewhere: Callable[[Tensor, Tensor, Tensor], Tensor] | None = None

    @property
    def vectors(self) -> tuple[Tensor | None, ...]:
        """Correction and scale of the experts."""
        return (self.correction, self.scale)

    @property
    def matrices(self) -> tuple[LinearMap, ...]:
        """All matrices of the experts and their router."""
        others = (self.shared_gate, self.latent_in, self.latent_out)
        return (self.router, *(one for one in others if one is not None), *self.gate_up, *self.down)

    @property
    def size_bytes(self) -> int:
        """Bytes in memory."""
        vectors = sum(vector.nbytes for vector in self.vectors if vector is not None)
        return sum(matrix.size_bytes for matrix in self.matrices) + vectors


def choose(
    mixture: Mixture, logits: Tensor, correction: Tensor | None, scale: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the experts of each row of router logits, (n, E), and their weights: both (n, k)."""
    scores = logits.float()
    if mixture.scores == "sigmoid":
        # In whole vectors: torch rounds a rest after the last one differently, and rows must not depend on each
        # other.
        experts = scores.shape[1]
        scores = functional.pad(scores, (0, -experts % _VECTOR)).sigmoid()[:, :experts]
    ranked = scores if correction is None else scores + correction
    if mixture.groups > 1:
        grouped = ranked.view(len(ranked), mixture.groups, -1)
        best = grouped.topk(mixture.group_scores).values.sum(-1).topk(mixture.chosen_groups).indices
        left_out = torch.ones(grouped.shape[:2], dtype=torch.bool, device=ranked.device).scatter(1, best, False)
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
    """Return the experts' results for (n, h) normalised rows; each expert takes all rows that chose it at once.

    Args:
        rows: Normalised rows.
        routed: (n, h) input of the router.
        network: The gated network of an expert's matrices over some rows.
    """
    chosen, weights = choose(mixture, experts.router(routed), experts.correction, experts.scale)
    if experts.latent_in is not None:
        rows = experts.latent_in(rows)
    if experts.elsewhere is not None:
        found = experts.elsewhere(rows, chosen, weights)
    else:
        found = mixed(experts, rows, chosen, weights, network)
    return found if experts.latent_out is None else experts.latent_out(found)


def mixed(
    experts: Experts,
    rows: Tensor,
    chosen: Tensor,
    weights: Tensor,
    network: Callable[[LinearMap, LinearMap, Tensor], Tensor],
) -> Tensor:
    """Return the results of (n, k) chosen experts, weighted by the chosen weights; see `mix`."""
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
