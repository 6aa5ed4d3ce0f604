"""The tower of Qwen3-VL and Qwen3.5: pictures of any proportions, and four neighbouring patches for each row."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from engine.errors import InvalidOption
from engine.messages import Picture
from engine.text.pictures import ANCHORS
from engine.vision.tower import MOST_ROWS, GridTower, Loader, Sight, fitted, merged, rotation_of

_LONGEST_RATIO = 200
_EPSILON = 1e-6


class QwenTower(GridTower):
    """Qwen's: the sizes are those of transformers' image processor."""

    image, around, marked = ANCHORS["qwen3vl_merger"], ("<|vision_start|>", "<|vision_end|>"), True

    @property
    def _deep_names(self) -> dict[int, int]:
        """Numbers of mergers in names, by the layers whose rows they merge for the first layers of the decoder."""
        deep = self.values.more.get("deep")  # in safetensors the names count the mergers, in GGUF the layers
        numbers = {layer: at for at, layer in enumerate(deep or range(self.values.layers))}
        return {layer: name for layer, name in numbers.items() if self._tensors.has(f"v.deepstack.{name}.fc1.weight")}

    @property
    def row_width(self) -> int:
        return self.values.text * (1 + len(self._deep_names))

    @property
    def most_rows(self) -> int:
        return min(MOST_ROWS, int(self.values.more["most_pixels"]) // self.factor**2)

    def sizes(self, width: int, height: int) -> list[tuple[int, int]]:
        if max(width, height) > _LONGEST_RATIO * min(width, height):
            raise InvalidOption(
                "A picture is more than {ratio} times as long as it is wide: cut it.", ratio=_LONGEST_RATIO
            )
        most, least = self.most_rows * self.factor**2, int(self.values.more["least_pixels"])
        return [fitted(width, height, self.factor, least, most)]

    def grid(self, picture: Picture) -> tuple[int, int] | None:
        ((width, height),) = self.sizes(picture.width, picture.height)
        return height // self.factor, width // self.factor

    def _load(self, loader: Loader) -> None:
        super()._load(loader)
        self._positions = self._square(loader.tensor("v.position_embd.weight"))
        self._end_norm = loader.norm("v.post_ln", _EPSILON)
        self._merger = loader.network("mm.0", "mm.2")
        self._deep = {
            layer: (loader.norm(f"{begin}.norm", _EPSILON), loader.network(f"{begin}.fc1", f"{begin}.fc2"))
            for layer, name in self._deep_names.items()
            for begin in (f"v.deepstack.{name}",)
        }

    def rows(self, pixels: Sequence[Tensor]) -> Generator[None, None, list[Tensor]]:
        found, *grid = self._patches(self.normalised(pixels[0]))
        placed = functional.interpolate(self._positions, grid, mode="bilinear", align_corners=True)
        rows = self._patch(found) + placed[0].flatten(1).t()
        rotation = rotation_of(torch.cat(self._angles(*grid), -1))
        merge, deep = self.values.merge, []
        for index, layer in enumerate(self._layers):
            yield
            rows = layer(rows, rotation)
            if index in self._deep:
                norm, network = self._deep[index]
                deep.append(network(norm(merged(rows, grid, merge))))
        return [torch.cat([self._merger(merged(self._end_norm(rows), grid, merge)), *deep], -1)]


_LEAST, _MOST = 65_536, 16_777_216
SIGHT = Sight(
    QwenTower,
    "qwen3vl_merger",
    ("visual",),
    {
        "v.patch_embd": "patch_embed.proj",
        "v.position_embd": "pos_embed",
        "v.post_ln": "merger.norm",
        "mm.0": "merger.linear_fc1",
        "mm.2": "merger.linear_fc2",
        "v.deepstack.{}.norm": "deepstack_merger_list.{}.norm",
        "v.deepstack.{}.fc1": "deepstack_merger_list.{}.linear_fc1",
        "v.deepstack.{}.fc2": "deepstack_merger_list.{}.linear_fc2",
        "v.blk.{}.attn_qkv": "blocks.{}.attn.qkv",
        "v.blk.{}.attn_out": "blocks.{}.attn.proj",
        "v.blk.{}.ln1": "blocks.{}.norm1",
        "v.blk.{}.ln2": "blocks.{}.norm2",
        "v.blk.{}.ffn_up": "blocks.{}.mlp.linear_fc1",
        "v.blk.{}.ffn_down": "blocks.{}.mlp.linear_fc2",
    },
    {
        **{"hidden_size": 1152, "depth": 27, "num_heads": 16, "patch_size": 16},
        **{"image_size": 768, "layer_norm_eps": _EPSILON, "image_mean": (0.5,) * 3, "image_std": (0.5,) * 3},
    },
    more=lambda config, processor: {
        "merge": int(config["vision_config"].get("spatial_merge_size") or 2),
        "least_pixels": int((processor.get("size") or {}).get("shortest_edge") or _LEAST),
        "most_pixels": int((processor.get("size") or {}).get("longest_edge") or _MOST),
        "deep": tuple(config["vision_config"].get("deepstack_visual_indexes") or ()),
    },
    more_in_gguf=lambda metadata: {
        "merge": int(metadata.get("clip.vision.spatial_merge_size") or 2),
        "least_pixels": int(metadata.get("clip.vision.image_min_pixels") or _LEAST),
        "most_pixels": int(metadata.get("clip.vision.image_max_pixels") or _MOST),
    },
)
