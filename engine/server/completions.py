"""OpenAI's completions: a text goes on, without a chat template.

Source: https://platform.openai.com/docs/api-reference/completions.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import Any, ClassVar

from engine.messages import Generate, Reply, TokenLogprob
from engine.server.chat_completions import FINISH, MOST_LOGPROBS, OpenAICompletions, most_tokens, usage
from engine.server.exchange import (
    UNSERVED,
    Exchange,
    choices,
    openai_form,
    penalties,
    sampling,
    sent_event,
    timings,
)
from engine.server.fields import Fields
from engine.server.refusal import Refused
from engine.text.reply_parts import Said

_MOST_PROMPTS = 16
_UNSERVED = {
    **{name: sentence for name, sentence in UNSERVED.items() if name != "logprobs"},
    "suffix": "Tenon does not write in the middle of a text: leave the field suffix out.",
    "echo": "Tenon's server does not repeat the prompt: leave the field echo out.",
}


class Completions(OpenAICompletions):
    """``/v1/completions``."""

    fields_of: ClassVar = {**Exchange.fields_of, "prompt": ("prompt",)}

    def _read(self, fields: Fields) -> tuple[Generate, ...]:
        self._open(fields, "cmpl-")
        fields.refuse(_UNSERVED)
        wanted = None if fields.value("logprobs") is False else fields.whole("logprobs", 0, MOST_LOGPROBS)
        self._lengths: dict[int, int] = {}
        self._readers: dict[int, codecs.IncrementalDecoder] = {}
        if (fields.whole("best_of") or 1) > self._choices:
            sentence = "Tenon's server does not choose among replies: leave the field best_of out."
            raise Refused(400, sentence, "best_of", "not_supported")
        return tuple(
            request
            for prompt in _prompts(fields)
            for request in choices(
                fields,
                Generate(
                    "",
                    self.served.options,
                    raw_prompt=prompt,
                    parse_special=fields.switch("parse_special", self.served.parse_special),
                    max_tokens=most_tokens(fields, "max_tokens"),
                    sampling=sampling(fields),
                    penalties=penalties(fields),
                    stop=fields.texts("stop"),
                    form=openai_form(fields),
                    logprobs=wanted,
                ),
            )
        )

    def whole(self, replies: Sequence[Reply]) -> dict[str, Any]:
        """Return the answer as one body."""
        found = []
        for at, reply in enumerate(replies):
            self.logged(at, reply.logprobs)
            found.append(self._choice(at, reply.text, FINISH[reply.stop_reason]))
        return {
            **self._head(self.piece),
            "choices": found,
            "usage": usage(replies, self._choices),
            "timings": timings(replies[-1]),
        }

    def delta(self, index: int, said: Said) -> bytes:
        """Return a piece of the text."""
        return sent_event({**self._head(self.piece), "choices": [self._choice(index, said.answer, None)]})

    def ended(self, index: int, reply: Reply) -> bytes:
        """Return the reason of the end."""
        choice = self._choice(index, "", FINISH[reply.stop_reason])
        return sent_event({**self._head(self.piece), "choices": [choice], "timings": timings(reply)})

    def _choice(self, index: int, text: str, finish: str | None) -> dict[str, Any]:
        logprobs = self._told(index, self._logged.pop(index, ()))
        return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": finish}

    def _told(self, index: int, logprobs: Sequence[TokenLogprob]) -> dict[str, Any] | None:
        """Return log-probabilities in the older form: a list for each thing."""
        if not logprobs:
            return None
        offsets = []
        for one in logprobs:
            # A token inside of a character has the character's place.
            offsets.append(self._lengths.get(index, 0))
            reader = self._readers.setdefault(index, codecs.getincrementaldecoder("utf-8")("replace"))
            self._lengths[index] = offsets[-1] + len(reader.decode(one.said))
        return {
            "tokens": [one.said.decode(errors="replace") for one in logprobs],
            "token_logprobs": [one.logprob for one in logprobs],
            "top_logprobs": [_by_text(one) for one in logprobs],
            "text_offset": offsets,
        }


def _prompts(fields: Fields) -> list[str | tuple[int, ...]]:
    """Return the prompts: texts, or their tokens."""
    fields.need("prompt")
    value = fields.value("prompt")
    found = [_prompt(one) for one in (value if isinstance(value, list) and _prompt(value) is None else [value])]
    prompts = [one for one in found if one is not None]
    if len(prompts) < len(found) or not 1 <= len(found) <= _MOST_PROMPTS:
        raise fields.wrong("prompt", f"a text, a list of token ids, or a list of 1 to {_MOST_PROMPTS} of them")
    return prompts


def _prompt(value: object) -> str | tuple[int, ...] | None:
    """Return a text or token ids; None for what is neither."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(type(one) is int for one in value):
        return tuple(value)
    return None


def _by_text(logprob: TokenLogprob) -> dict[str, float]:
    """Return the likeliest tokens by their texts; for tokens with one text (parts of characters) the likeliest."""
    found: dict[str, float] = {}
    for said, value in logprob.top:
        found.setdefault(said.decode(errors="replace"), value)
    return found
