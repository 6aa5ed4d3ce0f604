"""A folder of texts that a target has written, with its features, so that a later training begins with them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from engine.errors import InvalidOption, OutOfDisk
from engine.training.draft.features import Example

_SUFFIX = ".texts.safetensors"
# Texts of a file.
_EACH = 64


class TextFolder:
    """Texts in files of 64 each, every file written whole or not at all.

    Args:
        path: The folder, made if it is missing.
        target: Names the target, whose texts and features no other draft may learn.

    Raises:
        InvalidOption: It cannot be read, or holds another target's texts.
        OutOfDisk: The folder cannot be made.
    """

    def __init__(self, path: Path, target: str) -> None:
        self._path = path
        self._origin = {"target": target}
        self._waiting: list[Example] = []
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutOfDisk(
                f"The folder for texts {path} cannot be made: {error.strerror or error}."
            ) from error
        self._files = len(self._found())

    def read(self) -> Iterator[Example]:
        """Examples that the folder holds."""
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
        """Write what waits.

        Raises:
            OutOfDisk: It cannot be written.
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
