"""Loads models, lets each reply and unloads it, in a process of its own, and says what memory is held afterwards.

    python -m tests.support.memory_rounds ROUNDS PAUSE_S MODEL...

A model is a JSON object with what a request takes (`EngineClient.request`). Prints the resident bytes at the start
and after each unload, one on a line.
"""

from __future__ import annotations

import json
import sys
import time

import psutil

from engine.messages import EngineReady, ModelUnloaded, Ping, Pong, Unload
from tests.support.engine_client import engine_client


def main() -> None:
    """Do what the command line says."""
    rounds, pause_s, models = int(sys.argv[1]), float(sys.argv[2]), [json.loads(text) for text in sys.argv[3:]]
    with engine_client() as client:
        client.wait_for(EngineReady)
        print(psutil.Process().memory_info().rss)
        for number in range(rounds):
            for values in models:
                client.answer(max_tokens=12, **values)
                time.sleep(pause_s)
                client.engine.submit(Unload())
                client.wait_for(ModelUnloaded)
                client.engine.submit(Ping(number))
                client.wait_for(Pong)
                client.events.clear()
                print(psutil.Process().memory_info().rss, flush=True)


if __name__ == "__main__":  # the processes that prepare requests import this file too
    main()
