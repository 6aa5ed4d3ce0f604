"""The text of one request: what the target's cache holds of it, and what its draft knows."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence

import torch
from torch import Tensor

from engine.decoding.hidden_rows import HiddenRows
from engine.decoding.target import LAYER_GOAL_S, Target
from engine.drafting.kind import DraftText
from engine.model.attention import Paths
from engine.model.decoder import Output
from engine.model.kv_cache import shared_tokens
from engine.model.layer import OnWait, no_work
from engine.model.row_runs import RowRuns
from engine.model.token_tree import Draft

_FIRST_CHUNK = 16
_LARGEST_CHUNK = 512


class TokenSequence:
    """One text: its tokens, the cache of their rows, and the hidden rows that its drafter waits for.

    A target decodes several of them round by round. Each lives on between the replies of a conversation.

    Attributes:
        context: Tokens of the cache.
        token_ids: Committed tokens, one for each row of the cache.
        drafts: Each makes drafters from what a loaded draft has of the text, in the order of the model's drafts.
    """

    def __init__(self, target: Target, context: int, drafts: Sequence[DraftText] = ()) -> None:
        """Set up an empty cache."""
        self._target = target
        self._decoder = target.settled_decoder()
        self._cache = self._decoder.new_cache(context)
        self.context = context
        self.drafts = tuple(drafts)
        self.token_ids: list[int] = []
        self._hidden_layers: tuple[int, ...] = ()
        self._hidden_from = 0
        self._last_hidden: Tensor | None = None
        self._hidden = HiddenRows(target.config.hidden_size)
        self._in_place = False  # the last forward's are where they would be kept
        self._verified_rows: Tensor | None = None

    @property
    def free(self) -> int:
        """Rows that still fit into the cache."""
        return self.context - len(self.token_ids)

    @property
    def waited_s(self) -> float:
        """Seconds that forwards have waited for weights so far."""
        return self._decoder.source.waited_s

    @property
    def draft_room(self) -> int:
        """Most rows that a draft may have beside its root's."""
        limit = self._cache.text_limit
        return max(0, (self.context if limit is None else min(limit, self.context)) - len(self.token_ids) - 1)

    def reuse(self, prompt: Sequence[int], hidden_layers: tuple[int, ...] = (), hidden_from: int = 0) -> int:
        """Keep the longest prefix that the cache and the prompt share, cut the rest, and return its length.

        The prompt's last token is never taken from the cache: its logits are needed. Nor is anything whose hidden
        rows are wanted and were not left here by the reply before.

        Args:
            prompt: Token ids.
            hidden_layers: Layers whose input rows `take_hidden` is to hand over, see `Decoder.forward`; none: no rows.
            hidden_from: The first position whose rows are wanted.
        """
        left = self.take_hidden() if hidden_layers == self._hidden_layers else None
        self._hidden_layers, self._hidden_from = hidden_layers, hidden_from
        self._last_hidden, self._in_place = None, False
        self._hidden.take()
        shared = shared_tokens(self.token_ids, prompt[:-1])
        # First of the rows that are left; they go on to the last token.
        first = len(self.token_ids) - (0 if left is None else len(left))
        if hidden_layers and hidden_from < first:
            shared = min(shared, hidden_from)
        # The cache holds less than the text where a device failed to commit.
        shared = min(shared, self._cache.length)
        self._cache.truncate(shared)
        kept = self._cache.begin(len(prompt))
        del self.token_ids[kept:]
        if left is not None and kept > hidden_from >= first:
            self._hidden.add(left[hidden_from - first : kept - first])
        return kept

    def prefill(
        self,
        prompt: Sequence[int],
        check: Callable[[], None],
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Tensor:
        """Read a prompt at once, see `read`; returns the (V,) logits after it."""
        reading = self.read(prompt, check, progress)
        while True:
            try:
                next(reading)
            except StopIteration as end:
                logits: Tensor = end.value
                return logits

    def read(
        self,
        prompt: Sequence[int],
        check: Callable[[], None],
        progress: Callable[[int, int], None],
        on_wait: OnWait = no_work,
    ) -> Generator[None, None, Tensor]:
        """Read the part of the prompt that is not in the cache yet, in chunks, and yield between two of them.

        Args:
            prompt: Token ids that begin with what the cache holds.
            check: Called between layers; raises to stop. What was read until then stays in the cache.
            progress: Called with tokens done and tokens in all.
            on_wait: Called while weights are on their way; see `engine.model.layer.OnWait`.

        Returns:
            (V,) float32 logits after the prompt's last token.
        """
        # Weights that come from the disk are passed as seldom as can be, and the pieces are cut within the layers.
        row_runs = self._target.row_runs if self._decoder.source.streamed_bytes else None
        chunk = _FIRST_CHUNK if row_runs is None else _LARGEST_CHUNK
        progress(len(self.token_ids), len(prompt))
        while True:
            start = len(self.token_ids)
            ids = list(prompt[start : start + chunk])
            begun = time.perf_counter()
            last = start + len(ids) == len(prompt)
            positions, logit_rows = (
                range(start, start + len(ids)),
                slice(len(ids) - 1 if last else len(ids), None),
            )
            logits = self._forward(ids, positions, None, logit_rows, check, on_wait, row_runs)
            self.commit(ids, range(len(ids)))
            progress(len(self.token_ids), len(prompt))
            if last:
                return logits[0]
            layer_s = (time.perf_counter() - begun) / self._decoder.config.layers
            if row_runs is None and layer_s < LAYER_GOAL_S / 2:
                chunk = min(chunk * 2, _LARGEST_CHUNK)
            elif row_runs is None and layer_s > LAYER_GOAL_S:
                chunk = max(chunk // 2, 1)
            yield

    def verify(
        self,
        root: int,
        draft: Draft,
        check: Callable[[], None],
        on_wait: OnWait = no_work,
    ) -> Tensor:
        """One forward over the root and the draft.

        Args:
            root: The token that was emitted last.
            draft: Guesses of the tokens behind it.
            check: Called between layers; raises to stop.
            on_wait: Called while weights are on their way; see `engine.model.layer.OnWait`.

        Returns:
            (N + 1, V) float32 logits: row 0 after the root, row i + 1 after node i. Valid until the next call. Those
            after probes wait for the verdict, see `probe_logits`.
        """
        limit = self._cache.text_limit
        if limit is not None and len(self.token_ids) + 1 > limit:
            self._begin_long_text(check)
        # No layer's input but the head's.
        if not len(draft.probes) and self._hidden_layers in ((), (self._decoder.config.layers,)):
            if self._target.decoder is not self._decoder:
                self._follow_target(check)
            place = self._hidden.address(draft.rows) if self._hidden_layers else None
            tokens = (root, *draft.tokens)
            found = self._decoder.read_next(tokens, self._cache, check, place, draft.paths)
            if found is not None:
                self._in_place = place is not None
                return found
        base = len(self.token_ids)
        positions = [base + depth for depth in draft.row_depths]
        embeddings = draft.probes.embeddings if draft.probes.nodes else None
        logit_rows = None if embeddings is None else slice(1 + len(draft))
        return self._forward(
            [root, *draft.tokens], positions, draft.paths, logit_rows, check, on_wait, embeddings=embeddings
        )

    def probe_logits(self, rows: Sequence[int]) -> Tensor | None:
        """(k, V) float32 logits after these rows of the last draft, before it is committed; None for no rows."""
        if not rows:
            return None
        assert self._verified_rows is not None, "the last draft had probes"
        return self._decoder.logits(self._verified_rows[list(rows)])

    def commit(self, tokens: Sequence[int], rows: Sequence[int]) -> None:
        """Keep these rows of the last forward, which hold these tokens, and forget its other rows."""
        try:
            self._cache.commit(rows)
        except RuntimeError as error:
            self._target.fail(error)  # the next forward begins by reading the text again elsewhere
        unwanted = max(0, self._hidden_from - len(self.token_ids))
        if self._in_place:
            self._hidden.keep(rows)
        elif self._last_hidden is not None and unwanted < len(rows):
            # A copy, so that the rows of a large forward are not held on to for the few that were kept.
            index = torch.tensor(rows[unwanted:], dtype=torch.long, device=self._last_hidden.device)
            self._hidden.add(self._last_hidden.index_select(0, index))
        self._last_hidden, self._in_place = None, False
        self.token_ids.extend(tokens)

    def take_hidden(self) -> Tensor | None:
        """Hidden rows of the positions committed since the last call, and forget them.

        Returns:
            (k, layers asked for * h) in the type of the activations, on their device; None when none were asked for.
        """
        if not self._hidden_layers:
            return None
        taken = self._hidden.take()
        if taken:
            return taken[0] if len(taken) == 1 else torch.cat(taken)
        source = self._decoder.source
        width = len(self._hidden_layers) * self._decoder.config.hidden_size
        return torch.empty(0, width, dtype=source.dtype, device=source.device)

    def seconds_of_forward(self, rows: int, all_logits: bool = True) -> float:
        """Run a forward over some rows behind the committed ones, keep none of them, and say how long it took.

        Args:
            rows: Their number.
            all_logits: Each row's logits are wanted, as in verification; else the last one's, as in a prompt.
        """
        base = len(self.token_ids)
        logit_rows = None if all_logits else slice(rows - 1, None)
        begun = time.perf_counter()
        self._forward([0] * rows, range(base, base + rows), None, logit_rows, lambda: None)
        return time.perf_counter() - begun

    def _follow_target(self, check: Callable[[], None]) -> None:
        """Go on with the target's new decoder: what the cache held is read again.

        Hidden rows of that text were kept or handed over already, on the side that did not fail.
        """
        decoder = self._decoder = self._target.settled_decoder()
        self._last_hidden = None
        long_text = self._cache.long_text
        self._cache = decoder.new_cache(self.context)
        self._cache.long_text = long_text
        text, self.token_ids = self.token_ids, []
        if not text:
            return
        layers, self._hidden_layers = self._hidden_layers, ()
        try:
            self.prefill(text, check)
        finally:
            self._hidden_layers = layers

    def _begin_long_text(self, check: Callable[[], None]) -> None:
        """LongRoPE turns all keys differently once a text is long: read it again, as transformers does."""
        text, self.token_ids = self.token_ids, []
        # Their hidden rows were handed over when they were read first.
        self._hidden_from = len(text)
        self._cache.begin(len(text) + 1)
        self.prefill(text, check)

    def _forward(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        paths: Paths | None,
        logit_rows: slice | None,
        check: Callable[[], None],
        on_wait: OnWait = no_work,
        row_runs: RowRuns | None = None,
        embeddings: Tensor | None = None,
    ) -> Tensor:
        def run() -> Output:
            return self._decoder.forward(
                torch.tensor(tokens, dtype=torch.long),
                torch.tensor(positions, dtype=torch.long),
                self._cache,
                mask=paths,
                logit_rows=logit_rows,
                check=check,
                hidden_layers=self._hidden_layers,
                on_wait=on_wait,
                row_runs=row_runs,
                embeddings=embeddings,
            )

        if self._target.decoder is not self._decoder:
            self._follow_target(check)
        output = None
        try:
            output = run()
        except RuntimeError as error:
            # Torch raises it when a device is lost, when it is full, or when a kernel fails there.
            self._target.fail(error)
        if output is None:
            self._follow_target(check)
            output = run()
        if self._hidden_layers:
            self._last_hidden = torch.cat([output.layer_inputs[layer] for layer in self._hidden_layers], 1)
        self._in_place = False
        self._verified_rows = None if embeddings is None else output.hidden
        return output.logits
