"""``tenon train draft`` from request to folder: target, examples, training, checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import torch
from safetensors import SafetensorError

from engine.decoding.target import Target
from engine.errors import InvalidOption, OutOfDisk
from engine.hub.installed import find_model
from engine.messages import LoadOptions
from engine.model.config import ModelConfig, read_config
from engine.model.decoder import Decoder
from engine.model.loader import load_weights
from engine.placement.resident import Resident
from engine.planning.fit import fit_model
from engine.planning.hardware import usable_cores
from engine.text.tokenizer import Tokenizer, read_end_ids
from engine.training.draft.data import examples_of, prompts_of, read_records
from engine.training.draft.features import Example, batch_of
from engine.training.draft.generation import invented_prompts, replies
from engine.training.draft.network import FusionName, shape_for
from engine.training.draft.supply import KIND, ExampleSupply
from engine.training.draft.training import CONFIG, WEIGHTS, train, write_draft
from engine.weights.checkpoint import Checkpoint

# A step's tokens, and the longest text: fewer where the vocabulary is large, since each token has a row of logits.
_STEP_TOKENS, _STEP_LOGITS = 4000, 1 << 26
_LONGEST, _LONGEST_LOGITS = 1024, 1 << 27
# One text in twenty is kept aside to score on, as in EAGLE, but no more than score quickly.
_KEPT_ASIDE_SHARE, _KEPT_ASIDE = 20, 32


@dataclass(frozen=True)
class TrainRequest:
    """What to train.

    Attributes:
        model: The target's folder or name.
        data: Texts or chats, one JSON object a line.
        generate: How many replies the target writes itself; None to learn from the data as it is.
        blocks: Transformer blocks, 1 to 6.
        fusion: gated or concat.
        out: The draft's folder.
        minutes: How long to train; making the examples comes on top.
        threads: CPU threads, None for the usable cores.
        seed: Of everything random.
    """

    model: str
    data: Path | None
    generate: int | None
    blocks: int
    fusion: FusionName
    out: Path
    minutes: float
    threads: int | None = None
    seed: int = 1


def run(request: TrainRequest, out: TextIO) -> bool:
    """Train a feature draft.

    Args:
        request: What to train.
        out: Where progress is reported.

    Returns:
        Whether it ran to its end; False when Ctrl-C ended it early, with the best so far written.

    Raises:
        TenonError: the request makes no sense, or the target cannot be loaded.
    """
    _check(request)
    folder = find_model(request.model)
    records = [] if request.data is None else read_records(request.data)
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    shape = shape_for(config, request.blocks, request.fusion)
    tokenizer = Tokenizer(folder, read_end_ids(folder))
    decoder = _load(checkpoint, config)
    threads = request.threads or usable_cores()
    torch.set_num_threads(threads)

    longest = min(_LONGEST, config.context_length, max(128, _LONGEST_LOGITS // config.vocabulary_size))
    if request.generate is None:
        examples = list(examples_of(records, tokenizer, longest))
    else:
        examples = _generate(request, decoder, tokenizer, longest, out, prompts_of(records, tokenizer))
    examples = [example for example in examples if any(example.learn[2:])]
    if not examples:
        raise InvalidOption("There is no text to learn from: give longer texts, or chats with replies.")
    stride = max(_KEPT_ASIDE_SHARE, len(examples) // _KEPT_ASIDE)
    aside = examples[::stride]
    learned = [example for at, example in enumerate(examples) if at % stride] or examples
    print(f"texts to learn from: {len(learned)}, to score on: {len(aside)}", file=out, flush=True)

    tokens = max(longest, min(_STEP_TOKENS, _STEP_LOGITS // config.vocabulary_size))
    supply = ExampleSupply(decoder, learned, tokens, request.seed, threads)
    kept_aside = [batch_of(decoder, KIND, [example]) for example in aside]
    outcome = train(decoder, shape, supply, kept_aside, request.minutes, request.seed, out, threads=threads)
    try:
        write_draft(outcome.network, request.out)
    except (OSError, SafetensorError) as error:
        raise OutOfDisk(f"The draft could not be written to {request.out}: {error}.") from error
    what = "stopped; the best so far" if outcome.interrupted else "the draft"
    print(
        f"{what} is in {request.out} ({outcome.network.parameter_count:,} parameters, "
        f"agrees with the model on {outcome.agreement:.1%})",
        file=out,
        flush=True,
    )
    return not outcome.interrupted


def _check(request: TrainRequest) -> None:
    if request.data is None and request.generate is None:
        raise InvalidOption("There is nothing to learn from: give --data FILE.jsonl, --generate N, or both.")
    if request.generate is not None and request.generate < 1:
        raise InvalidOption(
            f"The number of replies to generate is {request.generate}, but it must be at least 1."
        )
    if not 0 < request.minutes <= 60 * 24 * 30:
        raise InvalidOption(f"The training time is {request.minutes:g} minutes, but it must be more than 0.")
    if request.threads is not None and not 1 <= request.threads <= 1024:
        raise InvalidOption(f"The number of threads is {request.threads}, but it must be between 1 and 1024.")
    if request.out.is_file():
        raise InvalidOption(f"{request.out} is a file: give a folder for the draft.")
    if request.out.is_dir():
        others = sorted({path.name for path in request.out.iterdir()} - {CONFIG, WEIGHTS, "README.md"})
        if others:
            raise InvalidOption(
                f"The folder {request.out} holds {others[0]}: give an empty one for the draft."
            )


def _load(checkpoint: Checkpoint, config: ModelConfig) -> Decoder:
    """The target in float32, or in bfloat16 where that is all that fits."""
    fit = fit_model(config, LoadOptions(weights="fp32"))
    if fit.plan.kind != "resident":
        fit = fit_model(config, LoadOptions(weights="bf16"))
    weights = load_weights(checkpoint, config, fit.weights.dense, torch.device("cpu"))
    return Decoder(config, Resident(weights))


def _generate(
    request: TrainRequest,
    decoder: Decoder,
    tokenizer: Tokenizer,
    longest: int,
    out: TextIO,
    prompts: Iterator[list[int]],
) -> list[Example]:
    """The target's own replies, to the data's prompts or to invented ones. Ctrl-C goes on with those there are."""
    assert request.generate is not None
    count = request.generate
    found: list[Example] = []
    given = prompts if request.data is not None else invented_prompts(tokenizer, request.seed)
    try:
        for example in replies(Target(decoder, longest), tokenizer, given, count, longest, request.seed):
            found.append(example)
            if len(found) % 10 == 0 or len(found) == count:
                print(f"{len(found)} of {count} replies written", file=out, flush=True)
    except KeyboardInterrupt:
        print(f"stopped writing; goes on with {len(found)} replies", file=out, flush=True)
    return found
