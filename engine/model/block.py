"""The two halves of a transformer block, over weights and cache: attention or convolution, then feed-forward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from engine.model.attention import attend
from engine.model.config import DeltaNet, ModelConfig
from engine.model.delta import NewRows
from engine.model.kv_cache import SeenRows
from engine.model.latent import attend_latents
from engine.model.layer import LayerWeights
from engine.model.linear import LinearMap
from engine.model.mixture import mix
from engine.model.rope import Rotation, rotate
from engine.model.text_states import Span


def previous_rows(length: int, pending: int, count: int, tree: Tensor | None, before: int) -> Tensor:
    """Return the rows of the cache before each new one, on its own path.

    Args:
        length: Committed rows.
        pending: Uncommitted rows of earlier forwards that stay.
        count: New rows, n.
        tree: (n, pending + n) bool, True where new row i sees uncommitted row j, its own included; None for a chain.
        before: Number of rows wanted before each one, b.

    Returns:
        (n, b) int64 rows, the nearest last; below 0 before the text's beginning.
    """
    if tree is None:
        last = length + pending + torch.arange(count)
        return last[:, None] - torch.arange(before, 0, -1)
    depths = tree.sum(1)
    # A stable sort brings the rows of a path to the front, in order.
    paths = tree.to(torch.int8).argsort(dim=1, descending=True, stable=True)
    places = (depths[:, None] - 1) - torch.arange(before, 0, -1, device=tree.device)
    return torch.where(places < 0, length + places, length + paths.gather(1, places.clamp(min=0)))


def attention(
    config: ModelConfig,
    weights: LayerWeights,
    index: int,
    rows: Tensor,
    rotation: Rotation | None,
    texts: Sequence[SeenRows],
) -> Tensor:
    """Compute attention of new rows over their texts' caches, own keys and values included; or a convolution.

    Args:
        config: Sizes of the block.
        index: Index of the layer in the cache.
        rows: (n, in) normalised rows that queries, keys and values are mapped from.
        rotation: Rotation of the new rows, or None if nothing is rotated.
        texts: Texts of the rows, in the order of the rows.

    Returns:
        (n, h), before the residual sum.
    """
    assert weights.qkv is not None
    assert weights.output is not None
    if weights.convolution is not None:
        if config.delta is not None:
            return _remembered(config.delta, weights, weights.convolution, index, rows, texts)
        return _convolved(weights, weights.convolution, index, rows, texts)
    if config.latent is not None:
        return weights.output(attend_latents(config, config.latent, weights, index, rows, rotation, texts))
    heads, kv_heads = config.heads, config.kv_heads
    qkv, gate = weights.qkv(rows).view(len(rows), -1, config.head_dim), None
    if config.family.output_gate == "queries":
        gate = qkv[:, 1 : 2 * heads : 2].flatten(1)
        qkv = torch.cat((qkv[:, : 2 * heads : 2], qkv[:, 2 * heads :]), 1)
    parts = [qkv[:, :heads], qkv[:, heads : heads + kv_heads]]  # no keys if another layer's are read
    values = parts[1] if config.values_are_keys else qkv[:, heads + kv_heads :]
    turned = qkv[:, : heads + kv_heads]
    norms = weights.query_norm, weights.key_norm
    if weights.query_norm is not None:
        normed = [part if norm is None else norm(part) for norm, part in zip(norms, parts, strict=True)]
        turned = torch.cat(normed, 1)
    if weights.value_norm is not None:
        values = weights.value_norm(values)
    if rotation is not None:
        cosine, sine, factors = rotation
        turned = rotate(turned, cosine, sine)
        if factors is not None:
            turned = torch.cat((turned[:, :heads] * factors, turned[:, heads:]), 1)
    mixed, start = [], 0
    for text in texts:
        own = slice(start, start + text.count)
        rows_of_text = turned[own, :heads], turned[own, heads:], values[own]
        mixed.append(_attended(config, index, *rows_of_text, text, weights.sinks))
        start = own.stop
    together = _joined(mixed).to(rows.dtype)
    if weights.attention_gate is not None:
        gate = weights.attention_gate(rows)
    if gate is not None:
        gate = gate.sigmoid()  # of channels or of heads
        together = (together.view(*gate.shape, -1) * gate[..., None]).flatten(1)
    return weights.output(together)


def _convolved(weights: LayerWeights, kernel: Tensor, index: int, rows: Tensor, texts: Sequence[SeenRows]) -> Tensor:
    """Compute a gated short convolution."""
    assert weights.qkv is not None
    assert weights.output is not None
    gate, gate_out, inputs = weights.qkv(rows).chunk(3, -1)
    inputs = (gate * inputs).float()
    mixed = [span.convolve(inputs[own], kernel) for span, own in _spans(index, texts)]
    return weights.output(gate_out * _joined(mixed).to(rows.dtype))


def _remembered(
    delta: DeltaNet, weights: LayerWeights, kernel: Tensor, index: int, rows: Tensor, texts: Sequence[SeenRows]
) -> Tensor:
    """Compute gated DeltaNet, or Mamba-2."""
    assert weights.memory_norm is not None
    assert weights.output is not None
    mapped, gate, writes, decays = _memory_inputs(delta, weights, rows)
    found = []
    for span, own in _spans(index, texts):
        mixed = span.convolve(mapped[own], kernel)
        if weights.convolution_bias is not None:
            mixed = mixed + weights.convolution_bias
        widths = [delta.keys, delta.keys, delta.values][:: 1 if delta.corrects else -1]
        parts = torch.split(functional.silu(mixed), widths, -1)
        queries, keys, values = parts if delta.corrects else reversed(parts)
        queries, keys = (part.reshape(len(mixed), -1, delta.key_dim) for part in (queries, keys))
        values = values.reshape(len(mixed), -1, delta.value_dim)
        new = NewRows(queries, keys, values, writes[own], decays[own])
        result = span.remember(new.normed() if delta.corrects else new)
        found.append(result if weights.skip is None else result + weights.skip[:, None] * new.values)
    result = _joined(found)
    if delta.corrects:
        result = weights.memory_norm(result).flatten(1) * functional.silu(gate)
    else:
        gated_result = result.flatten(1) * functional.silu(gate)
        result = weights.memory_norm(gated_result.view(len(rows), delta.key_heads, -1)).flatten(1)
    return weights.output(result.to(rows.dtype))


def _memory_inputs(delta: DeltaNet, weights: LayerWeights, rows: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the convolution's inputs, output gates, shares that are written, and logarithms of decays, float32."""
    assert weights.qkv is not None
    assert weights.decay is not None
    assert weights.decay_bias is not None
    mapped = weights.qkv(rows).float()
    if weights.memory_gates is None:
        gate, mapped, times = torch.split(mapped, [delta.values, delta.channels, delta.heads], -1)
        times = functional.softplus(times + weights.decay_bias)
        return mapped, gate, times, weights.decay * times
    gates = weights.memory_gates(rows).float()
    if weights.attention_gate is None:  # joined by heads of keys
        each = [delta.key_dim, delta.key_dim, *2 * [delta.values // delta.key_heads]]
        parts = torch.split(mapped.view(len(rows), delta.key_heads, -1), each, -1)
        *inputs, gate = (part.reshape(len(rows), -1) for part in parts)
        mapped = torch.cat(inputs, -1)
    else:
        gate = weights.attention_gate(rows).float()
    if delta.paired:
        gates = gates.view(len(rows), delta.key_heads, 2, -1).transpose(1, 2).reshape(len(rows), -1)
    writes, decays = gates.chunk(2, -1)
    return mapped, gate, writes.sigmoid(), weights.decay * functional.softplus(decays + weights.decay_bias)


def _spans(index: int, texts: Sequence[SeenRows]) -> Iterator[tuple[Span, slice]]:
    """Yield each text's new rows in a layer that keeps a state, and their places among all rows."""
    start = 0
    for text in texts:
        states = text.cache.states
        assert states is not None, "a model with such layers"
        yield states.span(index, text.cache.uncommitted, text.count, text.steps), slice(start, start + text.count)
        start += text.count


def _joined(parts: Sequence[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(list(parts))


def _attended(
    config: ModelConfig,
    index: int,
    queries: Tensor,
    new_keys: Tensor,
    new_values: Tensor,
    text: SeenRows,
    sinks: Tensor | None,
) -> Tensor:
    mask, cache = text.mask, text.cache
    if text.committed:
        keys, values = cache.committed(index, mask.first_row, config.head_dim, queries.device)
    elif config.keys_of is None:
        keys, values = cache.append(index, new_keys, new_values, mask.first_row)
    else:
        keys, values = cache.seen(index, text.count, mask.first_row)
    queries = queries.to(keys.dtype)
    scale, soft_cap = config.attention_scale, config.attention_soft_cap
    if cache.far_rows is None or text.committed:
        return attend(queries, keys, values, mask, scale, soft_cap, sinks)
    return cache.far_rows.attend(cache, index, queries, keys, values, mask, scale, soft_cap, sinks)


def feed_forward(config: ModelConfig, weights: LayerWeights, hidden: Tensor) -> Tensor:
    """Compute the feed-forward network of (n, h) rows of the residual stream, experts included, before the sum."""
    assert weights.mlp_norm is not None
    rows = weights.mlp_norm(hidden)

    network = partial(gated, config)
    mapped = None
    if weights.gate_up is not None and weights.down is not None:
        mapped = network(weights.gate_up, weights.down, rows)
    experts = weights.experts
    if experts is None or config.mixture is None:
        assert mapped is not None, "a layer has a network or experts"
        return mapped
    routed = rows if weights.router_norm is None else weights.router_norm(hidden)
    taken = rows if weights.experts_norm is None else weights.experts_norm(hidden)
    mixed = mix(config.mixture, experts, taken, routed, network)
    if weights.experts_end_norm is not None:
        mixed = weights.experts_end_norm(mixed)
    if mapped is None:
        return mixed
    if weights.network_end_norm is not None:
        mapped = weights.network_end_norm(mapped)
    return mixed + (mapped if experts.shared_gate is None else mapped * experts.shared_gate(rows).sigmoid())


def gated(config: ModelConfig, gate_up: LinearMap, down: LinearMap, rows: Tensor) -> Tensor:
    """Compute the network of these matrices over some rows, (n, h) to (n, h), gated or not."""
    if not config.family.gated_network:
        return down(activated(config.activation, gate_up(rows)))
    gate, up = gate_up(rows).chunk(2, -1)
    return down(_through_gate(config, gate, up))


def _through_gate(config: ModelConfig, gate: Tensor, up: Tensor) -> Tensor:
    """Multiply the gate's activation with the gated values; the gate's memory may be overwritten."""
    if config.activation == "clamped_swiglu":
        gate = gate.clamp(max=7.0)
        return (gate * torch.sigmoid(1.702 * gate)).mul_(up.clamp(-7.0, 7.0) + 1.0)
    return activated(config.activation, gate).mul_(up)


def activated(function: str, rows: Tensor) -> Tensor:
    """Apply an activation function element by element: ``silu``, ``gelu_tanh``, ``relu2`` or ``gelu``."""
    match function:
        case "silu":
            return functional.silu(rows)
        case "gelu_tanh":
            return functional.gelu(rows, approximate="tanh")
        case "relu2":
            return functional.relu(rows).square()
    return functional.gelu(rows)


def block(
    config: ModelConfig,
    weights: LayerWeights,
    index: int,
    hidden: Tensor,
    rotation: Rotation | None,
    texts: Sequence[SeenRows],
    rows: Tensor | None = None,
    inputs: Tensor | None = None,
) -> Tensor:
    """Compute a whole block: attention, then the feed-forward network, each added to the residual stream; or one alone.

    Arguments are those of `attention`, but ``hidden`` (n, h) is the residual stream, and attention maps the
    normalised ``rows`` (n, in) if they are given. ``inputs`` (n, p) are the layer's own inputs, for models that
    have them.

    Returns:
        (n, h).
    """
    if weights.output is not None:
        if rows is None:
            rows = hidden if weights.attention_norm is None else weights.attention_norm(hidden)
        mixed = attention(config, weights, index, rows, rotation, texts)
        if weights.attention_end_norm is not None:
            mixed = weights.attention_end_norm(mixed)
        hidden = torch.add(hidden, mixed, alpha=config.residual_scale)
    if weights.mlp_norm is None:
        return hidden
    mapped = feed_forward(config, weights, hidden)
    if weights.mlp_end_norm is not None:
        mapped = weights.mlp_end_norm(mapped)
    hidden = torch.add(hidden, mapped, alpha=config.residual_scale)
    if weights.input_gate is not None and weights.input_projection is not None and inputs is not None:
        entering = weights.input_projection(_through_gate(config, weights.input_gate(hidden), inputs))
        hidden = hidden + (entering if weights.input_norm is None else weights.input_norm(entering))
    return hidden if weights.scalar is None else hidden * weights.scalar.to(hidden.dtype)
