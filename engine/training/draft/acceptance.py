"""The acceptance length of a feature draft, measured in the loop that replies run in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import torch

from engine.decoding.loop import Hooks, Recipe, decode
from engine.decoding.schedule import FixedShape
from engine.decoding.sequence import TokenSequence
from engine.decoding.statistics import ReplyClock
from engine.decoding.target import Target
from engine.drafting.dynamic_tree import TreeShape
from engine.drafting.feature_draft import FeatureDraft
from engine.drafting.feature_network import FeatureNetwork
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.token_tree import DraftShape
from engine.placement.link import Link
from engine.text.stop import ReplyText
from engine.verifying.sample_and_match import SampleAndMatch


def mean_acceptance_length(
    decoder: Decoder,
    network: FeatureNetwork,
    prompts: Sequence[Sequence[int]],
    end_ids: Collection[int],
    shape: TreeShape,
    count: int,
    done: Callable[[int], None] = lambda replies: None,
) -> float:
    """Tokens for each forward of the target (the papers' tau), over greedy replies.

    Args:
        decoder: The target.
        network: The draft.
        prompts: Prompts to reply to.
        end_ids: Tokens that end a reply.
        shape: Of the draft's trees.
        count: Longest reply.
        done: Called with the number of replies so far.
    """
    context = max(map(len, prompts)) + count + 1
    sequence = TokenSequence(Target(decoder), context)
    drafter = FeatureDraft(network, shape, context, Link(torch.device("cpu")), lambda: None)
    tokens = forwards = 0
    for number, prompt in enumerate(prompts, 1):
        reply = ReplyText(lambda ids: "", end_ids, (), count)
        clock = ReplyClock()
        recipe = Recipe(
            drafter, SampleAndMatch(Sampler(temperature=0.0)), FixedShape(DraftShape(shape.nodes))
        )
        hooks = Hooks(lambda: None, lambda done, total: None, lambda tokens, drafted: None)
        for _ in decode(sequence, recipe, prompt, reply, clock, hooks):
            pass
        # The first token of a reply comes with the prompt.
        tokens += clock.predicted_n - 1
        forwards += clock.target_forwards
        done(number)
    return tokens / max(1, forwards)
