"""Text of the compute shaders (WGSL). One is made for each block type, from where a block has its bits and scales.

A matrix lies in planes, so that all but a lone scale is read in whole words: each field of elements' bits, the bytes of
finer scales, and the numbers in half precision, each of all blocks one after the other. Bits and values are a file's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from engine.kernels import blocks

F16, BF16 = blocks.NAMES["F16"], blocks.NAMES["BF16"]
#: Scale ``s`` and summand ``a`` of the elements of block ``b`` from ``e`` on, by type; ``h`` has the block's numbers in
#: half precision, and ``fine`` reads a byte of its finer scales. Source: ggml-quants.c of llama.cpp, dequantize_row_*.
_K_SCALES = """
    let j = e / 32u; let low = fine(b, j & 3u); let high = fine(b, (j & 3u) + 4u); let both = fine(b, (j & 3u) + 8u);
    let sc = select((both & 15u) | ((low >> 6u) << 4u), low & 63u, j < 4u);
    let mn = select((both >> 4u) | ((high >> 6u) << 4u), high & 63u, j < 4u);
    s = h.x * f32(sc); a = -h.y * f32(mn);"""
_SCALES = {
    **dict.fromkeys(("Q4_0", "Q5_0", "Q8_0", "IQ4_NL"), "s = h.x;"),
    **dict.fromkeys(("Q4_1", "Q5_1"), "s = h.x; a = h.y;"),
    "Q2_K": "let f = fine(b, e / 16u); s = h.x * f32(f & 15u); a = -h.y * f32(f >> 4u);",
    "Q3_K": """
    let j = e / 16u; let low = (fine(b, j & 7u) >> (4u * (j / 8u))) & 15u;
    s = h.x * (f32(low | (((fine(b, 8u + (j & 3u)) >> (2u * (j / 4u))) & 3u) << 4u)) - 32.0);""",
    **dict.fromkeys(("Q4_K", "Q5_K"), _K_SCALES),
    "Q6_K": "s = h.x * f32(extractBits(i32(fine(b, e / 16u)), 0u, 8u));",
    "IQ4_XS": """
    let j = e / 32u; let low = (fine(b, 2u + j / 2u) >> (4u * (j & 1u))) & 15u;
    s = h.x * (f32(low | (((fine(b, j / 4u) >> (2u * (j & 3u))) & 3u) << 4u)) - 32.0);""",
    "MXFP4": "let f = fine(b, 0u); s = bitcast<f32>(select((f - 1u) << 23u, 0x00200000u << f, f < 2u));",
}
#: Numbers of the types that the shaders multiply.
TYPES = frozenset(map(blocks.NAMES.__getitem__, _SCALES)) | {F16, BF16}
#: Rows of activations that share a reading of the weights, where there are at least so many; and the side of tiles.
SHARED_ROWS, TILE = (8, 4, 2, 1), 32
#: Rows of weights of a workgroup that multiplies few rows.
WORKGROUP_ROWS = 4


@dataclass(frozen=True)
class _Planes:
    """Bytes of a block, by plane."""

    fields: tuple[slice, ...]
    fine: tuple[slice, ...]  # what is in no other plane
    halves: tuple[int, ...]

    @classmethod
    def of(cls, type: int) -> _Planes:
        elements, size = blocks.block_of(type)
        halves, fields = blocks.places_of(type)
        found = tuple(slice(first, first + elements * bits // 8) for bits, first, _ in fields)
        ends = sorted([*((one.start, one.stop) for one in found), *((at, at + 2) for at in halves), (size, size)])
        fine, last = [], 0
        for start, stop in ends:
            if start > last:
                fine.append(slice(last, start))
            last = stop
        return cls(found, tuple(fine), halves)

    @property
    def fine_bytes(self) -> int:
        return sum(one.stop - one.start for one in self.fine)


def arrange(type: int, raw: Tensor, rows: int, columns: int) -> Tensor:
    """Put rows of a file, uint8, in planes; the result is uint8 too, and fills whole words."""
    if type in (F16, BF16):
        return _filled(raw.reshape(-1))
    planes = _Planes.of(type)
    each = raw.reshape(rows * columns // blocks.block_of(type)[0], -1)
    parts = [each[:, one].reshape(-1) for one in planes.fields]
    if planes.fine:
        parts.append(torch.cat([each[:, one] for one in planes.fine], 1).reshape(-1))
    if planes.halves:
        parts.append(torch.cat([each[:, at : at + 2] for at in planes.halves], 1).reshape(-1))
    return torch.cat([_filled(part) for part in parts])


def _filled(part: Tensor) -> Tensor:
    return torch.cat([part, part.new_zeros(-len(part) % 4)])


@lru_cache
def _weights(type: int) -> str:
    """Return the functions that read four weights of a row, columns 4 q to 4 q + 3."""
    if type in (F16, BF16):
        word = "unpack2x16float({0})" if type == F16 else "bitcast<vec2<f32>>(vec2({0} << 16u, {0} & 0xffff0000u))"
        first, second = (word.format(f"w[at + {one}u]") for one in range(2))
        return f"""
fn weights4(row: u32, q: u32) -> vec4<f32> {{
    let at = row * m.columns / 2u + 2u * q;
    return vec4({first}, {second});
}}"""
    elements, _ = blocks.block_of(type)
    planes, (zero, table) = _Planes.of(type), blocks.values_of(type)
    _, fields = blocks.places_of(type)
    lines, base, below = [], "0u", 0
    for bits, _, width in fields:
        words, each = elements * bits // 32, 8 // bits
        mask = (1 << bits) - 1
        if width == 1:
            lines.append(f"let f{below} = (vec4(w[{base} + b * {words}u + e * {bits}u / 32u] >> (e * {bits}u & 31u))")
            lines[-1] += f" >> vec4(0u, {bits}u, {2 * bits}u, {3 * bits}u)) & vec4({mask}u);"
        else:
            byte = f"(e / {width * each}u * {width}u + e % {width}u)"
            word = f"w[{base} + b * {words}u + {byte} / 4u] >> (e / {width}u % {each}u * {bits}u)"
            lines.append(f"let f{below} = unpack4xU8(({word}) & {mask * 0x01010101}u);")
        base += f" + n * {words}u"
        below += bits
    shifts = [sum(bits for bits, _, _ in fields[:at]) for at in range(len(fields))]
    bits_of = " | ".join(f"(f{shift} << vec4({shift}u))" for shift in shifts)
    head = ""
    if table:  # of 16 bytes, in words
        held = torch.tensor(table, dtype=torch.int8).view(torch.int32).tolist()
        head = f"const TABLE = vec4<u32>({', '.join(f'{word & 0xFFFFFFFF}u' for word in held)});"
        found = (f"extractBits(i32(TABLE[v.{one} >> 2u]), 8u * (v.{one} & 3u), 8u)" for one in "xyzw")
        value = f"vec4<f32>(vec4({', '.join(found)}))"
    elif below == 8:
        value = "vec4<f32>(extractBits(vec4<i32>(v), 0u, 8u))"
    else:
        value = f"vec4<f32>(v) - {float(zero)}"
    scales = f"({base})"
    halves = f"{scales} + (n * {planes.fine_bytes}u + 3u) / 4u"
    if len(planes.halves) == 2:
        half = f"let h = unpack2x16float(w[{halves} + b]);"
    else:
        half = f"let h = vec2(unpack2x16float(w[{halves} + b / 2u] >> (16u * (b & 1u))).x);" if planes.halves else ""
    return f"""
{head}
fn fine(b: u32, byte: u32) -> u32 {{
    let n = m.rows * (m.columns / {elements}u);
    let at = b * {planes.fine_bytes}u + byte;
    return (w[{scales} + at / 4u] >> (8u * (at & 3u))) & 255u;
}}
fn weights4(row: u32, q: u32) -> vec4<f32> {{
    let n = m.rows * (m.columns / {elements}u);
    let b = row * (m.columns / {elements}u) + 4u * q / {elements}u;
    let e = 4u * q % {elements}u;
    {" ".join(lines)}
    let v = {bits_of};
    {half}
    var s = 1.0; var a = 0.0;
    {_SCALES[blocks.name_of(type)]}
    return s * ({value}) + a;
}}"""


def _buffers(*declared: str) -> str:
    """Declare a shader's buffers in their order: access and name of each, and its type unless it holds floats."""
    kinds = [one if ":" in one else f"{one}: array<f32>" for one in declared]
    lines = [f"@group(0) @binding({at}) var<storage, {one.replace(' ', '> ', 1)};" for at, one in enumerate(kinds)]
    return "\n" + "\n".join(lines)


_MAIN = """@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) g: vec3<u32>, @builtin(local_invocation_index) i: u32)"""
#: What a forward is about, in words, before the bits of which uncommitted rows each new row sees.
_STEP = """
struct Step { rows: u32, length: u32, pending: u32, first: u32, asked: u32, words: u32, more: array<u32> }"""
STEP_WORDS = 6
_PRODUCT_BUFFERS = _buffers(
    "read w: array<u32>", "read x: array<vec4<f32>>", "read_write y", "read bias", "read m: Matrix", "read step: Step"
)
_PRODUCT = """
struct Matrix { rows: u32, columns: u32, stride: u32, offset: u32, adds: f32, head: u32, biased: u32 }
fn put(t: u32, row: u32, sum: f32) {
    if (t >= select(step.rows, step.asked, m.head == 1u) || row >= m.rows) { return; }
    let at = t * m.stride + m.offset + row;
    var whole = sum;
    if (m.biased == 1u) { whole += bias[row]; }
    if (m.adds != 0.0) { whole = y[at] + m.adds * whole; }
    y[at] = whole;
}"""


@lru_cache
def product(type: int, shared: int) -> str:
    """Return the shader that multiplies a few rows: so many share each reading of the weights.

    A workgroup has `WORKGROUP_ROWS` rows of weights, and 16 lanes for each, which go through its columns in turns.
    """
    each = range(shared)
    sums = "\n    ".join(f"var a{t} = 0.0;" for t in each)
    terms = " ".join(f"a{t} += dot(v, x[(first + {t}u) * quarters + q]);" for t in each)
    kept = " ".join(f"part[{64 * t}u + i] = a{t};" for t in each)
    halved = " ".join(f"part[{64 * t}u + i] += part[{64 * t}u + i + s];" for t in each)
    given = " ".join(f"put(g.y * {shared}u + {t}u, row, part[{64 * t}u + i]);" for t in each)
    return f"""{_STEP}{_PRODUCT_BUFFERS}{_PRODUCT}{_weights(type)}
var<workgroup> part: array<f32, {64 * shared}>;
{_MAIN} {{
    let lane = i % 16u; let row = g.x * {WORKGROUP_ROWS}u + i / 16u;
    let first = g.y * {shared}u + m.head * step.first; let quarters = m.columns / 4u;
    {sums}
    if (row < m.rows) {{
        for (var q = lane; q < quarters; q += 16u) {{ let v = weights4(row, q); {terms} }}
    }}
    {kept}
    for (var s = 8u; s > 0u; s /= 2u) {{
        workgroupBarrier();
        if (lane < s) {{ {halved} }}
    }}
    if (lane == 0u) {{ {given} }}
}}"""


@lru_cache
def tiled_product(type: int) -> str:
    """Return the shader that multiplies many rows, in tiles of `TILE` by `TILE` results; 64 lanes have 16 each."""
    four = range(4)
    sums = " ".join(f"var a{j}{t} = 0.0;" for j in four for t in four)
    read = " ".join(
        f"let v{j} = ws[(4u * up + {j}u) * 9u + q]; let u{j} = xs[(4u * over + {j}u) * 9u + q];" for j in four
    )
    terms = " ".join(f"a{j}{t} += dot(v{j}, u{t});" for j in four for t in four)
    given = " ".join(f"put(first + 4u * over + {t}u, row + 4u * up + {j}u, a{j}{t});" for j in four for t in four)
    return f"""{_STEP}{_PRODUCT_BUFFERS}{_PRODUCT}{_weights(type)}
var<workgroup> ws: array<vec4<f32>, {9 * TILE}>;
var<workgroup> xs: array<vec4<f32>, {9 * TILE}>;
{_MAIN} {{
    let up = i / 8u; let over = i % 8u; let row = g.x * {TILE}u; let first = g.y * {TILE}u;
    let quarters = m.columns / 4u; let skipped = m.head * step.first;
    {sums}
    for (var start = 0u; start < quarters; start += 8u) {{
        for (var k = i; k < {8 * TILE}u; k += 64u) {{
            let r = k / 8u; let q = start + k % 8u;
            var v = vec4(0.0); var u = vec4(0.0);
            if (q < quarters) {{
                if (row + r < m.rows) {{ v = weights4(row + r, q); }}
                u = x[(skipped + first + r) * quarters + q];
            }}
            ws[r * 9u + k % 8u] = v; xs[r * 9u + k % 8u] = u;
        }}
        workgroupBarrier();
        for (var q = 0u; q < 8u; q++) {{ {read} {terms} }}
        workgroupBarrier();
    }}
    {given}
}}"""


def norm(width: int, floor: float, adds: bool = False) -> str:
    """Return the shader of `engine.model.linear.Norm` over rows of a width; ``floor`` is width * epsilon.

    If it adds, a factor of the sums follows the gain.
    """
    result = "x[at + c] * gain[c] * scale"
    result = f"(y[at + c] + {result}) * gain[{width}]" if adds else result
    buffers = _buffers("read x", "read gain", "read_write y")
    return f"""{buffers}
{_sum(64)}
{_MAIN} {{
    let at = g.x * {width}u;
    {_scale("x[at + c]", width, floor)}
    for (var c = i; c < {width}u; c += 64u) {{ y[at + c] = {result}; }}
}}"""


def _scale(number: str, width: int, floor: float) -> str:
    """Return the lines that find a norm's factor of the numbers ``c`` of a row."""
    return f"""var own = 0.0;
    for (var c = i; c < {width}u; c += 64u) {{ own += {number} * {number}; }}
    let scale = 1.0 / sqrt(sum(i, own) + {floor!r});"""


def _sum(lanes: int, operator: str = "part[i] + part[i + s]", name: str = "sum") -> str:
    """Return the function that joins a number of each lane of a workgroup."""
    memory = f"var<workgroup> part: array<f32, {lanes}>;" if name == "sum" else ""
    return f"""{memory}
fn {name}(i: u32, own: f32) -> f32 {{
    workgroupBarrier();
    part[i] = own;
    for (var s = {lanes // 2}u; s > 0u; s /= 2u) {{
        workgroupBarrier();
        if (i < s) {{ part[i] = {operator}; }}
    }}
    workgroupBarrier();
    return part[0];
}}"""


@dataclass(frozen=True)
class Heads:
    """Sizes of a layer's attention."""

    heads: int  # query heads
    kv_heads: int  # heads of keys, and of values
    width: int  # channels of a head
    rotated: int  # channels of these that are rotated
    scale: float  # factor of scores
    floor: float = 0.0  # width * epsilon of the norms of heads
    norms: int = 0  # kinds of heads that have norms, the first ones of queries, keys, values
    keys: bool = True  # False if another layer's keys and values are read
    values: bool = True  # False if values are what keys were mapped to
    window: int | None = None  # positions that a row sees, its own included; None for all
    soft_cap: float | None = None  # tanh cap of scores

    @property
    def stride(self) -> int:
        """Numbers of a row of queries, keys and values."""
        return (self.heads + self.kv_heads * self.keys * (1 + self.values)) * self.width

    @property
    def cache_stride(self) -> int:
        """Numbers of a row of the cache: keys, then values."""
        return 2 * self.kv_heads * self.width


def rotation(sizes: Heads) -> str:
    """Return the shader that norms and rotates queries and keys, and writes keys and values into the cache."""
    width, rotated, values = sizes.width, sizes.rotated, sizes.heads + sizes.kv_heads
    back = 0 if sizes.values else sizes.kv_heads  # to keys that are values too
    normed = f"""
    if (kind < {sizes.norms}u) {{
        {_scale("head[c]", width, sizes.floor)}
        for (var c = i; c < {width}u; c += 64u) {{ head[c] *= scale * gains[kind * {width}u + c]; }}
    }}
    workgroupBarrier();"""
    turned = f"""
        if (kind < 2u && c < {rotated}u) {{
            let turn = row + c;
            v = v * turns[turn] + head[(c + {rotated // 2}u) % {rotated}u] * turns[turn + {rotated}u];
        }}
        if (kind == 0u) {{ v *= turns[row + {2 * rotated}u]; }}"""
    buffers = _buffers("read_write qkv", "read_write cache", "read turns", "read gains", "read step: Step")
    return f"""{_STEP}{buffers}
var<workgroup> head: array<f32, {width}>;
{_sum(64)}
{_MAIN} {{
    let kind = select(select(2u, 1u, g.y < {values}u), 0u, g.y < {sizes.heads}u);
    let from_ = g.x * {sizes.stride}u + (g.y - select(0u, {back}u, kind == 2u)) * {width}u;
    let place = step.length + step.pending + g.x; let row = g.x * {2 * rotated + 1}u;
    for (var c = i; c < {width}u; c += 64u) {{ head[c] = qkv[from_ + c]; }}
    workgroupBarrier();
    {normed if sizes.norms else ""}
    for (var c = i; c < {width}u; c += 64u) {{
        var v = head[c];
        {turned if rotated else ""}
        if (kind == 0u) {{ qkv[from_ + c] = v; }}
        else {{ cache[place * {sizes.cache_stride}u + (g.y - {sizes.heads}u) * {width}u + c] = v; }}
    }}
}}"""


def attention(sizes: Heads) -> str:
    """Return the shader of attention, a workgroup for a row and a head: scores of 64 rows of the cache at a time."""
    width, kept = sizes.width, range(-(-sizes.width // 64))
    sums = " ".join(f"var a{k} = 0.0;" for k in kept)
    faded = " ".join(f"a{k} *= fade;" for k in kept)
    added = " ".join(f"if (i + {64 * k}u < {width}u) {{ a{k} += share[t] * cache[at + i + {64 * k}u]; }}" for k in kept)
    given = " ".join(f"if (i + {64 * k}u < {width}u) {{ y[out + i + {64 * k}u] = a{k} / whole; }}" for k in kept)
    window = sizes.window or 0x7FFFFFFF
    buffers = _buffers("read qkv", "read cache", "read_write y", "read step: Step")
    return f"""{_STEP}{buffers}
var<workgroup> query: array<f32, {width}>;
var<workgroup> share: array<f32, 64>;
{_sum(64)}{_sum(64, "max(part[i], part[i + s])", "largest")}
{_MAIN} {{
    let row = g.x; let total = step.length + step.pending + step.rows;
    let place = step.more[step.pending + row]; let bits = step.pending + step.rows + row * step.words;
    let of_head = g.y / {sizes.heads // sizes.kv_heads}u * {width}u;
    for (var c = i; c < {width}u; c += 64u) {{ query[c] = qkv[row * {sizes.stride}u + g.y * {width}u + c]; }}
    var most = -3.0e38; var whole = 0.0; {sums}
    workgroupBarrier();
    for (var start = (max(place, {window - 1}u) - {window - 1}u) / 64u * 64u; start < total; start += 64u) {{
        let j = start + i; var seen = j < step.length && j + {window}u > place; var score = -3.0e38;
        if (j >= step.length && j < total) {{
            let bit = j - step.length;
            seen = ((step.more[bits + bit / 32u] >> (bit & 31u)) & 1u) == 1u && step.more[bit] + {window}u > place;
        }}
        if (seen) {{
            score = 0.0; let at = j * {sizes.cache_stride}u + of_head;
            for (var c = 0u; c < {width}u; c++) {{ score += query[c] * cache[at + c]; }}
            score = {_capped(f"score * {sizes.scale!r}", sizes.soft_cap)};
        }}
        let higher = max(most, largest(i, score)); let fade = exp(most - higher);
        let own = select(0.0, exp(score - higher), seen);
        most = higher; whole = whole * fade + sum(i, own); {faded}
        share[i] = own;
        workgroupBarrier();
        for (var t = 0u; t < min(64u, total - start); t++) {{
            let at = (start + t) * {sizes.cache_stride}u + {sizes.kv_heads * width}u + of_head;
            {added}
        }}
    }}
    let out = row * {sizes.heads * width}u + g.y * {width}u;
    {given}
}}"""


def _capped(number: str, cap: float | None) -> str:
    """Return a number within a tanh cap; drivers' tanh of large numbers may be NaN, and is 1 from 10 on."""
    return number if cap is None else f"{cap!r} * tanh(clamp(({number}) / {cap!r}, -10.0, 10.0))"


#: Activations of `v` by their names.
ACTIVATIONS = {
    "silu": "v / (1.0 + exp(-v))",
    "gelu_tanh": "0.5 * v * (1.0 + tanh(clamp(0.7978845608 * (v + 0.044715 * v * v * v), -10.0, 10.0)))",
}
_GATES = {**ACTIVATIONS, "sigmoid": "1.0 / (1.0 + exp(-v))"}


def gate(width: int, activation: str, stride: int, x_stride: int, x_at: int) -> str:
    """Return the shader that multiplies activations of gates with numbers.

    Args:
        width: Numbers of a row.
        activation: A name of `ACTIVATIONS`, or ``sigmoid``.
        stride: Numbers from a row of gates to the next.
        x_stride: The same of the numbers that are multiplied.
        x_at: Place of these in a row.
    """
    buffers = _buffers("read gates", "read x", "read_write y")
    return f"""{buffers}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3<u32>) {{
    if (g.x >= {width}u) {{ return; }}
    let v = gates[g.y * {stride}u + g.x];
    y[g.y * {width}u + g.x] = {_GATES[activation]} * x[g.y * {x_stride}u + {x_at}u + g.x];
}}"""


def ranking(stride: int, size: int, most: int, soft_cap: float | None = None) -> str:
    """Return the shader that finds the likeliest tokens of a row of logits, a workgroup for a row.

    A lane has every 256th logit and offers the best that it has not given yet; equal ones go by their ids.

    Args:
        stride: Logits of a row.
        size: First logits of these that count.
        most: Tokens that are found: their ids and the logarithms of their shares, by turns.
        soft_cap: Tanh cap of logits.
    """
    buffers = _buffers("read x", "read_write y: array<u32>")
    return f"""{buffers}
fn logit(at: u32) -> f32 {{ return {_capped("x[at]", soft_cap)}; }}
var<workgroup> place: array<u32, 256>;
{_sum(256)}{_sum(256, "max(part[i], part[i + s])", "largest")}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) g: vec3<u32>, @builtin(local_invocation_index) i: u32) {{
    let row = g.x * {stride}u; var best = -3.4e38; var at = 0xffffffffu; var own = 0.0;
    for (var c = i; c < {size}u; c += 256u) {{ let v = logit(row + c); if (v > best) {{ best = v; at = c; }} }}
    let top = largest(i, best);
    for (var c = i; c < {size}u; c += 256u) {{ own += exp(logit(row + c) - top); }}
    let whole = top + log(sum(i, own));
    for (var k = 0u; k < {most}u; k++) {{
        workgroupBarrier();
        part[i] = best; place[i] = at;
        for (var s = 128u; s > 0u; s /= 2u) {{
            workgroupBarrier();
            if (i < s && (part[i + s] > part[i] || (part[i + s] == part[i] && place[i + s] < place[i]))) {{
                part[i] = part[i + s]; place[i] = place[i + s];
            }}
        }}
        workgroupBarrier();
        let value = part[0]; let winner = place[0];
        if (i == 0u) {{
            let out = g.x * {2 * most}u + 2u * k;
            y[out] = winner; y[out + 1u] = bitcast<u32>(value - whole);
        }}
        if (at == winner) {{
            best = -3.4e38; at = 0xffffffffu;
            for (var c = i; c < {size}u; c += 256u) {{
                let v = logit(row + c);
                if ((v < value || (v == value && c > winner)) && v > best) {{ best = v; at = c; }}
            }}
        }}
    }}
}}"""


def moving(width: int) -> str:
    """Return the shader that moves uncommitted rows of a cache to the front; they rise, so none is overwritten."""
    buffers = _buffers("read_write cache", "read step: Step")
    return f"""{_STEP}{buffers}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3<u32>) {{
    if (g.x >= {width}u) {{ return; }}
    for (var k = 0u; k < step.rows; k++) {{
        cache[(step.length + k) * {width}u + g.x] = cache[(step.length + step.more[k]) * {width}u + g.x];
    }}
}}"""
