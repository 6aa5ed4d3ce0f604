"""A head beside a CPU's target: chains that end where the next step would cost more than it promises.

Rows of a forward and steps of the draft are dear there, so trees do not pay. What the text itself repeats is guessed by
prompt lookup, which takes no time; the head guesses the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log

from torch import Tensor

from engine.drafting.drafter import Drafter
from engine.drafting.feature_draft import FeatureDraft
from engine.drafting.prompt_lookup import PromptLookup
from engine.drafting.share_chances import ShareChances
from engine.kernels.sampling import likeliest
from engine.model.token_tree import Draft, DraftShape

# A match that goes on with this chance is drafted without asking the head, which knows it no better.
_LIKELY_MATCH = 0.5
# The chance of a node behind one that holds, before the head has said it.
_ONWARD = 0.5
# Below this a share counts as this.
_LEAST_SHARE = 1e-6
# Tokens for which a head that does not pay is left alone.
_PAUSE = 64


class ChainDraft(Drafter):
    """Chains with the chance of each node, from the text or from a head.

    Args:
        head: Its own trees are not used.
        lookup: Learns from this reply.
        chances: What the head's guesses are worth; learns from this reply.
    """

    gives_chances = True

    def __init__(self, head: FeatureDraft, lookup: PromptLookup, chances: ShareChances) -> None:
        self.hidden_layers = head.hidden_layers
        self._head = head
        self._lookup = lookup
        self._chances = chances
        self._guessed: list[tuple[int, float]] = []  # the head's last chain: tokens and their shares
        self._missed = 0  # tokens since it was asked
        self.wants_hidden = (
            False  # that it is asked is decided a round ahead, so that its rows stay where they are
        )

    def reset(self, prompt: Sequence[int]) -> int:
        """A new reply; the head's rows are those that are wanted."""
        self._lookup.reset(prompt)
        self._guessed = []
        self._missed = 0
        self.wants_hidden = False
        return self._head.reset(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Learn what guesses were worth, and take tokens and rows in."""
        for token, (guess, share) in zip(tokens, self._guessed, strict=False):
            self._chances.learn(share, token == guess)
            if token != guess:
                break
        self._missed = 0 if self._guessed else self._missed + len(tokens)
        self._guessed = []
        self._lookup.observe(tokens)
        self._head.observe(tokens, hidden)

    def propose(self, shape: DraftShape) -> Draft:
        """A chain within the shape's rows whose steps promise what the shape asks of them."""
        match = self._lookup.propose(shape)
        may_ask, self.wants_hidden = self.wants_hidden, self._pays(shape.step_worth)
        likely = bool(match) and exp(match.scores[0]) >= _LIKELY_MATCH
        if likely or shape.rows < 1 or shape.step_worth > 1.0 or not may_ask:
            return match
        tokens: list[int] = []
        scores: list[float] = []
        score = 0.0

        def goes_on(logits: Tensor) -> int | None:
            nonlocal score
            ((token, share),) = self._guesses(logits)
            self._guessed.append((token, share))
            score += log(self._chances.chance(share))
            tokens.append(token)
            scores.append(score)
            ends = len(tokens) >= shape.rows or exp(score) * _ONWARD < shape.step_worth
            return None if ends else token

        self._head.run_chain(goes_on, self._learn)
        if match and match.scores[0] > scores[0]:
            return replace(match, steps=len(tokens))
        return Draft(tuple(tokens), tuple(range(-1, len(tokens) - 1)), tuple(scores), steps=len(tokens))

    def _pays(self, step_worth: float) -> bool:
        """True if the head's tokens are worth a step, or may be by now."""
        tried = self._missed >= max(_PAUSE, self._head.waiting // 2)
        return step_worth <= 1.0 and (self._chances.lately >= step_worth or tried)

    def _learn(self, logits: Tensor, tokens: Sequence[int]) -> None:
        """Guesses for tokens that came while the head was not asked are seen at once when it is asked again."""
        missed = min(self._missed, len(tokens))
        if missed:
            for (guess, share), token in zip(self._guesses(logits[-missed:]), tokens[-missed:], strict=True):
                self._chances.learn(share, token == guess)

    def _guesses(self, logits: Tensor) -> list[tuple[int, float]]:
        """The likeliest token of each row, and its share."""
        tokens, logs = likeliest(logits, 1)
        return [
            (self._head.target_token(own), max(exp(log_share), _LEAST_SHARE))
            for (own,), (log_share,) in zip(tokens, logs, strict=True)
        ]
