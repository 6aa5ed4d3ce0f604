"""The rows of the table: each way of decoding that is measured beside plain decoding, and what it draws on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.messages import LoadOptions
from engine.modes import MODES
from tests.benchmarks.speculation_models import RANDOM, SMALL_MODEL, gated_fusion

#: Dovetail's own choice, sections III-C and IV.
BLOCKS = 4
VERIFIED = 16


@dataclass(frozen=True)
class Row:
    """One row.

    Attributes:
        name: For the reader.
        mode: As ``--mode`` takes it; None for transformers' assisted generation.
        draft: The name of its folder, None for none.
        verified: Most tokens that one forward verifies, the root included.
    """

    name: str
    mode: str | None
    draft: str | None = None
    verified: int = VERIFIED

    def missing(self, folders: dict[str, Path]) -> str | None:
        """Why this row cannot be measured, None where it can."""
        if self.mode is not None and self.mode not in MODES:
            return f"there is no mode {self.mode}"
        if self.draft is not None and self.draft not in folders:
            return f"there is no trained draft {self.draft}"
        return None

    def options(self, target: Path, folders: dict[str, Path], weights: str, threads: int) -> LoadOptions:
        """What Tenon is asked to load."""
        assert self.mode is not None
        if self.draft is None:
            return LoadOptions(
                model=str(target), mode=self.mode, weights=weights, threads=threads, context=1024
            )
        return LoadOptions(
            model=str(target),
            draft=str(folders[self.draft]),
            mode=self.mode,
            weights=weights,
            threads=threads,
            context=1024,
            mode_options={"draft_nodes": self.verified - 1},
        )


PLAIN = Row("plain", "plain")


def rows(blocks: int) -> tuple[Row, ...]:
    """The whole table; the number of verified tokens is varied with the gated-fusion draft of this many blocks."""
    return (
        Row("lookup", "lookup"),
        Row("small model", "dovetail", SMALL_MODEL),
        *(Row(f"gated fusion, M={each}", "dovetail", gated_fusion(each)) for each in range(1, 6)),
        Row("concatenation, M=1", "dovetail", "concatenation-1"),
        *(
            Row(f"gated fusion, M={blocks}, {verified} verified", "dovetail", gated_fusion(blocks), verified)
            for verified in (8, 32, 64)
        ),
        Row("random draft", "dovetail", RANDOM),
        Row("transformers, assisted", None, SMALL_MODEL),
    )
