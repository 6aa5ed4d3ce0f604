"""The target's features of whole texts: what a feature draft learns from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.model.decoder import Decoder

#: Tokens of several texts that are read in one forward, each text seeing itself alone. Wider products are faster, but
#: attention looks at all pairs: of 64 to 1024 this was the fastest, for the guide on a CPU.
_FORWARD_TOKENS = 256


@dataclass(frozen=True)
class Example:
    """A text to learn from.

    Attributes:
        ids: Token ids.
        learn: For each of them, whether the target would have to write it: a prompt's tokens are read only.
        features: (at least len(ids) - 1, h) what the target made of it, where that is known.
    """

    ids: tuple[int, ...]
    learn: tuple[bool, ...]
    features: Tensor | None = None


@dataclass(frozen=True)
class FeatureBatch:
    """Rows of one length, with what the target made of them.

    Attributes:
        kind: Names its loss in the progress line.
        tokens: (rows, length) int64.
        features: (rows, length, h), the target's hidden states behind its final norm.
        learn: (rows, length) bool, True for tokens that are to be drafted.
    """

    kind: str
    tokens: Tensor
    features: Tensor
    learn: Tensor

    @property
    def token_count(self) -> int:
        """Tokens, padding included."""
        return self.tokens.numel()


def features_of(decoder: Decoder, texts: Sequence[Sequence[int]]) -> list[Tensor]:
    """The features of each text, (its length, h).

    Texts are put side by side into one forward, where a mask keeps each to itself: the products are wider, and so
    faster, than those of one text after the other.
    """
    found: list[Tensor] = []
    for group in _groups(texts):
        lengths = [len(text) for text in group]
        total = sum(lengths)
        owner = torch.arange(len(group)).repeat_interleave(torch.tensor(lengths))
        mask = (owner[:, None] == owner).tril()
        cache = decoder.new_cache(total)
        cache.begin(max(lengths))
        output = decoder.forward(
            torch.tensor([token for text in group for token in text]),
            torch.cat([torch.arange(length) for length in lengths]),
            cache,
            mask=mask if len(group) > 1 else None,
            logit_rows=slice(0, 0),
        )
        found += torch.split(output.hidden, lengths)
    return found


def _groups(texts: Sequence[Sequence[int]]) -> Iterator[list[Sequence[int]]]:
    group: list[Sequence[int]] = []
    for text in texts:
        if group and sum(map(len, group)) + len(text) > _FORWARD_TOKENS:
            yield group
            group = []
        group.append(text)
    if group:
        yield group


def batch_of(decoder: Decoder, kind: str, examples: Sequence[Example]) -> FeatureBatch:
    """Examples with their features, padded to the longest."""
    made = iter(features_of(decoder, [example.ids for example in examples if example.features is None]))
    return pad(kind, examples, (next(made) if one.features is None else one.features for one in examples))


def pad(kind: str, examples: Sequence[Example], features: Iterable[Tensor]) -> FeatureBatch:
    """One batch of rows whose features are known."""
    length = max(len(example.ids) for example in examples)
    rows = list(features)
    tokens = torch.zeros(len(examples), length, dtype=torch.long)
    learn = torch.zeros(len(examples), length, dtype=torch.bool)
    padded = torch.zeros(len(examples), length, rows[0].shape[-1])
    for at, (example, found) in enumerate(zip(examples, rows, strict=True)):
        end = len(example.ids)
        tokens[at, :end] = torch.tensor(example.ids)
        learn[at, :end] = torch.tensor(example.learn)
        padded[at, : len(found)] = found
    return FeatureBatch(kind, tokens, padded, learn)
