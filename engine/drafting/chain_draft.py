"""A head beside a CPU's target: chains that end where the next step would cost more than it promises.

Rows of a forward and steps of the draft are dear there, so wide trees do not pay: beside each token of the chain stands
the second likeliest, for which no step is run. What the text itself repeats is guessed by prompt lookup, which takes no
time; the head guesses the rest, and is left alone where it is not worth its steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log

from torch import Tensor

from engine.drafting.drafter import Drafter
from engine.drafting.feature_draft import FeatureDraft
from engine.drafting.share_chances import Guesses, ShareChances
from engine.kernels.sampling import likeliest
from engine.model.token_tree import ROOT, Draft, DraftShape

# A match that goes on with this chance is drafted without asking the head, which knows it no better.
_LIKELY_MATCH = 0.5
# The chance of a node behind one that holds, before the head has said it.
_ONWARD = 0.5
# Below this a share counts as this.
_LEAST_SHARE = 1e-6
# Tokens that are looked at after each node: the chain goes on with the first, the others end there.
_TOKENS = 2
# Tokens for which a head that does not pay is left alone: at least so many, and four for each row of the prompt that it
# has not read.
_PAUSE, _FOR_EACH_ROW = 64, 4


class ChainDraft(Drafter):
    """Chains with the chance of each node, from the text or from a head.

    Args:
        head: Its own trees are not used.
        lookup: Prompt lookup, which learns from this reply; or one that finds nothing, where another drafter looks up.
        chances: Worth of the head's guesses; learns from this reply.
    """

    gives_chances = True

    def __init__(self, head: FeatureDraft, lookup: Drafter, chances: ShareChances) -> None:
        self.hidden_layers = head.hidden_layers
        self._head = head
        self._lookup = lookup
        self._chances = chances
        self._guessed: list[Guesses] = []  # at each step of the head's last chain
        self._missed = 0  # tokens since it was asked
        # That the head is asked is decided a round ahead, so that rows for one that is not stay where they are.
        self.wants_hidden = False

    def reset(self, prompt: Sequence[int]) -> int:
        """A new reply; the head's rows are those that are wanted."""
        self._lookup.reset(prompt)
        self._guessed = []
        self._missed = 0
        self.wants_hidden = False
        return self._head.reset(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Learn what guesses were worth, and take tokens and rows in."""
        for token, guesses in zip(tokens, self._guessed, strict=False):
            self._chances.learn(guesses, token)
            if token != guesses[0][0]:
                break
        self._missed = 0 if self._guessed else self._missed + len(tokens)
        self._guessed = []
        self._lookup.observe(tokens, None)
        self._head.observe(tokens, hidden)

    def propose(self, shape: DraftShape) -> Draft:
        """A chain within the shape's rows whose steps promise what the shape asks of them."""
        match = self._lookup.propose(shape)
        may_ask, self.wants_hidden = self.wants_hidden, self._pays(shape.step_worth)
        likely = bool(match) and exp(match.scores[0]) >= _LIKELY_MATCH
        if likely or shape.rows < 1 or shape.step_worth > 1.0 or not may_ask:
            return match
        nodes: list[tuple[float, int, int]] = []  # score, the parent's place among these, token
        place, score, steps = ROOT, 0.0, 0

        def goes_on(logits: Tensor) -> int | None:
            nonlocal place, score, steps
            (guesses,) = self._guesses(logits)
            self._guessed.append(guesses)
            parent, behind = place, score
            place, steps = len(nodes), steps + 1
            nodes.extend(
                (behind + log(self._chances.chance(share)), parent, token) for token, share in guesses
            )
            score = nodes[place][0]
            ends = steps >= shape.rows or exp(score) * _ONWARD < shape.step_worth
            return None if ends else guesses[0][0]

        self._head.run_chain(goes_on, self._learn)
        if match and match.scores[0] > nodes[0][0]:
            return replace(match, steps=steps)
        # A node never comes before its parent, which is no less likely and was found earlier.
        order = sorted(range(len(nodes)), key=lambda node: -nodes[node][0])[: shape.rows]
        rank = {node: at for at, node in enumerate(order)} | {ROOT: ROOT}
        return Draft(
            tuple(nodes[node][2] for node in order),
            tuple(rank[nodes[node][1]] for node in order),
            tuple(nodes[node][0] for node in order),
            steps=steps,
        )

    def _pays(self, step_worth: float) -> bool:
        """True if the head's tokens are worth a step, or may be by now."""
        unread = self._head.waiting - self._missed
        may_pay = self._missed >= max(_PAUSE, _FOR_EACH_ROW * unread)
        return step_worth <= 1.0 and (may_pay or self._chances.lately >= step_worth)

    def _learn(self, logits: Tensor, tokens: Sequence[int]) -> None:
        """Guesses for tokens that came while the head was not asked are seen at once when it is asked again."""
        missed = min(self._missed, len(tokens))
        if missed:
            for guesses, token in zip(self._guesses(logits[-missed:]), tokens[-missed:], strict=True):
                self._chances.learn(guesses, token)

    def _guesses(self, logits: Tensor) -> list[Guesses]:
        """The likeliest tokens after each row."""
        return [
            [
                (self._head.target_token(own), max(exp(share), _LEAST_SHARE))
                for own, share in zip(tokens, logs, strict=True)
            ]
            for tokens, logs in zip(*likeliest(logits, _TOKENS), strict=True)
        ]
