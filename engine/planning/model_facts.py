"""Facts of a model for planning: sizes from its config, whether or not its weights are downloaded."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.drafting.kind import DraftKind
from engine.drafting.small_model import ModelDraft
from engine.errors import UnsupportedModel
from engine.model.config import ModelConfig
from engine.model.footprint import head_bytes, read_bytes, weight_bytes
from engine.model.tensors import check_tensors
from engine.model.weight_format import published_types, stored_format, weight_format
from engine.model_file import OpenedModel
from engine.sentences import figure, mark, say
from engine.weights.checkpoint import CheckpointOutline

_EXACT = weight_format("fp32")
# Share of a model's bytes that a draft may read for each guess. Of 10 guesses 7 hold at best; then a chain of two is
# worth 1.2 times plain decoding with 0.3 and 1.1 times with 0.44, of which a seventh is lost beside the forwards: 0.95
# was measured with 0.44 (Qwen2.5-Coder 1.5B with 0.5B, 2 cores with AVX-512). The plan's own computation says 1.06 of
# that pair, for no draft's yield is known before it is tried, and a model's further rows take longer than the kernel
# table's.
_MOST_SHARE = 0.3
_DEAR = mark("The draft reads {share} of the model for each guess: not worth it without a GPU.")


@dataclass(frozen=True)
class TargetFacts:
    """A model to be run."""

    name: str  # name of the model
    config: ModelConfig  # config of the model
    missing_bytes: int = 0  # bytes to be downloaded first; 0 if its weights are here
    digest: str = ""  # digest that names its weights in measurements; empty if they are not here

    def reusing(self, reuse: float | None) -> TargetFacts:
        """Return these facts with the share of experts that rows choose again; None if it is not known."""
        mixture = self.config.mixture
        if mixture is None:
            return self
        return replace(self, config=replace(self.config, mixture=replace(mixture, reuse=reuse)))


def target_facts(opened: OpenedModel) -> TargetFacts:
    """Read a model's facts from its files; a folder needs only config.json.

    Raises:
        CheckpointError: The model is not usable.
    """
    if opened.head_kind is not None:
        raise UnsupportedModel(
            "The folder {folder} holds a draft head and not a whole model: choose the model that "
            "it was made for, and name this folder as its draft.",
            folder=opened.place,
        )
    files, config = opened.outline, opened.config
    if isinstance(files, CheckpointOutline):
        missing_bytes = files.size_bytes or _published_bytes(config)
        return TargetFacts(opened.reference, config, missing_bytes)
    check_tensors(files, config)  # or a plan would promise a model that loading refuses
    return TargetFacts(opened.reference, config, digest=opened.digest)


def smaller_copy(opened: OpenedModel) -> tuple[TargetFacts, int]:
    """Return the facts of a copy in Q4_K_M that is still to be made, and the bytes of its file.

    Raises:
        UnsupportedModel: The model is quantized already.
    """
    if opened.checkpoint.plain_bits is None:
        raise UnsupportedModel("{name} is quantized already.", name=opened.reference)
    config = replace(opened.config, quantization="Q4_K_M", converts=False)
    config = replace(config, types=published_types(config))
    weights = stored_format(config)
    embedding = 0 if config.tied else weights.matrix_bytes(config.vocabulary_size, config.hidden_size)
    return TargetFacts(opened.reference, config), weight_bytes(config, weights) + embedding


def dear(draft: DraftKind, target: ModelConfig) -> str:
    """Return the reason why a whole model is too dear as a draft on the processor, or an empty text.

    Both are in the formats of their files.
    """
    if not isinstance(draft, ModelDraft):
        return ""
    share = _read_bytes(draft.config) / _read_bytes(target)
    return say(_DEAR, share=figure(share, ".2f")) if share > _MOST_SHARE else ""


def _read_bytes(config: ModelConfig) -> float:
    """Return the bytes that a forward of one row reads."""
    weights = stored_format(config)
    return config.layers * read_bytes(config, weights, 1) + head_bytes(config, weights)


def _published_bytes(config: ModelConfig) -> int:
    """Return the bytes of a model's files: mostly 16 bits a weight, else as its config says."""
    if config.quantization is None:
        return weight_bytes(config, _EXACT) // 2
    embedding = 0 if config.tied else 2 * config.vocabulary_size * config.hidden_size  # packed, it stays in its file
    return weight_bytes(config, stored_format(config)) + embedding
