"""Count the rows that each turn of a chat reads, in Tenon and in llama.cpp's server with the same file.

    python -m tests.benchmarks.turns --server PATH [--variant qwen35] [--turns N] [--own N]

writes a small random model with a context of 24,000 tokens and sends both the turns of one chat as tokens. Then come
the last answer again, an edited last message, an edited message in the middle, another chat that begins alike, and a
turn after a restart. The server runs with its default options. As in a chat that a person writes, Tenon has the time
to write states to the disk before each next message.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from engine.messages import Finished, KeptChat
from tests.support.checkpoints import reference_model, train_tokenizer
from tests.support.engine_client import engine_client
from tests.support.gguf_files import Kind, write_gguf
from tests.support.llama_server import llama_server

CONTEXT, REPLY = 24_000, 20
# Keys and values must be equally wide for llama.cpp.
VARIANTS = {"qwen35": {"linear_key_head_dim": 32}, "granite-hybrid": {}, "llama": {}}
#: Answers a prompt of tokens; returns the rows that were read, and the reply's tokens.
Ask = Callable[[list[int], str], tuple[int, list[int]]]


@contextmanager
def tenon(model: Path, folder: Path) -> Iterator[Ask]:
    """Ask this repository's engine, which keeps chats in a folder."""
    with engine_client() as client:

        def ask(prompt: list[int], chat: str) -> tuple[int, list[int]]:
            (folder / chat).mkdir(parents=True, exist_ok=True)
            request = client.request("", model, mode="plain", context=CONTEXT, max_tokens=REPLY,
                                     kept=KeptChat(str(folder / chat), 1 << 40))  # fmt: skip
            finished = client.finish(replace(request, raw_prompt=tuple(prompt)))
            assert isinstance(finished, Finished), finished
            loaded = client.engine._model
            while loaded.sequences._in_use or loaded.sequences.unwritten:
                time.sleep(0.1)
            return finished.reply.timings.prompt_n, list(finished.reply.token_ids)

        yield ask


@contextmanager
def llama_cpp(program: str, model: Path) -> Iterator[Ask]:
    """Ask llama.cpp's server."""
    with llama_server(program, model, "-c", str(CONTEXT), "-t", "2") as address:

        def ask(prompt: list[int], chat: str) -> tuple[int, list[int]]:
            wishes = {"prompt": prompt, "n_predict": REPLY, "temperature": 0, "return_tokens": True, "ignore_eos": True}
            kind = {"Content-Type": "application/json"}
            request = urllib.request.Request(f"{address}/completion", json.dumps(wishes).encode(), kind)
            with urllib.request.urlopen(request, timeout=600) as answer:
                found = json.load(answer)
            return found["timings"]["prompt_n"], list(found["tokens"])

        yield ask


def turns(begin: Callable[[], object], count: int, own: int) -> Iterator[tuple[str, int, int]]:
    """Yield a name of each request, the rows that were read for it, and the rows of its new message."""
    drawn, text, ends, first = random.Random(0), [], [], []

    def message() -> list[int]:
        return [*(drawn.randrange(3, 250) for _ in range(own - 1)), 2]

    with begin() as ask:  # type: ignore[attr-defined]
        for turn in range(count):
            ends.append(len(text))
            new = message()
            first = first or new
            read, reply = ask([*text, *new], "1")
            text += [*new, *reply]
            yield f"turn {turn + 1}", read, len(new)
        yield "the last answer again", ask(text[: len(text) - len(reply)], "1")[0], 0
        yield "the last message edited", ask([*text[: ends[-1]], *message()], "1")[0], own
        middle = [*text[: ends[count // 2]], *message()]
        yield "a message in the middle edited", ask(middle, "2")[0], own
        old = [*text[: ends[count // 4]], *message()]
        yield "a branch at an old message", ask(old, "4")[0], own
        yield "another chat that begins alike", ask([*first, *message()], "3")[0], own
        new = message()
        read, reply = ask([*text, *new], "1")
        text += [*new, *reply]
        yield "the chat goes on", read, own
    with begin() as ask:  # type: ignore[attr-defined]
        yield "after a restart", ask([*text, *message()], "1")[0], own


def main() -> None:
    """Print the rows of both programs as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="llama.cpp's llama-server")
    parser.add_argument("--variant", choices=sorted(VARIANTS), default="qwen35")
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--own", type=int, default=780)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.gguf"
        made = reference_model(options.variant, max_position_embeddings=CONTEXT, **VARIANTS[options.variant])
        write_gguf(made, model, Kind.Q8_0, train_tokenizer())
        both = (lambda: tenon(model, Path(folder) / "chats"), lambda: llama_cpp(options.server, model))
        each = [list(turns(begin, options.turns, options.own)) for begin in both]
    print(f"{'':<34}{'its own':>9}{'Tenon':>9}{'llama.cpp':>11}")
    for (what, ours, own), (_, theirs, _) in zip(*each, strict=True):
        print(f"{what:<34}{own:>9,}{ours:>9,}{theirs:>11,}")


if __name__ == "__main__":
    main()
