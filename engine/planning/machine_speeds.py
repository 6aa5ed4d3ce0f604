"""The speeds and the memory that a plan is made with: a machine's own if they were measured, else assumed ones.

From them and a config alone come the seconds of the processor and of a GPU for the parts of a forward.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from engine.graphics.known import switched_on
from engine.messages import LoadOptions
from engine.messages.machine import FormatSpeed, Gpu, GpuSpeed, HostSpeed, MachineReport
from engine.model.config import ModelConfig
from engine.model.footprint import (
    activation_bytes,
    expert_sizes,
    head_bytes,
    layer_elements,
    outside_experts,
    read_bytes,
    read_elements,
    text_read_bytes,
)
from engine.model.weight_format import MEASURED_NAMES, WeightFormat, weight_format
from engine.placement.plan import Room, Sizes, Units, UnitSeconds, dequantizing_traffic, device_format
from engine.planning.kernel_table import FORMAT_WIDTHS, matrix_size

# A modest laptop, for a machine that was not measured yet: the order of modes comes out right, figures do not.
_ASSUMED_BYTES_PER_S = 25e9
_ASSUMED_PRODUCTS_PER_S = {**dict.fromkeys(MEASURED_NAMES, 50e9), "fp32": 20e9, "bf16": 30e9, "f16": 30e9}
#: Bytes of a type that a core reads in a second where finding their numbers takes longer than memory.
_ASSUMED_CORE_BYTES_PER_S = {"iq2_s": 4e9, "ptq1_0": 4e9, "iq2_k": 7e9, "iq4_ks": 11e9, "iq4_xs": 11e9}
_ASSUMED_OPERATOR_S = 4e-6
_ASSUMED_GPU = GpuSpeed(200e9, 2e12, 10e-6, 6e9)
# A memory card in 4 bits at 50 MHz, both edges (UHS-I DDR50), has 50 MB/s at most.
_ASSUMED_DISK_BYTES_PER_S = {"spinning": 120e6, "network": 100e6, "card": 40e6}
_ASSUMED_SSD_BYTES_PER_S = 1e9


@dataclass(frozen=True)
class _Board:
    """Published facts of a board, and what of them a program is assumed to get."""

    name: str  # a pattern of the maker's name for it
    peak_bytes_per_s: float  # of its memory
    cores: int  # fast ones
    instructions_per_s: float  # of a core


_BOARDS = (
    # LPDDR4-3200, 32 bits. Cortex-A72, 1.5 GHz: three instructions are decoded in a cycle, and half of that is assumed.
    _Board("Raspberry Pi (4|400|Compute Module 4)", 12.8e9, 4, 1.5 * 1.5e9),
    # LPDDR4X-4267, 32 bits. Cortex-A76, 2.4 GHz: four are decoded, and half of that is assumed.
    _Board("Raspberry Pi (5|500|Compute Module 5)", 17.1e9, 4, 2 * 2.4e9),
    # LPDDR4X-4224, 64 bits. Four Cortex-A76 of up to 2.4 GHz; the four Cortex-A55 beside them are not counted.
    _Board("Orange Pi 5", 33.8e9, 4, 2 * 2.4e9),
    # LPDDR5, 128 bits. Cortex-A78AE, 1.5 GHz.
    _Board("Orin Nano", 68e9, 6, 2 * 1.5e9),
)
# Share of a memory's published peak that reading weights is assumed to reach.
_REACHED = 0.5
# Instructions for each product of a weight in Q4_K and an activation, in a forward of one row and of 64, and of one in
# BF16, by instruction set: counted under qemu's emulation of a Cortex-A72 and a Neoverse N1 (256 x 2048, GCC 12).
_INSTRUCTIONS = {"portable": (10.1, 9.3, 1.2), "neon": (0.53, 0.34, 0.71), "dotprod": (0.41, 0.19, 0.66)}
_BOARD_OPERATOR_S = 10e-6
# Operators of a layer beside its products: with torch, in the kernel library, with torch and packed matrices, and a
# GPU's launches. The last one is counted, the others were measured on the machine of BENCHMARKS.md; those of the
# library with 10 and 60 layers of 256 columns.
LAYER_OPERATORS, FUSED_LAYER_OPERATORS, PACKED_LAYER_OPERATORS, LAUNCHES = 100, 8, 210, 35
#: Shaders of a layer on a graphics chip, counted: products of several types of blocks take one each.
CHIP_LAUNCHES = 13
# Times that torch's operators go through each activation between packed matrices; measured in the same way.
_PASSES = 12
# Operators of torch for each chosen expert; of packed ones on a GPU, each of which is dequantized first. Counted.
_EXPERT_OPERATORS, _DEQUANTIZED_EXPERT_OPERATORS = 13, 54
# Operators of giving a GPU rows and taking its results: two copies, a conversion, and the wait. Counted, not
# measured.
_EXCHANGE_OPERATORS = 4
_HALF_BYTES = 2
# Memory that other programs will want next.
_HOST_RESERVE_BYTES = 256 << 20
# Memory that the GPU's driver, its kernels and other programs need beside tensors.
_GPU_RESERVE_BYTES = 512 << 20


@dataclass(frozen=True)
class MachineSpeeds:
    """Speeds of one machine."""

    host: HostSpeed  # speed of the processor
    gpu: GpuSpeed | None  # speed of the GPU that a plan may use, or None for none
    disk_bytes_per_s: float  # bytes per second of reading the models' folder
    measured: bool  # True if the speeds were measured on the machine
    busy: bool = False  # True if they were measured while other programs kept the machine busy
    unified: bool = False  # True if the processor and the GPU share one memory


def machine_speeds(report: MachineReport, gpu: Gpu | None) -> MachineSpeeds:
    """Return the speeds of a machine with one of its GPUs, or without any."""
    speeds = report.speeds
    disk = report.disk("models")
    kind = "unknown" if disk is None else disk.kind
    assumed_disk = _ASSUMED_DISK_BYTES_PER_S.get(kind, _ASSUMED_SSD_BYTES_PER_S)
    unified = gpu is not None and gpu.unified
    if speeds is None:
        host = _assumed_host(report)
        assumed = None if gpu is None else _ASSUMED_GPU
        if assumed is not None and unified and _board(report) is not None:
            assumed = replace(assumed, memory_bytes_per_s=host.memory_bytes_per_s)
        return MachineSpeeds(host, assumed, assumed_disk, False, unified=unified)
    own = None if gpu is None else speeds.gpus.get(gpu.device, _ASSUMED_GPU)
    read = speeds.disks.get("models", speeds.disks.get("cache", assumed_disk))
    return MachineSpeeds(speeds.host, own, read, True, speeds.busy, unified)


def format_seconds(host: HostSpeed) -> dict[str, float]:
    """Return the seconds of each format's products in a large model at the widths of the kernel table."""
    rows, columns = matrix_size()
    found = {}
    for name in host.formats:
        speed = host.formats[name]
        size = weight_format(name).matrix_bytes(rows, columns)
        found[name] = sum(speed.seconds(size, width * rows * columns) for width in FORMAT_WIDTHS)
    return found


def _board(report: MachineReport) -> _Board | None:
    """Return a board's facts; others with Linux on ARM are taken for one like them. None for other machines."""
    known = next((board for board in _BOARDS if re.search(board.name, report.machine)), None)
    if known is None and report.processor.architecture == "aarch64" and report.system.startswith("Linux"):
        return _BOARDS["dotprod" in report.processor.instruction_sets]
    return known


def _assumed_on(board: _Board, report: MachineReport) -> HostSpeed:
    narrow, wide, plain = _INSTRUCTIONS.get(report.kernels or "", _INSTRUCTIONS["portable"])
    per_s = min(report.processor.usable_cores, board.cores) * board.instructions_per_s
    memory = _REACHED * board.peak_bytes_per_s
    rows, columns = matrix_size()
    formats = {}
    for name in MEASURED_NAMES:
        size = weight_format(name).matrix_bytes(rows, columns) / (rows * columns)
        one, many = (plain, plain) if name in ("fp32", "bf16", "f16") else (narrow, wide)
        formats[name] = FormatSpeed(min(memory, size * per_s / one), per_s / many, 0.2)
    return HostSpeed(memory, _BOARD_OPERATOR_S, formats)


def _assumed_host(report: MachineReport) -> HostSpeed:
    board = _board(report)
    if board is not None:
        return _assumed_on(board, report)
    cores = report.processor.usable_cores
    formats = {
        name: FormatSpeed(
            min(_ASSUMED_BYTES_PER_S, cores * _ASSUMED_CORE_BYTES_PER_S.get(name, _ASSUMED_BYTES_PER_S)),
            cores * each,
            0.2,
        )
        for name, each in _ASSUMED_PRODUCTS_PER_S.items()
    }
    return HostSpeed(_ASSUMED_BYTES_PER_S, _ASSUMED_OPERATOR_S, formats)


class UnitTimes:
    """Seconds of a model in one format after a text of some length.

    Args:
        config: Config of the model.
        weights: Format of the weights on the host, and on the GPU too.
        speeds: Speeds of the machine.
        position: Tokens of text before the forward, which attention reads.
    """

    def __init__(self, config: ModelConfig, weights: WeightFormat, speeds: MachineSpeeds, position: int) -> None:
        self._speeds = speeds
        self._config, self._weights = config, weights
        self._head_bytes = head_bytes(config, weights)
        self._layer_elements = layer_elements(config)
        self._head_elements = config.vocabulary_size * config.hidden_size
        self._row_bytes = activation_bytes(config, 1, 0)
        self._cache_bytes = self._device_cache_bytes = text_read_bytes(config, position, weights)
        if speeds.gpu is not None and speeds.gpu.packed:
            self._device_cache_bytes = text_read_bytes(config, position, device_format(weights, chip=True))
        self._format = speeds.host.format(weights.measured_as)

    def at(self, width: int, fused: bool = False, logit_rows: int | None = None) -> Units:
        """Return the times of both units in a forward of so many rows.

        Args:
            width: Rows of the forward.
            fused: True if the kernel library computes the host's packed layers, each in one call.
            logit_rows: Rows that the head multiplies; None for all.
        """
        logit_rows = width if logit_rows is None else logit_rows
        host, gpu = self._host(width, fused and self._weights.packed, logit_rows), self._speeds.gpu
        if gpu is None:
            return Units(host, host)
        read = read_bytes(self._config, self._weights, width)
        traffic = 0 if gpu.packed else dequantizing_traffic(self._weights)
        launches = CHIP_LAUNCHES if gpu.packed else LAUNCHES
        each = _DEQUANTIZED_EXPERT_OPERATORS if self._weights.packed else _EXPERT_OPERATORS

        def products_s(size_bytes: float, dequantized: float, elements: float, rows: int = width) -> float:
            return gpu.seconds(size_bytes + traffic * dequantized, elements, rows)

        outside = sum(outside_experts(self._config)) / self._config.layers
        experts = self._experts_read(width)
        device = UnitSeconds(
            products=products_s(read, read_elements(self._config, width), self._layer_elements),
            attention=self._device_cache_bytes / gpu.memory_bytes_per_s,
            operators=(launches + self._experts(width) * each) * gpu.operator_s,
            head=products_s(self._head_bytes, self._head_elements, self._head_elements, logit_rows),
            exchange=_EXCHANGE_OPERATORS * gpu.operator_s,
            crossing=1.0 / gpu.from_host_bytes_per_s,
            experts=products_s(*experts) + self._experts(width) * each * gpu.operator_s,
            others=gpu.seconds(_HALF_BYTES * outside, outside, width) + LAUNCHES * gpu.operator_s,
        )
        if not self._speeds.unified:
            return Units(host, device)
        fastest = max(gpu.memory_bytes_per_s, self._speeds.host.memory_bytes_per_s)
        shared = UnitSeconds(read / fastest, self._cache_bytes / fastest, 0.0, self._head_bytes / fastest)
        return Units(host, device, shared)

    def _host(self, width: int, fused: bool, logit_rows: int) -> UnitSeconds:
        host = self._speeds.host
        packed = self._weights.packed
        count = PACKED_LAYER_OPERATORS if packed else LAYER_OPERATORS
        operators_s = (count + self._experts(width) * _EXPERT_OPERATORS) * host.operator_s
        if packed:
            operators_s += _PASSES * width * self._row_bytes / host.memory_bytes_per_s
        experts = self._experts_read(width)
        return UnitSeconds(
            products=self._format.seconds(read_bytes(self._config, self._weights, width), width * self._layer_elements),
            attention=self._cache_bytes / host.memory_bytes_per_s,
            operators=FUSED_LAYER_OPERATORS * host.operator_s if fused else operators_s,
            head=self._format.seconds(self._head_bytes, logit_rows * self._head_elements),
            experts=self._format.seconds(experts[0], width * experts[2]),
        )

    def _experts(self, width: int) -> float:
        """Return the seconds of a layer's experts in a forward of so many rows, as the mean of all layers."""
        mixture = self._config.mixture
        return 0.0 if mixture is None else mixture.read(width) * sum(mixture.layers) / len(mixture.layers)

    def _experts_read(self, width: int) -> tuple[float, float, float]:
        """Return the mean of all layers' experts: bytes and weights read, and weights that a row multiplies."""
        mixture = self._config.mixture
        if mixture is None:
            return 0.0, 0.0, 0.0
        each = sum(expert_sizes(self._config, self._weights)) / self._config.layers
        weights = (self._layer_elements - sum(outside_experts(self._config)) / self._config.layers) / mixture.chosen
        return each * mixture.read(width), weights * mixture.read(width), weights * mixture.chosen


def read_room(report: MachineReport, options: LoadOptions) -> Room:
    """Return the memory of a machine that may be taken."""
    ram_budget_bytes, vram_budget_bytes = options.ram_budget_bytes, options.vram_budget_bytes
    host = report.memory.available_bytes - _HOST_RESERVE_BYTES
    if ram_budget_bytes is not None and budget_is_free(report, ram_budget_bytes):
        # A user who names exactly what is left has left other programs theirs.
        host = ram_budget_bytes - report.memory.process_bytes
    measured = {} if report.speeds is None else report.speeds.gpus
    # Assumed speeds are those of cards that torch computes on.
    chips = measured if options.graphics_chip or switched_on() else ()
    usable = [gpu for gpu in report.gpus if vram_budget_bytes != 0 and (not gpu.by_shaders or gpu.device in chips)]
    if not usable:
        return Room(max(host, 0))
    # A chip tells its largest buffer in place of its memory.
    gpu = max(usable, key=lambda gpu: measured[gpu.device].memory_bytes_per_s if gpu.by_shaders else gpu.free_bytes)
    free = gpu.free_bytes - _GPU_RESERVE_BYTES
    there = free if vram_budget_bytes is None else min(free, vram_budget_bytes)
    speeds = machine_speeds(report, gpu)

    def units(sizes: Sizes, width: int) -> Units:
        return UnitTimes(sizes.config, sizes.weights, speeds, sizes.context).at(width)

    return Room(max(host, 0), gpu.device, max(0, there), gpu.unified, units, chip=gpu.by_shaders)


def budget_is_free(report: MachineReport, ram_budget_bytes: int) -> bool:
    """Return whether the machine has as much left as a budget names."""
    return ram_budget_bytes - report.memory.process_bytes <= report.memory.available_bytes
