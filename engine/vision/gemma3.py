"""The tower of Gemma 3: SigLIP over 896 x 896 pixels, whose patches are averaged to 256 rows that see each other."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from torch import Tensor
from torch.nn import functional

from engine.messages import Picture, PictureLayout
from engine.model.linear import Norm
from engine.text.pictures import ANCHORS
from engine.vision.tower import SIGLIP_NAMES, Loader, Sight, SiglipTower


class Gemma3Tower(SiglipTower):
    """Gemma 3's."""

    resample, mutual = 2, "all"

    def sizes(self, width: int, height: int) -> list[tuple[int, int]]:
        return [(self.values.image_size, self.values.image_size)]

    @property
    def most_rows(self) -> int:
        return self.most_patches // self.values.merge**2

    def layout(self, picture: Picture) -> PictureLayout:
        begin, key = ANCHORS["gemma3"], f"{self.digest}{picture.sha256}"
        return PictureLayout(key, begin, f"\n\n{begin}<end_of_image>\n\n", begin, (self.most_rows,), follows=True)

    def _load(self, loader: Loader) -> None:
        super()._load(loader)
        # llama.cpp's converter adds the 1 that the family's norms leave out
        offset = float(self.values.more["norm_offset"])
        self._norm = Norm(loader.tensor("mm.soft_emb_norm.weight"), self.values.epsilon, offset)
        self._projection = loader.map_of(loader.tensor("mm.input_projection.weight").t().contiguous())

    def rows(self, pixels: Sequence[Tensor]) -> Generator[None, None, list[Tensor]]:
        seen = yield from self.seen([self.normalised(pixels[0])])
        side = self.values.image_size // self.values.patch
        grid = seen[0].t().view(1, -1, side, side)
        pooled = functional.avg_pool2d(grid, self.values.merge)[0].flatten(1).t()
        return [self._projection(self._norm(pooled.contiguous()))]


def _more(config: Mapping[str, Any], processor: Mapping[str, Any]) -> dict[str, Any]:
    vision = config["vision_config"]
    side = int(vision.get("image_size", 896)) // int(vision.get("patch_size", 14))
    return {"merge": side // round(int(config.get("mm_tokens_per_image") or 256) ** 0.5), "norm_offset": 1.0}


SIGHT = Sight(
    Gemma3Tower,
    "gemma3",
    ("vision_tower", "multi_modal_projector"),
    SIGLIP_NAMES,
    {"image_size": 896, "patch_size": 14, "layer_norm_eps": 1e-6, "image_mean": (0.5,) * 3, "image_std": (0.5,) * 3},
    _more,
    lambda metadata: {"merge": int(metadata.get("clip.vision.projector.scale_factor") or 4), "norm_offset": 0.0},
    {
        "mm.soft_emb_norm.weight": "mm_soft_emb_norm.weight",
        "mm.input_projection.weight": "mm_input_projection_weight",
    },
)
