"""``tenon train tree``: Medusa heads are calibrated once for a model and a machine.

Source: Ghidorah (Wei et al. 2025), section III-C. The replies are read once for the ranks of their tokens in the heads,
from which the tokens of a round are counted for any tree; trees of the heads' own probabilities are counted too. What
forwards and drafts take is measured by width. The planner predicts from both, and chooses the width.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TextIO

from engine.drafting.head_calibration import HeadCalibration, keep_calibration
from engine.drafting.medusa_draft import MedusaDraft
from engine.drafting.searched_tree import WIDTHS
from engine.errors import InvalidOption
from engine.hub.installed import cache_folder, find_model
from engine.messages import LoadOptions
from engine.model.config import read_config
from engine.modes.ghidorah import MODE
from engine.planning.model_planner import model_planner
from engine.text.tokenizer import Tokenizer, read_end_ids
from engine.training.draft.making import TextRequest, check_texts, texts_of
from engine.training.draft.tree_count import count_trees, network_of, replies_of
from engine.training.draft.width_times import WidthTimes, measure_speeds, measure_times, width_drafter
from engine.weights.checkpoint import Checkpoint
from engine.weights.draft_kind import is_medusa


@dataclass(frozen=True, kw_only=True)
class TreeRequest(TextRequest):
    """Request to search a tree.

    Attributes:
        draft: The heads' folder or name.
    """

    draft: str


def run(request: TreeRequest, out: TextIO) -> HeadCalibration:
    """Calibrate heads: search their tree, measure forwards and drafts by width, and keep both.

    Args:
        request: For which heads.
        out: Takes reports of progress.

    Raises:
        TenonError: the request makes no sense, or the target or its heads cannot be loaded.
    """
    check_texts(request)
    checkpoint = Checkpoint(find_model(request.model))
    config, folder = read_config(checkpoint), find_model(request.draft)
    if not is_medusa(folder):
        raise InvalidOption(f"{folder} holds no Medusa heads: a tree is searched for those alone.")
    heads = MedusaDraft.read(request.draft, folder, config)
    heads.check(folder, find_model(request.model), config, Tokenizer)
    decoder, examples = texts_of(request, checkpoint, out)
    network = network_of(heads, folder, decoder)
    replies = list(replies_of(decoder, examples))
    if not replies:
        raise InvalidOption(
            "There is no reply to calibrate with: give chats with replies, or let the model write."
        )
    count = count_trees(network, decoder, replies)
    print(
        f"{len(replies)} replies, {count.calibration.places} places",
        *count.lines(),
        sep="\n",
        file=out,
        flush=True,
    )
    options = LoadOptions(model=request.model, draft=request.draft, mode=MODE.name)
    placement = model_planner(options).load_plan(options).placement
    if placement.streams or placement.uses_gpu:
        keep_calibration(cache_folder(), checkpoint.digest(), heads.digest, count.calibration)
        print("Not all layers lie in memory here, so no times were measured.", file=out, flush=True)
        return count.calibration
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
