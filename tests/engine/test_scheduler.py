"""Replies that share forwards: each is what it is alone, whatever joins, ends or is stopped beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.decoding.loop import Decoding, Hooks, Recipe
from engine.decoding.sequence import AskedRows, Target, TokenSequence
from engine.decoding.statistics import ReplyClock
from engine.decoding.worth import Worth
from engine.drafting.draft_model import DraftModel, DraftModelDrafter
from engine.drafting.drafter import Drafter, NoDrafter
from engine.drafting.kind import Pacing
from engine.drafting.lookup import PromptLookup
from engine.drafting.paced_tree import PacedTree
from engine.drafting.schedule import FixedShape, Schedule
from engine.drafting.trees import TreeShape
from engine.errors import Cancelled
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.kv_cache import KVCache
from engine.model.sampling import Sampler
from engine.model.token_tree import Draft, DraftShape
from engine.model.weight_format import weight_format
from engine.placement.device import Link
from engine.placement.resident import Resident
from engine.placement.streamed import Streamed
from engine.scheduler import Scheduler, Steps
from engine.text.stop import ReplyText
from engine.verifying import SampleAndMatch
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import load_decoder
from tests.support.fast_cases import chosen, examples
from tests.support.packed_models import load
from tests.support.streams import streamed_decoder

CONTEXT = 220
WORDS = [5, 6, 7, 8, 5, 6, 7, 9]
GREEDY, SAMPLED = Sampler(temperature=0.0), Sampler(temperature=1.0, seed=11)


@dataclass(frozen=True)
class Asked:
    """A request: its prompt, how it is sampled and drafted, and its length."""

    prompt: tuple[int, ...]
    sampler: Sampler
    drafts: str
    schedule: Callable[[], Schedule]
    tokens: int


KINDS = (
    Asked(tuple(range(3, 150)), GREEDY, "none", lambda: FixedShape(DraftShape(0)), 20),
    Asked((9,), SAMPLED, "none", lambda: FixedShape(DraftShape(0)), 30),
    Asked(tuple(WORDS * 6), SAMPLED, "lookup", lambda: Worth(PromptLookup()), 30),
    Asked(tuple(WORDS * 3), GREEDY, "lookup", lambda: FixedShape(DraftShape(7)), 25),
    Asked(tuple(range(90, 140)), GREEDY, "model", lambda: Worth(NoDrafter(), 15), 20),
    Asked((7, *WORDS), SAMPLED, "model", lambda: FixedShape(DraftShape(12)), 25),
    Asked(tuple(range(60, 90)), GREEDY, "apart", lambda: FixedShape(DraftShape(6)), 25),
    Asked((8, *WORDS), SAMPLED, "ahead", lambda: FixedShape(DraftShape(5)), 25),
)


@dataclass
class Running:
    """A request on its way."""

    asked: Asked
    stop_after: int
    reply: ReplyText = field(init=False)

    def __post_init__(self) -> None:
        self.reply = ReplyText(lambda ids: "", frozenset(), (), self.asked.tokens)

    def check(self) -> None:
        if len(self.reply.token_ids) >= self.stop_after:
            raise Cancelled("")

    def steps(self, sequence: TokenSequence, drafter: Drafter) -> Steps:
        recipe = Recipe(drafter, SampleAndMatch(self.asked.sampler), self.asked.schedule())
        hooks = Hooks(self.check, lambda done, total: None, lambda *emitted: None)
        decoding = Decoding(sequence, recipe, self.asked.prompt, self.reply, ReplyClock(), hooks)
        try:
            while (asked := decoding.ask()) is not None:
                yield asked
                decoding.take(asked)
        except Cancelled:
            self.reply.close(None)


class Bench:
    """A target, its draft, and what each kind of request gets alone."""

    def __init__(self, decoder: Decoder, draft: Path) -> None:
        self.decoder = decoder
        self._small = load_decoder(draft)
        self.alone = [self.run([(kind, 0, kind.tokens)])[0] for kind in KINDS]

    def drafter(self, kind: str) -> Drafter:
        if kind == "none":
            return NoDrafter()
        if kind == "lookup":
            return PromptLookup()
        model = DraftModel(self._small, 320, CONTEXT, Link(torch.device("cpu")), lambda: None)
        drafter: Drafter = DraftModelDrafter(model, TreeShape(3, 3, 12))
        if kind == "ahead":
            drafter = PacedTree(model, Pacing(fallback_threshold=0.3))
        drafter.apart = kind in ("apart", "ahead")
        return drafter

    def run(self, plan: Sequence[tuple[Asked, int, int]]) -> list[list[int]]:
        """Each joins at its turn and is stopped after so many tokens."""
        running = {str(at): Running(kind, stop) for at, (kind, _, stop) in enumerate(plan)}
        scheduler = Scheduler(lambda: running[scheduler.running].check())
        target, turn = Target(self.decoder), 0
        waiting = sorted(enumerate(plan), key=lambda one: one[1][1])
        while waiting or len(scheduler):
            while waiting and waiting[0][1][1] <= turn:
                at, (kind, _, _) = waiting.pop(0)
                sequence = TokenSequence(target, CONTEXT)
                scheduler.add(str(at), running[str(at)].steps(sequence, self.drafter(kind.drafts)))
            scheduler.turn()
            turn += 1
        return [one.reply.token_ids for one in running.values()]


@pytest.fixture(params=chosen(["llama", "gemma2", "q8_0", "streamed"], ("llama", "streamed")), scope="module")
def bench(
    request: pytest.FixtureRequest,
    checkpoint_of: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Bench]:
    draft = write_checkpoint(tmp_path_factory.mktemp("draft") / "draft", "llama", seed=1)
    if request.param == "streamed":
        folder = write_checkpoint(tmp_path_factory.mktemp("deep") / "model", num_hidden_layers=4)
        decoder = streamed_decoder(folder, weight_format("q8_0"), 1, 2)
        assert isinstance(decoder.source, Streamed)
        assert decoder.source.streamed_bytes
        yield Bench(decoder, draft)
        decoder.source.release()
        return
    if request.param != "q8_0":
        yield Bench(load_decoder(checkpoint_of(request.param)), draft)
        return
    folder = checkpoint_of("llama")
    yield Bench(Decoder(read_config(Checkpoint(folder)), Resident(load(folder))), draft)


@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    plan=st.lists(
        st.tuples(st.integers(0, len(KINDS) - 1), st.integers(0, 30), st.integers(1, 40)),
        min_size=2,
        max_size=7,
    )
)
def test_each_reply_is_the_one_it_gets_alone(bench: Bench, plan: list[tuple[int, int, int]]) -> None:
    replies = bench.run([(KINDS[kind], joins, stop) for kind, joins, stop in plan])
    for (kind, _, stop), reply in zip(plan, replies, strict=True):
        whole = bench.alone[kind]
        assert reply == whole[: len(reply)]
        assert len(reply) >= min(stop, len(whole))


def test_a_request_is_stopped_while_its_prompt_shares_a_forward(bench: Bench) -> None:
    """The layer at which it is noticed is one of a forward that others have rows in."""
    shared: list[int] = []

    class Seen(Target):
        def compute(self, asked: Sequence[AskedRows], check: Callable[[], None]) -> None:
            shared.append(len(asked))
            super().compute(asked, check)

    def check() -> None:
        if scheduler.running == "1" and shared and shared[-1] == 3:
            raise Cancelled("")

    target, scheduler = Seen(bench.decoder), Scheduler(check)
    running = [Running(replace(KINDS[kind], schedule=KINDS[0].schedule), 100) for kind in (4, 0, 0)]
    for at, one in enumerate(running):
        scheduler.add(str(at), one.steps(TokenSequence(target, CONTEXT), NoDrafter()))
    while len(scheduler):
        scheduler.turn()
    assert 3 in shared
    assert [one.reply.token_ids for one in running] == [bench.alone[4], [], bench.alone[0]]


class SecondDevice(Drafter):
    """Drafts what followed before, on a device of its own that takes some time for it."""

    apart = True

    def __init__(self, log: list[str], name: str, seconds: float) -> None:
        self._lookup, self._log, self._name, self._seconds = PromptLookup(), log, name, seconds

    def reset(self, prompt: Sequence[int]) -> int:
        return self._lookup.reset(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        self._lookup.observe(tokens, hidden)

    def propose(self, shape: DraftShape) -> Draft:
        self._log.append(f"drafts {self._name}")
        time.sleep(self._seconds)
        try:
            return self._lookup.propose(shape)
        finally:
            self._log.append(f"drafted {self._name}")


class Timed(Target):
    """Its forwards take some time."""

    def __init__(self, decoder: Decoder, log: list[str], seconds: float) -> None:
        super().__init__(decoder)
        self._log, self._seconds = log, seconds

    def compute(self, asked: Sequence[AskedRows], check: Callable[[], None]) -> None:
        self._log.append(f"forward of {sum(one.draft is not None for one in asked)}")
        time.sleep(self._seconds)
        super().compute(asked, check)
        self._log.append("computed")


def piped(bench: Bench, count: int, draft_s: float, forward_s: float) -> tuple[list[list[int]], list[str]]:
    """Replies whose drafts a second device makes; and what happened, in order."""
    log: list[str] = []
    target = Timed(bench.decoder, log, forward_s)
    running = [Running(KINDS[2], 100) for _ in range(count)]
    scheduler = Scheduler(lambda: None)
    for at, one in enumerate(running):
        drafter = SecondDevice(log, str(at), draft_s)
        scheduler.add(str(at), one.steps(TokenSequence(target, CONTEXT), drafter))
    while len(scheduler):
        scheduler.turn()
    return [one.reply.token_ids for one in running], log


def test_a_second_device_drafts_while_the_target_computes(bench: Bench) -> None:
    replies, log = piped(bench, 4, 0.002, 0.004)
    assert replies == [bench.alone[2]] * 4
    computing, beside = False, set()
    for entry in log:
        computing = entry.startswith("forward") or (computing and entry != "computed")
        if computing and entry.startswith("drafts "):
            beside.add(entry)
    assert len(beside) == 4
    rounds = [int(entry.rpartition(" ")[2]) for entry in log if entry.startswith("forward of")]
    assert {*rounds} <= {0, 1, 2}  # half of those that are open


def test_a_reply_that_is_stopped_waits_for_its_draft(bench: Bench) -> None:
    """Its text is another reply's next, which must not meet a draft that is still being made."""
    log: list[str] = []
    one = Running(KINDS[2], 4)
    scheduler = Scheduler(one.check)
    steps = one.steps(TokenSequence(Target(bench.decoder), CONTEXT), SecondDevice(log, "0", 0.02))
    scheduler.add("0", steps)
    while len(scheduler):
        scheduler.turn()
    assert log.count("drafts 0") == log.count("drafted 0")
    assert one.reply.token_ids == bench.alone[2][: len(one.reply.token_ids)]


def test_a_draft_that_fails_beside_the_target_ends_its_own_reply(bench: Bench) -> None:
    class Broken(SecondDevice):
        def propose(self, shape: DraftShape) -> Draft:
            raise ZeroDivisionError("a mistake")

    told: list[str] = []

    def watched(steps: Steps) -> Steps:
        try:
            yield from steps
        except ZeroDivisionError as error:
            told.append(str(error))

    target, other = Target(bench.decoder), Running(KINDS[2], 100)
    scheduler = Scheduler(lambda: None)
    broken = Running(KINDS[2], 100).steps(TokenSequence(target, CONTEXT), Broken([], "0", 0.0))
    scheduler.add("broken", watched(broken))
    scheduler.add("other", other.steps(TokenSequence(target, CONTEXT), SecondDevice([], "1", 0.0)))
    while len(scheduler):
        scheduler.turn()
    assert told == ["a mistake"]
    assert other.reply.token_ids == bench.alone[2]


def test_where_memory_ends_the_newest_waits_and_none_is_lost(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    reserve, released = KVCache._reserve, []
    release = TokenSequence.release
    fails = iter([False] * 4 + [True] + [False] * 15 + [True] + [False] * 1000)

    def short(cache: KVCache, uncommitted: int, count: int) -> None:
        if cache.capacity == CONTEXT and next(fails):  # a draft's has room for its tree
            cache.release()
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        reserve(cache, uncommitted, count)

    def seen(sequence: TokenSequence) -> None:
        released.append(sequence)
        release(sequence)

    expected = [bench.alone[kind] for kind in (0, 2, 5)]
    monkeypatch.setattr(KVCache, "_reserve", short)
    monkeypatch.setattr(TokenSequence, "release", seen)
    plan = [(KINDS[kind], 0, 100) for kind in (0, 2, 5)]
    assert bench.run(plan) == expected
    assert released


def test_one_that_waits_for_what_is_made_beside_lets_others_have_their_turns() -> None:
    made, seen = Future[str](), list[object]()

    def waits() -> Steps:
        yield made
        seen.append(made.result())

    def goes_on() -> Steps:
        for number in range(3):
            seen.append(number)
            yield None

    scheduler = Scheduler(lambda: None)
    scheduler.add("a", waits())
    scheduler.add("b", goes_on())
    for _ in range(5):
        scheduler.turn()
    assert (seen, len(scheduler)) == ([0, 1, 2], 1)
    made.set_result("made")
    scheduler.turn()
    assert (seen, len(scheduler)) == ([0, 1, 2, "made"], 0)


def test_one_that_waits_may_be_stopped() -> None:
    left = []

    def waits() -> Steps:
        try:
            yield Future()
        except Cancelled:
            left.append(scheduler.running)

    def check() -> None:
        if scheduler.running == "a":
            raise Cancelled("")

    scheduler = Scheduler(check)
    scheduler.add("a", waits())
    scheduler.turn()
    assert (left, len(scheduler)) == (["a"], 0)
