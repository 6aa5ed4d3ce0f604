"""llama.cpp's own server, as a process to compare with: ``TENON_LLAMA_SERVER`` names the program for tests."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

PROGRAM = os.environ.get("TENON_LLAMA_SERVER", "")


@contextmanager
def llama_server(program: str, model: Path, *options: str) -> Iterator[str]:
    """Run the server with a model, and yield its address once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "-m", str(model), "--port", str(port), "--no-webui", *options]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                with closing(HTTPConnection("127.0.0.1", port, timeout=1)) as connection:
                    connection.request("GET", "/health")
                    if connection.getresponse().status == 200:
                        break
            except OSError:
                pass
            assert running.poll() is None, "llama-server does not run"
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait(10)


def chat_timings(address: str, question: str, tokens: int, temperature: float, seed: int) -> dict[str, Any]:
    """Return the timings of a reply to a question in a new chat."""
    wishes = {
        "messages": [{"role": "user", "content": question}],
        "max_tokens": tokens,
        "temperature": temperature,
        "seed": seed,
    }
    kind = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/v1/chat/completions", json.dumps(wishes).encode(), kind)
    with urllib.request.urlopen(request, timeout=600) as answer:
        timings: dict[str, Any] = json.load(answer)["timings"]
    return timings
