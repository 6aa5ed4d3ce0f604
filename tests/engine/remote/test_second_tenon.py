"""A real second Tenon as the server: the same text as here, and its own figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import RemoteRefused
from engine.hub.endpoints import Endpoint, keep_endpoint
from engine.messages import ChatMessage, ContextTrimmed, ModelLoaded
from engine.remote.probe import probe
from tests.support.engine_client import EngineClient
from tests.support.model_server import KEY, serve_command


def test_it_answers_as_this_one_does(
    client: EngineClient, checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = checkpoint_of("llama")
    with serve_command(folder, tmp_path, "--weights", "fp32") as (running, _):
        server = Endpoint("desk", f"{running.address}")
        with pytest.raises(RemoteRefused, match="wants a key"):
            probe(server)
        found = probe(server, KEY)
        found.keep_key(KEY)
        keep_endpoint(found)
        assert (found.kind, found.models[0].context) == ("tenon", 512)
        reference = found.reference(running.model)
        turns = [ChatMessage("user", "Hello there")]
        theirs = client.answer(turns, reference, max_tokens=24)
        assert client.seen(ModelLoaded)[-1].report.context == 512
        assert theirs.timings.predicted_n == 24
        assert theirs.stop_reason == "length"
        long = [ChatMessage("user", f"{number} " + "word " * 40) for number in range(30)]
        between = [one for turn in long for one in (turn, ChatMessage("assistant", "Yes."))]
        client.answer([*between, *turns], reference, max_tokens=8)
        assert client.seen(ContextTrimmed)
    own = client.answer(turns, folder, max_tokens=24, weights="fp32")
    assert theirs.text == own.text
    assert theirs.prompt_tokens == len(own.prompt_ids)
