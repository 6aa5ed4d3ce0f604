"""Parts of a reply: thought, answer and tool calls, divided as the text comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.messages import Tool
from engine.text.stop import overlap
from engine.text.thoughts import ThoughtAndAnswer
from engine.text.tool_calls.format import CallPiece, CallReader, ToolFormat


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
        self._reader: CallReader | None = None
        self._held = ""
        self._unread = ""  # since a call's opening, until there is a call
        self._reads = False
        self._begun = False
        self._calls = 0

    def add(self, text: str) -> Said:
        """Take a piece of the reply; returns what is certain now."""
        return self._said(*self._thoughts.add(text))

    def end(self) -> Said:
        """The parts that were held back, once nothing more comes."""
        said = self._said(*self._thoughts.end())
        held, self._held, self._unread = self._held + self._unread, "", ""
        # Space behind calls is their own.
        return replace(said, answer=said.answer + held) if held.strip() or not self._calls else said

    def _said(self, thought: str, answer: str) -> Said:
        if self._form is None:
            return Said(thought, answer)
        self._held += answer
        text, found = "", list[CallPiece]()
        while True:
            if self._reader is None:
                text += self._before_call(self._form)
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
                self._held = self._reader.rest
            else:  # it was no call: the text goes on as it is
                text, self._unread, self._begun = text + self._unread, "", True
            self._reader = None

    def _before_call(self, form: ToolFormat) -> str:
        """Text that is no call; a reader is there afterwards where one begins."""
        mark = form.opening
        if form.bare:
            begun = self._held.lstrip()
            mark = next(iter(form.marks), "") if begun.startswith("<") else "{"
            if self._begun or not (begun.startswith(mark) or mark.startswith(begun)):
                self._begun, text, self._held = True, self._held, ""
                return text
        before, found, behind = self._held.partition(mark)
        if found:
            self._reader, self._reads = form.reader(self._tools), False
            self._unread = self._held[len(before.rstrip()) : len(self._held) - len(behind)]
            self._held = "{" + behind if mark == "{" else behind
            if mark == "{":
                self._unread = self._unread.removesuffix(mark)
            return before.rstrip()
        keep = overlap(self._held, mark)
        certain = self._held[: len(self._held) - keep].rstrip()
        self._held = self._held[len(certain) :]
        return certain

    def _numbered(self, pieces: Sequence[CallPiece]) -> tuple[CallPiece, ...]:
        numbered = []
        for piece in pieces:
            self._calls += bool(piece.name)
            if self._calls:
                numbered.append(replace(piece, index=self._calls - 1))
        return tuple(numbered)
