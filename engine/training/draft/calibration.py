"""``tenon train tree``: Medusa heads and prompt tokens are calibrated once for a model and a machine.

Sources: Ghidorah (Wei et al. 2025), section III-C; Parallel Prompt Decoding (Chen et al. 2024; the report, section
5.6.3). The replies are read once for the ranks of their tokens in what the draft guesses, from which the tokens of a
round are counted for any tree; trees of the heads' own probabilities are counted too. What forwards and drafts take is
measured by width. The planner predicts from both, and chooses the width.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from engine.drafting.fixed_trees import WIDTHS
from engine.drafting.kinds import kind_of
from engine.drafting.medusa import HeadCalibration, MedusaDraft, keep_calibration
from engine.drafting.prompt_tokens import (
    PromptTokenCalibration,
    PromptTokenDraft,
    PromptTokenDrafter,
    load_prompt_tokens,
)
from engine.drafting.trees import DEEPEST, TreeShape
from engine.errors import InvalidOption
from engine.hub.installed import cache_folder, find_model
from engine.loaded_model import load_model
from engine.messages import LoadOptions
from engine.model.config import ModelConfig, read_config
from engine.modes.ghidorah import MODE
from engine.modes.ppd import MODE as PPD
from engine.planning.model_planner import model_planner
from engine.text.tokenizer import Tokenizer, read_end_ids
from engine.training.draft.making import TextRequest, check_texts, texts_of
from engine.training.draft.probe_count import count_probes, probe_lines, replies_in
from engine.training.draft.tree_count import count_trees, network_of, replies_of
from engine.training.draft.width_times import (
    WidthTimes,
    measure_forwards,
    measure_speeds,
    measure_times,
    width_drafter,
)
from engine.weights.checkpoint import Checkpoint
from engine.weights.head_checkpoint import HeadCheckpoint

_NO_REPLY = "There is no reply to calibrate with: give chats with replies, or let the model write."
_NO_TIMES = "Not all layers lie in memory here, so no times were measured."


@dataclass(frozen=True, kw_only=True)
class TreeRequest(TextRequest):
    """Request to search a tree.

    Attributes:
        draft: The folder or name of the heads, or of the prompt tokens.
    """

    draft: str


def run(request: TreeRequest, out: TextIO) -> HeadCalibration | PromptTokenCalibration:
    """Calibrate a draft: search its tree, measure forwards and drafts by width, and keep both.

    Args:
        request: For which draft.
        out: Takes reports of progress.

    Raises:
        TenonError: the request makes no sense, or the target or its heads cannot be loaded.
    """
    check_texts(request)
    checkpoint = Checkpoint(find_model(request.model))
    config, folder = read_config(checkpoint), find_model(request.draft)
    kind = kind_of(folder)
    if kind is PromptTokenDraft:
        return _calibrate_prompt_tokens(request, checkpoint, config, folder, out)
    if kind is not MedusaDraft:
        raise InvalidOption(
            f"{folder} holds neither Medusa heads nor prompt tokens: a tree is searched for those alone."
        )
    heads = MedusaDraft.read(request.draft, folder, config)
    heads.check(folder, find_model(request.model), config, Tokenizer)
    decoder, examples = texts_of(request, checkpoint, out)
    network = network_of(heads, folder, decoder)
    replies = list(replies_of(decoder, examples))
    if not replies:
        raise InvalidOption(_NO_REPLY)
    count = count_trees(network, decoder, replies)
    print(
        f"{len(replies)} replies, {count.calibration.places} places",
        *count.lines(),
        sep="\n",
        file=out,
        flush=True,
    )
    options = LoadOptions(model=request.model, drafts=(request.draft,), mode=MODE.name)
    placement = model_planner(options).load_plan(options).placement
    if placement.streams:
        keep_calibration(cache_folder(), checkpoint.digest(), heads.digest, count.calibration)
        print(_NO_TIMES, file=out, flush=True)
        return count.calibration
    if placement.uses_gpu:  # both units must be as busy as they are when replies run
        del decoder  # its memory is wanted for the other one
        planned = load_model(options).target.decoder
        assert planned is not None, "a model that was just loaded has its decoder"
        decoder = planned
    times = measure_times(decoder, network, count.calibration, replies)
    calibration = replace(count.calibration, follows=times.faster(count.calibration))
    keep_calibration(cache_folder(), checkpoint.digest(), heads.digest, calibration)
    prompts = [example.ids[: example.learn.index(True)] for example in examples if not all(example.learn)]
    drafter = width_drafter(network, decoder, calibration, calibration.follows)
    ends = read_end_ids(find_model(request.model))
    measured = measure_speeds(decoder, drafter, [prompt for prompt in prompts if prompt], ends)
    model_planner(options).calibrate(options, times.forwards, times.drafts[calibration.follows], measured)
    print(*_speed_lines(times, calibration, options), sep="\n", file=out)
    what = "the searched tree" if calibration.follows else "trees of the heads' own probabilities"
    print(f"The mode {MODE.name} follows {what} from the next load on.", file=out, flush=True)
    return calibration


def _calibrate_prompt_tokens(
    request: TreeRequest, checkpoint: Checkpoint, config: ModelConfig, folder: Path, out: TextIO
) -> PromptTokenCalibration:
    draft = PromptTokenDraft.read(request.draft, folder, config)
    draft.check(folder, find_model(request.model), config, Tokenizer)
    decoder, examples = texts_of(request, checkpoint, out)
    tokens, replies = load_prompt_tokens(HeadCheckpoint(folder)), list(replies_in(examples))
    if not replies:
        raise InvalidOption(_NO_REPLY)
    calibration, log = count_probes(decoder, tokens, replies)
    if calibration is None:
        raise InvalidOption("None of what these prompt tokens guess ever held: train them for longer.")
    print(
        f"{len(replies)} replies, {calibration.places} places",
        *probe_lines(calibration, log, tokens.members),
        sep="\n",
        file=out,
        flush=True,
    )
    keep_calibration(cache_folder(), checkpoint.digest(), draft.digest, calibration)
    options = LoadOptions(model=request.model, drafts=(request.draft,), mode=PPD.name)
    placement = model_planner(options).load_plan(options).placement
    if placement.streams or placement.uses_gpu:
        print(_NO_TIMES, file=out, flush=True)
        return calibration
    forwards = measure_forwards(decoder, [token for _, reply in replies for token in reply])
    drafter = PromptTokenDrafter(tokens, calibration)
    drafter.limits = TreeShape(10, DEEPEST, WIDTHS[-1] - 1, searched=True)
    ends = read_end_ids(find_model(request.model))
    measured = measure_speeds(decoder, drafter, [before for before, _ in replies], ends)
    model_planner(options).calibrate(options, forwards, {}, measured)
    plan = model_planner(options).plan.mode(PPD.name)
    lines = [
        f"{each.rows:>4} rows{each.expected:>10.1f} expected{each.measured or 0.0:>10.1f} measured"
        for each in plan.widths
    ]
    print(
        *lines,
        f"Planned are {plan.draft_nodes + 1} rows." if not plan.refusal else plan.refusal,
        sep="\n",
        file=out,
    )
    return calibration


def _speed_lines(times: WidthTimes, calibration: HeadCalibration, options: LoadOptions) -> list[str]:
    """Forwards by width behind each text, and the speeds that are expected and were measured, as a table."""
    lengths = sorted(times.forwards)
    plan = model_planner(options).plan.mode(MODE.name)
    speeds = {each.rows: each for each in plan.widths}
    head = "".join(f"{f'{length} tokens':>13}" for length in lengths)
    lines = [f"rows{head}{'draft':>10}{'expected':>10}{'measured':>10}"]
    for width in WIDTHS:
        forwards = "".join(f"{1e3 * times.forwards[length][width]:>10.2f} ms" for length in lengths)
        draft_s = times.drafts[calibration.follows].get(width - 1, 0.0)
        found = speeds.get(width)
        said = "" if found is None else f"{found.expected:>10.1f}{found.measured or 0.0:>10.1f}"
        lines.append(f"{width:>4}{forwards}{1e3 * draft_s:>7.2f} ms{said}")
    for length in lengths:
        by_width = times.speeds(calibration, calibration.follows, length)
        best = max(by_width, key=by_width.__getitem__)
        lines.append(f"behind {length} tokens the most is expected of {best} rows")
    lines.append(f"Planned are {plan.draft_nodes + 1} rows." if not plan.refusal else plan.refusal)
    return lines
