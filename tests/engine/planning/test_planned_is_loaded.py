"""The plan is loaded as it is: every mode and format of every model on every machine that is written down.

The weights are stand-ins of the true sizes without memory, and everything else of loading runs: layers go where the
plan has them, in the planned format, and take the planned bytes there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.gguf.stored_tensor import BF16
from engine.kernels import blocks
from engine.kernels.library import Packed
from engine.messages import LoadOptions
from engine.model.config import ModelConfig
from engine.model.converted import Conversion
from engine.model.embedding import Table
from engine.model.layer import LayerWeights, ModelWeights
from engine.model.linear import Linear, LinearMap, Norm, PackedLinear, joined
from engine.model.loader import dress_layer
from engine.model.tensors import Slot, head_slot, layer_slots
from engine.model.weight_format import WeightFormat
from engine.modes import MODES
from engine.modes.plain import OFFLOAD
from engine.placement import PLACEMENTS, layer_offload
from engine.placement import source as source_module
from engine.placement.device import Link
from engine.placement.source import TargetSource
from engine.planning.load_plan import LoadPlan
from engine.planning.machine_planner import MachinePlanner
from tests.support.fast_cases import covering
from tests.support.machines import machine, machine_names, small_draft, stored_in, target

META = torch.device("meta")
# Divided columns on every machine, also where another placement is faster.
COLUMNS = replace(OFFLOAD, name="columns", placements=("columns", "resident"))
MODELS = ("qwen-0.5b", "llama-1b", "llama-7b", "llama-13b", "llama-70b")
FORMATS = {
    "auto": ("BF16", None, "auto"),
    "Q4_0": ("Q4_0", "Q4_0", "auto"),
    "q4_k_m": ("BF16", None, "q4_k_m"),
}


def stand_in(slot: Slot, weights: WeightFormat) -> LinearMap:
    """A matrix of the true size without memory."""
    rows, columns = slot.shape
    if not weights.packed:
        return Linear(torch.empty(rows, columns, dtype=weights.dense, device=META))
    data = torch.empty(weights.slot_bytes(slot), dtype=torch.uint8, device=META)
    return PackedLinear(Packed(data, rows, columns, weights.kind_of(slot)))


class Weightless(TargetSource):
    """A source whose weights have sizes and nothing else."""

    def host(self, layers: object = None) -> ModelWeights:
        config, weights = self.config, self.weights
        wanted = range(config.layers) if layers is None else sorted(layers)  # type: ignore[call-overload]
        table = Table(torch.empty(config.vocabulary_size, config.hidden_size, dtype=weights.dense, device=META))
        if weights.packed:  # rows of it are read from its file
            table = Table(torch.empty(0, config.hidden_size, device=META))
        head = Linear(table.weight) if not weights.packed and config.tied else stand_in(head_slot(config), weights)
        return ModelWeights(
            embedding=table,
            layers=tuple(map(self.layer, wanted)),
            final_norm=Norm(torch.empty(config.hidden_size, device=META), 1e-5, 0.0),
            head=head,
            tied=config.tied and not weights.packed,
            parameters=0,
            activations=weights.activations,
            cache=weights.cache,
        )

    def layer(self, index: int) -> LayerWeights:
        slots = {}
        for slot in layer_slots(self.config, index):
            slots.setdefault(slot.field, []).append(slot)

        def linear(field: str) -> LinearMap:
            if not self.weights.packed:
                rows = sum(slot.shape[0] for slot in slots[field])
                return stand_in(replace(slots[field][0], shape=(rows, slots[field][0].shape[1])), self.weights)
            return joined([stand_in(slot, self.weights) for slot in slots[field]])

        def vector(field: str) -> Tensor:
            return torch.empty(slots[field][0].shape[0], device=META)

        return dress_layer(self.config, slots, vector, linear)

    def device_layer(self, index: int) -> LayerWeights:
        return self.layer(index)


class MetaLink(Link):
    """A way to a device that has no memory either."""

    def to_device(self, tensor: Tensor) -> Tensor:
        self.to_device_bytes += tensor.nbytes
        return tensor


class MetaCopies:
    """Copies without memory."""

    def __getattr__(self, name: str) -> object:
        if name.endswith("_buffer"):
            return lambda size: torch.empty(size, dtype=torch.uint8, device=META)
        return lambda *arguments: None


def loads(name: str, model: str, form: str) -> Iterator[tuple[ModelConfig, LoadPlan]]:
    """Every mode that can be loaded there."""
    kind, quantization, wanted = FORMATS[form]
    facts = target(model)
    config = stored_in(facts.config, BF16 if kind == "BF16" else blocks.NAMES[kind], quantization)
    known = (small_draft(),) if model not in ("qwen-0.5b", "llama-1b") else ()
    planner = MachinePlanner(machine(name), replace(facts, config=config), known, LoadOptions(weights=wanted))
    plan = planner.plan()
    for mode in MODES.values():
        one = plan.mode(mode.name)
        drafts = mode.taken(known)
        if one.load is None or (mode.drafts and not drafts):
            continue
        again = planner.load(mode, drafts)
        # Behind the plan's own notes a chosen mode says what it leaves undone.
        assert replace(again, notes=one.load.notes) == one.load, "it is loaded as it was planned"
        assert again.notes[: len(one.load.notes)] == one.load.notes
        if not one.refusal:
            assert one.memory_bytes == {"host": again.host.total} | (
                {again.device: again.on_device.total} if again.device else {}
            )
        yield config, again


@pytest.mark.parametrize(("name", "model", "form"), covering(machine_names(), MODELS, FORMATS, together=1))
def test_what_is_planned_is_what_is_loaded(name: str, model: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODES, "columns", COLUMNS)
    monkeypatch.setattr(layer_offload, "copies_to", lambda device: MetaCopies())
    monkeypatch.setattr(source_module, "half_type", lambda device: torch.bfloat16)
    monkeypatch.setattr(Norm, "elsewhere", lambda norm, gain: norm)
    for config, plan in loads(name, model, form):
        assert sum(sum(vars(place).values()) for place in plan.placement.layers) == config.layers
        if plan.placement.streams:
            continue  # it reads files: tests/engine/test_streaming.py loads what is planned
        link = MetaLink(torch.device(plan.device or "cpu"))
        conversion = Conversion(None, config, plan.weights, Path())  # type: ignore[arg-type]
        source = Weightless(conversion, link, lambda done, total: None, lambda: None)
        placed = plan.placement.load(source)
        there = [placed.placement.side(index).name == plan.device for index in range(config.layers)]
        assert there == list(map(plan.placement.computes_there, plan.placement.layers))
        held = dict(placed.placement.bytes_by_device)
        on_device = held.pop(plan.device, 0) if plan.device else 0
        # Copies begin at multiples of 256 bytes, and biases take the device's type.
        assert on_device == pytest.approx(plan.on_device.weights + plan.on_device.buffers, rel=1e-3, abs=1e6)
        assert sum(held.values()) == pytest.approx(plan.host.weights, rel=1e-3)
        assert PLACEMENTS[plan.placement.name] is type(plan.placement)
