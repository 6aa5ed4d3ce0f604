"""The text of one request: what the target's cache holds of it, and what its draft knows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from engine.decoding.asked_rows import AskedRows
from engine.decoding.hidden_rows import HiddenRows
from engine.decoding.prompt_reading import PromptReading
from engine.decoding.target import Target
from engine.drafting.kind import DraftText
from engine.model.decoder import Output, TextRows
from engine.model.kv_cache import KVCache, shared_tokens
from engine.model.next_rows import NextText
from engine.model.token_tree import Draft


class TokenSequence:
    """One text: its tokens, the cache of their rows, and the hidden rows that its drafter waits for.

    A target decodes several of them in the same forwards. Each lives on between the replies of a conversation.

    Attributes:
        target: Of all texts.
        context: Tokens of the cache.
        token_ids: Committed tokens, one for each row of the cache.
        hidden_layers: Layers whose input rows are wanted, see `reuse`.
        drafts: Each makes drafters from what a loaded draft has of the text, in the order of the model's drafts.
    """

    def __init__(self, target: Target, context: int, drafts: Sequence[DraftText] = ()) -> None:
        """Set up an empty cache."""
        self.target = target
        self._decoder = target.settled_decoder()
        self._cache = self._decoder.new_cache(context)
        self.context = context
        self.drafts = tuple(drafts)
        self.token_ids: list[int] = []
        self.hidden_layers: tuple[int, ...] = ()
        self._hidden_from = 0
        self._last_hidden: Tensor | None = None
        self._hidden = HiddenRows(target.config.hidden_size)
        self._in_place = False  # the last forward's are where they would be kept
        self._verified_rows: Tensor | None = None

    @property
    def cache(self) -> KVCache:
        """Its cache; another one once a device has failed."""
        return self._cache

    @property
    def cache_bytes(self) -> int:
        """Bytes that its cache takes now."""
        return self._cache.bytes

    def release(self) -> None:
        """Give back the cache's memory; the text is read again when it goes on."""
        self._cache.release()

    @property
    def free(self) -> int:
        """Rows that still fit into the cache."""
        return self.context - len(self.token_ids)

    @property
    def streams(self) -> bool:
        """True if forwards read weights from the disk."""
        return self._decoder.source.streamed_bytes > 0

    @property
    def layers(self) -> int:
        """Number of layers."""
        return self._decoder.config.layers

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
        left = self.take_hidden() if hidden_layers == self.hidden_layers else None
        self.hidden_layers, self._hidden_from = hidden_layers, hidden_from
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
        """Read the part of a prompt that is not in the cache yet, by itself.

        Args:
            prompt: Token ids that begin with what the cache holds.
            check: Called between layers; raises to stop. What was read until then stays in the cache.
            progress: Called with tokens done and tokens in all.

        Returns:
            (V,) float32 logits after the prompt's last token.
        """
        reading = PromptReading(self, prompt, progress)
        while True:
            asked = reading.ask()
            self.target.compute([asked], check)
            if reading.take(asked):
                return asked.logits[0]

    def verify(self, root: int, draft: Draft, check: Callable[[], None]) -> Tensor:
        """One forward over the root and the draft, by itself.

        Args:
            root: The token that was emitted last.
            draft: Guesses of the tokens behind it.
            check: Called between layers; raises to stop.

        Returns:
            (N + 1, V) float32 logits: row 0 after the root, row i + 1 after node i. Valid until the next call. Those
            after probes wait for the verdict, see `probe_logits`.
        """
        asked = AskedRows(self, (root, *draft.tokens), draft)
        self.target.compute([asked], check)
        return asked.logits

    def settle(self, asked: AskedRows, check: Callable[[], None]) -> None:
        """Make the cache ready for rows; it may have to be read again, elsewhere or for a longer text."""
        if self.target.decoder is not self._decoder:
            self._decoder = self.target.settled_decoder()
            long_text = self._cache.long_text
            self._cache = self._decoder.new_cache(self.context)
            self._cache.long_text = long_text
        if self._cache.length < len(self.token_ids):
            self._read_again(check)
        if asked.draft is None:
            return
        limit = self._cache.text_limit
        if limit is not None and len(self.token_ids) + 1 > limit:
            self._begin_long_text(check)

    def next_text(self, asked: AskedRows) -> NextText | None:
        """The rows for the decoder's shorter way; None where they need the other one."""
        draft = asked.draft
        # No layer's input but the head's.
        if draft is None or len(draft.probes) or self.hidden_layers not in ((), (self.layers,)):
            return None
        place = self._hidden.address(draft.rows) if self.hidden_layers else None
        return NextText(asked.tokens, self._cache, draft.paths, place)

    def text_rows(self, asked: AskedRows) -> TextRows:
        """The rows for a whole forward."""
        base, draft = len(self.token_ids), asked.draft
        tokens = torch.tensor(asked.tokens, dtype=torch.long)
        if draft is None:
            return TextRows(tokens, torch.arange(base, base + len(tokens)), self._cache)
        positions = torch.tensor([base + depth for depth in draft.row_depths], dtype=torch.long)
        embeddings = draft.probes.embeddings if draft.probes.nodes else None
        return TextRows(tokens, positions, self._cache, draft.paths, embeddings=embeddings)

    def computed_in_place(self) -> None:
        """The rows that `next_text` described are computed."""
        self._last_hidden, self._in_place = None, bool(self.hidden_layers)

    def computed(self, asked: AskedRows, output: Output, rows: slice) -> None:
        """These rows of a forward are those that `text_rows` described."""
        self._last_hidden, self._in_place = None, False
        if self.hidden_layers:
            inputs = [output.layer_inputs[layer][rows] for layer in self.hidden_layers]
            self._last_hidden = inputs[0] if len(inputs) == 1 else torch.cat(inputs, 1)
        has_probes = asked.draft is not None and asked.draft.probes.nodes
        self._verified_rows = output.hidden[rows] if has_probes else None

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
            self.target.fail(error)  # the next forward begins by reading the text again elsewhere
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
        if not self.hidden_layers:
            return None
        taken = self._hidden.take()
        if taken:
            return taken[0] if len(taken) == 1 else torch.cat(taken)
        source = self._decoder.source
        width = len(self.hidden_layers) * self._decoder.config.hidden_size
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
        positions = torch.arange(base, base + rows)
        self._decoder.forward(torch.zeros_like(positions), positions, self._cache, logit_rows=logit_rows)
        return time.perf_counter() - begun

    def _read_again(self, check: Callable[[], None]) -> None:
        """Bring the text back into a cache that has lost it.

        Its hidden rows were kept or handed over already.
        """
        self._last_hidden, self._in_place = None, False
        self._cache.truncate(0)
        text, self.token_ids = self.token_ids, []
        layers, self.hidden_layers = self.hidden_layers, ()
        try:
            self.prefill(text, check)
        except BaseException:
            self.token_ids = text
            raise
        finally:
            self.hidden_layers = layers

    def _begin_long_text(self, check: Callable[[], None]) -> None:
        """LongRoPE turns all keys differently once a text is long: read it again, as transformers does."""
        text, self.token_ids = self.token_ids, []
        # Their hidden rows were handed over when they were read first.
        self._hidden_from = len(text)
        self._cache.begin(len(text) + 1)
        self.prefill(text, check)
