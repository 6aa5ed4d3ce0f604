"""The branch pacer: which branches of a draft are to be lengthened next.

Source: LLMCad (Xu et al. 2023, "LLMCad: Fast and Scalable On-device Large Language Model Inference"), section 3.2,
equations 1 and 2.
"""

from __future__ import annotations

from collections.abc import Sequence


def most_behind(confidences: Sequence[float], lengths: Sequence[int], tokens: int, count: int) -> list[int]:
    """The branches that the next steps would lengthen one after the other, as long as they are different ones.

    Max-min fairness: of M tokens a branch of cumulative confidence C_x deserves M * C_x / sum(C), and what it lacks is
    f(x) = M * C_x / sum(C) - T_x for its T_x tokens. The paper prints the objective as a minimum; its text gives
    more to the likelier branch, so the one that lacks most is lengthened.

    A forward over a few rows takes hardly longer than one over a single row, so a step lengthens several branches;
    each counts as one token longer while the others are chosen, as it would have been.

    Args:
        confidences: C of each branch, the product of its tokens' probabilities.
        lengths: T of each branch, in tokens from the root on.
        tokens: M, tokens of all branches, shared ones counted once.
        count: Most branches to choose.

    Returns:
        Indices of at least one branch where there is any, the one that lacks most first.
    """
    whole = sum(confidences)
    # Of branches that are all impossible none deserves more than another.
    shares = [each / whole if whole > 0 else 1 / len(confidences) for each in confidences]
    chosen: list[int] = []
    grown = list(lengths)
    while len(chosen) < min(count, len(shares)):
        drafted = tokens + len(chosen)
        best = max(range(len(shares)), key=lambda branch: drafted * shares[branch] - grown[branch])
        if best in chosen:
            break
        chosen.append(best)
        grown[best] += 1
    return chosen
