"""Interface of a kind of draft: what it takes, how it is loaded, and the drafters that it makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from engine.drafting.drafter import Drafter
from engine.drafting.dynamic_tree import TreeShape
from engine.drafting.match_chances import MatchChances
from engine.drafting.paced_tree import Pacing
from engine.messages import PromptKind
from engine.model.config import ModelConfig
from engine.model.decoder import Decoder
from engine.model.kv_cache import KVCache
from engine.model.weight_format import WeightFormat
from engine.placement.device_layer import half_type
from engine.placement.link import Link
from engine.text.tokenizer import Tokenizer
from engine.weights.checkpoint import Checkpoint

ReadTokenizer = Callable[[Path], Tokenizer]
Seconds = Callable[[], Mapping[str, float]]
"""Seconds that products take on this machine, by the names of weight formats."""


@dataclass(frozen=True)
class DraftPlan:
    """Plan of the draft that will be loaded.

    Attributes:
        weights: Format on the CPU; on a GPU it runs in its 16-bit type.
        device: The one that it runs on, as torch calls it.
        context: Tokens of context that it has.
        size_bytes: Weights and cache there.
        note: A sentence for the person about what could not be done as asked.
    """

    weights: WeightFormat
    device: str
    context: int
    size_bytes: int
    note: str = ""

    @property
    def on_gpu(self) -> bool:
        """True if it runs on a GPU."""
        return self.device != "cpu"


@dataclass(frozen=True)
class DraftLoad:
    """Parts that a draft is loaded with.

    Attributes:
        folder: Of the draft.
        plan: Its device and format.
        target: The model that it drafts for.
        checkpoint: Of this.
        context: Tokens of context of the target.
        link: The way to the plan's device.
        check: Called often, now and while it drafts; raises to stop.
    """

    folder: Path
    plan: DraftPlan
    target: Decoder
    checkpoint: Checkpoint
    context: int
    link: Link
    check: Callable[[], None]

    @property
    def weights(self) -> WeightFormat:
        """Format that it runs in: the plan's, or on a GPU its 16 bits."""
        if not self.plan.on_gpu:
            return self.plan.weights
        half = half_type(self.link.device)
        return WeightFormat("16 bits", half, half, half)


@dataclass(frozen=True)
class Drafting:
    """Drafts of one reply.

    Attributes:
        growth: Limits of trees that grow level by level; or the pace of branches, which grow ahead while the target
            waits for its weights.
        matches: Worth of matches in the model's texts, where tokens may be looked up too; learns from the reply. None
            where another drafter looks them up.
        looks_up: Trees that guess all levels at once take matches in.
        drafted: Called with the tokens of the best guess as it grows, where drafting takes long.
        cache: The target's cache of the text; None where no draft reads it.
    """

    growth: TreeShape | Pacing
    matches: MatchChances | None
    looks_up: bool
    drafted: Callable[[Sequence[int]], None]
    cache: Callable[[], KVCache] | None = None


DraftText = Callable[[Drafting], Drafter]
"""A draft's knowledge of one text, whose cache lives on between replies as the target's does: makes a drafter of it."""


@dataclass(frozen=True)
class LoadedDraft:
    """A draft in memory.

    Attributes:
        reference: The person's name for it.
        kind: Its `DraftKind.kind`.
        link: The way to its device.
        new_text: Makes room for a text.
        notes: Sentences for the person about what could not be done as asked.
    """

    reference: str
    kind: str
    link: Link
    new_text: Callable[[], DraftText]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class DraftKind(ABC):
    """A draft for a target, from its config alone. Each kind is a class of its own.

    Attributes:
        name: Its name.
        digest: Names its weights in what was measured.
    """

    name: str
    digest: str

    kind: ClassVar[str]
    published: ClassVar[Mapping[PromptKind, float]]
    """Tokens of a round (tau) with drafts of 15 nodes by kind of prompt, until it is measured here."""
    by_levels: ClassVar[bool] = True
    """True if each level of a tree takes a forward, which may be made ahead; else one makes all of them."""
    on_host: ClassVar[bool] = False
    """True if a GPU is of no use to it."""

    @classmethod
    @abstractmethod
    def accepts(cls, folder: Path) -> bool:
        """True if a folder holds a draft of this kind."""

    @classmethod
    @abstractmethod
    def read(cls, name: str, folder: Path, target: ModelConfig) -> DraftKind:
        """The draft in a folder.

        Raises:
            CheckpointError: the folder is not usable.
        """

    @property
    @abstractmethod
    def layers(self) -> int:
        """Its layers or blocks."""

    @property
    @abstractmethod
    def read_elements(self) -> int:
        """Weights that a forward reads: its layers, what joins its inputs, and the head."""

    @property
    @abstractmethod
    def context_length(self) -> int:
        """Its longest text."""

    @property
    def block_rows(self) -> int:
        """Rows of the forward that makes all levels, where one does."""
        return 1

    def counted(self, target: str) -> Mapping[int, float]:
        """Tokens of a round by nodes of its draft, counted on replies of a target; empty where they were not.

        Args:
            target: Its digest.
        """
        return {}

    @abstractmethod
    def host_format(self, seconds: Seconds, kernels: bool) -> WeightFormat:
        """The format that it runs in on the CPU.

        Args:
            seconds: Measured here, or assumed.
            kernels: The kernel library is there.
        """

    @abstractmethod
    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Weights and cache.

        Args:
            weights: The format.
            context: Tokens.
            elsewhere: It is on another device than the target's embedding and head.
        """

    @abstractmethod
    def check(self, folder: Path, target: Path, config: ModelConfig, read: ReadTokenizer) -> None:
        """Refuse a target that it was not made for.

        Args:
            folder: Of the draft.
            target: The target's folder or file.
            config: And its config.
            read: Reads a tokenizer.

        Raises:
            DraftMismatch: its vocabulary, or what it reads of the target's hidden states, is not the target's.
        """

    @abstractmethod
    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Bring it into memory."""
