"""Cost and yield of a round of decoding: the papers' cost models put together.

Letters follow Dovetail (Zhang et al. 2024, section II, equations 1 to 6): T_D is a forward of the draft, T_V(w) one of
the target over w tokens, Omega the tokens that a round gives. Equation 1 writes a draft of gamma tokens as
gamma * T_D; a tree of them is drafted level by level, so it costs depth * T_D(width). T_V is equation 4 for each
layer, where that layer lives, and what crosses to it if that takes longer (equation 5's P / (B_p * E_p), for a disk
as for a bus). The draft that gives the most tokens per second is taken: Minions' minimum of t_LLM / vl (section 3.3)
with the draft's time added, and PPD's maximum of tau(n) / L_fp(n) (section 4).

Replies measure the worth of a draft as they run. Until then the published figures of its kind stand in for it: tau
of LLaMA2-Chat-7B with 16 tokens verified, greedy, from Dovetail's table I (Zhang et al. 2024), by kind of prompt.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy

from engine.decoding.costs import Curve
from engine.decoding.worth import TRIES_SHARE, draft_sizes
from engine.drafting.kind import DraftKind
from engine.messages import PromptKind
from engine.model.weight_format import WeightFormat
from engine.placement import PlacementPlan
from engine.placement.plan import Sizes
from engine.planning.machine_speeds import (
    CHIP_LAUNCHES,
    FUSED_LAYER_OPERATORS,
    LAUNCHES,
    LAYER_OPERATORS,
    MachineSpeeds,
    UnitTimes,
)
from engine.planning.model_facts import TargetFacts

KINDS: tuple[PromptKind, ...] = ("chat", "code", "arithmetic", "instruction")

# Nodes after which a larger draft gains little: in that table EAGLE-2 gives tau 4.12 with 15 nodes and 5.00 with
# 59, and 1 + gain * (1 - exp(-nodes / 10)) goes through both.
_NODES = 10.0
_PUBLISHED_NODES = 15
# Prompt lookup has no such table. This is an assumption on the careful side: it finds a draft in a tenth of the
# rounds, in code more often, and a long draft then brings two tokens.
_LOOKUP_FINDS: dict[PromptKind, float] = {"chat": 0.05, "code": 0.2, "arithmetic": 0.1, "instruction": 0.1}
_LOOKUP_GAIN = 2.0
# Time beside the layers, in operators on hardly any data (`HostSpeed.operator_s`): embedding and final norm, with
# torch's operators and in the kernel library; the loop around a forward (sampling, text), and its part that the
# measured forwards of replies leave out (text). Measured on the machine of BENCHMARKS.md; the library's figures
# with 10 and 60 layers of 256 columns.
_FORWARD_OPERATORS, _FUSED_FORWARD_OPERATORS = 400, 150
_LOOP_OPERATORS, _LOOP_BESIDE_MEASURED = 150, 40
_HALF_BYTES = 2
_TREE_DEPTH, _TREE_WIDTH = 7, 10
# Share of rounds in which LLMCad's draft made ahead is still valid: the whole best branch must have been accepted.
_AHEAD_HOLDS = 0.3


@dataclass(frozen=True)
class TokenYield:
    """Tokens of a round by the size of its draft, for one kind of prompt."""

    # Tokens beside the target's own that a draft without limit would give in a round that has a draft
    gain: float
    finds: float = 1.0  # share of rounds in which there is anything to draft
    # Share of the gain that drafts of so many nodes have, by nodes, if it was counted; else it is assumed
    reach: tuple[tuple[int, float], ...] = ()

    def tokens(self, nodes: int) -> float:
        """Return the tokens of a round that has a draft of so many nodes, the target's own token included."""
        # A chain of n guesses gives at most n + 1 tokens.
        return 1.0 + min(self.gain * _reach(nodes, self.reach), nodes)


Expectation = Mapping[PromptKind, TokenYield]
"""Yield of a drafter by kind of prompt."""


def lookup_expectation() -> Expectation:
    """Return the assumed yield of prompt lookup, until it is measured."""
    return {kind: TokenYield(_LOOKUP_GAIN, _LOOKUP_FINDS[kind]) for kind in KINDS}


def published_expectation(published: Mapping[PromptKind, float]) -> Expectation:
    """Return the published yield of a draft, until it is measured: tau by kind of prompt, with drafts of 15 nodes."""
    return {kind: fit_yield(tau, _PUBLISHED_NODES) for kind, tau in published.items()}


def counted_expectation(tokens: Mapping[int, float]) -> Expectation:
    """Return the yield of a draft as counted on replies of the model: tokens of a round by nodes, ascending."""
    most = max(tokens.values()) - 1.0
    reach = tuple((nodes, (each - 1.0) / most) for nodes, each in tokens.items()) if most > 0.0 else ()
    return dict.fromkeys(KINDS, TokenYield(most, reach=reach))


def best_expectation(of_each: Sequence[Expectation], nodes: int) -> Expectation:
    """Return, for each kind of prompt, the expectation of the drafter with the most tokens from so many nodes."""
    return {
        kind: max((each[kind] for each in of_each), key=lambda one: one.finds * (one.tokens(nodes) - 1.0))
        for kind in KINDS
    }


def fit_yield(tokens: float, nodes: float, finds: float = 1.0, reach: tuple[tuple[int, float], ...] = ()) -> TokenYield:
    """Return the yield with which drafts of so many nodes on average give so many tokens."""
    share = _reach(nodes, reach)
    return TokenYield(max(0.0, tokens - 1.0) / share if share > 0.0 else 0.0, finds, reach)


def _reach(nodes: float, counted: tuple[tuple[int, float], ...]) -> float:
    if not counted:
        return 1.0 - math.exp(-nodes / _NODES)
    sizes, shares = zip((0, 0.0), *counted, strict=True)
    return float(numpy.interp(nodes, sizes, shares))


@dataclass(frozen=True)
class Round:
    """The predicted best round for one kind of prompt or all of them."""

    tokens_per_second: float  # speed of the text
    tokens: float  # omega: tokens of a round
    nodes: int  # nodes of the round's draft


class TargetCost:
    """T_V of a target in one placement.

    Args:
        target: The model.
        weights: Format of the weights on the host, and on the GPU too.
        plan: Places of the target's layers.
        speeds: Speeds of the machine.
        position: Tokens of text before the forward, which attention reads.
        measured: Measured seconds of forwards by width; empty for none.
    """

    def __init__(
        self,
        target: TargetFacts,
        weights: WeightFormat,
        plan: PlacementPlan,
        speeds: MachineSpeeds,
        position: int,
        measured: Mapping[int, float] | None = None,
    ) -> None:
        config = target.config
        self._speeds = speeds
        self._plan = plan
        self._sizes = Sizes(config, weights, position)
        self._units = UnitTimes(config, weights, speeds, position)
        self._position = position
        self._packed = weights.packed
        self._format = speeds.host.format(weights.measured_as)
        self._computing_s = cache(self._computed_s)  # of few widths, asked for in each kind of prompt
        self.known = bool(measured)  # True if forwards were measured
        self._curve = Curve(self.predicted_s, measured)

    def forward_s(self, width: int) -> float:
        """Return T_V(width)."""
        return self._curve.seconds(width)

    def predicted_s(self, width: float) -> float:
        """Return T_V(width) without any measurements of this model."""
        return self._forward_s(int(width), int(width))

    def _forward_s(self, width: int, logit_rows: int) -> float:
        operators = _FUSED_FORWARD_OPERATORS if self._packed else _FORWARD_OPERATORS
        outside = operators * self._speeds.host.operator_s
        computing, crossing = self._computing_s(width, logit_rows), self.crossing_s(width)
        return (max(computing, crossing) if self._plan.reads_ahead else computing + crossing) + outside

    def computing_s(self, width: int) -> float:
        """Return the seconds of a forward in which the processor computes, without any measurements of this model."""
        return self._computing_s(width, width)

    @property
    def loop_s(self) -> float:
        """Seconds of a round beside forward and draft."""
        operators = _LOOP_BESIDE_MEASURED if self.known else _LOOP_OPERATORS
        return operators * self._speeds.host.operator_s

    def waiting_s(self, width: int) -> float:
        """Return the seconds of a forward in which nothing is computed because weights are on their way."""
        computing = self.computing_s(width) if self._plan.reads_ahead else 0.0
        return max(0.0, self.crossing_s(width) - computing)

    def prefill_s(self, tokens: int, chunk: int) -> float:
        """Return the seconds of reading a prompt in chunks."""
        whole, rest = divmod(tokens, chunk)
        # The measured forwards are narrow, and show little about wide ones. Only the last row has logits.
        reading_s = whole * self._forward_s(chunk, 1) + (self._forward_s(rest, 1) if rest else 0.0)
        return reading_s + self._attending_s(tokens)

    def _attending_s(self, tokens: int) -> float:
        """Return the seconds in which the host's layers multiply each row of a prompt with those before it."""
        config, products = self._sizes.config, 0.0
        for layer, place in enumerate(self._plan.layers):
            if isinstance(config.cache_shapes[layer], tuple) and not self._plan.computes_there(place):
                seen = min(config.windows[layer] or tokens, tokens)
                products += 2.0 * config.of_layer(layer).query_size * seen * (tokens - seen / 2)
        return products / self._speeds.host.formats["fp32"].products_per_s

    def _computed_s(self, width: int, logit_rows: int) -> float:
        units = self._units.at(width, self._plan.fuses_layers, logit_rows)
        arranging_s = self._plan.read_bytes(self._sizes, width) * self._format.arranging_s_per_byte
        return self._plan.computing_s(units, width, self._position) + arranging_s

    def crossing_s(self, width: int) -> float:
        """Return the seconds in which weights of a forward come from the disk and through the bus."""
        gpu, disk = self._speeds.gpu, self._speeds.disk_bytes_per_s
        bus = math.inf if gpu is None else gpu.from_host_bytes_per_s
        return self._plan.crossing_s(self._sizes, width, disk, bus)


class DraftCost:
    """T_D of a draft, on the GPU in 16 bits or blocks, or on the host in the format that is fastest there."""

    def __init__(
        self,
        draft: DraftKind,
        weights: WeightFormat,
        speeds: MachineSpeeds,
        on_gpu: bool,
    ) -> None:
        """Take a draft.

        Args:
            draft: The draft.
            weights: Format of the weights on the host.
            speeds: Speeds of the machine.
            on_gpu: True if the draft runs on the GPU.
        """
        self.by_levels = draft.by_levels
        self._draft = draft
        self._bytes_each = weights.matrix_bytes(1024, 1024) / (1 << 20)
        self._packed = weights.packed
        self._format = speeds.host.format(weights.measured_as)
        self._speeds = speeds
        self._on_gpu = on_gpu and speeds.gpu is not None

    def forward_s(self, width: int) -> float:
        """Return T_D(width); if the draft does not go by levels, one forward makes all of it."""
        width = width if self._draft.by_levels else self._draft.block_rows
        elements = self._draft.read_elements
        gpu = self._speeds.gpu
        if self._on_gpu and gpu is not None:
            each = self._bytes_each if gpu.packed else _HALF_BYTES
            computing = gpu.seconds(elements * each, elements, width)
            operators = self._draft.layers * (CHIP_LAUNCHES if gpu.packed else LAUNCHES) * gpu.operator_s
        else:
            computing = self._format.seconds(elements * self._bytes_each, width * elements)
            each = FUSED_LAYER_OPERATORS if self._packed else LAYER_OPERATORS
            operators = self._draft.layers * each * self._speeds.host.operator_s
        outside = _FORWARD_OPERATORS * self._speeds.host.operator_s
        return computing + operators + outside

    def tree_s(self, nodes: int) -> float:
        """Return the seconds of drafting a tree: depth * T_D(width), or one T_D."""
        if not self.by_levels:
            return self.forward_s(1)
        # The kept nodes grow in depth and in width: 3 nodes take 3 levels, 7 take 5 and 15 take 7.
        depth = min(_TREE_DEPTH, nodes, round(1 + 1.6 * math.sqrt(nodes)))
        width = max(1, min(_TREE_WIDTH, nodes // depth))
        return depth * self.forward_s(width)


class DraftsCost:
    """T_D of a mode's drafts, one or several: several draft one after the other, even if they share no device.

    Args:
        drafts: Cost of each draft.
        measured: Measured seconds of whole drafts by their nodes; empty for none.
    """

    def __init__(self, drafts: Sequence[DraftCost], measured: Mapping[int, float] | None = None) -> None:
        self._drafts = drafts
        self._curve = Curve(lambda nodes: sum(draft.tree_s(int(nodes)) for draft in drafts), measured)

    def forward_s(self, width: int) -> float:
        """Return T_D(width) of all drafts together, as far off as trees of so many nodes are."""
        return self._curve.factor(width) * sum(draft.forward_s(width) for draft in self._drafts)

    @property
    def ahead_holds(self) -> float:
        """Share of the work drafted ahead that is of use."""
        return _AHEAD_HOLDS if all(draft.by_levels for draft in self._drafts) else 0.0

    def tree_s(self, nodes: int) -> float:
        """Return the seconds of drafting a tree of so many nodes."""
        return self._curve.factor(nodes) * sum(draft.tree_s(nodes) for draft in self._drafts)


def plain_round(target: TargetCost) -> Round:
    """Return the round of plain decoding: one token for each forward."""
    return Round(1.0 / (target.forward_s(1) + target.loop_s), 1.0, 0)


def drafted_rounds(
    target: TargetCost, draft: DraftsCost | None, expected: Expectation, largest: int = 15, ahead: bool = False
) -> list[Round]:
    """Return the rounds of drafting and verifying in turn, equation 1, by the size of the draft.

    Args:
        target: Cost of the target, T_V.
        draft: Cost of the draft, T_D; None for a drafter that takes no time.
        expected: Expected tokens, Omega.
        largest: Most nodes of a draft.
        ahead: True if drafts grow while the target's layers are on their way (LLMCad, Xu et al. 2023, section 3.4).
    """
    rounds = []
    for nodes in draft_sizes(largest):
        drafting_s = 0.0 if draft is None else draft.tree_s(nodes)
        if ahead and draft is not None:
            drafting_s -= min(drafting_s, target.waiting_s(nodes + 1)) * draft.ahead_holds
        rounds.append(_mean(target, expected, nodes, drafting_s))
    return rounds


def drafted_round(
    target: TargetCost, draft: DraftsCost | None, expected: Expectation, largest: int = 15, ahead: bool = False
) -> Round:
    """Return the best of `drafted_rounds`, or a round without a draft if no draft pays."""
    best = max(drafted_rounds(target, draft, expected, largest, ahead), key=lambda one: one.tokens_per_second)
    # If no draft pays, the schedule decodes plainly, except for the time that it spends on finding that out.
    floor = plain_round(target).tokens_per_second / (1.0 + TRIES_SHARE)
    return best if best.tokens_per_second > floor else Round(floor, 1.0, 0)


def _mean(target: TargetCost, expected: Expectation, nodes: int, drafting_s: float) -> Round:
    """Return the mean round over kinds of prompts, by the seconds that a token takes."""
    seconds, tokens = 0.0, 0.0
    for each in expected.values():
        given = each.finds * each.tokens(nodes) + (1.0 - each.finds)
        verifying = each.finds * target.forward_s(nodes + 1) + (1.0 - each.finds) * target.forward_s(1)
        seconds += (verifying + drafting_s + target.loop_s) / given
        tokens += given
    count = len(expected)
    return Round(count / seconds, tokens / count, nodes)
