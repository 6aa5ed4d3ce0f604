"""The towers of Gemma 4: layers that turn and norm their heads, whose patches are averaged; the 12B has no layers."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from engine.gguf.parts import projector_of
from engine.model.linear import Norm
from engine.text.pictures import ANCHORS
from engine.vision.tower import GridTower, Loader, Sight, TowerTensors, patches, rotation_of, stated_rows

_THETA = 100.0


class Gemma4Tower(GridTower):
    """Gemma 4's: pictures of their own proportions, as large as the number of their rows admits."""

    image, around = ANCHORS["gemma4v"], ("<|image>", "<image|>")

    def __init__(self, tensors: TowerTensors) -> None:
        super().__init__(tensors)
        self.mutual = self.values.more["mutual"]

    def sizes(self, width: int, height: int) -> list[tuple[int, int]]:
        most, factor = self.most_rows, self.factor
        scale = math.sqrt(most * factor**2 / (width * height))
        wide, high = (math.floor(scale * side / factor) for side in (width, height))
        if not high:
            wide, high = min(width // height, most), 1
        elif not wide:
            wide, high = 1, min(height // width, most)
        return [(wide * factor, high * factor)]

    def _load(self, loader: Loader) -> None:
        super()._load(loader)
        self._positions = loader.tensor("v.position_embd.weight")  # by column, then by line
        self._spread = [loader.tensor(f"v.std_{part}") for part in ("bias", "scale") if loader.has(f"v.std_{part}")]
        self._norm = Norm(torch.ones(self.values.hidden), self.values.epsilon)
        self._projection = loader.linear("mm.input_projection")

    def _placed(self, high: int, wide: int) -> Tensor:
        columns, lines = self._positions[0, :wide], self._positions[1, :high]
        return (columns + lines[:, None]).flatten(0, 1)

    def rows(self, pixels: Sequence[Tensor]) -> Generator[None, None, list[Tensor]]:
        found, high, wide = self._patches(2 * self.normalised(pixels[0]) - 1)
        rotation = rotation_of(torch.cat(self._angles(high, wide, _THETA)[::-1], -1))
        rows = yield from self._through(self._patch(found) + self._placed(high, wide), rotation)
        pooled = functional.avg_pool2d(rows.t().view(1, -1, high, wide), self.values.merge)[0].flatten(1).t()
        pooled = pooled.contiguous() * self.values.hidden**0.5
        if self._spread:
            bias, scale = self._spread
            pooled = (pooled - bias) * scale
        return [self._projection(self._norm(pooled))]


class Gemma4UnifiedTower(Gemma4Tower):
    """Gemma 4 12B's: a map of 48 x 48 pixels."""

    def _load(self, loader: Loader) -> None:
        self._maps = loader.linear("v.patch_embd")
        self._norms = [loader.norm(f"v.patch_norm.{number}", 1e-5) for number in (1, 2, 3)]
        positions = loader.tensor("v.position_embd.weight")
        self._positions = positions.transpose(0, 1) if self.values.more["by_pixel"] else positions
        self._norm = Norm(torch.ones(self.values.hidden), self.values.epsilon)
        self._projection = loader.linear("mm.input_projection")

    def rows(self, pixels: Sequence[Tensor]) -> Generator[None, None, list[Tensor]]:
        yield
        picture, side = self.normalised(pixels[0]), self.factor
        found = patches(picture, side)
        if self.values.more["by_pixel"]:
            found = found.view(len(found), 3, -1).transpose(1, 2).flatten(1)
        first, second, third = self._norms
        placed = self._placed(picture.shape[1] // side, picture.shape[2] // side)
        return [self._projection(self._norm(third(second(self._maps(first(found))) + placed)))]


def _more(config: Mapping[str, Any], processor: Mapping[str, Any]) -> dict[str, Any]:
    vision = config["vision_config"]
    width, mutual = vision.get("mm_embed_dim"), config["text_config"].get("use_bidirectional_attention") == "vision"
    return {
        "merge": int(vision.get("pooling_kernel_size") or 3),
        "most_rows": int(processor.get("max_soft_tokens") or 280),
        **({"mutual": "windows" if mutual else ""} if width is None else _unified(int(width), mutual, True)),
    }


def _more_in_gguf(metadata: Mapping[str, Any]) -> dict[str, Any]:
    # the sizes whose layers have inputs of their own read pictures as they read words
    mutual = not metadata.get("gemma4.embedding_length_per_layer_input")
    width = int(metadata["clip.vision.embedding_length"])
    merge = int(metadata.get("clip.vision.projector.scale_factor") or 3)
    unified = projector_of(metadata) == UNIFIED.projector
    return {
        "merge": merge,
        "most_rows": stated_rows(metadata, merge) or 280,
        **(_unified(width, mutual, False) if unified else {"mutual": "windows" if mutual else ""}),
    }


def _unified(width: int, mutual: bool, by_pixel: bool) -> dict[str, Any]:
    """Return the values of a tower without layers; ``by_pixel``: its patches have the channels of a pixel together."""
    return {"by_pixel": by_pixel, "mutual": "all" if mutual else "", "hidden": width, "layers": 1, "heads": 1}


_DEFAULTS = {
    **{"hidden_size": 768, "num_hidden_layers": 16, "num_attention_heads": 12, "patch_size": 16, "image_size": 224},
    **{"rms_norm_eps": 1e-6, "image_mean": (0.0,) * 3, "image_std": (1.0,) * 3},
}
SIGHT = Sight(
    Gemma4Tower,
    "gemma4v",
    ("vision_tower", "embed_vision"),
    {
        "v.patch_embd": "patch_embedder.input_proj",
        "mm.input_projection": "embed_vision.embedding_projection",
        "v.blk.{}.attn_q": "encoder.layers.{}.self_attn.q_proj",
        "v.blk.{}.attn_k": "encoder.layers.{}.self_attn.k_proj",
        "v.blk.{}.attn_v": "encoder.layers.{}.self_attn.v_proj",
        "v.blk.{}.attn_out": "encoder.layers.{}.self_attn.o_proj",
        "v.blk.{}.attn_q_norm": "encoder.layers.{}.self_attn.q_norm",
        "v.blk.{}.attn_k_norm": "encoder.layers.{}.self_attn.k_norm",
        "v.blk.{}.ln1": "encoder.layers.{}.input_layernorm",
        "v.blk.{}.ln2": "encoder.layers.{}.pre_feedforward_layernorm",
        "v.blk.{}.attn_post_norm": "encoder.layers.{}.post_attention_layernorm",
        "v.blk.{}.ffn_post_norm": "encoder.layers.{}.post_feedforward_layernorm",
        "v.blk.{}.ffn_gate": "encoder.layers.{}.mlp.gate_proj",
        "v.blk.{}.ffn_up": "encoder.layers.{}.mlp.up_proj",
        "v.blk.{}.ffn_down": "encoder.layers.{}.mlp.down_proj",
    },
    _DEFAULTS,
    _more,
    _more_in_gguf,
    {
        "v.position_embd.weight": "patch_embedder.position_embedding_table",
        "v.std_bias": "vision_tower.std_bias",
        "v.std_scale": "vision_tower.std_scale",
    },
)
UNIFIED = Sight(
    Gemma4UnifiedTower,
    "gemma4uv",
    ("vision_embedder", "embed_vision"),
    {
        "v.patch_embd": "vision_embedder.patch_dense",
        "v.patch_norm.1": "vision_embedder.patch_ln1",
        "v.patch_norm.2": "vision_embedder.patch_ln2",
        "v.patch_norm.3": "vision_embedder.pos_norm",
        "mm.input_projection": "embed_vision.embedding_projection",
    },
    _DEFAULTS,
    _more,
    _more_in_gguf,
    {"v.position_embd.weight": "vision_embedder.pos_embedding"},
)
