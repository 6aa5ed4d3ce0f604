"""Times of a target and its heads by the rows of a forward, on the machine as it is when replies run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from statistics import median

import torch

from engine.decoding.sequence import TokenSequence
from engine.decoding.target import Target
from engine.drafting.drafter import Drafter
from engine.drafting.dynamic_tree import DEEPEST, TreeShape
from engine.drafting.head_calibration import HeadCalibration
from engine.drafting.medusa_draft import MedusaDrafter
from engine.drafting.medusa_heads import MedusaNetwork
from engine.drafting.searched_tree import WIDTHS
from engine.messages import RoundRecord
from engine.model.decoder import Decoder
from engine.training.draft.acceptance import replies_with, settled_rounds
from engine.training.draft.tree_count import Replies

#: Tokens of the texts that forwards stand behind.
LENGTHS = (128, 1024, 4096)
# Widths are taken in turn, so that what disturbs one of them disturbs all, and each some times in a row behind some
# that are not counted, as replies have them: a wide forward leaves little of a small model in the processor's caches.
_TURNS, _IN_A_ROW, _SETTLING_S = 3, 3, 0.02
# Settled rounds of each turn; others before them are not counted, and there is room for so many.
_ROUNDS, _OTHERS = 5, 20
# Replies of each width, and their tokens.
_REPLIES, _TOKENS = 4, 32
_CPU = torch.device("cpu")


@dataclass(frozen=True)
class WidthTimes:
    """Measurements by width.

    Attributes:
        forwards: By tokens of the text before, and by width: seconds of a forward with the drawing of its tokens.
        drafts: By kind, ``True`` for the searched tree, and by nodes: seconds of a draft.
    """

    forwards: dict[int, dict[int, float]]
    drafts: dict[bool, dict[int, float]]

    def speeds(self, calibration: HeadCalibration, follows: bool, length: int) -> dict[int, float]:
        """Tokens per second by width that these times and the calibration's tokens come to."""
        taus = calibration.searched if follows else calibration.grown
        forwards, drafts = self.forwards[length], self.drafts[follows]
        return {
            width: tau / (forwards[width] + drafts.get(width - 1, 0.0))
            for width, tau in zip(WIDTHS, taus, strict=True)
        }

    def faster(self, calibration: HeadCalibration) -> bool:
        """True if the best width of the searched tree is as fast as that of grown ones, at least."""
        length = min(self.forwards)
        best = [max(self.speeds(calibration, kind, length).values()) for kind in (True, False)]
        return best[0] >= best[1]


def width_drafter(
    network: MedusaNetwork, decoder: Decoder, calibration: HeadCalibration, follows: bool
) -> MedusaDrafter:
    """A drafter as the mode has it, its trees searched or grown."""
    config = decoder.config
    found = replace(calibration, follows=follows)
    drafter = MedusaDrafter(network, config.layers, found)
    drafter.limits = TreeShape(10, DEEPEST, WIDTHS[-1] - 1, searched=True)
    return drafter


def forward_seconds(
    sequence: TokenSequence, widths: Sequence[int], check: Callable[[], None] = lambda: None
) -> dict[int, float]:
    """Measure forwards behind a text: the median for each width.

    Args:
        sequence: The text.
        widths: Rows of each forward.
        check: Called often; raises to cancel.
    """
    seconds: dict[int, list[float]] = {width: [] for width in widths}
    for _ in range(_TURNS):
        for width, each in seconds.items():
            settled = 0.0
            while settled < _SETTLING_S:
                check()
                settled += sequence.seconds_of_forward(width)
            for _ in range(_IN_A_ROW):
                check()
                each.append(sequence.seconds_of_forward(width))
    return {width: median(each) for width, each in seconds.items()}


def measure_forwards(
    decoder: Decoder, text: Sequence[int], check: Callable[[], None] = lambda: None
) -> dict[int, dict[int, float]]:
    """Measure forwards behind texts of three lengths, cut from one; as `WidthTimes` has them."""
    most = max(1, decoder.config.context_length - WIDTHS[-1])
    lengths = sorted({min(length, most) for length in LENGTHS})
    text = list(text) * (1 + lengths[-1] // len(text))
    sequence = TokenSequence(Target(decoder), lengths[-1] + WIDTHS[-1])
    forwards = {}
    for length in lengths:
        # The text before is its beginning, so that only what is new is read.
        sequence.reuse(text[:length])
        sequence.prefill(text[:length], check)
        forwards[length] = forward_seconds(sequence, WIDTHS, check)
    return forwards


def round_times(
    sequence: TokenSequence,
    drafter: Drafter,
    prompt: Sequence[int],
    check: Callable[[], None] = lambda: None,
) -> tuple[dict[int, float], dict[int, float]]:
    """Measure rounds behind a text, in the loop that replies run in.

    Args:
        sequence: Has room for the text and what follows.
        drafter: The heads'.
        prompt: The text.
        check: Called often; raises to cancel.

    Returns:
        Median seconds of a forward with the drawing of its tokens by width, and of a draft by nodes.
    """
    rounds: dict[int, list[RoundRecord]] = {width: [] for width in WIDTHS}
    for _ in range(_TURNS):
        for width, each in rounds.items():
            each += settled_rounds(sequence, drafter, prompt, width - 1, _ROUNDS, check)
    forwards = {width: median(one.verify_ms for one in each) / 1e3 for width, each in rounds.items()}
    drafts = {
        width - 1: median(one.draft_ms for one in each) / 1e3 for width, each in rounds.items() if width > 1
    }
    return forwards, drafts


def measure_times(
    decoder: Decoder,
    network: MedusaNetwork,
    calibration: HeadCalibration,
    replies: Replies,
    check: Callable[[], None] = lambda: None,
) -> WidthTimes:
    """Measure rounds behind texts of three lengths, and drafts of both kinds behind the shortest.

    Args:
        decoder: The target.
        network: The heads.
        calibration: Theirs.
        replies: Some of the target's.
        check: Called often; raises to cancel.
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
            forwards[length], taken = round_times(sequence, drafter, text[:length], check)
            drafts.setdefault(kind, taken)
    return WidthTimes(forwards, drafts)


def measure_speeds(
    decoder: Decoder,
    drafter: Drafter,
    prompts: Sequence[Sequence[int]],
    end_ids: Collection[int],
) -> dict[int, float]:
    """Tokens per second of the same replies by the width of all of their rounds."""
    tokens, seconds = dict.fromkeys(WIDTHS, 0), dict.fromkeys(WIDTHS, 0.0)
    for prompt in prompts[:_REPLIES]:
        for width in WIDTHS:
            found = replies_with(decoder, drafter, [prompt], end_ids, width - 1, _TOKENS)
            tokens[width] += found.tokens
            seconds[width] += found.seconds
    return {width: tokens[width] / seconds[width] for width in WIDTHS if seconds[width]}
