"""The rules of verification by name, and which of them are lossless."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from engine.model.sampling import Sampler
from engine.verifying.residual_sampling import ResidualSampling
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
        drafts: Wish for a draft that can be drawn: its likeliest tokens, or draws with or without replacement
            of siblings. What cannot be drawn is verified as it is.
        verifier: Makes the verifier of one reply.
    """

    name: str
    title: str
    lossless: bool
    verifier: Callable[[Sampler], Verifier]
    drafts: Literal["likeliest", "with replacement", "without replacement"] = "likeliest"


DEFAULT_RULE = "sample-and-match"
# Greedy match has no row: it is what sample-and-match does at temperature 0.
RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule(DEFAULT_RULE, "Sample and match", True, SampleAndMatch),
        Rule("residual", "Residual speculative sampling", True, ResidualSampling, "without replacement"),
        Rule(
            "residual-replacement",
            "Residual speculative sampling, siblings with replacement",
            True,
            ResidualSampling,
            "with replacement",
        ),
        Rule("typical", "Typical acceptance (lossy)", False, TypicalAcceptance),
    )
}
