"""The server beside the engine itself: one client's speed, the cost of a request, idle connections, many clients.

    python -m tests.benchmarks.server one       time to first token and tokens per second, through a pipe and over HTTP
    python -m tests.benchmarks.server cost      a request's time beside an engine that answers at once
    python -m tests.benchmarks.server idle      memory of 200 connections that say nothing
    python -m tests.benchmarks.server clients   tokens per second of 1, 4, 8 and 16 clients; with --llama-server PATH
                                                in turn with that server, on the same file with 16 slots
    python -m tests.benchmarks.server rest      memory before and after 64 clients, half of which hang up
    python -m tests.benchmarks.server cancel    time from a hang-up to the end of the request

With --address the clients ask another server that speaks OpenAI's protocol.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from engine.messages import ChatMessage, Finished, Generate, LoadOptions, SamplingOptions, TokensAdded
from engine.modes import in_mode
from engine.server.engine_link import EngineLink
from tests.support.llama_server import llama_server
from tests.support.model_server import KEY, scripted_server, serve_command
from tests.support.real_models import real_model

TOKENS = 96
ROUNDS = 5
TURNS = 3
CLIENTS = (1, 4, 8, 16)
CONNECTIONS = 200
REQUESTS = 300
QUESTION = "Write a short letter to a friend about the number {number}. Begin with the weather."


def streamed(address: str, number: int, most: int = TOKENS) -> tuple[float, float, int]:
    """Seconds to the first text and to the end of a streamed reply, and its tokens."""
    asked = {
        "messages": [{"role": "user", "content": QUESTION.format(number=number)}],
        "temperature": 0, "repetition_penalty": 1, "max_tokens": most, "stream": True,
        "stream_options": {"include_usage": True},
    }  # fmt: skip
    place = urlsplit(address)
    connection = HTTPConnection(place.hostname or "", place.port, timeout=600)
    connection.connect()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    begun, first, tokens = time.perf_counter(), 0.0, 0
    connection.request("POST", "/v1/chat/completions", json.dumps(asked), headers)
    response = connection.getresponse()
    while line := response.readline():
        if not first and b'"content":"' in line and b'"content":""' not in line:
            first = time.perf_counter() - begun
        if b'"usage":{' in line:
            tokens = json.loads(line[6:])["usage"]["completion_tokens"]
    taken = time.perf_counter() - begun
    connection.close()
    return first, taken, tokens


def one(model: Path) -> None:
    """One client, in turn through a pipe, as the window has it, and over HTTP."""
    options = in_mode("plain", LoadOptions(model=str(model), threads=2))

    async def through_pipe(link: EngineLink, number: int) -> tuple[float, float, int]:
        request = Generate(
            "", options, (ChatMessage("user", QUESTION.format(number=number)),), max_tokens=TOKENS,
            sampling=SamplingOptions(temperature=0.0, repetition_penalty=1.0),
        )  # fmt: skip
        begun, first = time.perf_counter(), 0.0
        answers = link.ask([request])
        while (item := await answers.next()) is not None:
            if isinstance(item[1], TokensAdded) and item[1].text and not first:
                first = time.perf_counter() - begun
            if isinstance(item[1], Finished):
                return first, time.perf_counter() - begun, item[1].reply.timings.predicted_n
        raise AssertionError("the engine ends each request")

    async def run(address: str) -> None:
        link = EngineLink()
        found: dict[str, list[tuple[float, float, int]]] = {"pipe": [], "server": []}
        await through_pipe(link, 0)
        await asyncio.to_thread(streamed, address, 0)
        for number in range(1, ROUNDS + 1):
            found["pipe"].append(await through_pipe(link, number))
            found["server"].append(await asyncio.to_thread(streamed, address, number))
        await link.close()
        told = {}
        for name, times in found.items():
            first_ms = statistics.median(first for first, _, _ in times) * 1e3
            rate = statistics.median((tokens - 1) / (whole - first) for first, whole, tokens in times)
            told[name] = first_ms, rate
            print(f"{name:7} first token {first_ms:6.1f} ms, {rate:6.1f} tok/s")
        pairs = list(zip(found["pipe"], found["server"], strict=True))
        first = statistics.median(there[0] / here[0] for here, there in pairs)
        rates = statistics.median(
            ((there[2] - 1) / (there[1] - there[0])) / ((here[2] - 1) / (here[1] - here[0])) for here, there in pairs
        )
        print(f"server / pipe, medians of {ROUNDS} pairs: first token {first:.3f}, tok/s {rates:.3f}")

    with tempfile.TemporaryDirectory() as folder:
        own = ("--mode", "plain", "--threads", "2")
        with serve_command(model, Path(folder), *own) as (running, _):
            asyncio.run(run(running.address))


def cost() -> None:
    """A request beside an engine that answers at once, over a connection that is kept."""
    with scripted_server() as running:
        link, loop, place = running.link, running.link._loop, urlsplit(running.address)
        connection = HTTPConnection(place.hostname or "", place.port)
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        asked = json.dumps({"model": "scripted", "messages": [{"role": "user", "content": "say 1"}]})
        direct = Generate("", LoadOptions(model="scripted"), (ChatMessage("user", "say 1"),))

        def over_http(method: str, path: str, body: str | None) -> float:
            begun = time.perf_counter()
            connection.request(method, path, body, headers)
            connection.getresponse().read()
            return time.perf_counter() - begun

        async def alone() -> float:
            begun = time.perf_counter()
            answers = link.ask([direct])
            while (item := await answers.next()) is not None and not isinstance(item[1], Finished):
                pass
            return time.perf_counter() - begun

        took: dict[str, list[float]] = {"http": [], "alone": [], "health": []}
        for _ in range(REQUESTS):
            took["http"].append(over_http("POST", "/v1/chat/completions", asked))
            took["alone"].append(asyncio.run_coroutine_threadsafe(alone(), loop).result())
            took["health"].append(over_http("GET", "/health", None))
        connection.close()
    http, engine, health = (statistics.median(times) * 1e3 for times in took.values())
    print(f"over HTTP {http:.2f} ms, engine alone {engine:.2f} ms, difference {http - engine:.2f} ms; "
          f"/health {health:.2f} ms")  # fmt: skip


def idle(model: Path) -> None:
    """Connections that stay open."""
    with tempfile.TemporaryDirectory() as folder, serve_command(model, Path(folder)) as (running, program):
        place = urlsplit(running.address)
        running.http.get("/health")
        before = psutil.Process(program.pid).memory_info().rss
        asked = f"GET /v1/models HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer {KEY}\r\n\r\n".encode()
        held = []
        for _ in range(CONNECTIONS):
            connection = socket.create_connection((place.hostname or "", place.port or 0))
            connection.sendall(asked)
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
            held.append(connection)
        after = psutil.Process(program.pid).memory_info().rss
        print(f"{CONNECTIONS} idle connections: {(after - before) / 1e6:.1f} MB ({before / 1e6:.0f} MB before)")
        for connection in held:
            connection.close()


def rate(address: str, count: int, turn: int) -> float:
    """Tokens per second of some clients at once, each with a question of its own."""
    begun = time.perf_counter()
    with ThreadPoolExecutor(count) as threads:
        numbers = range(1000 * turn + 100 * count, 1000 * turn + 101 * count)
        done = list(threads.map(lambda number: streamed(address, number), numbers))
    return sum(tokens for _, _, tokens in done) / (time.perf_counter() - begun)


def clients(addresses: dict[str, str]) -> None:
    """Tokens per second of some clients at once, of each server in turn."""
    for address in addresses.values():
        streamed(address, 0, 16)
    alone: dict[str, float] = {}
    for count in CLIENTS:
        rates: dict[str, list[float]] = {name: [] for name in addresses}
        for turn in range(TURNS):
            for name, address in addresses.items():
                rates[name].append(rate(address, count, turn))
        told = []
        for name, each in rates.items():
            median = statistics.median(each)
            alone.setdefault(name, median)
            told.append(f"{name} {median:6.1f} tok/s ({median / alone[name]:.2f} of one client's)")
        first, *others = rates.values()
        for other in others:
            pairs = zip(first, other, strict=True)
            told.append(f"ratio {statistics.median(here / there for here, there in pairs):.2f}")
        print(f"{count:2} clients: {', '.join(told)}", flush=True)


def rest(model: Path) -> None:
    """Memory of server and engine once 64 clients were answered or hung up."""
    with tempfile.TemporaryDirectory() as folder, serve_command(model, Path(folder)) as (running, program):

        def held() -> int:
            own = psutil.Process(program.pid)
            return sum(each.memory_info().rss for each in (own, *own.children(recursive=True)))

        def ask(number: int) -> None:
            asked = {"messages": [{"role": "user", "content": QUESTION.format(number=number)}],
                     "max_tokens": 24, "stream": True}  # fmt: skip
            with running.http.stream("POST", "/v1/chat/completions", json=asked) as response:
                for _ in response.iter_lines():
                    if number % 2:
                        break

        def burst() -> None:
            with ThreadPoolExecutor(64) as threads:
                list(threads.map(ask, range(64)))
            time.sleep(2)

        burst()  # what is kept of texts fills its budget
        before = held()
        burst()
        after = held()
        print(f"before {before / 1e6:.0f} MB, after {after / 1e6:.0f} MB: {after / before - 1:+.1%}")


def cancel() -> None:
    """Time from a hang-up to the end of the request in the engine."""
    took = []
    with scripted_server() as running:
        for _ in range(20):
            asked = {"messages": [{"role": "user", "content": "slow 100000"}], "stream": True}
            with running.http.stream("POST", "/v1/chat/completions", json=asked) as response:
                next(response.iter_bytes())
                begun = time.perf_counter()
            while running.link.running:
                time.sleep(0.001)
            took.append((time.perf_counter() - begun) * 1e3)
    print(f"hang-up to end: median {statistics.median(took):.0f} ms, longest {max(took):.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=("one", "cost", "idle", "clients", "rest", "cancel"))
    parser.add_argument("--address", help="of another server")
    parser.add_argument("--llama-server", metavar="PATH", help="of llama.cpp's server")
    parser.add_argument("--mode", default="plain", help="of Tenon's server (default: %(default)s)")
    options = parser.parse_args()
    model = real_model()
    assert model is not None, "fetch the bundled model"
    if options.part == "cost":
        cost()
    elif options.part == "cancel":
        cancel()
    elif options.part == "clients" and options.address:
        clients({"server": options.address})
    elif options.part == "clients":
        own = ("--mode", options.mode, "--threads", "2")
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            running, _ = stack.enter_context(serve_command(model, Path(folder), *own))
            addresses = {"Tenon": running.address}
            if options.llama_server:
                # As many slots as Tenon's, each with as much context as a question and its answer take.
                slots = ("-t", "2", "-np", str(max(CLIENTS)), "-c", str(max(CLIENTS) * 512), "--api-key", KEY)
                addresses["llama-server"] = stack.enter_context(llama_server(options.llama_server, model, *slots))
            clients(addresses)
    else:
        {"one": one, "idle": idle, "rest": rest}[options.part](model)


if __name__ == "__main__":
    main()
