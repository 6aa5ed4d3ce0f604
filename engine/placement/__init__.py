"""Placements of weights: a file for each kind or two that are alike. ``PLACEMENTS`` is the table of them, by name."""

from engine.placement.columns import ColumnsPlan
from engine.placement.layer_offload import LayerOffloadPlan
from engine.placement.plan import PlacementPlan
from engine.placement.resident import ResidentPlan
from engine.placement.split import SplitExpertsPlan, SplitPlan
from engine.placement.streamed import StreamedPlan
from engine.placement.streamed_experts import StreamedExpertsPlan

PLACEMENTS: dict[str, type[PlacementPlan]] = {
    plan.name: plan
    for plan in (
        ResidentPlan,
        SplitPlan,
        SplitExpertsPlan,
        ColumnsPlan,
        LayerOffloadPlan,
        StreamedExpertsPlan,
        StreamedPlan,
    )
}

__all__ = [
    "PLACEMENTS",
    "ColumnsPlan",
    "LayerOffloadPlan",
    "PlacementPlan",
    "ResidentPlan",
    "SplitExpertsPlan",
    "SplitPlan",
    "StreamedExpertsPlan",
    "StreamedPlan",
]
