"""The tower of LFM2-VL and LFM2.5-VL: SigLIP 2 over pictures of their own proportions, large ones in tiles too."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from itertools import product
from typing import Any

from torch import Tensor
from torch.nn import functional

from engine.messages import Picture, PictureLayout
from engine.text.pictures import ANCHORS
from engine.vision.tower import SIGLIP_NAMES, GridTower, Loader, Sight, fitted, merged, stated_rows, tiles

_TILES = {"min_tiles": 2, "max_tiles": 10, "tile_size": 512, "min_image_tokens": 64, "max_image_tokens": 256}


class Lfm2Tower(GridTower):
    """LFM2-VL's: the sizes are those of transformers' image processor."""

    resample, image, around = 2, ANCHORS["lfm2"], ("<|image_start|>", "<|image_end|>")

    @property
    def _each(self) -> int:
        """Rows of a tile."""
        return int(self.values.more["tile_size"] // self.factor) ** 2

    @property
    def most_rows(self) -> int:
        return int(self.values.more["max_tiles"] * self._each + self.values.more["max_image_tokens"])

    @property
    def most_patches(self) -> int:
        return max(self._each, int(self.values.more["max_image_tokens"])) * self.values.merge**2

    def sizes(self, width: int, height: int) -> list[tuple[int, int]]:
        """Return the size of all tiles together, if there are any, and that of the whole picture."""
        more, factor, side = self.values.more, self.factor, self.values.more["tile_size"]
        least, most = (more[f"{bound}_image_tokens"] * factor**2 for bound in ("min", "max"))
        whole = fitted(width, height, factor, least, most, factor)
        wide, high = (max(self.values.patch, round(length / factor) * factor) for length in (width, height))
        if wide * high <= most * more["max_pixels_tolerance"] or more["max_tiles"] < 2:
            return [whole]
        columns, lines = self._grid(width, height)
        return [(columns * side, lines * side), whole]

    def _grid(self, width: int, height: int) -> tuple[int, int]:
        """Return the columns and lines of tiles whose proportions are nearest to a picture's."""
        more, best, nearest = self.values.more, (1, 1), math.inf
        least, most = more["min_tiles"], more["max_tiles"]
        pairs = product(range(1, most + 1), repeat=2)
        for area, wide, high in sorted((wide * high, wide, high) for wide, high in pairs):
            far = abs(width / height - wide / high)
            # of grids as near as each other the larger one, unless it is too large for the picture
            fills = far == nearest and width * height > 0.5 * more["tile_size"] ** 2 * area
            if least <= area <= most and (far < nearest or fills):
                nearest, best = far, (wide, high)
        return best

    def layout(self, picture: Picture) -> PictureLayout:
        *cut, (width, height) = self.sizes(picture.width, picture.height)
        marks = [""]
        for wide, high in cut:
            lines, columns = (range(1, length // self.values.more["tile_size"] + 1) for length in (high, wide))
            marks = [f"<|img_row_{line}_col_{column}|>" for line in lines for column in columns] + ["<|img_thumbnail|>"]
        runs = (*(self._each,) * (len(marks) - 1), width * height // self.factor**2)
        text = "".join(mark + self.image for mark in marks).join(self.around)
        return PictureLayout(f"{self.digest}{picture.sha256}", self.image, text, self.image, runs)

    def _load(self, loader: Loader) -> None:
        super()._load(loader)
        self._positions = self._square(loader.tensor("v.position_embd.weight"))
        self._end_norm = loader.norm("v.post_ln", self.values.epsilon)
        self._norm = loader.norm("mm.input_norm", 1e-5, optional=True)
        self._network = loader.network("mm.1", "mm.2")

    def rows(self, pixels: Sequence[Tensor]) -> Generator[None, None, list[Tensor]]:
        *cut, whole = (self.normalised(one) for one in pixels)
        found = []
        for picture in (*(tile for one in cut for tile in tiles(one, self.values.more["tile_size"])), whole):
            each, *grid = self._patches(picture)
            placed = functional.interpolate(self._positions, grid, mode="bilinear", antialias=True)
            rows = yield from self._through(self._patch(each) + placed[0].flatten(1).t())
            found.append(self._network(self._norm(merged(self._end_norm(rows), grid, self.values.merge))))
        return found


def _more(config: Mapping[str, Any], processor: Mapping[str, Any]) -> dict[str, Any]:
    said = {name: int(processor.get(name) or usual) for name, usual in _TILES.items()}
    return {
        **said,
        "merge": int(config.get("downsample_factor") or 2),
        "max_tiles": said["max_tiles"] if processor.get("do_image_splitting", True) else 1,
        "max_pixels_tolerance": float(processor.get("max_pixels_tolerance") or 2.0),
    }


def _more_in_gguf(metadata: Mapping[str, Any]) -> dict[str, Any]:
    merge = int(metadata.get("clip.vision.projector.scale_factor") or 2)
    bounds = {bound: stated_rows(metadata, merge, bound) for bound in ("min", "max")}
    return {
        **_TILES,
        **{f"{bound}_image_tokens": rows for bound, rows in bounds.items() if rows},
        "merge": merge,
        "tile_size": int(metadata.get("clip.vision.preproc_image_size") or _TILES["tile_size"]),
        "max_tiles": int(metadata.get("clip.vision.preproc_max_tiles") or _TILES["max_tiles"]),
        "max_pixels_tolerance": 2.0,
    }


SIGHT = Sight(
    Lfm2Tower,
    "lfm2",
    ("vision_tower", "multi_modal_projector"),
    {
        **SIGLIP_NAMES,
        "mm.input_norm": "multi_modal_projector.layer_norm",
        "mm.1": "multi_modal_projector.linear_1",
        "mm.2": "multi_modal_projector.linear_2",
    },
    {
        **{"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "patch_size": 16},
        **{"image_size": 256, "layer_norm_eps": 1e-6, "image_mean": (0.5,) * 3, "image_std": (0.5,) * 3},
    },
    _more,
    _more_in_gguf,
)
