"""The layer that a model comes with to guess one token further (multi-token prediction, MTP), as a draft.

It is a layer of the model's own kind over fc([norm(embedding); norm(hidden state)]), with keys and values of its own:
row i joins the model's hidden state at position i, after the final norm, with the token at position i + 1. Its own norm
gives what the model's head maps, and the hidden state of the next step. So it is an EAGLE head with norms, whose sizes
are the model's. Of several such layers only the first is run, once for each token of a chain. Nemotron-H splits it in
two halves, attention and experts, because each layer of that family has one part.

Source: DeepSeek-V3 (2024, arXiv 2412.19437), section 2.2, and README_WEIGHTS.md beside its weights, by which embedding
and head are the model's. Names of tensors, and that a step passes on its normed row: llama.cpp
(src/models/glm4-moe.cpp, deepseek2.cpp, qwen35.cpp).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from torch import Tensor

from engine.drafting.eagle import HeadDraft
from engine.drafting.feature_network import EagleFusion, FeatureNetwork, FeatureWeights
from engine.drafting.head_layout import HeadLayout
from engine.drafting.head_loader import SharedWeights
from engine.drafting.kind import DraftLoad, Seconds
from engine.errors import DraftMismatch
from engine.kernels.library import Packed
from engine.model.config import ModelConfig, fused_experts
from engine.model.linear import OUTLIERS, Linear, LinearMap, Norm, PackedLinear
from engine.model.loader import final_norm, layer_weights, read_slots
from engine.model.packed_loader import PackedReader, packed_layer
from engine.model.tensors import HARMLESS_SUFFIXES, NextNames, Slot, compare_tensors, layer_slots
from engine.model.weight_format import WeightFormat, stored_format
from engine.model_file import OpenedModel
from engine.sentences import mark
from engine.weights.checkpoint import Checkpoint

_MISMATCH = mark(
    "The tensors of the layer that drafts (MTP) do not fit the model: {problems}; put the files of one model together, "
    "or choose another draft."
)


def read_next_layer(checkpoint: Checkpoint, target: ModelConfig) -> HeadLayout:
    """Return the layout of the layer, whose sizes are its model's.

    Args:
        checkpoint: Its files, which may be the model's.
        target: The model's config.

    Raises:
        DraftMismatch: The files have no such layer behind those of this model.
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape.
    """
    form = NextNames.of(checkpoint.names, target)
    if form is None or checkpoint.architecture != target.architecture:
        raise DraftMismatch(
            "The file {name} has no layer that drafts (MTP) for a model like this one, {architecture} with {layers} "
            "layers; choose the file that belongs to it.",
            name=next(iter(checkpoint.files)).name,
            architecture=target.architecture,
            layers=target.layers,
        )
    starts = [f"{form.start}{layer}" for layer in form.layers]
    blocks = _blocks(target, starts, checkpoint)
    hidden = target.hidden_size
    outer = (
        Slot(f"{form.start}{form.join}.weight", (hidden, 2 * hidden), "join"),
        Slot(f"{form.start}{form.token_norm}.weight", (hidden,), "token_norm"),
        Slot(f"{form.start}{form.feature_norm}.weight", (hidden,), "feature_norm"),
        Slot(f"{form.start}{form.final_norm}.weight", (hidden,), "final_norm"),
    )
    layers = []
    for at, start in enumerate(starts):
        own = f"{target.tensor_prefix}layers.{at}."
        layers.append(
            tuple(replace(slot, name=start + slot.name.removeprefix(own)) for slot in layer_slots(blocks, at))
        )
    if len(set(starts)) < len(starts):  # both halves have the same prefix, and only their norms differ
        norm = f"{starts[0]}post_attention_layernorm.weight"
        layers[1] = tuple(replace(slot, name=norm) if slot.field == "mlp_norm" else slot for slot in layers[1])
    repeated = {f"{form.start}{name}" for name in form.repeated}
    compare_tensors(
        {name: checkpoint.shape(name) for name in checkpoint.names if name.startswith(form.start)},
        {slot.name: slot.shape for slot in (*outer, *chain(*layers))},
        lambda name: name in repeated or name.endswith(HARMLESS_SUFFIXES),
        _MISMATCH,
    )
    return HeadLayout(
        kind="eagle",
        blocks=blocks,
        target_hidden_size=hidden,
        hidden_layers=None,
        draft_vocabulary_size=target.vocabulary_size,
        norm_before_residual=False,
        outer=outer,
        layers=tuple(layers),
        norm_output=True,
    )


def _blocks(target: ModelConfig, starts: Sequence[str], checkpoint: Checkpoint) -> ModelConfig:
    """Return the config of the draft's layer, or of its two halves, like the model's last full attention."""
    windows, count = enumerate(target.windows), len(starts)
    like = max(layer for layer, window in windows if window is None and target.attends(layer))
    mixture, experts = target.mixture, target.family.experts
    if mixture is not None and experts is not None:
        names = checkpoint.names
        sparse = tuple(
            f"{start}{experts.router}.weight" in names and at == count - 1 for at, start in enumerate(starts)
        )
        fused = fused_experts(names, experts, starts[-1])
        mixture = replace(mixture, layers=sparse, fused=fused) if any(sparse) else None
    rope = target.layer_ropes[like]
    return replace(
        target.of_layer(like),
        layers=count,
        windows=(None,) * count,
        ropes=target.ropes if rope is None else target.ropes[rope : rope + 1],
        layer_ropes=(None if rope is None else 0,) * count,
        convolutions=(),
        convolution=0,
        networks=(False, True) if target.networks else (),
        delta=None,
        mixture=mixture,
    )


@dataclass(frozen=True)
class NextLayerDraft(HeadDraft):
    """The layer that guesses a token further (MTP), in its model's files or beside them."""

    comes_with_target = True
    # A tenth less than the lowest published figure, until it is measured here. In the lowest, 77, 56 and 40 % of chains
    # held up to their first, second and third token (Qwen3.5-122B, vllm-project/vllm-ascend issue 9871). In DeepSeek's
    # report, section 5.4.3, 85 to 90 % of single guesses held.
    usual = 0.7

    def counted(self, target: str) -> Mapping[int, float]:
        """Return the tokens of a round by the length of its chain: published figures, rounded down."""
        return {1: 1.7, 2: 2.2, 3: 2.5}

    @classmethod
    def read(cls, opened: OpenedModel, target: ModelConfig) -> NextLayerDraft:
        """Read the layer, whose files must be complete."""
        return cls(opened, f"mtp {opened.checkpoint.digest()}", read_next_layer(opened.checkpoint, target), target)

    def host_format(self, seconds: Seconds, kernels: bool) -> WeightFormat:
        """Return the format of a quantized file as it is, which other drafts' 4 bits would round again."""
        checkpoint = self.opened.checkpoint
        if kernels and checkpoint.from_gguf and checkpoint.quantization is not None:
            return stored_format(replace(self.target, types=checkpoint.types))
        return super().host_format(seconds, kernels)

    def network(self, shared: SharedWeights, parts: DraftLoad) -> FeatureNetwork:
        """Read the layer as layers of its model are read."""
        return load_next_layer(self.opened.checkpoint, self.layout, shared, parts)


def load_next_layer(
    checkpoint: Checkpoint, layout: HeadLayout, shared: SharedWeights, parts: DraftLoad
) -> FeatureNetwork:
    """Load the layer onto the device of what it shares with its model.

    Args:
        checkpoint: Its files.
        shared: The model's embedding and head.
        parts: Format, and the model.
    """
    weights, config, blocks = parts.weights, parts.target.config, layout.blocks
    device = shared.embedding.device
    join: LinearMap
    if weights.packed:
        found = PackedReader(checkpoint, weights).read(layout.slots, check=parts.check)
        layers = [packed_layer(blocks, slots, found) for slots in layout.layers]
        matrix = found[layout.outer[0].name]
        assert isinstance(matrix, Packed)
        join = PackedLinear(matrix, refined_above=OUTLIERS)
        vectors = [found[slot.name] for slot in layout.outer[1:]]
    else:
        outer, *each = (
            read_slots(checkpoint, slots, weights.dense, device, lambda count: None, parts.check)
            for slots in (layout.outer, *layout.layers)
        )
        layers, join = [layer_weights(tensors, blocks) for tensors in each], Linear(outer["join"])
        vectors = [outer[slot.field] for slot in layout.outer[1:]]
    token_norm, feature_norm, last = (vector for vector in vectors if isinstance(vector, Tensor))
    norms = [Norm(vector, config.norm_epsilon, config.family.norm_offset) for vector in (token_norm, feature_norm)]
    made = FeatureWeights(
        embedding=shared.embedding,
        fusion=EagleFusion(join, *norms),
        layers=tuple(layers),
        final_norm=final_norm(config, last),
        head=shared.head,
        head_dtype=shared.head_dtype,
        logit_soft_cap=config.logit_soft_cap,
        shared_bytes=0 if shared.copied else shared.embedding.size_bytes + shared.head.size_bytes,
        norm_output=True,
    )
    return FeatureNetwork(blocks, made, layout.layers_of(config.layers), weights.activations, weights.cache)
