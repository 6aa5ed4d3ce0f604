"""A reply ends within bounds of bytes, pieces, calls and time, with one sentence, whatever the server sends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import cycle, product
from pathlib import Path

import huggingface_hub
import pytest

from engine import bounded_http
from engine.errors import HubError, TenonError
from engine.hub.connection import Hub, search
from engine.hub.endpoints import Endpoint, keep_endpoint
from engine.messages import ChatMessage, Failed, Finished, Notice, StatisticsUpdated, TokensAdded
from engine.remote import probe as probing
from engine.remote import remote_reply
from engine.remote.probe import probe
from tests.support.engine_client import EngineClient
from tests.support.evil_server import KINDS, EvilServer, evil_server
from tests.support.fast_cases import chosen
from tests.support.memory_cage import memory_cage
from tests.support.server_of_others import Handler, server_of_others

ROOT = Path(__file__).resolve().parents[3]
#: Those that end by the clock alone.
SLOW = {"pings", "body-drip", "headers-drip", "words-drip", "silence", "informational", "chunk-extensions"}
#: Replies that are good, as far as they go.
GOOD = {
    "ignores-max-tokens",
    "letters",
    "one-piece",
    "thoughts",
    "late-thoughts",
    "calls",
    "arguments",
    "numbers",
}
HI = [ChatMessage("user", "Hi")]
ASKS = ("listing", "read_config", "search")


@pytest.fixture
def evil() -> Iterator[EvilServer]:
    with evil_server() as running:
        keep_endpoint(Endpoint("evil", running.address))
        yield running


@pytest.fixture
def _soon(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.getfixturevalue("kind") in GOOD:
        return  # it ends by itself, but on a busy machine later than the limits below
    for name in ("READING_S", "_BETWEEN_S"):
        monkeypatch.setattr(remote_reply, name, 0.5)
    monkeypatch.setattr(remote_reply, "_WHOLE_S", 3.0)
    monkeypatch.setattr(bounded_http, "MOST_S", 0.4)
    monkeypatch.setattr(probing, "_LEARNING_S", 0.4)


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("kind", KINDS)
def test_every_reply_ends(kind: str, client: EngineClient, evil: EvilServer) -> None:
    request = client.request(HI, f"remote:evil/{kind}", max_tokens=200, stop_loops=False)
    client.engine.submit(request)
    ended = client.wait_for((Finished, Failed))
    text = "".join(event.text for event in client.seen(TokensAdded))
    assert len(text) <= 2 * 32 * (200 + 128)
    if kind not in GOOD:
        assert isinstance(ended, Failed)
        assert "evil" in ended.error.message
        assert len(text) < 20 or kind == "words-drip"
        return
    assert isinstance(ended, Finished)
    assert text == ended.reply.text
    notices = [event.text for event in client.seen(Notice)]
    assert (len(notices), ended.reply.stop_reason) == ((0, "end") if kind == "numbers" else (1, "length"))
    if kind == "ignores-max-tokens":
        assert 200 * len("word and word ") <= len(text) <= 201 * len("word and word ")
    timings = client.seen(StatisticsUpdated)[-1].timings
    assert timings.predicted_n <= 2_000
    assert (timings.mean_acceptance_length, timings.acceptance_rate) == (None, None)
    assert timings.predicted_per_second is None or 0 < timings.predicted_per_second < 1e5
    assert timings.prompt_per_second is None or 0 < timings.prompt_per_second < 1e6


@pytest.mark.parametrize("kind", ["ignores-max-tokens", "letters", "calls", "thoughts"])
def test_a_reply_without_a_limit_ends_too(
    kind: str, client: EngineClient, evil: EvilServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.remote.stream._MOST_CHARACTERS", 50_000)
    monkeypatch.setattr("engine.remote.stream._MOST_PIECES", 5_000)
    reply = client.answer(HI, f"remote:evil/{kind}", stop_loops=False)
    assert reply.stop_reason == "length"
    assert len(reply.text) < 100_000


@pytest.mark.usefixtures("_soon")
# What bounds it is the same for all three who read; in each run replies meet every kind.
@pytest.mark.parametrize("kind", chosen(KINDS, list(KINDS)[::4]))
def test_a_probe_ends(kind: str) -> None:
    with evil_server(kind) as evil, pytest.raises(TenonError) as raised:
        probe(Endpoint("evil", evil.address), "sk-12345678")
    assert "\n" not in raised.value.message
    assert len(evil.seen) == 1


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize(
    ("ask", "kind"), chosen(product(ASKS, KINDS), [*zip(cycle(ASKS), list(KINDS)[2::4], strict=False)])
)
def test_the_hub_ends(kind: str, ask: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with evil_server(kind) as evil, closing(Hub(evil.address, stall_s=1.5)) as hub:
        asks: dict[str, Callable[[], object]] = {
            "listing": lambda: hub.listing("owner/name"),
            "read_config": lambda: hub.read_config("owner/name", "main"),
            "search": lambda: search(hub, "name"),
        }
        with pytest.raises(HubError):
            asks[ask]()


def test_pages_without_end_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr("engine.hub.connection.Bound", lambda: bounded_http.Bound(most_s=1.0))
    with server_of_others() as others:

        class Pages(dict[str, object]):
            def get(self, asked: str, default: object = None) -> object:
                return self._page

            def _page(self, handler: Handler, body: object) -> None:
                handler.tell([], Link=f'<{others.address}/api/models?page={len(others.seen)}>; rel="next"')

        others.answers = Pages()  # type: ignore[assignment]
        with pytest.raises(HubError, match="in time"):
            search(Hub(others.address), "name")


_CHILD = """
import json, sys
from pathlib import Path
from tests.support.memory_cage import enter
if sys.argv[1]:
    enter(Path(sys.argv[1]))
from engine.messages import ChatMessage, Failed, Finished
from engine.remote import remote_reply
from tests.support.engine_client import engine_client
from tests.support.evil_server import KINDS

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))

remote_reply.READING_S = remote_reply._BETWEEN_S = 2.0
remote_reply._WHOLE_S = 5.0
for kind in ("numbers", *KINDS):
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here on
    before = peak()
    with engine_client() as client:
        model, hi = f"remote:evil/{kind}", [ChatMessage("user", "Hi")]
        client.engine.submit(client.request(hi, model, max_tokens=100_000, stop_loops=False))
        ended = client.wait_for((Finished, Failed))
    print(json.dumps([kind, before, peak(), type(ended).__name__]), flush=True)
"""
_CAGE_BYTES = 1 << 30
_MOST_MIB = 350


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is told by /proc")
def test_memory_has_a_bound(evil: EvilServer) -> None:
    """A process that asks for each kind in turn, with a limit so high that only the bounds end it; -s prints it."""
    with memory_cage(_CAGE_BYTES) as cage:
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, str(cage or "")],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    _, *rows = map(json.loads, done.stdout.splitlines())  # the first is there to import what a reply needs
    for kind, before, peak, ended in rows:
        print(f"{kind:<20} {before} MiB before, {peak - before} MiB more at the peak, {ended}")
    assert [kind for kind, *_ in rows] == list(KINDS), done.stderr[-2000:]
    assert max(peak - before for _, before, peak, _ in rows) <= _MOST_MIB
