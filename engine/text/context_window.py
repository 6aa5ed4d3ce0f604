"""Fitting a conversation into the context: the oldest turns go first, the system prompt stays.

Attached files come whole where the context holds them, else the passages that match.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import Generic, TypeVar

from engine.errors import Allowed, PromptTooLong
from engine.messages import Attachment, ChatMessage, cut_to, fenced, with_attachments, with_missing
from engine.sentences import figure, mark, paragraph, runs, say, together
from engine.text.passages import PassageIndex, within

# Room for the reply, as a share of the context. Leaving out more than the bare minimum also means that the turns
# after this one still fit, so that they find their prefix in the cache instead of shifting it each time.
_REPLY_SHARE = 4
_REPLY_TOKENS = 1024

_TOO_LONG = mark(
    "The message is {prompt_tokens} tokens long, but the model's context holds {context}: shorten it, or load the "
    "model with a larger context if it has one."
)
_MUCH_TOO_LONG = mark(
    "The message is more than {prompt_tokens} tokens long, but the model's context holds {context}: shorten it, or "
    "load the model with a larger context if it has one."
)

_PICTURES_TOO_LONG = mark(
    "The message and its pictures are {prompt_tokens} tokens long, but the model's context holds {context}: attach "
    "fewer pictures or shorten the text, or load the model with a larger context if it has one."
)

_CUT = mark("Results of tools were cut to {most} characters each, because the model's context holds no more.")
_LEAST_RESULT = 200

#: Rendered messages; the length is the number of tokens.
Prompt = TypeVar("Prompt", bound=Sized)
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
# Sentences on how much of a file a question about the whole has read.
_OF_PAGES = mark("{count} of {all} pages of {name} ({pages})")
_OF_CHAPTERS = mark("{count} of {all} chapters of {name} ({chapters})")
_OF_PASSAGES = mark("{count} of {all} passages of {name}")
_WORDS_ALONE = mark("They were found by their words alone: the text is too long to search what it means.")


class CutShort(list[int]):
    """Token ids of the beginning of a text that has many more than it may have."""


@dataclass(frozen=True)
class FittedPrompt(Generic[Prompt]):
    """A prompt that fits."""

    prompt: Prompt  # the messages that have room, rendered
    messages_left_out: int  # number of messages that had no room
    # Sentence about the passages that answer the last question; empty where whole files do, or none
    sources: str = ""
    cut: int = 0  # characters that each result of a tool was cut to; 0 if all are whole


def fit_conversation(
    messages: Sequence[ChatMessage],
    render: Callable[[Sequence[ChatMessage]], Prompt],
    context: int,
    max_tokens: int | None = None,
) -> FittedPrompt[Prompt]:
    """Leave out as many of the oldest turns as it takes, and cut results of tools where that does not suffice.

    Args:
        messages: The conversation, an optional system message first, ending with the person's turn.
        render: Messages to a prompt as long as it has tokens.
        context: Tokens of context, prompt and reply together.
        max_tokens: The reply's limit, where it has one.

    Raises:
        PromptTooLong: the last message does not fit even alone.
    """
    prompt = render(messages)
    reply = min(context // _REPLY_SHARE, _REPLY_TOKENS, max_tokens or _REPLY_TOKENS)
    if len(prompt) + reply <= context:
        return FittedPrompt(prompt, 0)
    head = list(messages[:1]) if messages and messages[0].role == "system" else []
    turns = list(messages[len(head) :])
    # A conversation opens with the person's turn, so a question leaves together with its answer.
    starts = [at for at, turn in enumerate(turns) if at and turn.role == "user"] or [0]

    def overflows(start: int) -> bool:
        return len(render([*head, *turns[start:]])) + reply > context

    first_fit = bisect_left(starts, True, key=lambda start: not overflows(start))
    left_out = starts[min(first_fit, len(starts) - 1)]
    kept = [*head, *turns[left_out:]]
    prompt, most = render(kept), 0
    results = [len(turn.content) for turn in kept if turn.role == "tool"]
    if results and len(prompt) + reply > context:
        lengths = range(min(_LEAST_RESULT, max(results)), max(results))
        fits = bisect_left(lengths, True, key=lambda most: len(render(with_results(kept, most))) + reply > context)
        most = lengths[max(fits - 1, 0)] if lengths else 0
        prompt = render(with_results(kept, most)) if most else prompt
    check_length(len(prompt), context, isinstance(prompt, CutShort), any(turn.pictures for turn in kept))
    return FittedPrompt(prompt, left_out, cut=most)


def with_results(turns: Sequence[ChatMessage], most: int) -> list[ChatMessage]:
    """Return turns whose results of tools have so many characters at most; a model is told what it lacks."""
    return [replace(turn, content=cut_to(turn.content, most)) if turn.role == "tool" else turn for turn in turns]


def say_cut(most: int) -> str:
    """Return the sentence for results that were cut."""
    return say(_CUT, most=figure(most, ","))


def check_length(prompt_tokens: int, context: int, at_least: bool = False, sees: bool = False) -> None:
    """Refuse a prompt that leaves no room for a single token of reply.

    Args:
        prompt_tokens: Tokens of the prompt.
        context: Tokens of context, prompt and reply together.
        at_least: The prompt has more: it was not counted to its end.
        sees: It has pictures.

    Raises:
        PromptTooLong: with both numbers, and a context that would hold the prompt and a reply.
    """
    if prompt_tokens >= context:
        raise PromptTooLong(
            _MUCH_TOO_LONG if at_least else _PICTURES_TOO_LONG if sees else _TOO_LONG,
            prompt_tokens=figure(prompt_tokens, ","),
            context=figure(context, ","),
            allowed=Allowed("context", prompt_tokens + prompt_tokens // _REPLY_SHARE),
        )


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
