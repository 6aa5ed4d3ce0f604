"""The longest silence in a neighbour's stream while others send expensive requests, and the memory they leave behind.

    python -m tests.benchmarks.silence MODEL            a server of its own with this model: smollm2, a folder or a file
    python -m tests.benchmarks.silence MODEL --only 3   the requests whose names begin with this
    python -m tests.benchmarks.silence MODEL --seed 7 --minutes 60    other sizes and orders, for an hour

Each request is sent beside a stream of its own, once whole and once by a sender that leaves after half a second. The
stream alone is measured before and after: a busy machine makes silences too. Those of less than 0.1 s are usual.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import psutil

from tests.support.model_server import KEY, serve_command

CHAT, TEXT, MESSAGES, COUNT = (
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/messages",
    "/v1/messages/count_tokens",
)
HELLO = [{"role": "user", "content": "Hi"}]
_LEAVES_S = 0.5
_LONGEST_S = 60.0


def said(text: str) -> dict[str, Any]:
    """A chat of one message."""
    return {"messages": [{"role": "user", "content": text}], "max_tokens": 2}


def asked(**fields: Any) -> dict[str, Any]:
    """A short chat with these fields."""
    return {"messages": HELLO, "max_tokens": 4, **fields}


def schema(value: Any) -> dict[str, Any]:
    """A short chat whose reply keeps to a schema."""
    return asked(response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": value}})


def tool(parameters: Any, **fields: Any) -> dict[str, Any]:
    """A short chat with one tool."""
    return asked(tools=[{"type": "function", "function": {"name": "f", "parameters": parameters}}], **fields)


def with_raw(body: dict[str, Any], text: str) -> bytes:
    """A body in which this JSON stands for the text RAW: too much to be made of objects first."""
    return json.dumps(body).replace('"RAW"', text).encode()


def requests(seed: int = 0) -> Iterator[tuple[str, str, Callable[[], bytes | dict[str, Any]]]]:
    """Yield name, path and body of each request; bodies are made when they are sent.

    Seed 0 has the sizes of the names, and another seed other sizes and words.
    """
    rng = random.Random(seed)
    MB = round(1e6 * (rng.uniform(0.3, 1.5) if seed else 1.0))
    words = [f"w{rng.randrange(10**6)}" for _ in range(20_000)]
    yield "4 MB of words", CHAT, lambda: said("word " * (4 * MB // 5))
    yield "1 MB of words", CHAT, lambda: said("word " * (MB // 5))
    yield "4 MB of base64", CHAT, lambda: said(base64.b64encode(rng.randbytes(3 * MB)).decode())
    yield "4 MB of emoji", CHAT, lambda: said("😀👩‍👩‍👧" * (4 * MB // 22))
    yield "4 MB of one letter", CHAT, lambda: said("a" * 4 * MB)
    yield "4 MB of spaces", CHAT, lambda: said("x" + " " * 4 * MB + "x")
    yield "1 MB of marks of control tokens", CHAT, lambda: said("<|im_start|>" * (MB // 12))
    yield "1 MB of angle brackets", CHAT, lambda: said("<" * MB)
    yield "300 KB of accents", CHAT, lambda: said("e" + "\u0301\u0316" * 75_000)
    yield (
        "500,000 messages",
        CHAT,
        lambda: with_raw(
            asked(messages="RAW"),
            "[" + '{"role":"user","content":"a"},' * 500_000 + '{"role":"user","content":"a"}]',
        ),
    )
    yield "3,000 messages", CHAT, lambda: asked(messages=[{"role": "user", "content": "word " * 100}] * 3_000)
    yield "4 MB to continue", TEXT, lambda: {"prompt": "word " * (4 * MB // 5), "max_tokens": 1}
    yield (
        "3 million tokens to continue",
        TEXT,
        lambda: with_raw({"prompt": "RAW", "max_tokens": 1}, "[" + "1," * (3 * MB) + "1]"),
    )
    yield "4 MB to count", COUNT, lambda: {**said("word " * (4 * MB // 5)), "model": ""}
    yield "4 MB for Anthropic's clients", MESSAGES, lambda: said("word " * (4 * MB // 5))
    yield (
        "12 MB of one tool",
        CHAT,
        lambda: with_raw(tool({"type": "object", "default": "RAW"}), "[" + "[]," * (4 * MB) + "[]]"),
    )
    yield (
        "1 MB of one tool",
        CHAT,
        lambda: with_raw(tool({"type": "object", "default": "RAW"}), "[" + "[]," * 330_000 + "[]]"),
    )
    yield (
        "128 tools",
        CHAT,
        lambda: asked(
            tools=[
                {
                    "type": "function",
                    "function": {
                        "name": f"f{at}",
                        "description": "word " * 400,
                        "parameters": {
                            "type": "object",
                            "properties": {word: {"type": "string"} for word in words[:60]},
                        },
                    },
                }
                for at in range(128)
            ],
            tool_choice="required",
        ),
    )
    yield (
        "a tool that must be called, with 2,000 fields",
        CHAT,
        lambda: tool(
            {"type": "object", "properties": {word: {"enum": words[:10]} for word in words[:2_000]}},
            tool_choice="required",
        ),
    )
    yield "128 KB of newlines in a grammar", CHAT, lambda: asked(grammar="root ::=\n" + "\n" * 64_000 + '"a"')
    yield "1 MB of newlines in a grammar", CHAT, lambda: asked(grammar="root ::=\n" + "\n" * MB + '"a"')
    yield "500,000 alternatives", CHAT, lambda: asked(grammar="root ::= " + " | ".join(['"a"'] * 500_000))
    yield (
        "20,000 alternatives",
        CHAT,
        lambda: asked(grammar="root ::= " + " | ".join(f'"{word}"' for word in words)),
    )
    yield (
        "nested repetitions",
        CHAT,
        lambda: asked(grammar='root ::= ((((("a"{0,60} "b"){0,60} "c"){0,60} "d"){0,60} "e"){0,60})'),
    )
    yield "a repetition of a million", CHAT, lambda: asked(grammar='root ::= ("a" | "b"){1000000} "c"')
    yield "nested groups", CHAT, lambda: asked(grammar="root ::= " + "(" * 50_000 + '"a"' + ")" * 50_000)
    yield (
        "a chain of rules",
        CHAT,
        lambda: asked(
            grammar="\n".join(["root ::= r0", *(f'r{at} ::= "a" r{at + 1}' for at in range(3_000)), 'r3000 ::= "z"'])
        ),
    )
    yield "100,000 comments", CHAT, lambda: asked(grammar="# a comment\n" * 100_000 + 'root ::= "a"')
    yield "an ambiguous grammar", CHAT, lambda: asked(grammar='root ::= s\ns ::= s s | s s s | "a" | ""')
    yield (
        "an enum of 3.4 million numbers",
        CHAT,
        lambda: with_raw(schema({"enum": "RAW"}), "[" + ",".join(map(str, range(3_400_000))) + "]"),
    )
    yield "an enum of 100,000 numbers", CHAT, lambda: schema({"enum": list(range(100_000))})
    yield "multiples of a prime", CHAT, lambda: schema({"type": "integer", "multipleOf": 9_999_991})
    yield (
        "5,000 properties",
        CHAT,
        lambda: schema({"type": "object", "properties": {word: {"type": "string"} for word in words[:5_000]}}),
    )
    yield (
        "a text of exactly 100,000 characters",
        CHAT,
        lambda: schema({"type": "string", "minLength": 100_000, "maxLength": 100_000}),
    )
    yield (
        "patterns that all must match",
        CHAT,
        lambda: schema({"allOf": [{"type": "string", "pattern": f"(.*{one}.*){{20}}"} for one in "abcdefgh"]}),
    )
    yield (
        "a pattern of optional letters",
        CHAT,
        lambda: schema({"type": "string", "pattern": "^(a?){500}a{500}$"}),
    )
    yield (
        "a pattern of all letters",
        CHAT,
        lambda: schema({"type": "string", "pattern": r"^(\p{L}|\p{N}|\w){1,5000}$"}),
    )
    yield (
        "a schema of 90 levels",
        CHAT,
        lambda: schema(json.loads('{"type":"array","items":' * 90 + '{"type":"integer"}' + "}" * 90)),
    )
    yield (
        "references that double",
        CHAT,
        lambda: schema(
            {
                "$ref": "#/$defs/a0",
                "$defs": {f"a{at}": {"allOf": [{"$ref": f"#/$defs/a{at + 1}"}] * 2} for at in range(30)}
                | {"a30": {"type": "string"}},
            }
        ),
    )
    yield (
        "100,000 stop strings",
        CHAT,
        lambda: asked(stop=[f"stop {at}" for at in range(100_000)], max_tokens=60),
    )
    yield "a stop string of 4 MB", CHAT, lambda: asked(stop="a" * 4 * MB, max_tokens=60)
    yield (
        "eight choices with 20 log-probabilities",
        CHAT,
        lambda: asked(n=8, logprobs=True, top_logprobs=20, max_tokens=60),
    )
    yield (
        "a bias of each token",
        CHAT,
        lambda: asked(logit_bias={str(at): 1 for at in range(49_000)}, max_tokens=60),
    )
    yield (
        "a million biases",
        CHAT,
        lambda: with_raw(asked(logit_bias="RAW"), "[" + ",".join(f"[{at},1]" for at in range(MB)) + "]"),
    )
    yield "JSON of a million levels", CHAT, lambda: with_raw(asked(metadata="RAW"), "[" * MB + "]" * MB)
    yield (
        "JSON of six million lists",
        CHAT,
        lambda: with_raw(asked(metadata="RAW"), "[" + "[]," * (6 * MB) + "[]]"),
    )
    yield (
        "JSON of a million names",
        CHAT,
        lambda: with_raw(asked(metadata="RAW"), "{" + ",".join(f'"{at}":0' for at in range(MB)) + "}"),
    )
    yield "a number of 4 MB", CHAT, lambda: with_raw(asked(seed="RAW"), "1" * (4 * MB))


class Neighbour:
    """A stream whose events' times are noted."""

    def __init__(self, place: Any) -> None:
        self.gaps: list[float] = []
        self._place = place
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> Neighbour:
        self._thread.start()
        while not self.gaps and self._thread.is_alive():
            time.sleep(0.01)
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _read(self) -> None:
        body = {
            "messages": [{"role": "user", "content": "Tell a very long story."}],
            "max_tokens": 6000, "stream": True, "temperature": 1,
        }  # fmt: skip
        while not self._over.is_set():
            connection = HTTPConnection(self._place.hostname, self._place.port, timeout=300)
            connection.request("POST", CHAT, json.dumps(body), {"Authorization": f"Bearer {KEY}"})
            response, last = connection.getresponse(), None
            while not self._over.is_set() and (line := response.readline()):
                if line.startswith(b"data: {"):
                    now = time.perf_counter()
                    if last is not None:
                        self.gaps.append(now - last)
                    last = now
            connection.close()


def send(place: Any, path: str, body: bytes, leaves: bool) -> str:
    """Send a request; what came of it."""
    connection = HTTPConnection(place.hostname, place.port, timeout=_LEAVES_S if leaves else _LONGEST_S)
    try:
        connection.request("POST", path, body, {"Authorization": f"Bearer {KEY}"})
        response = connection.getresponse()
        return f"{response.status} {response.read(400).decode(errors='replace')}"
    except (OSError, HTTPException) as error:
        return type(error).__name__
    finally:
        connection.close()


def memory(process: psutil.Process) -> dict[int, int]:
    """Return the resident bytes of a program and of each process that it has started."""
    sizes = {}
    for one in (process, *process.children(recursive=True)):
        with suppress(psutil.Error):
            sizes[one.pid] = one.memory_info().rss
    return sizes


def told_memory(sizes: dict[int, int]) -> str:
    """Say how much memory a program's processes take together, and each of them."""
    return f"{sum(sizes.values()) >> 20} MiB ({' + '.join(str(size >> 20) for size in sizes.values())})"


def told(message: str) -> str:
    """The sentence in an answer."""
    _, found, rest = message.partition('"message":"')
    return f"{message[:3]} {rest.partition(chr(34))[0][:150]}" if found else message[:60]


def attack(place: SplitResult, seed: int, options: argparse.Namespace) -> list[float]:
    """Send the requests beside a stream, and return its longest silence beside each of them, in seconds."""
    longest: list[float] = []
    chosen = list(requests(seed))[options.part[0] : options.part[1]]
    if seed:
        random.Random(seed).shuffle(chosen)
    for name, path, made in chosen:
        if not name.startswith(options.only):
            continue
        body = made()
        body = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        with Neighbour(place) as neighbour:
            time.sleep(0.3)
            neighbour.gaps.clear()
            begun = time.perf_counter()
            answer = send(place, path, body, False)
            taken = time.perf_counter() - begun
            send(place, path, body, True)
            time.sleep(0.7)
        longest.append(max(neighbour.gaps))
        usual = statistics.median(neighbour.gaps)
        print(
            f"{longest[-1] * 1e3:6.0f} ms longest, {usual * 1e3:4.0f} usual; {taken:5.1f} s  {name}: {told(answer)}",
            flush=True,
        )
    return longest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--only", default="")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 99), help="numbers of the first and the last")
    parser.add_argument("--rest", type=float, default=75.0, help="seconds before memory is read again")
    parser.add_argument("--seed", type=int, default=0, help="0 sends the list as it is named")
    parser.add_argument("--minutes", type=float, default=0.0, help="repeat the list with the next seeds")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        serve_command(options.model, Path(folder), "--threads", "2") as (running, program),
    ):
        place, process = urlsplit(running.address), psutil.Process(program.pid)
        send(place, CHAT, json.dumps(asked()).encode(), False)
        send(place, CHAT, json.dumps(schema({"type": "object"})).encode(), False)
        for at in range(8):  # as many texts as the server keeps: prompts are not read again
            send(place, CHAT, json.dumps(said(f"{at} is a number. " * 200)).encode(), False)
        before = memory(process)
        with Neighbour(place) as alone:
            time.sleep(8)
        print(f"load {os.getloadavg()[0]:.1f}; alone: longest {max(alone.gaps) * 1e3:.0f} ms", flush=True)
        end, seed = time.monotonic() + 60 * options.minutes, options.seed
        while True:
            longest = attack(place, seed, options)
            with Neighbour(place) as alone:
                time.sleep(8)
            time.sleep(options.rest)
            after = memory(process)
            print(
                f"seed {seed}, load {os.getloadavg()[0]:.1f}; alone: longest {max(alone.gaps) * 1e3:.0f} ms\n"
                f"{len(longest)} requests: longest {max(longest) * 1e3:.0f} ms, "
                f"median {statistics.median(longest) * 1e3:.0f} ms; "
                f"memory {told_memory(before)} before, {told_memory(after)} after "
                f"({sum(after.values()) / sum(before.values()) - 1:+.1%})",
                flush=True,
            )
            seed += 1
            if time.monotonic() > end:
                return


if __name__ == "__main__":
    main()
