"""Layout of a reply's tokens: words that wrap, with breaks where the text has them. No painting here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtCore import QRectF

from app.chat.reply_trace import TracedToken

PADDING_PX = 1
_SPACE_PX = 4
_GLUE_PX = 0.5
_LEAST_PX = 4


def shown_text(token: TracedToken) -> str:
    """Return a token's text as it is painted: what cannot be seen gets a sign."""
    text = token.text.strip(" ")
    if token.text == "":
        return "end"
    if not text:
        return "␣"
    return text.replace("\n", "↵").replace("\t", "⇥").replace("\ufffd", "⋯")  # a part of a character


@dataclass
class TokenFlow:
    """Lays tokens out in lines; those of one word stay together.

    It grows by tokens at its end, so that a long reply is not laid out anew for each of them.

    Attributes:
        width: Room in px.
        row_px: Height of a line, a gap included.
        box_px: Height of a token.
        boxes: A rectangle for each token.
    """

    width: float
    row_px: int
    box_px: int
    measure: Callable[[TracedToken], float]
    boxes: list[QRectF] = field(default_factory=list)
    _left: float = 0.0
    _top: float = 0.0
    _broken: bool = False
    _word: int = 0

    def add(self, token: TracedToken) -> None:
        """Place one more token."""
        needed = min(max(self.measure(token), _LEAST_PX) + 2 * PADDING_PX, self.width)
        if self._broken or not token.text or token.text[0].isspace():
            self._word = len(self.boxes)
            self._left += _SPACE_PX if self._left else 0.0
        elif self._left:
            self._left += _GLUE_PX
        if self._broken or (self._left and self._left + needed > self.width):
            self._break_line()
        self.boxes.append(QRectF(self._left, self._top, needed, self.box_px))
        self._left += needed
        self._broken = token.text.endswith("\n")

    def _break_line(self) -> None:
        """Go on in another line, and take the beginning of the word along unless it fills the line."""
        self._left = 0.0
        self._top += self.row_px
        word = self.boxes[self._word :]
        if word and word[0].left() > 0:
            for box in word:
                box.moveTo(self._left, self._top)
                self._left += box.width() + _GLUE_PX

    @property
    def height(self) -> int:
        """Height of all lines, in px."""
        return round(self._top) + self.row_px if self.boxes else 0

    def at(self, x: float, y: float) -> int | None:
        """Return the token at a place, or None."""
        return next((index for index, box in enumerate(self.boxes) if box.contains(x, y)), None)

    def in_line_beside(self, index: int, step: int) -> int | None:
        """Return the token nearest to one on the line above (-1) or below (1), or None if there is no line."""
        box = self.boxes[index]
        line = [
            other
            for other, place in enumerate(self.boxes)
            if abs(place.top() - (box.top() + step * self.row_px)) < 1
        ]
        middle = box.center().x()
        return min(line, key=lambda other: abs(self.boxes[other].center().x() - middle), default=None)
