"""The rules of verification by name, and which of them are lossless."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.model.sampling import Sampler
from engine.verifying.sample_and_match import SampleAndMatch
from engine.verifying.typical_acceptance import TypicalAcceptance
from engine.verifying.verdict import Verifier


@dataclass(frozen=True)
class Rule:
    """A row of the table.

    Attributes:
        name: As ``--verify`` takes it.
        title: For a person.
        lossless: Replies follow the target's own distribution, as in plain decoding.
        verifier: Makes the verifier of one reply.
    """

    name: str
    title: str
    lossless: bool
    verifier: Callable[[Sampler], Verifier]


DEFAULT_RULE = "sample-and-match"
# Greedy match has no row: it is what sample-and-match does at temperature 0.
RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule(DEFAULT_RULE, "Sample and match", True, SampleAndMatch),
        Rule("typical", "Typical acceptance (lossy)", False, TypicalAcceptance),
    )
}
