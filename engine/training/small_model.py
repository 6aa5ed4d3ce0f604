"""A small model that learns to write like the target: a draft that needs no hidden rows.

Source: Minions (Wang et al. 2024), section 4: the target answers prompts, answers that are wrong are left out, and
small models learn the others, each of them from another kind of prompt. Here they learn the target's whole
distributions in the place of one token each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from engine.errors import InvalidOption
from engine.model.config import ModelConfig
from engine.text.tokenizer import Tokenizer
from engine.training.draft_networks import TrainedDraft, check_blocks
from engine.training.features import FeatureBatch
from engine.training.llama_network import Network, Shape
from engine.training.loss import TOPS, Entropy, Scores, TargetEnds

#: Files of its folder beside config and weights.
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
# Widths that make whole heads and whole blocks of the packed formats.
_WIDTH_STEP, _MOST_WIDTH = 64, 2048
# Chains that it is scored by, and positions whose logits are held at once.
_CHAIN, _PIECE = 4, 512


class SmallNetwork(TrainedDraft):
    """A Llama with the target's tokenizer.

    Args:
        tokenizer: Tokenizer of the target, which goes into the folder too.
        width: Hidden size of the model.
        blocks: Number of its layers.
    """

    rates = (0.02, 0.004)
    file_name = "model.safetensors"

    def __init__(self, target: ModelConfig, tokenizer: Tokenizer, width: int, blocks: int) -> None:
        super().__init__()
        self._tokenizer = tokenizer
        heads = width // (32 if width < 256 else 64)
        self.model = Network(
            Shape(target.vocabulary_size, width, 3 * width, blocks, heads, heads // 2, target.context_length)
        )

    @staticmethod
    def check(width: int, blocks: int) -> None:
        """Refuse sizes that are out of their range.

        Raises:
            InvalidOption: A size is out of its range.
        """
        check_blocks(blocks)
        if not _WIDTH_STEP <= width <= _MOST_WIDTH or width % _WIDTH_STEP:
            raise InvalidOption(
                f"The draft's width is {width}, but it must be a multiple of {_WIDTH_STEP} up to {_MOST_WIDTH}."
            )

    @property
    def beside(self) -> Mapping[str, str]:
        """The target's tokenizer and chat template."""
        ends, template = sorted(self._tokenizer.end_ids), self._tokenizer.template
        config: dict[str, Any] = {"tokenizer_class": "PreTrainedTokenizerFast"}
        if ends:
            config["eos_token"] = self._tokenizer.tokens()[ends[0]]
        if template is not None:
            config["chat_template"] = template.source
        texts = (self._tokenizer.as_json(), json.dumps(config, indent=2) + "\n")
        return dict(zip(TOKENIZER_FILES, texts, strict=True))

    def published_config(self) -> dict[str, Any]:
        ends = sorted(self._tokenizer.end_ids)
        return self.model.shape.as_config({"bos_token_id": None, "eos_token_id": ends[0] if ends else None})

    def published_state(self) -> dict[str, Tensor]:
        """Return Llama's tensors, in bfloat16."""
        return {name: value.bfloat16() for name, value in self.model.hugging_face_state().items()}

    def go_on_from(self, config: Mapping[str, Any], state: Mapping[str, Tensor]) -> bool:
        if dict(config) != self.published_config() or state.keys() != self.published_state().keys():
            return False
        self.model.load_state_dict({name.removeprefix("model."): value.float() for name, value in state.items()})
        return True


class SmallObjective:
    """The objective of a small model, for `engine.training.trainer`.

    Args:
        ends: Ends of the target, for all tokens.
        kept_aside: Batches that are only scored.
    """

    def __init__(self, ends: TargetEnds, kept_aside: Sequence[FeatureBatch]) -> None:
        self._ends, self._kept_aside = ends.for_products(), kept_aside

    def loss(self, network: SmallNetwork, batch: FeatureBatch) -> Tensor:
        """Return the loss of one batch: cross-entropy with the target's distributions, a mean over drafted tokens."""
        learn = batch.learn[:, 1:]
        hidden = network.model(batch.tokens[:, :-1])[learn].float()
        true = batch.features[:, :-1][learn]
        found: Tensor = Entropy.apply(true, self._ends, (1.0,), hidden, network.model.embed_tokens.weight)  # type: ignore[no-untyped-call]
        return found

    @torch.no_grad()
    def score(self, network: SmallNetwork) -> Scores:
        """Score its guesses by the target's texts."""
        forwards = 0
        right, seen = torch.zeros(_CHAIN, len(TOPS)), torch.zeros(_CHAIN, 1)
        for batch in self._kept_aside:
            learn, said = batch.learn[:, 1:], batch.tokens[:, 1:]
            hidden = network.model(batch.tokens[:, :-1])
            hits = torch.zeros(*said.shape, len(TOPS), dtype=torch.bool)
            for start in range(0, said.shape[1], _PIECE):
                piece = slice(start, start + _PIECE)
                likeliest = network.model.logits(hidden[:, piece]).topk(TOPS[-1]).indices
                matches = likeliest == said[:, piece, None]
                hits[:, piece] = torch.stack([matches[..., :top].any(-1) for top in TOPS], -1)
            forwards += int(learn.sum())
            # After guesses that held a chain has the true text, so its next guess is one that follows that.
            holds = learn
            for ahead in range(_CHAIN):
                asked = holds & functional.pad(learn, (0, ahead))[:, ahead:]
                there = functional.pad(hits, (0, 0, 0, ahead))[:, ahead:]
                seen[ahead] += asked.sum()
                right[ahead] += there[asked].sum(0)
                holds = asked & there[..., 0]
        shares = (right / seen.clamp_min(1)).tolist()
        return Scores(1.0 + float(right[:, 0].sum()) / max(1, forwards), tuple(map(tuple, shares)))
