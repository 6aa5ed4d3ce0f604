"""Draft heads for training: plain torch, whole texts at once, weights named as in the published layouts.

Source of the Medusa heads: Medusa (Cai et al. 2024), sections 2.1 and 2.2.1: the target stays as it is, and each head
learns its own token.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.errors import InvalidOption
from engine.model.config import ModelConfig
from engine.training.llama_network import Attention, FeedForward, Layer, Norm, Passes, Shape, rotary_table
from engine.weights.checkpoint import SINGLE
from engine.weights.draft_kind import MEDUSA_SAFETENSORS

FusionName = Literal["dovetail", "eagle"]
#: Name of a draft's config file.
CONFIG = "config.json"
MOST_BLOCKS = 6
#: Guesses in a row that a feature draft learns, and the weight of each beside the one before it: a later one is of
#: use only if all before it held.
STEPS, _NEXT_STEP = 3, 0.6
# Weight of the difference between features, beside the cross-entropy.
_FEATURE_SHARE = 0.5
# Learning rates of matrices and of the rest: a draft that begins as the best linear one would lose that by larger
# steps.
_RATES, _LINEAR_RATES = (0.02, 0.004), (0.008, 0.001)
# Ridge of the regression, as a share of a column's variance: of 0.001 to 0.1 the best on texts kept aside.
_RIDGE = 0.01
# Steps of the fit of a block, whose nonlinearity leaves it no closed form.
_FITTING_STEPS = 3
# Widths of feed-forward networks are multiples of the largest group that a format scales together.
_WIDTH_STEP = 256
MOST_HEADS = 16
# Weight of a head in the loss, as a share of that of the head before it.
_NEXT_HEAD = 0.8


class TrainedDraft(nn.Module, ABC):
    """A draft in training; the weights that it shares with the target do not change."""

    rates: tuple[float, float] = _RATES  # learning rates of matrices and of the rest
    units: dict[Tensor, Tensor]  # units in which matrices learn, as `Muon` takes them
    # Shares of the training after which they have risen, and after which they fall
    course: ClassVar[tuple[float, float]] = (0.02, 0.3)
    file_name: ClassVar[str]  # name of the file of its weights
    config_name: ClassVar[str] = CONFIG  # name of the file of its config

    def __init__(self) -> None:
        super().__init__()
        self.units = {}

    @property
    def beside(self) -> Mapping[str, str]:
        """Further text files of its folder, by name."""
        return {}

    @abstractmethod
    def published_config(self) -> dict[str, Any]:
        """Return its config, in the published layout."""

    @abstractmethod
    def published_state(self) -> dict[str, Tensor]:
        """Return its tensors, in the published layout."""

    @abstractmethod
    def go_on_from(self, config: Mapping[str, Any], state: Mapping[str, Tensor]) -> bool:
        """Take over a written config and state; return False if they are of a draft of another shape."""

    @property
    def parameter_count(self) -> int:
        """The number of weights."""
        return sum(weight.numel() for weight in self.parameters())


class FeatureGuesser(TrainedDraft):
    """A draft that guesses from the target's features.

    Args:
        token_ids: (Vd,) int64, the target's ids of the tokens that it may draft, ascending; None for all.
    """

    token_ids: Tensor | None
    shares: tuple[float, ...]  # weight in the loss of each of its guesses in a row, falling from 1
    # True if a guess is learned in its share of the steps: each costs a pass, and trains all of the draft
    drawn: ClassVar[bool] = False
    feature_share: ClassVar[float] = 0.0  # weight of the difference between features beside the cross-entropy
    fitted: int = 0  # features in a row that its beginning is fitted to
    prefix: ClassVar[str] = ""  # prefix of its parameters, left out in the file

    def __init__(self, token_ids: Tensor | None) -> None:
        super().__init__()
        self.register_buffer("token_ids", token_ids)

    @abstractmethod
    def guesses(self, embedding: Tensor, features: Tensor, count: int) -> list[Tensor]:
        """Return guesses in a row, from the target's features alone.

        Args:
            embedding: (batch, length, h) embeddings of the tokens after the features.
            features: (batch, length, h) features of the target.
            count: Number of guesses, at most that of ``shares``.

        Returns:
            (batch, length, h) for each guess: row i of guess k is the head's input for the token after the
            one whose embedding is in row i, from the feature k rows before; its first k rows say nothing.
        """

    def measure(self, embedding: Tensor, features: Tensor) -> None:
        """Find the units in which it learns, given (n, h) embeddings and features."""

    def begin(self, head: Tensor, embedding: Tensor, features: Tensor, following: Sequence[Tensor]) -> None:
        """Begin as the target's head and a fit of features.

        Args:
            head: (Vd, h), the target's map.
            embedding: (n, h) of tokens.
            features: (n, h) before them.
            following: Features to guess, (n, h) for each of the first of ``fitted``.
        """

    @property
    def maps(self) -> list[Tensor]:
        """(Vd, h) for each guess that has an output map of its own; none if the target's head serves all."""
        return []

    @abstractmethod
    def sizes(self) -> dict[str, Any]:
        """Return its config.json without the tokens that it drafts."""

    def published_config(self) -> dict[str, Any]:
        drafted = {} if self.token_ids is None else {"draft_vocab_size": len(self.token_ids)}
        return {**self.sizes(), **drafted}

    def published_state(self) -> dict[str, Tensor]:
        """Return its tensors in the published layout, rounded to bfloat16."""
        state = {
            name.removeprefix(self.prefix): value.to(torch.bfloat16).contiguous()
            for name, value in self.named_parameters()
        }
        if self.token_ids is not None:
            drafted = torch.zeros(self.sizes()["vocab_size"], dtype=torch.bool)
            drafted[self.token_ids] = True
            state |= {"d2t": self.token_ids - torch.arange(len(self.token_ids)), "t2d": drafted}
        return state

    def go_on_from(self, config: Mapping[str, Any], state: Mapping[str, Tensor]) -> bool:
        own = {name.removeprefix(self.prefix): value for name, value in self.named_parameters()}
        if dict(config) != self.published_config() or not own.keys() <= state.keys():
            return False
        with torch.no_grad():
            for name, weight in own.items():
                weight.copy_(state[name])
        return True


@dataclass(frozen=True)
class DraftShape:
    """A draft's sizes."""

    blocks: Shape  # sizes of its transformer blocks; as many as ``num_hidden_layers``
    fusion: FusionName  # the way of joining feature and embedding


def shape_for(target: ModelConfig, blocks: int, fusion: FusionName) -> DraftShape:
    """Return the shape of a draft for a target: blocks of the target's own size, as in the paper (III-C).

    A feed-forward network is at most 8/3 as wide as the hidden state, as in Llama: Qwen2.5 1.5B has one of 5.8, which
    is three fourths of a head that reads it for each guess. The layouts have no head width of their own, so a target
    whose heads together are not as wide as its hidden state gets another number of heads.

    Raises:
        InvalidOption: The number ``blocks`` is not between 1 and 6.
    """
    check_blocks(blocks)
    hidden = target.hidden_size
    heads, kv_heads = target.heads, target.kv_heads
    while heads > 1 and (hidden % heads or (hidden // heads) % 2):
        heads -= 1
    if heads % kv_heads:
        kv_heads = heads
    return DraftShape(
        Shape(
            target.vocabulary_size,
            hidden,
            min(target.intermediate_size, -(-hidden * 8 // (3 * _WIDTH_STEP)) * _WIDTH_STEP),
            blocks,
            heads,
            kv_heads,
            target.context_length,
            rms_norm_eps=target.norm_epsilon,
        ),
        fusion,
    )


def check_blocks(blocks: int) -> None:
    """Refuse too few or too many blocks."""
    if not 1 <= blocks <= MOST_BLOCKS:
        raise InvalidOption(f"The draft has {blocks} blocks, but it must have between 1 and {MOST_BLOCKS}.")


class FirstLayer(nn.Module):
    """The first block: the fusion's result goes into attention without a norm."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.self_attn = Attention(shape)
        self.mlp = FeedForward(shape)
        self.post_attention_layernorm = Norm(shape.hidden_size, shape.rms_norm_eps)

    def forward(self, hidden: Tensor, cosine: Tensor, sine: Tensor, earlier: Passes | None = None) -> Tensor:
        """Add attention, then the feed-forward network, to the residual stream."""
        hidden = hidden + self.self_attn(hidden, cosine, sine, earlier)
        out: Tensor = hidden + self.mlp(self.post_attention_layernorm(hidden))
        return out


class DraftNetwork(FeatureGuesser):
    """A feature draft: fusion and blocks; embedding and head are the target's.

    Args:
        token_ids: (Vd,) int64, the target's ids of the tokens that it may draft, ascending; None for all.
    """

    shares = tuple(_NEXT_STEP**step for step in range(STEPS))
    drawn = True
    feature_share = _FEATURE_SHARE
    file_name = SINGLE

    def __init__(self, shape: DraftShape, token_ids: Tensor | None = None) -> None:
        super().__init__(token_ids)
        self.shape = shape
        self.fitted = int(shape.fusion == "eagle")
        self.rates = _LINEAR_RATES if self.fitted else _RATES
        blocks, size = shape.blocks, shape.blocks.hidden_size
        if shape.fusion == "dovetail":
            self.W_1 = nn.Parameter(torch.empty(size, size))
            self.W_2 = nn.Parameter(torch.empty(size, size))
            self.W_z = nn.Parameter(torch.empty(2 * size, size))
            self.input_layernorm = Norm(size, blocks.rms_norm_eps)
        else:
            self.fc = nn.Linear(2 * size, size)
        rest = [Layer(blocks) for _ in range(blocks.num_hidden_layers - 1)]
        self.layers = nn.ModuleList([FirstLayer(blocks), *rest])
        self._initialise()

    def _initialise(self) -> None:
        for name, weight in self.named_parameters():
            if weight.dim() < 2:
                if name.endswith("bias"):
                    nn.init.zeros_(weight)
            elif name.endswith(("o_proj.weight", "down_proj.weight")):
                # Residual outputs start at zero, so that each block starts as the identity.
                nn.init.zeros_(weight)
            else:
                nn.init.xavier_uniform_(weight)

    def guesses(self, embedding: Tensor, features: Tensor, count: int) -> list[Tensor]:
        """Guess the next position's feature from the target's, then from guesses of guesses, as in a chain."""
        passes: list[Passes] = [[] for _ in self.layers]
        found = [self(embedding, features, passes)]
        while len(found) < count:
            found.append(self(embedding, found[-1].roll(1, 1), passes))
        return found

    def forward(self, embedding: Tensor, features: Tensor, passes: Sequence[Passes] | None = None) -> Tensor:
        """Guess the next position's feature.

        Args:
            embedding: (batch, length, h) embeddings of the tokens after the features.
            features: (batch, length, h) features of the target, or guesses of them.
            passes: Keys and values of earlier steps in each block's attention.

        Returns:
            (batch, length, h).
        """
        if self.shape.fusion == "dovetail":
            left = features @ self.W_1
            right = functional.silu(self.input_layernorm(embedding) @ self.W_2)
            gate = torch.sigmoid(torch.cat((left, right), -1) @ self.W_z)
            hidden = gate * left + (1 - gate) * right
        else:
            hidden = self.fc(torch.cat((embedding, features), -1))
        cosine, sine = rotary_table(self.shape.blocks, embedding.shape[1])
        cosine, sine = cosine.to(hidden.dtype), sine.to(hidden.dtype)
        for at, layer in enumerate(self.layers):
            hidden = layer(hidden, cosine, sine, None if passes is None else passes[at])
        return hidden

    @torch.no_grad()
    def measure(self, embedding: Tensor, features: Tensor) -> None:
        """Let plain concatenation learn in the units of what it reads and guesses.

        Qwen2.5 1.5B's features are 240 times its embeddings: by equal steps for all columns a draft changes nothing of
        what it makes of a token. A guess has the unit of each column, because it is read again: a column that hardly
        varies has large weights, and a small error there is a large one in the next guess.
        """
        size, of_guess = _size(features), features.std(0)[:, None]
        of_inputs = torch.stack((1 / _size(embedding), 1 / size)).repeat_interleave(features.shape[-1])
        self.units = {self.fc.weight: of_guess * of_inputs}
        for at, layer in enumerate(self.layers):
            attention, feed_forward = cast(Attention, layer.self_attn), cast(FeedForward, layer.mlp)
            for projection in (attention.q_proj, attention.k_proj, attention.v_proj):
                xavier = (2 / sum(projection.weight.shape)) ** 0.5  # size of the entries by `xavier_uniform_`
                self.units[projection.weight] = _size(projection.weight) / xavier
            of_values = self.units[attention.v_proj.weight] * (1.0 if at else size)
            self.units[attention.o_proj.weight] = of_guess / of_values
            self.units[feed_forward.down_proj.weight] = of_guess

    @torch.no_grad()
    def begin(self, head: Tensor, embedding: Tensor, features: Tensor, following: Sequence[Tensor]) -> None:
        """Let plain concatenation begin as the best linear guess: ridge regression, in closed form."""
        ridge = _Ridge(torch.cat((embedding, features), -1))
        ridge.fill(self.fc, ridge.solve(following[0].float()))
        attention = cast(Attention, self.layers[0].self_attn)
        for projection in (attention.q_proj, attention.k_proj, attention.v_proj):
            # No norm is before them. Weights for numbers around 1 would make attention of large features so sharp that
            # each row sees a single row.
            projection.weight.div_(_size(features))

    def sizes(self) -> dict[str, Any]:
        """Return the sizes in EAGLE's layout, or Dovetail's."""
        kind = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu"}
        config = {**kind, **asdict(self.shape.blocks), "rope_scaling": None, "torch_dtype": "bfloat16"}
        if self.shape.fusion == "eagle":
            config["bias"] = True
        return config


def _size(values: Tensor) -> Tensor:
    return values.square().mean().sqrt()


class _Ridge:
    """Ridge regression from (n, d) rows, in closed form; the bias is free."""

    def __init__(self, given: Tensor) -> None:
        self._middle, self._size = given.mean(0), given.std(0, correction=0).clamp_min(1e-6)
        self.rows = functional.pad((given - self._middle) / self._size, (0, 1), value=1.0)
        gram = self.rows.T @ self.rows
        gram.diagonal()[:-1].add_(_RIDGE * len(given))
        self._factor = torch.linalg.cholesky(gram)

    def solve(self, wanted: Tensor) -> Tensor:
        """Return the (d + 1, k) map of ``rows`` to (n, k)."""
        return torch.cholesky_solve(self.rows.T @ wanted, self._factor)

    def fill(self, linear: nn.Linear, found: Tensor) -> None:
        """Let a module compute the map of the rows as they were given."""
        weight = found[:-1].T / self._size
        linear.weight.copy_(weight)
        linear.bias.copy_(found[-1] - weight @ self._middle)


class MedusaBlock(nn.Module):
    """A residual block, x + SiLU(W x + b), which is the identity at first."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, size)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, hidden: Tensor) -> Tensor:
        """Map (..., h) to (..., h)."""
        return hidden + functional.silu(self.linear(hidden))


class MedusaNetwork(FeatureGuesser):
    """Medusa heads (Cai et al. 2024, section 2.1).

    Args:
        heads: Number of heads, 1 to 16.
        blocks: Blocks of each head.
        own_maps: True if each has an output map of its own.
        token_ids: Ids of the tokens that it may draft, as in `FeatureGuesser`.
    """

    file_name = MEDUSA_SAFETENSORS
    prefix = "heads."

    def __init__(
        self,
        target: ModelConfig,
        heads: int,
        blocks: int,
        own_maps: bool,
        token_ids: Tensor | None = None,
    ) -> None:
        super().__init__(token_ids)
        self.target, self.blocks, self.own_maps = target, blocks, own_maps
        self.shares = tuple(_NEXT_HEAD**head for head in range(heads))
        self.fitted = heads
        rows = target.vocabulary_size if token_ids is None else len(token_ids)
        self.heads = nn.ModuleList()
        for _ in range(heads):
            parts: list[nn.Module] = [MedusaBlock(target.hidden_size) for _ in range(blocks)]
            if own_maps:
                parts.append(nn.Linear(target.hidden_size, rows, bias=False))
            self.heads.append(nn.Sequential(*parts))

    @staticmethod
    def check(heads: int, blocks: int) -> None:
        """Refuse counts that are out of their range.

        Raises:
            InvalidOption: A count is out of its range.
        """
        check_blocks(blocks)
        if not 1 <= heads <= MOST_HEADS:
            raise InvalidOption(f"The draft has {heads} heads, but it must have between 1 and {MOST_HEADS}.")

    def guesses(self, embedding: Tensor, features: Tensor, count: int) -> list[Tensor]:
        """Return the output of each head for the feature that it sees."""
        found = []
        for number, head in enumerate(self._heads()[:count]):
            found.append(head[: self.blocks](features).roll(number, 1))
        return found

    @property
    def maps(self) -> list[Tensor]:
        """Output map of each head, if they have their own."""
        return [cast(nn.Linear, head[-1]).weight for head in self._heads()] if self.own_maps else []

    def _heads(self) -> list[nn.Sequential]:
        return cast(list[nn.Sequential], list(self.heads))

    @torch.no_grad()
    def begin_as(self, head: Tensor) -> None:
        """Let maps of their own begin as the target's head, (Vd, h)."""
        for own in self.maps:
            own.copy_(head)

    @torch.no_grad()
    def begin(self, head: Tensor, embedding: Tensor, features: Tensor, following: Sequence[Tensor]) -> None:
        """Let first blocks begin as guesses of features: each step fits what is missing, times SiLU's slope there.

        A block adds no less than SiLU's least value, -0.28, so that the best linear map is out of its reach.
        """
        self.begin_as(head)
        ridge = _Ridge(features)
        for heads, wanted in zip(self._heads(), following, strict=False):
            change = wanted.float() - features
            found = ridge.solve(change)
            for _ in range(_FITTING_STEPS):
                given = ridge.rows @ found
                share = given.sigmoid()
                found += ridge.solve((change - given * share) * share * (1 + given * (1 - share)))
            ridge.fill(cast(MedusaBlock, heads[0]).linear, found)

    def sizes(self) -> dict[str, Any]:
        """Return Medusa's names of its own counts, and sizes by the names that models have."""
        return {
            "medusa_num_heads": len(self.heads),
            "medusa_num_layers": self.blocks,
            "hidden_size": self.target.hidden_size,
            "vocab_size": self.target.vocabulary_size,
        }
