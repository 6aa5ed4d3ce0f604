"""Options that one conversation sets instead of the settings, and presets of them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, get_args

from app.chat.modes import known_modes
from engine.json_text import read_json
from engine.messages import Effort, SamplingOptions, Thinking


@dataclass(frozen=True)
class ConversationOptions:
    """Overrides of one conversation; None takes the setting.

    Attributes:
        system_prompt: Words that the model is told first; blank tells it nothing.
        max_tokens: Longest reply in tokens; 0 is until the context is full.
        sampling: Sampling; a None in it takes the setting, and the model's own where there is none.
        mode: Mode of the replies, by its ``--mode`` name.
        thinking: Wish to a model that can think before it answers.
        continues: The chat is one text, which each reply goes on with; nothing in it is labelled as a turn.
    """

    system_prompt: str | None = None
    max_tokens: int | None = None
    sampling: SamplingOptions = field(default_factory=SamplingOptions)
    mode: str | None = None
    thinking: Thinking = field(default_factory=Thinking)
    continues: bool | None = None

    @property
    def empty(self) -> bool:
        """True if everything is as the settings say."""
        return self == ConversationOptions()

    def sampling_over(self, settings: SamplingOptions) -> SamplingOptions:
        """Return sampling: what is set here, and the settings for the rest."""
        own = {name: value for name, value in asdict(self.sampling).items() if value is not None}
        return replace(settings, **own)

    def to_json(self) -> str:
        """One JSON object with what is set."""
        values = {name: value for name, value in asdict(self).items() if value is not None}
        for part in ("sampling", "thinking"):
            values[part] = {name: value for name, value in values[part].items() if value is not None}
        return json.dumps(values, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> ConversationOptions:
        """Read `to_json`'s text; what is not understood is left at its default."""
        try:
            return cls.from_values(read_json(text))
        except ValueError:
            return cls()

    @classmethod
    def from_values(cls, values: Any) -> ConversationOptions:
        """Take what JSON gave; what is not understood is left at its default."""
        if not isinstance(values, dict):
            return cls()
        sampling = values.get("sampling")
        given = sampling if isinstance(sampling, dict) else {}
        numbers = {name.name: _number(given.get(name.name), name.name) for name in fields(SamplingOptions)}
        system_prompt = values.get("system_prompt")
        most = _number(values.get("max_tokens"), "top_k")
        mode = values.get("mode")
        return cls(
            system_prompt if isinstance(system_prompt, str) else None,
            None if most is None else int(most),
            SamplingOptions(**numbers),  # type: ignore[arg-type]
            next((one.name for one in known_modes() if one.name == mode), None),
            _thinking(values.get("thinking")),
            True if values.get("continues") is True else None,
        )


@dataclass(frozen=True)
class Preset:
    """Options under a name, to give to other conversations."""

    name: str
    options: ConversationOptions


_WHOLE = ("top_k", "seed")
_LARGEST = 1 << 64  # seeds have so many bits


def _thinking(values: Any) -> Thinking:
    given = values if isinstance(values, dict) else {}
    on, effort = given.get("on"), given.get("effort")
    return Thinking(on if isinstance(on, bool) else None, effort if effort in get_args(Effort) else None)


def _number(value: Any, name: str) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < _LARGEST:
        return None
    if name in _WHOLE:
        return value if isinstance(value, int) else None
    return float(value)
