"""A tower turns a picture into rows for a decoder's first layer. Each family of towers is a file of this folder.

Tensors are asked for by llama.cpp's names, whatever files they are in: those of the model, or a GGUF file beside it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor
from torch.nn import functional

from engine.errors import TensorMismatch
from engine.gguf.stored_tensor import BF16
from engine.kernels import library
from engine.messages import Picture, PictureLayout
from engine.model.block import activated
from engine.model.config import ACTIVATIONS
from engine.model.linear import Linear, LinearMap, Norm, PackedLinear
from engine.model.packed_loader import pack
from engine.vision.fused_layer import FusedVisionLayer

#: Rows of the largest picture, whatever the image processor allows: attention over its patches grows with their square.
MOST_ROWS = 2048
#: Cosines and sines of queries and keys, (n, parts of a head, width of a part).
Rotation = tuple[Tensor, Tensor]
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
    normed_heads: ClassVar[bool] = False  # True if heads are normed as in Gemma 4

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
            VisionLayer(loader, f"v.blk.{layer}", self.values, self.activation, self.normed_heads)
            for layer in range(self.values.layers)
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
    """Return the rotation by angles, (n, width / 2) or (n, parts of a head, width of a part / 2)."""
    angles = torch.cat((angles, angles), -1).view(len(angles), -1, 2 * angles.shape[-1])
    return angles.cos(), angles.sin()


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
        height: Its height.
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
        tensors: The tensors.
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

    def network(self, *names: str) -> Callable[[Tensor], Tensor]:
        """Return maps of matrices, one after the other, with GELU between them."""
        first, *others = (self.linear(name) for name in names)
        return lambda rows: reduce(lambda inner, one: one(functional.gelu(inner)), others, first(rows))

    def linear(self, *names: str) -> Callable[[Tensor], Tensor]:
        """Return one map of matrices over the same rows, with their biases; inputs and results may have bounds."""
        if any(self.has(f"{name}.input_max") for name in names):
            maps = [self._bounded(name) for name in names]
            return lambda rows: torch.cat([one(rows) for one in maps], -1)
        return self.map_of(*self.joined(*names))

    def _bounded(self, name: str) -> Callable[[Tensor], Tensor]:
        inner = self.map_of(*self.joined(name))
        low, high, least, most = (
            self.tensor(f"{name}.{end}_{bound}").item() for end in ("input", "output") for bound in ("min", "max")
        )
        return lambda rows: inner(rows.clamp(low, high)).clamp(least, most)

    def joined(self, *names: str) -> tuple[Tensor, Tensor | None]:
        """Return matrices over the same rows as one, (out, in) float32, and their biases."""
        self._check()
        weight = torch.cat([self.tensor(f"{name}.weight").flatten(1) for name in names])
        bias = torch.cat([self.tensor(f"{name}.bias") for name in names]) if self.has(f"{names[0]}.bias") else None
        return weight, bias

    def map_of(self, weight: Tensor, bias: Tensor | None = None) -> LinearMap:
        """Return the map of a matrix, (out, in) float32."""
        return PackedLinear(pack(weight.contiguous(), BF16), bias) if self.packed else Linear(weight, bias)

    def patch_map(self, side: int) -> LinearMap:
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

    def norm(self, name: str, epsilon: float, optional: bool = False) -> Callable[[Tensor], Tensor]:
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
        normed_heads: True if queries, keys and values are normed by head, and scores not scaled (Gemma 4).
    """

    def __init__(self, loader: Loader, prefix: str, values: TowerValues, activation: str, normed_heads: bool) -> None:
        up, down = f"{prefix}.ffn_up", f"{prefix}.ffn_down"
        # Some converters have called the two by each other's names.
        narrow, rows = (loader.tensor(f"{name}.weight").shape[0] for name in (f"{prefix}.ln1", up))
        if rows == narrow != loader.tensor(f"{down}.weight").shape[0]:
            up, down = down, up
        ends = [f"{prefix}.attn_post_norm", f"{prefix}.ffn_post_norm"]
        plain = not normed_heads and not any(loader.has(f"{name}.weight") for name in ends)
        self._fused = (
            FusedVisionLayer(loader, prefix, values, activation, up, down) if loader.packed and plain else None
        )
        if self._fused is not None:
            return
        self._heads, self._activation, self._epsilon = values.heads, activation, values.epsilon
        self._norms = [loader.norm(f"{prefix}.{name}", values.epsilon) for name in ("ln1", "ln2")]
        self._end_norms = [loader.norm(name, values.epsilon, optional=True) for name in ends]
        self._head_norms = (
            [loader.norm(f"{prefix}.attn_{name}_norm", values.epsilon) for name in "qk"] if normed_heads else None
        )
        parts = ["attn_qkv"] if loader.has(f"{prefix}.attn_qkv.weight") else ["attn_q", "attn_k", "attn_v"]
        self._qkv = loader.linear(*(f"{prefix}.{part}" for part in parts))
        self._output = loader.linear(f"{prefix}.attn_out")
        gated = loader.has(f"{prefix}.ffn_gate.weight")
        self._gate = loader.linear(f"{prefix}.ffn_gate") if gated else None
        self._up, self._down = loader.linear(up), loader.linear(down)

    def __call__(self, rows: Tensor, rotation: Rotation | None = None, spans: Sequence[int] = ()) -> Tensor:
        """Return the rows after it, (n, hidden).

        Args:
            rows: (n, hidden) float32.
            rotation: Rotation of queries and keys, or None.
            spans: Numbers of rows that see each other alone, in order; empty if all do.
        """
        if self._fused is not None:
            return self._fused(rows, rotation, spans)
        heads = self._qkv(self._norms[0](rows)).view(len(rows), 3, self._heads, -1)
        queries, keys, values = heads.permute(1, 2, 0, 3)[:, None]
        scale = None
        if self._head_norms is not None:
            queries, keys = (norm(part) for norm, part in zip(self._head_norms, (queries, keys), strict=True))
            values = functional.rms_norm(values, values.shape[-1:], eps=self._epsilon)
            scale = 1.0
        if rotation is not None:
            queries, keys = (_turned(part, *rotation) for part in (queries, keys))
        each = zip(*(part.split(spans or len(rows), 2) for part in (queries, keys, values)), strict=True)
        mixed = torch.cat([functional.scaled_dot_product_attention(q, k, v, scale=scale) for q, k, v in each], 2)
        rows = rows + self._end_norms[0](self._output(mixed[0].transpose(0, 1).reshape(len(rows), -1)))
        normed = self._norms[1](rows)
        inner = activated(self._activation, self._up(normed) if self._gate is None else self._gate(normed))
        return rows + self._end_norms[1](self._down(inner if self._gate is None else inner * self._up(normed)))


def _turned(heads: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    parts = heads.reshape(*heads.shape[:-1], *cosine.shape[1:])
    first, second = parts.chunk(2, -1)
    turned: Tensor = parts * cosine + torch.cat((-second, first), -1) * sine
    return turned.flatten(-2)


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
