"""The tower of Mistral 3 and Ministral 3 (Pixtral): pictures of their own proportions, whose lines a token ends."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from engine.messages import Picture, PictureLayout
from engine.text.pictures import ANCHORS
from engine.vision.tower import MOST_ROWS, GridTower, Loader, Sight, merged, rotation_of

_EPSILON, _THETA = 1e-5, 1e4
_BREAK, _END = "[IMG_BREAK]", "[IMG_END]"


class PixtralTower(GridTower):
    """Pixtral's: a picture is made smaller only if its longer side is too long."""

    image = ANCHORS["pixtral"]

    @property
    def _longest(self) -> int:
        """Longest side of a picture in pixels."""
        return min(int(self.values.more["longest_edge"]), math.isqrt(MOST_ROWS) * self.factor)

    @property
    def most_rows(self) -> int:
        return math.ceil(self._longest / self.factor) ** 2

    def sizes(self, width: int, height: int) -> list[tuple[int, int]]:
        ratio = max(width, height) / self._longest
        if ratio > 1:
            width, height = (max(1, math.floor(side / ratio)) for side in (width, height))
        wide, high = (math.ceil(side / self.factor) * self.factor for side in (width, height))
        return [(wide, high)]

    def layout(self, picture: Picture) -> PictureLayout:
        ((width, height),) = self.sizes(picture.width, picture.height)
        lines, columns = height // self.factor, width // self.factor
        text = _BREAK.join([self.image] * lines) + _END
        return PictureLayout(f"{self.digest}{picture.sha256}", self.image, text, self.image, (columns,) * lines)

    def _load(self, loader: Loader) -> None:
        super()._load(loader)
        self._first_norm = loader.norm("v.pre_ln", self.values.epsilon)
        self._norm = loader.norm("mm.input_norm", float(self.values.more["end_epsilon"]))
        self._merger, self._network = loader.linear("mm.patch_merger"), loader.network("mm.1", "mm.2")

    def rows(self, pixels: Sequence[Tensor]) -> Generator[None, None, list[Tensor]]:
        found, high, wide = self._patches(self.normalised(pixels[0]))
        lines, columns = self._angles(high, wide, _THETA)
        # the columns have the frequencies between those of the lines
        between = _THETA ** (-2 * self.values.heads / self.values.hidden)
        rotation = rotation_of(torch.cat((lines, columns * between), -1))
        rows = yield from self._through(self._first_norm(self._patch(found)), rotation)
        together = self._merger(merged(self._norm(rows), (high, wide), self.values.merge, by_channel=True))
        return list(torch.split(self._network(together), wide // self.values.merge))


def _more(config: Mapping[str, Any], processor: Mapping[str, Any]) -> dict[str, Any]:
    vision = config["vision_config"]
    size = int((processor.get("size") or {}).get("longest_edge") or vision.get("image_size") or 1024)
    return {
        "merge": int(config.get("spatial_merge_size") or 2),
        "longest_edge": size,
        "activation": vision.get("hidden_act") or "gelu",
        "epsilon": _EPSILON,  # whatever the config says
        "end_epsilon": config["text_config"].get("rms_norm_eps") or _EPSILON,
    }


SIGHT = Sight(
    PixtralTower,
    "pixtral",
    ("vision_tower", "multi_modal_projector"),
    {
        "v.patch_embd": "patch_conv",
        "v.pre_ln": "ln_pre",
        "v.blk.{}.attn_q": "transformer.layers.{}.attention.q_proj",
        "v.blk.{}.attn_k": "transformer.layers.{}.attention.k_proj",
        "v.blk.{}.attn_v": "transformer.layers.{}.attention.v_proj",
        "v.blk.{}.attn_out": "transformer.layers.{}.attention.o_proj",
        "v.blk.{}.ln1": "transformer.layers.{}.attention_norm",
        "v.blk.{}.ln2": "transformer.layers.{}.ffn_norm",
        "v.blk.{}.ffn_gate": "transformer.layers.{}.feed_forward.gate_proj",
        "v.blk.{}.ffn_up": "transformer.layers.{}.feed_forward.up_proj",
        "v.blk.{}.ffn_down": "transformer.layers.{}.feed_forward.down_proj",
        "mm.input_norm": "multi_modal_projector.norm",
        "mm.patch_merger": "patch_merger.merging_layer",
        "mm.1": "multi_modal_projector.linear_1",
        "mm.2": "multi_modal_projector.linear_2",
    },
    {
        **{"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "patch_size": 14},
        **{"image_size": 1540, "layer_norm_eps": _EPSILON},
        "image_mean": (0.48145466, 0.4578275, 0.40821073),
        "image_std": (0.26862954, 0.26130258, 0.27577711),
    },
    _more,
    lambda metadata: {
        "merge": int(metadata.get("clip.vision.spatial_merge_size") or 1),
        "longest_edge": int(metadata["clip.vision.image_size"]),
        "activation": "silu" if metadata.get("clip.use_silu") else "gelu",
        "end_epsilon": metadata["clip.vision.attention.layer_norm_epsilon"],
    },
    interleaved=True,
)
