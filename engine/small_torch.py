"""Stand-in for torch in an engine's process: NumPy's arrays under those names of torch that a chat needs.

Importing torch takes 190 MB, and the kernel library computes packed models without it: around its calls the engine
only takes views of tensors, copies and compares them. So where the installed torch knows no GPU (`can_install`), the
engine's process begins with this module in torch's place in ``sys.modules``, and the engine's code is the same with
either. `Run.needs_torch` says which requests it suffices for. Whatever is missing here raises `TorchNeeded`, and then,
as after any other mistake, `engine.engine_process` starts a process with torch, where the request is carried out from
its beginning: a reply that had begun goes on where it was.

Only operators with exact or correctly rounded results belong here, so that both processes compute the same bits: no
sums of floats, products of matrices, exponentials or random numbers. To add one, write it under torch's name with
torch's meaning (https://docs.pytorch.org/docs/stable/tensors.html), and a case of tests/engine/test_small_torch.py,
which compares types, shapes, views and bits with torch's. What torch refuses need not be refused here.
"""

from __future__ import annotations

import builtins
import math
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import accumulate, pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import psutil

inf = math.inf
contiguous_format = None
_ALIGNMENT_BYTES = 64
_Array = numpy.ndarray[Any, Any]


class TorchNeeded(BaseException):
    """Something that this module does not have; no handler of errors takes it for one."""


class OutOfMemoryError(RuntimeError):
    """A full GPU, which no process without torch has."""


@dataclass(frozen=True, eq=False)
class dtype:
    """A type of numbers. Those that NumPy lacks are stored as unsigned integers, and only converted and copied."""

    name: str
    stored: numpy.dtype[Any]
    is_floating_point: bool
    native: bool = True  # True if NumPy computes with it
    is_complex = False

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return self.stored.itemsize

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


_WHOLE = ("bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_DTYPES = {name: dtype(name, numpy.dtype(name), name.startswith("f")) for name in (*_WHOLE, "float16", "float32")}
_DTYPES["float64"] = dtype("float64", numpy.dtype("float64"), True)
_BY_STORED = {one.stored: one for one in _DTYPES.values()}
_DTYPES["bfloat16"] = dtype("bfloat16", numpy.dtype("uint16"), True, native=False)
for _name in ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"):
    _DTYPES[_name] = dtype(_name, numpy.dtype("uint8"), True, native=False)
_ALIASES = {"float": "float32", "int": "int32", "long": "int64"}
globals().update(_DTYPES, **{alias: _DTYPES[name] for alias, name in _ALIASES.items()})
_BOOL, _INT64, _FLOAT32, _BFLOAT16 = (_DTYPES[name] for name in ("bool", "int64", "float32", "bfloat16"))


@dataclass(frozen=True)
class device:
    """The processor; there is no other device without torch."""

    type: str
    index: int | None = None

    def __post_init__(self) -> None:
        """Refuse other devices."""
        if str(self.type) != "cpu":
            raise TorchNeeded(f"the device {self.type}")
        object.__setattr__(self, "type", "cpu")

    def __str__(self) -> str:
        return "cpu"


_CPU = device("cpu")
_NUMBERS = builtins.bool | builtins.int | builtins.float | numpy.generic


class Size(tuple[builtins.int, ...]):
    """Sizes of the dimensions of a tensor."""

    __slots__ = ()


class Tensor:
    """An array and the type of its numbers; a view of it shares its memory, as torch's do."""

    __slots__ = ("__weakref__", "_address", "_array", "dtype")

    is_cpu, device = True, _CPU

    def __init__(self, array: Any, kind: dtype | None = None) -> None:
        self._array = array = numpy.asarray(array)
        self.dtype = kind or _BY_STORED[array.dtype]
        self._address: int | None = None  # it takes NumPy 20 us to tell between two forwards of a small model

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # Python and NumPy look for some of these
            raise AttributeError(f"a tensor has no {name}")
        raise TorchNeeded(f"Tensor.{name}")

    def _like(self, array: Any) -> Tensor:
        return Tensor(array, self.dtype)

    @property
    def _numbers(self) -> _Array:
        """The array to compute with: bfloat16 is computed with in float32, as torch does, and then rounded."""
        return self._array if self.dtype.native else self.to(_FLOAT32)._array

    def _same(self, numbers: Any) -> Tensor:
        """Return numbers that were computed from these as a tensor of the same type."""
        return Tensor(numbers).to(self.dtype)

    # Sizes and memory

    shape = property(lambda self: Size(self._array.shape))
    ndim = property(lambda self: self._array.ndim)
    nbytes = property(lambda self: self._array.nbytes)
    itemsize = property(lambda self: self._array.itemsize)

    def dim(self) -> int:
        return self._array.ndim

    def numel(self) -> int:
        return self._array.size

    def data_ptr(self) -> int:
        if self._address is None:
            self._address = builtins.int(self._array.ctypes.data) if self._array.size else 0
        return self._address

    def stride(self, dim: int | None = None) -> Any:
        strides = tuple(step // self._array.itemsize for step in self._array.strides)
        return strides if dim is None else strides[dim]

    def is_contiguous(self) -> bool:
        return self._array.flags.c_contiguous

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def __len__(self) -> int:
        return len(self._array)

    # Views

    def __getitem__(self, key: Any) -> Tensor:
        return self._like(self._array[_index(key)])

    def __iter__(self) -> Iterator[Tensor]:
        return (self[at] for at in range(len(self._array)))

    def view(self, *shape: Any) -> Tensor:
        if isinstance(shape[0], dtype):
            return Tensor(self._array.view(shape[0].stored), shape[0])
        found = self.reshape(*shape)
        if found._array.size and not numpy.may_share_memory(found._array, self._array):
            raise RuntimeError("no view of these strides has this shape: use reshape")
        return found

    def reshape(self, *shape: Any) -> Tensor:
        return self._like(self._array.reshape(_sizes(shape)))

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        shape = self._array.shape or (1,)
        last = end_dim % len(shape) + 1
        return self.reshape(*shape[:start_dim], math.prod(shape[start_dim:last]), *shape[last:])

    def squeeze(self, dim: int) -> Tensor:
        alone = self._array.ndim > 0 and self._array.shape[dim] == 1
        return self._like(self._array.squeeze(dim) if alone else self._array)

    def transpose(self, first: int, second: int) -> Tensor:
        return self._like(self._array.swapaxes(first, second))

    def narrow(self, dim: int, start: int, length: int) -> Tensor:
        if not 0 <= start <= start + length <= self._array.shape[dim]:
            raise IndexError(f"numbers {start} to {start + length} of {self._array.shape[dim]}")
        return self[(slice(None),) * (dim % self._array.ndim) + (slice(start, start + length),)]

    def numpy(self) -> _Array:
        if not self.dtype.native:
            raise TorchNeeded(f"{self.dtype} in NumPy")
        return self._array

    # Copies and conversions

    def contiguous(self) -> Tensor:
        return self if self._array.flags.c_contiguous else self.clone()

    def clone(self, memory_format: None = None) -> Tensor:
        copy = empty(self._array.shape, dtype=self.dtype)
        copy._array[...] = self._array
        return copy

    def to(
        self, *places: Any, dtype: Any = None, device: Any = None, copy: bool = False, non_blocking: Any = None
    ) -> Tensor:
        for place in (*places, device, dtype):
            if isinstance(place, Tensor):
                dtype = place.dtype
            elif isinstance(place, type(_FLOAT32)):
                dtype = place
            elif place is not None:
                _check_device(place)
        if dtype is None or dtype is self.dtype:
            return self.clone() if copy else self
        if not (self.dtype.native or self.dtype is _BFLOAT16) or not (dtype.native or dtype is _BFLOAT16):
            raise TorchNeeded(f"numbers of {self.dtype.name} in {dtype.name}")
        array = self._array
        if self.dtype is _BFLOAT16:
            array = (array.astype(numpy.uint32) << 16).view(numpy.float32)
        if dtype is _BFLOAT16:
            return Tensor(_upper_halves(array.astype(numpy.float32)), dtype)
        with numpy.errstate(all="ignore"):  # a number that does not fit is no error of torch's
            return Tensor(array.astype(dtype.stored), dtype)

    def cpu(self) -> Tensor:
        return self

    def tolist(self) -> Any:
        return self._numbers.tolist()

    def item(self) -> Any:
        return self._numbers.item()

    def __bool__(self) -> bool:
        return builtins.bool(self.item())

    def __int__(self) -> int:
        return builtins.int(self.item())

    __index__ = __int__

    def __float__(self) -> float:
        return builtins.float(self.item())

    # Writing

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[_index(key)] = self._storable(value)

    def copy_(self, value: Tensor, non_blocking: Any = None) -> Tensor:
        self._array[...] = self._storable(value)
        return self

    def fill_(self, value: Any) -> Tensor:
        return self.copy_(value)

    def _storable(self, value: Any) -> _Array:
        return _scalar(value).to(self.dtype)._array

    def index_copy(self, dim: int, index: Tensor, source: Tensor) -> Tensor:
        found = self.clone()
        found[(slice(None),) * (dim % self._array.ndim) + (index,)] = source
        return found

    def index_add(self, dim: int, index: Tensor, source: Tensor, alpha: Any = 1) -> Tensor:
        found = self.clone()
        place: Any = (slice(None),) * (dim % self._array.ndim) + (index._array,)
        numpy.add.at(found._array, place, (source * alpha)._array)  # one after the other, as torch does
        return found

    def index_select(self, dim: int, index: Tensor) -> Tensor:
        return self._like(self._array.take(index._array, dim))

    def clamp(self, min: Any) -> Tensor:
        return self._same(numpy.maximum(self._numbers, min))

    def masked_fill(self, mask: Tensor, value: Any) -> Tensor:
        return where(mask, _scalar(value).to(self.dtype), self)

    # Reductions

    def all(self, dim: Any = None) -> Tensor:
        return self._truth(self._numbers.all(dim))

    def any(self, dim: Any = None) -> Tensor:
        return self._truth(self._numbers.any(dim))

    def _truth(self, found: Any) -> Tensor:
        return Tensor(found).to(self.dtype if self.dtype.name == "uint8" else _BOOL)

    def sum(self, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
        kind = dtype or _INT64
        if self.dtype.is_floating_point or kind.is_floating_point:
            raise TorchNeeded("sums of floats")
        axes = tuple(dim) if isinstance(dim, list) else dim
        return Tensor(self._numbers.sum(axes, dtype=kind.stored, keepdims=keepdim))

    def max(self) -> Tensor:
        return self._same(self._numbers.max())

    def min(self) -> Tensor:
        return self._same(self._numbers.min())

    def amax(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        return self._same(self._numbers.max(dim, keepdims=keepdim))

    def amin(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        return self._same(self._numbers.min(dim, keepdims=keepdim))

    def nonzero(self) -> Tensor:
        return Tensor(numpy.argwhere(self._numbers))

    # Numbers one by one; the operators of two follow the class.

    def isfinite(self) -> Tensor:
        return Tensor(numpy.isfinite(self._numbers))

    __hash__ = object.__hash__


def _cast(kind: dtype) -> Callable[[Tensor], Tensor]:
    return lambda self: self.to(kind)


for _name, _kind in (*_DTYPES.items(), *((alias, _DTYPES[name]) for alias, name in _ALIASES.items())):
    setattr(Tensor, _name, _cast(_kind))


def _binary(compute: Callable[[Any, Any], Any], compares: bool = False) -> Any:
    """Return an operator of two: in the type that torch promotes both to, with bools or that type as its result."""

    def operate(self: Tensor, other: Any) -> Any:
        if not isinstance(other, Tensor | _NUMBERS):
            return NotImplemented
        kind = _promoted(self, other)
        if compute is operator.truediv and not kind.is_floating_point:
            raise TorchNeeded("quotients of whole numbers")
        with numpy.errstate(all="ignore"):
            found = compute(self.to(kind)._numbers, _scalar(other).to(kind)._numbers)
        return Tensor(found, _BOOL) if compares else Tensor(found).to(kind)

    return operate


def _in_place(operate: Any) -> Any:
    def write(self: Tensor, other: Any) -> Tensor:
        found = operate(self, other)
        if found.dtype is not self.dtype:
            raise TorchNeeded(f"a result of {found.dtype} in {self.dtype}")
        return self.copy_(found)

    return write


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Tensor, f"__{_name}__", _binary(getattr(operator, _name), compares=True))
for _name in ("add", "sub", "mul", "truediv", "and", "or"):
    _operate = _binary(getattr(operator, f"__{_name}__"))
    setattr(Tensor, f"__{_name}__", _operate)
    setattr(Tensor, f"__i{_name}__", _in_place(_operate))


def _promoted(self: Tensor, other: Any) -> dtype:
    """Return the type of a result (https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc).

    A number counts only where its category is higher: bools, whole numbers, floats.
    """
    kind = _scalar(other).dtype
    if kind is self.dtype:
        return kind
    if isinstance(other, Tensor):
        raise TorchNeeded(f"{self.dtype} with {kind}")
    ranks = [2 if one.is_floating_point else builtins.int(one is not _BOOL) for one in (self.dtype, kind)]
    return kind if ranks[1] > ranks[0] else self.dtype


def _scalar(value: Any) -> Tensor:
    """Return a number as a tensor of torch's default type for it."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, builtins.bool | numpy.bool_):
        return Tensor(numpy.asarray(value, numpy.bool_))
    if isinstance(value, builtins.int | numpy.integer):
        return Tensor(numpy.asarray(value, numpy.int64))
    return Tensor(numpy.asarray(value, numpy.float32))


def _upper_halves(floats: _Array) -> _Array:
    """Round float32 numbers to the nearest bfloat16, of two to the even one, as their bits."""
    bits = floats.view(numpy.uint32)
    rounded = (bits + (0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)
    return numpy.where(numpy.isnan(floats), numpy.uint16(0x7FC0), rounded)


def _index(key: Any) -> tuple[Any, ...]:
    """Return the key for NumPy's array; it ends in an ellipsis, so that a single number is a view as well."""
    parts = key if isinstance(key, tuple) else (key,)
    found = tuple(part._numbers if isinstance(part, Tensor) else part for part in parts)
    return found if any(part is Ellipsis for part in found) else (*found, Ellipsis)


def _sizes(sizes: Sequence[Any]) -> tuple[int, ...]:
    first = sizes[0] if len(sizes) == 1 else None
    return tuple(first) if isinstance(first, tuple | list) else tuple(map(builtins.int, sizes))


def _check_device(place: Any) -> None:
    if not isinstance(place, device):
        device(place)


def empty(*shape: Any, dtype: Any = None, device: Any = _CPU, pin_memory: bool = False) -> Tensor:
    """Return memory that begins where a cache line does, as torch's."""
    _check_device(device or _CPU)
    sizes, kind = _sizes(shape), dtype or _FLOAT32
    size_bytes = math.prod(sizes) * kind.itemsize
    memory = numpy.empty(size_bytes + _ALIGNMENT_BYTES, numpy.uint8)
    start = -memory.ctypes.data % _ALIGNMENT_BYTES
    return Tensor(memory[start : start + size_bytes].view(kind.stored).reshape(sizes), kind)


def _filled(value: Any) -> Callable[..., Tensor]:
    return lambda *shape, dtype=None, device=None: empty(*shape, dtype=dtype, device=device).fill_(value)


zeros, ones = _filled(0), _filled(1)


def empty_like(tensor: Tensor, dtype: Any = None, device: Any = None) -> Tensor:
    return empty(tensor.shape, dtype=dtype or tensor.dtype, device=device)


def tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Return a tensor of its own of numbers, or of lists of them, one in another."""
    _check_device(device or _CPU)
    if isinstance(data, Tensor):
        return data.to(dtype or data.dtype, copy=True)
    array = numpy.array(data, None if dtype is None or not dtype.native else dtype.stored)
    if dtype is None and array.dtype == numpy.float64 and not isinstance(data, numpy.ndarray):
        array = array.astype(numpy.float32)  # torch's default
    found = Tensor(array)
    return found if dtype is None else found.to(dtype)


def from_numpy(array: _Array) -> Tensor:
    return Tensor(array)


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0) -> Tensor:
    return Tensor(numpy.frombuffer(buffer, dtype.stored, count, offset), dtype)


def arange(*ends: int, dtype: Any = None, device: Any = None) -> Tensor:
    _check_device(device or _CPU)
    if not all(isinstance(end, builtins.int) for end in ends):
        raise TorchNeeded("a range of floats")
    return Tensor(numpy.arange(*ends, dtype=numpy.int64)).to(dtype or _INT64)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    if len({one.dtype for one in tensors}) > 1:
        raise TorchNeeded("parts of several types")
    # (0,) is nothing, whatever the others' shape is.
    some = [one._array for one in tensors if one._array.shape != (0,)] or [tensors[0]._array]
    return tensors[0]._like(numpy.concatenate(some, dim))


def where(condition: Tensor, first: Any, second: Any) -> Tensor:
    kind = _promoted(second, first) if isinstance(second, Tensor) else _promoted(first, second)
    both = (_scalar(one).to(kind)._array for one in (first, second))
    return Tensor(numpy.where(condition._numbers, *both), kind)


def isin(elements: Tensor, wanted: Tensor) -> Tensor:
    return Tensor(numpy.isin(elements._numbers, wanted._numbers))


def split(tensor: Tensor, sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    ends = list(accumulate(sizes, initial=0))
    if ends[-1] != tensor.shape[dim]:
        raise ValueError(f"parts of {list(sizes)} are not {tensor.shape[dim]}")
    return tuple(tensor.narrow(dim, start, end - start) for start, end in pairwise(ends))


class inference_mode:
    """A mode without gradients, which is the only one here: a decorator, and a context."""

    def __init__(self, mode: bool = True) -> None:
        pass

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


_threads = psutil.cpu_count(logical=False) or 1


def get_num_threads() -> int:
    return _threads


def set_num_threads(count: int) -> None:
    global _threads
    _threads = count


class _Part(ModuleType):
    """A part of torch of which there is what the arguments name, and nothing else."""

    def __init__(self, name: str, **content: Any) -> None:
        super().__init__(name)
        vars(self).update(content)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # imports look for some of these
            raise AttributeError(f"{self.__name__} has no {name}")
        raise TorchNeeded(f"{self.__name__}.{name}")


def _nowhere(name: str) -> _Part:
    return _Part(f"torch.{name}", is_available=lambda: False)


cuda, xpu, accelerator, cpu = map(_nowhere, ("cuda", "xpu", "accelerator", "cpu"))
backends = _Part(
    "torch.backends", mps=_nowhere("backends.mps"), cuda=_Part("torch.backends.cuda", enable_cudnn_sdp=lambda on: None)
)
nn = _Part("torch.nn", functional=_Part("torch.nn.functional"))


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"torch has no {name} here")
    raise TorchNeeded(f"torch.{name}")


def _installed() -> tuple[str, dict[str, str]] | None:
    """Return torch's version and what it was built for, from its files; None where there are none."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    try:
        lines = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    facts = dict(line.partition("=")[::2] for line in lines if "=" in line)
    plain = {name.partition(":")[0].strip(): value.strip(" '\"") for name, value in facts.items()}
    return plain.pop("__version__", ""), plain


def can_install() -> bool:
    """Return whether this process may do without torch: on Linux, where the installed one knows no GPU."""
    if "torch" in sys.modules or sys.platform != "linux":
        return False
    found = _installed()
    return found is not None and all(found[1].get(kind, "None") == "None" for kind in ("cuda", "hip", "xpu"))


def install() -> None:
    """Put this module into torch's place, before anything imports torch in this process."""
    found = _installed()
    own = sys.modules[__name__]
    # Figures that were measured with this torch hold for this process: it computes the same.
    own.__version__ = "" if found is None else found[0]  # type: ignore[attr-defined]
    own.version = _Part("torch.version", cuda=None, hip=None)  # type: ignore[attr-defined]
    sys.modules |= {"torch": own, "torch.nn": nn, "torch.nn.functional": nn.functional}


def installed() -> bool:
    """Return whether this process runs without torch."""
    return sys.modules.get("torch") is sys.modules[__name__]
