"""Passages of a document that a question finds."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from engine.messages import Attachment, Section
from engine.text.passages import PassageIndex, split, within

FILLER = "The weather was mild and nothing else of note happened in the valley on that day. " * 8


def paged(name: str, *pages: str) -> Attachment:
    """A document of these pages."""
    starts, text = [], ""
    for number, page in enumerate(pages, 1):
        starts.append(Section(str(number), len(text)))
        text += page + "\n\n"
    return Attachment(name, len(text), text, "page", tuple(starts))


def test_the_page_with_the_answer_is_the_first_hit() -> None:
    pages = [FILLER] * 30
    pages[17] = f"{FILLER}\n\nThe warranty covers the compressor for seven years.\n\n{FILLER}"
    index = PassageIndex([paged("manual.pdf", *pages)])
    best = index.passages[index.ranked("How long is the warranty on the compressors?")[0]]
    assert best.section == 17
    # The paragraphs around it come along.
    hits = index.ranked("How long is the warranty?")
    assert [index.passages[number].section for number in index.with_neighbours(hits)] == [17, 17, 17]


def test_words_of_questions_and_words_that_stand_everywhere_find_nothing() -> None:
    what = "What happened? " + FILLER
    index = PassageIndex([paged("a.pdf", what, *[FILLER] * 20)])
    assert index.ranked("What is this document about?") == []
    assert index.ranked("weather in the valley") == []
    assert index.ranked("Was steht in der Datei?") == []
    assert index.ranked('"quotes" AND (brackets) NEAR/2 *') == []


def test_a_page_that_is_named_is_found() -> None:
    index = PassageIndex([paged("a.pdf", *[FILLER] * 20), Attachment("b.txt", 4, "word")])
    for question in ("What does page 12 say?", "Was steht auf Seite 12?"):
        assert {index.passages[number].section for number in index.ranked(question)} == {11}


def test_texts_without_spaces_are_found_by_pairs_of_characters() -> None:
    filler = "今天天气很好我们去公园散步吧。" * 40
    index = PassageIndex([paged("a.pdf", *[filler] * 10, "保修期为七年，包括压缩机。", *[filler] * 10)])
    assert index.passages[index.ranked("压缩机的保修期是多久？")[0]].section == 10


def test_a_question_about_the_whole_gets_the_beginnings_and_what_lies_evenly_between() -> None:
    index = PassageIndex([paged("a.pdf", *[FILLER] * 20), paged("b.pdf", *[FILLER] * 20)])
    chosen = index.spread(range(40), 8)
    assert {0, 20} <= set(chosen)
    assert max(b - a for a, b in pairwise(sorted(chosen))) <= 5


def test_a_budget_holds() -> None:
    assert within([5, 3, 8, 1], 10, lambda number: number, taken={3}) == [5, 1]


@given(st.lists(st.text(alphabet="ab. \n字", max_size=3000), min_size=1, max_size=4))
def test_passages_are_all_of_the_text_in_its_order_and_no_longer_than_they_may_be(pages: list[str]) -> None:
    file = paged("a.pdf", *pages)
    passages = list(split(file))
    text = "".join(file.text[start:end] for _, start, end in passages)
    assert "".join(text.split()) == "".join(file.text.split())
    for (_, _, before), (_, start, _) in pairwise(passages):
        assert before <= start
    for section, start, end in passages:
        assert end - start <= 2 * 1400
        assert section == max(n for n, one in enumerate(file.sections) if one.start <= start)
