"""Interface of a kind of draft: what it takes, how it is loaded, and the drafters that it makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar

from engine.drafting.drafter import Drafter
from engine.drafting.lookup import MatchChances
from engine.drafting.trees import TreeShape
from engine.messages import PromptKind
from engine.model.config import ModelConfig
from engine.model.decoder import Decoder
from engine.model.kv_cache import KVCache
from engine.model.weight_format import WeightFormat
from engine.model_file import OpenedModel
from engine.placement.device import Link, half_type
from engine.weights.checkpoint import Checkpoint

Seconds = Callable[[], Mapping[str, float]]
"""Seconds that products take on this machine, by the names of weight formats."""


@dataclass(frozen=True)
class Pacing:
    """Options of LLMCad's drafting; each of its techniques can be switched off."""

    fallback_threshold: float = 0.01  # alpha at the start of a reply, above 0 and at most 1
    branching: bool = True  # True if drafts are trees; else the likeliest token follows the likeliest token
    # True if confidence ends a draft; else its longest branch has ``length`` tokens
    adaptive_fallback: bool = True
    draft_ahead: bool = True  # True if the draft goes on while the target loads its weights
    # True if nodes that are worth their time are run below the threshold, and likely tokens that opened no
    # branch take the places that branches leave; else a draft is the paper's branches alone
    draft_beyond: bool = True
    length: int = 7  # tokens of drafts whose length is fixed


@dataclass(frozen=True)
class DraftPlan:
    """Plan of the draft that will be loaded."""

    weights: WeightFormat  # format on the CPU and on a graphics chip; on other GPUs it runs in their 16-bit type
    device: str  # device that it runs on, as torch calls it
    context: int = 0  # tokens of its context
    size_bytes: int = 0  # bytes of weights and cache there
    note: str = ""  # sentence for the user about what could not be done as asked
    text_bytes: int = 0  # bytes among these of a cache that is full

    @property
    def on_gpu(self) -> bool:
        """True if the draft runs on a GPU."""
        return self.device != "cpu"

    def with_context(self, draft: DraftKind, tokens: int) -> DraftPlan:
        """Return the plan beside a target with so many tokens of context, of which a draft takes what it can."""
        context = min(tokens, draft.context_length)
        whole, weights = (draft.size_bytes(self.weights, count, elsewhere=self.on_gpu) for count in (context, 0))
        return replace(self, context=context, size_bytes=whole, text_bytes=whole - weights)


@dataclass(frozen=True)
class DraftLoad:
    """Parts that a draft is loaded with."""

    plan: DraftPlan  # device and format of the draft
    target: Decoder  # the model that it drafts for
    checkpoint: Checkpoint  # checkpoint of the target
    context: int  # tokens of context of the target
    link: Link  # the way to the plan's device
    check: Callable[[], None]  # called often, now and while it drafts; raises to stop

    @property
    def weights(self) -> WeightFormat:
        """Format that it runs in: the plan's, or on a GPU its 16 bits."""
        if not self.plan.on_gpu:
            return self.plan.weights
        half = half_type(self.link.device)
        return WeightFormat("16 bits", half, half, half)


@dataclass(frozen=True)
class Drafting:
    """Drafts of one reply."""

    # Limits of trees that grow level by level; or the pace of branches, which grow ahead while the target
    # waits for its weights
    growth: TreeShape | Pacing
    # Worth of matches in the model's texts if tokens may be looked up too; it learns from the reply. None if
    # another drafter looks them up
    matches: MatchChances | None
    looks_up: bool  # True if trees that guess all levels at once take matches in
    # Called with the tokens of the best guess as it grows, if drafting takes long
    drafted: Callable[[Sequence[int]], None]
    # Cache of the target for the text, or None if no draft reads it
    cache: Callable[[], KVCache] | None = None
    # Seconds that a draft may take to read the prompt: the reply is not likely to save more
    reading_s: float = inf


DraftText = Callable[[Drafting], Drafter]
"""A draft's knowledge of one text, whose cache lives on between replies as the target's does: makes a drafter of it."""


@dataclass(frozen=True)
class LoadedDraft:
    """A draft in memory."""

    reference: str  # the user's name for the draft
    kind: str
    link: Link  # the way to its device
    new_text: Callable[[], DraftText]  # function that makes room for a text
    notes: tuple[str, ...] = ()  # sentences for the user about what could not be done as asked


@dataclass(frozen=True)
class DraftKind(ABC):
    """A draft for a target, from its config alone. Each kind is a class of its own."""

    opened: OpenedModel  # files of the draft
    digest: str  # digest that names its weights in measurements

    kind: ClassVar[str]
    published: ClassVar[Mapping[PromptKind, float]]
    """Tokens of a round (tau) with drafts of 15 nodes by kind of prompt, until it is measured here."""
    by_levels: ClassVar[bool] = True
    """True if each level of a tree takes a forward, which may be made ahead; else one makes all of them."""
    comes_with_target: ClassVar[bool] = False
    """True if the target's makers trained it with the target, so that ``auto`` may take it before a reply tried it."""
    on_host: ClassVar[bool] = False
    """True if a GPU is of no use to it."""

    @classmethod
    @abstractmethod
    def read(cls, opened: OpenedModel, target: ModelConfig) -> DraftKind:
        """Read a draft from its files.

        Raises:
            CheckpointError: the files are not usable.
        """

    @property
    def name(self) -> str:
        """The user's name for the draft."""
        return self.opened.reference

    @property
    @abstractmethod
    def layers(self) -> int:
        """Number of layers or blocks."""

    @property
    @abstractmethod
    def read_elements(self) -> int:
        """Weights that a forward reads: its layers, what joins its inputs, and the head."""

    @property
    @abstractmethod
    def context_length(self) -> int:
        """Tokens of its longest text."""

    @property
    def block_rows(self) -> int:
        """Rows of the forward that makes all levels, for a draft that has such a forward."""
        return 1

    def counted(self, target: str) -> Mapping[int, float]:
        """Return the tokens of a round by its draft's nodes, as counted on a target's replies or published.

        The result is empty if only ``published`` is known.

        Args:
            target: Digest of the target.
        """
        return {}

    @abstractmethod
    def host_format(self, seconds: Seconds, kernels: bool) -> WeightFormat:
        """Return the format that it runs in on the CPU.

        Args:
            seconds: Seconds by format, measured here or assumed.
            kernels: True if the kernel library is there.
        """

    def runs_on_chip(self, weights: WeightFormat) -> bool:
        """Return whether the shaders of `engine.graphics` compute it in a format."""
        return False

    @abstractmethod
    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Return the bytes of weights and cache.

        Args:
            context: Tokens of context.
            elsewhere: True if the draft is on another device than the target's embedding and head.
        """

    @abstractmethod
    def check(self, target: OpenedModel) -> None:
        """Refuse a target that it was not made for.

        Raises:
            DraftMismatch: its vocabulary, or what it reads of the target's hidden states, is not the target's.
        """

    @abstractmethod
    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Bring it into memory."""
