"""Random checkpoints with a layer that guesses a token further (MTP), and what that layer computes, in plain torch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from gguf import GGMLQuantizationType as Kind
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.drafting.eagle import FeatureDraft
from engine.drafting.feature_network import FeatureNetwork
from engine.drafting.head_loader import share
from engine.drafting.kind import DraftLoad, DraftPlan
from engine.drafting.kinds import read_draft
from engine.drafting.mtp import NextLayerDraft
from engine.drafting.trees import TreeShape
from engine.families import SUPPORTED
from engine.gguf.header import read_header
from engine.model.weight_format import WeightFormat, weight_format
from engine.model_file import OpenedModel
from engine.placement.device import Link
from tests.support.checkpoints import VARIANTS, reference_model, save, train_tokenizer
from tests.support.decoders import load_decoder
from tests.support.gguf_files import edit_gguf, write_gguf

#: Variants that are published with such a layer.
WITH_NEXT_LAYER = ("glm4-moe", "glm4-moe-lite", "deepseek-v3")
#: The same with layers that keep a state, whose layer has keys and values.
HYBRIDS = ("qwen3-next", "qwen35", "qwen35-moe")
#: The same with layers that are halves: attention, a network or experts alone.
HALVES = ("nemotron-h-moe", "nemotron-h-latent")
#: Names of what joins the inputs, and of the last norm, in DeepSeek's, Qwen's and Nemotron's files.
NEMOTRON = ("layers.0.eh_proj", "layers.0.enorm", "layers.0.hnorm", "layers.1.final_layernorm")
FORMS = {
    "deepseek": ("eh_proj", "enorm", "hnorm", "shared_head.norm"),
    "qwen": ("fc", "pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm"),
}

_HERE = Link(torch.device("cpu"))


@dataclass
class NextLayer:
    """A model of transformers with one layer more than it has: the last one is the layer that guesses further."""

    model: Any
    parts: list[Tensor]  # the map, the norms of embedding and hidden state, and the last norm
    offset: float = 0.0  # added to the weights of norms
    own: int = 1  # number of transformers' layers that it is made of

    @property
    def layers(self) -> int:
        return len(self.model.model.layers) - self.own

    @torch.no_grad()
    def hidden(self, tokens: list[int]) -> Tensor:
        """The model's hidden states after its final norm, (n, h)."""
        inner = self.model.model
        layers = inner.layers
        inner.layers = layers[: self.layers]
        try:
            return inner(torch.tensor([tokens]), use_cache=False).last_hidden_state[0]
        finally:
            inner.layers = layers

    @torch.no_grad()
    def guesses(self, tokens: list[int], features: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and hidden states of rows that join a hidden state, (n, h), with the token after it."""
        join, token_norm, feature_norm, last_norm = self.parts
        embedded = self._normed(self.model.get_input_embeddings()(torch.tensor(tokens)), token_norm)
        rows = torch.cat((embedded, self._normed(features, feature_norm)), -1) @ join.T
        made = self._normed(self._through(rows[None])[0], last_norm)
        return self.model.lm_head(made), made

    def chain(self, tokens: list[int], features: Tensor, count: int) -> list[int]:
        """The likeliest token after each of its own guesses, behind a text and its hidden states but for the last."""
        tokens, found = tokens[1:], list[int]()
        for _ in range(count):
            logits, made = self.guesses(tokens, features)
            found.append(int(logits[-1].argmax()))
            tokens, features = [*tokens, found[-1]], torch.cat((features, made[-1:]))
        return found

    def _through(self, rows: Tensor) -> Tensor:
        layer, count = self.model.model.layers[-1], rows.shape[1]
        mask = torch.full((count, count), -torch.inf).triu(1)[None, None]
        positions = torch.arange(count)[None]
        if self.own > 1:
            for half in self.model.model.layers[self.layers :]:
                rows = half(rows, attention_mask=mask, position_ids=positions)
            return rows
        rotation = self.model.model.rotary_emb(rows, positions)
        made = layer(rows, attention_mask=mask, position_ids=positions, position_embeddings=rotation)
        return made[0] if isinstance(made, tuple) else made

    def _normed(self, rows: Tensor, weight: Tensor) -> Tensor:
        config = self.model.config
        epsilon = config.layer_norm_epsilon if self.own > 1 else config.rms_norm_eps
        return rows * (rows.square().mean(-1, keepdim=True) + epsilon).rsqrt() * (weight + self.offset)


def _made(variant: str, copies: bool, **changes: Any) -> NextLayer:
    values = {"num_hidden_layers": 4, **changes}
    for key, kind in (("mlp_layer_types", "sparse"), ("layer_types", "full_attention")):
        kinds = VARIANTS[variant][1].get(key)
        if kinds:
            values |= {key: [*kinds, kind], "num_hidden_layers": len(kinds) + 1}
    if variant in HALVES:
        kinds = [*VARIANTS[variant][1]["layers_block_type"], "full_attention", "moe"]
        # GGUF knows one width of networks
        values |= {"layers_block_type": kinds, "num_hidden_layers": len(kinds), "intermediate_size": 64}
    if variant in HYBRIDS:
        kinds = [*["linear_attention"] * 3, "full_attention"]
        values |= {"layer_types": [*kinds, "full_attention"], "num_hidden_layers": len(kinds) + 1}
    model = reference_model(variant, **values)
    hidden = model.config.hidden_size
    generator = torch.Generator().manual_seed(7)
    parts = [torch.randn(hidden, 2 * hidden, generator=generator) * (2 * hidden) ** -0.5]
    offset = SUPPORTED[VARIANTS[variant][0]].norm_offset
    parts += [1.0 - offset + 0.1 * torch.randn(hidden, generator=generator) for _ in range(3)]
    if copies:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name.endswith(("o_proj.weight", "out_proj.weight", "down_proj", "down_proj.weight")):
                    parameter.zero_()
        parts = [
            torch.eye(hidden, 2 * hidden),
            torch.ones(hidden),
            torch.ones(hidden),
            (model.model.norm_f if variant in HALVES else model.model.norm).weight.detach(),
        ]
    if copies:
        parts[1:3] = [part - offset for part in parts[1:3]]
    return NextLayer(model, parts, offset, 2 if variant in HALVES else 1)


def write_with_next_layer(
    folder: Path, variant: str, form: str = "deepseek", copies: bool = False, **changes: Any
) -> NextLayer:
    """Write a checkpoint of a variant with such a layer, and return what it computes.

    Args:
        folder: The folder; created.
        variant: A key of `VARIANTS`.
        form: A key of `FORMS`.
        copies: True for a model whose layers add nothing, so that the layer can guess all that it says.
        **changes: Config values in place of the variant's.
    """
    layer = _made(variant, copies, **changes)
    save(layer.model, folder)
    tensors = load_file(folder / "model.safetensors")
    start = own = f"model.layers.{layer.layers}."
    names = FORMS[form]
    if variant in HALVES:
        start, names = "mtp.", NEMOTRON
        first = next(iter(tensors)).partition(".")[0]
        for half in range(2):
            own = f"{first}.layers.{layer.layers + half}."
            tensors = {
                (f"mtp.layers.{half}.{name.removeprefix(own)}" if name.startswith(own) else name): value
                for name, value in tensors.items()
            }
    elif form == "qwen":
        start = "mtp."
        tensors = {
            (f"mtp.layers.0.{name.removeprefix(own)}" if name.startswith(own) else name): value
            for name, value in tensors.items()
        }
    else:  # the files repeat what the layer shares with the model
        tensors[f"{start}embed_tokens.weight"] = tensors["model.embed_tokens.weight"].clone()
        tensors[f"{start}shared_head.head.weight"] = tensors["lm_head.weight"].clone()
    tensors |= {f"{start}{name}.weight": part for name, part in zip(names, layer.parts, strict=True)}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["num_hidden_layers"] = layer.layers
    for key in ("mlp_layer_types", "layer_types", "layers_block_type"):
        if config.get(key):
            config[key] = config[key][: layer.layers]
    if form == "deepseek":  # Qwen's may say nothing
        config["num_nextn_predict_layers"] = 1
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    train_tokenizer().save_pretrained(folder)
    return layer


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def write_gguf_with_next_layer(
    folder: Path, variant: str, kind: Kind = Kind.F32, beside: bool = False, copies: bool = False
) -> tuple[NextLayer, Path]:
    """Write a GGUF file of a variant with such a layer in it, or beside it in a file of its own; return the model's."""
    layer = _made(variant, copies)
    folder.mkdir(parents=True, exist_ok=True)
    raw, path, last = folder.parent / "raw.gguf", folder / "model-Q8_0.gguf", f"blk.{layer.layers}."
    layer.model.load_state_dict(write_gguf(layer.model, raw, kind, train_tokenizer()))
    metadata = dict(read_header(raw).metadata)
    prefix = metadata["general.architecture"]
    if layer.own > 1:  # both halves are one block

        def joined(name: str) -> str:
            behind = name.removeprefix(f"blk.{layer.layers + 1}.")
            moved = behind.replace("attn_norm", "post_attention_norm")
            return name if behind == name else f"{last}{moved}"

        lists = {key: value[:-1] for key, value in metadata.items() if len(_list(value)) == layer.layers + layer.own}
        metadata |= {**lists, f"{prefix}.block_count": layer.layers + 1}
        raw = edit_gguf(raw, folder.parent / "joined.gguf", metadata, joined)
    names = [name for name in read_header(raw).tensors if name.startswith("blk.")]
    own = {
        f"{last}nextn.{name}.weight": (part + layer.offset if name.endswith("norm") else part).numpy()
        for name, part in zip(("eh_proj", "enorm", "hnorm", "shared_head_norm"), layer.parts, strict=True)
    }
    whole = {**metadata, f"{prefix}.nextn_predict_layers": 1}
    if beside:
        inner = tuple(name for name in names if not name.startswith(last))
        edit_gguf(raw, folder / "mtp-model-BF16.gguf", whole, tensors=own, left_out=inner)
        less = {**metadata, f"{prefix}.block_count": layer.layers}
        edit_gguf(raw, path, less, left_out=tuple(name for name in names if name.startswith(last)))
    else:
        edit_gguf(raw, path, whole, tensors=own)
    return layer, path


def next_layer_network(place: Path, weights: WeightFormat) -> FeatureNetwork:
    """The layer that a model at a place comes with, in a weight format."""
    model = OpenedModel("model", place)
    assert model.own_head is not None
    draft = read_draft(model.own_head, model.config)
    assert isinstance(draft, NextLayerDraft)
    draft.check(model)
    decoder = load_decoder(place)
    plan = DraftPlan(weights, "cpu", 64, draft.size_bytes(weights, 64))
    parts = DraftLoad(plan, decoder, model.checkpoint, 64, _HERE, lambda: None)
    return draft.network(share(decoder.source), parts)


def next_layer_drafter(place: Path) -> FeatureDraft:
    """A drafter of chains of five by the layer that a model at a place comes with, in float32."""
    network = next_layer_network(place, weight_format("fp32"))
    return FeatureDraft(network, TreeShape(1, 5, 5), 64, _HERE, lambda: None)
