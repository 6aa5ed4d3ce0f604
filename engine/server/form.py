"""The form of an answer, as the protocols ask for it: JSON, a JSON schema, or a grammar."""

from __future__ import annotations

import json
from dataclasses import replace

from engine.messages import Generate, OutputForm, Thinking
from engine.server.fields import Fields
from engine.server.refusal import Refused

ANY_OBJECT = OutputForm("schema", '{"type": "object"}')


def wanted_form(fields: Fields, name: str) -> OutputForm | None:
    """The form by a field with a ``type``; a schema is beside it, or in an object ``json_schema``."""
    wanted = fields.inner(name)
    kind = wanted.one_of("type", ("text", "json_object", "json_schema"))
    if kind in (None, "text"):
        return None
    holder = wanted if wanted.value("json_schema") is None else wanted.inner("json_schema")
    schema = holder.value("schema")
    if kind == "json_object" and schema is None:
        return ANY_OBJECT
    return schema_form(schema, holder, "schema")


def schema_form(schema: object, fields: Fields, field: str) -> OutputForm:
    """The form that a field's JSON schema stands for."""
    if not isinstance(schema, dict | bool):
        raise fields.wrong(field, "a JSON schema")
    return OutputForm("schema", json.dumps(schema))


def openai_form(fields: Fields) -> OutputForm | None:
    """The form by OpenAI's field for it, or by those of llama.cpp's server."""
    grammar = fields.text("grammar")
    if grammar:
        return OutputForm("grammar", grammar)
    if fields.value("json_schema") is not None:
        return schema_form(fields.value("json_schema"), fields, "json_schema")
    return wanted_form(fields, "response_format")


def in_form(request: Generate, form: OutputForm | None) -> Generate:
    """The request with a form; a model that can answer without a thought does, unless one was wished for."""
    if form is None and not request.tools.required:
        return request
    if form is not None and form.kind != "schema" and request.tools.offered:
        raise Refused(400, "A grammar leaves no room for tools: leave the one or the other out.", "grammar")
    thinking = Thinking(on=False) if request.thinking == Thinking() else request.thinking
    return replace(request, form=form, thinking=thinking)
