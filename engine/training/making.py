"""``tenon train draft`` from request to folder: target, examples, training, checkpoint."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, TextIO, TypeVar

import torch
from safetensors import SafetensorError
from torch import Tensor

from engine.drafting.kinds import kind_of
from engine.drafting.medusa import MedusaDraft, write_beside
from engine.drafting.prompt_tokens import PromptTokenDraft, load_prompt_tokens
from engine.errors import InvalidOption, OutOfDisk
from engine.messages import LoadOptions
from engine.model.config import ModelConfig
from engine.model.decoder import Decoder
from engine.model.loader import load_weights
from engine.model.packed_loader import load_packed
from engine.model.token_tree import ProbeMask
from engine.model_file import OpenedModel, open_model
from engine.modes import OFF
from engine.placement.resident import Resident
from engine.planning.probes.host import usable_cores
from engine.run import settle
from engine.text.tokenizer import Tokenizer
from engine.training.draft_networks import (
    DraftNetwork,
    FeatureGuesser,
    FusionName,
    MedusaNetwork,
    TrainedDraft,
    shape_for,
)
from engine.training.examples import answers_to, examples_of, is_wrong, prompts_of, read_records, requests
from engine.training.features import Example, ExampleSupply, TextFolder, batch_of
from engine.training.generation import WIDTH, Turn, Writer
from engine.training.loss import FeatureObjective, TargetEnds
from engine.training.prompt_tokens import (
    KEPT_TOKENS,
    LossName,
    PromptTokenNetwork,
    PromptTokenObjective,
    Twin,
    check_memory,
)
from engine.training.small_model import SmallNetwork, SmallObjective
from engine.training.trainer import FILES, Objective, read_draft, running_time, train, write_draft
from engine.training.tree_counts import count_probes, count_trees, network_of, replies_in, replies_of

T = TypeVar("T")
KindName = Literal["feature", "medusa", "prompt-tokens", "small"]
HeadName = Literal["own", "shared"]

# Tokens of a step: so many for each column of a wide model, because the optimizer's products for a weight grow with
# them (of 1,536 it took 43 % of a step of 2,000 tokens), but fewer if the draft's vocabulary is large, since each has
# a row of logits.
_STEP_TOKENS, _STEP_COLUMN, _STEP_LOGITS = 2000, 2.5, 1 << 26
# Tokens of a step of prompt tokens, roughly a text: a few thousand numbers learn more from many steps than from exact
# ones, and each token runs through the whole target three times.
_FEW_TOKENS = 160
_LONGEST = 640
# Shares of the minutes in which the target may write, and in which trees are counted at the end.
_WRITING, _COUNTING = 0.5, 0.05
# One text in twenty is kept aside to score on, as in EAGLE, but no more than can be scored quickly.
_KEPT_ASIDE_SHARE, _KEPT_ASIDE = 20, 32
#: Tokens that a draft guesses: 90 % of what Qwen2.5-Coder 1.5B (151,936 tokens) says in other texts than the 489 in
#: which they are the most frequent. With 18,992 tokens, 94 %, a head is right no more often, and each guess reads more.
DRAFTED = 8192
# Count added for a token of a low id, which is frequent in most vocabularies, beside the counts of seen tokens.
_ASSUMED = 500.0
# Tokens from which a draft's beginning is computed, divided by the number of its guesses, since each keeps features of
# its own in memory; and tokens from which only the sizes of embeddings and features are computed.
_LINEAR_TOKENS, _MEASURED_TOKENS = 60_000, 2000


@dataclass(frozen=True, kw_only=True)
class TextRequest:
    """Request for texts of a target."""

    model: str  # the target's folder or name
    data: Path | None  # texts or chats, one JSON object a line; None: the target writes all of them itself
    # Most texts that the target writes, to the requests of the data or to its own; None to take the data as
    # it is, or without it to write for as long as there is time
    generate: int | None
    minutes: float  # most minutes of writing and all that follows, together
    texts: Path | None = None  # folder that keeps the target's texts; the texts that it holds are taken too
    threads: int | None = None  # CPU threads, None for the usable cores
    seed: int = 1  # seed of everything random


@dataclass(frozen=True, kw_only=True)
class TrainRequest(TextRequest):
    """Request to train a draft."""

    blocks: int  # 1 to 6: transformer blocks, or residual blocks of each Medusa head
    fusion: FusionName  # dovetail or eagle, of a feature draft
    out: Path  # folder of the draft; training continues from a draft of the same shape in it
    vocabulary: int = DRAFTED  # tokens that it may draft, the most frequent ones; 0 for all
    kind: KindName = "feature"  # a feature draft, Medusa heads, prompt tokens, or a small model
    # Number of Medusa heads, or of prompt tokens: 1 to 16; None for 4 heads or 3 tokens
    heads: int | None = None
    head: HeadName = "shared"  # owner of the output maps of the heads
    members: int = 1  # embeddings of each prompt token
    mask: ProbeMask = "ensemble"  # rule of which of these see each other
    loss: LossName = "forward"  # loss of prompt tokens
    width: int = 128  # hidden size of a small model


def run(request: TrainRequest, out: TextIO) -> bool:
    """Train a draft.

    Args:
        out: Takes reports of progress.

    Returns:
        True if it ran to its end; False if Ctrl-C ended it early, with the best draft so far written.

    Raises:
        TenonError: The request makes no sense, or the target cannot be loaded.
    """
    check_texts(request)
    _check(request)
    ends_at = running_time().seconds() + 60 * request.minutes
    target = open_model(request.model)
    config = target.config
    kind, make = _maker(request, target)
    threads = request.threads or usable_cores()
    decoder, examples = texts_of(request, target, out, goes_on=True)
    if kind is SmallNetwork:
        examples = _without_wrong_answers(examples, target.tokenizer, out)
    if not examples:
        raise InvalidOption("There is no text to learn from: give longer texts, or chats with replies.")
    stride = max(_KEPT_ASIDE_SHARE, len(examples) // _KEPT_ASIDE)
    aside = examples[::stride]
    learned = [example for at, example in enumerate(examples) if at % stride] or examples
    if kind is PromptTokenNetwork:
        ends_of = accumulate(len(one.ids) for one in aside)
        aside = [one for one, end in zip(aside, ends_of, strict=True) if end <= KEPT_TOKENS] or aside[:1]
    print(f"texts to learn from: {len(learned)}, to score on: {len(aside)}", file=out, flush=True)

    torch.manual_seed(request.seed)
    network = read_draft(request.out, kind, make)
    known = network is not None
    if network is None:
        size = config.vocabulary_size
        network = make(_frequent_tokens(learned, size, request.vocabulary or size, target.tokenizer.end_ids))
    else:
        print(f"goes on from the draft in {request.out}", file=out, flush=True)
    ends = TargetEnds.of(decoder, network.token_ids if isinstance(network, FeatureGuesser) else None)
    most = min(max(_STEP_TOKENS, round(_STEP_COLUMN * config.hidden_size)), _STEP_LOGITS // len(ends.head))
    tokens = _FEW_TOKENS if kind is PromptTokenNetwork else max(_longest(config), most)
    if isinstance(network, FeatureGuesser):
        # Prompts are learned too: the target's guesses there teach as much, and its features are computed in any case.
        learned = [replace(one, learn=(True,) * len(one.ids)) for one in learned]
    kept_aside = [batch_of(decoder, [example]) for example in aside]
    objective: Objective[Any] = FeatureObjective(ends, kept_aside)
    if isinstance(network, PromptTokenNetwork):
        longest = max(len(one.ids) for one in learned)  # no text is parted, and each thread has one
        check_memory(config, max(tokens, threads * longest), len(ends.head), threads)
        twin = Twin(target.checkpoint)
        if not known:
            begin_ordinary(network, decoder, learned)
        twin.compare(decoder, ends, torch.tensor(max(learned, key=lambda one: len(one.ids)).ids), network.tokens())
        objective = PromptTokenObjective(twin, ends, kept_aside, request.loss)
    elif isinstance(network, SmallNetwork):
        objective = SmallObjective(ends, kept_aside)
    elif isinstance(network, FeatureGuesser) and network.fitted:
        count = min(network.fitted, max(len(one.ids) for one in learned) - 2)
        rows = _rows(decoder, ends, learned, count, _MEASURED_TOKENS if known else _LINEAR_TOKENS)
        embedding, features, *following = rows
        if not known:
            network.begin(ends.head, embedding, features, following)
        network.measure(embedding, features)
        del rows, embedding, features, following
    supply = ExampleSupply(decoder, learned, tokens, request.seed, threads)
    counting_s = 60 * request.minutes * _COUNTING if kind in (MedusaNetwork, PromptTokenNetwork) else 0.0
    minutes = max(ends_at - counting_s - running_time().seconds(), 1.0) / 60
    try:
        # Each state that is the best so far, so that a training that is killed leaves a draft.
        outcome = train(
            *(network, objective, supply, minutes, out),
            threads=threads,
            keep=lambda found, scores: write_draft(found, request.out, scores),
        )
        calibrate_fresh(request.out, decoder, aside, ends_at)
    except (OSError, SafetensorError) as error:
        raise OutOfDisk(f"The draft could not be written to {request.out}: {error}.") from error
    what = "stopped; the best so far" if outcome.interrupted else "the draft"
    print(
        f"{what} is in {request.out} ({outcome.network.parameter_count:,} parameters); on the texts kept aside:",
        *outcome.scores.lines(),
        sep="\n  ",
        file=out,
        flush=True,
    )
    return not outcome.interrupted


def texts_of(
    request: TextRequest, target: OpenedModel, out: TextIO, goes_on: bool = False
) -> tuple[Decoder, list[Example]]:
    """Load a target, and read or write its texts; texts without a token to guess are left out.

    Args:
        out: Takes reports of progress.
        goes_on: True if Ctrl+C ends only the writing, provided that there are texts to go on with.

    Raises:
        KeyboardInterrupt: The user pressed Ctrl+C; texts that were written are kept in the request's folder.
    """
    config = target.config
    records = [] if request.data is None else read_records(request.data)
    tokenizer = target.tokenizer
    torch.set_num_threads(request.threads or usable_cores())
    decoder = _load(target)
    longest = _longest(config)
    if request.data is not None and request.generate is None:
        examples = list(examples_of(records, tokenizer, longest))
    else:
        asked = prompts_of(records, tokenizer)
        given = requests(tokenizer, request.seed) if request.data is None else answers_to(asked, request.seed)
        examples = _write(request, decoder, tokenizer, given, longest, out, goes_on)
    return decoder, [example for example in examples if any(example.learn[2:])]


def _without_wrong_answers(examples: Sequence[Example], tokenizer: Tokenizer, out: TextIO) -> list[Example]:
    """Return the examples whose replies no rule tells to be wrong."""
    right = []
    for example in examples:
        reply = [token for token, learn in zip(example.ids, example.learn, strict=True) if learn]
        if not is_wrong(tokenizer.decode(reply), reply):
            right.append(example)
    wrong = len(examples) - len(right)
    print(f"texts left out because a rule tells that they are wrong: {wrong}", file=out, flush=True)
    return right


def calibrate_fresh(folder: Path, decoder: Decoder, examples: Sequence[Example], ends_at: float = math.inf) -> None:
    """Calibrate a new draft on the texts that were kept aside, if its kind has trees to count.

    At least one text counts, and as many as are begun until ``ends_at``, in seconds of `running_time`.

    Raises:
        OSError: The calibration cannot be written.
    """
    opened = OpenedModel(str(folder), folder)
    kind = kind_of(opened)
    if kind is PromptTokenDraft:
        tokens, spoken = load_prompt_tokens(opened.head), list(replies_in(examples))
        calibration = count_probes(decoder, tokens, _until(ends_at, spoken)) if spoken else None
        if calibration is not None:
            write_beside(folder, calibration)
    if kind is MedusaDraft:
        heads = MedusaDraft.read(opened, decoder.config)
        replies = list(_until(ends_at, replies_of(decoder, examples)))
        if replies:
            count = count_trees(network_of(heads, decoder), decoder, replies)
            write_beside(folder, count.calibration)


def _until(ends_at: float, replies: Iterable[T]) -> Iterator[T]:
    """Yield replies, the first one at least, until that time."""
    for reply in replies:
        yield reply
        if running_time().seconds() > ends_at:
            return


def _longest(config: ModelConfig) -> int:
    return min(_LONGEST, config.context_length)


def _maker(
    request: TrainRequest, opened: OpenedModel
) -> tuple[type[TrainedDraft], Callable[[Tensor | None], TrainedDraft]]:
    """Return the class of the draft, and a function that makes one for tokens that it may draft.

    Raises:
        InvalidOption: The shape makes no sense.
    """
    target = opened.config
    if request.kind == "feature":
        return DraftNetwork, partial(DraftNetwork, shape_for(target, request.blocks, request.fusion))
    if request.kind == "medusa":
        heads = 4 if request.heads is None else request.heads
        MedusaNetwork.check(heads, request.blocks)
        return MedusaNetwork, partial(MedusaNetwork, target, heads, request.blocks, request.head == "own")
    if request.kind == "small":
        SmallNetwork.check(request.width, request.blocks)
        return SmallNetwork, lambda ids: SmallNetwork(target, opened.tokenizer, request.width, request.blocks)
    places = 3 if request.heads is None else request.heads
    PromptTokenNetwork.check(target, places, request.members)
    return PromptTokenNetwork, lambda ids: PromptTokenNetwork(target, places, request.members, request.mask)


def check_texts(request: TextRequest) -> None:
    """Refuse values that are out of their range.

    Raises:
        InvalidOption: A value is out of its range.
    """
    if request.generate is not None and request.generate < 1:
        raise InvalidOption(f"The number of texts to generate is {request.generate}, but it must be at least 1.")
    if not 0 < request.minutes <= 60 * 24 * 30:
        raise InvalidOption(f"The training time is {request.minutes:g} minutes, but it must be more than 0.")
    if request.threads is not None and not 1 <= request.threads <= 1024:
        raise InvalidOption(f"The number of threads is {request.threads}, but it must be between 1 and 1024.")


def _check(request: TrainRequest) -> None:
    if request.vocabulary != 0 and request.vocabulary < 2:
        raise InvalidOption(f"The draft's vocabulary is {request.vocabulary} tokens, but it must have at least 2.")
    if request.out.is_file():
        raise InvalidOption(f"{request.out} is a file: give a folder for the draft.")
    if request.out.is_dir():
        others = sorted({path.name for path in request.out.iterdir()} - FILES - {"README.md"})
        if others:
            raise InvalidOption(f"The folder {request.out} holds {others[0]}: give an empty one for the draft.")


def _load(target: OpenedModel) -> Decoder:
    """Load the target in its own format, as it will be when the draft is used."""
    config = target.config
    weights = settle(LoadOptions(model=target.reference, drafts=(OFF,))).load.weights
    if weights.packed:
        return Decoder(config, Resident(load_packed(target.checkpoint, config, weights)))
    cpu = torch.device("cpu")
    return Decoder(config, Resident(load_weights(target.checkpoint, config, weights.dense, cpu)))


def _write(
    request: TextRequest,
    decoder: Decoder,
    tokenizer: Tokenizer,
    given: Iterator[Sequence[Turn]],
    longest: int,
    out: TextIO,
    goes_on: bool,
) -> list[Example]:
    """Return texts of the target's own, earlier ones first."""
    kept = None if request.texts is None else TextFolder(request.texts, request.model)
    found = [] if kept is None else list(kept.read())
    if found:
        print(f"{len(found)} texts were written before", file=out, flush=True)
    clock, most = running_time(), request.generate
    begun = clock.seconds()
    until = begun + 60 * request.minutes * _WRITING
    wanted = None if most is None else max(0, most - len(found))
    writer = Writer(decoder, tokenizer.end_ids, longest, min(WIDTH, most or WIDTH))
    fresh: list[Example] = []

    def take(example: Example) -> None:
        fresh.append(example)
        if kept is not None:
            kept.add(example)

    try:
        if wanted != 0:
            for example in writer.write(given, wanted, len(found)):
                take(example)
                if len(fresh) % 32 == 0 or len(fresh) == wanted:
                    speed = sum(len(each.ids) for each in fresh) / (clock.seconds() - begun)
                    print(f"{len(fresh)} texts written, {speed:.0f} tokens a second", file=out, flush=True)
                if clock.seconds() > until:
                    break
    except KeyboardInterrupt:
        if not goes_on or not (found or fresh):
            raise
        print(f"stopped writing; goes on with {len(found) + len(fresh)} texts", file=out, flush=True)
    finally:
        for example in writer.unfinished():
            take(example)
        if kept is not None:
            kept.flush()
    return found + fresh


def _frequent_tokens(examples: Sequence[Example], size: int, count: int, wanted: Collection[int] = ()) -> Tensor | None:
    """Return so many ids, ascending: those that are wanted in any case, and the most frequent ones."""
    if count >= size:
        return None
    learned = [token for one in examples for token, learn in zip(one.ids, one.learn, strict=True) if learn]
    seen = torch.bincount(torch.tensor(learned), minlength=size).double()
    seen += _ASSUMED / (torch.arange(size) + 2 * _ASSUMED)
    seen[[token for token in wanted if token < size]] = torch.inf
    return seen.topk(count).indices.sort().values


def begin_ordinary(network: PromptTokenNetwork, decoder: Decoder, examples: Sequence[Example]) -> None:
    """Begin prompt tokens as the texts' most frequent tokens, as these enter the first layer."""
    places, members, _ = network.embeddings.shape
    ids = _frequent_tokens(examples, decoder.config.vocabulary_size, places * members)
    assert ids is not None, "there are fewer prompt tokens than tokens"
    scale = decoder.config.embedding_scale
    network.begin_as(decoder.source.embedding(ids).float() * (1.0 if scale is None else scale))


def _rows(decoder: Decoder, ends: TargetEnds, examples: Sequence[Example], count: int, most: int) -> tuple[Tensor, ...]:
    """Return (n, h) rows of some examples: embeddings, features before them, and as bfloat16 so many after these."""
    embeddings: list[Tensor] = []
    features: list[Tensor] = []
    found = 0
    for example in (one for one in examples if len(one.ids) > count + 1):
        batch = batch_of(decoder, [example])
        windows = batch.features[0, :-1].bfloat16().unfold(0, count + 1, 1)
        embeddings.append(ends.embed(batch.tokens[0, 1 : len(windows) + 1]))
        features.append(windows)
        found += len(windows)
        if found > most // count:
            break
    first, *following = torch.cat(features).unbind(-1)
    return torch.cat(embeddings), first.float(), *following
