"""A machine's hardware and the predictions for a model on it, for whoever shows them to a person."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class GpuReport:
    """A GPU that the engine can use.

    Attributes:
        device: As torch calls it: ``cuda:0``.
        name: As its maker calls it.
        total_bytes: Its memory; of unified memory the whole pool.
        free_bytes: What can be taken now.
        unified: Its memory is the host's.
        memory_bytes_per_s: Measured reads of its memory; None where nothing was measured.
        from_host_bytes_per_s: Measured copies from the host; None where nothing was measured.
    """

    device: str
    name: str
    total_bytes: int
    free_bytes: int
    unified: bool = False
    memory_bytes_per_s: float | None = None
    from_host_bytes_per_s: float | None = None


@dataclass(frozen=True)
class DiskReport:
    """The disk below a folder of Tenon's.

    Attributes:
        role: What the folder is for: ``models`` or ``cache``.
        kind: ``solid``, ``spinning``, ``network`` or ``unknown``, as far as the system says.
        free_bytes: What may still be written.
        read_bytes_per_s: Measured reads past the page cache; None where nothing was measured.
    """

    role: str
    kind: str
    free_bytes: int
    read_bytes_per_s: float | None = None


@dataclass(frozen=True)
class FormatReport:
    """Measured speeds of the processor with weights of a format.

    Attributes:
        weights: The format's name.
        bytes_per_s: Weights read.
        products_per_s: Products of a weight and an activation.
    """

    weights: str
    bytes_per_s: float
    products_per_s: float


@dataclass(frozen=True)
class MachineReport:
    """A machine.

    Attributes:
        machine: The maker's name for it; empty where there is none.
        system: Operating system and its version.
        processor: As its maker calls it.
        instruction_sets: Those that matter here, the oldest first.
        usable_cores: Physical cores that the engine may use.
        physical_cores: Cores of the machine.
        logical_cores: Threads that they run at once.
        memory_total_bytes: What the engine could ever have.
        memory_free_bytes: What can be taken now without swapping.
        swap_bytes: Swap space.
        gpus: Those that torch can use.
        disks: Below the folders of models and of the cache.
        on_mains: Whether it is on mains power; None where the system does not say.
        battery_percent: None where there is no battery.
        torch: The installed build, and the GPU interface that it was made for.
        kernels: The instruction set of the kernel library; empty where torch's own operators are all there is.
        measured_at: When its speeds were measured, as ISO 8601 in UTC; empty while they never were.
        memory_bytes_per_s: Measured reads of the host's memory; None where nothing was measured.
        formats: The processor's measured speeds.
        measured_busy: Whether other programs took much of the processors while they were measured.
    """

    machine: str
    system: str
    processor: str
    instruction_sets: tuple[str, ...]
    usable_cores: int
    physical_cores: int
    logical_cores: int
    memory_total_bytes: int
    memory_free_bytes: int
    swap_bytes: int
    gpus: tuple[GpuReport, ...]
    disks: tuple[DiskReport, ...]
    on_mains: bool | None
    battery_percent: float | None
    torch: str
    kernels: str
    measured_at: str = ""
    memory_bytes_per_s: float | None = None
    formats: tuple[FormatReport, ...] = ()
    measured_busy: bool = False


@dataclass(frozen=True)
class ModePrediction:
    """One way to run a model.

    Attributes:
        mode: Its ``--mode`` name.
        refusal: One sentence that says why it cannot run; empty where it can, and only then have the others values.
        summary: Where things live, in a few words.
        tokens_per_second: Predicted, while it decodes.
        first_token_s: Predicted time to the first token of a reply to `PlanReport.prompt_tokens`.
        memory_bytes: By device: ``host``, and a GPU's name as torch has it.
        context: Tokens of context that it has room for.
        streams: Whether layers are read from the disk for each pass.
    """

    mode: str
    refusal: str = ""
    summary: str = ""
    tokens_per_second: float | None = None
    first_token_s: float | None = None
    memory_bytes: dict[str, int] = field(default_factory=dict)
    context: int | None = None
    streams: bool = False


@dataclass(frozen=True)
class PlanReport:
    """Every mode for a model on this machine.

    Attributes:
        model: The model's name.
        draft: The draft that modes with one are planned with, empty for none.
        weights: The weight format that all were planned in.
        prompt_tokens: The prompt that the times to the first token are for.
        context_limit: Most tokens of context that the model takes.
        modes: Fastest first, then those that cannot run.
        chosen: The mode that ``auto`` takes; empty where none can run.
        reason: Why, in one sentence.
        measured: Whether the machine's speeds were measured; else all figures are made from assumed ones.
        profiled: Whether replies of this model on this machine went into them.
    """

    model: str
    draft: str
    weights: str
    prompt_tokens: int
    context_limit: int
    modes: tuple[ModePrediction, ...]
    chosen: str
    reason: str
    measured: bool
    profiled: bool = False
