"""Attached files in a prompt: whole where they fit, else the passages that match, and a prefix that stays."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import PromptTooLong
from engine.messages import Attachment, ChatMessage, Section, with_attachments
from engine.text.context_window import FittedPrompt, fit_with_attachments
from tests.engine.text.test_passages import FILLER, paged


def words(text: str) -> list[int]:
    """A tokenizer of a token for each word: its hash."""
    return [hash(word) for word in text.split()]


def fit(messages: Sequence[ChatMessage], context: int) -> tuple[str, FittedPrompt[list[int]]]:
    """The rendered text of what fits."""
    seen: dict[tuple[int, ...], str] = {}

    def render(turns: Sequence[ChatMessage]) -> list[int]:
        assert not any(turn.attachments for turn in turns)
        text = "\n".join(f"<{turn.role}>\n{turn.content}" for turn in turns)
        ids = words(text)
        seen[tuple(ids)] = text
        return ids

    found = fit_with_attachments(messages, render, lambda text: len(words(text)), context)
    return seen[tuple(found.prompt)], found


def manual(pages: int = 60) -> Attachment:
    """A document of pages that say nothing, but for the seventh and the ninth."""
    texts = [FILLER] * pages
    texts[6] = "The warranty of the pump lasts seven years."
    texts[8] = "The filter has to be cleaned each month."
    return paged("manual.pdf", *texts)


def test_a_file_that_fits_is_read_whole_with_its_pages() -> None:
    file = paged("a.pdf", "First page.", "Second page.")
    text, found = fit([ChatMessage("user", "What is it?", (file,))], 200)
    assert text == ("<user>\nFile: a.pdf\n```\n[page 1]\nFirst page.\n\n[page 2]\nSecond page.\n```\n\nWhat is it?")
    assert found.sources == ""


def test_of_a_file_that_does_not_fit_the_passages_that_match_are_read_and_named() -> None:
    text, found = fit([ChatMessage("user", "How long is the warranty of the pump?", (manual(),))], 1000)
    assert "Passages of manual.pdf (60 pages) that match the question:" in text
    assert "[page 7]\nThe warranty of the pump lasts seven years." in text
    assert "filter" not in text
    assert found.sources.startswith("From manual.pdf, page")
    assert "7" in found.sources
    assert len(found.prompt) <= 1000


def test_later_questions_bring_their_own_passages_and_leave_the_prompt_before_as_it_was() -> None:
    turns = [
        ChatMessage("system", "Be brief."),
        ChatMessage("user", "How long is the warranty?", (manual(),)),
    ]
    first, _ = fit(turns, 2000)
    turns += [ChatMessage("assistant", "Seven years."), ChatMessage("user", "When is the filter cleaned?")]
    second, found = fit(turns, 2000)
    assert second.startswith(first)
    assert "cleaned each month" in second.removeprefix(first)
    assert "9" in found.sources
    turns += [ChatMessage("assistant", "Monthly."), ChatMessage("user", "And the warranty, again?")]
    third, found = fit(turns, 2000)
    assert third.startswith(second)
    assert third.count("lasts seven years") == 1  # it is in the prompt already
    turns += [ChatMessage("assistant", "7."), ChatMessage("user", "Write a title", searches=False)]
    fourth, found = fit(turns, 2000)
    assert fourth.removeprefix(third) == "\n<assistant>\n7.\n<user>\nWrite a title"
    assert found.sources == ""


def test_a_question_about_the_whole_gets_passages_from_all_over_it() -> None:
    pages = [f"Chapter number{number} begins. {FILLER}" for number in range(60)]
    text, found = fit([ChatMessage("user", "Summarize this document.", (paged("m.pdf", *pages),))], 4000)
    told = [int(number) for number in re.findall(r"\[page (\d+)\]", text)]
    assert told[0] == 1
    assert max(told) > 50
    assert re.fullmatch(
        r"Read \d+ of 60 pages of m.pdf \(1, [\d, –]+\); the rest does not fit into the context.", found.sources
    )
    plain = Attachment("m.txt", 9, "\n\n".join(pages))
    assert fit([ChatMessage("user", "Summarize this.", (plain,))], 4000)[1].sources.endswith(
        " passages of m.txt; the rest does not fit into the context."
    )


def test_a_chat_that_outgrows_the_context_keeps_what_it_knows_of_the_file() -> None:
    """Passages of a file go on where its turn would have to be left out."""
    turns: list[ChatMessage] = [ChatMessage("user", "Read this.", (manual(6 + 3),))]
    for number in range(40):
        turns += [ChatMessage("assistant", f"word{number} " * 60), ChatMessage("user", f"More of {number}?")]
    turns += [ChatMessage("assistant", "Yes."), ChatMessage("user", "How long is the warranty?")]
    text, found = fit(turns, 3000)
    assert found.messages_left_out > 0
    assert "lasts seven years" in text
    assert found.sources == "From manual.pdf, page 7."


def test_old_turns_are_left_out_before_a_file_that_came_later_is_cut() -> None:
    turns: list[ChatMessage] = []
    for number in range(10):
        turns += [ChatMessage("user", f"Say {number}."), ChatMessage("assistant", f"word{number} " * 60)]
    file = paged("a.pdf", "here it is " * 150)
    text, found = fit([*turns, ChatMessage("user", "What is it?", (file,))], 1000)
    assert with_attachments("What is it?", [file]) in text
    assert found.messages_left_out > 0
    assert found.sources == ""


def test_several_files_and_chapters_are_named() -> None:
    book = Attachment("book.epub", 9, "", "chapter", ())
    text = "\n\n".join(f"Part{n}\n\n{FILLER}" + "A dragon sleeps." * (n == 2) for n in range(9))
    starts = tuple(Section(f"Part{n}", text.index(f"Part{n}")) for n in range(9))
    book = Attachment("book.epub", 9, text, "chapter", starts)
    notes = Attachment("notes.txt", 9, "\n\n".join([FILLER] * 20 + ["The dragon is green."]))
    found = fit([ChatMessage("user", "Where is the dragon?", (book, notes))], 1200)[1]
    assert "book.epub (Part2" in found.sources
    assert "and notes.txt" in found.sources


def test_a_question_that_is_too_long_alone_is_refused() -> None:
    with pytest.raises(PromptTooLong):
        fit([ChatMessage("user", "word " * 2000, (manual(),))], 1000)


def test_passages_do_not_depend_on_what_is_said_later() -> None:
    turns = [ChatMessage("user", "How long is the warranty?", (manual(),))]
    first, _ = fit(turns, 1500)
    later = paged("other.pdf", *[f"The warranty of thing{n} {FILLER}" for n in range(40)])
    turns += [ChatMessage("assistant", "Seven."), ChatMessage("user", "And here, the warranty?", (later,))]
    second, _ = fit(turns, 2500)
    assert second.startswith(first)


@given(st.lists(st.text("`\na ", min_size=1), min_size=1, max_size=3), st.text("`a\n "))
def test_a_file_cannot_end_its_own_block(texts: list[str], prompt: str) -> None:
    rendered = with_attachments(prompt, [Attachment("f", 1, text) for text in texts])
    for text in texts:
        _head, fence, rest = re.match(r"(File: f\n)(`{3,})\n(.*)", rendered, re.DOTALL).groups()  # type: ignore[union-attr]
        body = text if text.endswith("\n") else text + "\n"
        assert rest.startswith(body + fence)
        assert fence not in text
        rendered = rest[len(body) + len(fence) :].removeprefix("\n\n")
    assert rendered == (prompt if prompt.strip() else "")
