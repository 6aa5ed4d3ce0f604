"""Texts on the disk: what goes on from there is what a fresh reading gives, and what cannot be used is left alone."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.decoding import kept_on_disk
from engine.decoding.kept_on_disk import ChatOnDisk
from engine.decoding.sequence import Target, TokenSequence
from engine.kernels import library
from engine.messages import KeptChat
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.text_states import CHUNK
from engine.model.token_tree import Draft
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint
from tests.support.decoders import load_decoder
from tests.support.fast_cases import chosen
from tests.support.packed_models import load

CONTEXT, LENGTH = 1000, 140
_MOST = 1 << 40


@pytest.fixture(scope="module", autouse=True)
def _short_files() -> Iterator[None]:
    """Let a file have fewer tokens."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_on_disk, "_ROWS", 64)
        yield


def _decoder(folder: Path, packed: bool) -> Decoder:
    if not packed:
        return load_decoder(folder)
    weights = load(folder)
    return Decoder(read_config(Checkpoint(folder)), Resident(replace(weights, cache=torch.int8)))


@pytest.fixture(
    params=chosen(
        ["llama", "gemma3", "deepseek-v2", "phi3-longrope", "lfm2", "qwen35", "qwen3-next", "granite-hybrid", "8 bits"],
        ("gemma3", "deepseek-v2", "qwen35", "8 bits"),
    ),
    scope="module",
)
def decoder(request: pytest.FixtureRequest, checkpoint_of: Callable[[str], Path]) -> Decoder:
    packed = request.param == "8 bits"
    if packed and library.loaded() is None:
        pytest.skip("the library is not built")
    return _decoder(checkpoint_of("llama" if packed else request.param), packed)


@pytest.fixture
def place(tmp_path: Path) -> KeptChat:
    folder = tmp_path / "chats" / "7"
    folder.mkdir(parents=True)
    return KeptChat(str(folder), _MOST)


def tokens_of(count: int, seed: int = 0) -> list[int]:
    return torch.randint(3, 300, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


def go_on() -> None:
    """Stop nothing."""


def said(decoder: Decoder, prompt: list[int], place: KeptChat | None) -> tuple[int, list[int], TokenSequence]:
    """Return the tokens that a new process need not read, its greedy reply, and its text."""
    sequence = TokenSequence(Target(decoder), CONTEXT)
    if place is not None:
        for _ in ChatOnDisk(place, "model", "kind").read(sequence, prompt):
            pass
    kept = sequence.reuse(prompt)
    logits, reply = sequence.prefill(prompt, go_on), []
    for _ in range(12):
        reply.append(int(logits.argmax()))
        logits = sequence.verify(reply[-1], Draft(), go_on)[0]
        sequence.commit(reply[-1:], [0])
    return kept, reply, sequence


@lru_cache
def _prefill(decoder: Decoder, prompt: tuple[int, ...]) -> torch.Tensor:
    return TokenSequence(Target(decoder), CONTEXT).prefill(prompt, go_on)


def written(decoder: Decoder, place: KeptChat, length: int = LENGTH) -> TokenSequence:
    """Write a chat's text; return it."""
    _, _, sequence = said(decoder, tokens_of(length), None)
    assert not ChatOnDisk(place, "model", "kind").write(sequence, go_on)
    return sequence


def test_a_text_goes_on_from_the_disk_bit_for_bit(decoder: Decoder, place: KeptChat) -> None:
    before = written(decoder, place)
    text = before.token_ids
    prompt = [*text, *tokens_of(30, 1)]
    kept, reply, sequence = said(decoder, prompt, place)
    assert kept > len(text) - CHUNK
    for ours, theirs in zip(sequence.cache.rows(0, kept), before.cache.rows(0, kept), strict=True):
        assert torch.equal(ours, theirs)
    assert reply == said(decoder, prompt, None)[1]
    # A turn before is asked otherwise: what is shared goes on, from a kept state where there are some.
    edited = [*text[:90], *tokens_of(40, 2)]
    kept, reply, _ = said(decoder, edited, place)
    assert kept == (90 if sequence.cache.states is None else kept)
    assert reply == said(decoder, edited, None)[1]


def test_a_chat_goes_on_from_another_that_begins_alike(decoder: Decoder, place: KeptChat) -> None:
    before = written(decoder, place)
    prompt = [*before.token_ids[:LENGTH], *tokens_of(30, 1)]
    fresh = said(decoder, prompt, None)
    second = Path(place.folder).with_name("8")
    second.mkdir()
    least = LENGTH if before.cache.states is None else LENGTH - CHUNK
    from_disk = said(decoder, prompt, KeptChat(str(second), _MOST))
    sequence = TokenSequence(before.target, CONTEXT)
    sequence.take_rows(before, prompt)
    from_memory = len(sequence.token_ids)
    assert from_disk[0] >= least
    assert from_memory == from_disk[0]
    for ours, theirs in zip(sequence.cache.rows(0, from_memory), before.cache.rows(0, from_memory), strict=True):
        assert torch.equal(ours, theirs)
    assert from_disk[1] == fresh[1]
    assert sequence.reuse(prompt) == from_memory
    assert int(sequence.prefill(prompt, go_on).argmax()) == fresh[1][0]
    assert not list(second.iterdir())


def test_rows_of_a_short_text_do_not_serve_a_long_one(checkpoint_of: Callable[[str], Path]) -> None:
    decoder = load_decoder(checkpoint_of("phi3-longrope"))  # rotates keys differently beyond 64 tokens
    _, _, short = said(decoder, tokens_of(40), None)
    prompt = [*short.token_ids, *tokens_of(60, 1)]
    sequence = TokenSequence(short.target, CONTEXT)
    sequence.take_rows(short, prompt)
    assert not sequence.token_ids
    sequence.take_rows(short, prompt[:50])
    assert len(sequence.token_ids) == 49


def test_a_chat_that_grows_has_only_its_end_written_again(decoder: Decoder, place: KeptChat) -> None:
    text = written(decoder, place).token_ids
    before = {path.name: path.stat().st_mtime_ns for path in Path(place.folder).iterdir()}
    _, _, sequence = said(decoder, [*text, *tokens_of(50, 1)], place)
    ChatOnDisk(place, "model", "kind").write(sequence, go_on)
    after = {path.name: path.stat().st_mtime_ns for path in Path(place.folder).iterdir()}
    assert after["64.rows"] == before["64.rows"]
    assert after["128.rows"] > before["128.rows"]
    assert "192.rows" in after


@pytest.mark.parametrize("opened_again", [False, True])
def test_the_disk_has_states_that_memory_has_dropped(decoder: Decoder, place: KeptChat, opened_again: bool) -> None:
    sequence, on_disk, ends = TokenSequence(Target(decoder), CONTEXT, states=2), ChatOnDisk(place, "model", "kind"), []
    for turn in range(7):
        prompt = [*sequence.token_ids, *tokens_of(70, turn)]
        sequence.reuse(prompt)
        sequence.prefill(prompt, go_on)
        ends.append(len(prompt))
        on_disk.write(sequence, go_on)
    on_disk.in_memory = True
    text, edits = sequence.token_ids, [at for at in (5, 3, 1, 2) if not opened_again or at != 2]
    for turn in edits:
        if opened_again:
            sequence, on_disk = TokenSequence(Target(decoder), CONTEXT, states=2), ChatOnDisk(place, "model", "kind")
        shared = ends[turn] if turn != 2 else ends[1]
        prompt = [*text[:shared], *tokens_of(80, 20 + turn)]
        for _ in on_disk.read(sequence, prompt):
            pass
        kept = sequence.reuse(prompt)
        assert kept > shared - CHUNK - 8
        assert int(sequence.prefill(prompt, go_on).argmax()) == int(_prefill(decoder, tuple(prompt)).argmax())
        on_disk.write(sequence, go_on)
        text = sequence.token_ids
    states = {int(path.stem) for path in Path(place.folder).glob("*.state")}
    assert all(at <= len(text) for at in states)


@pytest.fixture(scope="module")
def chat(
    checkpoint_of: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Decoder, Path, list[int]]:
    """A hybrid, the folder of a text of its, and the text."""
    decoder, folder = load_decoder(checkpoint_of("qwen35")), tmp_path_factory.mktemp("kept") / "7"
    folder.mkdir()
    return decoder, folder, written(decoder, KeptChat(str(folder), _MOST)).token_ids


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_files_that_are_cut_or_changed_are_read_by_the_model(
    chat: tuple[Decoder, Path, list[int]], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    decoder, folder, text = chat
    copy = tmp_path_factory.mktemp("copy") / "7"
    shutil.copytree(folder, copy)
    path = copy / data.draw(st.sampled_from(sorted(path.name for path in folder.iterdir())))
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        del content[place:]
    else:
        content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    prompt = [*text, 9, 9, 9]
    sequence = TokenSequence(Target(decoder), CONTEXT)
    for _ in ChatOnDisk(KeptChat(str(copy), _MOST), "model", "kind").read(sequence, prompt):
        pass
    assert sequence.token_ids == prompt[: len(sequence.token_ids)]
    logits = sequence.prefill(prompt, go_on)
    torch.testing.assert_close(logits, _prefill(decoder, tuple(prompt)), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("source", "kind"), [("another model", "kind"), ("model", "another version")])
def test_what_another_model_or_version_has_read_is_dropped(
    chat: tuple[Decoder, Path, list[int]], tmp_path: Path, source: str, kind: str
) -> None:
    decoder, folder, text = chat
    copy = tmp_path / "7"
    shutil.copytree(folder, copy)
    sequence = TokenSequence(Target(decoder), CONTEXT)
    for _ in ChatOnDisk(KeptChat(str(copy), _MOST), source, kind).read(sequence, [*text, 9]):
        pass
    assert not sequence.token_ids
    assert not list(copy.iterdir())


def test_the_chats_that_were_used_longest_ago_give_way(chat: tuple[Decoder, Path, list[int]], tmp_path: Path) -> None:
    decoder, folder, _ = chat
    size = sum(path.stat().st_size for path in folder.iterdir())
    for name in ("1", "2"):
        shutil.copytree(folder, tmp_path / name)
    (tmp_path / "3").mkdir()
    os.utime(tmp_path / "2", (1, 1))
    written(decoder, KeptChat(str(tmp_path / "3"), 5 * size // 2))
    assert {path.parent.name for path in tmp_path.glob("*/*")} == {"1", "3"}
    # What has no room at all is kept as far as it goes.
    written(decoder, KeptChat(str(tmp_path / "3"), size // 2))
    assert sum(path.stat().st_size for path in tmp_path.glob("*/*")) <= size // 2


@pytest.mark.parametrize("last", [".rows", ".state"])
def test_a_disk_that_is_full_ends_in_one_sentence(
    chat: tuple[Decoder, Path, list[int]], place: KeptChat, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    decoder, *_ = chat
    real, files = kept_on_disk.write_packed_file, []

    def fill(path: Path, *rest: object, **named: object) -> None:
        files.append(path)
        if len(files) > 1 and path.suffix == last:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        real(path, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(kept_on_disk, "write_packed_file", fill)
    _, _, sequence = said(decoder, tokens_of(LENGTH), None)
    assert "No space left" in ChatOnDisk(place, "model", "kind").write(sequence, go_on)
    assert not list(Path(place.folder).iterdir())


def test_a_chat_that_was_erased_is_not_written(chat: tuple[Decoder, Path, list[int]], place: KeptChat) -> None:
    decoder, *_ = chat
    _, _, sequence = said(decoder, tokens_of(LENGTH), None)

    def erase() -> None:
        shutil.rmtree(place.folder, ignore_errors=True)

    assert not ChatOnDisk(place, "model", "kind").write(sequence, erase)
    assert not Path(place.folder).exists()


def test_writing_goes_on_where_it_was_stopped(chat: tuple[Decoder, Path, list[int]], place: KeptChat) -> None:
    decoder, *_ = chat
    _, _, sequence = said(decoder, tokens_of(LENGTH), None)
    steps = 0

    class Stop(Exception):
        pass

    def check() -> None:
        nonlocal steps
        steps += 1
        if steps in (3, 9, 17):
            raise Stop

    on_disk = ChatOnDisk(place, "model", "kind")
    on_disk.written = False
    stops = 0
    while not on_disk.written:
        try:
            on_disk.write(sequence, check)
        except Stop:
            stops += 1
    assert stops == 3
    assert not list(Path(place.folder).glob("*.part"))
    kept, _, _ = said(decoder, [*sequence.token_ids, 9], place)
    assert kept > LENGTH - CHUNK
