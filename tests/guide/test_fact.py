"""Facts files: mistakes are named with their file and line, and the shipped ones have none."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

import pytest

from tests.guide.fact import REFUSE, FactsError, read_facts, read_phrases
from tests.guide.playground.grammar import word_classes

GOOD = "fact a-b\nkey: enter && send\nanswer: Press Enter to send.\n? how do i (send|post)\n"


def folder(tmp_path: Path, text: str, phrases: str = "how: how do i | how to\n") -> Path:
    (tmp_path / "phrases.txt").write_text(phrases)
    (tmp_path / "app.facts").write_text(text)
    return tmp_path


def test_reads_a_fact(tmp_path: Path) -> None:
    more = "\n# comment\nfact c\nkey: no\nanswer: No.\n? <how> c\nafter a-b ? and (then|c)\n"
    facts, phrases = read_facts(folder(tmp_path, GOOD + more))
    assert list(facts) == ["a-b", "c"]
    assert facts["c"].follow_ups[0][0] == "a-b"
    assert facts["a-b"].answered_by("**Enter** will SEND it")
    assert not facts["a-b"].answered_by("press enter")
    assert facts["c"].patterns[0].count(phrases) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("(send|post)", "(send|post"), r"app\.facts:4: .*'\('"),
        (GOOD.replace("how do i", "<nothing>"), r"app\.facts:4: unknown phrase class <nothing>"),
        (GOOD.replace("Enter to", "it to"), r"app\.facts:1: the key of 'a-b' does not match its answer"),
        (GOOD.replace("key: enter", "key: (enter"), r"app\.facts:1: key of 'a-b'"),
        (GOOD.replace("fact a-b", "fact A b"), r"app\.facts:1: a fact's name is kebab-case"),
        (GOOD + "\n" + GOOD, r"app\.facts:6: fact 'a-b' is already at app\.facts:1"),
        (GOOD + "after zz ? and now\n", r"app\.facts:1: 'a-b' follows unknown fact 'zz'"),
        ("? lost\n" + GOOD, r"app\.facts:1: '\?' before the first fact"),
        (GOOD + "answer: two\n", r"app\.facts:5: unknown or repeated 'answer:'"),
        ("fact a\nkey: a\n? a\n", r"app\.facts:1: fact 'a' needs a key, an answer and a pattern"),
    ],
)
def test_a_mistake_names_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FactsError, match=message):
        read_facts(folder(tmp_path, text))
    problems: list[str] = []
    read_facts(tmp_path, problems)
    assert problems


def test_a_bad_phrase_line_names_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(FactsError, match=r"phrases\.txt:2"):
        read_facts(folder(tmp_path, GOOD, "how: how do i\nno colon\n"))


def test_shipped_keys_match_their_own_answer_only() -> None:
    facts, _ = read_facts()
    assert len(facts) > 200
    assert REFUSE in facts
    both = [
        (one.name, other.name)
        for one in facts.values()
        for other in facts.values()
        if one is not other and one.answered_by(other.answer)
    ]
    assert both == []


def test_shipped_answers_keep_to_the_style() -> None:
    facts, _ = read_facts()
    for fact in facts.values():
        assert len(fact.answer.split()) <= 50, fact.place
        assert "!" not in fact.answer, fact.place
        assert fact.answer[-1] in ".?", fact.place


def test_shipped_questions_belong_to_one_fact() -> None:
    facts, phrases = read_facts()
    owners: dict[str, set[str]] = defaultdict(set)
    rng = random.Random(5)
    for fact in facts.values():
        for pattern in fact.patterns:
            few = pattern.count(phrases) <= 30
            texts = pattern.expand(phrases) if few else (pattern.sample(rng, phrases) for _ in range(30))
            for text in texts:
                owners[text].add(fact.name)
    shared = {text: names for text, names in owners.items() if len(names) > 1}
    assert len(shared) <= len(owners) / 5000, shared


def test_phrase_classes_are_read() -> None:
    assert {"name", "animal", "city"} <= word_classes().keys()
    assert read_phrases(Path(read_phrases.__code__.co_filename).parent / "facts" / "phrases.txt")["how-do-i"]
