"""Replies with a draft of one size in every round: its acceptance length and speed, in the loop that replies run in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import torch

from engine.decoding.loop import Decoding, Hooks, Recipe
from engine.decoding.round_cost import settled
from engine.decoding.schedule import FixedShape
from engine.decoding.sequence import Target, TokenSequence
from engine.decoding.statistics import ReplyClock
from engine.drafting.drafter import Drafter
from engine.drafting.eagle import FeatureDraft
from engine.drafting.feature_network import FeatureNetwork
from engine.drafting.trees import TreeShape
from engine.messages import RoundRecord
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.token_tree import DraftShape
from engine.placement.device import Link
from engine.text.stop import ReplyText
from engine.verifying.sample_and_match import SampleAndMatch

_GREEDY = Sampler(temperature=0.0)


@dataclass(frozen=True)
class Acceptance:
    """Outcome of replies.

    Attributes:
        ids: Their token ids, one reply behind the other.
        tokens: Number of these but the first of each reply, which comes with the prompt.
        forwards: Of the target.
        seconds: From the first token to the last.
    """

    ids: tuple[int, ...]
    tokens: int
    forwards: int
    seconds: float

    @property
    def length(self) -> float:
        """Tokens for each forward of the target (the papers' tau)."""
        return self.tokens / max(1, self.forwards)


def replies_with(
    decoder: Decoder,
    drafter: Drafter,
    prompts: Sequence[Sequence[int]],
    end_ids: Collection[int],
    nodes: int,
    count: int,
    done: Callable[[int], None] = lambda replies: None,
    sampler: Sampler = _GREEDY,
) -> Acceptance:
    """Reply with drafts of so many nodes in every round.

    Args:
        decoder: The target.
        drafter: Of the draft; none is asked where there are no nodes.
        prompts: Token ids of each.
        end_ids: Tokens that end a reply.
        nodes: Of each draft.
        count: Longest reply.
        done: Called with the number of replies so far.
        sampler: Of the replies.
    """
    sequence = TokenSequence(Target(decoder), max(map(len, prompts)) + count + nodes + 1)
    ids: list[int] = []
    tokens, forwards, seconds = 0, 0, 0.0
    for number, prompt in enumerate(prompts, 1):
        reply = ReplyText(lambda ids: "", end_ids, (), count)
        clock = ReplyClock()
        for _ in _decode(sequence, drafter, prompt, nodes, reply, clock, sampler):
            pass
        ids += reply.token_ids
        tokens += clock.predicted_n - 1
        forwards += clock.target_forwards
        seconds += clock.timings().predicted_ms / 1e3
        done(number)
    return Acceptance(tuple(ids), tokens, forwards, seconds)


def settled_rounds(
    sequence: TokenSequence,
    drafter: Drafter,
    prompt: Sequence[int],
    nodes: int,
    count: int,
    check: Callable[[], None] = lambda: None,
) -> list[RoundRecord]:
    """Rounds of a greedy reply that no token ends, with drafts of so many nodes, once a forward takes what it does.

    Args:
        sequence: The text, in which the prompt may stand already.
        drafter: Of the draft.
        prompt: Token ids.
        nodes: Of each draft.
        count: Of these rounds.
        check: Called between rounds; raises to cancel.

    Returns:
        That many, or the last ones where the text's memory has no room for more.
    """
    clock = ReplyClock()
    found: list[RoundRecord] = []
    for _ in _decode(sequence, drafter, prompt, nodes, ReplyText(lambda ids: "", ()), clock):
        check()
        found = settled(clock.rounds)
        if len(found) >= count:
            break
    return (found or clock.rounds)[-count:]


def _decode(
    sequence: TokenSequence,
    drafter: Drafter,
    prompt: Sequence[int],
    nodes: int,
    reply: ReplyText,
    clock: ReplyClock,
    sampler: Sampler = _GREEDY,
) -> Iterator[None]:
    recipe = Recipe(drafter, SampleAndMatch(sampler), FixedShape(DraftShape(nodes)))
    hooks = Hooks(lambda: None, lambda done, total: None, lambda tokens, drafted: None)
    return Decoding(sequence, recipe, prompt, reply, clock, hooks)


def mean_acceptance_length(
    decoder: Decoder,
    network: FeatureNetwork,
    prompts: Sequence[Sequence[int]],
    end_ids: Collection[int],
    shape: TreeShape,
    count: int,
    done: Callable[[int], None] = lambda replies: None,
) -> float:
    """Tokens for each forward of the target with a feature draft's trees; arguments are those of `replies_with`."""
    context = max(map(len, prompts)) + count + 1
    drafter = FeatureDraft(network, shape, context, Link(torch.device("cpu")), lambda: None)
    return replies_with(decoder, drafter, prompts, end_ids, shape.nodes, count, done).length
