"""News of this version, in the few words that a notice or a shop has room for."""

from __future__ import annotations

import re

from installers.product import ROOT, numbers, version

_MOST_CHARACTERS = 1_500


def release_notes() -> list[str]:
    """Return the first entries of this version in CHANGELOG.md, as plain sentences; empty where it has none."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(numbers(version()))}\b.*?\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^- (.*?)(?=^- |^\S|\Z)", section[1], re.MULTILINE | re.DOTALL) if section else []
    notes: list[str] = []
    for entry in entries:
        note = " ".join(entry.replace("`", "").split())
        if sum(map(len, notes)) + len(note) > _MOST_CHARACTERS:
            break
        notes.append(note)
    return notes
