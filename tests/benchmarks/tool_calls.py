"""Form of tool calls: requests to `tenon serve` with a real model, whose calls are held against their schemas.

    python -m tests.benchmarks.tool_calls --model MODEL [--requests 100] [--out CALLS.jsonl] [--write]

Tools, questions and ways to choose a tool take turns: required, a named function, left to the model. Temperature is 0
and 1 in turn. A call that was cut at the most tokens is counted apart. --out writes each call beside its schema, for
another validator; --write keeps the share of right calls for BENCHMARKS.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from engine.text.tool_calls.unmarked_calls import holds
from tests.benchmarks.page import keep
from tests.support.model_server import serve_command

_MOST_TOKENS = 400
_TEXT = {"type": "string", "maxLength": 40}
_PLACE = {"type": "object", "properties": {"city": _TEXT, "country": _TEXT}, "required": ["city"]}


def _tool(
    name: str, about: str, required: list[str], defs: dict[str, Any] | None = None, **fields: Any
) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": fields,
        "required": required,
        **({"$defs": defs} if defs else {}),
    }
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


TOOLS = [
    (
        _tool("get_weather", "Gets the weather of a city.", ["city"], city=_TEXT, units={"enum": ["C", "F"]}),
        "What is the weather in Rome in celsius?",
    ),
    (
        _tool("send_mail", "Sends a mail.", ["to", "subject"], to={"type": "array", "items": _TEXT, "minItems": 1,
              "maxItems": 3}, subject=_TEXT, urgent={"type": "boolean"}),
        "Tell bob@example.com and eve@example.com that lunch is at noon, it is urgent.",
    ),
    (
        _tool("book_flight", "Books a flight.", ["start", "goal", "day"], {"Place": _PLACE},
              start={"$ref": "#/$defs/Place"}, goal={"$ref": "#/$defs/Place"},
              day={"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}),
        "Book me a flight from Oslo to Paris on 3 May 2027.",
    ),
    (
        _tool("set_timer", "Sets a timer.", ["minutes"], minutes={"type": "integer", "minimum": 1, "maximum": 600},
              label={"anyOf": [_TEXT, {"type": "null"}]}),
        "Wake me in 20 minutes for the pasta.",
    ),
    (
        _tool("search_files", "Searches files.", ["words"], words={"type": "array", "items": _TEXT, "minItems": 1,
              "maxItems": 4}, kind={"enum": ["pdf", "text", "picture", 1]}, deep={"type": "boolean"}),
        "Find the PDF with the tax report of 2024.",
    ),
    (
        _tool("run_sql", "Runs a query.", ["query"], query={"type": "string", "minLength": 8, "maxLength": 120},
              limit={"type": "integer", "exclusiveMinimum": 0, "maximum": 1000}),
        "How many users are in the table people?",
    ),
    (
        _tool("rate", "Rates a film.", ["film", "stars"], film=_TEXT, stars={"type": "number", "minimum": 0,
              "maximum": 5}, tags={"type": "array", "items": {"enum": ["funny", "sad", "long"]}, "maxItems": 3}),
        "I give Casablanca four and a half stars, it is sad.",
    ),
    (
        _tool("draw", "Draws a point.", ["point"], point={"type": "object", "properties": {"x": {"type": "number"},
              "y": {"type": "number"}, "style": {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}},
              "required": ["colour"]}}, "required": ["x", "y"]}),
        "Draw a red point at 3, 4.5.",
    ),
    (_tool("now", "Tells the time.", []), "What time is it?"),
    (
        _tool("write_page", "Writes a web page.", ["html"], html={"type": "string", "maxLength": 80},
              mark={"enum": ["<tool_call>", "</tool_call>", "<|im_end|>"]}),
        "Write a page that says <h1>Hello</h1> and explain the mark <tool_call>.",
    ),
]  # fmt: skip


def main() -> int:
    """Run it; 1 where a call does not hold to its schema, or a required one did not come."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--requests", type=int, default=100)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--write", action="store_true", help="keep the figure for BENCHMARKS.md")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    lines = []
    with tempfile.TemporaryDirectory() as folder, serve_command(options.model, Path(folder)) as (server, _):
        client = server.openai.with_options(timeout=None)
        for number in range(options.requests):
            tool, question = TOOLS[number % len(TOOLS)]
            other = TOOLS[(number + 1 + number // len(TOOLS)) % len(TOOLS)][0]
            named: Any = {"type": "function", "function": {"name": tool["function"]["name"]}}
            way = ("required", "named", "auto")[(number + number // len(TOOLS)) % 3]
            messages: Any = [{"role": "user", "content": question}]
            tools: Any = [tool, other]
            choice = client.chat.completions.create(
                model=server.model, messages=messages, tools=tools, tool_choice=named if way == "named" else way,
                temperature=number // len(TOOLS) % 2, seed=number, max_tokens=_MOST_TOKENS,
                parallel_tool_calls=number % 4 == 0,
            ).choices[0]  # fmt: skip
            counts[f"{way}: requests"] += 1
            calls = choice.message.tool_calls or []
            if choice.finish_reason == "length":
                counts[f"{way}: cut"] += 1
                calls = calls[:-1]
            elif not calls:
                counts[f"{way}: no call"] += 1
                if way != "auto":
                    print(f"no call: {question} {choice.message.content!r}")
            for call in calls:
                assert call.type == "function"
                of = {one["function"]["name"]: one["function"]["parameters"] for one in tools}.get(call.function.name)
                lines.append(json.dumps({"arguments": call.function.arguments, "schema": of}))
                try:
                    right = of is not None and holds(json.loads(call.function.arguments), of)
                except ValueError:
                    right = False
                counts[f"{way}: {'right' if right else 'wrong'} calls"] += 1
                if not right:
                    print(f"wrong: {call.function.name} {call.function.arguments}")
    if options.out is not None:
        options.out.write_text("\n".join(lines), encoding="utf-8")
    for name in sorted(counts):
        print(f"{name:24} {counts[name]}")
    if options.write:
        ways = ("required", "named", "auto")
        right, wrong = (sum(counts[f"{way}: {kind} calls"] for way in ways) for kind in ("right", "wrong"))
        keep(
            "server",
            f"tool calls that keep to their schema, {options.model.stem}",
            right,
            f"of {right + wrong}",
        )
    failed = any(counts[f"{way}: wrong calls"] for way in ("required", "named", "auto"))
    return int(failed or counts["required: no call"] + counts["named: no call"] > 0)


if __name__ == "__main__":
    sys.exit(main())
