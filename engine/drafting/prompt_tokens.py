"""Prompt tokens as a draft: trained embeddings that ask the model itself what comes further on.

The embedding at distance i, in the place of the i-th token after a text, makes the model predict the token that
follows that one. Several members of an ensemble may stand in each place; the model's predictions after them are
averaged.

Source: "Hardware-Aware Parallel Prompt Decoding" (Chen et al. 2024), and the report of the same name, chapter 4. The
folders are those of its own code: adapter_config.json as PEFT writes it for prompt tuning, and one tensor, whose rows
are the members of the first place, then those of the second. Its attention masks are taken as the report draws them:
the code's encoder-like mask sees no nearer place.

As a draft, probes stand after the root and each node of a tree. The probes after the last accepted token predict
the tokens that the next tree is made of, and nothing else takes any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor

from engine.drafting.fixed_trees import SparseTree
from engine.drafting.head_loader import check_sizes
from engine.drafting.kind import DraftLoad, DraftText, LoadedDraft, Seconds
from engine.drafting.level_drafter import LevelDrafter, likeliest_along
from engine.drafting.medusa import CalibratedDraft
from engine.drafting.trees import DEEPEST
from engine.errors import ConfigInvalid, DraftMismatch
from engine.messages import PromptKind
from engine.model.config import ModelConfig
from engine.model.tensors import compare_tensors
from engine.model.token_tree import PROBE_MASKS, ROOT, Draft, DraftShape, ProbeMask, Probes
from engine.model.weight_format import WeightFormat, weight_format
from engine.model_file import OpenedModel
from engine.sentences import either, mark
from engine.weights.head_checkpoint import HeadCheckpoint

#: Name of the tensor, as PEFT writes it.
TENSOR = "prompt_embeddings"
#: Most members of an ensemble: a node and its probe, and the root's probe, within the 64 rows of a draft.
MOST_MEMBERS = 31
# Draft shapes whose probes are kept: a mode follows some trees again and again, and other shapes are many.
_MOST_KNOWN = 256
# Options that the same code trains on request: each one's name, and the value of a set without it. The report finds
# that each of them guesses worse or hardly better, and leaves them out (sections 6.8.5, 6.8.6, 6.8.8 and 6.8.9).
_EXTENSIONS = {
    "use_prefix_tuning": False,
    "use_custom_lm_head": False,
    "aggregation_type": "mean",
    "num_exits": 1,
}
_MISMATCH = mark(
    "The tensors of the prompt tokens do not match their adapter_config.json: {problems}; choose another set."
)


@dataclass(frozen=True)
class PromptTokenLayout:
    """Contents of a checkpoint of prompt tokens."""

    count: int  # places, m: the tokens after the next one that are guessed
    members: int  # members of each place's ensemble, n
    hidden_size: int  # hidden size of the target
    layers: int | None  # layers of the target, or None if nothing says it
    heads: int | None  # attention heads of the target, or None if nothing says it
    mask: ProbeMask  # rule of which row sees which

    @property
    def size_bytes(self) -> int:
        """Bytes of the embeddings in memory."""
        return self.count * self.members * self.hidden_size * 4


@dataclass(frozen=True)
class PromptTokens:
    """Prompt tokens in memory."""

    embeddings: Tensor  # (m, n, h) float32: for each place, nearest first, and each member of its ensemble
    mask: ProbeMask = "ensemble"  # rule of which row sees which
    _known: dict[tuple[int, ...], Probes] = field(default_factory=dict, init=False, compare=False)

    @property
    def count(self) -> int:
        """Places, m."""
        return len(self.embeddings)

    @property
    def members(self) -> int:
        """Members of each place, n."""
        return self.embeddings.shape[1]

    def behind(self, reaches: Sequence[int]) -> Probes:
        """Return the probes of the root and of each node in this order, given the number of places that each asks for.

        Args:
            reaches: (N + 1,) places from the nearest on for a draft of N nodes, each at most m.
        """
        asked = tuple(reaches)
        if asked not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            rows = [
                (node, place, member)
                for node, reach in enumerate(asked, ROOT)
                for place in range(reach)
                for member in range(self.members)
            ]
            nodes, places, members = zip(*rows, strict=True) if rows else ((), (), ())
            embeddings = self.embeddings[list(places), list(members)]
            distances = tuple(place + 1 for place in places)
            self._known[asked] = Probes(nodes, distances, members, embeddings, self.mask)
        return self._known[asked]

    def average(self, logits: Tensor) -> Tensor:
        """Average (k * n, V) logits after the probes of one node to (k, V), one for each place."""
        return logits if self.members == 1 else logits.view(-1, self.members, logits.shape[-1]).mean(1)


def read_prompt_tokens(checkpoint: HeadCheckpoint) -> PromptTokenLayout:
    """Read places and members from the config, whose sizes must be the tensor's.

    Raises:
        ConfigInvalid: A value of the config makes no sense, or asks for what Tenon does not run.
        TensorMismatch: The tensor is missing, or of another shape.
    """
    config = checkpoint.config
    for name, without in _EXTENSIONS.items():
        if config.get(name, without) != without:
            raise ConfigInvalid(
                "These prompt tokens were trained with {name} = {value}, which Tenon does not run: choose a set "
                "that was trained without it.",
                name=name,
                value=config[name],
            )
    mask = config.get("vt_attention_type", "decoder")
    if mask not in PROBE_MASKS:
        raise ConfigInvalid(
            "These prompt tokens were trained with an attention mask named {mask}, and Tenon knows {masks}: "
            "choose another set.",
            mask=repr(mask),
            masks=either(PROBE_MASKS),
        )
    count = _size(config, "num_special_tokens", None, DEEPEST)
    members = _size(config, "virtual_tokens_per_special_token", 1, MOST_MEMBERS)
    hidden = _size(config, "token_dim", next(iter(checkpoint.shapes.get(TENSOR, ())[1:]), None), None)
    layers, heads = (
        None if config.get(name) is None else _size(config, name, None, None)
        for name in ("num_layers", "num_attention_heads")
    )
    compare_tensors(checkpoint.shapes, {TENSOR: (count * members, hidden)}, lambda name: False, _MISMATCH)
    return PromptTokenLayout(count, members, hidden, layers, heads, mask)


def check_prompt_tokens(layout: PromptTokenLayout, model: ModelConfig) -> None:
    """Refuse prompt tokens of another model.

    Raises:
        DraftMismatch: The prompt tokens have another hidden size, were trained for other numbers of layers or
            attention heads, or see each other both ways, which a state cannot.
    """
    check_sizes(layout.hidden_size, model.vocabulary_size, model)
    layers, heads = layout.layers or model.layers, layout.heads or model.heads
    if (layers, heads) != (model.layers, model.heads):
        raise DraftMismatch(
            "The prompt tokens are for a model of {wanted_layers} layers and {wanted_heads} attention heads, and "
            "this one has {layers} and {heads}; choose a set that was trained for this model.",
            wanted_layers=layers,
            wanted_heads=heads,
            layers=model.layers,
            heads=model.heads,
        )
    if model.delta is not None and layout.mask == "encoder" and layout.members > 1:
        raise DraftMismatch(
            "The prompt tokens of one place see each other, but this model's layers keep a state that reads one after "
            "the other; choose a set with another attention mask."
        )


def load_prompt_tokens(checkpoint: HeadCheckpoint) -> PromptTokens:
    """Read the embeddings.

    Raises:
        ConfigInvalid: A value of the config makes no sense, as in `read_prompt_tokens`.
        TensorMismatch: The tensor is missing, or of another shape.
    """
    layout = read_prompt_tokens(checkpoint)
    rows = checkpoint.tensor(TENSOR).to(torch.float32)
    return PromptTokens(rows.view(layout.count, layout.members, layout.hidden_size), layout.mask)


def _size(config: dict[str, Any], name: str, usual: int | None, most: int | None) -> int:
    value = config.get(name, usual)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= (most or value):
        return value
    if most is None:
        raise ConfigInvalid(
            "{name} in the prompt tokens' adapter_config.json is {value}, and must be a whole number of 1 or "
            "more; correct it, or choose another set.",
            name=name,
            value=repr(value),
        )
    raise ConfigInvalid(
        "{name} in the prompt tokens' adapter_config.json is {value}, and Tenon runs 1 to {most}: choose another set.",
        name=name,
        value=repr(value),
        most=most,
    )


@dataclass(frozen=True)
class PromptTokenCalibration:
    """Calibration of a model's prompt tokens on its replies.

    Raises:
        ValueError: There is no tree, or one has no rows.
    """

    rows: tuple[int, ...]  # most rows of each draft beside the root's, ascending
    trees: tuple[SparseTree, ...]  # trees for each of these numbers of rows
    # Shares of tokens among a place's likeliest 1, 3 and 10, by place
    accuracies: tuple[tuple[float, ...], ...] = ()
    places: int = 0  # tokens that were counted

    def __post_init__(self) -> None:
        """Refuse figures that no calibration can have."""
        if not self.rows or len(self.rows) != len(self.trees) or list(self.rows) != sorted(self.rows):
            raise ValueError("each number of rows has a tree")

    @cached_property
    def by_rows(self) -> Mapping[int, SparseTree]:
        """Trees by their rows."""
        return dict(zip(self.rows, self.trees, strict=True))

    @property
    def tokens(self) -> dict[int, float]:
        """Tokens of a round by rows."""
        return {rows: tree.tokens for rows, tree in self.by_rows.items()}

    def fits(self, layout: PromptTokenLayout) -> bool:
        """Return whether these may be the trees of such prompt tokens."""
        return all(
            len(tree.states) == layout.count
            and max(max(state.reaches) for state in tree.states) <= layout.count
            and max(state.rows(layout.members) for state in tree.states) <= rows
            for rows, tree in self.by_rows.items()
        )


@dataclass(frozen=True)
class PromptTokenDraft(CalibratedDraft[PromptTokenLayout, PromptTokenCalibration]):
    """Some embeddings, with neither blocks nor a cache: they take the model's own."""

    read_layout = staticmethod(read_prompt_tokens)
    kind = "prompt-tokens"
    calibration_type = PromptTokenCalibration
    on_host = True
    # Half the gain of Vicuna-7B in the report, whose trees have up to 104 rows: tau of table 6.1, and of code and
    # arithmetic the speed of table 6.2 times the seconds of a forward. MT-bench stands for instructions too.
    published: ClassVar[Mapping[PromptKind, float]] = {
        "chat": 1.77,
        "code": 1.86,
        "arithmetic": 1.88,
        "instruction": 1.77,
    }

    @property
    def layers(self) -> int:
        """Number of layers: 0."""
        return 0

    @property
    def read_elements(self) -> int:
        """Elements that its forward reads: 0, since its rows are part of the target's forward."""
        return 0

    def host_format(self, seconds: Seconds, kernels: bool) -> WeightFormat:
        """Return float32: the embeddings are kept as they enter the first layer."""
        return weight_format("fp32")

    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Return the bytes of the embeddings."""
        return self.layout.size_bytes

    def check(self, target: OpenedModel) -> None:
        """Check that sizes are the target's: the same width may be another model's."""
        check_prompt_tokens(self.layout, target.config)

    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Read the embeddings.

        Raises:
            DraftMismatch: The context has no room for them.
        """
        tokens = load_prompt_tokens(self.opened.head)
        rows = tokens.count * tokens.members
        if rows >= parts.context:
            raise DraftMismatch(
                "There are {count} prompt tokens, and the context has room for {context} tokens; choose a longer "
                "context or a smaller set.",
                count=rows,
                context=parts.context,
            )

        calibration = self.calibration(parts.checkpoint.digest())

        def new_text() -> DraftText:
            return PromptTokenDrafter(tokens, calibration).for_reply

        return LoadedDraft(self.name, self.kind, parts.link, new_text)


class PromptTokenDrafter(LevelDrafter):
    """Drafts trees of what the model said after the probes of the last accepted token."""

    def __init__(self, tokens: PromptTokens, calibration: PromptTokenCalibration | None = None) -> None:
        super().__init__(tokens.count, {} if calibration is None else calibration.tokens, tokens.members)
        self._tokens = tokens
        self._trees = {} if calibration is None else calibration.by_rows
        self._said: Tensor | None = None

    def reset(self, prompt: Sequence[int]) -> int:
        """Begin a reply; no row of the prompt is needed, since the first draft asks."""
        self._text, self._said = list(prompt), None
        return len(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Keep the model's predictions further on."""
        self._text.extend(tokens)
        self._said = None if probes is None else self._tokens.average(probes)

    def probes_behind(self, reaches: Sequence[int]) -> Probes:
        """Return the prompt tokens after the root and each node."""
        return self._tokens.behind(reaches)

    def propose(self, shape: DraftShape) -> Draft:
        """Draft a tree and its probes, or probes alone if the forward before had none after its last token."""
        rows = min(shape.rows, self.limits.nodes)
        trees = [tree for most, tree in self._trees.items() if most <= rows] if self.limits.searched else []
        nodes, reach = self._divided(rows)
        if not reach:
            return Draft()
        if self._said is None:
            return Draft(probes=self._tokens.behind([min(self._tokens.count, rows // self._tokens.members)]))
        if not trees:
            draft = self._tree(DraftShape(nodes), self._said)
            return replace(draft, probes=self._tokens.behind([reach] * (1 + len(draft))))
        state = trees[-1].states[min(len(self._said), self.limits.depth) - 1]
        draft = likeliest_along(state.nodes, state.parents, self._said)
        return replace(draft, probes=self._tokens.behind(state.reaches))

    def _divided(self, rows: int) -> tuple[int, int]:
        """Return the nodes of a draft of so many rows, and the places that each asks for; (0, 0) for too few rows.

        There are as many probes as leave room for a node.
        """
        for reach in range(self._tokens.count, 0, -1):
            behind_each = reach * self._tokens.members
            nodes = (rows - behind_each) // (1 + behind_each)
            if nodes > 0:
                return nodes, reach
        return 0, 0
