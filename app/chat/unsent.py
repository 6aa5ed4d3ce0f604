"""Unsent content of a chat's composer."""

from __future__ import annotations

from dataclasses import dataclass

from engine.messages import Attachment


@dataclass(frozen=True)
class Unsent:
    """A message in the making.

    Attributes:
        text: Typed text.
        attachments: The files beside it.
    """

    text: str = ""
    attachments: tuple[Attachment, ...] = ()
