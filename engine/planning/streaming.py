"""How a model that does not fit into memory is streamed from the disk: what stays, and how large the ring is."""

from __future__ import annotations

from engine.model.config import ModelConfig
from engine.model.footprint import cache_bytes, stored_layer_bytes
from engine.model.weight_format import WeightFormat
from engine.planning.footprint import host_footprint
from engine.planning.placement_plan import PlacementPlan

# One layer computes where it was made, and the next is read meanwhile; with a second buffer the disk does not wait
# while a layer is made. A third would hide what is left of the time between two forwards, but a layer that stays in its
# place saves the whole of its reading in every forward.
BUFFERS = 2
# Of the budget, for a context that was not asked for: beyond it a layer that stays is worth more.
_CACHE_SHARE = 8


def plan_streaming(
    config: ModelConfig, weights: WeightFormat, context: int, budget_bytes: int, draft_bytes: int = 0
) -> PlacementPlan | None:
    """As many layers in memory as the budget allows.

    Args:
        config: Of the model.
        weights: Its format.
        context: Tokens.
        budget_bytes: For everything but the process's baseline.
        draft_bytes: Of a draft on the host.

    Returns:
        None where not even the ring and what is always in memory fit.
    """
    spare = budget_bytes - least_bytes(config, weights, context, draft_bytes)
    if spare < 0:
        return None
    each = stored_layer_bytes(config, weights)
    buffers = min(1 + spare // each, BUFFERS, config.layers)
    spare -= (buffers - 1) * each
    # With as many buffers as streamed layers these would be in memory as well, and be read again all the same.
    pinned = min(spare // each, max(0, config.layers - buffers - 1))
    return PlacementPlan("stream", pinned_layers=pinned, buffers=buffers)


def least_bytes(config: ModelConfig, weights: WeightFormat, context: int, draft_bytes: int = 0) -> int:
    """What streaming needs at least, beside the process's baseline."""
    least = PlacementPlan("stream", buffers=1)
    return host_footprint(config, least, weights, context, draft_bytes, baseline_bytes=0).total


def streaming_context(
    config: ModelConfig, weights: WeightFormat, wanted: int, smallest: int, budget_bytes: int
) -> int:
    """Tokens of context: halved from ``wanted`` while the cache takes more than its share, not below ``smallest``."""
    context = wanted
    while context > smallest and cache_bytes(config, context, weights) > budget_bytes // _CACHE_SHARE:
        context = max(context // 2, smallest)
    return context
