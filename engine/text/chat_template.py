"""A checkpoint's chat template: a program of jinja2 from the network, run in a sandbox as transformers runs it.

Source: transformers, utils/chat_template_utils.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NoReturn

import jinja2
from jinja2 import meta, nodes
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from engine.messages import Thinking, ThinkingControl

#: What templates call the switch of thinking: Qwen3 and its kin, DeepSeek's and Granite's.
_SWITCHES = ("enable_thinking", "thinking")
_EFFORT = "reasoning_effort"
_UNSAID = Thinking()


class ChatTemplate:
    """Turns messages into a text.

    Attributes:
        thinking: What it can be told of thinking: ``switch`` for on or off, ``effort`` for how much; else empty.

    Args:
        source: The template.
        special_tokens: Texts of special tokens by the names that templates use, ``bos_token`` and the like.

    Raises:
        TemplateError: It is no template.
    """

    def __init__(self, source: str, special_tokens: Mapping[str, str]) -> None:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
        )
        environment.filters["tojson"] = _to_json
        environment.globals |= {
            "raise_exception": _refuse,
            "strftime_now": lambda form: datetime.now().strftime(form),
            "dict": _Dictionaries(),
            "namespace": _Namespace,
        }
        self._template: jinja2.Template = environment.from_string(source)
        asked = meta.find_undeclared_variables(environment.parse(source))
        self.thinking: ThinkingControl = (
            "effort" if _EFFORT in asked else "switch" if asked.intersection(_SWITCHES) else ""
        )
        self._special_tokens = dict(special_tokens)

    def render(self, messages: Sequence[Mapping[str, str]], thinking: Thinking = _UNSAID) -> str:
        """The text of a conversation, with the opening of the assistant's turn.

        Args:
            messages: Each with a ``role`` and a ``content``.
            thinking: What is wanted of it; what the template does not ask for has no effect.

        Raises:
            Exception: Anything; templates are programs.
        """
        return self._template.render(
            messages=[dict(message) for message in messages],
            tools=None,
            documents=None,
            add_generation_prompt=True,
            **_variables(thinking),
            **self._special_tokens,
        )


def _variables(thinking: Thinking) -> dict[str, bool | str]:
    """Only what is wanted: what is not defined is what templates have a default for."""
    found: dict[str, bool | str] = {}
    if thinking.on is not None:
        found |= dict.fromkeys(_SWITCHES, thinking.on)
    if thinking.effort is not None:
        found[_EFFORT] = thinking.effort
    return found


class _Generation(Extension):
    """``{% generation %}`` marks for training which text the assistant wrote, and means nothing here."""

    tags = {"generation"}  # noqa: RUF012, as jinja2 has it

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        # A block of its own and not its statements: what they set ends with it, as in transformers.
        return nodes.CallBlock(self.call_method("_call"), [], [], body).set_lineno(line)

    def _call(self, caller: Any) -> str:
        return str(caller())


class _Dictionaries:
    """``dict`` without the attributes of the type, which lead out of the sandbox."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args)


class _Namespace(Namespace):
    """``namespace`` without the names that Python keeps for itself."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *rest = args
        values = dict(*rest, **kwargs)
        for name in values:
            _check_name(name)
        Namespace.__init__(self, values)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"{name!r} is no name for a namespace's attribute")


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """As JSON. Jinja's own filter escapes HTML, which no model expects."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )
