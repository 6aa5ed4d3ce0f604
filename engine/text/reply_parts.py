"""Parts of a reply: thought, answer and tool calls, divided as the text comes."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.messages import Tool, ToolCall
from engine.text.detokenizer import overlap
from engine.text.reasoning import CLOSE, OPEN, ThoughtAndAnswer, begins_with_thought
from engine.text.tool_calls.format import CallPiece, CallReader, ToolFormat
from engine.text.tool_calls.unmarked_calls import SEPARATORS, UnmarkedCalls


@dataclass(frozen=True)
class Said:
    """A piece of a reply; each part may be empty."""

    thought: str = ""
    answer: str = ""
    calls: tuple[CallPiece, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.thought or self.answer or self.calls)


class ReplyParts:
    """Divides one reply.

    Args:
        opening: The beginning of the reply that was there before, where it is continued.
        form: The format of tool calls; None where none are looked for.
        tools: Those that may be called.
    """

    def __init__(self, opening: str = "", form: ToolFormat | None = None, tools: Sequence[Tool] = ()) -> None:
        self._thoughts = ThoughtAndAnswer(opening)
        self._form = form
        self._tools = tools
        self._unmarked = UnmarkedCalls(tools)
        self._at_line = not opening or opening.endswith("\n")  # what is held begins a line
        self._reader: CallReader | None = None
        self._held = ""
        self._unread = ""  # since a call's opening, until there is a call
        self._reads = False
        self._called = False  # a call has just ended
        self._calls = 0

    def add(self, text: str) -> Said:
        """Take a piece of the reply; returns what is certain now."""
        return self._said(*self._thoughts.add(text))

    def end(self, cut: bool = False) -> Said:
        """Return the parts that were held back, once nothing more comes; half a call is not an answer.

        Args:
            cut: The reply was ended by its limit of tokens.
        """
        said = self._said(*self._thoughts.end(), whole=True)
        if self._reader is not None:
            half = cut or self._calls > 0
        else:
            half = cut and self._form is not None and self._form.opening.startswith(self._held.strip())
        held, self._held, self._unread = "" if half else self._held + self._unread, "", ""
        # Space behind calls is their own.
        return replace(said, answer=said.answer + held) if held.strip() or not self._calls else said

    def _said(self, thought: str, answer: str, whole: bool = False) -> Said:
        if self._form is None:
            return Said(thought, answer)
        self._held += answer
        text, found = "", list[CallPiece]()
        while True:
            if self._reader is None:
                before, pieces = self._before_call(self._form, whole)
                text += before
                found += pieces
                if pieces:
                    continue
                if self._reader is None:
                    return Said(thought, text, self._numbered(found))
            self._unread += self._held
            pieces = self._reader.add(self._held)
            self._held = ""
            found += pieces
            self._reads = self._reads or bool(pieces)
            if self._reads:
                self._unread = ""
            if self._reader.rest is None:
                return Said(thought, text, self._numbered(found))
            if self._reads:
                self._held, self._called = self._reader.rest, True
            else:  # it was no call: the text goes on as it is
                text, self._unread, self._at_line = text + self._unread, "", False
            self._reader = None

    def _before_call(self, form: ToolFormat, whole: bool) -> tuple[str, list[CallPiece]]:
        """Text that is no call, and calls without marks behind it; a reader is there afterwards where one begins."""
        if self._called:
            rest = self._held.lstrip(SEPARATORS)
            if not rest:
                self._held = "" if whole else self._held
                return "", []
            self._called, self._at_line = False, rest[:1] in ("{", "[", "`", "<")
            self._held = rest if self._at_line else self._held
        mark, held = form.opening, self._held
        marked = held.find(mark) if mark else -1
        marked = len(held) if marked < 0 else marked
        start, end, calls = self._unmarked.find(held, whole, self._at_line, marked)
        if start < marked:
            before = held[:start].rstrip()
            self._held, self._called = held[end if calls else len(before) :], bool(calls)
        elif marked < len(held):
            before, self._held = held[:marked].rstrip(), held[marked + len(mark) :]
            self._reader, self._reads, self._unread = (
                form.reader(self._tools),
                False,
                held[len(before) : marked] + mark,
            )
        else:
            before = held[: len(held) - overlap(held, mark)].rstrip()
            self._held = held[len(before) :]
        self._at_line = self._at_line and not before
        return before, calls if start < marked else []

    def _numbered(self, pieces: Sequence[CallPiece]) -> tuple[CallPiece, ...]:
        numbered = []
        for piece in pieces:
            self._calls += bool(piece.name)
            if self._calls:
                numbered.append(replace(piece, index=self._calls - 1))
        return tuple(numbered)


class Calls:
    """Calls of one choice of an answer, put together from their pieces; each has an id of its own."""

    def __init__(self) -> None:
        self.made: list[ToolCall] = []

    def add(self, pieces: Iterable[CallPiece]) -> None:
        """Take pieces as they come."""
        for piece in pieces:
            if piece.index == len(self.made):
                self.made.append(ToolCall(piece.name, piece.arguments, f"call_{secrets.token_hex(12)}"))
            else:
                before = self.made[piece.index]
                self.made[piece.index] = ToolCall(before.name, before.arguments + piece.arguments, before.id)


class Spoken:
    """Text of a reply as a chat keeps it, without its calls; a reply has a turn of the model before each of its calls.

    Thoughts of later turns go on in the thought that the reply begins with, and are left out after an answer: what a
    reply begins with is a thought, and nothing else.

    Args:
        content: Text of the reply so far.
        continues: True if the model goes on within that text, and not with a turn of its own.
        tools: Those that may be called.
    """

    def __init__(self, content: str, continues: bool, form: ToolFormat, tools: Sequence[Tool]) -> None:
        self._parts = ReplyParts(content if continues else "", form, tools)
        self._thinks = begins_with_thought(content) and CLOSE not in content
        self._may_think = self._thinks or not content.strip()
        self._gap = "" if continues or not content.strip() else "\n\n"
        self._calls = Calls()

    @property
    def calls(self) -> list[ToolCall]:
        """Calls so far."""
        return self._calls.made

    def add(self, text: str) -> str:
        """Take a piece of what the model says; return what it adds to the text."""
        return self._text(self._parts.add(text))

    def end(self, cut: bool = False) -> str:
        """Return the rest of the text; ``cut`` is True if the limit of tokens ended it."""
        return self._text(self._parts.end(cut))

    def _text(self, said: Said) -> str:
        self._calls.add(said.calls)
        text = ""
        if said.thought and self._may_think:
            text = (self._gap if self._thinks else f"{OPEN}\n") + said.thought
            self._thinks, self._gap = True, ""
        if said.answer:
            text += (f"\n{CLOSE}\n\n" if self._thinks else self._gap) + said.answer
            self._thinks = self._may_think = False
            self._gap = ""
        return text
