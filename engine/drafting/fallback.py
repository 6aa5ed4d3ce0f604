"""Threshold of the confidence below which a draft ends: LLMCad's self-adaptive threshold.

Source: LLMCad (Xu et al. 2023), section 3.3, equation 3.
"""

from __future__ import annotations

#: Below it the limit of nodes ends every draft first, and halving it on would only delay its way back.
LOWEST_THRESHOLD = 1e-6


class FallbackThreshold:
    """Alpha: the target verifies once the most confident branch of a draft has become less likely than this.

    Where the paper's formula and its prose differ, this follows the prose. A verification without an error halves
    alpha. One with errors divides it by the average confidence of the tokens from the first wrong one on, which the
    prose takes to be T_c ** ((N_all - N_correct) / N_all) for a branch of N_all tokens, N_correct of them right, and
    the tree-cumulative confidence T_c; the printed formula has the exponent alone.

    Args:
        initial: Alpha at the start.

    Attributes:
        value: Alpha now, between `LOWEST_THRESHOLD` and 1.
    """

    DEFAULT = 0.01

    def __init__(self, initial: float = DEFAULT) -> None:
        self.value = max(initial, LOWEST_THRESHOLD)

    def observe(self, confidence: float, drafted: int, correct: int) -> None:
        """A draft was verified.

        Args:
            confidence: T_c, the cumulative confidence of the draft's most confident branch.
            drafted: N_all, tokens of the branch that matched best.
            correct: N_correct, how many of them held.
        """
        if correct == drafted:
            self.value = max(self.value * 0.5, LOWEST_THRESHOLD)
            return
        wrong: float = (drafted - correct) / drafted
        self.value = min(self.value / max(confidence, LOWEST_THRESHOLD) ** wrong, 1.0)
