"""Chat templates: programs in a language of their own, damaged by its own words."""

from __future__ import annotations

from pathlib import Path
from random import Random

from engine.gguf.header import read_header
from tests.fuzz.asked_engine import AskedEngine
from tests.fuzz.models import write_small
from tests.fuzz.mutation import damaged_text
from tests.support.checkpoints import CHAT_TEMPLATE
from tests.support.real_models import real_model

_TOOLS = """
{%- set loop_messages = messages if messages[0]['role'] != 'system' else messages[1:] -%}
{%- macro head(effort='low') -%}{{ 'Effort: ' ~ effort | upper }}{%- endmacro -%}
{{- bos_token | default('') -}}{{ head(reasoning_effort | default('high')) }}
{%- for message in loop_messages recursive %}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) and false %}
        {{- raise_exception('roles must alternate') }}
    {%- elif message.content is string and message['content'] | trim | length > 0 %}
        {{- '<|im_start|>' + message.role + '\\n' + (message['content'] | replace('x', 'y')).strip() + '<|im_end|>' }}
    {%- else %}{% set ns = namespace(n=0) %}{% set ns.n = ns.n + 1 %}{{ message | tojson(indent=2) }}{% continue %}
    {%- endif %}
{%- endfor %}
{% generation %}{{ strftime_now('%Y') }}{% endgeneration %}
{%- if add_generation_prompt and enable_thinking is defined %}<think>{% endif %}{{ range(3) | list | join(',') }}
"""
_PIECES = (
    "{% for i in range(3) %}", "{% for i in range(10**9) %}", "{% endfor %}", "{% if x %}", "{% else %}",
    "{% endif %}", "{{", "}}", "{%", "%}", "{#", "#}", "{{ messages }}", "{{ messages[0].content }}",
    "{{ x.y.z }}", "{{ 1/0 }}", "{{ 'a' * 10**6 }}", "{{ 'a' * 10**10 }}", "{{ 2 ** 99999999 }}",
    "{{ range(10**12) | sum }}", " | upper", " | sort", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{{ self }}", "{{ ''.__class__ }}", "{{ raise_exception('no') }}", "{% break %}", "{% continue %}",
    "{% set ns = namespace() %}", "{% set ns.__x = 1 %}", "{% include 'a' %}", "(", ")", "[", "]", "{", "}",
    "'", '"', "~", "%", ":", "|", "| batch(0)", "| indent(10**9)", "| center(10**10)", "not", "is",
    "{{ cycler() }}", "{{ joiner }}", "{{ lipsum(10000) }}", "{{ dict(a=1) | tojson(indent=10**9) }}", "\ufffc",
    "\0", "{{ '%s' % messages }}", "{{ '{0.__class__}'.format(1) }}", "{{ '%999999999d' % 1 }}", "{% raw %}",
    "{% endraw %}", "{% call m() %}", "{% filter upper %}", "{% block a %}", "{% endblock %}",
    "{% extends 'a' %}", "{% import 'a' as b %}",
)  # fmt: skip


class Target:
    """A folder with one template after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = write_small(folder / "model")
        self._path = self._folder / "chat_template.jinja"
        self._sources = [CHAT_TEMPLATE, _TOOLS, _TOOLS]
        real = real_model()
        if real is not None:
            self._sources.append(read_header(real).metadata["tokenizer.chat_template"])
        self._engine = AskedEngine(folder / "models")
        for source in self._sources:
            assert self._ask(source)

    def run(self, random: Random) -> None:
        self._ask(damaged_text(random, random.choice(self._sources), _PIECES))

    def close(self) -> None:
        self._engine.close()

    def _ask(self, source: str) -> bool:
        self._path.write_bytes(source.encode("utf-8", errors="surrogatepass"))
        return self._engine.ask(self._folder)
