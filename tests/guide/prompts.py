"""Prompts of one kind each for the guide, whose replies a draft may learn: ``python -m tests.guide.prompts FOLDER``.

Writes a file of chats without replies for each kind, for ``tenon train draft --kind small --data FILE --generate N``.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from tests.guide import playground
from tests.guide.dialogue import Source
from tests.guide.fact import read_facts

#: Kinds of prompts, and the playground's kinds of each; of facts none.
KINDS: dict[str, tuple[str, ...]] = {
    "facts": (),
    "prose": ("story", "letter", "continuation", "commentary", "rewriting"),
    "structure": ("plan", "checklist", "table", "record", "code", "recital"),
}


def prompts(kind: str, count: int, seed: int) -> list[str]:
    """Prompts of a kind; another seed gives others."""
    rng = random.Random(f"{kind} {seed}")
    parts = KINDS[kind]
    if parts:
        return [playground.write(rng, rng.choice(parts)).request for _ in range(count)]
    source = Source(*read_facts(problems=[]))
    return [source.guide_turn(rng).question for _ in range(count)]


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        lines = [
            json.dumps({"messages": [{"role": "user", "content": prompt}]})
            for prompt in prompts(kind, options.count, options.seed)
        ]
        (options.folder / f"{kind}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
