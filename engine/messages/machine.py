"""A machine's hardware and the predictions for a model on it, for whoever shows them to a user."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

GpuKind = Literal["cuda", "rocm", "xpu", "mps"]


@dataclass(frozen=True)
class Processor:
    """A processor.

    Attributes:
        name: Name as its maker calls it.
        architecture: ``x86_64``, ``aarch64`` and so on.
        physical_cores: Cores of the machine.
        logical_cores: Threads that they run at once.
        usable_cores: Physical cores that this process may use, under affinity and control groups.
        instruction_sets: Instruction sets that matter here, the oldest first.
    """

    name: str
    architecture: str
    physical_cores: int
    logical_cores: int
    usable_cores: int
    instruction_sets: tuple[str, ...]


@dataclass(frozen=True)
class HostMemory:
    """Memory in bytes.

    Attributes:
        total_bytes: Memory that this process could ever have.
        available_bytes: Memory that can be taken now without swapping.
        swap_total_bytes: Swap space.
        process_bytes: Memory of the engine's process without a model (Python, torch and the kernels) and of the
            processes that prepare requests; the default is as measured on Linux without these.
    """

    total_bytes: int
    available_bytes: int
    swap_total_bytes: int = 0
    process_bytes: int = 350_000_000

    @property
    def others_bytes(self) -> int:
        """Memory that everything else holds."""
        return max(0, self.total_bytes - self.available_bytes - self.process_bytes)


@dataclass(frozen=True)
class Gpu:
    """A GPU.

    Attributes:
        device: Device as torch calls it: ``cuda:0``.
        kind: Whose interface it has.
        name: Name as its maker calls it.
        total_bytes: Memory; of unified memory the whole pool.
        free_bytes: Memory that can be taken now.
        unified: True if its memory is the host's: one pool, never counted twice.
    """

    device: str
    kind: GpuKind
    name: str
    total_bytes: int
    free_bytes: int
    unified: bool


@dataclass(frozen=True)
class GpuSpeed:
    """Measured speeds of a GPU.

    Attributes:
        memory_bytes_per_s: Plain reads of its memory.
        products_per_s: Products of two 16-bit numbers in a large matrix product.
        operator_s: One operator on hardly any data: the launch.
        from_host_bytes_per_s: Copies from the host's memory, pinned where that can be done.
    """

    memory_bytes_per_s: float
    products_per_s: float
    operator_s: float
    from_host_bytes_per_s: float


@dataclass(frozen=True)
class Disk:
    """The disk that a folder lies on.

    Attributes:
        role: Role of the folder: ``models`` or ``cache``.
        folder: The folder.
        kind: Kind as far as the system says.
        free_bytes: Bytes that this user may still write.
    """

    role: str
    folder: str
    kind: Literal["network", "spinning", "solid", "unknown"]
    free_bytes: int


@dataclass(frozen=True)
class Power:
    """Source of the power.

    Attributes:
        on_mains: True on mains power; None if the system does not say.
        battery_percent: Charge of the battery, or None without one.
    """

    on_mains: bool | None
    battery_percent: float | None


@dataclass(frozen=True)
class FormatSpeed:
    """Speed of a processor with weights in a format.

    Attributes:
        bytes_per_s: Weights read, B_m * E_m.
        products_per_s: Products of a weight and an activation, P_c * E_c.
        overlap: beta: 0 where reading and multiplying overlap completely, 1 where they do not.
    """

    bytes_per_s: float
    products_per_s: float
    overlap: float

    def seconds(self, size_bytes: float, products: float) -> float:
        """Equation 4 for weights of this size and this many products."""
        reading, multiplying = size_bytes / self.bytes_per_s, products / self.products_per_s
        return max(reading, multiplying) + self.overlap * min(reading, multiplying)


@dataclass(frozen=True)
class HostSpeed:
    """Measured speeds of the host.

    Attributes:
        memory_bytes_per_s: Plain reads from memory by all usable cores.
        operator_s: One of torch's operators on hardly any data: what small models spend their time on.
        formats: By the name of a weight format.
    """

    memory_bytes_per_s: float
    operator_s: float
    formats: dict[str, FormatSpeed]


@dataclass(frozen=True)
class TorchBuild:
    """The torch that runs here: its version and the GPU interface it was built for, None for none."""

    version: str
    cuda: str | None = None
    rocm: str | None = None

    @property
    def title(self) -> str:
        """Version and GPU interface in words."""
        made_for = {"CUDA": self.cuda, "ROCm": self.rocm}
        return ", ".join(
            [self.version, *(f"{name} {version}" for name, version in made_for.items() if version)]
        )


@dataclass(frozen=True)
class Speeds:
    """Measured speeds.

    Attributes:
        measured_at: The moment, as ISO 8601 in UTC.
        host: Speeds of the processor.
        gpus: Speeds by the GPU's device name.
        disks: Bytes read per second by the folder's role; what could not be measured is not there.
        busy: Other programs took much of the processors meanwhile, so that it is to be measured again.
    """

    measured_at: str
    host: HostSpeed
    gpus: dict[str, GpuSpeed]
    disks: dict[str, float]
    busy: bool = False


@dataclass(frozen=True)
class MachineReport:
    """A machine.

    Attributes:
        machine: The maker's name for it, such as a board's; empty where there is none.
        system: Operating system and its version.
        processor: Cores and instruction sets.
        memory: The host's.
        gpus: GPUs that torch can use.
        disks: Below the folders of models and of the cache.
        power: Battery or mains.
        torch: The installed build.
        kernels: The instruction set of the kernel library; None where torch's own operators are all there is.
        speeds: None while nothing was measured.
    """

    machine: str
    system: str
    processor: Processor
    memory: HostMemory
    gpus: tuple[Gpu, ...]
    disks: tuple[Disk, ...]
    power: Power
    torch: TorchBuild
    kernels: str | None
    speeds: Speeds | None = None

    def disk(self, role: str) -> Disk | None:
        """Return the disk of a folder by its role."""
        return next((disk for disk in self.disks if disk.role == role), None)


@dataclass(frozen=True)
class WidthSpeed:
    """Speed of a mode with one width of its rounds.

    Attributes:
        rows: Rows of a forward: the nodes of a draft and the token before them.
        expected: Tokens per second.
        measured: The same, as it was measured here; None before.
    """

    rows: int
    expected: float
    measured: float | None = None


@dataclass(frozen=True)
class ModePrediction:
    """One way to run a model.

    Attributes:
        mode: ``--mode`` name.
        refusal: One sentence that says why ``auto`` never takes it; empty where it may, and only then have the others
            values.
        summary: Places of weights and draft, in a few words.
        tokens_per_second: Predicted, while it decodes.
        first_token_s: Predicted time to the first token of a reply to `PlanReport.prompt_tokens`.
        memory_bytes: By device: ``host``, and a GPU's name as torch has it.
        context: Tokens of context that it has room for.
        tokens_per_round: Tokens for each forward of the target (tau).
        draft_nodes: Nodes of the drafts that are predicted to pay best; 0 for none.
        widths: Speeds by the rows of a forward, for a draft whose trees may have any size at one price.
        disk_bytes_per_round: Read from the disk by each forward.
        weights: The format.
        placement: Places of the layers, as plain types.
        drafts: Names of its drafts.
        draft_devices: Devices of the drafts, as torch calls them.
    """

    mode: str
    refusal: str = ""
    summary: str = ""
    tokens_per_second: float | None = None
    first_token_s: float | None = None
    memory_bytes: dict[str, int] = field(default_factory=dict)
    context: int | None = None
    tokens_per_round: float | None = None
    draft_nodes: int = 0
    widths: tuple[WidthSpeed, ...] = ()
    disk_bytes_per_round: int = 0
    weights: str | None = None
    placement: dict[str, str | int] | None = None
    drafts: tuple[str, ...] = ()
    draft_devices: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlanReport:
    """Every mode for a model on this machine.

    Attributes:
        model: The model's name.
        weights: The format of the mode that ``auto`` takes; each mode has the one that suits it.
        prompt_tokens: The prompt that the times to the first token are for.
        context_limit: Most tokens of context that the model takes.
        modes: Fastest first, then those that cannot run.
        chosen: The mode that ``auto`` takes; empty where none can run.
        reason: One sentence on why.
        measured: The machine's speeds were measured; else all figures are made from assumed ones.
        profiled: Replies of this model on this machine went into them.
    """

    model: str
    weights: str
    prompt_tokens: int
    context_limit: int
    modes: tuple[ModePrediction, ...]
    chosen: str
    reason: str
    measured: bool
    profiled: bool = False

    @property
    def drafts(self) -> tuple[str, ...]:
        """Names of the drafts of all modes, each once."""
        return tuple(dict.fromkeys(draft for mode in self.modes for draft in mode.drafts))
