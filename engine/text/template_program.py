"""A chat template as a program: jinja2's, from the network, run in its sandbox as transformers runs it.

The sandbox keeps it from the machine, but not from a loop without end or a text that fills the memory; that is what the
process of its own is for (`engine/preparer.py`).

Source: transformers, utils/chat_template_utils.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NoReturn

import jinja2
from jinja2 import meta, nodes
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

_LONGEST_ERROR = 1000


class TemplateProgram:
    """A template that was compiled.

    Raises:
        TemplateError: It is no template.
    """

    def __init__(self, source: str) -> None:
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
        # Names of variables that it asks for
        self.asked = frozenset(meta.find_undeclared_variables(environment.parse(source)))

    def render(self, variables: Mapping[str, Any]) -> str:
        """Return the text of a conversation, with the opening of the assistant's turn.

        Args:
            variables: ``messages``, each with a ``role`` and a ``content``, and whatever else it may ask for.

        Raises:
            Exception: Anything; templates are programs.
        """
        unsaid = {"tools": None, "documents": None, "add_generation_prompt": True}
        return self._template.render({**unsaid, **variables})


def answer(question: bytes) -> bytes:
    """Run a template: JSON comes in and goes out, and what fails has an answer too.

    A question has a ``source``, and ``variables`` where it is to be rendered, with the ``most`` characters of its text.
    """
    asked, program = json.loads(question), None
    try:
        program = _compiled(asked["source"])
        if asked["variables"] is None:
            found: dict[str, object] = {"asked": sorted(program.asked)}
        else:
            text = program.render(asked["variables"])
            found = {"text": text} if len(text) <= asked["most"] else {"beyond": True}
    except MemoryError:
        found = {"beyond": True}
    except Exception as error:  # jinja's errors, its own raise_exception, and those of any program
        told = f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]
        found = {"error": told, "compiled": program is not None}
    return json.dumps(found).encode()


_compiled = lru_cache(maxsize=8)(TemplateProgram)


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
    """Return a value as JSON; Jinja's own filter escapes HTML, which no model expects."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
