"""Words in which models think: a reply comes in its template's own and goes on in ``<think>``, whatever they are.

What folds, counts and sends back thoughts (the functions here, the window, the server) knows ``<think>`` alone.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Literal

from engine.text.detokenizer import overlap
from engine.text.tool_calls.argument_calls import ATEM_MARKS
from engine.text.tool_calls.harmony import CALL, CHANNEL, MARKS, MESSAGE, OPENING, START

OPEN = "<think>"
CLOSE = "</think>"
Kind = Literal["thought", "answer"]


def without_thoughts(reply: str) -> str:
    """Return the answer alone, as templates of thinking models want earlier turns; an endless thought is no answer.

    Only what a reply begins with is a thought: a text about the mark may hold it.
    """
    if not begins_with_thought(reply):
        return reply
    return reply.partition(CLOSE)[2].lstrip()


def begins_with_thought(reply: str) -> bool:
    """Return whether a reply, or a part of one, opens with a thought."""
    return reply.lstrip().startswith(OPEN)


def thought_tokens(reply: str, ends: Sequence[int]) -> int:
    """Count a reply's tokens that are thoughts, with the marks around them.

    Args:
        reply: Its text so far.
        ends: For each token the length of the text after it.
    """
    if not begins_with_thought(reply):
        return 0
    closed = reply.find(CLOSE)
    return len(ends) if closed < 0 else min(bisect_left(ends, closed + len(CLOSE)) + 1, len(ends))


class ThoughtAndAnswer:
    """Divides a reply, as it comes, into its thought and its answer, without the marks and the space around them.

    Args:
        opening: The beginning of the reply that was there before, where it is continued.
    """

    def __init__(self, opening: str = "") -> None:
        self._place = "begin"
        self._held = ""
        self.add(opening)
        if self._place == "thought":
            self._held = ""

    def add(self, text: str) -> tuple[str, str]:
        """Take a piece of the reply.

        Returns:
            What is certain now of the thought, and of the answer; both may be empty.
        """
        self._held += text
        thought = ""
        if self._place == "begin":
            begun = self._held.lstrip()
            if begun.startswith(OPEN):
                self._place, self._held = "thought begins", begun.removeprefix(OPEN)
            elif not OPEN.startswith(begun):
                self._place = "answer"
        if self._place == "thought begins":
            self._held = self._held.lstrip()
            if self._held:
                self._place = "thought"
        if self._place == "thought":
            inner, closed, behind = self._held.partition(CLOSE)
            if closed:
                thought, self._held, self._place = inner.rstrip(), behind, "answer begins"
            else:
                certain = inner[: len(inner) - overlap(inner, CLOSE)].rstrip()
                thought, self._held = certain, inner[len(certain) :]
        if self._place == "answer begins":
            self._held = self._held.lstrip()
            if self._held:
                self._place = "answer"
        if self._place != "answer":
            return thought, ""
        answer, self._held = self._held, ""
        return thought, answer

    def end(self) -> tuple[str, str]:
        """Text that was held back, once nothing more comes."""
        held, self._held = self._held, ""
        if self._place == "begin":
            self._place = "answer"
            return "", held
        return held.rstrip(), ""


class ReplyReader(ABC):
    """Brings one reply into ``<think>``, as it comes. A thought stands in front: one behind an answer is left out.

    Args:
        opening: The beginning of the reply that was there before, where it is continued.
    """

    def __init__(self, opening: str = "") -> None:
        self._held = ""
        self._thinks = begins_with_thought(opening) and CLOSE not in opening  # a thought is open
        self._answers = bool(opening.strip()) and not self._thinks
        self._blank = False  # space at the beginning of a part is left out

    @abstractmethod
    def add(self, text: str) -> str:
        """Take a piece of the reply; returns what is certain now."""

    @abstractmethod
    def end(self) -> str:
        """Return the rest, once nothing more comes."""

    def copy(self) -> ReplyReader:
        """Return one that goes on from here and leaves this one as it is."""
        return copy(self)

    def _said(self, kind: Kind, text: str) -> str:
        if self._blank:
            text = text.lstrip()
        if not text or (kind == "thought" and self._answers):
            return ""
        self._blank = False
        if kind == "thought":
            begun, self._thinks = "" if self._thinks else f"{OPEN}\n", True
            return begun + text
        begun = f"\n{CLOSE}\n\n" if self._thinks else ""
        self._thinks, self._answers = False, True
        return begun + text


class Reasoning(ABC):
    """Words of a family of templates."""

    marks: tuple[str, ...] = ()  # special tokens that a reply is read by
    # Beginning of an answer, which a form waits for; empty if the form may begin at once
    answer: str = ""

    def reader(self, opening: str) -> ReplyReader | None:
        """Return a reader of a reply, or None if it is in ``<think>`` as it comes."""
        return None

    @abstractmethod
    def continued(self, prompt: str, opening: str) -> str:
        """Return the prompt with the beginning of a reply that is to be continued, in these words."""


@dataclass(frozen=True)
class Marked(Reasoning):
    """A thought between two marks."""

    opened: str = OPEN
    closed: str = CLOSE
    marks: tuple[str, ...] = ()

    def reader(self, opening: str) -> ReplyReader | None:
        return None if self.opened == OPEN else _MarkedReader(self.opened, self.closed, opening)

    def continued(self, prompt: str, opening: str) -> str:
        if not begins_with_thought(opening):
            return prompt + opening
        # Part of the thought that is in the prompt already, or a thought that it leaves empty.
        bare = prompt.rstrip()
        if bare.endswith(self.closed) and bare.removesuffix(self.closed).rstrip().endswith(self.opened):
            bare = bare.removesuffix(self.closed).rstrip()
        prompt = bare.removesuffix(self.opened) if bare.endswith(self.opened) else prompt
        if self.opened == OPEN:
            return prompt + opening
        thought, closed, answer = opening.lstrip().removeprefix(OPEN).lstrip().partition(CLOSE)
        return f"{prompt}{self.opened}\n{thought}" + (f"{self.closed}{answer.lstrip()}" if closed else "")


class _MarkedReader(ReplyReader):
    def __init__(self, opened: str, closed: str, opening: str) -> None:
        super().__init__(opening)
        self._marks: dict[Kind, str] = {"answer": opened, "thought": closed}
        self._kind: Kind = "thought" if self._thinks else "answer"

    def add(self, text: str) -> str:
        self._held += text
        said = ""
        while True:
            mark = self._marks[self._kind]
            inner, found, behind = self._held.partition(mark)
            if not found:
                keep = overlap(self._held, mark)
                said += self._said(self._kind, inner[: len(inner) - keep])
                self._held = inner[len(inner) - keep :]
                return said
            if self._kind == "thought" or inner.strip():
                said += self._said(self._kind, inner)
            self._held, self._blank = behind, True
            self._kind = "answer" if self._kind == "thought" else "thought"

    def end(self) -> str:
        held, self._held = self._held, ""
        return self._said(self._kind, held)


@dataclass(frozen=True, kw_only=True)
class Channels(Reasoning):
    """Words of models that divide a reply into messages with a head each: thoughts, answers and calls."""

    marks: tuple[str, ...]
    answer: str  # head of an answer
    thought: str  # head of a thought
    thinks: str  # text in the head of every thought
    ends: tuple[str, ...]  # marks that end a message; the first ends a thought
    calls: re.Pattern[str] | None = None  # finds the tool's name in a head; None if calls name it in their text

    def reader(self, opening: str) -> ReplyReader:
        return _ChannelsReader(self, opening)

    def continued(self, prompt: str, opening: str) -> str:
        if not opening:
            return prompt
        if not begins_with_thought(opening):
            return f"{prompt}{self.answer}{opening}"
        thought, closed, answer = opening.lstrip().removeprefix(OPEN).lstrip().partition(CLOSE)
        begun = f"{prompt}{self.thought}{thought.rstrip() if closed else thought}"
        return begun + (f"{self.ends[0]}{START}assistant{self.answer}{answer.lstrip()}" if closed else "")


#: Heads are short: what is longer is a text that some other program's model wrote without one.
_LONGEST_HEAD = 200


class _ChannelsReader(ReplyReader):
    def __init__(self, words: Channels, opening: str) -> None:
        super().__init__(opening)
        self._words = words
        self._ends = (*words.ends, START, CHANNEL)
        self._head = not opening.strip()  # what comes is a message's head
        self._kind: Kind = "thought" if self._thinks else "answer"
        self._called = False

    def add(self, text: str) -> str:
        self._held += text
        said = ""
        while True:
            if self._head:
                head, found, behind = self._held.partition(MESSAGE)
                if found:
                    said += self._begin(head)
                    self._held = behind
                elif _is_head(head):
                    return said
                else:
                    self._kind = "answer"
                    self._held = self._held.removeprefix(START).removeprefix(CHANNEL)
                self._head = False
            found_ends = ((place, one) for one in self._ends if (place := self._held.find(one)) >= 0)
            at, mark = min(found_ends, default=(-1, ""))
            keep = max(overlap(self._held, one) for one in self._ends)
            inner = self._held[:at] if at >= 0 else self._held[: len(self._held) - keep]
            said += self._said(self._kind, inner)
            self._held = self._held[len(inner) :]
            if at < 0:
                return said
            if mark not in (START, CHANNEL):  # these are of the next head
                self._held = self._held.removeprefix(mark)
            said += self._said("answer", CALL) if self._called else ""
            self._called, self._head = False, True

    def _begin(self, head: str) -> str:
        called = self._words.calls.search(head) if self._words.calls else None
        self._called = called is not None
        again = self._thinks or self._answers  # another message follows
        self._kind = "thought" if called is None and self._words.thinks in head else "answer"
        self._blank = True
        if called is not None:
            self._blank = False
            return self._said("answer", f"{OPENING}{called[1]} <|constrain|>json{MESSAGE}")
        # Two thoughts, or two answers, are paragraphs of one.
        same = self._thinks if self._kind == "thought" else self._answers
        if not (again and same):
            return ""
        self._blank = False
        return self._said(self._kind, "\n\n")

    def end(self) -> str:
        """Return the rest; a head without a message says nothing."""
        held, self._held = self._held, ""
        return "" if self._head else self._said(self._kind, held)


def _is_head(text: str) -> bool:
    begun = text.lstrip()
    marks = (CHANNEL, START, MESSAGE, "to=", "<|constrain|>")
    return len(text) < _LONGEST_HEAD and any(begun.startswith(mark) or mark.startswith(begun) for mark in marks)


_THINK = Marked()
#: gpt-oss: the analysis channel is the thought. Source: https://github.com/openai/harmony.
_HARMONY = Channels(
    marks=MARKS,
    answer=f"{CHANNEL}final{MESSAGE}",
    thought=f"{CHANNEL}analysis{MESSAGE}",
    thinks="analysis",
    ends=("<|end|>", CALL, "<|return|>"),
    calls=re.compile(r"to=functions\.([^\s<]+)"),
)
#: Muse-Glimmer: a message to itself is the thought. Source: its chat template.
_MUSE = Channels(
    marks=ATEM_MARKS,
    answer=f" to=user{MESSAGE}",
    thought=f" to=self{MESSAGE}",
    thinks="to=self",
    ends=("<|eom|>", "<|eot|>"),
)


def template_reasoning(source: str) -> Reasoning:
    """Return the words of a chat template."""
    from engine.families import LINES  # a file for each, which a window needs for nothing else

    for words, mark in ((_HARMONY, CHANNEL), (_MUSE, _MUSE.thinks)):
        if mark in source and MESSAGE in source:
            return words
    own = (line.thinking for line in LINES if line.thinking and all(mark in source for mark in line.thinking.marks))
    return next((Marked(words.opened, words.closed, words.marks) for words in own), _THINK)
