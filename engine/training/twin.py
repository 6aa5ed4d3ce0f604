"""A target that gradients pass through: transformers' class of its family, filled with the checkpoint's tensors.

The engine's own forward is for inference alone: it writes its cache in place and multiplies packed matrices.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.prompt_tokens import PromptTokens
from engine.errors import InvalidOption
from engine.families.family import FamilyExperts
from engine.model.config import ModelConfig, read_config
from engine.model.decoder import Decoder
from engine.model.footprint import weight_bytes
from engine.model.token_tree import Draft
from engine.model.weight_format import DENSE_BF16, weight_format
from engine.planning.hardware import available_memory_bytes
from engine.training.llama_network import product_type
from engine.training.loss import TargetEnds
from engine.weights.checkpoint import Checkpoint

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
            # Its products of many experts at once have no gradients on every processor.
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
