"""P-EAGLE: an EAGLE-3 head that drafts all levels in one forward.

The row of the root's parent is EAGLE-3's. Those behind it stand for positions whose token and hidden states are not
there yet: a mask token and ``mask_hidden`` take their places, and each says what follows there.

Source: P-EAGLE as vllm-project/speculators has it (models/peagle).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from engine.drafting.feature_network import FeatureNetwork
from engine.drafting.head_draft import HeadDraft
from engine.drafting.kind import DraftLoad, DraftText
from engine.drafting.row_level_drafter import RowLevelDrafter
from engine.drafting.share_chances import ShareChances
from engine.drafting.target_rows import CHUNK_ROWS
from engine.model.token_tree import Draft, DraftShape
from engine.placement.link import Link
from engine.weights.draft_kind import is_parallel


@dataclass(frozen=True)
class ParallelDraft(HeadDraft):
    """A head whose levels do not wait for each other."""

    kind = "block"
    by_levels = False

    @classmethod
    def accepts(cls, folder: Path) -> bool:
        """A head with a row for what is not there yet."""
        return is_parallel(folder)

    @property
    def block_rows(self) -> int:
        """One for each level."""
        return self.layout.depths

    def text(self, network: FeatureNetwork, parts: DraftLoad, chances: ShareChances) -> DraftText:
        """Make room for a text; nothing is learnt of the guesses."""
        token, depths = self.layout.mask_token, self.layout.depths
        assert token is not None, "a layout without a mask token is drafted level by level"
        return ParallelDrafter(network, token, depths, parts.context, parts.link, parts.check).for_reply


class ParallelDrafter(RowLevelDrafter):
    """Trees of the distributions that one forward gives.

    Args:
        network: The head.
        mask_token: In place of tokens that are not there yet.
        depths: Rows of a draft's forward, and levels of its tree.
        context: Tokens of context of the target.
        link: The way to the head's device.
        check: Called between its blocks; raises to cancel.
    """

    def __init__(
        self,
        network: FeatureNetwork,
        mask_token: int,
        depths: int,
        context: int,
        link: Link,
        check: Callable[[], None],
    ) -> None:
        cache = network.new_cache(context + depths)
        super().__init__(depths, network.hidden_layers, cache, 1, network.weights.target_ids)
        self._network, self._link, self._check = network, link, check
        self._masks = [mask_token] * (depths - 1)

    @torch.inference_mode()
    def propose(self, shape: DraftShape) -> Draft:
        """A tree below the last observed token.

        Raises:
            ValueError: No row was observed since the last draft.
        """
        if shape.rows < 1:
            return Draft()
        rows = self._rows.take()
        if rows is None:
            raise ValueError("a head cannot draft before it has observed a token")
        network = self._network
        while len(rows) > CHUNK_ROWS:
            self._run(rows[:CHUNK_ROWS], [])
            rows = rows[CHUNK_ROWS:]
        levels = network.logits(self._run(rows, self._masks)[len(rows) - 1 :])
        draft = self._tree(shape, levels)
        return replace(draft, tokens=self._by_target(draft.tokens))

    def _run(self, rows: Tensor, masks: list[int]) -> Tensor:
        """Take rows in, with rows behind them for what is not there yet; all their outputs."""
        network, cache, first, count = self._network, self._cache, self._cache.length, len(rows)
        tokens = [*self._rows.text[first + 1 : first + 1 + count], *masks]
        if masks:
            hidden = network.weights.mask_hidden
            assert hidden is not None, "a layout with a mask token has a row for it"
            rows = torch.cat((rows.to(hidden.dtype), hidden.expand(len(masks), -1)))
        made = network.run(
            self._link.to_device(torch.tensor(tokens)),
            self._link.to_device(torch.arange(first, first + len(tokens))),
            cache,
            target_features=rows,
            check=self._check,
        )
        cache.commit(range(count))
        return made
