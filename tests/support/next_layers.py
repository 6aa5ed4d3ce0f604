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
from engine.gguf.header import read_header
from engine.model.weight_format import WeightFormat, weight_format
from engine.model_file import OpenedModel
from engine.placement.device import Link
from tests.support.checkpoints import VARIANTS, reference_model, save, train_tokenizer
from tests.support.decoders import load_decoder
from tests.support.gguf_files import edit_gguf, write_gguf

#: Variants that are published with such a layer.
WITH_NEXT_LAYER = ("glm4-moe", "glm4-moe-lite", "deepseek-v3")
#: Names of what joins the inputs, and of the last norm, in DeepSeek's and in Qwen's files.
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

    @property
    def layers(self) -> int:
        return len(self.model.model.layers) - 1

    @torch.no_grad()
    def hidden(self, tokens: list[int]) -> Tensor:
        """The model's hidden states after its final norm, (n, h)."""
        inner = self.model.model
        rows = inner.embed_tokens(torch.tensor([tokens]))
        for layer in inner.layers[:-1]:
            rows = self._through(layer, rows)
        return inner.norm(rows)[0]

    @torch.no_grad()
    def guesses(self, tokens: list[int], features: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and hidden states of rows that join a hidden state, (n, h), with the token after it."""
        join, token_norm, feature_norm, last_norm = self.parts
        embedded = self._normed(self.model.model.embed_tokens(torch.tensor(tokens)), token_norm)
        rows = torch.cat((embedded, self._normed(features, feature_norm)), -1) @ join.T
        made = self._normed(self._through(self.model.model.layers[-1], rows[None])[0], last_norm)
        return self.model.lm_head(made), made

    def chain(self, tokens: list[int], features: Tensor, count: int) -> list[int]:
        """The likeliest token after each of its own guesses, behind a text and its hidden states but for the last."""
        tokens, found = tokens[1:], list[int]()
        for _ in range(count):
            logits, made = self.guesses(tokens, features)
            found.append(int(logits[-1].argmax()))
            tokens, features = [*tokens, found[-1]], torch.cat((features, made[-1:]))
        return found

    def _through(self, layer: Any, rows: Tensor) -> Tensor:
        count = rows.shape[1]
        mask = torch.full((count, count), -torch.inf).triu(1)[None, None]
        positions = torch.arange(count)[None]
        rotation = self.model.model.rotary_emb(rows, positions)
        made = layer(rows, attention_mask=mask, position_ids=positions, position_embeddings=rotation)
        return made[0] if isinstance(made, tuple) else made

    def _normed(self, rows: Tensor, weight: Tensor) -> Tensor:
        epsilon = self.model.config.rms_norm_eps
        return rows * (rows.square().mean(-1, keepdim=True) + epsilon).rsqrt() * weight


def _made(variant: str, copies: bool, **changes: Any) -> NextLayer:
    values = {"num_hidden_layers": 4, **changes}
    kinds = VARIANTS[variant][1].get("mlp_layer_types")
    if kinds:
        values["mlp_layer_types"] = [*kinds, "sparse"]
    model = reference_model(variant, **values)
    hidden = model.config.hidden_size
    generator = torch.Generator().manual_seed(7)
    parts = [torch.randn(hidden, 2 * hidden, generator=generator) * (2 * hidden) ** -0.5]
    parts += [1.0 + 0.1 * torch.randn(hidden, generator=generator) for _ in range(3)]
    if copies:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name.endswith(("o_proj.weight", "down_proj", "down_proj.weight")):
                    parameter.zero_()
        parts = [
            torch.eye(hidden, 2 * hidden),
            torch.ones(hidden),
            torch.ones(hidden),
            model.model.norm.weight.detach(),
        ]
    return NextLayer(model, parts)


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
    if form == "qwen":
        start = "mtp."
        tensors = {
            (f"mtp.layers.0.{name.removeprefix(own)}" if name.startswith(own) else name): value
            for name, value in tensors.items()
        }
    else:  # the files repeat what the layer shares with the model
        tensors[f"{start}embed_tokens.weight"] = tensors["model.embed_tokens.weight"].clone()
        tensors[f"{start}shared_head.head.weight"] = tensors["lm_head.weight"].clone()
    tensors |= {f"{start}{name}.weight": part for name, part in zip(FORMS[form], layer.parts, strict=True)}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["num_hidden_layers"] = layer.layers
    for key in ("mlp_layer_types", "layer_types"):
        if config.get(key):
            config[key] = config[key][: layer.layers]
    if form == "deepseek":  # Qwen's may say nothing
        config["num_nextn_predict_layers"] = 1
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    train_tokenizer().save_pretrained(folder)
    return layer


def write_gguf_with_next_layer(
    folder: Path, variant: str, kind: Kind = Kind.F32, beside: bool = False, copies: bool = False
) -> tuple[NextLayer, Path]:
    """Write a GGUF file of a variant with such a layer in it, or beside it in a file of its own; return the model's."""
    layer = _made(variant, copies)
    folder.mkdir(parents=True, exist_ok=True)
    raw, path, last = folder.parent / "raw.gguf", folder / "model-Q8_0.gguf", f"blk.{layer.layers}."
    layer.model.load_state_dict(write_gguf(layer.model, raw, kind, train_tokenizer()))
    metadata = dict(read_header(raw).metadata)
    names = [name for name in read_header(raw).tensors if name.startswith("blk.")]
    own = {
        f"{last}nextn.{name}.weight": part.numpy()
        for name, part in zip(("eh_proj", "enorm", "hnorm", "shared_head_norm"), layer.parts, strict=True)
    }
    prefix = metadata["general.architecture"]
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
