"""A model in memory, ready to reply: tokenizer, target and draft, loaded as planned."""

from __future__ import annotations

import contextlib
import gc
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from importlib import metadata
from itertools import compress
from math import inf

import torch

from engine.advice import model_advice
from engine.decoding.costs import Costs
from engine.decoding.kept_on_disk import ChatOnDisk
from engine.decoding.kept_sequences import KeptSequences
from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.committee import CommitteeMemory
from engine.drafting.fallback_drafter import DamagedDrafter
from engine.drafting.head_loader import never_ends
from engine.drafting.kind import DraftLoad, LoadedDraft
from engine.drafting.kinds import check_draft
from engine.drafting.lookup import MatchChances
from engine.errors import CheckpointError, InvalidOption, OutOfMemory, WeightsNotFinite
from engine.hub.installed import cache_folder
from engine.hub.model_folders import is_others
from engine.hub.model_head import read_head
from engine.hub.titles import title_of_model
from engine.kernels import library
from engine.messages import Generate, KeptChat, LoadOptions, ModelReport, PictureLayout
from engine.model.converted import Conversion
from engine.model.decoder import Decoder
from engine.model.footprint import layer_elements, weight_bytes
from engine.model.weight_format import WeightFormat
from engine.placement import ResidentPlan
from engine.placement.device import Link, answers, first_line, is_full
from engine.placement.source import TargetSource
from engine.planning.hardware import (
    available_memory_bytes,
    free_device_bytes,
    give_back_device_memory,
    held_bytes,
    held_device_bytes,
    preparers_bytes,
    read_host_memory,
)
from engine.planning.kernel_table import prefer_fastest
from engine.planning.load_plan import FULL, GpuInUse, LoadPlan, memory_places
from engine.planning.probes.host import usable_cores
from engine.run import Run, check_sight, settle
from engine.sentences import figure, mark, say
from engine.text.pictures import row_ids
from engine.text.preparation import Preparation
from engine.text.token_texts import TokenTexts
from engine.vision.seen_picture import KeptRows, PictureRows, SeenPicture

# Up to this size the choice of kernels matters less than the time of measuring it.
_LARGE_BYTES = 128 << 20
# Up to this size a forward may take less time than threads wait for each other, so their number is measured. Above
# it all cores are used: a model that was loaded while the machine was busy would stay on one of them.
_TINY_BYTES = 32 << 20
_TRIALS = 7
_CPU = torch.device("cpu")
# Requests whose runs are remembered, so that each is settled once.
_SETTLED_RUNS = 16
_WITHOUT_PIPELINE = mark(
    "Drafts of several replies are made between the model's passes and not beside them: the pipeline is off, because "
    "drafts and model compute on one device ({device})."
)
_NEVER_ENDS = mark(
    "The draft {draft} never guesses the end of a reply, because the model's end token is none of the tokens that it "
    "can guess: the text stays the same."
)
_TEXT_ALONE = mark("Tenon runs the text part of this model alone: it takes no images and no sound.")
# sentences by whether the GPU's memory was full
_LOADED_ANEW = {
    True: mark("The GPU has less memory than planned, so the model was loaded differently: {summary}."),
    False: mark("The GPU stopped working ({reason}), so the model was loaded without it: {summary}."),
}
# sentences by whether the GPU's memory was full
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
    """A model in memory, and the sequences that live on between its replies."""

    def __init__(
        self,
        run: Run,
        plan: LoadPlan,
        progress: Callable[[int, int], None],
        check: Callable[[], None],
    ) -> None:
        """Load a model as planned.

        Args:
            plan: Places of target and drafts: those of the run, unless a GPU failed with these.
            progress: Called with bytes of weights read, and in all.
            check: Called often, by this load and by the replies that follow; raises `Cancelled` when the running
                request is to stop.

        Raises:
            TenonError: The folder, the options or the memory are at fault; no part of the model stays loaded then.
        """
        started = time.perf_counter()
        options, drafts, opened = run.options, run.drafts, run.planner.opened
        _set_threads(options.threads)
        memory = read_host_memory()
        checkpoint, config = opened.checkpoint, opened.config
        check()
        beside = ThreadPoolExecutor(1, "tenon-tokenizer")
        tokenizer = beside.submit(lambda: opened.tokenizer)  # while the disk is waited for
        beside.shutdown(wait=False)
        asked = run.planner.drafts if run.left else drafts  # a draft that is left may be another model's all the same
        if asked or plan.placement.streams:  # drafts are compared with it, and readers must not outlive its errors
            tokenizer.result()
        for draft in asked:
            check_draft(draft, opened, asked)

        def check_load() -> None:
            check()
            if tokenizer.done():
                tokenizer.result()

        size_bytes = weight_bytes(config, plan.weights)
        if size_bytes >= _LARGE_BYTES:
            prefer_fastest(plan.weights, cache_folder(), check)
        check()
        self.plan = plan  # plan of the load, with the present places of its layers
        # The way to the GPU, or to the CPU's own memory if none is used
        self.link = Link(torch.device(plan.device or "cpu"))
        ours = not is_others(checkpoint.folder)
        conversion = Conversion(checkpoint, config, plan.weights, cache_folder() / "packed", ours)
        source = TargetSource(conversion, self.link, progress, check_load)
        placed = plan.placement.load(source)
        self.tokenizer = tokenizer.result()
        self.token_texts = TokenTexts(self.tokenizer)  # texts of its tokens, each by itself
        # Preparer of requests before their turn
        self.preparation = Preparation(self.tokenizer, opened.place, cache_folder())
        self.placement = placed.placement  # placement of the target's weights
        self.longest_prompt = 0  # tokens of the longest prompt so far, or of those that were read together
        self._at_home = placed.at_home
        # False if the layers left the GPU and did not reach the host.
        self._whole = True
        early: list[str] = []
        # Takes a sentence for the user about an event in mid-reply
        self.tell: Callable[[str], None] = early.append
        decoder = Decoder(config, self.placement)
        # Target with the model's decoder
        self.target = Target(decoder, None if placed.at_home is None else self._leave_gpu)
        self.target_devices = placed.devices  # devices that the target computes on, in words
        if options.threads is None and size_bytes < _TINY_BYTES and not plan.placement.streams:
            torch.set_num_threads(_faster_thread_count(TokenSequence(self.target, plan.context)))
        self.tower = opened.tower  # what turns pictures into rows for the decoder; None if it does not see
        self.seen: KeptRows = {}  # rows of pictures that were read
        if self.tower is not None:
            try:
                self.tower.load(plan.weights.name != "fp32", check)
            except CheckpointError as error:  # texts do without it
                opened.without_tower(error)
                self.tower = None
        alone = self.tower is None and (config.family.text_config or checkpoint.text_alone)
        left_out = (say(_TEXT_ALONE),) if alone else ()
        # Sentences for the user about what could not be done as asked
        self.notes = (*plan.notes, *placed.notes, *early, *_slow_kernels(plan.weights), *left_out)
        self.notes += (*self.tokenizer.notes, *opened.adapter_notes)
        loaded: list[LoadedDraft] = []
        for draft, place in zip(drafts, plan.drafts, strict=True):
            link = self.link if place.on_gpu else Link(_CPU)
            parts = DraftLoad(place, decoder, checkpoint, plan.context, link, check)
            try:
                loaded.append(draft.load(parts))
            except WeightsNotFinite:
                loaded.append(LoadedDraft(draft.name, draft.kind, link, lambda: lambda drafting: DamagedDrafter()))
            whole = draft.opened.head_kind in (None, "mtp")  # which guess all tokens, and are read as models are
            if not whole and never_ends(draft.opened.head, self.tokenizer.end_ids):
                self.notes += (say(_NEVER_ENDS, draft=draft.name),)
            draft.opened.forget_head()
            self.notes += loaded[-1].notes
        self.drafts = tuple(loaded)  # drafts that were loaded with it
        self._said_without_pipeline = False
        self.sequences = KeptSequences(self._new_sequence, self.has_room)  # sequences with its texts
        self.digest = opened.digest  # digest of its files; empty if they have none
        streamed = self.placement.streamed_bytes > 0
        read = layer_elements(config) * config.layers + config.vocabulary_size * config.hidden_size
        step = sum(draft.read_elements for draft in drafts) / read
        # Costs of earlier replies' rounds by `Mode.drafting_name`, so that a reply need not measure them
        # first
        self.round_costs: defaultdict[str, Costs] = defaultdict(lambda: Costs(streamed, step))
        self.match_chances = MatchChances()  # worth of matches in the texts of earlier replies, for lookup
        self.committee = CommitteeMemory()  # experience of earlier replies with drafts that vote
        self._set_run(run)
        self.folder = opened.place
        self._checkpoint = checkpoint
        # The checkpoint's values for sampling; empty if it has none
        self.generation_config = opened.generation_config
        # Report on the load
        self.report = ModelReport(
            name=title_of_model(options.model),
            folder=str(opened.place),
            architecture=config.architecture,
            parameters=placed.parameters,
            weights=plan.weights.name,
            context=plan.context,
            weight_bytes=size_bytes,
            load_ms=(time.perf_counter() - started) * 1e3,
            places=memory_places(plan, config, memory, GpuInUse.of(self.link.device)),
            kv_cache="q8_0" if plan.weights.cache == torch.int8 else FULL,
            threads=torch.get_num_threads(),
            advice=model_advice(self.generation_config, self.tokenizer.template),
            template_note=self.tokenizer.template_note,
            only_continues=self.tokenizer.template is None or read_head(opened.place).only_continues,
            sees=self.tower is not None,
        )

    def serves(self, options: LoadOptions) -> Run | None:
        """Return what a request with these options runs with if nothing has to be loaded for it, else None.

        A target that had to leave the GPU stays away from it until other options are asked for. Changed files are
        another model.

        Raises:
            InvalidOption: A value is out of its range.
            CheckpointError: A draft does not exist.
        """
        there = self._whole and not self._checkpoint.changed and self._gpu_answers()
        return self._settled(options) if there else None

    def leave_drafts(self, run: Run) -> bool:
        """Drop the drafts that Auto no longer takes and make the run the model's own; return False if all stay."""
        used = {draft.name for draft in run.drafts}
        stays = [draft.reference in used for draft in self.drafts]
        if all(stays) or run.options.insists or (run.options.drafts and not run.left):
            return False
        self.drafts = tuple(compress(self.drafts, stays))
        self.plan = self.plan.keeping(stays)
        self.sequences.leave_drafts(stays)
        self._set_run(run)
        memory, gpu = read_host_memory(), GpuInUse.of(self.link.device)
        self.report = replace(self.report, places=memory_places(self.plan, self.target.config, memory, gpu))
        return True

    def _set_run(self, run: Run) -> None:
        self.run = run
        self._settled = lru_cache(_SETTLED_RUNS)(run.settled)

    def settle_anew(self) -> None:
        """Forget what requests run with, because the planner knows more."""
        self._settled.cache_clear()

    def _gpu_answers(self) -> bool:
        """Return whether the GPU is still there, if target or drafts compute on it."""
        device = self.link.device
        used = not self.is_apart(self.link) or any(draft.link.device == device for draft in self.drafts)
        return not used or answers(device)

    def has_room(self, sequences: int, kept_bytes: int = 0) -> bool:
        """Return whether memory holds so many sequences and one more, each grown to the whole context.

        Args:
            sequences: Number of sequences that may grow.
            kept_bytes: Bytes of the present sequences that stay as they are beside these.
        """
        options, plan, device = self.run.options, self.plan, self.link.device
        sizes = plan.sizes(self.target.config)
        here, there = plan.placement.host(sizes).cache, plan.placement.device(sizes).cache
        # The memory that the present sequences have taken already is theirs.
        growing_bytes = self.sequences.bytes - kept_bytes
        held_here, held_there = (growing_bytes * part // (here + there) for part in (here, there))
        # A draft's weights are in memory once, and its state once for each text.
        here += sum(draft.text_bytes for draft in plan.drafts if not draft.on_gpu)
        there += sum(draft.text_bytes for draft in plan.drafts if draft.on_gpu)
        free = available_memory_bytes()
        if options.ram_budget_bytes is not None:
            free = min(free, options.ram_budget_bytes - held_bytes() - preparers_bytes())
        if (sequences + 1) * here > free + held_here:
            return False
        if not there:
            return True
        free = free_device_bytes(device)
        if options.vram_budget_bytes is not None:
            free = min(free, options.vram_budget_bytes - held_device_bytes(device))
        return (sequences + 1) * there <= free + held_there

    def is_apart(self, link: Link) -> bool:
        """Return whether the target computes nothing on the device that a link leads to."""
        return str(link.device) not in self.target_devices

    def without_pipeline(self) -> str:
        """Return a sentence, once, about drafts that are not made beside the target's forwards, or an empty text."""
        said, self._said_without_pipeline = self._said_without_pipeline, True
        if said or not self.drafts or any(self.is_apart(draft.link) for draft in self.drafts):
            return ""
        return say(_WITHOUT_PIPELINE, device=self.drafts[0].link.device)

    def chat_on_disk(self, place: KeptChat | None) -> ChatOnDisk | None:
        """Return the files of a chat for this model as it computes now; None without a place, or if it has no name."""
        if place is None or not self.digest or self.placement.first is not None:  # whose rows cannot be read
            return None
        facts = (version(), self.plan.weights.name, library.available(), self.target_devices)
        return ChatOnDisk(place, self.digest, repr(facts))

    def bring_in(self, place: KeptChat | None) -> Iterator[None]:
        """Read a chat's rows and states from the disk, ahead of its next message; yield after each file."""
        chat = self.chat_on_disk(place)
        if chat is not None:
            yield from self.sequences.bring_in(chat)

    def layouts(self, request: Generate) -> dict[str, PictureLayout]:
        """Return the layouts of a request's pictures, by their digests.

        Raises:
            PicturesUnseen: The model does not see them.
        """
        if self.tower is None:
            check_sight(request)
            return {}
        return {one.sha256: self.tower.layout(one) for one in request.pictures}

    def picture_rows(self, request: Generate, layouts: Mapping[str, PictureLayout]) -> dict[int, PictureRows]:
        """Return the runs of a request's pictures, by the ids of their first rows."""
        assert self.tower is not None, "it has layouts"
        found = {}
        for one in request.pictures:
            layout = layouts[one.sha256]
            for rows in SeenPicture(self.tower, one, layout, self.seen).runs():
                found[row_ids(layout, rows.run)[0]] = rows
        return found

    def forget(self, place: KeptChat | None, everything: bool) -> None:
        """Drop the texts of a chat, or of all, as `KeptSequences.forget` does, and the rows of all pictures."""
        self.sequences.forget(place, everything)
        self.seen.clear()

    def _new_sequence(self) -> TokenSequence:
        drafts = [draft.new_text() for draft in self.drafts]
        return TokenSequence(self.target, self.plan.context, drafts, self.plan.states, self.tokenizer.end_ids)

    def _leave_gpu(self, error: RuntimeError) -> Decoder:
        """Return the target with all of its layers on the host, after the GPU failed with some of them."""
        at_home, self._at_home = self._at_home, None
        assert at_home is not None, "layers are on the GPU"
        full, reason = is_full(error), first_line(error)
        self._free()
        self._whole = False
        sizes = self.plan.sizes(self.target.config)
        home = ResidentPlan.of(len(self.plan.placement.layers))
        needed = home.host(sizes).total - self.plan.placement.host(sizes).total
        free = available_memory_bytes()
        if needed > free:
            raise OutOfMemory(
                _NO_WAY_HOME[full],
                reason=reason,
                needed=figure(needed / 1e9, ".3g"),
                free=figure(free / 1e9, ".3g"),
            )
        self.tell(say(_MOVED_HOME[full], reason=reason, name=self.plan.weights.name))
        self.placement = at_home()
        self.plan = replace(self.plan, placement=home)
        self._whole = True
        self.target_devices = "cpu"
        return Decoder(self.target.config, self.placement)

    def release(self) -> None:
        """Free the weights, and end their readers; the model cannot be used afterwards."""
        self.preparation.close()
        self._free()

    def _free(self) -> None:
        with contextlib.suppress(RuntimeError):  # a lost GPU cannot be waited for either
            self.placement.release()


def load_model(
    run: Run,
    progress: Callable[[int, int], None] = lambda done, total: None,
    check: Callable[[], None] = lambda: None,
) -> LoadedModel:
    """Load a model for a run.

    A GPU that has less memory than planned leads to a new plan, made as the first one was, and a sentence; one that
    fails leads to a plan without it.

    Args:
        run: Run that was settled.
        progress: Called with bytes of weights read, and in all.
        check: Called often; raises to cancel.

    Raises:
        TenonError: The folder, the options or the memory are at fault.
    """
    plan, options = run.load, run.options
    try:
        return LoadedModel(run, plan, progress, check)
    except RuntimeError as error:
        # Torch raises it when a device is lost, when it is full, or when a kernel fails there.
        if not plan.device:
            raise
        full, reason = is_full(error), first_line(error)
    gc.collect()
    give_back_device_memory()
    again = settle(options).load if full else None
    if again is None or again.on_device.total >= plan.on_device.total:
        # The GPU failed, or its memory is not as free as reported: load without it.
        again = settle(replace(options, vram_budget_bytes=0)).load
    note = say(_LOADED_ANEW[full], reason=reason, summary=again.summary)
    return LoadedModel(run, replace(again, notes=(note, *again.notes)), progress, check)


def version() -> str:
    """Return Tenon's version, or ``unknown``."""
    try:
        return metadata.version("tenon")
    except (metadata.PackageNotFoundError, OSError):  # not installed, or no file can be opened now
        return "unknown"


def _slow_kernels(weights: WeightFormat) -> tuple[str, ...]:
    """Return a note if packed weights are slow: their kernels are not made for this processor or installation."""
    in_use = library.available()
    if not weights.packed or in_use not in (None, "portable"):
        return ()
    if in_use is None:
        return (say("Replies in {name} weights will be slow: {why}", name=weights.name, why=library.reason()),)
    return (
        say(
            "Replies in {name} weights will be slow: this processor has neither AVX2 nor ARM's dot products.",
            name=weights.name,
        ),
    )


def _faster_thread_count(sequence: TokenSequence) -> int:
    """Return one thread or all, by the best of alternating forwards: other programs can only slow one down."""
    counts = (usable_cores(), 1)
    best_s = dict.fromkeys(counts, inf)
    for threads in counts * _TRIALS:
        torch.set_num_threads(threads)
        best_s[threads] = min(best_s[threads], sequence.seconds_of_forward(1))
    return min(best_s, key=best_s.__getitem__)


def _set_threads(threads: int | None) -> None:
    if threads is not None and not 1 <= threads <= 1024:
        raise InvalidOption("The number of threads is {threads}, but it must be between 1 and 1024.", threads=threads)
    torch.set_num_threads(threads or usable_cores())
