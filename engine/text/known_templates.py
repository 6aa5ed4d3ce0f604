"""Chat templates of families, for files whose own template is of no use: told by the tokens that only they have."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

_NO_SYSTEM = "{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"


@dataclass(frozen=True)
class KnownTemplate:
    """A family's way of writing a chat.

    Attributes:
        family: What people call it.
        marks: Tokens that a vocabulary of the family has.
        turn: Jinja's words for one message, ``m``.
        opening: What the assistant's turn begins with.
        end: The token that ends a turn.
    """

    family: str
    marks: tuple[str, ...]
    turn: str
    opening: str
    end: str

    @property
    def source(self) -> str:
        """The template."""
        turns = f"{{{{ bos_token }}}}{{% for m in messages %}}{self.turn}{{% endfor %}}"
        return f"{turns}{{{{ {self.opening!r} }}}}"  # jinja drops a line end behind all


_KNOWN = (
    KnownTemplate(
        "ChatML",
        ("<|im_start|>", "<|im_end|>"),
        "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n",
        "<|im_start|>assistant\n",
        "<|im_end|>",
    ),
    KnownTemplate(
        "Llama 3",
        ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
        "<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{{ m.content | trim }}<|eot_id|>",
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        "<|eot_id|>",
    ),
    KnownTemplate(
        "Gemma",
        ("<start_of_turn>", "<end_of_turn>"),
        _NO_SYSTEM
        + "<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n{{ m.content | trim }}<end_of_turn>\n",
        "<start_of_turn>model\n",
        "<end_of_turn>",
    ),
    KnownTemplate(
        "Phi-3",
        ("<|user|>", "<|assistant|>", "<|end|>"),
        "<|{{ m.role }}|>\n{{ m.content }}<|end|>\n",
        "<|assistant|>\n",
        "<|end|>",
    ),
    KnownTemplate(
        "Mistral",
        ("[INST]", "[/INST]", "</s>"),
        _NO_SYSTEM + "{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]{% else %}{{ m.content }}</s>"
        "{% endif %}",
        "",
        "</s>",
    ),
)


def known_template(tokens: Collection[str]) -> KnownTemplate | None:
    """The template of the family that has these tokens; None where none is known."""
    return next((one for one in _KNOWN if all(mark in tokens for mark in one.marks)), None)
