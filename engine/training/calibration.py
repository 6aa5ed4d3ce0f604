"""``tenon train tree``: Medusa heads and prompt tokens are calibrated once for a model and a machine.

Sources: Ghidorah (Wei et al. 2025), section III-C; Parallel Prompt Decoding (Chen et al. 2024; the report, section
5.6.3). The replies are read once for the ranks of their tokens in the draft's guesses, from which the tokens of a
round are counted for any tree; trees of the heads' own probabilities are counted too. The times of forwards and
drafts are measured by width. The planner predicts from both, and chooses the width.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TextIO

from engine.decoding.costs import settled
from engine.decoding.loop import Decoding, Hooks, Recipe
from engine.decoding.sequence import Target, TokenSequence
from engine.decoding.statistics import ReplyClock
from engine.drafting.drafter import Drafter
from engine.drafting.fixed_trees import WIDTHS
from engine.drafting.kinds import kind_of
from engine.drafting.medusa import (
    HeadCalibration,
    MedusaDraft,
    MedusaDrafter,
    MedusaNetwork,
    keep_calibration,
)
from engine.drafting.prompt_tokens import (
    PromptTokenCalibration,
    PromptTokenDraft,
    PromptTokenDrafter,
    load_prompt_tokens,
)
from engine.drafting.schedule import FixedShape
from engine.drafting.trees import DEEPEST, TreeShape
from engine.errors import InvalidOption
from engine.hub.installed import cache_folder
from engine.loaded_model import load_model
from engine.messages import LoadOptions, RoundRecord
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.token_tree import DraftShape
from engine.model_file import OpenedModel, open_model
from engine.modes import in_mode
from engine.modes.drafted import GHIDORAH, PPD
from engine.planning.planner import model_planner
from engine.run import settle
from engine.text.stop import ReplyText
from engine.text.tokenizer import read_end_ids
from engine.training.making import TextRequest, check_texts, texts_of
from engine.training.tree_counts import (
    Replies,
    count_probes,
    count_trees,
    network_of,
    probe_lines,
    replies_in,
    replies_of,
)
from engine.verifying import SampleAndMatch

#: Tokens of the texts that forwards come after.
LENGTHS = (128, 1024, 4096)
# Widths are taken in turn, so that a disturbance of one disturbs all, and each some times in a row after some that
# are not counted, as in replies: a wide forward leaves little of a small model in the processor's caches.
_TURNS, _IN_A_ROW, _SETTLING_S = 3, 3, 0.02
# Settled rounds of each turn; earlier ones are not counted, and there is room for so many.
_ROUNDS, _OTHERS = 5, 20
# Replies of each width, and their tokens.
_REPLIES, _TOKENS = 4, 32
_NO_REPLY = "There is no reply to calibrate with: give chats with replies, or let the model write."
_NO_TIMES = "Not all layers lie in memory here, so no times were measured."


def settled_rounds(
    sequence: TokenSequence,
    drafter: Drafter,
    prompt: Sequence[int],
    nodes: int,
    count: int,
) -> list[RoundRecord]:
    """Return settled rounds of a greedy reply that no token ends, with drafts of so many nodes.

    Args:
        sequence: The text, in which the prompt may stand already.
        count: Number of these rounds.

    Returns:
        That many rounds, or the last ones if the text's memory has no room for more.
    """
    clock = ReplyClock()
    found: list[RoundRecord] = []
    for _ in _decode(sequence, drafter, prompt, nodes, ReplyText(lambda ids: "", ()), clock):
        found = settled(clock.rounds)
        if len(found) >= count:
            break
    return (found or clock.rounds)[-count:]


def _decode(
    sequence: TokenSequence,
    drafter: Drafter,
    prompt: Sequence[int],
    nodes: int,
    reply: ReplyText,
    clock: ReplyClock,
) -> Iterator[None]:
    recipe = Recipe(drafter, SampleAndMatch(Sampler()), FixedShape(DraftShape(nodes)))
    hooks = Hooks(lambda: None, lambda done, total: None, lambda tokens, drafted: None)
    return Decoding(sequence, recipe, prompt, reply, clock, hooks)


@dataclass(frozen=True)
class WidthTimes:
    """Measurements by width."""

    # Seconds of a forward with the drawing of its tokens, by tokens of the text before and by width
    forwards: dict[int, dict[int, float]]
    # Seconds of a draft by kind, ``True`` for the searched tree, and by nodes
    drafts: dict[bool, dict[int, float]]

    def speeds(self, calibration: HeadCalibration, follows: bool, length: int) -> dict[int, float]:
        """Return the tokens per second by width that follow from these times and the calibration's tokens."""
        taus = calibration.searched if follows else calibration.grown
        forwards, drafts = self.forwards[length], self.drafts[follows]
        return {
            width: tau / (forwards[width] + drafts.get(width - 1, 0.0)) for width, tau in zip(WIDTHS, taus, strict=True)
        }

    def faster(self, calibration: HeadCalibration) -> bool:
        """Return whether the best width of the searched tree is at least as fast as that of grown ones."""
        length = min(self.forwards)
        best = [max(self.speeds(calibration, kind, length).values()) for kind in (True, False)]
        return best[0] >= best[1]


def width_drafter(
    network: MedusaNetwork, decoder: Decoder, calibration: HeadCalibration, follows: bool
) -> MedusaDrafter:
    """Return a drafter as in the mode, with searched or grown trees."""
    config = decoder.config
    found = replace(calibration, follows=follows)
    drafter = MedusaDrafter(network, config.layers, found)
    drafter.limits = TreeShape(10, DEEPEST, WIDTHS[-1] - 1, searched=True)
    return drafter


def forward_seconds(sequence: TokenSequence, widths: Sequence[int]) -> dict[int, float]:
    """Measure forwards after a text: the median for each width."""
    seconds: dict[int, list[float]] = {width: [] for width in widths}
    for _ in range(_TURNS):
        for width, each in seconds.items():
            settled = 0.0
            while settled < _SETTLING_S:
                settled += sequence.seconds_of_forward(width)
            for _ in range(_IN_A_ROW):
                each.append(sequence.seconds_of_forward(width))
    return {width: median(each) for width, each in seconds.items()}


def measure_forwards(decoder: Decoder, text: Sequence[int]) -> dict[int, dict[int, float]]:
    """Measure forwards after texts of three lengths, cut from one; as `WidthTimes` has them."""
    most = max(1, decoder.config.context_length - WIDTHS[-1])
    lengths = sorted({min(length, most) for length in LENGTHS})
    text = list(text) * (1 + lengths[-1] // len(text))
    sequence = TokenSequence(Target(decoder), lengths[-1] + WIDTHS[-1])
    forwards = {}
    for length in lengths:
        # The text before is its beginning, so that only what is new is read.
        sequence.reuse(text[:length])
        sequence.prefill(text[:length], lambda: None)
        forwards[length] = forward_seconds(sequence, WIDTHS)
    return forwards


def round_times(
    sequence: TokenSequence, drafter: Drafter, prompt: Sequence[int]
) -> tuple[dict[int, float], dict[int, float]]:
    """Measure rounds after a text, in the loop that replies run in.

    Args:
        sequence: Has room for the text and what follows.

    Returns:
        Median seconds of a forward with the drawing of its tokens by width, and of a draft by nodes.
    """
    rounds: dict[int, list[RoundRecord]] = {width: [] for width in WIDTHS}
    for _ in range(_TURNS):
        for width, each in rounds.items():
            each += settled_rounds(sequence, drafter, prompt, width - 1, _ROUNDS)
    forwards = {width: median(one.verify_ms for one in each) / 1e3 for width, each in rounds.items()}
    drafts = {width - 1: median(one.draft_ms for one in each) / 1e3 for width, each in rounds.items() if width > 1}
    return forwards, drafts


def measure_times(
    decoder: Decoder, network: MedusaNetwork, calibration: HeadCalibration, replies: Replies
) -> WidthTimes:
    """Measure rounds after texts of three lengths, and drafts of both kinds after the shortest.

    Args:
        replies: Some replies of the target.
    """
    further = (_ROUNDS + _OTHERS) * (network.heads + 1) + WIDTHS[-1]
    most = max(2, decoder.config.context_length - further)
    lengths = sorted({min(length, most) for length in LENGTHS})
    text = [token for _, tokens in replies for token in tokens]
    text = text * (1 + lengths[-1] // len(text))
    sequence = TokenSequence(Target(decoder), lengths[-1] + further)
    forwards: dict[int, dict[int, float]] = {}
    drafts: dict[bool, dict[int, float]] = {}
    for kind in (not calibration.follows, calibration.follows):
        drafter = width_drafter(network, decoder, calibration, kind)
        for length in lengths[: 1 if kind != calibration.follows else None]:
            forwards[length], taken = round_times(sequence, drafter, text[:length])
            drafts.setdefault(kind, taken)
    return WidthTimes(forwards, drafts)


def measure_speeds(
    decoder: Decoder,
    drafter: Drafter,
    prompts: Sequence[Sequence[int]],
    end_ids: Collection[int],
) -> dict[int, float]:
    """Return the tokens per second of the same replies by the width of all of their rounds."""
    tokens, seconds = dict.fromkeys(WIDTHS, 0), dict.fromkeys(WIDTHS, 0.0)
    for prompt in prompts[:_REPLIES]:
        for width in WIDTHS:
            sequence = TokenSequence(Target(decoder), len(prompt) + _TOKENS + width)
            reply, clock = ReplyText(lambda ids: "", end_ids, (), _TOKENS), ReplyClock()
            for _ in _decode(sequence, drafter, prompt, width - 1, reply, clock):
                pass
            tokens[width] += clock.predicted_n - 1  # the first comes with the prompt
            seconds[width] += clock.timings().predicted_ms / 1e3
    return {width: tokens[width] / seconds[width] for width in WIDTHS if seconds[width]}


@dataclass(frozen=True, kw_only=True)
class TreeRequest(TextRequest):
    """Request to search a tree."""

    draft: str  # the folder or name of the heads, or of the prompt tokens


def run(request: TreeRequest, out: TextIO) -> HeadCalibration | PromptTokenCalibration:
    """Calibrate a draft: search its tree, measure forwards and drafts by width, and keep both.

    Args:
        request: Request that names the draft.
        out: Takes reports of progress.

    Raises:
        TenonError: The request makes no sense, or the target or its heads cannot be loaded.
    """
    check_texts(request)
    target, opened = open_model(request.model), open_model(request.draft)
    kind = kind_of(opened)
    if kind is PromptTokenDraft:
        return _calibrate_prompt_tokens(request, target, opened, out)
    if kind is not MedusaDraft:
        raise InvalidOption(
            f"{opened.place} holds neither Medusa heads nor prompt tokens: a tree is searched for those alone."
        )
    heads = MedusaDraft.read(opened, target.config)
    heads.check(target)
    decoder, examples = texts_of(request, target, out)
    network = network_of(heads, decoder)
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
    # Automatic may choose another mode, whose draft these times are not.
    options = in_mode(GHIDORAH.name, LoadOptions(model=request.model, drafts=(request.draft,)))
    run = settle(options)
    placement = run.load.placement
    if placement.streams:
        keep_calibration(cache_folder(), target.digest, heads.digest, count.calibration)
        print(_NO_TIMES, file=out, flush=True)
        return count.calibration
    if placement.uses_gpu:  # both units must be as busy as they are when replies run
        del decoder  # its memory is needed for the other one
        planned = load_model(run).target.decoder
        assert planned is not None, "a model that was just loaded has its decoder"
        decoder = planned
    times = measure_times(decoder, network, count.calibration, replies)
    calibration = replace(count.calibration, follows=times.faster(count.calibration))
    keep_calibration(cache_folder(), target.digest, heads.digest, calibration)
    prompts = [example.ids[: example.learn.index(True)] for example in examples if not all(example.learn)]
    drafter = width_drafter(network, decoder, calibration, calibration.follows)
    ends = read_end_ids(target.place)
    measured = measure_speeds(decoder, drafter, [prompt for prompt in prompts if prompt], ends)
    run = settle(options)
    drafted = times.drafts[calibration.follows]
    run.planner.calibrate(run.mode, run.drafts, times.forwards, drafted, measured)
    print(*_speed_lines(times, calibration, options), sep="\n", file=out)
    what = "the searched tree" if calibration.follows else "trees of the heads' own probabilities"
    print(f"The mode {GHIDORAH.name} follows {what} from the next load on.", file=out, flush=True)
    return calibration


def _calibrate_prompt_tokens(
    request: TreeRequest, target: OpenedModel, opened: OpenedModel, out: TextIO
) -> PromptTokenCalibration:
    draft = PromptTokenDraft.read(opened, target.config)
    draft.check(target)
    decoder, examples = texts_of(request, target, out)
    tokens, replies = load_prompt_tokens(opened.head), list(replies_in(examples))
    if not replies:
        raise InvalidOption(_NO_REPLY)
    calibration = count_probes(decoder, tokens, replies)
    if calibration is None:
        raise InvalidOption("None of what these prompt tokens guess ever held: train them for longer.")
    print(
        f"{len(replies)} replies, {calibration.places} places",
        *probe_lines(calibration),
        sep="\n",
        file=out,
        flush=True,
    )
    keep_calibration(cache_folder(), target.digest, draft.digest, calibration)
    options = in_mode(PPD.name, LoadOptions(model=request.model, drafts=(request.draft,)))
    placement = settle(options).load.placement
    if placement.streams or placement.uses_gpu:
        print(_NO_TIMES, file=out, flush=True)
        return calibration
    forwards = measure_forwards(decoder, [token for _, reply in replies for token in reply])
    drafter = PromptTokenDrafter(tokens, calibration)
    drafter.limits = TreeShape(10, DEEPEST, WIDTHS[-1] - 1, searched=True)
    ends = read_end_ids(target.place)
    measured = measure_speeds(decoder, drafter, [before for before, _ in replies], ends)
    run = settle(options)
    run.planner.calibrate(run.mode, run.drafts, forwards, {}, measured)
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
    """Return a table of forwards by width after each text, with the expected and the measured speeds."""
    lengths = sorted(times.forwards)
    plan = model_planner(options).plan.mode(GHIDORAH.name)
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
