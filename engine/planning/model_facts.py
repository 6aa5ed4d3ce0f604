"""Facts of a model for planning: sizes from its config, whether or not its weights are downloaded."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.errors import UnsupportedModel
from engine.gguf.stored_tensor import PLAIN
from engine.model.config import ModelConfig
from engine.model.footprint import weight_bytes
from engine.model.tensors import check_tensors
from engine.model.weight_format import published_types, stored_format, weight_format
from engine.model_file import OpenedModel
from engine.weights.checkpoint import CheckpointOutline

_EXACT = weight_format("fp32")


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


def smaller_copy(target: TargetFacts) -> tuple[TargetFacts, int]:
    """Return the facts of a copy in Q4_K_M that is still to be made, and the bytes of its file.

    Raises:
        UnsupportedModel: The model is quantized already.
    """
    config = target.config
    if config.quantization is not None or any(kind not in PLAIN for kind in config.types.values()):
        raise UnsupportedModel("{name} is quantized already.", name=target.name)
    types = published_types(replace(config, quantization="Q4_K_M"))
    config = replace(config, quantization="Q4_K_M", types=types)
    weights = stored_format(config)
    embedding = 0 if config.tied else weights.matrix_bytes(config.vocabulary_size, config.hidden_size)
    return TargetFacts(target.name, config), weight_bytes(config, weights) + embedding


def _published_bytes(config: ModelConfig) -> int:
    """Return the bytes of a model's files: mostly 16 bits a weight, else as its config says."""
    if config.quantization is None:
        return weight_bytes(config, _EXACT) // 2
    embedding = 0 if config.tied else 2 * config.vocabulary_size * config.hidden_size  # packed, it stays in its file
    return weight_bytes(config, stored_format(config)) + embedding
