"""Sampling from a row of logits to a token: penalties, temperature, filters, and noise keyed by (seed, position).

The noise for a position depends only on the seed and the position. So the token that the target samples at a
position is the same whether the position was reached by one-token steps or inside a verified tree: a speculative
reply with a seed is the same text as a plain one.

Order and meaning of the filters are those of transformers' logits processors: repetition penalty, temperature,
top-k, top-p, min-p. Biases come before them all, presence and frequency penalties after the repetition penalty, as
in llama.cpp and vLLM. Of equally likely tokens top-p drops the first ones, and sums that differ only by rounding
count as equal to it. A mask of the tokens that a reply's form allows is applied before anything else, so a drafted
token that the form forbids is never sampled, and the text is the same with and without drafts.

`Sampler.pick` is one call of the kernel library (csrc/sampling.c); the operators of torch here are its reference,
and do the same if there is no library.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

import numpy
import torch
from torch import Tensor

from engine.errors import InvalidOption, WeightsNotFinite
from engine.kernels import sampling as kernel
from engine.messages import SAMPLING_RANGES, Penalties
from engine.sentences import figure, mark
from engine.text.output_form import TokenMask

_MASK_64 = (1 << 64) - 1
# Error of shares of one when they are added in another order; ROUNDING_ERROR in csrc/sampling.c.
_ROUNDING = 1e-12
# Logits by a lower temperature are beyond float32, and the likeliest token has the whole probability.
_GREEDY_BELOW = 1e-30
_OUTSIDE = {
    "temperature": mark("The temperature is {value}, but it must be between 0 and 100."),
    "top_k": mark("The top-k is {value}, but it must be a whole number from 0 (all tokens) on."),
    "top_p": mark("The top-p is {value}, but it must be above 0 and at most 1."),
    "min_p": mark("The min-p is {value}, but it must be between 0 and 1."),
    "repetition_penalty": mark("The repetition penalty is {value}, but it must be between 0.01 and 100."),
    "presence": mark("The presence penalty is {value}, but it must be between -2 and 2."),
    "frequency": mark("The frequency penalty is {value}, but it must be between -2 and 2."),
    "bias": mark("A bias of a token is {value}, but it must be between -100 and 100."),
}
_WINDOW = mark("The repetition penalty looks at the last {value} tokens, but it must be 1 at least.")
_SEED = mark("The seed is {value}, but it must be a whole number between 0 and 2**64 - 1.")


def uniform(seed: int, position: int) -> float:
    """Return a number in [0, 1) that depends only on the seed and the position.

    SplitMix64's finalizer (Steele et al. 2014), applied once for each.
    """
    bits = _mix(_mix(seed & _MASK_64) ^ (position & _MASK_64))
    return (bits >> 11) * 2.0**-53


def draw(weights: Tensor, noise: float) -> int:
    """Return the index whose share of the cumulative weights holds the noise.

    Args:
        weights: (n,) float64, not negative, not all zero; they need not sum to 1.
        noise: Number in [0, 1).
    """
    cumulative = weights.cumsum(0)
    index = int(torch.searchsorted(cumulative, noise * float(cumulative[-1]), right=True))
    # Rounding may put the threshold on the very end; the last index with a weight is meant then.
    return index if index < weights.shape[0] else int(weights.nonzero()[-1])


def _mix(value: int) -> int:
    value = (value + 0x9E3779B97F4A7C15) & _MASK_64
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK_64
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK_64
    return value ^ (value >> 31)


_NONE = array("i")


@dataclass(frozen=True)
class Sampler:
    """Sampling of the next token; every field is already settled and checked."""

    temperature: float = 0.0  # temperature; 0 is greedy
    top_k: int = 0  # number of tokens to keep; 0 keeps all
    top_p: float = 1.0  # share of probability to keep; 1 keeps all
    min_p: float = 0.0  # least share of the likeliest token's probability to keep; 0 keeps all
    repetition_penalty: float = 1.0  # penalty of repeated tokens; 1 does nothing
    seed: int = 0  # key of the noise, together with the position
    # Penalties of tokens that were written, and biases
    penalties: Penalties = field(default_factory=Penalties)
    begins: int = 0  # position of the reply's first token: presence and frequency are counted from there

    def __post_init__(self) -> None:
        """Refuse values that mean nothing.

        Raises:
            InvalidOption: a value is out of its range.
        """
        own = self.penalties
        if 0.0 < self.temperature < _GREEDY_BELOW:
            object.__setattr__(self, "temperature", 0.0)
        for name in ("temperature", "top_k", "top_p", "min_p", "repetition_penalty"):
            _require_inside(name, getattr(self, name))
        for name, value in (("presence", own.presence), ("frequency", own.frequency)):
            _require_inside(name, value)
        for _, value in own.bias:
            _require_inside("bias", value)
        _require(0 <= self.seed <= _MASK_64, _SEED, self.seed)
        _require(own.window >= 1, _WINDOW, own.window)

    @cached_property
    def _bias(self) -> tuple[Tensor, Tensor]:
        """Tokens with a bias, and the number added to each: made once for a reply."""
        ids, added = zip(*self.penalties.bias, strict=True)
        return torch.tensor(ids), torch.tensor(added)

    def history(self, text: Sequence[int], position: int) -> array[int]:
        """Return the last tokens of a text that the penalties look at.

        Args:
            text: All token ids before a position.
            position: Position of the next token.
        """
        reach = self.penalties.window if self.repetition_penalty != 1.0 else 0
        if self.penalties.presence or self.penalties.frequency:
            reach = max(reach, position - self.begins)
        return array("i", text[-reach:]) if reach else array("i")

    def pick(self, logits: Tensor, row: int, position: int, text: Sequence[int] = ()) -> int:
        """Pick the token at a position.

        Args:
            logits: (n, V) float32, the target's.
            row: Index of the row for the token before the position.
            position: Place of the token, counted from the start of the prompt.
            text: Token ids before the position, as many of the last ones as `history` gives.
        """
        noise = uniform(self.seed, position) if self.temperature else 0.0
        penalty, ids = self.repetition_penalty, _NONE
        own = self.penalties
        if own.bias or own.presence or own.frequency:
            logits, row = self._penalised(logits[row], text, position)[None], 0
            penalty = 1.0
        elif penalty != 1.0:
            ids = array("i", text[-own.window :])
        token = kernel.sample(logits, row, self.temperature, self.top_k, self.top_p, self.min_p, penalty, ids, noise)
        if token is not None:
            return token
        return self._pick(logits[row] if penalty == 1.0 else self._penalised(logits[row], text, position), noise)

    def _pick(self, logits: Tensor, noise: float) -> int:
        """Pick as the kernel does, with torch's operators."""
        if self.temperature == 0.0:
            return int(_finite(logits).argmax())
        probabilities, token_ids = self._kept(logits)
        index = draw(probabilities, noise)
        return index if token_ids is None else int(token_ids[index])

    def distribution(self, logits: Tensor, text: Sequence[int] = (), position: int = 0) -> Tensor:
        """Return the (V,) float64 probabilities that `pick` draws from; one-hot when greedy.

        Args:
            logits: (V,) float32.
            text: Token ids before the position, as for `pick`.
            position: Place of the token, as for `pick`; without it none of the text counts as the reply's.
        """
        logits = self._penalised(logits, text, position)
        if self.temperature == 0.0:
            one_hot = torch.zeros(logits.shape[0], dtype=torch.float64)
            one_hot[_finite(logits).argmax()] = 1.0
            return one_hot
        probabilities, token_ids = self._kept(logits)
        if token_ids is not None:
            probabilities = torch.zeros(logits.shape[0], dtype=torch.float64).scatter_(0, token_ids, probabilities)
        return probabilities / probabilities.sum()

    def _penalised(self, logits: Tensor, text: Sequence[int], position: int) -> Tensor:
        """Return logits with the biases and penalties of single tokens applied.

        The repetition penalty divides them, or multiplies negative ones (Keskar et al. 2019); presence and
        frequency are subtracted (https://platform.openai.com/docs/advanced-usage, "Parameter details").
        """
        own = self.penalties
        if own.bias:
            ids, added = self._bias
            logits = logits.index_add(0, ids, added.to(logits.dtype))
        if self.repetition_penalty != 1.0 and text:
            ids = torch.tensor(sorted(set(text[-own.window :])), dtype=torch.long)
            values = logits[ids]
            values = torch.where(values < 0, values * self.repetition_penalty, values / self.repetition_penalty)
            logits = logits.index_copy(0, ids, values)
        written = position - self.begins
        if (own.presence or own.frequency) and text and written > 0:
            tokens, counts = numpy.unique(numpy.asarray(text[-written:]), return_counts=True)
            taken = torch.from_numpy(counts).to(logits.dtype) * own.frequency + own.presence
            logits = logits.index_add(0, torch.from_numpy(tokens).long(), taken, alpha=-1)
        return logits

    def _kept(self, logits: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return unnormalised float64 probabilities, and their token ids in ascending order (None: all tokens)."""
        scaled = _finite(logits / self.temperature)
        token_ids: Tensor | None = None
        if 0 < self.top_k < scaled.shape[0]:
            # All values equal to the k-th stay, as in transformers.
            token_ids = (scaled >= scaled.topk(self.top_k).values[-1]).nonzero().squeeze(1)
            scaled = scaled[token_ids]
        probabilities = torch.softmax(scaled.double(), dim=0)
        if self.top_p < 1.0:
            ordered, order = probabilities.sort(stable=True)
            dropped = ordered.cumsum(0) <= 1.0 - self.top_p + _ROUNDING
            dropped[-1] = False
            probabilities[order[dropped]] = 0.0
        if self.min_p > 0.0:
            probabilities[probabilities < self.min_p * probabilities.max()] = 0.0
        return probabilities, token_ids


def _finite(logits: Tensor) -> Tensor:
    """Return the logits (n,) if the largest of them is finite.

    Raises:
        WeightsNotFinite: The largest logit is infinite, or there is a NaN.
    """
    if not logits.max().isfinite():
        raise WeightsNotFinite(
            "The model computes numbers that are infinite or none (NaN), so its weights are damaged: download it "
            "again, or use another one."
        )
    return logits


def _require_inside(name: str, value: float) -> None:
    least, most = SAMPLING_RANGES[name]
    _require(least <= value <= most and (value != 0 or name != "top_p"), _OUTSIDE[name], value)


def _require(holds: bool, otherwise: str, value: float) -> None:
    if not holds:
        raise InvalidOption(otherwise, value=figure(value, "g"))


@dataclass(frozen=True)
class Pick:
    """A token that was picked."""

    token_id: int
    # Natural logarithm of its probability under the model, before temperature, filters and masks
    logprob: float
    # The likeliest tokens with their log-probabilities, the likeliest first
    top: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class LoggedSampler(Sampler):
    """A sampler that notes the picks of another one."""

    inner: Sampler = field(kw_only=True)  # the sampler that picks
    top: int = field(kw_only=True)  # number of the likeliest tokens to note
    # Picks since they were last taken, in order; there are more than emitted tokens if a reply ends early
    picks: list[Pick] = field(default_factory=list, kw_only=True)

    def pick(self, logits: Tensor, row: int, position: int, text: Sequence[int] = ()) -> int:
        token = self.inner.pick(logits, row, position, text)
        logprobs = torch.log_softmax(logits[row].double(), 0)
        best = logprobs.topk(min(self.top, len(logprobs)))
        top = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        self.picks.append(Pick(token, float(logprobs[token]), tuple(top)))
        return token

    def take(self, count: int) -> list[Pick]:
        """Return the picks of the tokens that were emitted; later ones of the round are forgotten."""
        taken = self.picks[:count]
        self.picks.clear()
        return taken


@dataclass(frozen=True)
class MaskedSampler(Sampler):
    """A sampler whose picks are the tokens of one reply, in their order."""

    mask: TokenMask = field(kw_only=True)  # mask that gives the allowed tokens and takes each pick

    def pick(self, logits: Tensor, row: int, position: int, text: Sequence[int] = ()) -> int:
        allowed = self.mask.allowed()
        if allowed is not None:
            forbidden = torch.ones(logits.shape[1], dtype=torch.bool)  # there may be rows without a token
            known = min(len(allowed), len(forbidden))
            forbidden[:known] = torch.from_numpy(~allowed[:known])
            logits, row = logits[row].masked_fill(forbidden, -inf)[None], 0
        token = super().pick(logits, row, position, text)
        self.mask.take(token)
        return token
