"""The tower of Qwen3-VL and Qwen3.5: pictures of any proportions, and four neighbouring patches for each row."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from engine.errors import InvalidOption
from engine.messages import Picture, PictureLayout
from engine.text.pictures import ANCHORS
from engine.vision.tower import Loader, Sight, Tower, VisionLayer, gelu_tanh

_IMAGE = ANCHORS["qwen3vl_merger"]
_MARK = f"<|vision_start|>{_IMAGE}<|vision_end|>"
# Rows of the largest picture, whatever the image processor allows: attention over its patches grows with their square.
_MOST_ROWS = 2048
_LONGEST_RATIO = 200
_EPSILON, _THETA = 1e-6, 1e4
_Map = Callable[[Tensor], Tensor]


class QwenTower(Tower):
    """Qwen's: the sizes are those of transformers' image processor."""

    @property
    def _factor(self) -> int:
        """Pixels that a row stands for, in each direction."""
        return self.values.patch * self.values.merge

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
        return min(_MOST_ROWS, int(self.values.more["most_pixels"]) // self._factor**2)

    @property
    def most_patches(self) -> int:
        return self.most_rows * self.values.merge**2

    def sizes(self, width: int, height: int) -> list[tuple[int, int]]:
        factor = self._factor
        if max(width, height) > _LONGEST_RATIO * min(width, height):
            raise InvalidOption(
                "A picture is more than {ratio} times as long as it is wide: cut it.", ratio=_LONGEST_RATIO
            )
        most, least = self.most_rows * factor**2, int(self.values.more["least_pixels"])
        high, wide = (round(side / factor) * factor for side in (height, width))
        if high * wide > most:
            shrink = math.sqrt(height * width / most)
            high, wide = (max(factor, math.floor(side / shrink / factor) * factor) for side in (height, width))
        elif high * wide < least:
            grow = math.sqrt(least / (height * width))
            high, wide = (math.ceil(side * grow / factor) * factor for side in (height, width))
        return [(wide, high)]

    def grids(self, picture: Picture) -> list[tuple[int, int] | None]:
        ((width, height),) = self.sizes(picture.width, picture.height)
        return [(height // self._factor, width // self._factor)]

    def layout(self, picture: Picture) -> PictureLayout:
        ((width, height),) = self.sizes(picture.width, picture.height)
        rows = width * height // self._factor**2
        return PictureLayout(f"{self.digest}{picture.sha256}", _MARK, _MARK, _IMAGE, (rows,))

    def _load(self, loader: Loader) -> None:
        values = self.values
        weight = loader.tensor("v.patch_embd.weight")
        # A picture is two equal frames of a film.
        weight = weight.sum(2) if weight.dim() == 5 else weight + loader.tensor("v.patch_embd.weight.1")
        self._patch = loader.map_of(weight.flatten(1), loader.tensor("v.patch_embd.bias"))
        self._positions = loader.tensor("v.position_embd.weight")
        self._layers = [
            VisionLayer(loader, f"v.blk.{layer}", values.heads, _EPSILON, gelu_tanh) for layer in range(values.layers)
        ]
        self._end_norm = loader.norm("v.post_ln", _EPSILON)
        self._merger = loader.linear("mm.0"), loader.linear("mm.2")
        self._deep: dict[int, tuple[_Map, _Map, _Map]] = {
            layer: (
                loader.norm(f"v.deepstack.{name}.norm", _EPSILON),
                loader.linear(f"v.deepstack.{name}.fc1"),
                loader.linear(f"v.deepstack.{name}.fc2"),
            )
            for layer, name in self._deep_names.items()
        }

    def rows(self, pixels: Sequence[Tensor]) -> Generator[None, None, list[Tensor]]:
        patch = self.values.patch
        picture = self.normalised(pixels[0])
        high, wide = picture.shape[1] // patch, picture.shape[2] // patch
        each = picture.view(3, high, patch, wide, patch).permute(1, 3, 0, 2, 4)
        rows = self._patch(self._in_blocks(each).reshape(high * wide, -1)) + self._in_blocks(self._placed(high, wide))
        rotation = self._rotation(high, wide)
        deep = []
        for index, layer in enumerate(self._layers):
            yield
            rows = layer(rows, rotation=rotation)
            if index in self._deep:
                norm, first, second = self._deep[index]
                deep.append(self._merged(norm(self._together(rows)), first, second))
        return [torch.cat([self._merged(self._together(self._end_norm(rows)), *self._merger), *deep], -1)]

    def _in_blocks(self, grid: Tensor) -> Tensor:
        """Return a grid (rows, columns, ...) as a list in which the patches of a row follow each other."""
        high, wide, merge = grid.shape[0], grid.shape[1], self.values.merge
        blocks = grid.reshape(high // merge, merge, wide // merge, merge, *grid.shape[2:]).transpose(1, 2)
        return blocks.reshape(high * wide, *grid.shape[2:])

    def _placed(self, high: int, wide: int) -> Tensor:
        """Return the learned positions, (high, wide, hidden), between those of their square."""
        side = math.isqrt(len(self._positions))
        square = self._positions.t().view(1, -1, side, side)
        found = functional.interpolate(square, (high, wide), mode="bilinear", align_corners=True)
        return found[0].permute(1, 2, 0)

    def _rotation(self, high: int, wide: int) -> tuple[Tensor, Tensor]:
        width = self.values.hidden // self.values.heads // 2
        frequencies = 1.0 / (_THETA ** (torch.arange(0, width, 2, dtype=torch.float32) / width))
        places = torch.stack(torch.meshgrid(torch.arange(high), torch.arange(wide), indexing="ij"), -1)
        angles = (self._in_blocks(places)[..., None].float() * frequencies).flatten(1)
        angles = torch.cat((angles, angles), -1)
        return angles.cos(), angles.sin()

    def _together(self, rows: Tensor) -> Tensor:
        return rows.reshape(-1, rows.shape[1] * self.values.merge**2)

    @staticmethod
    def _merged(rows: Tensor, first: _Map, second: _Map) -> Tensor:
        return second(functional.gelu(first(rows)))


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
