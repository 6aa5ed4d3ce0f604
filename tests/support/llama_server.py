"""llama.cpp's own server, as a process to compare with: ``TENON_LLAMA_SERVER`` names the program for tests."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

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
