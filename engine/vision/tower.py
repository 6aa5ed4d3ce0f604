"""A tower: what turns a picture into rows for a decoder's first layer. Each family of them is a file of this folder.

Tensors are asked for by llama.cpp's names, whatever files they are in: those of the model, or a GGUF file beside it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from engine.errors import TensorMismatch
from engine.gguf.stored_tensor import BF16
from engine.kernels import library
from engine.messages import Picture, PictureLayout
from engine.model.linear import Linear, LinearMap, Norm, PackedLinear
from engine.model.packed_loader import pack
from engine.vision.fused_layer import FusedVisionLayer

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
    """A family of towers: what reads its files needs to know."""

    tower: type[Tower]
    projector: str  # llama.cpp's name of it, ``clip.projector_type``
    roots: tuple[str, ...]  # parts of the names of its tensors that no tensor of the decoder has
    names: Mapping[str, str]  # Hugging Face's names of modules, without what is before them, by llama.cpp's
    defaults: Mapping[str, Any]  # values of ``vision_config`` and of the image processor if the files have none
    # Returns a family's own values and ``merge``, from ``config.json`` and the image processor's file
    more: Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]
    more_in_gguf: Callable[[Mapping[str, Any]], Mapping[str, Any]]  # the same from GGUF's metadata
    # Tensors whose names are other ones down to the last part
    whole: Mapping[str, str] = field(default_factory=dict)


class TowerTensors(ABC):
    """Tensors of a tower by llama.cpp's names."""

    sight: Sight
    values: TowerValues
    weights: int  # numbers in all of them
    digest: str  # names files and values

    @abstractmethod
    def has(self, name: str) -> bool:
        """Return whether there is a tensor."""

    @abstractmethod
    def tensor(self, name: str) -> Tensor:
        """Read a tensor in float32. Raises TensorMismatch if there is none."""


class Tower(ABC):
    """A tower of one model. Sizes and places of pictures are known before its weights are loaded."""

    resample: ClassVar[int] = 3  # Pillow's number of the filter that pictures are scaled with
    mutual: ClassVar[bool] = False  # True if the rows of a picture see each other in the decoder

    def __init__(self, tensors: TowerTensors) -> None:
        self.values = tensors.values
        self.digest = tensors.digest
        self.weights = tensors.weights  # numbers in its tensors
        self._tensors = tensors

    @abstractmethod
    def sizes(self, width: int, height: int) -> list[tuple[int, int]]:
        """Return the sizes that a picture of some pixels is scaled to, each from the one before."""

    @abstractmethod
    def layout(self, picture: Picture) -> PictureLayout:
        """Return the place of a picture in a prompt."""

    def grids(self, picture: Picture) -> list[tuple[int, int] | None]:
        """Return rows and columns of each run of a picture's rows that have positions of their own (M-RoPE)."""
        return [None for _ in self.layout(picture).runs]

    @property
    def row_width(self) -> int:
        """Numbers in a row: the decoder's width, and as many for each of its layers to which something is added."""
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

    @abstractmethod
    def _load(self, loader: Loader) -> None: ...

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

    def linear(self, *names: str) -> LinearMap:
        """Return one map of matrices over the same rows, with their biases."""
        return self.map_of(*self.joined(*names))

    def joined(self, *names: str) -> tuple[Tensor, Tensor | None]:
        """Return matrices over the same rows as one, (out, in) float32, and their biases."""
        self._check()
        weight = torch.cat([self.tensor(f"{name}.weight").flatten(1) for name in names])
        bias = torch.cat([self.tensor(f"{name}.bias") for name in names]) if self.has(f"{names[0]}.bias") else None
        return weight, bias

    def map_of(self, weight: Tensor, bias: Tensor | None = None) -> LinearMap:
        """Return the map of a matrix, (out, in) float32."""
        return PackedLinear(pack(weight.contiguous(), BF16), bias) if self.packed else Linear(weight, bias)

    def norm(self, name: str, epsilon: float) -> Callable[[Tensor], Tensor]:
        """Return a norm: of the layer if it has a bias, else by the root of the mean square."""
        weight = self.tensor(f"{name}.weight")
        if not self.has(f"{name}.bias"):
            return Norm(weight, epsilon)
        bias = self.tensor(f"{name}.bias")
        return lambda rows: functional.layer_norm(rows, weight.shape, weight, bias, epsilon)


class VisionLayer:
    """A layer of a tower: attention of all rows to all, and a network.

    Args:
        loader: Reads its weights.
        prefix: Beginning of their names.
        heads: Heads of attention.
        epsilon: Epsilon of its norms.
        activation: Function between the matrices of the network.
    """

    def __init__(
        self,
        loader: Loader,
        prefix: str,
        heads: int,
        epsilon: float,
        activation: Callable[[Tensor], Tensor],
    ) -> None:
        # Some converters have called the two by each other's names.
        up, down = "ffn_up", "ffn_down"
        narrow = loader.tensor(f"{prefix}.ln1.weight").shape[0]
        if (
            loader.tensor(f"{prefix}.{up}.weight").shape[0]
            == narrow
            != (loader.tensor(f"{prefix}.{down}.weight").shape[0])
        ):
            up, down = down, up
        self._fused = None
        if loader.packed:
            self._fused = FusedVisionLayer(loader, prefix, heads, epsilon, activation.__name__, up, down)
            return
        self._heads, self._activation = heads, activation
        self._norms = [loader.norm(f"{prefix}.{name}", epsilon) for name in ("ln1", "ln2")]
        parts = ["attn_qkv"] if loader.has(f"{prefix}.attn_qkv.weight") else ["attn_q", "attn_k", "attn_v"]
        self._qkv = loader.linear(*(f"{prefix}.{part}" for part in parts))
        self._output = loader.linear(f"{prefix}.attn_out")
        gated = loader.has(f"{prefix}.ffn_gate.weight")
        self._gate = loader.linear(f"{prefix}.ffn_gate") if gated else None
        self._up, self._down = loader.linear(f"{prefix}.{up}"), loader.linear(f"{prefix}.{down}")

    def __call__(self, rows: Tensor, pictures: int = 1, rotation: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """Return the rows after it, (n, hidden).

        Args:
            rows: (n, hidden) float32.
            pictures: Number of pictures of equal size that they are of, which do not see each other.
            rotation: Cosines and sines (n, width of a head) of queries and keys, or None.
        """
        if self._fused is not None:
            return self._fused(rows, pictures, rotation)
        heads = self._qkv(self._norms[0](rows)).view(pictures, -1, 3, self._heads, rows.shape[1] // self._heads)
        queries, keys, values = heads.permute(2, 0, 3, 1, 4)
        if rotation is not None:
            queries, keys = (_turned(part, *rotation) for part in (queries, keys))
        mixed = functional.scaled_dot_product_attention(queries, keys, values)
        rows = rows + self._output(mixed.transpose(1, 2).reshape(len(rows), -1))
        normed = self._norms[1](rows)
        inner = self._activation(self._up(normed) if self._gate is None else self._gate(normed))
        return rows + self._down(inner if self._gate is None else inner * self._up(normed))


def _turned(heads: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    first, second = heads.chunk(2, -1)
    return heads * cosine + torch.cat((-second, first), -1) * sine


def gelu_tanh(rows: Tensor) -> Tensor:
    """Return GELU by its approximation with a hyperbolic tangent."""
    return functional.gelu(rows, approximate="tanh")


def patches(picture: Tensor, side: int) -> Tensor:
    """Return the patches of a picture (3, height, width) row by row: (n, 3 * side * side)."""
    return functional.unfold(picture[None], side, stride=side)[0].t()


class SiglipTower(Tower):
    """SigLIP: square pictures of one size, in patches with learned positions."""

    def _load(self, loader: Loader) -> None:
        values = self.values
        self._patch = loader.linear("v.patch_embd")
        self._positions = loader.tensor("v.position_embd.weight")
        if len(self._positions) != self.most_patches:
            raise TensorMismatch(
                "The picture encoder has {found} positions where its config asks for {wanted}: download it again.",
                found=len(self._positions),
                wanted=self.most_patches,
            )
        self._layers = [
            VisionLayer(loader, f"v.blk.{layer}", values.heads, values.epsilon, gelu_tanh)
            for layer in range(values.layers)
        ]
        self._end_norm = loader.norm("v.post_ln", values.epsilon)

    @property
    def most_patches(self) -> int:
        return (self.values.image_size // self.values.patch) ** 2

    def seen(self, pictures: Sequence[Tensor]) -> Generator[None, None, Tensor]:
        """Read normalised pictures (3, side, side), each by itself; return (pictures, patches, hidden)."""
        found = []
        for picture in pictures:
            rows = self._patch(patches(picture, self.values.patch).contiguous()) + self._positions
            for layer in self._layers:
                yield
                rows = layer(rows)
            found.append(self._end_norm(rows))
        return torch.stack(found)
