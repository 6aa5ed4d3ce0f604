"""The tower of SmolVLM and SmolVLM2: SigLIP over tiles of a picture, and over the whole of it made small."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from torch import Tensor

from engine.messages import Picture, PictureLayout
from engine.text.pictures import ANCHORS
from engine.vision.tower import SIGLIP_NAMES, Loader, Sight, SiglipTower, merged, tiles

_MOST_SIDE = 4096
_AROUND, _IMAGE, _WHOLE = "<fake_token_around_image>", ANCHORS["idefics3"], "<global-img>"


class SmolVlmTower(SiglipTower):
    """SmolVLM's: the sizes are those of transformers' image processor."""

    resample, chained = 1, True

    def sizes(self, width: int, height: int) -> list[tuple[int, int]]:
        side, longest = self.values.image_size, int(self.values.more["longest_edge"])
        ratio = width / height
        if width >= height:
            width, height = longest, int(longest / ratio)
            height += height % 2
        else:
            width, height = int(longest * ratio), longest
            width += width % 2
        width, height = max(width, 1), max(height, 1)
        ratio = width / height
        if max(width, height) > _MOST_SIDE:
            wide = width >= height
            width, height = (_MOST_SIDE, int(_MOST_SIDE / ratio)) if wide else (int(_MOST_SIDE * ratio), _MOST_SIDE)
            width, height = max(width, 1), max(height, 1)
        first, ratio = (width, height), width / height
        if width >= height:
            width = math.ceil(width / side) * side
            height = math.ceil(int(width / ratio) / side) * side
        else:
            height = math.ceil(height / side) * side
            width = math.ceil(int(height * ratio) / side) * side
        return [first, (width, height), (side, side)]

    @property
    def most_rows(self) -> int:
        side = math.ceil(int(self.values.more["longest_edge"]) / self.values.image_size)
        return (side**2 + 1) * self._each + 8 * side * (side + 1)

    @property
    def _each(self) -> int:
        """Rows of a tile."""
        return self.most_patches // self.values.merge**2

    def layout(self, picture: Picture) -> PictureLayout:
        _, (width, height), (side, _) = self.sizes(picture.width, picture.height)
        rows, columns = (height // side, width // side) if max(width, height) > side else (0, 0)
        lines = [
            "".join(f"{_AROUND}<row_{row + 1}_col_{column + 1}>{_IMAGE}" for column in range(columns)) + "\n"
            for row in range(rows)
        ]
        text = "".join(lines) + ("\n" if lines else "") + f"{_AROUND}{_WHOLE}{_IMAGE}{_AROUND}"
        runs = (self._each,) * (rows * columns + 1)
        return PictureLayout(f"{self.digest}{picture.sha256}", _IMAGE, text, _IMAGE, runs)

    def _load(self, loader: Loader) -> None:
        super()._load(loader)
        self._projection = loader.linear("mm.model.fc")

    def rows(self, pixels: Sequence[Tensor]) -> Generator[None, None, list[Tensor]]:
        side = self.values.image_size
        _, large, small = (self.normalised(one) for one in pixels)
        cut = tiles(large, side)
        seen = yield from self.seen([*(cut if len(cut) > 1 else ()), small])
        across = side // self.values.patch
        return [self._projection(merged(one, (across, across), self.values.merge)) for one in seen]


def _more(config: Mapping[str, Any], processor: Mapping[str, Any]) -> dict[str, Any]:
    side = int(
        (processor.get("max_image_size") or {}).get("longest_edge") or config["vision_config"].get("image_size") or 512
    )
    longest = int((processor.get("size") or {}).get("longest_edge") or 4 * side)
    return {"merge": int(config.get("scale_factor") or 2), "longest_edge": longest}


SIGHT = Sight(
    SmolVlmTower,
    "idefics3",
    ("vision_model", "connector"),
    {**SIGLIP_NAMES, "mm.model.fc": "modality_projection.proj"},
    {
        **{"hidden_size": 1152, "num_hidden_layers": 12, "num_attention_heads": 16, "image_size": 224},
        **{"patch_size": 32, "layer_norm_eps": 1e-6, "image_mean": (0.5,) * 3, "image_std": (0.5,) * 3},
    },
    more=_more,
    more_in_gguf=lambda metadata: {
        "merge": int(metadata.get("clip.vision.projector.scale_factor") or 2),
        "longest_edge": int(metadata.get("clip.vision.preproc_image_size") or 4 * metadata["clip.vision.image_size"]),
    },
)
