"""The feature draft as a drafter: its text, its cache one row behind the target's, and its trees.

Row i of the cache joins the target's feature of position i with the token at position i + 1, so a text of n tokens
with the root at its end has n - 1 rows, all from the target's true features. Inside a tree the draft's own outputs
stand in for the features that the target has not computed yet; those rows are forgotten after each proposal, and what
was accepted is run again with the true ones, as EAGLE does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from engine.drafting.drafter import Drafter
from engine.drafting.dynamic_tree import LARGEST_TREE, Level, TreeShape, grow_tree
from engine.drafting.feature_network import FeatureNetwork
from engine.drafting.target_rows import CHUNK_ROWS, TargetRows
from engine.model.next_rows import MOST_ROWS
from engine.model.token_tree import ROOT, Draft, DraftShape
from engine.placement.link import Link


class FeatureDraft(Drafter):
    """Drafts dynamic trees from the target's hidden states.

    Args:
        network: The draft.
        limits: Limits of its trees; width 1 drafts chains.
        context: Tokens of context of the target.
        link: The way to the draft's device.
        check: Called between the draft's blocks; raises to cancel.

    Attributes:
        hidden_layers: Layers of the target whose hidden rows `observe` takes.
        limits: May be changed between replies.
    """

    def __init__(
        self,
        network: FeatureNetwork,
        limits: TreeShape,
        context: int,
        link: Link,
        check: Callable[[], None],
    ) -> None:
        self.hidden_layers = network.hidden_layers
        self.limits = limits
        self._network = network
        self._link = link
        self._check = check
        self._cache = network.new_cache(context + LARGEST_TREE)
        ids = network.weights.target_ids
        self._target_ids: list[int] | None = None if ids is None else ids.tolist()
        # Row i holds the token at i + 1 too.
        self._rows = TargetRows(self._cache, 1)
        self._root: Tensor | None = None

    def reset(self, prompt: Sequence[int]) -> int:
        """Keep what an earlier text shares with this prompt; returns the first position whose rows are needed."""
        self._root = None
        return self._rows.reset(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Note emitted tokens and the target's rows of what was committed, which wait until a draft is asked for.

        Args:
            tokens: The last one is the new root.
            hidden: On the draft's device.
            probes: Unused: its drafts have none.

        Raises:
            ValueError: the rows are not those of every position up to the root.
        """
        self._rows.observe(tokens, hidden)

    @torch.inference_mode()
    def propose(self, shape: DraftShape) -> Draft:
        """A tree below the last observed token: dynamic, or fixed."""
        if shape.rows < 1:
            return Draft()
        network, cache, link = self._network, self._cache, self._link
        root = self._take_in()
        outputs = root  # row 0 is the root's, row i + 1 that of the i-th expanded node

        def expand(level: Level) -> Tensor:
            nonlocal outputs
            count = len(level.tokens)
            parents = link.to_device(torch.tensor([parent - ROOT for parent in level.parents]))
            made = network.run(
                network.target_tokens(link.to_device(torch.tensor(level.tokens))),
                link.to_device(torch.full((count,), cache.length - 1 + level.depth)),
                cache,
                features=outputs[parents],
                sees=link.to_device(level.sees),
                uncommitted=len(outputs) - 1,
                check=self._check,
            )
            outputs = torch.cat((outputs, made))
            return network.logits(made)

        draft = grow_tree(self.limits, shape, network.logits(root)[0], expand)
        if network.weights.target_ids is None:
            return draft
        own = link.to_device(torch.tensor(draft.tokens, dtype=torch.long))
        return replace(draft, tokens=tuple(link.to_host(network.target_tokens(own)).tolist()))

    @property
    def runs_chains(self) -> bool:
        """True if the network has the short way that `run_chain` takes."""
        return self._network.has_short_way

    @property
    def waiting(self) -> int:
        """Rows that the next chain has to take in first."""
        return len(self._rows.text) - 1 - self._cache.length

    def target_token(self, own: int) -> int:
        """The target's id of one of the draft's tokens."""
        return own if self._target_ids is None else self._target_ids[own]

    @torch.inference_mode()
    def run_chain(
        self, goes_on: Callable[[Tensor], int | None], known: Callable[[Tensor, Sequence[int]], None]
    ) -> None:
        """Run a chain below the last observed token, step by step by the short way.

        Args:
            goes_on: Is given the (1, Vd) logits of what follows each node, the root first, and returns the token of the
                next node, by the target's ids; None ends the chain.
            known: Is given the (k, Vd) logits of what follows the last few tokens before the root that no chain began
                at, and the k tokens that came there.
        """
        network, cache = self._network, self._cache

        def run(tokens: Sequence[int], features: Tensor) -> tuple[Tensor, Tensor]:
            found = network.run_next(tokens, cache, features, self._check)
            assert found is not None, "chains are run where there is a short way"
            cache.commit(range(len(tokens)))
            return found

        features = self._run_waiting(self._rows.take(), max(0, self._rows.held - cache.length - MOST_ROWS))
        tokens = self._rows.text[cache.length + 1 :]
        logits, rows = run(tokens, features)
        self._root = rows[-1:].clone()
        known(logits[:-1], tokens[1:])
        length, logits, node = cache.length, logits[-1:], self._root
        while (token := goes_on(logits)) is not None:
            logits, node = run((token,), node)
        cache.truncate(length)

    def _take_in(self) -> Tensor:
        """Run the rows that wait, and return the last one's output, (1, h): the root's."""
        rows = self._rows.take()
        if rows is not None:
            self._run_waiting(rows, len(rows))
        if self._root is None:
            raise ValueError("a feature draft cannot draft before it has observed a token")
        return self._root

    def _run_waiting(self, rows: Tensor | None, most: int) -> Tensor:
        """Run as many rows of those that waited, and return the others."""
        if rows is None:
            raise ValueError("a feature draft cannot draft before it has observed a token")
        for start in range(0, most, CHUNK_ROWS):
            features, first = rows[start : min(start + CHUNK_ROWS, most)], self._cache.length
            behind = torch.tensor(self._rows.text[first + 1 : first + 1 + len(features)])
            made = self._network.run(
                self._link.to_device(behind),
                self._link.to_device(torch.arange(first, first + len(features))),
                self._cache,
                target_features=features,
                check=self._check,
            )
            self._cache.commit(range(len(features)))
            # A copy of one row, so that the others' memory is free again.
            self._root = made[-1:].clone()
        return rows[most:]
