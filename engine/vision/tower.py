"""A tower turns a picture into rows for a decoder's first layer. Each family of towers is a file of this folder.

Tensors are asked for by llama.cpp's names, whatever files they are in: those of the model, or a GGUF file beside it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor
from torch.nn import functional

from engine.errors import TensorMismatch
from engine.gguf.stored_tensor import BF16
from engine.kernels import library
from engine.kernels.layer import HEAD_DIM_MULTIPLE
from engine.messages import Picture, PictureLayout
from engine.model.block import activated
from engine.model.config import ACTIVATIONS
from engine.model.linear import Linear, Norm, PackedLinear
from engine.model.packed_loader import pack
from engine.vision.fused_layer import FusedVisionLayer

#: Rows of the largest picture, whatever the image processor allows: attention over its patches grows with their square.
MOST_ROWS = 2048
#: Cosines of queries and keys, [cos, cos], and sines, [-sin, sin]: (n, width of a head) each.
Rotation = tuple[Tensor, Tensor]
#: A map of rows, (n, in) to (n, out).
Map = Callable[[Tensor], Tensor]
#: Names of a layer's modules in SigLIP, by llama.cpp's.
SIGLIP_NAMES = {
    "v.patch_embd": "embeddings.patch_embedding",
    "v.position_embd": "embeddings.position_embedding",
    "v.post_ln": "post_layernorm",
    "v.blk.{}.attn_q": "encoder.layers.{}.self_attn.q_proj",
    "v.blk.{}.attn_k": "encoder.layers.{}.self_attn.k_proj",
    "v.blk.{}.attn_v": "encoder.layers.{}.self_attn.v_proj",
    "v.blk.{}.attn_out": "encoder.layers.{}.self_attn.out_proj",
    "v.blk.{}.ln1": "encoder.layers.{}.layer_norm1",
    "v.blk.{}.ln2": "encoder.layers.{}.layer_norm2",
    "v.blk.{}.ffn_up": "encoder.layers.{}.mlp.fc1",
    "v.blk.{}.ffn_down": "encoder.layers.{}.mlp.fc2",
}


@dataclass(frozen=True)
class TowerValues:
    """Sizes of a tower, and of the pictures that it takes."""

    hidden: int  # width of a patch's row
    layers: int
    heads: int
    image_size: int  # side of a picture, or of the grid of learned positions, in pixels
    patch: int  # side of a patch in pixels
    epsilon: float  # epsilon of the norms
    text: int  # width of the decoder's rows
    mean: tuple[float, ...]
    std: tuple[float, ...]
    merge: int  # patches that become one row, in each direction
    more: Mapping[str, Any]  # values of one family alone


@dataclass(frozen=True)
class Sight:
    """A family of towers, and all that is needed to read its files."""

    tower: type[Tower]
    projector: str  # llama.cpp's name of it, ``clip.projector_type``
    # Parts of the names of its tensors that no tensor of the decoder has; the first one tells the family
    roots: tuple[str, ...]
    names: Mapping[str, str]  # ends of Hugging Face's names of modules, by llama.cpp's names
    defaults: Mapping[str, Any]  # values of ``vision_config`` and of the image processor if the files have none
    # Returns a family's own values and ``merge``, from ``config.json`` and the image processor's file
    more: Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]
    more_in_gguf: Callable[[Mapping[str, Any]], Mapping[str, Any]]  # the same from GGUF's metadata
    # Ends of Hugging Face's names of tensors whose last part is another one than llama.cpp's
    whole: Mapping[str, str] = field(default_factory=dict)
    interleaved: bool = False  # True if GGUF files interleave the halves of each head of queries and keys


class TowerTensors(ABC):
    """Tensors of a tower by llama.cpp's names."""

    sight: Sight
    values: TowerValues
    weights: int  # numbers in all of them
    digest: str  # identifies files and values

    @abstractmethod
    def has(self, name: str) -> bool:
        """Return whether there is a tensor."""

    @abstractmethod
    def tensor(self, name: str) -> Tensor:
        """Read a tensor in float32. Raises TensorMismatch if there is none."""


class Tower(ABC):
    """A tower of one model. Sizes and places of pictures are known before its weights are loaded."""

    resample: ClassVar[int] = 3  # Pillow's number of the filter that pictures are scaled with
    chained: ClassVar[bool] = False  # True if each size of a picture is made of the one before
    # Layers of the decoder in which the rows of a picture see each other: none, those with a window, or all
    mutual: Literal["", "windows", "all"] = ""

    def __init__(self, tensors: TowerTensors) -> None:
        self.values = tensors.values
        self.digest = tensors.digest
        self.weights = tensors.weights  # numbers in its tensors
        self._tensors = tensors
        # Name of the function in the networks of the layers, as `activated` takes it
        self.activation = ACTIVATIONS[str(self.values.more.get("activation", "gelu_pytorch_tanh"))]

    @abstractmethod
    def sizes(self, width: int, height: int) -> list[tuple[int, int]]:
        """Return the sizes that a picture of some pixels is scaled to."""

    @abstractmethod
    def layout(self, picture: Picture) -> PictureLayout:
        """Return the place of a picture in a prompt."""

    def grid(self, picture: Picture) -> tuple[int, int] | None:
        """Return rows and columns of a picture whose rows have positions of their own (M-RoPE), None for another."""
        return None

    @property
    def row_width(self) -> int:
        """Numbers in a row: the decoder's width, once more for each layer after the first that receives rows too."""
        return self.values.text

    @property
    @abstractmethod
    def most_rows(self) -> int:
        """Rows of the largest picture."""

    @property
    @abstractmethod
    def most_patches(self) -> int:
        """Patches that its layers read at a time."""

    @property
    def work_bytes(self) -> int:
        """Bytes beside its weights while it reads its largest picture: rows of float32 in a layer, and the result."""
        return 4 * (self.most_patches * self.values.hidden * 16 + self.most_rows * self.row_width)

    def load(self, packed: bool, check: Callable[[], None] = lambda: None) -> None:
        """Load the weights.

        Args:
            packed: True for matrices in 16 bits, which the kernels multiply; else float32.
            check: Called before each matrix; raises to cancel.

        Raises:
            TensorMismatch: A tensor is missing, or has another shape.
        """
        self._load(Loader(self._tensors, packed, check))

    def _load(self, loader: Loader) -> None:
        self._patch = loader.patch_map(self.values.patch)
        self._layers = [
            VisionLayer(loader, f"v.blk.{layer}", self.values, self.activation) for layer in range(self.values.layers)
        ]

    def _through(self, rows: Tensor, rotation: Rotation | None = None) -> Generator[None, None, Tensor]:
        """Return rows after all layers; yield before each."""
        for layer in self._layers:
            yield
            rows = layer(rows, rotation)
        return rows

    @abstractmethod
    def rows(self, pixels: Sequence[Tensor]) -> Generator[None, None, list[Tensor]]:
        """Read a picture: yield between layers, and return the rows of each of its runs, (n, row width) float32.

        Args:
            pixels: The picture in each of its sizes, (height, width, 3) of 8 bits.
        """

    def normalised(self, pixels: Tensor) -> Tensor:
        """Return pixels as (3, height, width) float32 with mean and deviation taken off, as image processors do."""
        mean, std = (torch.tensor(part, dtype=torch.float32) for part in (self.values.mean, self.values.std))
        return ((pixels.float() * (1 / 255) - mean) / std).permute(2, 0, 1)


class GridTower(Tower):
    """A tower for pictures of any proportions, each row of which stands for some patches beside each other."""

    image: ClassVar[str]  # token for a picture, which each of its rows has the place of
    around: ClassVar[tuple[str, str]] = "", ""  # tokens before and after all rows
    marked: ClassVar[bool] = False  # True if chat templates write those too

    @property
    def factor(self) -> int:
        """Pixels that a row stands for, in each direction."""
        return self.values.patch * self.values.merge

    @property
    def most_rows(self) -> int:
        return min(MOST_ROWS, int(self.values.more["most_rows"]))

    @property
    def most_patches(self) -> int:
        return self.most_rows * self.values.merge**2

    def layout(self, picture: Picture) -> PictureLayout:
        rows = sum(width * height for width, height in self.sizes(picture.width, picture.height)) // self.factor**2
        text = self.image.join(self.around)
        mark = text if self.marked else self.image
        return PictureLayout(f"{self.digest}{picture.sha256}", mark, text, self.image, (rows,))

    def _patches(self, picture: Tensor) -> tuple[Tensor, int, int]:
        """Return the patches of a picture (3, height, width) line by line, and the number of lines and columns."""
        side = self.values.patch
        return patches(picture, side), picture.shape[1] // side, picture.shape[2] // side

    def _angles(self, high: int, wide: int, theta: float = 1e4, first: int = 0) -> tuple[Tensor, Tensor]:
        """Return the angles of each patch in radians by line and by column, each (n, a quarter of a head's width).

        Args:
            high: Number of lines.
            wide: Number of columns.
            theta: Base of the frequencies.
            first: Number of the first line and column.
        """
        width = self.values.hidden // self.values.heads // 2
        frequencies = 1.0 / (theta ** (torch.arange(0, width, 2, dtype=torch.float32) / width))
        lines, columns = (torch.arange(first, first + count)[:, None] * frequencies for count in (high, wide))
        return lines.repeat_interleave(wide, 0), columns.repeat(high, 1)

    @staticmethod
    def _square(positions: Tensor) -> Tensor:
        """Return learned positions (side * side, hidden) as (1, hidden, side, side)."""
        side = math.isqrt(len(positions))
        check_positions(len(positions), side * side)
        return positions.t().reshape(1, -1, side, side)


def merged(rows: Tensor, grid: Sequence[int], merge: int, by_channel: bool = False) -> Tensor:
    """Return the rows of neighbouring patches as one row each, (n, merge * merge * hidden).

    Args:
        rows: (high * wide, hidden) rows of the patches line by line.
        grid: Numbers of lines and columns, high and wide.
        merge: Patches that become one row, in each direction.
        by_channel: True if the numbers of one channel follow each other, and not those of one patch.
    """
    high, wide = grid
    blocks = rows.view(high // merge, merge, wide // merge, merge, -1).transpose(1, 2)
    return (blocks.permute(0, 1, 4, 2, 3) if by_channel else blocks).reshape(high * wide // merge**2, -1)


def rotation_of(angles: Tensor) -> Rotation:
    """Return the rotation by angles, (n, width / 2)."""
    return torch.cat((angles, angles), -1).cos(), torch.cat((-angles, angles), -1).sin()


def check_positions(found: int, wanted: int) -> None:
    """Raise TensorMismatch unless the number of learned positions is as wanted."""
    if found != wanted:
        raise TensorMismatch(
            "The picture encoder has {found} positions where its config asks for {wanted}: download it again.",
            found=found,
            wanted=wanted,
        )


def stated_rows(metadata: Mapping[str, Any], merge: int, bound: str = "max") -> int:
    """Return the number of rows by which GGUF's metadata bounds pictures, 0 if it does not."""
    pixels = int(metadata.get(f"clip.vision.image_{bound}_pixels") or 0)
    return pixels // max(1, int(metadata["clip.vision.patch_size"]) * merge) ** 2


def fitted(width: int, height: int, factor: int, least: int, most: int, smallest: int = 0) -> tuple[int, int]:
    """Return the size nearest to a picture's in multiples of a factor, with a bounded number of pixels.

    This is ``smart_resize`` of transformers' processor of Qwen2-VL.

    Args:
        width: Its width in pixels.
        factor: Number that divides the sides.
        least: Fewest pixels.
        most: Most pixels.
        smallest: Shortest side before the pixels are counted.
    """
    high, wide = (max(smallest, round(side / factor) * factor) for side in (height, width))
    if high * wide > most:
        shrink, longest = math.sqrt(height * width / most), most // factor**2 * factor
        sides = (math.floor(side / shrink / factor) * factor for side in (height, width))
        high, wide = (min(max(factor, side), longest) for side in sides)
    elif high * wide < least:
        grow = math.sqrt(least / (height * width))
        high, wide = (math.ceil(side * grow / factor) * factor for side in (height, width))
    return wide, high


class Loader:
    """Reads a tower's weights: as dense float32, or packed in 16 bits for the kernels.

    Args:
        packed: True for matrices in 16 bits.
        check: Called before each matrix; raises to cancel.
    """

    def __init__(self, tensors: TowerTensors, packed: bool, check: Callable[[], None]) -> None:
        self.tensor, self.has = tensors.tensor, tensors.has
        self.packed = packed and library.available() is not None
        self._check = check

    def vector(self, name: str) -> Tensor | None:
        """Read a tensor that a tower may lack; None if it does."""
        return self.tensor(name) if self.has(name) else None

    def network(self, *names: str) -> Map:
        """Return maps of matrices, one after the other, with GELU between them."""
        first, *others = (self.linear(name) for name in names)
        return lambda rows: reduce(lambda inner, one: one(functional.gelu(inner)), others, first(rows))

    def linear(self, name: str) -> Map:
        """Return the map of a matrix, with its bias and its bounds."""
        return self.map_of(*self.matrix(name))

    def matrix(self, name: str) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Return a matrix (out, in) float32, its bias, and least and most of its inputs and of its results."""
        self._check()
        ends = [f"{name}.{end}_{bound}" for end in ("input", "output") for bound in ("min", "max")]
        bounds = torch.cat([self.tensor(end).flatten() for end in ends]) if self.has(ends[0]) else None
        return self.tensor(f"{name}.weight").flatten(1), self.vector(f"{name}.bias"), bounds

    def heads(self, prefix: str) -> list[tuple[Tensor, Tensor | None, Tensor | None]]:
        """Return the matrices to queries, keys and values, each as `matrix` does."""
        if not self.has(f"{prefix}.attn_qkv.weight"):
            return [self.matrix(f"{prefix}.attn_{part}") for part in "qkv"]
        weight, bias, bounds = self.matrix(f"{prefix}.attn_qkv")
        biases = [None] * 3 if bias is None else bias.chunk(3)
        return [(part, own, bounds) for part, own in zip(weight.chunk(3), biases, strict=True)]

    def map_of(self, weight: Tensor, bias: Tensor | None = None, bounds: Tensor | None = None) -> Map:
        """Return the map of a matrix, (out, in) float32; ``bias`` and ``bounds`` as from `matrix`."""
        if self.packed:
            return PackedLinear(replace(pack(weight.contiguous(), BF16), bounds=bounds), bias)
        linear = Linear(weight, bias)
        if bounds is None:
            return linear
        low, high, least, most = bounds.tolist()
        return lambda rows: linear(rows.clamp(low, high)).clamp(least, most)

    def patch_map(self, side: int) -> Map:
        """Return the map of a patch's pixels, (n, 3 * side * side) by channel, line and column."""
        weight = self.tensor("v.patch_embd.weight")
        second = self.vector("v.patch_embd.weight.1")
        if second is not None:  # a picture is two equal frames of a film
            weight = weight + second
        if weight.dim() == 5:
            weight = weight.sum(2)
        numbers = 3 * side * side
        if weight.dim() == 2 and weight.shape[1] == numbers:  # by line, column and channel
            weight = weight.view(-1, side * side, 3).transpose(1, 2)
        return self.map_of(weight.reshape(len(weight), -1, numbers).sum(1), self.vector("v.patch_embd.bias"))

    def norm(self, name: str, epsilon: float, optional: bool = False) -> Map:
        """Return a norm: of the layer if it has a bias, else by the root of the mean square.

        Args:
            name: Beginning of the names of its tensors.
            epsilon: Number that is added to the variance or the mean square.
            optional: True if rows stay as they are where there is no such norm.
        """
        if optional and not self.has(f"{name}.weight"):
            return lambda rows: rows
        weight, bias = self.tensor(f"{name}.weight"), self.vector(f"{name}.bias")
        if bias is None:
            return Norm(weight, epsilon)
        return lambda rows: functional.layer_norm(rows, weight.shape, weight, bias, epsilon)


class VisionLayer:
    """A layer of a tower: attention of all rows to all, and a network.

    Args:
        loader: Reads its weights.
        prefix: Beginning of their names.
        values: Heads, and the epsilon of its norms.
        activation: Name of the function between the matrices of the network.
    """

    def __init__(self, loader: Loader, prefix: str, values: TowerValues, activation: str) -> None:
        up, down, gate = (f"{prefix}.ffn_{part}" for part in ("up", "down", "gate"))
        # Some converters have called the two by each other's names.
        narrow, rows = (loader.tensor(f"{name}.weight").shape[0] for name in (f"{prefix}.ln1", up))
        if rows == narrow != loader.tensor(f"{down}.weight").shape[0]:
            up, down = down, up
        width = values.hidden // values.heads
        # Heads whose width is no multiple of 16 end with zeros for the kernels, which change no score and no sum.
        more = -width % HEAD_DIM_MULTIPLE if loader.packed else 0
        plain = order = torch.arange(width)
        gains: dict[str, Tensor] = {}
        if loader.has(f"{prefix}.attn_q_norm.weight"):
            # Gemma 4 turns each half of a head by itself: both halves are turned as one.
            order = plain.view(2, 2, -1).transpose(0, 1).flatten()
            for name in ("query", "key"):
                weight = loader.tensor(f"{prefix}.attn_{name[0]}_norm.weight")
                gains[f"{name}_norm"] = _arranged(weight, order, more)
            gains["value_norm"] = torch.ones(width + more)
        maps = {}
        for name, (weight, bias, bounds) in zip("qkv", loader.heads(prefix), strict=True):
            own = plain if name == "v" else order
            bias = None if bias is None else _arranged(bias, own, more)
            maps[name] = loader.map_of(_arranged(weight, own, more), bias, bounds)
        output, *others = loader.matrix(f"{prefix}.attn_out")
        maps["output"] = loader.map_of(_arranged(output.t(), plain, more).t(), *others)
        maps["gate"], maps["down"] = loader.linear(gate if loader.has(f"{gate}.weight") else up), loader.linear(down)
        if loader.has(f"{gate}.weight"):
            maps["up"] = loader.linear(up)
        self._scale = 1.0 if gains else width**-0.5
        self._fused = None
        if loader.packed:
            self._fused = FusedVisionLayer(loader, prefix, values, activation, maps, gains, self._scale)
            return
        self._heads, self._activation, self._maps = values.heads, activation, maps
        self._norms = [loader.norm(f"{prefix}.{name}", values.epsilon) for name in ("ln1", "ln2")]
        ends = ("attn_post_norm", "ffn_post_norm")
        self._end_norms = [loader.norm(f"{prefix}.{name}", values.epsilon, optional=True) for name in ends]
        self._head_norms = [Norm(gain, values.epsilon) for gain in gains.values()]

    def __call__(self, rows: Tensor, rotation: Rotation | None = None, spans: Sequence[int] = ()) -> Tensor:
        """Return the rows after it, (n, hidden).

        Args:
            rows: (n, hidden) float32.
            rotation: Rotation of queries and keys, or None.
            spans: Numbers of rows that see each other alone, in order; empty if all do.
        """
        if self._fused is not None:
            return self._fused(rows, rotation, spans)
        normed, maps = self._norms[0](rows), self._maps
        heads = [maps[name](normed).view(1, len(rows), self._heads, -1).transpose(1, 2) for name in "qkv"]
        if self._head_norms:
            heads = [norm(part) for norm, part in zip(self._head_norms, heads, strict=True)]
        if rotation is not None:
            cosine, sine = rotation
            heads[:2] = [part * cosine + part.roll(cosine.shape[1] // 2, -1) * sine for part in heads[:2]]
        each = zip(*(torch.split(part, list(spans) or len(rows), 2) for part in heads), strict=True)
        mixed = [functional.scaled_dot_product_attention(q, k, v, scale=self._scale) for q, k, v in each]
        rows = rows + self._end_norms[0](maps["output"](torch.cat(mixed, 2)[0].transpose(0, 1).flatten(1)))
        normed = self._norms[1](rows)
        inner = activated(self._activation, maps["gate"](normed))
        return rows + self._end_norms[1](maps["down"](inner * maps["up"](normed) if "up" in maps else inner))


def _arranged(part: Tensor, order: Tensor, more: int) -> Tensor:
    """Return heads (heads * width, ...) with their channels in an order, each with so many zeros behind them."""
    heads = part.reshape(-1, len(order), part[0].numel())[:, order]
    return functional.pad(heads, (0, 0, 0, more)).reshape(-1, *part.shape[1:])


def patches(picture: Tensor, side: int) -> Tensor:
    """Return the patches of a picture (3, height, width) row by row: (n, 3 * side * side)."""
    return functional.unfold(picture[None], side, stride=side)[0].t().contiguous()


def tiles(picture: Tensor, side: int) -> list[Tensor]:
    """Return the tiles of a picture (channels, height, width) line by line, each (channels, side, side) or less."""
    return [
        picture[:, top : top + side, left : left + side]
        for top in range(0, picture.shape[1], side)
        for left in range(0, picture.shape[2], side)
    ]


class SiglipTower(Tower):
    """SigLIP: square pictures of one size, in patches with learned positions."""

    def _load(self, loader: Loader) -> None:
        self._positions = loader.tensor("v.position_embd.weight")
        check_positions(len(self._positions), self.most_patches)
        super()._load(loader)
        self._end_norm = loader.norm("v.post_ln", self.values.epsilon)

    @property
    def most_patches(self) -> int:
        return (self.values.image_size // self.values.patch) ** 2

    def seen(self, pictures: Sequence[Tensor]) -> Generator[None, None, Tensor]:
        """Read normalised pictures (3, side, side), each by itself; return (pictures, patches, hidden)."""
        found = []
        for picture in pictures:
            rows = self._patch(patches(picture, self.values.patch)) + self._positions
            found.append(self._end_norm((yield from self._through(rows))))
        return torch.stack(found)
