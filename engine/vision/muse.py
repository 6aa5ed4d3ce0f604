"""The tower of Muse-Glimmer: pictures of their own proportions, whose patches see their window in most layers."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from itertools import product
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from engine.model.linear import Norm
from engine.text.pictures import ANCHORS
from engine.vision.tower import MOST_ROWS, GridTower, Loader, Sight, merged, rotation_of, stated_rows, tiles


class MuseTower(GridTower):
    """Muse-Glimmer's: the sizes are those of transformers' image processor."""

    resample, image, around = 1, ANCHORS["muse-glimmer"], ("<|image_start|>", "<|image_end|>")

    def sizes(self, width: int, height: int) -> list[tuple[int, int]]:
        lines, columns = height / self.factor, width / self.factor
        ratio = columns / lines
        if lines * columns > self.most_rows:
            lines = (self.most_rows / ratio) ** 0.5
            columns = lines * ratio
        # The set's first grid is taken among equally near ones, as transformers does.
        near = set(product((math.floor(lines), math.ceil(lines)), (math.floor(columns), math.ceil(columns))))
        fit = [(high, wide) for high, wide in near if min(high, wide) >= 1 and high * wide <= self.most_rows]
        most = self.most_rows
        fit = fit or [(min(max(1, round(lines)), most), min(max(1, round(columns)), most))]
        high, wide = min(fit, key=lambda grid: abs(grid[0] / grid[1] - height / width))
        return [(wide * self.factor, high * self.factor)]

    def _load(self, loader: Loader) -> None:
        super()._load(loader)
        self._positions = self._square(loader.tensor("v.position_embd.weight"))
        self._norms = [loader.norm(f"v.{name}_ln", self.values.epsilon) for name in ("pre", "post")]
        self._network = loader.network("mm.0", "mm.1", "mm.2")
        self._last_norm = Norm(torch.ones(self.values.text), float(self.values.more["end_epsilon"]))

    def rows(self, pixels: Sequence[Tensor]) -> Generator[None, None, list[Tensor]]:
        found, high, wide = self._patches(self.normalised(pixels[0]))
        window = self._positions.shape[-1]
        grid = torch.arange(high * wide).view(1, high, wide)
        windows = [one.flatten() for one in tiles(grid, window)]
        order, spans = torch.cat(windows), [len(one) for one in windows]
        lines, columns = self._angles(high, wide, first=1)
        rotation = rotation_of(torch.cat((columns, lines), -1)[order])
        first, last = self._norms
        rows = first(self._patch(found) + self._placed(high, wide))[order]
        for index, layer in enumerate(self._layers):
            yield
            rows = layer(rows, rotation, () if self._sees_all(index) else spans)
        rows = merged(last(rows)[order.argsort()], (high, wide), self.values.merge, by_channel=True)
        return [self._last_norm(self._network(rows))]

    def _placed(self, high: int, wide: int) -> Tensor:
        """Return the learned positions between those of their square, which fade out at its rim."""
        down, across = ((2 * torch.arange(count) + 1.0) / count - 1 for count in (high, wide))
        places = torch.stack((across.expand(high, -1), down[:, None].expand(-1, wide)), -1)
        return functional.grid_sample(self._positions, places[None], align_corners=False)[0].flatten(1).t()

    def _sees_all(self, layer: int) -> bool:
        kinds = self.values.more.get("layer_types")
        if kinds:
            return bool(kinds[layer] == "full_attention")
        return (layer + 1) % 4 == 0 or layer == self.values.layers - 1


def _more(config: Mapping[str, Any], processor: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "merge": int(config["vision_config"].get("merge_size") or 2),
        "most_rows": int(processor.get("max_image_tokens") or MOST_ROWS),
        "activation": "gelu",
        "layer_types": config["vision_config"].get("layer_types"),
        "end_epsilon": config["text_config"].get("rms_norm_eps") or 1e-5,
    }


def _more_in_gguf(metadata: Mapping[str, Any]) -> dict[str, Any]:
    merge = int(metadata.get("clip.vision.spatial_merge_size") or 2)
    return {
        "merge": merge,
        "most_rows": stated_rows(metadata, merge) or MOST_ROWS,
        "activation": "gelu",
        "end_epsilon": metadata.get("muse-glimmer.attention.layer_norm_rms_epsilon") or 1e-5,
    }


SIGHT = Sight(
    MuseTower,
    "muse-glimmer",
    ("vision_tower", "vision_adapter", "vision_projection"),
    {
        "v.patch_embd": "patch_embedder.patch_embedding",
        "v.position_embd": "patch_embedder.position_embedding_table",
        "v.pre_ln": "ln_pre",
        "v.post_ln": "ln_post",
        "v.blk.{}.attn_q": "layers.{}.attn.q_proj",
        "v.blk.{}.attn_k": "layers.{}.attn.k_proj",
        "v.blk.{}.attn_v": "layers.{}.attn.v_proj",
        "v.blk.{}.attn_out": "layers.{}.attn.proj",
        "v.blk.{}.ln1": "layers.{}.norm1",
        "v.blk.{}.ln2": "layers.{}.norm2",
        "v.blk.{}.ffn_up": "layers.{}.mlp.fc1",
        "v.blk.{}.ffn_down": "layers.{}.mlp.fc2",
        "mm.0": "vision_adapter.fc1",
        "mm.1": "vision_adapter.fc2",
        "mm.2": "vision_projection",
    },
    {
        **{"hidden_size": 1536, "num_hidden_layers": 50, "num_attention_heads": 16, "patch_size": 14},
        **{"image_size": 896, "layer_norm_eps": 1e-5, "image_mean": (0.5,) * 3, "image_std": (0.5,) * 3},
    },
    _more,
    _more_in_gguf,
    interleaved=True,
)
