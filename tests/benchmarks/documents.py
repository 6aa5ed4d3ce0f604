"""Passages that questions find in three documents: by words, by meaning and by both.

    python -m tests.benchmarks.documents [--held-out] [--write]

Most questions share no word that matters with their passage, some are German, some name a term, and some are about
the whole or about the reply, which should find nothing. "In the prompt" counts what a context of 2,048 tokens takes.
Then the time and the memory of the first question about 300 pages. --held-out asks 50 questions about three other
documents with a context of 1,024 tokens; no rule of the search may be chosen by them. --write keeps the main rows for
BENCHMARKS.md.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import psutil

from engine.messages import Attachment, ChatMessage, Section
from engine.preparer import SLOW
from engine.text.context_window import fit_with_attachments
from engine.text.passages import PassageIndex
from tests.benchmarks.page import keep

TEXTS = Path(__file__).parent / "texts"
HELD_OUT = TEXTS / "held_out"
WAYS = ("words", "meaning", "both")
_CONTEXT = 2048
_SHORTER_CONTEXT = 1024  # for the documents that are kept apart, which are half as long
_COPIES = 20


class Asked(NamedTuple):
    """A question, with the page that answers it, which is empty where none does."""

    kind: str
    document: str
    page: str
    question: str


def document(name: str, folder: Path = TEXTS) -> Attachment:
    """Return a document with a page for each of its headings."""
    text = (folder / f"{name}.txt").read_text("utf-8")
    starts = [found.start() for found in re.finditer("^# ", text, re.MULTILINE)]
    return Attachment(name, len(text), text, "page", tuple(Section(str(n), at) for n, at in enumerate(starts, 1)))


def questions(folder: Path = TEXTS) -> list[Asked]:
    """Return all questions; one without a document is about any."""
    return [Asked(*line.split("\t")) for line in (folder / "questions.tsv").read_text("utf-8").splitlines()]


@contextmanager
def found_by(way: str) -> Iterator[None]:
    """Search by one of `WAYS`."""
    with patch.object(PassageIndex, "_hits", PassageIndex._hits if way != "meaning" else lambda *_: []):
        if way == "words":
            with patch("engine.text.passages.vectors", lambda _: None):
                yield
        else:
            yield


def headings(index: PassageIndex, question: str) -> list[str]:
    """Return the headings of the passages that a question finds, the best first."""
    return [index._texts[number].split("\n")[0].removeprefix("# ") for number in index.ranked(question)]


def _prompt(file: Attachment, question: str, context: int) -> str:
    """Return what is in the prompt, a character for each letter and for each four letters a token."""
    prompts: dict[int, str] = {}

    def render(turns: list[ChatMessage]) -> range:
        text = "".join(turn.content for turn in turns)
        prompts[len(text) // 4] = text
        return range(len(text) // 4)

    found = fit_with_attachments([ChatMessage("user", question, (file,))], render, lambda text: len(text) // 4, context)
    return prompts[len(found.prompt)]


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="keep the main rows for BENCHMARKS.md")
    parser.add_argument("--held-out", action="store_true", help="ask about the documents that are kept apart")
    asked_for = parser.parse_args()
    write, folder = asked_for.write, HELD_OUT if asked_for.held_out else TEXTS
    names = dict.fromkeys(asked.document for asked in questions(folder) if asked.document)
    files = {name: document(name, folder) for name in names}
    apart, context = (" held out", _SHORTER_CONTEXT) if asked_for.held_out else ("", _CONTEXT)
    for way in WAYS:
        indexes = {name: PassageIndex([file]) for name, file in files.items()}
        rows: dict[str, list[tuple[bool, bool, bool, int]]] = defaultdict(list)
        idle = []
        with found_by(way):
            for asked in questions(folder):
                if not asked.document:
                    idle += [not index.ranked(asked.question) for index in indexes.values()]
                    continue
                found = headings(indexes[asked.document], asked.question)
                text = _prompt(files[asked.document], asked.question, context)
                rows[asked.kind].append(
                    (asked.page in found[:1], asked.page in found[:3], f"# {asked.page}\n" in text, len(text) // 4)
                )
        for kind, results in rows.items():
            first, three, within, tokens = (sum(column) for column in zip(*results, strict=True))
            count = len(results)
            told = f"first {first}, of the first three {three}, in the prompt {within} of {count}"
            print(f"{way:8} {kind:8} {told}; {tokens // count} tokens")
            if write:
                what = f"passage in the prompt, questions of {kind}{apart}, by {way}"
                keep("quality", what, within / count, "of all", f"{within} of {count}")
        if idle:
            print(f"{way:8} about the whole: nothing found {sum(idle)} of {len(idle)}")
    if not asked_for.held_out:
        _measure_long(files, write)


def _measure_long(files: dict[str, Attachment], write: bool) -> None:
    paragraphs = [text for file in files.values() for text in re.split(r"\n\n", file.text)]
    text = "\n\n".join(f"{one} Volume {copy}." for copy in range(_COPIES) for one in paragraphs)
    SLOW.end()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the process imports this module, and NumPy with it, before it says so
    for way in ("words", "both"):
        with found_by(way):
            index = PassageIndex([Attachment("long", len(text), text)])
            for question in ("What does it cost to leave my car there?", "When can I borrow books?"):
                started = time.perf_counter()
                index.ranked(question)
                taken_s = time.perf_counter() - started
                print(f"{way:8} {len(index.passages)} passages of {len(text) / 1e3:.0f} kB: {taken_s:.2f} s", end="")
                if SLOW._running is not None:
                    process = psutil.Process(SLOW._running[0].pid)
                    spent_s = sum(process.cpu_times()[:2])
                    print(f", {spent_s:.2f} s of a processor, {process.memory_info().rss / 2**20:.0f} MiB", end="")
                    if write and "car" in question:
                        keep("quality", "first question about 300 pages", taken_s, "s", f"{len(text) // 1000} kB")
                print()
    SLOW.end()


if __name__ == "__main__":
    main()
