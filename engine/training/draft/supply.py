"""Steps of training data from a fixed set of examples, whose features are computed once where memory allows."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from engine.model.decoder import Decoder
from engine.training.draft.features import Example, FeatureBatch, features_of, pad

KIND = "text"
#: Features that are kept, as bfloat16: their rounding is a tenth of the noise that training adds.
_KEPT_BYTES = 1 << 30


class ExampleSupply:
    """Batches of examples, each once before any comes again; texts of like length share a batch.

    Args:
        decoder: The target.
        examples: Texts to learn from; features that are known already are not computed again.
        tokens: Tokens of a step, about.
        seed: Seed of the order.
        batches: Batches that a step's tokens are divided into.
    """

    def __init__(
        self, decoder: Decoder, examples: Sequence[Example], tokens: int, seed: int, batches: int = 1
    ) -> None:
        self._decoder, self._examples = decoder, examples
        self._tokens, self._batches = tokens // batches, batches
        self._rng = random.Random(seed)
        self._kept: dict[int, Tensor] = {}
        self._kept_bytes = 0
        self._order: Iterator[list[int]] = iter(())

    def next(self) -> list[FeatureBatch]:
        """The next step's batches."""
        return [self._batch() for _ in range(self._batches)]

    def _batch(self) -> FeatureBatch:
        chosen = next(self._order, None)
        if chosen is None:
            self._order = iter(self._epoch())
            chosen = next(self._order)
        return pad(KIND, [self._examples[at] for at in chosen], self._features(chosen))

    def _epoch(self) -> list[list[int]]:
        order = list(range(len(self._examples)))
        self._rng.shuffle(order)
        order.sort(key=lambda at: len(self._examples[at].ids) // 16)
        groups: list[list[int]] = [[]]
        for at in order:
            length = len(self._examples[at].ids)
            if groups[-1] and (len(groups[-1]) + 1) * length > self._tokens:
                groups.append([])
            groups[-1].append(at)
        self._rng.shuffle(groups)
        return groups

    def _features(self, chosen: Sequence[int]) -> list[Tensor]:
        missing = [at for at in chosen if self._examples[at].features is None and at not in self._kept]
        fresh = features_of(self._decoder, [self._examples[at].ids for at in missing])
        made = dict(zip(missing, fresh, strict=True))
        for at, features in made.items():
            if self._kept_bytes < _KEPT_BYTES:
                self._kept[at] = features.to(torch.bfloat16)
                self._kept_bytes += self._kept[at].nbytes
        return [made[at] if at in made else self._known(at).float() for at in chosen]

    def _known(self, at: int) -> Tensor:
        features = self._examples[at].features
        return self._kept[at] if features is None else features
