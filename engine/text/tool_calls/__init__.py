"""Tool calls: what a chat template calls them in, read as they come, and held to the tools' schemas."""

from __future__ import annotations

from engine.text.tool_calls.argument_calls import Atem, Coder, Glm, GlmLines
from engine.text.tool_calls.format import ToolFormat
from engine.text.tool_calls.harmony import Harmony
from engine.text.tool_calls.json_calls import Hermes, ListBehindMark, ListInMarks, Llama3, Mistral, MistralList
from engine.text.tool_calls.literal_calls import Gemma4, Lfm2

#: The one for a template that knows no tools, or has words for them that are not known here.
DESCRIBED = Hermes()
FORMATS: dict[str, ToolFormat] = {
    one.name: one
    for one in (
        Harmony(), Gemma4(), Mistral(), MistralList(), Atem(), Coder(), Glm(), GlmLines(), DESCRIBED,
        ListBehindMark(), ListInMarks(), Lfm2(), Llama3()
    )
}  # fmt: skip


def template_format(source: str) -> ToolFormat | None:
    """Return the format that a chat template asks its model for, or None if it asks for none that is known."""
    return next((one for one in FORMATS.values() if one.is_of(source)), None)
