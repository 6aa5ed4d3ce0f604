"""A draft that was made for one target: it brings no tokenizer, and its text is as long as the target's."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from engine.drafting.kind import DraftKind, Seconds
from engine.model.config import ModelConfig
from engine.model.weight_format import WeightFormat, weight_format
from engine.weights.head_checkpoint import HeadCheckpoint

L = TypeVar("L")
D = TypeVar("D", bound="TargetDraft[Any]")


@dataclass(frozen=True)
class TargetDraft(DraftKind, Generic[L]):
    """A draft by the layout of its checkpoint.

    Attributes:
        layout: Contents of the checkpoint.
        target: The target's config.
    """

    layout: L
    target: ModelConfig

    @classmethod
    @abstractmethod
    def read_layout(cls, checkpoint: HeadCheckpoint) -> L:
        """Contents of a checkpoint.

        Raises:
            CheckpointError: It is not usable.
        """

    @classmethod
    def read(cls: type[D], name: str, folder: Path, target: ModelConfig) -> D:
        """The draft in a folder, all of which must be here."""
        checkpoint = HeadCheckpoint(folder)
        return cls(name, checkpoint.digest(), cls.read_layout(checkpoint), target)

    @property
    def context_length(self) -> int:
        """The target's."""
        return self.target.context_length

    def host_format(self, seconds: Seconds, kernels: bool) -> WeightFormat:
        """4 bits: all of it is read for each draft or level, and pushes as much of the target out of the caches."""
        return weight_format("q4_1" if kernels else "fp32")
