"""Features of whole texts, from which a draft learns: computed by the target, kept in memory and in a folder."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from engine.errors import InvalidOption, OutOfDisk
from engine.model.decoder import Decoder, TextRows

# Tokens of several texts that are read in one forward.
_FORWARD_TOKENS = 256
#: Features that are kept, as bfloat16: their rounding is a tenth of the noise that training adds.
_KEPT_BYTES = 1 << 30
_SUFFIX = ".texts.safetensors"
# Number of texts in a file.
_EACH = 64


@dataclass(frozen=True)
class Example:
    """A text to learn from."""

    ids: tuple[int, ...]  # token ids
    # True for each token that the target would have to write; a prompt's tokens are only read
    learn: tuple[bool, ...]
    # (at least len(ids) - 1, h) features that the target computed for it, if they are known
    features: Tensor | None = None


@dataclass(frozen=True)
class FeatureBatch:
    """Rows of one length, with the target's features for them."""

    tokens: Tensor  # (rows, length) int64
    features: Tensor  # (rows, length, h), the target's hidden states after its final norm
    learn: Tensor  # (rows, length) bool, True for tokens that are to be drafted
    draw: float = 0.0  # from 0 to 1, the same in a step: guesses in a row whose shares are larger are learned

    @property
    def token_count(self) -> int:
        """Tokens, padding included."""
        return self.tokens.numel()


def features_of(decoder: Decoder, texts: Sequence[Sequence[int]]) -> list[Tensor]:
    """Return the features of each text, (its length, h).

    Several texts share a forward: the products are wider, and so faster, than those of one text after the other.
    """
    found: list[Tensor] = []
    for group in _groups(texts):
        rows = []
        for text in group:
            cache = decoder.new_cache(len(text))
            cache.begin(len(text))
            rows.append(TextRows(torch.tensor(text), torch.arange(len(text)), cache))
        hidden = decoder.forward_together(rows, logit_rows=slice(0, 0)).hidden
        found += torch.split(hidden, [len(text) for text in group])
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


def batch_of(decoder: Decoder, examples: Sequence[Example]) -> FeatureBatch:
    """Return examples with their features, padded to the longest."""
    made = iter(features_of(decoder, [example.ids for example in examples if example.features is None]))
    return pad(examples, (next(made) if one.features is None else one.features for one in examples))


def pad(examples: Sequence[Example], features: Iterable[Tensor]) -> FeatureBatch:
    """Make one batch of rows whose features are known."""
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
    return FeatureBatch(tokens, padded, learn)


class ExampleSupply:
    """Batches of examples, each once before any comes again; texts of like length share a batch.

    Args:
        examples: Texts to learn from; features that are known already are not computed again.
        tokens: Approximate tokens of a step.
        batches: Batches that a step's tokens are divided into.
    """

    def __init__(self, decoder: Decoder, examples: Sequence[Example], tokens: int, seed: int, batches: int = 1) -> None:
        self._decoder, self._examples = decoder, examples
        self._tokens, self._batches = tokens // batches, batches
        self._rng = random.Random(seed)
        self._kept: dict[int, Tensor] = {}
        self._kept_bytes = 0
        self._order: Iterator[list[int]] = iter(())

    def next(self) -> list[FeatureBatch]:
        """Return the next step's batches."""
        draw = self._rng.random()
        return [replace(self._batch(), draw=draw) for _ in range(self._batches)]

    def _batch(self) -> FeatureBatch:
        chosen = next(self._order, None)
        if chosen is None:
            self._order = iter(self._epoch())
            chosen = next(self._order)
        return pad([self._examples[at] for at in chosen], self._features(chosen))

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


class TextFolder:
    """Texts in files of 64 each, every file written whole or not at all.

    Args:
        path: The folder, made if it is missing.
        target: Name of the target, whose texts and features no other draft may learn.

    Raises:
        InvalidOption: The folder cannot be read, or holds another target's texts.
        OutOfDisk: The folder cannot be made.
    """

    def __init__(self, path: Path, target: str) -> None:
        self._path = path
        self._origin = {"target": target}
        self._waiting: list[Example] = []
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutOfDisk(f"The folder for texts {path} cannot be made: {error.strerror or error}.") from error
        self._files = len(self._found())

    def read(self) -> Iterator[Example]:
        """Yield the examples that the folder holds."""
        for path in self._found():
            try:
                with safe_open(path, "pt") as file:
                    origin = file.metadata()
                    ids, own, lengths, features = map(file.get_tensor, ("ids", "own", "lengths", "features"))
            except (OSError, SafetensorError) as error:
                raise InvalidOption(f"{path} cannot be read: delete it, or give another folder.") from error
            if origin != self._origin:
                raise InvalidOption(f"{path} holds texts of another model: give another folder.")
            ends = [0, *accumulate(lengths.tolist())]
            for at, (start, end) in enumerate(pairwise(ends)):
                # A text's last token has no features.
                rows = slice(start - at, end - at - 1)
                yield Example(tuple(ids[start:end].tolist()), tuple(own[start:end].tolist()), features[rows])

    def add(self, example: Example) -> None:
        """Keep one more text, with its features."""
        self._waiting.append(example)
        if len(self._waiting) == _EACH:
            self.flush()

    def flush(self) -> None:
        """Write the waiting texts.

        Raises:
            OutOfDisk: The texts cannot be written.
        """
        if not self._waiting:
            return
        path = self._path / f"{self._files:05}{_SUFFIX}"
        temporary = path.with_suffix(".tmp")
        try:
            save_file(self._tensors(self._waiting), temporary, self._origin)
            os.replace(temporary, path)
        except (OSError, SafetensorError) as error:
            temporary.unlink(missing_ok=True)
            raise OutOfDisk(f"The texts could not be written to {self._path}: {error}.") from error
        self._files += 1
        self._waiting = []

    def _found(self) -> list[Path]:
        return sorted(self._path.glob(f"*{_SUFFIX}"))

    @staticmethod
    def _tensors(texts: Sequence[Example]) -> dict[str, torch.Tensor]:
        features = [text.features[: len(text.ids) - 1] for text in texts if text.features is not None]
        return {
            "ids": torch.tensor([token for text in texts for token in text.ids], dtype=torch.int32),
            "own": torch.tensor([own for text in texts for own in text.learn]),
            "lengths": torch.tensor([len(text.ids) for text in texts]),
            "features": torch.cat(features).bfloat16(),
        }
