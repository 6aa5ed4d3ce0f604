"""The held-out questions: read for scores only, never for training or for writing patterns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HELDOUT_FILE = Path(__file__).parent / "heldout.txt"


@dataclass(frozen=True)
class HeldOut:
    """A chat whose last question is scored; the answer to any of ``facts`` is right."""

    facts: tuple[str, ...]
    questions: tuple[str, ...]


def read_heldout(path: Path = HELDOUT_FILE) -> list[HeldOut]:
    """The questions of a file of ``fact <TAB> question`` lines.

    Several facts that would all be right are parted by commas, questions of one chat by " || ".

    Raises:
        ValueError: with the file and line of a line of another form.
    """
    found: list[HeldOut] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        names, tab, text = line.partition("\t")
        if not tab or not text.strip():
            raise ValueError(f"{path.name}:{number}: expected 'fact <TAB> question'")
        found.append(
            HeldOut(tuple(names.strip().split(",")), tuple(part.strip() for part in text.split(" || ")))
        )
    return found
