"""Tokens that a round is expected to give: Omega of Dovetail's equation 1, vl of Minions, tau of PPD.

Replies measure the worth of a draft as they run. Until then the published figures of its kind stand in for it: tau of
LLaMA2-Chat-7B with 16 tokens verified, greedy, from Dovetail's table I (Zhang et al. 2024), by kind of prompt.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy

from engine.messages import PromptKind

KINDS: tuple[PromptKind, ...] = ("chat", "code", "arithmetic", "instruction")

# Nodes after which a larger draft gains little: EAGLE-2 gives tau 4.12 with 15 nodes and 5.00 with 59 in that table,
# and 1 + gain * (1 - exp(-nodes / 10)) goes through both.
_NODES = 10.0
_PUBLISHED_NODES = 15
# Prompt lookup has no such table. This is an assumption on the careful side: it finds something in a tenth of the
# rounds, in code more often, and a long draft then brings two tokens.
_LOOKUP_FINDS: dict[PromptKind, float] = {"chat": 0.05, "code": 0.2, "arithmetic": 0.1, "instruction": 0.1}
_LOOKUP_GAIN = 2.0


@dataclass(frozen=True)
class TokenYield:
    """Tokens of a round by the size of its draft, for one kind of prompt.

    Attributes:
        gain: Tokens beside the target's own that a draft without limit would give in a round that has one.
        finds: The share of rounds in which there is anything to draft.
        reach: By nodes, the share of the gain that drafts of so many have, where it was counted; else it is assumed.
    """

    gain: float
    finds: float = 1.0
    reach: tuple[tuple[int, float], ...] = ()

    def tokens(self, nodes: int) -> float:
        """Of a round that has a draft of this many nodes, the target's own token included."""
        # A chain of n guesses gives n + 1 tokens at most.
        return 1.0 + min(self.gain * _reach(nodes, self.reach), nodes)


Expectation = Mapping[PromptKind, TokenYield]
"""Yield of a drafter by kind of prompt."""


def lookup_expectation() -> Expectation:
    """Assumed yield of prompt lookup, until it is measured."""
    return {kind: TokenYield(_LOOKUP_GAIN, _LOOKUP_FINDS[kind]) for kind in KINDS}


def published_expectation(published: Mapping[PromptKind, float]) -> Expectation:
    """Published yield of a draft, until it is measured: tau by kind of prompt, with drafts of 15 nodes."""
    return {kind: fit_yield(tau, _PUBLISHED_NODES) for kind, tau in published.items()}


def counted_expectation(tokens: Mapping[int, float]) -> Expectation:
    """Yield of a draft as it was counted on replies of the model: tokens of a round by nodes, ascending."""
    most = max(tokens.values()) - 1.0
    reach = tuple((nodes, (each - 1.0) / most) for nodes, each in tokens.items()) if most > 0.0 else ()
    return dict.fromkeys(KINDS, TokenYield(most, reach=reach))


def best_expectation(of_each: Sequence[Expectation], nodes: int) -> Expectation:
    """Return, for each kind of prompt, the expectation of the drafter with the most tokens from so many nodes."""
    return {
        kind: max((each[kind] for each in of_each), key=lambda one: one.finds * (one.tokens(nodes) - 1.0))
        for kind in KINDS
    }


def fit_yield(
    tokens: float, nodes: float, finds: float = 1.0, reach: tuple[tuple[int, float], ...] = ()
) -> TokenYield:
    """The yield with which drafts of this many nodes on average give this many tokens."""
    share = _reach(nodes, reach)
    return TokenYield(max(0.0, tokens - 1.0) / share if share > 0.0 else 0.0, finds, reach)


def _reach(nodes: float, counted: tuple[tuple[int, float], ...]) -> float:
    if not counted:
        return 1.0 - math.exp(-nodes / _NODES)
    sizes, shares = zip((0, 0.0), *counted, strict=True)
    return float(numpy.interp(nodes, sizes, shares))
