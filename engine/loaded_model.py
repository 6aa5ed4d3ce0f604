"""A model in memory, ready to reply: tokenizer, target and what was chosen for them."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from math import inf

import torch

from engine.advice import model_advice
from engine.decoding.round_cost import RoundCost
from engine.decoding.target import Target
from engine.drafting.match_chances import MatchChances
from engine.errors import InvalidOption, OutOfMemory, UnsupportedModel
from engine.hub.installed import cache_folder, find_model, model_name
from engine.kernels import library
from engine.loaded_draft import LoadedDraft, plan_draft
from engine.loaded_target import place_target
from engine.messages import LoadOptions, ModelReport
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.footprint import layer_bytes
from engine.model.weight_format import WeightFormat
from engine.modes import MODES
from engine.placement.link import Link
from engine.planning.device_fit import DevicePlan, plan_device
from engine.planning.fit import fit_model
from engine.planning.format_choice import AUTO, FULL
from engine.planning.hardware import (
    available_memory_bytes,
    find_gpu,
    free_device_bytes,
    shares_memory,
    usable_cores,
)
from engine.planning.kernel_table import prefer_fastest
from engine.planning.memory_places import Gpu, MachineMemory, memory_places
from engine.planning.placement_plan import PlacementPlan
from engine.planning.planner import choose_draft
from engine.planning.thresholds import GPU_RESERVE_BYTES
from engine.sentences import figure, mark, say
from engine.text.token_texts import TokenTexts
from engine.text.tokenizer import Tokenizer, read_end_ids
from engine.weights.checkpoint import Checkpoint
from engine.weights.draft_kind import draft_kind

# Up to this size the choice of kernels matters less than measuring it takes.
_LARGE_BYTES = 128 << 20
# Up to this size a forward may take less time than threads wait for each other, so their number is measured. Above it
# all cores are used: a model that was loaded while the machine was busy would stay on one of them.
_TINY_BYTES = 32 << 20
_TRIALS = 7
_CPU = torch.device("cpu")
_GPU_UNUSED = mark(
    "The part of the model that does not fit on the GPU does not fit in memory either, so the CPU computes all of it."
)
_SHORT_OF_MEMORY = mark(
    "Keys and values take 8 bits, which is lossy, so that {context} tokens of context fit into memory."
)

# By whether the GPU's memory was full.
_NO_WAY_HOME = {
    True: mark(
        "The GPU ran out of memory, and the model's layers that were there need {needed} GB of memory, of which {free} "
        "GB are free: set the GPU memory budget to 0 and ask again."
    ),
    False: mark(
        "The GPU stopped working ({reason}), and the model's layers that were there need {needed} GB of memory, of "
        "which {free} GB are free: set the GPU memory budget to 0 and ask again."
    ),
}
_MOVED_HOME = {
    True: mark(
        "The GPU ran out of memory, so the model's layers move to the CPU and the reply goes on there in {name} "
        "weights."
    ),
    False: mark(
        "The GPU stopped working ({reason}), so the model's layers move to the CPU and the reply goes on there in "
        "{name} weights."
    ),
}


class LoadedModel:
    """One model and the cache that lives on between its replies.

    Attributes:
        options: What it was loaded with.
        report: What was loaded.
        tokenizer: Its tokenizer.
        token_texts: What its tokens say, each for itself.
        target: Its decoder and cache.
        draft: The draft that was loaded with it, None for none.
        link: The way to the GPU, or to the CPU's own memory where none is used.
        placement: Where the target's weights are.
        placement_plan: Where its layers live.
        target_devices: Where the target computes, in words.
        generation_config: How the checkpoint wants to be sampled; empty where it does not say.
        tell: Takes a sentence for the person about something that happens in mid-reply; set for each reply.
        round_costs: By mode, what the rounds of earlier replies cost: a reply need not measure it again first.
        match_chances: What matches in the texts of earlier replies were worth to lookup.
        notes: Sentences for the person about what could not be done as asked.
    """

    def __init__(
        self, options: LoadOptions, progress: Callable[[int, int], None], check: Callable[[], None]
    ) -> None:
        """Load a model.

        Args:
            options: Which and how.
            progress: Called with bytes of weights read, and in all.
            check: Called often, by this load and by the replies that follow; raises `Cancelled` when the request that
                runs is to stop.

        Raises:
            TenonError: anything that is wrong with the folder, the options or the memory; nothing stays loaded then.
        """
        started = time.perf_counter()
        _set_threads(options.threads)
        memory = MachineMemory.now()
        folder = find_model(options.model)
        if draft_kind(folder) == "head":
            raise UnsupportedModel(
                say(
                    "The folder {folder} holds a draft head and not a whole model: choose the model that "
                    "it was made for, and name this folder as its draft.",
                    folder=folder,
                )
            )
        checkpoint = Checkpoint(folder)
        config = read_config(checkpoint)
        check()
        self.tokenizer = Tokenizer(folder, read_end_ids(folder))
        self.token_texts = TokenTexts(self.tokenizer)
        gpu = None if options.vram_budget_bytes == 0 else find_gpu()
        reference = choose_draft(options)
        draft = None
        if reference is not None:
            draft = plan_draft(reference, self.tokenizer, config, options, gpu, _vram_budget(options, gpu))
        draft_there = draft is not None and draft.device == gpu
        left = None if gpu is None else _vram_budget(options, gpu)
        if left is not None and draft is not None and draft_there:
            left -= draft.size_bytes

        def on_gpu(weights: WeightFormat, context: int) -> DevicePlan:
            return plan_device(config, weights, context, options, left, draft_there)

        def off_host(weights: WeightFormat, context: int) -> PlacementPlan:
            together = gpu is None or shares_memory(gpu)
            return PlacementPlan() if together else on_gpu(weights, context).placement

        fit = fit_model(config, options, 0 if draft is None else draft.host_bytes, off_host)
        if fit.weight_bytes >= _LARGE_BYTES:
            prefer_fastest(fit.weights, cache_folder(), check)
        check()
        device_plan = on_gpu(fit.weights, fit.context)
        if fit.plan.kind == "stream":
            unused = device_plan.size_bytes > 0 and _gpu_part(options) is not None
            device_plan = DevicePlan(fit.plan, notes=(say(_GPU_UNUSED),) if unused else device_plan.notes)
        self.link = Link(gpu if gpu is not None and (draft_there or device_plan.size_bytes) else _CPU)
        self.placement_plan = device_plan.placement
        placed = place_target(
            checkpoint, config, fit.weights, self.placement_plan, self.link, progress, check
        )
        self.placement = placed.placement
        self._at_home = placed.at_home
        # False where the layers left the GPU and did not reach the host.
        self._whole = True
        self._weights = fit.weights
        early: list[str] = []
        self.tell: Callable[[str], None] = early.append
        decoder = Decoder(config, self.placement)
        self.target = Target(decoder, fit.context, None if placed.at_home is None else self._leave_gpu)
        self.target_devices = placed.devices
        if options.threads is None and fit.weight_bytes < _TINY_BYTES and fit.plan.kind != "stream":
            torch.set_num_threads(_faster_thread_count(self.target))
        self.notes = (*device_plan.notes, *placed.notes, *early, *_slow_kernels(fit.weights))
        if fit.weights.cache == torch.int8 and options.kv_cache == AUTO:
            self.notes += (say(_SHORT_OF_MEMORY, context=figure(fit.context, ",")),)
        self.draft: LoadedDraft | None = None
        if draft is not None:
            link = self.link if draft_there else Link(_CPU)
            self.draft = LoadedDraft(draft, decoder, checkpoint, fit.context, link, check)
            self.notes += self.draft.notes
        streamed = self.placement.streamed_bytes > 0
        self.round_costs: defaultdict[str, RoundCost] = defaultdict(lambda: RoundCost(flat=streamed))
        self.match_chances = MatchChances()
        self.options = options
        self.folder = folder
        self._checkpoint = checkpoint
        self.generation_config = checkpoint.generation_config
        self.report = ModelReport(
            name=model_name(options.model, folder),
            folder=str(folder),
            architecture=config.architecture,
            parameters=placed.parameters,
            weights=fit.weights.name,
            context=fit.context,
            weight_bytes=fit.weight_bytes,
            load_ms=(time.perf_counter() - started) * 1e3,
            places=memory_places(
                config,
                self.placement_plan,
                fit.weights,
                fit.context,
                memory,
                draft_bytes=0 if draft is None else draft.size_bytes,
                gpu=Gpu.of(self.link.device),
                draft_on_gpu=draft is not None and draft.device.type != "cpu",
            ),
            kv_cache="q8_0" if fit.weights.cache == torch.int8 else FULL,
            advice=model_advice(self.generation_config, self.tokenizer.template),
        )

    def serves(self, options: LoadOptions) -> bool:
        """Whether a request with these options needs no new load.

        Drafting may differ, and the mode where it is not about another part of a GPU. A target that had to leave the
        GPU stays away from it until something else is asked for. Files that were changed are another model.
        """
        own = self.options
        same = replace(
            options,
            mode=own.mode,
            draft_width=own.draft_width,
            draft_depth=own.draft_depth,
            draft_nodes=own.draft_nodes,
            fallback_threshold=own.fallback_threshold,
            branching=own.branching,
            adaptive_fallback=own.adaptive_fallback,
            draft_ahead=own.draft_ahead,
            draft_beyond=own.draft_beyond,
        )
        part = _gpu_part(options)
        return (
            self._whole
            and not self._checkpoint.changed
            and same == own
            and (part is None or part == _gpu_part(own))
            and (self.draft is not None or choose_draft(options) is None)
        )

    def _leave_gpu(self, error: RuntimeError) -> Decoder:
        """The target with all of its layers on the host, after the GPU failed with some of them."""
        at_home, self._at_home = self._at_home, None
        assert at_home is not None, "layers are on the GPU"
        full = isinstance(error, torch.OutOfMemoryError)
        reason = str(error).strip().partition("\n")[0][:120]
        self.release()
        self._whole = False
        config, plan = self.target.config, self.placement_plan
        moving = config.layers if plan.kind == "layer-offload" else plan.device_layers
        needed = moving * layer_bytes(config, self._weights, self.target.context)
        free = available_memory_bytes()
        if needed > free:
            raise OutOfMemory(
                say(
                    _NO_WAY_HOME[full],
                    reason=reason,
                    needed=figure(needed / 1e9, ".3g"),
                    free=figure(free / 1e9, ".3g"),
                )
            )
        self.tell(say(_MOVED_HOME[full], reason=reason, name=self._weights.name))
        self.placement, self.placement_plan = at_home(), PlacementPlan()
        self._whole = True
        self.target_devices = "cpu"
        return Decoder(self.target.config, self.placement)

    def release(self) -> None:
        """Free the weights, and end what reads them; nothing can be asked of the model after it."""
        with contextlib.suppress(RuntimeError):  # a GPU that is lost cannot be waited for either
            self.placement.release()


def _gpu_part(options: LoadOptions) -> str | None:
    """The part of a GPU that the mode is about; None where any will do, as streaming goes by memory alone."""
    mode = MODES.get(options.mode)
    return None if mode is None or mode.placement == "stream" else mode.placement


def _slow_kernels(weights: WeightFormat) -> tuple[str, ...]:
    """What to say of packed weights on a processor, or in an installation, that their kernels are not made for."""
    in_use = library.available()
    if not weights.packed or in_use not in (None, "portable"):
        return ()
    if in_use is None:
        return (
            say("Replies in {name} weights will be slow: {why}", name=weights.name, why=library.reason()),
        )
    return (
        say(
            "Replies in {name} weights will be slow: this processor has neither AVX2 nor ARM's dot products.",
            name=weights.name,
        ),
    )


def _vram_budget(options: LoadOptions, gpu: torch.device | None) -> int:
    """Bytes of the GPU's memory that may be taken: what was asked for, and never more than is free."""
    if gpu is None:
        return 0
    free = free_device_bytes(gpu) - GPU_RESERVE_BYTES
    return free if options.vram_budget_bytes is None else min(free, options.vram_budget_bytes)


def _faster_thread_count(target: Target) -> int:
    """One thread or all, by the best of forwards that take turns: other programs only slow one down."""
    counts = (usable_cores(), 1)
    best_s = dict.fromkeys(counts, inf)
    for threads in counts * _TRIALS:
        torch.set_num_threads(threads)
        best_s[threads] = min(best_s[threads], target.seconds_of_forward(1))
    return min(best_s, key=best_s.__getitem__)


def _set_threads(threads: int | None) -> None:
    if threads is not None and not 1 <= threads <= 1024:
        raise InvalidOption(
            say("The number of threads is {threads}, but it must be between 1 and 1024.", threads=threads)
        )
    torch.set_num_threads(threads or usable_cores())
