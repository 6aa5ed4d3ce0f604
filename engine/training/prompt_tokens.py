"""Prompt tokens for training: embeddings that ask a frozen target at random places of its own texts.

Source: Parallel Prompt Decoding (Chen et al. 2024; the report, sections 4.3 and 6.1.2): random insertion, the target's
own distributions in the place of one token each, a decay over distance. Many insertions share a forward, each seeing
the text before it and itself; the text's own rows are read once and have no gradients.

The target that gradients pass through is transformers' class of its family, filled with the checkpoint's tensors. The
engine's own forward is for inference alone: it writes its cache in place and multiplies packed matrices.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy
import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.prompt_tokens import MOST_MEMBERS, TENSOR, PromptTokens
from engine.errors import InvalidOption
from engine.families.family import FamilyExperts
from engine.model.config import ModelConfig, read_config
from engine.model.decoder import Decoder
from engine.model.footprint import weight_bytes
from engine.model.token_tree import Draft, ProbeMask
from engine.model.weight_format import DENSE_BF16, weight_format
from engine.planning.hardware import available_memory_bytes
from engine.training.draft_networks import TrainedDraft
from engine.training.features import FeatureBatch
from engine.training.llama_network import product_type
from engine.training.loss import TOPS, Scores, TargetEnds
from engine.weights.checkpoint import Checkpoint
from engine.weights.draft_kind import ADAPTER_CONFIG, ADAPTER_SAFETENSORS

#: Rows of prompt tokens for each token of a text in a step; rows that run at once, and rows whose logits are in
#: memory.
ROWS_EACH, ROWS_AT_ONCE, LOGIT_ROWS = 1.0, 256, 128
#: Most tokens of the texts that prompt tokens are scored on: their keys and values stay in memory, and to score a place
#: takes as long as to learn from one.
KEPT_TOKENS = 2000
# Mean difference to the engine's distributions in nats that is allowed: 16 bits and the kernels' 8-bit activations
# give a tenth of it, another rotation or norm several nats.
_CLOSE = 0.1
# Memory of transformers' code, and memory that allocators hold back.
_LIBRARY_BYTES = 150 << 20
# Number of tokens that are compared.
_COMPARED = 48
# Module around a router's matrix that checkpoints have and transformers has not.
_ROUTER_LAYER = ".layer"


class Twin:
    """The target's model, frozen.

    Args:
        checkpoint: Checkpoint of the target.
        dtype: Type of weights and activations; None for the one with fast products.

    Raises:
        InvalidOption: transformers is not installed, or does not know the family as the checkpoint has it.
    """

    def __init__(self, checkpoint: Checkpoint, dtype: torch.dtype | None = None) -> None:
        dtype = dtype or product_type()
        try:
            # Imported by name: a packaged Tenon leaves it out.
            transformers: Any = importlib.import_module("transformers")
        except ImportError as error:
            raise InvalidOption(
                "Prompt tokens are trained through the Python package transformers, which is not here: install Tenon "
                "with pip, and run `pip install 'transformers>=5.0'`."
            ) from error
        self._family, self._version = checkpoint.architecture, transformers.__version__
        transformers.utils.logging.disable_progress_bar()
        try:
            config = transformers.AutoConfig.for_model(**json.loads(json.dumps(checkpoint.config), object_hook=_number))
            # Torch's own attention has no soft cap.
            attention = "eager" if getattr(config, "attn_logit_softcapping", None) else "sdpa"
            # transformers' products of many experts at once have no gradients on some processors.
            model = transformers.AutoModelForCausalLM.from_config(
                config, dtype=dtype, attn_implementation=attention, experts_implementation="eager"
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._refusal("does not know it") from error
        if getattr(config, "hidden_size_per_layer_input", 0):
            raise self._refusal("gives each layer an input by the token's number, and prompt tokens have none")
        own = _named_as_stored(model, read_config(checkpoint).family.experts, checkpoint.names)
        missing = sorted(own.keys() - checkpoint.names)
        wrong = [name for name in own.keys() & checkpoint.names if own[name].shape != checkpoint.shape(name)]
        if missing or wrong:
            raise self._refusal(f"has a tensor {(missing or wrong)[0]} that the checkpoint has not")
        for name, weight in own.items():
            for _ in checkpoint.read(name, weight, lambda: None):
                pass
        self._dtype = dtype
        self._cache: type[Any] = transformers.DynamicCache
        self._body: Any = model.eval().requires_grad_(False).base_model
        if hasattr(self._body, "embedding_multiplier"):
            # Prompt tokens enter the first layer unchanged, and the engine's norm has the factor of the logits.
            self._body.embed_tokens.weight.mul_(self._body.embedding_multiplier)
            self._body.norm.weight.div_(config.logits_scaling)
            self._body.embedding_multiplier = 1.0
        windows = getattr(config, "layer_types", None) or ()
        self._window = getattr(config, "sliding_window", None)
        self._mixed = "sliding_attention" in windows

    @torch.no_grad()
    def read(self, tokens: Tensor) -> tuple[Tensor, Any]:
        """Read texts, (rows, length) int64; return (rows, length, h) after the final norm, and keys and values."""
        cache = self._cache()
        hidden: Tensor = self._body(input_ids=tokens, past_key_values=cache, use_cache=True).last_hidden_state
        return hidden, cache

    def ask(self, cache: Any, embeddings: Tensor, sees: Tensor, positions: Tensor) -> Tensor:
        """Run rows after texts that were read.

        Args:
            cache: Keys and values of the texts; they are the same afterwards.
            embeddings: (rows, n, h) embeddings, which get gradients.
            sees: (rows, n, length + n) bool, True where a row sees another.
            positions: (rows, n) int64.

        Returns:
            (rows, n, h) rows after the final norm.
        """
        rows, count, every = sees.shape

        def additive(visible: Tensor) -> Tensor:
            blank = torch.zeros(rows, 1, count, every, dtype=self._dtype)
            return blank.masked_fill_(~visible[:, None], torch.finfo(self._dtype).min)

        mask: Any = additive(sees)
        if self._window is not None:
            before = torch.arange(every - count).expand(rows, -1)
            distance = positions[:, :, None] - torch.cat((before, positions), 1)[:, None]
            near = additive(sees & (distance < self._window))
            mask = {"full_attention": mask, "sliding_attention": near} if self._mixed else near
        # The cache would keep these rows, and the graph of their gradients.
        of_texts = [(layer.keys, layer.values) for layer in cache.layers]
        hidden: Tensor = self._body(
            inputs_embeds=embeddings.to(self._dtype),
            past_key_values=cache,
            attention_mask=mask,
            position_ids=positions,
            use_cache=True,
        ).last_hidden_state
        for layer, (keys, values) in zip(cache.layers, of_texts, strict=True):
            layer.keys, layer.values = keys, values
        return hidden

    def compare(self, decoder: Decoder, ends: TargetEnds, text: Tensor, tokens: PromptTokens) -> None:
        """Compare with the engine on a text, (length,) int64, and prompt tokens after it.

        Raises:
            InvalidOption: The family is computed differently; the error names the difference.
        """
        text = text[:_COMPARED]
        sequence = TokenSequence(Target(decoder), len(text) + tokens.count * tokens.members + 1)
        sequence.prefill(text[:-1].tolist(), lambda: None)
        probes = tokens.behind([tokens.count])
        draft = Draft(probes=probes)
        engine = [sequence.verify(int(text[-1]), draft, lambda: None)[0].clone()]
        said = sequence.probe_logits(draft.probe_rows(-1))
        assert said is not None, "the draft has probes"
        engine += tokens.average(said)
        hidden, cache = self.read(text[None])
        sees = torch.cat((torch.ones(len(probes), len(text), dtype=torch.bool), probes.sees()), 1)
        positions = len(text) - 1 + torch.tensor(probes.distances)
        with torch.no_grad():
            behind = self.ask(cache, probes.embeddings[None], sees[None], positions[None])
        found = [ends.logits(hidden[0, -1].float()), *tokens.average(ends.logits(behind[0].float()))]
        both = zip(engine, found, strict=True)
        differences = [
            functional.kl_div(ours.log_softmax(-1), theirs.log_softmax(-1), log_target=True, reduction="sum")
            for theirs, ours in both
        ]
        difference = float(torch.stack(differences).mean())
        if not difference < _CLOSE:
            raise self._refusal(f"computes it otherwise: its predictions differ by {difference:.2g} nats")

    def _refusal(self, reason: str) -> InvalidOption:
        return InvalidOption(
            f"Prompt tokens cannot be trained for {self._family}, because transformers {self._version} {reason}."
        )


def _number(values: dict[str, Any]) -> Any:
    """Return the infinite number that transformers spells as an object of JSON, or another object as it is."""
    return float(values["__float__"]) if values.keys() == {"__float__"} else values


def _named_as_stored(model: nn.Module, experts: FamilyExperts | None, stored: Collection[str]) -> dict[str, Tensor]:
    """Return the model's numbers by their names in a checkpoint: transformers stacks the experts' tensors."""
    found = {name: weight.detach() for name, weight in model.named_parameters()}
    # A router's correction is no parameter there.
    found |= {name: buffer for name, buffer in model.named_buffers() if name in stored}
    if experts is None:
        return found
    of_expert = experts.matrices[0].partition("{}")[0]
    router = experts.router.removesuffix(_ROUTER_LAYER)
    for name, weight in list(found.items()):
        layer, _, part = name.rpartition(of_expert)
        parts = {"gate_up_proj": experts.matrices[:2], "down_proj": experts.matrices[2:]}.get(part, ())
        if layer and parts:
            del found[name]
            for number, own in enumerate(weight):
                for module, rows in zip(parts, own.chunk(len(parts)), strict=True):
                    found[f"{layer}{module.format(number)}.weight"] = rows
        elif name.endswith(f".{router}.weight") and name not in stored:
            found[name.replace(router, experts.router)] = found.pop(name)
    return found


def training_bytes(config: ModelConfig, tokens: int, vocabulary_size: int, threads: int) -> int:
    """Return the bytes of the twin and a step with it: as much as was measured, or up to a tenth more.

    The tokens of a step are divided among threads; each runs rows of its own.
    """
    product = product_type()
    weights = DENSE_BF16 if product is DENSE_BF16.dense else weight_format("fp32")
    of_row = 10 * config.hidden_size + 3 * config.intermediate_size
    # Keys and values of the texts as they were read, and once for each head after every layer for the gradients.
    of_token, of_kept = 7 * config.heads * config.head_dim, 2 * config.kv_heads * config.head_dim
    numbers = config.layers * (threads * ROWS_AT_ONCE * of_row + tokens * of_token + KEPT_TOKENS * of_kept)
    logits = threads * 24 * LOGIT_ROWS * vocabulary_size
    return weight_bytes(config, weights) + numbers * product.itemsize + logits + _LIBRARY_BYTES


def check_memory(config: ModelConfig, tokens: int, vocabulary_size: int, threads: int) -> None:
    """Refuse a training for which there is no memory, before anything is loaded for it.

    Args:
        tokens: Tokens of the texts of a step.
        vocabulary_size: Size of the head's vocabulary.
        threads: Number of threads, as in `training_bytes`.

    Raises:
        InvalidOption: The training needs more memory than is free.
    """
    needed, free = training_bytes(config, tokens, vocabulary_size, threads), available_memory_bytes()
    if needed > free:
        raise InvalidOption(
            f"Training prompt tokens for this model takes {needed / 1e9:.2g} GB of memory and {free / 1e9:.2g} GB are "
            "free: close other programs, or train on a larger machine."
        )


LossName = Literal["forward", "reverse", "hard"]
LOSSES: tuple[LossName, ...] = get_args(LossName)
MOST_PLACES = 16
# Weight of a place in the loss, as a share of the weight of the place before it.
_NEXT_PLACE = 0.8
# Learning rate of the report, for all trained weights.
_RATE = 0.01
# Learning rate of a new set, as a share of the root mean square of the embeddings that it begins as. With
# SmolLM2's, 0.12, it is 0.05: after as many steps the divergence is 0.56 nats lower than by the report's
# (BENCHMARKS.md).
_RATE_SHARE = 0.4
# Each so many-th of the points of a text that ask for something is scored.
_SCORED_EACH = 4


class PromptTokenNetwork(TrainedDraft):
    """Prompt tokens, which begin as ordinary embeddings.

    Args:
        places: Number of places of the tokens that they ask for, m.
        members: Members of each place's ensemble, n.
        mask: Rule of which row sees which.
    """

    rates = (0.0, _RATE)
    course = (0.0, 0.0)
    file_name = ADAPTER_SAFETENSORS
    config_name = ADAPTER_CONFIG

    def __init__(self, target: ModelConfig, places: int, members: int, mask: ProbeMask) -> None:
        super().__init__()
        self.target, self.mask = target, mask
        # Three dimensions: the optimizer's rule for matrices is not for rows that have nothing to do with each other.
        self.embeddings = nn.Parameter(torch.zeros(places, members, target.hidden_size))

    @staticmethod
    def check(target: ModelConfig, places: int, members: int) -> None:
        """Refuse counts that are out of their range, and a target through which no gradients pass.

        Raises:
            InvalidOption: A count is out of its range, or layers of the target keep a state of the text: many
                insertions share its keys and values, and each would need a state of its own.
        """
        if target.convolutions:
            raise InvalidOption(
                "Prompt tokens cannot be trained for {name}, whose layers keep a state of the text: train a draft of "
                "another kind.",
                name=target.architecture,
            )
        if not 1 <= places <= MOST_PLACES:
            raise InvalidOption(f"There are {places} prompt tokens, but there must be between 1 and {MOST_PLACES}.")
        if not 1 <= members <= MOST_MEMBERS:
            raise InvalidOption(
                f"Each prompt token has {members} embeddings, but it must have between 1 and {MOST_MEMBERS}."
            )

    @torch.no_grad()
    def begin_as(self, embeddings: Tensor) -> None:
        """Begin as ordinary embeddings, (m * n, h), as they enter the first layer; the rate follows their size."""
        self.embeddings.copy_(embeddings.view_as(self.embeddings))
        self.rates = (0.0, _RATE_SHARE * float(embeddings.square().mean().sqrt()))

    def tokens(self) -> PromptTokens:
        """Return the prompt tokens as the engine runs them."""
        return PromptTokens(self.embeddings.detach().clone(), self.mask)

    def published_config(self) -> dict[str, Any]:
        """Return the config as PEFT writes it for prompt tuning, with the names of the report's own code."""
        places, members, hidden = self.embeddings.shape
        return {
            "peft_type": "PROMPT_TUNING",
            "task_type": "CAUSAL_LM",
            "inference_mode": True,
            "num_special_tokens": places,
            "virtual_tokens_per_special_token": members,
            "num_virtual_tokens": places * members,
            "num_transformer_submodules": 1,
            "num_attention_heads": self.target.heads,
            "num_layers": self.target.layers,
            "token_dim": hidden,
            "vt_attention_type": self.mask,
            "aggregation_type": "mean",
        }

    def published_state(self) -> dict[str, Tensor]:
        """Return the one tensor, (m * n, h) float32."""
        return {TENSOR: self.embeddings.detach().flatten(0, 1).contiguous()}

    def go_on_from(self, config: Mapping[str, Any], state: Mapping[str, Tensor]) -> bool:
        """Take over prompt tokens of the same places, members and mask."""
        if dict(config) != self.published_config() or TENSOR not in state:
            return False
        with torch.no_grad():
            self.embeddings.copy_(state[TENSOR].view_as(self.embeddings))
        return True


@dataclass(frozen=True)
class _Insertions:
    """Places of texts after which prompt tokens stand."""

    points: Tensor  # (rows, K) int64, the last token that each insertion sees
    asked: Tensor  # (rows, K, m) bool, True where the target's own tokens are to be guessed

    @classmethod
    def of(cls, learn: Tensor, places: int, count: int | None) -> _Insertions:
        """Choose insertions at random, or some of all.

        Args:
            learn: (rows, length) bool, tokens that are to be drafted.
            places: Number of places, m.
            count: K, at random points; None for each fourth of those that ask for something.
        """
        rows, length = learn.shape
        # After point i the first place guesses token i + 2: the target says i + 1 itself.
        wanted = functional.pad(learn, (0, places + 2))
        asks = wanted[:, 2 : length + 2]
        if count is None:
            points = asks.any(0).nonzero().squeeze(1)[::_SCORED_EACH].expand(rows, -1)
        else:
            # In order, so that neighbours, which ask for the same tokens, are learned at once.
            points = (torch.rand(rows, length) + asks.float()).topk(min(count, length)).indices.sort().values
        ahead = torch.stack([wanted.gather(1, points + 2 + place) for place in range(places)], -1)
        return cls(points, ahead.cumprod(-1).bool())

    def pieces(self, members: int) -> Iterator[_Insertions]:
        """Yield some at a time, so that about `ROWS_AT_ONCE` rows of prompt tokens run together."""
        rows, count, places = self.asked.shape
        step = max(1, ROWS_AT_ONCE // (rows * places * members))
        for start in range(0, count, step):
            piece = slice(start, start + step)
            yield _Insertions(self.points[:, piece], self.asked[:, piece])


class PromptTokenObjective:
    """The objective of prompt tokens, for `engine.training.trainer`.

    Args:
        ends: Head of the target, for all tokens.
        kept_aside: Batches that are only scored.
        loss: "forward", KL of the target's and the guessed distribution; "reverse", the other way round, as equation
            4.1 of the report writes it; "hard", cross-entropy of the tokens that were written.
    """

    def __init__(self, twin: Twin, ends: TargetEnds, kept_aside: Sequence[FeatureBatch], loss: LossName) -> None:
        self._twin, self._ends, self._kept_aside, self._loss = twin, ends.for_products(), kept_aside, loss

    @cached_property
    def _read(self) -> list[Any]:
        """Keys and values of the batches that are only scored, which stay the same."""
        return [self._twin.read(batch.tokens)[1] for batch in self._kept_aside]

    def loss(self, network: PromptTokenNetwork, batch: FeatureBatch) -> Tensor:
        """Return the loss of one batch, a mean over places by their shares."""
        places, members, _ = network.embeddings.shape
        count = max(1, round(ROWS_EACH * batch.tokens.shape[1] / (places * members)))
        inserted = _Insertions.of(batch.learn, places, count)
        _, cache = self._twin.read(batch.tokens)
        weights = _weights(inserted.asked.sum((0, 1)))
        # Gradients are computed along: keeping all rows for them, or their logits, would fill memory.
        total, gradient = torch.zeros(()), torch.zeros_like(network.embeddings)
        for piece in inserted.pieces(members):
            with torch.enable_grad():
                hidden = self._behind(network, cache, piece, batch.tokens.shape[1])
            part, outer = self._divergence(hidden.detach(), batch, piece, weights)
            total += part
            gradient += torch.autograd.grad(hidden, network.embeddings, outer)[0]
        carried = (network.embeddings * gradient).sum()
        return total + carried - carried.detach()

    @torch.no_grad()
    def score(self, network: PromptTokenNetwork) -> Scores:
        """Score the prompt tokens' guesses by the target's texts."""
        places, members, _ = network.embeddings.shape
        tokens = forwards = 0
        right, seen = torch.zeros(places, len(TOPS)), torch.zeros(places, 1)
        for batch, cache in zip(self._kept_aside, self._read, strict=True):
            length = batch.tokens.shape[1]
            every = _Insertions.of(batch.learn, places, None)
            for inserted in every.pieces(members):
                hidden = self._behind(network, cache, inserted, length)
                likeliest = self._ends.tokens(self._logits(hidden), TOPS[-1])
                ahead = inserted.points[..., None] + torch.arange(2, places + 2)
                true = functional.pad(batch.tokens, (0, places + 2)).gather(1, ahead.flatten(1)).view_as(ahead)
                hits = likeliest == true[..., None]
                asked = inserted.asked
                seen += asked.sum((0, 1))[:, None]
                right += torch.stack([(hits[..., :top].any(-1) & asked).sum((0, 1)) for top in TOPS], -1)
                whole = asked.all(-1)
                forwards += int(whole.sum())
                tokens += int(whole.sum() + (hits[..., 0].cumprod(-1) * whole[..., None]).sum())
        shares = (right / seen.clamp_min(1)).tolist()
        return Scores(tokens / max(1, forwards), tuple(map(tuple, shares)))

    def _behind(self, network: PromptTokenNetwork, cache: Any, inserted: _Insertions, length: int) -> Tensor:
        """Return (rows, K, m, n, h) after the final norm, the head's input for each prompt token."""
        rows, count = inserted.points.shape
        places, members, hidden = network.embeddings.shape
        probes = network.tokens().behind([places])
        distances = torch.tensor(probes.distances)
        positions = (inserted.points[..., None] + distances).flatten(1)
        before = torch.arange(length) <= inserted.points[..., None]
        before = before.repeat_interleave(len(probes), 1)
        own = torch.kron(torch.eye(count), probes.sees().float()).bool().expand(rows, -1, -1)
        embeddings = network.embeddings.flatten(0, 1).repeat(count, 1).expand(rows, -1, -1)
        found = self._twin.ask(cache, embeddings, torch.cat((before, own), 2), positions)
        return found.view(rows, count, places, members, hidden)

    def _logits(self, hidden: Tensor) -> Tensor:
        """Map (..., n, h) to averaged (..., V) logits; rows are averaged if the head is a plain map."""
        if self._ends.soft_cap is None:
            return self._ends.logits(hidden.mean(-2))
        return self._ends.logits(hidden).mean(-2)

    def _divergence(
        self, hidden: Tensor, batch: FeatureBatch, inserted: _Insertions, weights: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the sum of losses by their place's weight, and its gradients by (rows, K, m, n, h)."""
        total, gradient = torch.zeros(()), torch.zeros_like(hidden)
        every = inserted.asked.nonzero()
        for start in range(0, len(every), LOGIT_ROWS):
            asked = row, insertion, place = every[start : start + LOGIT_ROWS].unbind(1)
            at = inserted.points[row, insertion] + place + 1
            with torch.enable_grad():
                guessed = hidden[asked].requires_grad_()
                logs = self._logits(guessed).float().log_softmax(-1)
                each = self._each(logs, batch, row, at)
                part = (each * weights[place]).sum()
            gradient[asked] = torch.autograd.grad(part, guessed)[0]
            total += part.detach()
        return total, gradient

    def _each(self, logs: Tensor, batch: FeatureBatch, row: Tensor, at: Tensor) -> Tensor:
        """Return (N,) losses of (N, V) guessed log-probabilities of the tokens after these of the texts."""
        if self._loss == "hard":
            return -logs.gather(1, batch.tokens[row, at + 1, None]).squeeze(1)
        with torch.no_grad():
            # Places of several insertions ask for the same token.
            length = batch.tokens.shape[1]
            known, which = numpy.unique((row * length + at).numpy(), return_inverse=True)
            features = batch.features.flatten(0, 1)[torch.from_numpy(known)]
            true = self._ends.logits(features).float().log_softmax(-1)[torch.from_numpy(which)]
        one, other = (true, logs) if self._loss == "forward" else (logs, true)
        return (one.exp() * (one - other)).sum(-1)


def _weights(asked: Tensor) -> Tensor:
    """Return the (m,) weight of one loss of each place, given their counts; shares decay and sum to 1."""
    shares = _NEXT_PLACE ** torch.arange(len(asked))
    return shares / shares.sum() / asked.clamp_min(1)
