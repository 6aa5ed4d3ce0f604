"""Choice of tools by small models: 100 requests, ten tools, each with the call that is right, against llama.cpp.

    python -m tests.benchmarks.tool_choice --model MODEL [--peer LLAMA_SERVER] [--requests 100] [--out FILE] [--write]

The requests stand in `texts/tool_requests.json`, with the right tool and arguments, written down by hand; ten of them
need no tool. Every request offers all ten tools, leaves the choice to the model, and is greedy. Of an expected text,
case and the marks around it do not count; `*word` is found anywhere in it, a list has several that are right, and
arguments that are not named are free. A call is right in form if it holds to its schema.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai

from engine.text.tool_calls.unmarked_calls import holds
from tests.benchmarks.page import keep
from tests.support.llama_server import llama_server
from tests.support.model_server import serve_command

_REQUESTS = json.loads((Path(__file__).parent / "texts" / "tool_requests.json").read_text(encoding="utf-8"))
_MOST_TOKENS = 300
_KINDS = {
    "form": "calls of tools that hold to their schema",
    "tool": "requests answered with the right tool, or with none where none is needed",
    "arguments": "requests answered with the right tool and arguments",
}


def is_right(given: object, expected: object) -> bool:
    """Return whether an argument is as expected."""
    if isinstance(expected, list) and given != expected:
        return any(is_right(given, one) for one in expected)
    if not (isinstance(given, str) and isinstance(expected, str)):
        return given == expected
    plain = given.casefold().strip(" .!?'\"„“”«»")
    if expected.startswith("*"):
        return expected[1:] in plain
    return plain == expected.casefold().strip(" .!?'\"")


@contextmanager
def _client(peer: str, model: Path) -> Iterator[tuple[openai.OpenAI, str]]:
    if peer:
        with llama_server(peer, model, "-c", "8192", "-t", "1", "-np", "1", "--jinja") as address:
            yield openai.OpenAI(base_url=f"{address}/v1", api_key="none", timeout=None, max_retries=0), "any"
    else:
        with tempfile.TemporaryDirectory() as folder, serve_command(model, Path(folder)) as (server, _):
            yield server.openai.with_options(timeout=None), server.model


def ask(peer: str, model: Path, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the answers of one server."""
    answers = []
    tools: Any = [{"type": "function", "function": tool} for tool in _REQUESTS["tools"]]
    with _client(peer, model) as (client, name):
        for request in [requests[0], *requests]:  # the first one once more: it reads the tools, which all share
            begun = time.perf_counter()
            choice = client.chat.completions.create(
                model=name, messages=[{"role": "user", "content": request["ask"]}], tools=tools, temperature=0,
                max_tokens=_MOST_TOKENS,
            ).choices[0]  # fmt: skip
            seconds = round(time.perf_counter() - begun, 2)
            calls: list[Any] = choice.message.tool_calls or []
            made = [(call.function.name, call.function.arguments) for call in calls]
            if choice.finish_reason == "length":  # the last one is cut
                made = made[:-1]
            answers.append(
                {"ask": request["ask"], "calls": made, "text": choice.message.content or "", "seconds": seconds}
            )
    return answers[1:]


def count(requests: list[dict[str, Any]], answers: list[dict[str, Any]]) -> Counter[str]:
    """Return how much of what came is right, and note it in the answers."""
    counts: Counter[str] = Counter(seconds=round(sum(answer["seconds"] for answer in answers)))
    schemas = {tool["name"]: tool["parameters"] for tool in _REQUESTS["tools"]}
    for request, answer in zip(requests, answers, strict=True):
        counts["calls"] += len(answer["calls"])
        counts["form"] += sum(tool in schemas and _holds(text, schemas[tool]) for tool, text in answer["calls"])
        names = [tool for tool, _ in answer["calls"]]
        answer["tool"] = names == [request["tool"]] if request["tool"] else not names
        arguments = json.loads(answer["calls"][0][1]) if answer["tool"] and names else {}
        answer["arguments"] = answer["tool"] and all(
            is_right(arguments.get(name), value) for name, value in request["arguments"].items()
        )
        counts["tool"] += answer["tool"]
        counts["arguments"] += answer["arguments"]
        counts["needless"] += request["tool"] is None and bool(names)
        counts["none"] += request["tool"] is not None and not names
    return counts


def _holds(text: str, of: dict[str, Any]) -> bool:
    try:
        return holds(json.loads(text), of)
    except ValueError:
        return False


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--peer", default="", help="llama.cpp's llama-server, asked the same")
    parser.add_argument("--requests", type=int, default=100)
    parser.add_argument("--out", type=Path, help="file for what came, as JSON")
    parser.add_argument("--write", action="store_true", help="keep the figures for BENCHMARKS.md")
    options = parser.parse_args()
    requests = _REQUESTS["requests"][: options.requests]
    found = {"Tenon": ask("", options.model, requests)}
    if options.peer:
        found["llama.cpp"] = ask(options.peer, options.model, requests)
    counted = {who: count(requests, answers) for who, answers in found.items()}
    for who, counts in counted.items():
        print(who, dict(counts))
    if options.out is not None:
        options.out.write_text(json.dumps(found, indent=1))
    if options.write:
        counts, other = counted["Tenon"], counted.get("llama.cpp")
        for kind, words in _KINDS.items():
            note = "" if other is None else f"llama.cpp {other[kind]}" + f" of {other['calls']}" * (kind == "form")
            of = counts["calls"] if kind == "form" else len(requests)
            keep("server", f"{words}, {options.model.stem}", counts[kind], f"of {of}", note)
        note = "" if other is None else f"llama.cpp {other['seconds']}"
        keep("server", f"seconds for {len(requests)} requests with ten tools, {options.model.stem}",
             counts["seconds"], "s", note)  # fmt: skip


if __name__ == "__main__":
    main()
