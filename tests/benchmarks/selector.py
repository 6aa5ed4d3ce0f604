"""Minions' selector against the best fixed length, by set times: nothing is measured, so any machine prints the same.

    python -m tests.benchmarks.selector [--rounds 400] [--seeds 6]

A forward takes 1 and each row adds a share; each token of a chain is accepted with one chance; a round's time is
disturbed by so much. The speed behind the first 20 rounds, times the best fixed length's: the mean over 16 pairs of
share and chance, the least, and how many reach 0.95. "even" rounds verify what chains do on average, every time.
"""

from __future__ import annotations

import argparse
import random
import statistics
from itertools import product

from engine.drafting.committee import CommitteeMemory, LengthSelector
from engine.messages import RoundRecord

LONGEST = 12
FIRST = 20
CASES = tuple(product((0.02, 0.06, 0.2, 0.5), (0.4, 0.6, 0.8, 0.9)))


def expected(chance: float, length: int) -> float:
    """Tokens of a round, the target's own included."""
    return sum(chance**at for at in range(length + 1))


def forward(share: float, length: int) -> float:
    """Time of a round that nothing disturbs."""
    return 1.0 + share * (length + 1)


def best(share: float, chance: float) -> float:
    """Speed of the best fixed length."""
    return max(expected(chance, length) / forward(share, length) for length in range(1, LONGEST + 1))


def by_mean_time(share: float, chance: float) -> float:
    """Speed, times the best, of the length whose mean time for a verified token is least."""

    def mean(length: int) -> float:
        chances = [chance**at * (1 - chance) for at in range(length)] + [chance**length]
        return forward(share, length) * sum(each / (at + 1) for at, each in enumerate(chances))

    length = min(range(1, LONGEST + 1), key=mean)
    return expected(chance, length) / forward(share, length) / best(share, chance)


def reached(
    share: float, chance: float, *, selector: LengthSelector, noise: float, even: bool, rounds: int, seed: int
) -> float:
    """Speed of a selector's lengths, times the best fixed one's."""
    source = random.Random(seed)
    tokens = seconds = 0.0
    for at in range(rounds):
        length = selector.shape().rows
        count = expected(chance, length)
        if not even:
            count = next((n for n in range(1, length + 1) if source.random() >= chance), length + 1)
        took = forward(share, length) * max(0.1, source.gauss(1.0, noise))
        # A record counts whole tokens, so an average goes into its time.
        told, verified = (took / count, 1) if even else (took, int(count))
        selector.observe(
            RoundRecord(
                position=1,
                tokens=(1,) * length,
                parents=tuple(range(-1, length - 1)),
                scores=(),
                accepted=tuple(range(verified - 1)),
                emitted=(1,) * verified,
                draft_ms=0.0,
                verify_ms=told * 1e3,
            )
        )
        if at >= FIRST:
            tokens += count
            seconds += took
    return tokens / seconds / best(share, chance)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=6)
    chosen = parser.parse_args()

    def row(name: str, speeds: list[float]) -> None:
        enough = sum(speed >= 0.95 for speed in speeds)
        print(f"{name:50}{statistics.fmean(speeds):8.3f}{min(speeds):8.3f}{enough:4} of {len(speeds)}")

    row("least mean t / vl", [by_mean_time(*case) for case in CASES])
    for even, noise, first, threshold in product(
        (True, False), (0.0, 0.1, 0.3), (1, 4), (4, 8, 16, 32, 64, 128)
    ):
        speeds = [
            statistics.fmean(
                reached(
                    *case,
                    selector=LengthSelector(
                        LONGEST, CommitteeMemory(), length=first, decision_threshold=threshold
                    ),
                    noise=noise,
                    even=even,
                    rounds=chosen.rounds,
                    seed=seed,
                )
                for seed in range(chosen.seeds)
            )
            for case in CASES
        ]
        kind = "even" if even else "chains"
        row(f"{kind}, noise {noise:.0%}, from {first}, threshold {threshold}", speeds)


if __name__ == "__main__":
    main()
