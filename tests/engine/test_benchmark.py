from __future__ import annotations

import json
import queue
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine import reply
from engine.benchmark import (
    Benchmark,
    BenchmarkEvent,
    BenchmarkFinished,
    BenchmarkProgress,
)
from engine.cli import main
from engine.cli.bench import _table
from engine.engine import Engine
from engine.hub.installed import cache_folder
from engine.messages import (
    BenchmarkRow,
    Cancel,
    Command,
    ErrorReport,
    Event,
    Failed,
    Finished,
    Generate,
    LoadOptions,
    Memory,
    Plan,
    Promise,
    PromptKind,
    Reply,
    Timings,
)
from engine.modes import in_mode
from engine.planning.probes import host
from engine.planning.profile import read_profile
from tests.support.machines import CONFIGS, write_outline
from tests.support.toy import ship

PROMPTS: dict[PromptKind, tuple[str, ...]] = {"chat": ("Hello there",), "code": ("a b a b a b",)}


@pytest.fixture
def engine() -> Iterator[tuple[Engine, queue.Queue[Event]]]:
    events: queue.Queue[Event] = queue.Queue()
    running = Engine(events.put)
    yield running, events
    running.close()


Running = tuple[Engine, "queue.Queue[Event]"]


def run(engine: Running, options: LoadOptions, *modes: str, stop_at: str = "") -> list[BenchmarkEvent]:
    seen: list[BenchmarkEvent] = []
    benchmark = Benchmark(
        {mode: "It needs a draft." if mode == "dovetail" else in_mode(mode, options) for mode in modes},
        engine[0].submit,
        seen.append,
        PROMPTS,
        max_tokens=12,
    )
    benchmark.start()
    while not benchmark.over:
        benchmark.take(engine[1].get(timeout=60))
        if stop_at and isinstance(seen[-1], BenchmarkProgress) and seen[-1].mode == stop_at:
            benchmark.cancel()
            stop_at = ""
    return seen


def finished(seen: list[BenchmarkEvent]) -> BenchmarkFinished:
    last = seen[-1]
    assert isinstance(last, BenchmarkFinished)
    assert sum(isinstance(event, BenchmarkFinished) for event in seen) == 1
    return last


def test_each_mode_gets_a_row_and_the_profile_its_figures(engine: Running, llama_folder: Path) -> None:
    seen = run(engine, LoadOptions(model=str(llama_folder)), "plain", "lookup")
    rows = finished(seen).rows
    assert [row.mode for row in rows] == ["plain", "lookup"]
    assert rows == tuple(event for event in seen if isinstance(event, BenchmarkRow))
    for row in rows:
        assert row.refusal is None
        assert (row.tokens_per_second or 0) > 0
        assert set(row.by_kind) == {"chat", "code"}
        assert row.peak_bytes > 0
        assert (row.predicted_per_second, row.errors) == (None, {})  # the machine was not measured
    assert rows[0].tokens_per_round == 1.0
    dones = [event.done for event in seen if isinstance(event, BenchmarkProgress)]
    assert dones == sorted(dones)
    (kept,) = (cache_folder() / "profiles").iterdir()
    profile = read_profile(kept)
    assert profile.known
    assert set(profile.yields["lookup"]) == {"any", "chat", "code"}


def test_what_was_measured_on_a_busy_machine_is_marked_and_teaches_no_prediction(
    engine: Running, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "share_of_others", lambda begin, end: 0.3)
    (row,) = finished(run(engine, LoadOptions(model=str(llama_folder)), "plain")).rows
    assert row.busy
    (kept,) = (cache_folder() / "profiles").iterdir()
    profile = read_profile(kept)
    assert not profile.forwards
    assert all(reply.busy for kinds in profile.spoken.values() for replies in kinds.values() for reply in replies)


def test_a_reply_that_goes_round_in_a_circle_is_not_kept(
    engine: Running, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply, "loop_start", lambda tokens: 0)
    (row,) = finished(run(engine, LoadOptions(model=str(llama_folder)), "lookup")).rows
    assert not row.busy
    assert not (cache_folder() / "profiles").exists()


def test_a_mode_that_cannot_run_is_a_row_with_a_sentence(engine: Running, llama_folder: Path) -> None:
    rows = finished(run(engine, LoadOptions(model=str(llama_folder)), "dovetail", "plain")).rows
    assert rows[0].refusal is not None
    assert "needs a draft" in rows[0].refusal
    assert rows[1].refusal is None


def test_a_cancel_keeps_the_modes_that_were_complete(engine: Running, llama_folder: Path) -> None:
    result = finished(run(engine, LoadOptions(model=str(llama_folder)), "plain", "lookup", stop_at="lookup"))
    assert result.cancelled
    assert [row.mode for row in result.rows] == ["plain"]


def test_events_of_other_requests_are_left_alone() -> None:
    commands: list[object] = []
    seen: list[BenchmarkEvent] = []
    benchmark = Benchmark({"plain": in_mode("plain", LoadOptions())}, commands.append, seen.append, PROMPTS)
    benchmark.start()
    assert isinstance(commands[0], Generate)
    assert commands[0].sampling.temperature == 0.0
    benchmark.take(Failed("another", ErrorReport("InternalError", "No.")))
    assert not benchmark.over
    benchmark.cancel()
    assert commands[1] == Cancel(commands[0].request_id)
    benchmark.take(Failed(commands[0].request_id, ErrorReport("Cancelled", "Stopped.")))
    assert finished(seen) == BenchmarkFinished((), cancelled=True)


def test_replies_whose_drafts_all_failed_count_in_the_acceptance_rate() -> None:
    commands: list[Command] = []
    seen: list[BenchmarkEvent] = []
    benchmark = Benchmark({"lookup": in_mode("lookup", LoadOptions())}, commands.append, seen.append, PROMPTS)
    benchmark.start()
    # The first reply warms up and counts nowhere.
    for tested, accepted in ((4, 4), (30, 10), (10, 0)):
        timings = Timings(
            draft_n=tested,
            draft_n_tested=tested,
            draft_n_accepted=accepted,
            acceptance_rate=accepted / tested,
        )
        asked = commands[-1]
        assert isinstance(asked, Generate)
        reply = Reply("", (), (), "lookup", "m", None, "fp32", {}, "end", Plan("lookup", ""), timings, Memory())
        benchmark.take(Finished(asked.request_id, reply))
    assert finished(seen).rows[0].acceptance_rate == 10 / 40


def test_a_row_says_how_far_off_the_promises_were() -> None:
    """The speed is that of before the mode's first reply, for all kinds of text together."""
    commands: list[Command] = []
    seen: list[BenchmarkEvent] = []
    benchmark = Benchmark({"plain": in_mode("plain", LoadOptions())}, commands.append, seen.append, PROMPTS)
    benchmark.start()
    for speed, per_second in ((12.0, 99.0), (10.0, 8.0), (10.0, 12.0)):
        timings = Timings(
            predicted_n=97,
            predicted_ms=96e3 / per_second,
            predicted_per_second=per_second,
            time_to_first_token_ms=500.0,
        )
        plan = Plan("plain", "", Promise(speed, 0.6, 110))
        asked = commands[-1]
        assert isinstance(asked, Generate)
        memory = Memory(resident_bytes=100)
        reply = Reply("", (), (), "plain", "m", (), "fp32", {}, "end", plan, timings, memory)
        benchmark.take(Finished(asked.request_id, reply))
    (row,) = finished(seen).rows
    assert row.tokens_per_second == pytest.approx(2 / (1 / 8 + 1 / 12))
    assert row.predicted_per_second == 12.0
    assert row.errors == pytest.approx({"speed": 0.25, "first token": 0.2, "memory": 0.1})
    told = "\n".join(_table((row, replace(row, mode="lookup", busy=True, errors={"speed": 9.0}))))
    assert "12 (+25%)" in told
    assert told.endswith(
        "In brackets: promised too much or too little. At most: speed 25%, first token 20%, memory 10%."
    )


def test_bench_and_plan_on_the_command_line(
    monkeypatch: pytest.MonkeyPatch,
    llama_folder: Path,
    checkpoint_of: Callable[[str], Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = ["--model", str(llama_folder)]
    assert main(["bench", *model, "--modes", "plain", "--max-tokens", "3", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["mode"] for row in printed["rows"]] == ["plain"]
    assert main(["bench", *model, "--modes", "lookup", "dovetail", "--max-tokens", "3"]) == 0
    table = capsys.readouterr().out
    assert "tok/s" in table
    assert "needs a draft" in table
    assert main(["plan", *model]) == 0
    told = capsys.readouterr().out
    assert "Auto: " in told
    assert "states" not in told
    assert main(["plan", "--model", str(checkpoint_of("qwen35"))]) == 0
    assert "8 states of the text are kept to go on from: " in capsys.readouterr().out
    remote = write_outline(tmp_path / "remote", CONFIGS["llama-13b"], size_bytes=26_000_000_000)
    report = Path(__file__).parent / "planning" / "machines" / "laptop-8gb.json"
    draft = write_outline(tmp_path / "draft", CONFIGS["llama-1b"])
    arguments = ["plan", "--model", str(remote), "--draft", str(draft), "--machine", str(report)]
    assert main([*arguments, "--json", "--ram-budget", "4G", "--weights", "q4_k_m", "--context", "512"]) == 0
    plan = json.loads(capsys.readouterr().out)
    modes = {mode["mode"]: mode for mode in plan["modes"]}
    assert modes["llmcad"]["placement"]["kind"] == "stream"
    assert modes["plain"]["context"] == 512
    assert modes["plain"]["memory_bytes"]["host"] <= 4_000_000_000
    (tmp_path / "assets").mkdir()
    ship(tmp_path / "assets", monkeypatch)
    toy = ["plan", "--model", "toy", "--machine", str(report)]
    assert main(toy) == 0
    table = capsys.readouterr().out
    assert "toy with toy-draft" in table
    assert "Plan with one" not in table
    assert main([*toy, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    fastest = max(plan["modes"], key=lambda mode: mode["tokens_per_second"] or 0.0)
    assert bool(fastest["passed_over"]) == (fastest["mode"] != plan["chosen"])
    assert main(["plan", *model, "--machine", str(remote / "config.json")]) == 2
    assert "tenon doctor --json" in capsys.readouterr().err


def test_auto_predicts_once_the_machine_was_measured(llama_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["ask", "--model", str(llama_folder), "--max-tokens", "3", "--temperature", "0", "--json", "Hello"]
    assert main(ask) == 0
    before = json.loads(capsys.readouterr().out)
    assert (before["mode"], before["plan"]["promise"]) == ("lookup", None)
    assert main(["doctor"]) == 0
    capsys.readouterr()
    assert main(ask) == 0
    after = json.loads(capsys.readouterr().out)
    promise = after["plan"]["promise"]
    assert min(promise["tokens_per_second"], promise["first_token_s"], promise["memory_bytes"]) > 0
    assert after["plan"]["reason"].startswith(f"Auto: {after['mode']}, predicted at ")
    assert after["token_ids"] == before["token_ids"]
