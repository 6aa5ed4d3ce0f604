"""A lean Llama network for training: plain torch, no cache, weights named as in the Hugging Face layout.

The engine and transformers read its files; a test compares the logits of both. The type of products in training is
chosen here too: bfloat16 is half as much to read, but many processors have no products of it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

# Rows, inputs and outputs of the timed products, as in a layer of a small model, and the number of times for each.
_ROWS, _INPUTS, _OUTPUTS, _TYPE_TURNS = 256, 576, 1536, 5


@dataclass(frozen=True)
class Shape:
    """The sizes of a Llama network; field names are those of ``config.json``."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    max_position_embeddings: int = 2048
    rope_theta: float = 10000.0
    rms_norm_eps: float = 1e-5

    @property
    def head_dim(self) -> int:
        """The width of one attention head."""
        return self.hidden_size // self.num_attention_heads

    def as_config(self, special: Mapping[str, int | None]) -> dict[str, Any]:
        """Return the ``config.json`` of a network of this shape; ``special`` holds the ids of the special tokens."""
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            **asdict(self),
            "head_dim": self.head_dim,
            "hidden_act": "silu",
            "attention_bias": False,
            "attention_dropout": 0.0,
            "mlp_bias": False,
            "initializer_range": 0.02,
            "pretraining_tp": 1,
            "rope_scaling": None,
            "tie_word_embeddings": True,
            "use_cache": True,
            "torch_dtype": "bfloat16",
            **special,
        }


class Norm(nn.Module):
    """Root-mean-square normalisation with a learned scale."""

    def __init__(self, size: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.epsilon = epsilon

    def forward(self, hidden: Tensor) -> Tensor:
        """Normalise the last dimension of ``hidden`` in float32."""
        wide = hidden.float()
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.epsilon)
        return (wide * scale * self.weight).to(hidden.dtype)


def rotary_table(shape: Shape, length: int) -> tuple[Tensor, Tensor]:
    """Return cosines and sines of the first ``length`` positions, (length, head_dim) each, float32."""
    exponent = torch.arange(0, shape.head_dim, 2, dtype=torch.float32) / shape.head_dim
    angle = torch.outer(torch.arange(length).float(), shape.rope_theta**-exponent)
    angle = torch.cat((angle, angle), dim=-1)
    return angle.cos(), angle.sin()


def rotate(states: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotate ``states`` (batch, heads, length, head_dim) by position, in halves as Llama does."""
    first, second = states.chunk(2, dim=-1)
    return states * cosine + torch.cat((-second, first), dim=-1) * sine


#: Keys and values, (batch, heads, length, head_dim) each, of one pass after the other over the same rows.
Passes = list[tuple[Tensor, Tensor]]


class Attention(nn.Module):
    """Causal self-attention with grouped key-value heads."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        key_value_size = shape.num_key_value_heads * shape.head_dim
        self.q_proj = nn.Linear(shape.hidden_size, shape.hidden_size, bias=False)
        self.k_proj = nn.Linear(shape.hidden_size, key_value_size, bias=False)
        self.v_proj = nn.Linear(shape.hidden_size, key_value_size, bias=False)
        self.o_proj = nn.Linear(shape.hidden_size, shape.hidden_size, bias=False)

    def forward(self, hidden: Tensor, cosine: Tensor, sine: Tensor, earlier: Passes | None = None) -> Tensor:
        """Mix ``hidden`` (batch, length, hidden_size) over earlier positions.

        Args:
            cosine: Cosines of the rows' rotation.
            sine: Sines of the rows' rotation.
            earlier: Keys and values of earlier passes over the same rows, to which this pass adds its own. In pass
                k, row i sees the first pass's rows up to i - k, then row i - k + m of each pass m up to this one,
                like a draft that has guessed k features in a row.
        """
        batch, length, width = hidden.shape
        head_dim = self.shape.head_dim
        query = self.q_proj(hidden).view(batch, length, -1, head_dim).transpose(1, 2)
        key = self.k_proj(hidden).view(batch, length, -1, head_dim).transpose(1, 2)
        value = self.v_proj(hidden).view(batch, length, -1, head_dim).transpose(1, 2)
        query, key = rotate(query, cosine, sine) * head_dim**-0.5, rotate(key, cosine, sine)
        repeats = self.shape.num_attention_heads // self.shape.num_key_value_heads
        key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
        passes = [] if earlier is None else earlier
        passes.append((key, value))
        depth = len(passes) - 1
        # Written out: torch's fused attention takes twice as long on CPUs at these sizes, backward above all.
        unseen = torch.full((length, length), float("-inf"), dtype=query.dtype).triu(1 - depth)
        scores = torch.matmul(query, passes[0][0].transpose(-1, -2)) + unseen
        later = [(key.roll(depth - at, 2), value.roll(depth - at, 2)) for at, (key, value) in enumerate(passes) if at]
        if later:
            scores = torch.cat((scores, *((query * key).sum(-1, keepdim=True) for key, _ in later)), -1)
        shares = torch.softmax(scores, dim=-1)
        mixed = torch.matmul(shares[..., :length], passes[0][1])
        for at, (_, value) in enumerate(later):
            mixed = mixed + shares[..., length + at, None] * value
        out: Tensor = self.o_proj(mixed.transpose(1, 2).reshape(batch, length, width))
        return out


class FeedForward(nn.Module):
    """The gated feed-forward block (SwiGLU)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.up_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.down_proj = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        """Transform each position of ``hidden`` by itself."""
        out: Tensor = self.down_proj(functional.silu(self.gate_proj(hidden)) * self.up_proj(hidden))
        return out


class Layer(nn.Module):
    """A decoder layer."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.self_attn = Attention(shape)
        self.mlp = FeedForward(shape)
        self.input_layernorm = Norm(shape.hidden_size, shape.rms_norm_eps)
        self.post_attention_layernorm = Norm(shape.hidden_size, shape.rms_norm_eps)

    def forward(self, hidden: Tensor, cosine: Tensor, sine: Tensor, earlier: Passes | None = None) -> Tensor:
        """Add attention, then the feed-forward block, to the residual stream."""
        hidden = hidden + self.self_attn(self.input_layernorm(hidden), cosine, sine, earlier)
        out: Tensor = hidden + self.mlp(self.post_attention_layernorm(hidden))
        return out


class Network(nn.Module):
    """A Llama decoder with tied embeddings.

    ``forward`` returns hidden states rather than logits: the loss needs logits at answer positions only, and the
    vocabulary projection is a fifth of the work.
    """

    cosine: Tensor
    sine: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embed_tokens = nn.Embedding(shape.vocab_size, shape.hidden_size)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.num_hidden_layers))
        self.norm = Norm(shape.hidden_size, shape.rms_norm_eps)
        cosine, sine = rotary_table(shape, shape.max_position_embeddings)
        self.register_buffer("cosine", cosine, persistent=False)
        self.register_buffer("sine", sine, persistent=False)
        self._initialise()

    def _initialise(self) -> None:
        # Residual outputs start at zero, so that each layer starts as the identity.
        for name, weight in self.named_parameters():
            if weight.dim() < 2:
                continue
            if name.endswith(("o_proj.weight", "down_proj.weight")):
                nn.init.zeros_(weight)
            elif name.startswith("embed_tokens"):
                nn.init.normal_(weight, std=0.02)
            else:
                nn.init.normal_(weight, std=self.shape.hidden_size**-0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return final hidden states (batch, length, hidden_size) of ``tokens`` (batch, length)."""
        length = tokens.shape[1]
        hidden = self.embed_tokens(tokens)
        cosine, sine = self.cosine[:length].to(hidden.dtype), self.sine[:length].to(hidden.dtype)
        for layer in self.layers:
            hidden = layer(hidden, cosine, sine)
        out: Tensor = self.norm(hidden)
        return out

    def logits(self, hidden: Tensor) -> Tensor:
        """Return vocabulary logits of ``hidden`` (..., hidden_size)."""
        return functional.linear(hidden, self.embed_tokens.weight)

    def hugging_face_state(self) -> dict[str, Tensor]:
        """Return the weights under the names that Hugging Face's Llama uses."""
        return {f"model.{name}": value.detach() for name, value in self.state_dict().items()}


@cache
def product_type() -> torch.dtype:
    """Return the faster one of bfloat16 and float32 here, by the best times of one product in each."""
    best: dict[torch.dtype, float] = {}
    pairs = [
        (torch.ones(_ROWS, _INPUTS, dtype=each), torch.ones(_OUTPUTS, _INPUTS, dtype=each))
        for each in (torch.bfloat16, torch.float32)
    ]
    for _ in range(_TYPE_TURNS):
        for rows, matrix in pairs:
            begun = time.perf_counter()
            functional.linear(rows, matrix)
            took = time.perf_counter() - begun
            best[rows.dtype] = min(took, best.get(rows.dtype, took))
    return min(best, key=best.__getitem__)


def fast_products() -> AbstractContextManager[Any]:
    """Return a context whose products have that type."""
    return torch.autocast("cpu", torch.bfloat16, enabled=product_type() is torch.bfloat16)
