"""Many verdicts of a rule over a small vocabulary, to compare what it emits with what the target would say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.messages import Penalties
from engine.model.sampling import Sampler
from engine.model.token_tree import ROOT, Draft, Proposal
from engine.verifying.verdict import Verdict, Verifier


@dataclass(frozen=True)
class RememberingSampler(Sampler):
    """Works out each row's distribution once: 100,000 verdicts read the same few rows."""

    known: dict[int, Tensor] = field(default_factory=dict)

    def distribution(self, logits: Tensor, seen: Sequence[int] = (), position: int = 0) -> Tensor:
        """The sampler's own distribution."""
        assert self.repetition_penalty == 1.0
        assert self.penalties == Penalties()
        found = self.known.get(logits.data_ptr())
        if found is None:
            found = self.known[logits.data_ptr()] = super().distribution(logits)
        return found


def sibling_drafts(q: Tensor, siblings: int, draws: int, drawn: str, said: str) -> list[Draft]:
    """Drafts of depth 1 whose siblings are drawn in one way and said to be drawn in another.

    Args:
        q: (V,) probabilities.
        siblings: Draws below the root.
        draws: Number of drafts.
        drawn: ``with``, ``without`` or ``best``.
        said: ``with``, ``without`` or ``deterministic``.
    """
    if drawn == "best":
        chosen = q.topk(siblings).indices.expand(draws, siblings)
    else:
        generator = torch.Generator().manual_seed(siblings)
        chosen = torch.multinomial(
            q.expand(draws, -1), siblings, replacement=drawn == "with", generator=generator
        )
    known: dict[tuple[int, ...], Draft] = {}
    drafts = []
    for row in chosen.tolist():
        key = tuple(row)
        if key not in known:
            nodes = tuple(dict.fromkeys(key))
            empty = len(nodes)
            proposal = Proposal(said == "with", (key, *[()] * empty), (q, *[None] * empty))
            known[key] = Draft(nodes, (ROOT,) * empty, proposal=None if said == "deterministic" else proposal)
        drafts.append(known[key])
    return drafts


def verdicts(rule: Verifier, drafts: Sequence[Draft], logits: Tensor) -> Counter[Verdict]:
    """Count the verdicts over drafts whose rows are the first ones of ``logits``; each has noise of its own."""
    rows = {len(draft): logits[: len(draft) + 1] for draft in drafts}
    return Counter(rule.verify(draft, rows[len(draft)], 16 * at, []) for at, draft in enumerate(drafts))


def total_variation(counts: Counter[int], expected: Tensor) -> float:
    """Half the summed difference between frequencies of tokens and their probabilities."""
    frequencies = torch.tensor([counts[token] for token in range(expected.shape[0])], dtype=torch.float64)
    return float((frequencies / frequencies.sum() - expected).abs().sum()) / 2
