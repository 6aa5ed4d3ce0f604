"""What is in the composer of a chat and was not sent yet."""

from __future__ import annotations

from dataclasses import dataclass

from engine.messages import Attachment


@dataclass(frozen=True)
class Unsent:
    """A message in the making.

    Attributes:
        text: What is typed.
        attachments: The files beside it.
    """

    text: str = ""
    attachments: tuple[Attachment, ...] = ()
