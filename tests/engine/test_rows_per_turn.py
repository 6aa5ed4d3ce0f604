"""Each turn of a chat reads its own rows and hardly any others, in memory and after a restart."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from engine.messages import Cancel, Finished, KeptChat, Reply, TokensAdded
from engine.model.text_states import CHUNK
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import EngineClient, engine_client

TURNS, OWN, REPLY = 20, 780, 20


@pytest.fixture(autouse=True)
def _no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.engine._IDLE_S", 0.0)


@pytest.fixture(scope="module", params=["qwen35", "granite-hybrid", "llama"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("turns") / request.param
    return write_checkpoint(folder, request.param, max_position_embeddings=24_000)


class Chat:
    """A chat of raw tokens, whose messages end as the model's replies do."""

    def __init__(self, client: EngineClient, model: Path, place: KeptChat, seed: int = 0) -> None:
        self.client, self.model, self.place = client, model, place
        self.text: list[int] = []  # all that was said
        self._drawn = random.Random(seed)

    def message(self, count: int = OWN) -> list[int]:
        """Return a new random message."""
        return [*(self._drawn.randrange(3, 250) for _ in range(count - 1)), 2]

    def ask(self, prompt: Sequence[int]) -> Reply:
        """Have a prompt answered; the chat's text is then the prompt and its reply."""
        asked = self.client.request("", self.model, mode="plain", weights="q8_0", context=24_000,
                                    max_tokens=REPLY, kept=self.place)  # fmt: skip
        finished = self.client.finish(replace(asked, raw_prompt=tuple(prompt)))
        assert isinstance(finished, Finished), finished
        self.text = [*prompt, *finished.reply.token_ids]
        return finished.reply

    def again(self, prompt: Sequence[int], own: int) -> int:
        """Return the rows that a prompt reads beyond ``own``, the number of its new ones."""
        timings = self.ask(prompt).timings
        assert timings.cache_n + timings.prompt_n == len(prompt)
        return timings.prompt_n - own

    def turn(self) -> int:
        """Add a message; return the rows that are read beyond its own."""
        new = self.message()
        read = self.again([*self.text, *new], len(new))
        self.wait_until_written()
        return read

    def cancel(self) -> None:
        """Add a message, and cancel the reply at its first tokens."""
        asked = self.client.request("", self.model, mode="plain", weights="q8_0", context=24_000, kept=self.place)
        prompt = [*self.text, *self.message()]
        self.client.engine.submit(replace(asked, raw_prompt=tuple(prompt)))
        self.client.wait_for((TokensAdded, Finished))
        self.client.engine.submit(Cancel(asked.request_id))
        finished = self.client.wait_for(Finished)
        assert isinstance(finished, Finished)
        self.text = [*prompt, *finished.reply.token_ids]

    def wait_until_written(self) -> None:
        loaded = self.client.engine._model
        while loaded.sequences._in_use or loaded.sequences.unwritten:
            time.sleep(0.005)


def place_of(folder: Path, name: str) -> KeptChat:
    (folder / name).mkdir(parents=True, exist_ok=True)
    return KeptChat(str(folder / name), 1 << 40)


@pytest.mark.slow
def test_a_turn_reads_its_own_tokens(model: Path, tmp_path: Path) -> None:
    first, second = place_of(tmp_path, "1"), place_of(tmp_path, "2")
    hybrid = model.name != "llama"
    in_chunk = (CHUNK - 1) * hybrid  # most rows that are read again: of the chunk in which two texts part
    with engine_client() as client:
        chat = Chat(client, model, first)
        begun, ends = chat.message(), []
        chat.ask(begun)
        for _ in range(TURNS - 1):
            ends.append(len(chat.text))
            assert chat.turn() == 1  # the reply's last token, which was not read before
        assert len(chat.text) > 15_900
        assert chat.again(chat.text[:-REPLY], 0) <= 1 + (in_chunk + 8) * hybrid
        edited = chat.message()
        assert chat.again([*chat.text[: ends[-1]], *edited], len(edited)) <= 1 + in_chunk
        chat.cancel()
        assert chat.turn() == 1
        # Another chat goes on from the first message of this one, or from any later one, and takes nothing from it.
        whole, other = chat.text, Chat(client, model, second, 1)
        new = other.message()
        assert other.again([*begun, *new], len(new)) <= in_chunk
        assert max(other.again([*whole[:end], *new], len(new)) for end in ends[::5]) <= 1 + in_chunk
        assert chat.turn() == 1
        whole = chat.text
    shutil.rmtree(second.folder)
    with engine_client() as client:
        chat = Chat(client, model, first)
        chat.text = whole
        assert chat.turn() <= 1 + CHUNK * hybrid
    with engine_client() as client:
        other = Chat(client, model, place_of(tmp_path, "2"), 1)
        assert other.again([*begun, *new], len(new)) <= in_chunk
    with engine_client() as client:
        other = Chat(client, model, place_of(tmp_path, "3"), 1)
        assert other.again([*whole[: ends[11]], *new], len(new)) <= 1 + in_chunk
