"""A machine's hardware and the predictions for a model on it, for whoever shows them to a user."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from engine.sentences import mark, say

GpuKind = Literal["cuda", "rocm", "xpu", "mps", "vulkan", "metal", "d3d12"]
#: Causes that a board's firmware names: too little voltage, and heat.
HeldDown = Literal["voltage", "heat"]
_HELD_DOWN: dict[HeldDown, str] = {
    "voltage": mark("The power supply is too weak, so the board is slower: use the one that is made for it."),
    "heat": mark("The board is hot, so it is slower: give it air or a fan."),
}
_WAS_HELD_DOWN: dict[HeldDown, str] = {
    "voltage": mark("The power supply was too weak at times since the start: use the one that is made for the board."),
    "heat": mark("The board was hot and slower at times since the start: give it air or a fan."),
}


@dataclass(frozen=True)
class Processor:
    """A processor."""

    name: str  # name as its maker calls it
    architecture: str  # ``x86_64``, ``aarch64`` and so on
    physical_cores: int  # cores of the machine
    logical_cores: int  # threads that they run at once
    usable_cores: int  # physical cores that this process may use, under affinity and control groups
    instruction_sets: tuple[str, ...]  # instruction sets that matter here, the oldest first


@dataclass(frozen=True)
class HostMemory:
    """Memory in bytes."""

    total_bytes: int  # memory that this process could ever have
    available_bytes: int  # memory that can be taken now without swapping
    swap_total_bytes: int = 0  # swap space
    # Memory of the engine's process without a model (Python, torch and the kernels) and of the processes that
    # prepare requests; the default is as measured on Linux without these
    process_bytes: int = 350_000_000

    @property
    def others_bytes(self) -> int:
        """Memory that everything else holds."""
        return max(0, self.total_bytes - self.available_bytes - self.process_bytes)


@dataclass(frozen=True)
class Gpu:
    """A GPU."""

    device: str  # device as torch calls it: ``cuda:0``; of chips that torch knows nothing of ``vulkan:0``
    kind: GpuKind  # whose interface it has
    name: str  # name as its maker calls it
    total_bytes: int  # memory; of unified memory the whole pool
    free_bytes: int  # memory that can be taken now
    unified: bool  # True if its memory is the host's: one pool, never counted twice

    @property
    def by_shaders(self) -> bool:
        """True if Tenon's own shaders compute on it (`engine.graphics`) and not torch."""
        return self.kind in ("vulkan", "metal", "d3d12")


@dataclass(frozen=True)
class GpuSpeed:
    """Measured speeds of a GPU."""

    memory_bytes_per_s: float  # plain reads of its memory
    products_per_s: float  # products of two 16-bit numbers in a large matrix product
    operator_s: float  # one operator on hardly any data: the launch
    from_host_bytes_per_s: float  # copies from the host's memory, pinned where that can be done
    packed: bool = False  # True if the products are of blocks as files store them, which are read as they are
    # Products of each further row per second in forwards of at most so many rows, which have a shader of their own
    few_products_per_s: float = 0.0
    few_rows: int = 0

    def seconds(self, size_bytes: float, elements: float, rows: int) -> float:
        """Return the time of multiplying rows with weights of this size and number."""
        reading_s = size_bytes / self.memory_bytes_per_s
        if rows <= self.few_rows:
            return reading_s + (rows - 1) * elements / self.few_products_per_s
        return max(reading_s, rows * elements / self.products_per_s)


@dataclass(frozen=True)
class Disk:
    """The disk that a folder lies on."""

    role: str  # role of the folder: ``models`` or ``cache``
    folder: str
    kind: Literal["network", "spinning", "solid", "card", "unknown"]  # kind as far as the system says
    free_bytes: int  # bytes that this user may still write


@dataclass(frozen=True)
class Power:
    """Source of the power."""

    on_mains: bool | None  # True on mains power; None if the system does not say
    battery_percent: float | None  # charge of the battery, or None without one
    # Causes for which a board holds its speed down, and those of since its start that have passed
    held_down: tuple[HeldDown, ...] = ()
    was_held_down: tuple[HeldDown, ...] = ()

    @property
    def troubles(self) -> tuple[str, ...]:
        """Sentences on what holds the board's speed down, now and earlier."""
        now = (say(_HELD_DOWN[cause]) for cause in self.held_down)
        return (*now, *(say(_WAS_HELD_DOWN[cause]) for cause in self.was_held_down))


@dataclass(frozen=True)
class FormatSpeed:
    """Speed of a processor with weights in a format."""

    bytes_per_s: float  # weights read, B_m * E_m
    products_per_s: float  # products of a weight and an activation, P_c * E_c
    overlap: float  # beta: 0 where reading and multiplying overlap completely, 1 where they do not
    arranging_s_per_byte: float = 0.0  # seconds of putting a byte of a file into the kernels' order

    def seconds(self, size_bytes: float, products: float) -> float:
        """Equation 4 for weights of this size and this many products."""
        reading, multiplying = size_bytes / self.bytes_per_s, products / self.products_per_s
        return max(reading, multiplying) + self.overlap * min(reading, multiplying)


@dataclass(frozen=True)
class HostSpeed:
    """Measured speeds of the host."""

    memory_bytes_per_s: float  # plain reads from memory by all usable cores
    operator_s: float  # one of torch's operators on hardly any data: what small models spend their time on
    formats: dict[str, FormatSpeed]  # by the name of a weight format

    def format(self, name: str) -> FormatSpeed:
        """Return a format's speed, or Q4_K_M's where the format was not measured; KeyError if neither was."""
        return self.formats.get(name) or self.formats["q4_k_m"]


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
        return ", ".join([self.version, *(f"{name} {version}" for name, version in made_for.items() if version)])


@dataclass(frozen=True)
class PlainError:
    """Error of a prediction: plain decoding of one model against what the machine's speeds had predicted."""

    size_bytes: int  # size of its weights
    times: float  # measured tokens per second as a multiple of the predicted ones


@dataclass(frozen=True)
class Speeds:
    """Measured speeds."""

    measured_at: str  # the moment, as ISO 8601 in UTC
    host: HostSpeed  # speeds of the processor
    gpus: dict[str, GpuSpeed]  # speeds by the GPU's device name
    # Bytes read per second by the folder's role; what could not be measured is not there
    disks: dict[str, float]
    # Other programs took much of the processors meanwhile, so that it is to be measured again
    busy: bool = False
    # By the model's digest, the format of its products and its placement; models that were not measured take it
    errors: dict[str, PlainError] = field(default_factory=dict)


@dataclass(frozen=True)
class MachineReport:
    """A machine."""

    machine: str  # the maker's name for it, such as a board's; empty where there is none
    system: str  # operating system and its version
    processor: Processor  # cores and instruction sets
    memory: HostMemory  # the host's
    gpus: tuple[Gpu, ...]  # GPUs that torch can use; if there are none, graphics chips that can draft
    disks: tuple[Disk, ...]  # below the folders of models and of the cache
    power: Power  # battery or mains
    torch: TorchBuild  # the installed build
    # The instruction set of the kernel library; None where torch's own operators are all there is
    kernels: str | None
    speeds: Speeds | None = None  # None while nothing was measured

    def disk(self, role: str) -> Disk | None:
        """Return the disk of a folder by its role."""
        return next((disk for disk in self.disks if disk.role == role), None)


@dataclass(frozen=True)
class WidthSpeed:
    """Speed of a mode with one width of its rounds."""

    rows: int  # rows of a forward: the nodes of a draft and the token before them
    expected: float  # tokens per second
    measured: float | None = None  # the same, as it was measured here; None before


@dataclass(frozen=True)
class ModePrediction:
    """One way to run a model."""

    mode: str  # ``--mode`` name
    # One sentence that says why ``auto`` never takes it; empty where it may, and only then have the others
    # values
    refusal: str = ""
    summary: str = ""  # places of weights and draft, in a few words
    # Speed while it decodes: as measured here on the standard prompts, else predicted. All who show it or choose by
    # it take this one
    tokens_per_second: float | None = None
    # Predicted time to the first token of a reply to `PlanReport.prompt_tokens`
    first_token_s: float | None = None
    # With a full context, by device: ``host``, and a GPU's name as torch has it
    memory_bytes: dict[str, int] = field(default_factory=dict)
    context: int | None = None  # tokens of context that it has room for
    tokens_per_round: float | None = None  # tokens for each forward of the target (tau)
    draft_nodes: int = 0  # nodes of the drafts that are predicted to pay best; 0 for none
    # Speeds by the rows of a forward, for a draft whose trees may have any size at one price
    widths: tuple[WidthSpeed, ...] = ()
    disk_bytes_per_round: int = 0  # read from the disk by each forward
    weights: str | None = None  # the format
    placement: dict[str, str | int] | None = None  # places of the layers, as plain types
    drafts: tuple[str, ...] = ()  # names of its drafts
    draft_devices: tuple[str, ...] = ()  # devices of the drafts, as torch calls them
    votes: bool = False  # drafts vote, prompt lookup among them
    measured: bool = False  # the speed was measured
    # Other programs kept the machine busy while the speed, or what it is predicted from, was measured: it is rough,
    # and will be measured again
    busy: bool = False
    predicted_per_second: float | None = None  # the same as predicted before this model was measured
    dear: str = ""  # why its draft cannot pay on the processor, as long as no reply has tried it; empty if it may
    passed_over: str = ""  # why ``auto`` leaves it although it is not slower than the mode taken; else empty
    # Bytes of ``memory_bytes``, by device, that come as a text fills the context
    text_bytes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class PlanReport:
    """Every mode for a model on this machine."""

    model: str  # the model's name
    weights: str  # the format of the mode that ``auto`` takes; each mode has the one that suits it
    prompt_tokens: int  # the prompt that the times to the first token are for
    context_limit: int  # most tokens of context that the model takes
    modes: tuple[ModePrediction, ...]  # in the order of ``auto``: fastest first, then those that cannot run
    chosen: str  # the mode that ``auto`` takes; empty where none can run
    reason: str  # one sentence on why
    measured: bool  # the machine's speeds were measured; else all figures are made from assumed ones
    profiled: bool = False  # replies of this model on this machine went into them

    @property
    def drafts(self) -> tuple[str, ...]:
        """Names of the drafts of all modes, each once."""
        return tuple(dict.fromkeys(draft for mode in self.modes for draft in mode.drafts))

    @property
    def taken(self) -> ModePrediction | None:
        """The mode that ``auto`` takes; None if none can run."""
        return next((mode for mode in self.modes if mode.mode == self.chosen), None)

    def drafted(self, several: bool = False) -> ModePrediction | None:
        """Return the fastest mode that drafts, with a vote of several drafts or with one; None if there is none."""
        drafted = (mode for mode in self.modes if mode.drafts and mode.votes == several)
        return next(drafted, None)

    def times_plain(self, mode: ModePrediction) -> float | None:
        """Return a mode's speed as a multiple of plain decoding's here, or None if one of them is not known."""
        plain = next((one.tokens_per_second for one in self.modes if one.mode == "plain"), None)
        return mode.tokens_per_second / plain if plain and mode.tokens_per_second else None
