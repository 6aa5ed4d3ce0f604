"""A whole layer against float64, on every instruction set that this machine has, and what its results depend on."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from engine.kernels import blocks, layer, library
from engine.kernels.library import Matrix
from engine.model.attention import Ends
from engine.model.fused_layer import FusedMixture, fused_step, fused_text
from engine.model.linear import JoinedLinear, PackedLinear
from engine.model.mixture import Experts, Mixture, mix
from engine.model.rope import Rotation
from tests.support.fast_cases import chosen, covering
from tests.support.matrices import matrix

pytestmark = pytest.mark.skipif(library.available() is None, reason=library.reason())

FORMATS = ("Q8_0", "Q4_1", "Q6_K", "F16", "BF16")
NORMS = ("attention_norm", "mlp_norm", "query_norm", "key_norm", "attention_end_norm", "mlp_end_norm")
ROWS = 256
LONG_ROWS = 1300  # several of the attention's chunks of 512 keys


@dataclass(frozen=True)
class Shape:
    hidden: int = 256
    wide: int = 256
    heads: int = 8
    kv_heads: int = 2
    head_dim: int = 32
    rotated: int = 32
    activation: str = "silu"
    soft_cap: float = 0.0
    window: int = 0
    norms: tuple[str, ...] = NORMS[:2]
    bias: bool = False
    sinks: bool = False
    mixture: Mixture | None = None


SOFTMAX = Mixture(experts=11, chosen=3, width=96, layers=(True,))
SHARES = replace(SOFTMAX, experts=5, chosen=2, normalised=False, shared_width=256, shared_gate=True)
SIGMOID = Mixture(
    experts=12,
    chosen=3,
    width=64,
    layers=(True,),
    scores="sigmoid",
    sum_floor=1e-20,
    scale=1.8,
    groups=4,
    chosen_groups=2,
    corrected=True,
    shared_width=256,
)
SCALED = replace(SIGMOID, groups=1, chosen_groups=1, normalised=False, scaled=True, sum_floor=0.0, shared_width=0)
MIXTURES = (SOFTMAX, SHARES, SIGMOID, SCALED)


@dataclass(frozen=True)
class TextRows:
    """New rows of a text behind its committed and pending ones."""

    hidden: Tensor
    cache: Tensor
    length: int
    mask: Tensor | None = None
    pending: int = 0


class RandomLayer:
    """A layer with random weights, as the kernel takes it and as float64 has it."""

    def __init__(self, shape: Shape, form: str, mixed: str | None = None) -> None:
        self.shape = shape
        generator = torch.Generator().manual_seed(1)
        q, kv = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
        sizes = {
            "q": (q, shape.hidden),
            "k": (kv, shape.hidden),
            "v": (kv, shape.hidden),
            "output": (shape.hidden, q),
            "gate": (shape.wide, shape.hidden),
            "up": (shape.wide, shape.hidden),
            "down": (shape.hidden, shape.wide),
        }
        widths = {"query_norm": shape.head_dim, "key_norm": shape.head_dim}
        self.gains = {
            name: torch.rand(widths.get(name, shape.hidden), generator=generator) + 0.5 for name in shape.norms
        }
        mixture = shape.mixture
        if mixture is not None and not mixture.shared_width:
            for name in ("gate", "up", "down"):
                del sizes[name]
        self.packed, self.biases = {}, {}
        for seed, (name, (rows, columns)) in enumerate(sizes.items()):
            type_name = mixed if mixed and name in ("v", "down") else form
            made = matrix(type_name, rows, columns, seed)
            # Scales are such that outputs are about as large as inputs.
            size = float(blocks.unpack(made).std()) * columns**0.5
            self.packed[name] = matrix(type_name, rows, columns, seed, 0.02 / size)
            self.biases[name] = torch.randn(rows, generator=generator) if shape.bias else None
        self.weights = {name: blocks.unpack(packed).double() for name, packed in self.packed.items()}
        self.scaled = {name: gain * len(gain) ** 0.5 for name, gain in self.gains.items()}
        matrices = {name: Matrix.of(packed, self.biases[name]) for name, packed in self.packed.items()}
        self.experts = None if mixture is None else random_experts(mixture, shape.hidden, form)
        self.sinks = 2.0 + torch.randn(shape.heads, generator=generator) if shape.sinks else None
        self._mixture = None
        if self.experts is not None:
            self._mixture = FusedMixture(mixture, self.experts)
        self.structure = layer.Layer(
            mixture=None if self._mixture is None else ctypes.addressof(self._mixture.structure),
            **{name: getattr(shape, name) for name in ("hidden", "heads", "kv_heads", "head_dim", "soft_cap")},
            **{name: gain.data_ptr() for name, gain in self.scaled.items()},
            sinks=None if self.sinks is None else self.sinks.data_ptr(),
            **matrices,
            norm_floor=1e-5 * shape.hidden,
            head_norm_floor=1e-5 * shape.head_dim,
            end_norm_floor=1e-5 * shape.hidden,
            scale=shape.head_dim**-0.5,
            residual_scale=1.0,
            activation=layer.ACTIVATIONS[shape.activation],
        )

    def cache(self, rows: int = ROWS, eight_bits: bool = False) -> Tensor:
        if eight_bits:  # ones everywhere make every scale a NaN
            width = layer.row_bytes_8_bits(self.shape.head_dim)
            return torch.full((2, self.shape.kv_heads, rows, width), -1, dtype=torch.int8)
        return torch.full((2, self.shape.kv_heads, rows, self.shape.head_dim), torch.nan, dtype=torch.bfloat16)

    def run(self, hidden: Tensor, cache: Tensor, length: int, mask: Tensor | None = None, pending: int = 0) -> Tensor:
        """The kernel's result for new rows behind `length` committed and `pending` uncommitted ones."""
        return self.run_together([TextRows(hidden, cache, length, mask, pending)])[0]

    def run_together(self, texts: Sequence[TextRows]) -> list[Tensor]:
        """The kernel's results for new rows of several texts."""
        positions, described = [], []
        for text in texts:
            count = len(text.hidden)
            chain = torch.ones(count, text.pending + count, dtype=torch.bool).tril(text.pending)
            positions.append(text.length - 1 + (chain if text.mask is None else text.mask).sum(1))
            described.append(fused_text(count, text.mask, text.cache, text.length, text.pending))
        rotation = rotations(torch.cat(positions), self.shape.rotated)
        step = fused_step(described, texts[0].cache.dtype, self.shape.window or None, rotation)
        out = torch.cat([text.hidden for text in texts])
        addresses = [(ctypes.c_void_p * 1)(text.cache.data_ptr()) for text in texts]
        layer.forward(self.structure, step.step, layer.stores(addresses), 0, out)
        return list(out.split([len(text.hidden) for text in texts]))


def random_experts(mixture: Mixture, hidden: int, form: str) -> Experts:
    """The experts of a layer; a router whose choices are rarely nearly even."""

    def linear(rows: int, columns: int, seed: int) -> PackedLinear:
        size = float(blocks.unpack(matrix(form, rows, columns, seed)).std()) * columns**0.5
        return PackedLinear(matrix(form, rows, columns, seed, 0.02 / size))

    def network(seed: int) -> tuple[JoinedLinear, PackedLinear]:
        gate, up = (linear(mixture.width, hidden, seed + part) for part in (0, 1))
        return JoinedLinear([gate, up]), linear(hidden, mixture.width, seed + 2)

    networks = [network(100 + 3 * index) for index in range(mixture.experts)]
    generator = torch.Generator().manual_seed(11)
    return Experts(
        router=PackedLinear(matrix("F16", mixture.experts, hidden, 90, 0.1)),
        gate_up=tuple(gate_up for gate_up, _ in networks),
        down=tuple(down for _, down in networks),
        shared_gate=PackedLinear(matrix("F16", 1, hidden, 91, 0.1)) if mixture.shared_gate else None,
        correction=torch.rand(mixture.experts, generator=generator) if mixture.corrected else None,
        scale=torch.rand(mixture.experts, generator=generator) + 0.5 if mixture.scaled else None,
    )


def rotations(positions: Tensor, rotated: int) -> Rotation | None:
    if not rotated:
        return None
    angles = positions[:, None] * 100.0 ** (-torch.arange(0, rotated, 2) / rotated)
    cosine, sine = angles.cos(), angles.sin()
    return torch.cat((cosine, cosine), 1)[:, None], torch.cat((-sine, sine), 1)[:, None], None


def reference(made: RandomLayer, hidden: Tensor) -> Tensor:
    """The layer over a whole text in float64, but for the cache's bfloat16."""
    shape, count = made.shape, len(hidden)

    def norm(name: str, x: Tensor) -> Tensor:
        gain = made.gains.get(name)
        return x if gain is None else functional.rms_norm(x, (x.shape[-1],), gain.double(), 1e-5)

    def linear(name: str, x: Tensor) -> Tensor:
        bias = made.biases[name]
        return functional.linear(x, made.weights[name], None if bias is None else bias.double())

    def stored(x: Tensor) -> Tensor:
        return x.float().to(torch.bfloat16).double()

    x = hidden.double()
    normed = norm("attention_norm", x)
    queries, keys, values = (linear(part, normed).view(count, -1, shape.head_dim) for part in "qkv")
    queries, keys = norm("query_norm", queries), norm("key_norm", keys)
    rotation = rotations(torch.arange(count), shape.rotated)
    if rotation is not None:
        cosine, sine = rotation[0].double(), rotation[1].double()

        def turn(heads: Tensor) -> Tensor:
            a, b = heads[..., : shape.rotated].chunk(2, -1)
            turned = heads[..., : shape.rotated] * cosine + torch.cat((b, a), -1) * sine
            return torch.cat((turned, heads[..., shape.rotated :]), -1)

        queries, keys = turn(queries), turn(keys)
    group = shape.heads // shape.kv_heads
    keys, values = (stored(part).repeat_interleave(group, 1).transpose(0, 1) for part in (keys, values))
    scores = queries.transpose(0, 1) @ keys.transpose(1, 2) * shape.head_dim**-0.5
    if shape.soft_cap:
        scores = shape.soft_cap * torch.tanh(scores / shape.soft_cap)
    distance = torch.arange(count)[:, None] - torch.arange(count)
    seen = (distance >= 0) & (distance < (shape.window or count))
    scores = scores.masked_fill(~seen, -torch.inf)
    if made.sinks is not None:
        scores = torch.cat((scores, made.sinks.double()[:, None, None].expand(-1, count, 1)), -1)
    mixed = scores.softmax(-1)[..., :count] @ values
    x = x + norm("attention_end_norm", linear("output", mixed.transpose(0, 1).flatten(1)))
    normed = norm("mlp_norm", x)

    def network(gate: Tensor, up: Tensor) -> Tensor:
        match shape.activation:
            case "silu":
                return functional.silu(gate) * up
            case "gelu":
                return functional.gelu(gate) * up
            case "clamped_swiglu":
                gate = gate.clamp(max=7.0)
                return gate * torch.sigmoid(1.702 * gate) * (up.clamp(-7.0, 7.0) + 1.0)
            case _:
                return functional.gelu(gate, approximate="tanh") * up

    mapped = torch.zeros_like(x)
    if "down" in made.weights:
        mapped = linear("down", network(linear("gate", normed), linear("up", normed)))
    if made.experts is not None:
        assert shape.mixture is not None

        def exact(part: Any, rows: Tensor) -> Tensor:
            if isinstance(part, JoinedLinear):
                return torch.cat([exact(one, rows) for one in part.parts], -1)
            return functional.linear(rows, blocks.unpack(part.matrix).double())

        def expert(gate_up: Any, down: Any, rows: Tensor) -> Tensor:
            return exact(down, network(*exact(gate_up, rows).chunk(2, -1)))

        if made.experts.shared_gate is not None:
            mapped = mapped * exact(made.experts.shared_gate, normed).sigmoid()
        router = partial(exact, made.experts.router)
        mapped = mapped + mix(shape.mixture, replace(made.experts, router=router), normed, normed, expert)
    return x + norm("mlp_end_norm", mapped)


@pytest.mark.parametrize(
    "shape",
    [
        Shape(),
        Shape(activation="gelu", bias=True, kv_heads=8),
        Shape(activation="gelu_tanh", norms=NORMS, soft_cap=2.0, window=37),
        Shape(head_dim=16, rotated=8, heads=8, kv_heads=1),
        Shape(head_dim=80, rotated=0, heads=3, kv_heads=1, hidden=70, wide=90, norms=NORMS[:4]),
        Shape(norms=NORMS[1:2]),
        Shape(head_dim=128, rotated=128, heads=10, kv_heads=2, window=1),
        *(Shape(mixture=mixture) for mixture in MIXTURES),
        Shape(sinks=True, activation="clamped_swiglu", window=9),
    ],
    ids=str,
)
def test_a_layer_agrees_with_float64(instruction_set: str, shape: Shape) -> None:
    made, cache = RandomLayer(shape, "F16"), RandomLayer(shape, "F16").cache()
    hidden = torch.randn(150, shape.hidden, generator=torch.Generator().manual_seed(2))
    parts = [made.run(part, cache, start) for part, start in zip(hidden.split(50), (0, 50, 100), strict=True)]
    expected = reference(made, hidden)
    # A value near the middle of two bfloat16 is stored as either, and experts that are nearly equal change places.
    errors = (torch.cat(parts) - expected).abs().amax(1)
    assert (errors >= 2e-3 * expected.abs().max()).sum() <= (0 if shape.mixture is None else 2)


def path_mask(parents: Sequence[int]) -> Tensor:
    """(N, N) bool: each node of a tree sees its ancestors and itself."""
    mask = torch.eye(len(parents), dtype=torch.bool)
    for node, parent in enumerate(parents):
        if parent >= 0:
            mask[node] |= mask[parent]
    return mask


@pytest.mark.parametrize(
    ("form", "shape"),
    covering(
        FORMATS,
        [
            *(Shape(window=window, norms=NORMS) for window in (0, 5, 70)),
            *(Shape(mixture=replace(mixture, width=256)) for mixture in MIXTURES),
        ],
        together=1,
    ),
    ids=str,
)
def test_a_row_depends_on_its_path_alone(instruction_set: str, form: str, shape: Shape) -> None:
    made = RandomLayer(shape, form, "Q6_K" if form == "Q4_1" else None)
    generator = torch.Generator().manual_seed(3)
    text, other = torch.randn(2, 75, made.shape.hidden, generator=generator)
    one_cache, cache = made.cache(), made.cache()
    one_by_one = torch.cat([made.run(text[row : row + 1], one_cache, row) for row in range(75)])

    assert torch.equal(made.run(text[:62], cache, 0), one_by_one[:62])
    # Rows 0, 2, 3, 5 of a tree are the text's next four; the others are siblings with other contents.
    tree = torch.cat((text[62:63], other[:1], text[63:65], other[1:2], text[65:66], other[2:4]))
    parents = (-1, -1, 0, 2, 2, 3, 5, 4)
    mask = path_mask(parents)
    out = made.run(tree, cache, 62, mask)
    assert torch.equal(out[[0, 2, 3, 5]], one_by_one[62:66])

    tree[[1, 4, 6, 7]] *= -3
    assert torch.equal(made.run(tree, cache, 62, mask)[[0, 2, 3, 5]], out[[0, 2, 3, 5]])


@pytest.mark.parametrize(
    ("form", "shape", "threads"),
    covering(
        ["Q4_1", "F16"],
        [Shape(), Shape(window=70, norms=NORMS), Shape(mixture=replace(SOFTMAX, width=256))],
        [1, 9],
        together=1,
    ),
    ids=str,
)
def test_a_row_does_not_depend_on_the_texts_beside_it(
    instruction_set: str, form: str, shape: Shape, threads: int
) -> None:
    """Texts of other lengths, some cut into chunks and some in caches that have grown, trees and pending rows."""
    made = RandomLayer(shape, form)
    generator = torch.Generator().manual_seed(6)
    tree = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 1]], dtype=torch.bool)
    texts = []
    for length, pending, count, mask in (
        (1150, 0, 1, None),
        (0, 0, 40, None),
        (30, 0, 4, tree),
        (513, 0, 4, tree),
        (64, 2, 3, None),
        (64, 0, 1, None),
    ):
        cache = made.cache(LONG_ROWS if length > ROWS - 50 else ROWS, eight_bits=shape.window > 0)
        before, new = torch.randn(length + pending, 256, generator=generator), count
        if length:
            made.run(before[:length], cache, 0)
        if pending:
            made.run(before[length:], cache, length)
        texts.append(TextRows(torch.randn(new, 256, generator=generator), cache, length, mask, pending))
    alone = [made.run_together([text])[0] for text in texts]
    before_threads = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for some in (range(6), (5, 4, 3, 2, 1, 0), (0, 1), (3, 0, 5)):
            together = made.run_together([texts[index] for index in some])
            for index, out in zip(some, together, strict=True):
                assert torch.equal(out, alone[index]), (index, some)
    finally:
        torch.set_num_threads(before_threads)


@pytest.mark.parametrize(
    ("shape", "eight_bits"),
    covering(
        [Shape(), Shape(window=600, head_dim=80, heads=2, kv_heads=1), Shape(sinks=True)],
        [False, True],
        together=1,
    ),
    ids=str,
)
def test_a_row_depends_on_its_path_alone_in_long_texts(instruction_set: str, shape: Shape, eight_bits: bool) -> None:
    made = RandomLayer(shape, "Q8_0")
    text = torch.randn(1240, shape.hidden, generator=torch.Generator().manual_seed(7))
    caches = [made.cache(LONG_ROWS, eight_bits) for _ in range(2)]
    # Read in pieces of other sizes, and with so many threads that keys are split.
    whole = torch.cat([made.run(text[at : at + 310], caches[0], at) for at in range(0, 1240, 310)])
    before = torch.get_num_threads()
    torch.set_num_threads(9)
    pieces = [made.run(text[at : at + 200], caches[1], at) for at in range(0, 1000, 200)]
    for start in (1000, 1023, 1024, 1025):
        pieces.append(made.run(text[start : start + 1], caches[1], start))
        if start == 1000:
            pieces.append(made.run(text[1001:1023], caches[1], 1001))
    # Of a tree, the text's next four behind each other among siblings.
    tree = torch.cat((text[1026:1027], text[:1], text[1027:1029], text[1:2], text[1029:1030]))
    pieces.append(made.run(tree, caches[1], 1026, path_mask((-1, -1, 0, 2, 2, 3)))[[0, 2, 3, 5]])
    torch.set_num_threads(before)
    assert torch.equal(torch.cat(pieces), whole[:1030])


@pytest.mark.parametrize(
    ("shape", "eight_bits"),
    covering([Shape(), Shape(window=40, head_dim=80, heads=6, kv_heads=2)], [False, True], together=1),
    ids=str,
)
def test_a_row_of_a_wide_tree_depends_on_its_path_alone(instruction_set: str, shape: Shape, eight_bits: bool) -> None:
    made = RandomLayer(shape, "Q8_0")
    text = torch.randn(620, shape.hidden, generator=torch.Generator().manual_seed(10))
    caches = [made.cache(LONG_ROWS, eight_bits) for _ in range(2)]
    whole = torch.cat([made.run(part, caches[0], at) for at, part in zip((0, 310), text.split(310), strict=True)])
    # Chunks of keys that are a tree's in part, in whole, and across the border of two; one and many tokens of an item.
    before = torch.get_num_threads()
    for length, threads in ((500, 1), (511, 2), (512, 9), (570, 2)):
        torch.set_num_threads(threads)
        made.run(text[:length], caches[1], 0)
        # A chain of 40, and a sibling beside every other node, of which the next is a child.
        tokens, parents, chain, node = [], [], [], -1
        for at in range(length, length + 40):
            if at % 2:
                tokens.append(text[at - 100])
                parents.append(chain[-2] if len(chain) > 1 else -1)
            tokens.append(text[at])
            parents.append(node)
            node = len(tokens) - 1
            chain.append(node)
        rows = made.run(torch.stack(tokens), caches[1], length, path_mask(parents))[chain]
        torch.set_num_threads(before)
        assert torch.equal(rows, whole[length : length + 40])


@pytest.mark.parametrize(
    "shape",
    chosen([Shape(), Shape(window=600, soft_cap=2.0), Shape(head_dim=80, heads=2)], (Shape(window=600, soft_cap=2.0),)),
    ids=str,
)
def test_long_texts_agree_with_float64(instruction_set: str, shape: Shape) -> None:
    made = RandomLayer(shape, "Q8_0")
    hidden = torch.randn(1240, shape.hidden, generator=torch.Generator().manual_seed(8))
    expected = reference(made, hidden)
    for eight_bits, allowed in ((False, 2e-2), (True, 4e-2)):
        cache = made.cache(LONG_ROWS, eight_bits)
        found = torch.cat([made.run(hidden[at : at + 310], cache, at) for at in range(0, 1240, 310)])
        assert (found - expected).abs().max() < allowed * expected.abs().max()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("mixture", [None, SHARES], ids=["dense", "experts"])
def test_the_number_of_threads_changes_nothing(form: str, mixture: Mixture | None) -> None:
    made = RandomLayer(Shape(mixture=mixture and replace(mixture, width=256)), form)
    hidden = torch.randn(20, made.shape.hidden, generator=torch.Generator().manual_seed(4))
    before = torch.get_num_threads()
    results = []
    for threads in (1, 2, 5):
        torch.set_num_threads(threads)
        results.append(made.run(hidden, made.cache(), 0))
    torch.set_num_threads(before)
    assert torch.equal(results[0], results[1])
    assert torch.equal(results[0], results[2])


@pytest.mark.parametrize(
    ("form", "poison", "mixture"), covering(FORMATS, [torch.nan, torch.inf], [None, SIGMOID]), ids=str
)
def test_a_nan_stays_in_its_path(instruction_set: str, form: str, poison: float, mixture: Mixture | None) -> None:
    made = RandomLayer(Shape(mixture=mixture and replace(mixture, width=256)), form)
    hidden = torch.randn(4, made.shape.hidden, generator=torch.Generator().manual_seed(5))
    mask = torch.eye(4, dtype=torch.bool)
    mask[3, 1] = True
    clean = made.run(hidden, made.cache(), 0, mask)
    hidden[1, 7] = poison
    out = made.run(hidden, made.cache(), 0, mask)
    assert torch.equal(out[[0, 2]], clean[[0, 2]])
    assert out[[1, 3]].isnan().all()


@pytest.mark.parametrize("eight_bits", [False, True], ids=["bf16", "8 bits"])
def test_a_nan_in_a_prompt_reaches_what_follows_alone(instruction_set: str, eight_bits: bool) -> None:
    made = RandomLayer(Shape(window=20), "Q8_0")
    hidden = torch.randn(60, made.shape.hidden, generator=torch.Generator().manual_seed(9))
    clean = made.run(hidden, made.cache(eight_bits=eight_bits), 0)
    hidden[30, 7] = torch.nan
    out = made.run(hidden, made.cache(eight_bits=eight_bits), 0)
    seen = (torch.arange(60) >= 30) & (torch.arange(60) < 50)
    assert torch.equal(out[~seen], clean[~seen])
    assert out[seen].isnan().all()


def test_rows_build_upon_uncommitted_ones() -> None:
    made = RandomLayer(Shape(window=6), "Q8_0")
    hidden = torch.randn(9, made.shape.hidden, generator=torch.Generator().manual_seed(6))
    whole, parts = made.cache(), made.cache()
    expected = made.run(hidden, whole, 0)
    made.run(hidden[:4], parts, 0)
    assert torch.equal(made.run(hidden[4:], parts, 0, pending=4), expected[4:])
    assert torch.equal(parts[:, :, :9], whole[:, :, :9])


@pytest.mark.parametrize("window", [0, 24])
@pytest.mark.parametrize("eight_bits", [False, True])
def test_rows_that_see_each_other_see_what_a_mask_says(instruction_set: str, window: int, eight_bits: bool) -> None:
    """The rows of a picture see all of it, and of what is before them as many as any row."""
    ends = torch.arange(1, 91, dtype=torch.int32)
    ends[20:60] = 60
    place = torch.arange(90)
    sees = place < ends[:, None]
    if window:
        sees &= place > place[:, None] - window
    hidden = torch.randn(90, 256, generator=torch.Generator().manual_seed(8))
    found = []
    for own_window, mask in ((window, Ends(ends)), (0, sees)):
        made = RandomLayer(Shape(rotated=0, window=own_window), "Q8_0")
        cache, out = made.cache(eight_bits=eight_bits), hidden.clone()
        step = fused_step([fused_text(90, mask, cache, 0)], cache.dtype, own_window or None, None)
        layer.forward(made.structure, step.step, layer.stores([(ctypes.c_void_p * 1)(cache.data_ptr())]), 0, out)
        found.append(out)
    torch.testing.assert_close(*found, atol=1e-4, rtol=1e-4)
