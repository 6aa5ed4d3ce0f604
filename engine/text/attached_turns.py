"""Conversations with attached files: whole files where the context holds them, else the passages that match."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby

from engine.errors import PromptTooLong
from engine.messages import Attachment, ChatMessage, fenced, with_attachments, with_missing
from engine.sentences import mark, paragraph, runs, say, together
from engine.text.context_window import FittedPrompt, Prompt, fit_conversation
from engine.text.passages import PassageIndex, within

# Passages of a question, in tokens: a share of the context, and no more than is read in bearable time.
_SHARE = 4
_MOST_TOKENS = 2048
# Tokens around a passage: the mark of its page, of a gap.
_AROUND_TOKENS = 8
_LEAST_TOKENS = 256
# Passages whose mean length says how many of a file go into the budget.
_SAMPLE = 50
_MOST_CHAPTERS = 4
_TITLE = 40
# No token of usual text is longer; a text that is longer than this many tokens is not even counted.
_LONGEST_TOKEN = 16
# What a question about the whole has read of a file.
_OF_PAGES = mark("{count} of {all} pages of {name} ({pages})")
_OF_CHAPTERS = mark("{count} of {all} chapters of {name} ({chapters})")
_OF_PASSAGES = mark("{count} of {all} passages of {name}")
_WORDS_ALONE = mark("They were found by their words alone: the text is too long to search what it means.")


def fit_with_attachments(
    messages: Sequence[ChatMessage],
    render: Callable[[Sequence[ChatMessage]], Prompt],
    count: Callable[[str], int],
    context: int,
    max_tokens: int | None = None,
) -> FittedPrompt[Prompt]:
    """Fit a conversation into the context.

    Files are read whole, in the turn that they came with, for as long as no turn with a file would have to be left out.
    Then passages take their place: each question brings those that match it and are not in the prompt already, so that
    the turns before it stay as they were and are found in the cache.

    Args:
        messages: The conversation, an optional system message first, ending with the person's turn.
        render: Messages to a prompt as long as it has tokens.
        count: Tokens of a text.
        context: Tokens of context, prompt and reply together.
        max_tokens: The reply's limit, where it has one.

    Raises:
        PromptTooLong: the last message does not fit even without files.
    """
    if not any(message.attachments for message in messages):
        return fit_conversation(messages, render, context, max_tokens)
    system = bool(messages and messages[0].role == "system")
    first = next(at for at, message in enumerate(messages) if message.attachments) - system
    characters = sum(len(one.text) for message in messages for one in message.attachments)
    if characters <= context * _LONGEST_TOKEN:
        try:
            whole = [_whole(message) for message in messages]
            prompt = fit_conversation(whole, render, context, max_tokens)
            if prompt.messages_left_out <= first:
                return prompt
        except PromptTooLong:
            pass
    passages = _PassageTurns(messages, count, max(min(context // _SHARE, _MOST_TOKENS), _LEAST_TOKENS))

    def render_from(turns: Sequence[ChatMessage]) -> Prompt:
        return render(passages.written(len(messages) - len(turns) + system))

    prompt = fit_conversation(messages, render_from, context, max_tokens)
    return replace(prompt, sources=passages.sources(prompt.messages_left_out + system))


def _whole(message: ChatMessage) -> ChatMessage:
    return replace(message, content=with_attachments(message.content, message.attachments), attachments=())


class _PassageTurns:
    """The turns of a conversation with passages in the place of files."""

    def __init__(self, messages: Sequence[ChatMessage], count: Callable[[str], int], budget: int) -> None:
        self._messages = messages
        self._budget = budget
        self._attachments = [one for message in messages for one in message.attachments]
        self._passages = PassageIndex(self._attachments).passages
        # Numbers of passages are the same in every index: one of fewer files ends earlier.
        self._index = cache(lambda known: PassageIndex(self._attachments[:known]))
        self._ranked = cache(lambda known, question: self._index(known).ranked(question))
        self._cost = cache(lambda number: count(self._text(number)) + _AROUND_TOKENS)

    def written(self, first: int) -> list[ChatMessage]:
        """Return the system message, if there is one, and the turns from a number on."""
        return [message for message, _ in self._composed(first)]

    def sources(self, first: int) -> str:
        """Return which passages the last question brought, the turns before a number left out: for the user."""
        _, matching = self._composed(first)[-1]
        if not matching:
            return ""
        known = len(self._attachments)
        whole = not self._ranked(known, self._messages[-1].content)
        places = together([self._told(at, numbers, whole) for at, numbers in self._by_attachment(matching)])
        if whole:
            return say("Read {places}; the rest does not fit into the context.", places=places)
        return paragraph(
            say("From {places}.", places=places), say(_WORDS_ALONE) if self._index(known).by_words_alone else ""
        )

    def _composed(self, first: int) -> list[tuple[ChatMessage, list[int]]]:
        """Return the turns, each with the numbers of the passages that match it, there or in a turn before."""
        taken: set[int] = set()
        known = 0
        turns: list[tuple[ChatMessage, list[int]]] = []
        for at, message in enumerate(self._messages):
            new = range(known, known + len(message.attachments))
            known += len(message.attachments)
            if at < first and message.role != "system":
                continue
            chosen: list[int] = []
            matching: list[int] = []
            if message.role == "user" and known and (message.searches or message.attachments):
                hits = self._ranked(known, message.content)
                chosen = self._choose(hits, known, new, taken)
                taken.update(chosen)
                matching = sorted(taken.intersection(hits)) or chosen
            content = "\n\n".join([*self._blocks(chosen, new), *([message.content] * bool(message.content.strip()))])
            turns.append((replace(message, content=content, attachments=()), matching))
        return turns

    def _choose(self, hits: Sequence[int], known: int, new: range, taken: set[int]) -> list[int]:
        """Passages to add for a question, in the order of the text; of the whole where nothing matches."""
        ranked = self._index(known).with_neighbours([hit for hit in hits if hit not in taken])
        if not hits and (new or not taken):
            wanted = [n for n, one in enumerate(self._passages) if one.attachment in (new or range(known))]
            usual = sum(map(self._cost, wanted[:_SAMPLE])) // max(len(wanted[:_SAMPLE]), 1)
            ranked = self._index(known).spread(wanted, self._budget // max(usual, 1))
        return sorted(within(ranked, self._budget, self._cost, taken))

    def _blocks(self, chosen: Sequence[int], new: range) -> list[str]:
        """Text before a question: its passages, and the names of files that came with it and have none."""
        found = self._by_attachment(chosen)
        blocks = [
            fenced(
                with_missing(
                    self._attachments[at],
                    f"Passages of {_titled(self._attachments[at])} that match the question:",
                ),
                self._joined(numbers),
            )
            for at, numbers in found
        ]
        without = [self._attachments[at] for at in new if at not in {at for at, _ in found}]
        return [*(with_missing(one, f"File: {_titled(one)}") for one in without), *blocks]

    def _joined(self, numbers: Sequence[int]) -> str:
        """Passages of one file: neighbours as one stretch, a gap as such."""
        stretches: list[tuple[int, int]] = []
        before = None
        for number in numbers:
            start = self._passages[number].start
            if before is not None and number == before + 1:
                start = stretches.pop()[0]
            stretches.append((start, self._passages[number].end))
            before = number
        attachment = self._attachments[self._passages[numbers[0]].attachment]
        return "\n[...]\n".join(attachment.marked(start, end).strip("\n") for start, end in stretches)

    def _by_attachment(self, numbers: Sequence[int]) -> list[tuple[int, list[int]]]:
        grouped = groupby(numbers, key=lambda number: self._passages[number].attachment)
        return [(at, list(group)) for at, group in grouped]

    def _told(self, at: int, numbers: Sequence[int], whole: bool) -> str:
        """Return a file and its pages or chapters; of a question about the whole with how many there are."""
        file = self._attachments[at]
        sections = sorted({self._passages[number].section for number in numbers})
        if not file.sections:
            every = sum(one.attachment == at for one in self._passages)
            return say(_OF_PASSAGES, count=len(numbers), all=every, name=file.name) if whole else file.name
        if file.unit == "page":
            pages = runs(int(file.sections[number].label) for number in sections)
            if whole:
                return say(_OF_PAGES, count=len(sections), all=len(file.sections), name=file.name, pages=pages)
            if len(sections) == 1:
                return say("{name}, page {page}", name=file.name, page=pages)
            return say("{name}, pages {pages}", name=file.name, pages=pages)
        titles = [shortened(file.sections[number].label) for number in sections[:_MOST_CHAPTERS]]
        more = ["..."] if len(sections) > _MOST_CHAPTERS else []
        chapters = "; ".join([*titles, *more])
        if whole:
            return say(_OF_CHAPTERS, count=len(sections), all=len(file.sections), name=file.name, chapters=chapters)
        return f"{file.name} ({chapters})"

    def _text(self, number: int) -> str:
        one = self._passages[number]
        return self._attachments[one.attachment].text[one.start : one.end]


def _titled(attachment: Attachment) -> str:
    pages = len(attachment.sections)
    return f"{attachment.name} ({pages} pages)" if attachment.unit == "page" else attachment.name


def shortened(title: str) -> str:
    """Return a chapter's title, shortened to what finds it."""
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 1].rstrip()}…"
