"""Parts of the trial, each in a process of its own: ``python -m tests.gpu_trial.parts PART ROWS WORK``.

A row is written as soon as it is measured. Its ``ok`` is True, False, or null for what is told and not judged.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pytest
import torch

from engine.engine_process import EngineProcess, run_engine
from engine.graphics.asking import ask_drivers
from engine.graphics.known import SOFTWARE, SWITCH, chip_sentence, read_known
from engine.kernels import blocks
from engine.loaded_model import LoadedModel
from engine.messages import (
    ChatMessage,
    ErrorReport,
    Failed,
    Finished,
    Generate,
    LoadOptions,
    ModelLoaded,
    Notice,
    Reply,
    SamplingOptions,
    StatisticsUpdated,
    TokensAdded,
)
from engine.model import linear
from engine.model.linear import DequantizedLinear, Linear
from engine.model_file import OpenedModel
from engine.modes import in_mode
from engine.placement import ColumnsPlan
from engine.placement.device import copies_to
from engine.planning.cost_model import DraftCost, TargetCost
from engine.planning.hardware import (
    find_gpu,
    free_device_bytes,
    measure_report,
    read_host_memory,
    read_report,
)
from engine.planning.load_plan import LoadPlanner
from engine.planning.machine_speeds import machine_speeds
from engine.planning.model_facts import target_facts
from engine.planning.probes import graphics
from engine.server.engine_link import EngineLink
from tests.gpu_trial import faults
from tests.gpu_trial.shapes import Models, make
from tests.support.engine_client import EngineClient, engine_client
from tests.support.matrices import matrix
from tests.support.toy import TOY, TOY_DRAFT, TOY_HEAD

ROOT = Path(__file__).resolve().parents[2]
_CHAT = (ChatMessage("user", "What is speculative decoding and why is it fast?"),)
_WORDS = " ".join(f"w{7 * number % 900}" for number in range(48))
_DRAFTED = 7
_CHUNK = 512
_KILLED_AFTER = 24


class Rows:
    """The rows of a part."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")

    def add(self, case: str, ok: bool | None = None, said: str = "", **figures: Any) -> None:
        """Write one, and have it on the disk."""
        row = {"case": case, "ok": ok, "said": said, **figures}
        self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        print(row, flush=True)


@dataclass
class Trial:
    """What the parts share.

    Attributes:
        rows: Takes what is measured.
        work: Folder of models that are made.
        stand_in: There is no card.
        model: A further small model; None for none.
    """

    rows: Rows
    work: Path
    stand_in: bool
    model: Path | None

    def shape(self, name: str) -> Models:
        """The models of a shape, of a small one on a machine without a card."""
        begun = time.perf_counter()
        models = make(self.work / "shapes", "tiny" if self.stand_in else name)
        size = sum(path.stat().st_size for path in (models.target, models.draft)) / 1e9
        self.rows.add("made", None, f"{models.target.name}, {size:.2f} GB in {time.perf_counter() - begun:.1f} s")
        return models


@dataclass(frozen=True)
class Case:
    """One way to answer.

    Attributes:
        name: In the table.
        mode: Of the engine.
        like: The case whose tokens these must be; empty where 16 bits may make others.
        options: Of the request.
        columns: Every matrix is divided between processor and card.
    """

    name: str
    mode: str
    like: str = "cpu"
    options: dict[str, Any] = field(default_factory=dict)
    columns: bool = False

    @property
    def rows(self) -> int:
        """Tokens that each round drafts; 0 where it drafts as many as pay."""
        return int(self.options.get("draft_nodes", 0))


def _drafted(name: str, mode: str, draft: Path, **options: Any) -> Case:
    return Case(
        name,
        mode,
        "cpu",
        {"draft": str(draft), "as_published": True, "draft_nodes": _DRAFTED, "gpu_layers": 0, **options},
    )


@contextmanager
def divided_by_columns() -> Iterator[None]:
    """Let loads be planned by columns, whether that is the fastest or not."""

    def columns(planner: Any, mode: Any, candidates: Any, beside: Any, drafts: Any) -> Any:
        plans, _ = planner._fitting(mode, ColumnsPlan, candidates, beside)
        return plans[0] if plans else None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LoadPlanner, "_fastest", columns)
        yield


class Replies:
    """Answers the same prompt in one case after the other, and writes a row for each."""

    def __init__(self, trial: Trial, client: EngineClient, model: Path, **options: Any) -> None:
        self._trial, self._client, self._model = trial, client, model
        chat = model == TOY or model == trial.model
        self._prompt, self._warming = (list(_CHAT), [ChatMessage("user", "Hello")]) if chat else (_WORDS, "w1 w2 w3")
        self._options = {"threads": None, "stop_loops": False, "max_tokens": 48, "context": 2048, **options}
        self._known: dict[str, tuple[int, ...]] = {}

    def run(self, cases: Sequence[Case]) -> None:
        """Run the cases; what one raises is a row and ends no other."""
        for case in cases:
            try:
                if case.columns:
                    with divided_by_columns():
                        self._run(case)
                else:
                    self._run(case)
            except (RuntimeError, AssertionError, ValueError) as error:
                self._trial.rows.add(case.name, False, f"{type(error).__name__}: {error}"[:400])

    def _run(self, case: Case) -> None:
        client, options = self._client, self._options | case.options
        if case.columns:  # another load than that of the case before
            options["context"] = int(options["context"]) - 8
        notices, loads = len(client.seen(Notice)), len(client.seen(ModelLoaded))
        client.answer(self._warming, self._model, mode=case.mode, **{**options, "max_tokens": 8})
        model = client.engine._model
        assert isinstance(model, LoadedModel)
        said = [notice.text for notice in client.seen(Notice)[notices:]]
        if case.columns and not isinstance(model.plan.placement, ColumnsPlan):
            self._trial.rows.add(case.name, None, f"no columns here: {model.plan.summary}")
            return
        before = len(client.seen(StatisticsUpdated))
        reply = client.answer(self._prompt, self._model, mode=case.mode, **options)
        rounds = [record for event in client.seen(StatisticsUpdated)[before:] for record in event.rounds]
        loaded = [event.report.load_ms for event in client.seen(ModelLoaded)[loads:]]
        self._known[case.name] = reply.token_ids
        ok, tokens = self._compared(case, reply)
        some = [record for record in rounds[2:] if record.drafted_rows == case.rows] or rounds
        self._trial.rows.add(
            case.name,
            ok,
            "; ".join(dict.fromkeys([model.plan.summary, *said])),
            tokens=tokens,
            weights=reply.weights,
            devices=reply.devices,
            tokens_per_s=reply.timings.predicted_per_second,
            load_s=loaded[-1] / 1e3 if loaded else None,
            forward_ms=median([record.verify_ms for record in some]) if some else None,
            draft_ms=median([record.draft_ms for record in some]) if some and case.rows else None,
            prompt_ms=reply.timings.prompt_ms,
            prompt_tokens=reply.timings.prompt_n,
            acceptance=reply.timings.acceptance_rate,
            tokens_per_round=reply.timings.mean_acceptance_length,
            device_peak_gb=max(reply.memory.device_peak_bytes.values(), default=0) / 1e9,
            to_device_mb=reply.memory.host_to_device_bytes / 1e6,
            predicted_per_s=reply.plan.promise and reply.plan.promise.tokens_per_second,
            **self._predicted(model, case, reply),
        )

    def _compared(self, case: Case, reply: Reply) -> tuple[bool | None, str]:
        """Whether the tokens are those that they must be, and how far they are the processor's."""
        if case.name not in ("cpu", case.like) and case.like in self._known:
            equal = self._known[case.like] == reply.token_ids
            return equal, f"{'=' if equal else 'NOT AS'} {case.like}"
        own, cpu = reply.token_ids, self._known.get("cpu", reply.token_ids)
        alike = next((at for at, pair in enumerate(zip(own, cpu, strict=False)) if pair[0] != pair[1]), len(own))
        return (True if alike == len(own) else None), f"{alike} of {len(own)} as cpu"

    def _predicted(self, model: LoadedModel, case: Case, reply: Reply) -> dict[str, float]:
        """Milliseconds that the plan's own figures come to."""
        report, plan, config = read_report(), model.plan, model.target.config
        gpu = next((one for one in report.gpus if one.device == str(model.link.device)), None)
        speeds = machine_speeds(report, gpu)
        facts = target_facts(OpenedModel(model.run.options.model, model.folder))
        assert facts.config.layers == config.layers
        cost = TargetCost(facts, plan.weights, plan.placement, speeds, len(reply.prompt_ids))
        found = {
            "forward_predicted_ms": 1e3 * cost.forward_s(1 + case.rows),
            "prompt_predicted_ms": 1e3 * cost.prefill_s(max(1, reply.timings.prompt_n), _CHUNK),
        }
        if case.rows:
            costs = [
                DraftCost(draft, place.weights, speeds, place.on_gpu)
                for draft, place in zip(model.run.drafts, plan.drafts, strict=True)
            ]
            found["draft_predicted_ms"] = 1e3 * sum(one.tree_s(case.rows) for one in costs)
        return found


def machine(trial: Trial) -> None:
    """Speeds of the machine, and what the engine relies on of a card."""
    rows = trial.rows
    begun = time.perf_counter()
    report = read_report() if trial.stand_in else measure_report()
    cpu, speeds = report.processor, report.speeds
    rows.add("processor", None, f"{cpu.name}, {cpu.usable_cores} cores, {report.kernels}")
    if speeds is None:
        rows.add("speeds", None, "left out: no card; predictions are made with assumed ones")
    else:
        host = speeds.host
        rows.add(
            "speeds",
            None,
            f"measured in {time.perf_counter() - begun:.0f} s: {host.memory_bytes_per_s / 1e9:.0f} GB/s, "
            f"{1e6 * host.operator_s:.1f} us an operator",
            speeds=json.loads(json.dumps(speeds, default=vars)),
        )
    for gpu in report.gpus:
        free = f"{gpu.name}, {gpu.free_bytes / 1e9:.1f} of {gpu.total_bytes / 1e9:.1f} GB free"
        speed = None if speeds is None else speeds.gpus.get(gpu.device)
        if speed is not None:
            free += (
                f", {speed.memory_bytes_per_s / 1e9:.0f} GB/s, {speed.products_per_s / 1e12:.1f} T products/s, "
                f"{1e6 * speed.operator_s:.1f} us an operator, "
                f"{speed.from_host_bytes_per_s / 1e9:.1f} GB/s from the host"
            )
        rows.add(gpu.device, trial.stand_in or speed is not None, free)
    device = faults.card()
    for measure in (_pinned, _attention, _matrices, _widths):
        try:
            measure(rows, device)
        except RuntimeError as error:
            rows.add(measure.__name__.strip("_"), False, str(error)[:300])


def _pinned(rows: Rows, device: torch.device) -> None:
    """Copies from the host's buffers, and the buffers' way back to the system."""
    if device.type != "cuda":
        rows.add("pinned memory", None, "left out: no card")
        return
    copies, size = copies_to(device), 130 << 20
    buffers, there = [copies.host_buffer(size)], copies.device_buffer(size)
    seconds = _best(lambda: copies.start(there, buffers[0], copies.computed()), device)
    before = read_host_memory().available_bytes
    pinned = buffers.pop().is_pinned()
    back = read_host_memory().available_bytes - before
    said = f"{size / seconds / 1e9:.1f} GB/s, {back / 1e6:.0f} of {size / 1e6:.0f} MB given back"
    rows.add("pinned memory", pinned, said)


def _attention(rows: Rows, device: torch.device) -> None:
    """One row over keys that become more: cuDNN would plan for each number of them."""
    queries = torch.randn(1, 8, 4, 128, device=device, dtype=torch.bfloat16)
    keys = torch.randn(1, 8, 1024, 128, device=device, dtype=torch.bfloat16)
    begun = time.perf_counter()
    for count in range(500, 564):
        own = keys[:, :, :count]
        torch.nn.functional.scaled_dot_product_attention(queries, own, own)
    _wait(device)
    own_ms = 1e3 * (time.perf_counter() - begun) / 64
    rows.add("attention over 64 lengths", None, f"{own_ms:.3f} ms each")


def _matrices(rows: Rows, device: torch.device) -> None:
    """A 4-bit matrix on the card by the size of its pieces, and the same in 16 bits: for the choice of the piece."""
    packed = matrix("Q4_K", 11008 if device.type == "cuda" else 512, 4096)
    packed = type(packed)(packed.data.to(device), packed.rows, packed.columns, packed.type)
    row = torch.randn(1, packed.columns, device=device, dtype=torch.bfloat16)
    dense = Linear(blocks.unpack(packed, 0, packed.rows).to(torch.bfloat16))
    times = {"16 bits": _best(lambda: dense(row), device)}
    kept = linear._PIECE_WEIGHTS
    for shift in (22, 24, 26):
        linear._PIECE_WEIGHTS = 1 << shift
        times[f"4 bits by 2^{shift}"] = _best(lambda: DequantizedLinear(packed)(row), device)
    linear._PIECE_WEIGHTS = kept
    said = ", ".join(f"{name} {1e3 * seconds:.3f} ms" for name, seconds in times.items())
    rows.add(f"matrix of {packed.rows} x {packed.columns}", None, said)


def _widths(rows: Rows, device: torch.device) -> None:
    """Whether a row's bits depend on the rows beside it."""
    generator = torch.Generator().manual_seed(0)
    for dtype in (torch.float32, torch.bfloat16):
        weight = torch.randn(2048, 2048, generator=generator).to(device, dtype)
        many = torch.randn(16, 2048, generator=generator).to(device, dtype)
        apart = max(float((Linear(weight)(many)[:1] - Linear(weight)(many[:1])).abs().max()), 0.0)
        rows.add(f"a row alone and among 16, {str(dtype)[6:]}", None, f"{apart:.2g} apart")


def _best(action: Callable[[], object], device: torch.device) -> float:
    best = float("inf")
    for _ in range(4):
        begun = time.perf_counter()
        action()
        _wait(device)
        best = min(best, time.perf_counter() - begun)
    return best


def _wait(device: torch.device) -> None:
    if device.type != "cpu":
        torch.get_device_module(device).synchronize(device)


def small(trial: Trial) -> None:
    """A small trained model, with drafts whose guesses hold as often as they do: tokens are the processor's."""
    layers = {"offload": ({}, {"gpu_layers": 2}), "layer-offload": ({"gpu_layers": 1}, {"gpu_layers": 0})}
    placed = [
        Case(f"{mode} {options.get('gpu_layers', 'all')}", mode, options=options)
        for mode, choices in layers.items()
        for options in choices
    ]
    medusa = trial.shape("tiny").medusa  # of the same hidden size
    heads = json.loads((medusa / "config.json").read_text(encoding="utf-8"))
    own = trial.work / "toy-medusa"
    if not own.is_dir():
        own.mkdir(parents=True)
        (own / "medusa_lm_head.safetensors").write_bytes((medusa / "medusa_lm_head.safetensors").read_bytes())
        (own / "config.json").write_text(json.dumps(heads | {"vocab_size": 4096}), encoding="utf-8")
    cases = [
        Case("cpu", "plain", options={"vram_budget_bytes": 0}),
        _drafted("dovetail, draft there", "dovetail", TOY_DRAFT),
        _drafted("dovetail, head there", "dovetail", TOY_HEAD),
        _drafted("dovetail, all there", "dovetail", TOY_DRAFT, gpu_layers=None),
        *placed,
        Case("columns", "plain", columns=True),
        _drafted("ghidorah, cpu", "ghidorah", own),
        _drafted("ghidorah, columns", "ghidorah", own, gpu_layers=None),
    ]
    cases[-1] = Case(cases[-1].name, "ghidorah", options=cases[-1].options, columns=True)
    with engine_client() as client:
        Replies(trial, client, TOY, weights="fp32").run(cases)
        # 16 bits there may say another word than 16 bits here.
        Replies(trial, client, TOY, weights="auto").run([cases[0], Case("offload, as stored", "offload", "")])
        if trial.model is not None:
            given = [cases[0], Case("offload", "offload", ""), Case("columns", "plain", "", columns=True)]
            Replies(trial, client, trial.model).run(given)


def shape(name: str, trial: Trial) -> None:
    """Random weights in a model's shape: speeds, and the processor's tokens wherever the processor verifies."""
    models = trial.shape(name)
    config_layers = 2 if trial.stand_in else 16
    cases = [
        Case("cpu", "plain", options={"vram_budget_bytes": 0}),
        Case("offload all", "offload", ""),
        _drafted("dovetail, draft there", "dovetail", models.draft),
        Case("layer-offload, some pass", "layer-offload", "offload all", {"gpu_layers": config_layers}),
        Case(f"offload {config_layers}", "offload", "", {"gpu_layers": config_layers}),
        Case("columns", "plain", "", columns=True),
        _drafted("ghidorah", "ghidorah", models.medusa),
        Case("auto", "auto", ""),
    ]
    with engine_client() as client:
        Replies(trial, client, models.target, max_tokens=32).run(cases)
        if name != "llama-7b":
            # In 32 bits near ties alone could make other tokens.
            whole = [cases[0], Case("offload all", "offload"), Case("columns", "plain", columns=True)]
            Replies(trial, client, models.target, max_tokens=24, weights="fp32").run(whole)


def chip(trial: Trial) -> None:
    """The same card through the system's driver, or Mesa's software driver: asked, measured, tried, and drafting."""
    os.environ.setdefault(SWITCH, SOFTWARE if trial.stand_in else "1")
    ask_drivers(lambda: None)
    known = read_known()
    for adapter in known.chips:
        speed = known.speeds.get(adapter.device)
        said = f"{adapter.name}, {adapter.driver}, {adapter.interface}, {adapter.kind}, "
        said += f"buffers of {adapter.largest_bytes / 1e6:.0f} MB"
        if speed is not None:
            said += (
                f", {speed.memory_bytes_per_s / 1e9:.3g} GB/s, {speed.products_per_s / 1e9:.3g} G products/s, "
                f"{1e6 * speed.operator_s:.3g} us a shader, {speed.from_host_bytes_per_s / 1e9:.3g} GB/s from the host"
            )
        trial.rows.add(adapter.device, speed is not None, said)
    trial.rows.add("the sentence", None, chip_sentence())
    if not known.speeds:
        return
    cases = [
        Case("cpu", "plain", options={"graphics_chip": False}),
        *(_drafted(f"{mode}, draft on the chip", mode, TOY_DRAFT) for mode in ("dovetail", "llmcad")),
    ]
    with pytest.MonkeyPatch.context() as patch, engine_client() as client:
        chips = tuple(map(graphics._chip, known.chips))
        patch.setattr("engine.planning.hardware.read_gpus", lambda: chips)  # torch's card is not meant
        patch.setattr(LoadPlanner, "_chip_gains_nothing", lambda *of_draft: False)
        measure_report()
        Replies(trial, client, TOY, weights="fp32", graphics_chip=True).run(cases)
    _tests(trial, "tests of graphics chips", ["tests/engine/graphics"])


def marked_tests(trial: Trial) -> None:
    """The tests marked gpu."""
    files = [
        str(path)
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if "pytest.mark." + "gpu" in path.read_text(encoding="utf-8")
    ]
    _tests(trial, "tests marked gpu", ["-m", "gpu", *files])


def _tests(trial: Trial, name: str, chosen: list[str]) -> None:
    """Run tests, and write a row for all and one for each that fails."""
    report = trial.work / "gpu-tests.xml"
    # A warning of another torch or driver, or that pytest-qt is missing, is no failure of the card.
    alone = ["-W", "default", "-p", "no:cacheprovider", f"--junitxml={report}"]
    subprocess.run([sys.executable, "-m", "pytest", "-q", *alone, *chosen], cwd=ROOT, check=False)
    cases = list(xml.parse(report).iter("testcase"))
    bad = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = sum(case.find("skipped") is not None for case in cases)
    passed = len(cases) - len(bad) - skipped
    ok = None if not passed and not bad else not bad
    trial.rows.add(name, ok, f"{passed} passed, {len(bad)} failed, {skipped} skipped")
    for case in bad:
        found = case.find("failure") if case.find("failure") is not None else case.find("error")
        message = "" if found is None else str(found.get("message"))
        trial.rows.add(str(case.get("name")), False, message[:400])


class Child(EngineClient):
    """An engine in a process of its own, as the window has it, whose card may fail."""

    def __init__(self, trial: Trial, fault: str = "") -> None:
        super().__init__()
        self.engine.close()
        with _environment(trial, fault):
            process = EngineProcess(_serve(), self._queue.put, self._ended)
        self.engine = _Submitting(process)  # type: ignore[assignment]

    def _ended(self, code: int | None) -> None:
        """Whoever waits for an answer gets none."""
        self._queue.put(Failed("", ErrorReport("EngineStopped", f"the engine's process ended with {code}")))


class _Submitting:
    def __init__(self, process: EngineProcess) -> None:
        self.submit, self.close = process.send, process.close


def _serve() -> Callable[..., None]:
    return partial(run_engine, serve="tests.gpu_trial.faults:serve")


@contextmanager
def _environment(trial: Trial, fault: str = "") -> Iterator[None]:
    """What a child that is started meanwhile finds in its environment."""
    with pytest.MonkeyPatch.context() as patch:
        if trial.stand_in:
            patch.setenv(faults.STAND_IN_VARIABLE, "1")
        if fault:
            patch.setenv(faults.FAULT_VARIABLE, fault)
        yield


def failing(kind: str, trial: Trial) -> None:
    """A card that fails in the middle of a reply: the same words, a sentence, and later replies without another one."""
    options: dict[str, Any] = {"weights": "fp32", "max_tokens": 48, "context": 1024, "threads": None}
    with engine_client() as client:
        expected = client.answer(list(_CHAT), TOY, mode="plain", vram_budget_bytes=0, **options).token_ids
    said = {"lost": "The GPU stopped working", "full": "The GPU ran out of memory"}[kind]
    for mode, layers in (("offload", None), ("layer-offload", 1)):
        child = Child(trial, f"{kind}:{5 * 20}")
        try:
            reply = child.answer(list(_CHAT), TOY, mode=mode, gpu_layers=layers, **options)
            notices = [notice.text for notice in child.seen(Notice)]
            right = reply.token_ids == expected and any(text.startswith(said) for text in notices)
            trial.rows.add(f"{mode}, {kind} in mid-reply", right, "; ".join(notices), devices=reply.devices)
            other = {**options, "context": 900}
            for name, more in (("asked again", options), ("loaded again", other)):
                again = child.answer(list(_CHAT), TOY, mode=mode, gpu_layers=layers, **more)
                seen = "; ".join(notice.text for notice in child.seen(Notice)[len(notices) :])
                right = again.token_ids == expected
                trial.rows.add(f"{mode}, {name}", right, f"{again.devices['target']} {seen}")
        except AssertionError as error:
            trial.rows.add(f"{mode}, {kind} in mid-reply", False, str(error)[:400])
        finally:
            child.engine.close()


def full(trial: Trial) -> None:
    """A card that another program fills before a model is loaded, and one that is full in the middle of a reply."""
    gpu = find_gpu()
    if gpu is None:
        trial.rows.add("loaded beside another program", None, "left out: no card")
    else:
        models = trial.shape("llama-1b")
        free, leave = free_device_bytes(gpu), 1200 << 20
        take = f"import torch; held = torch.empty({free - leave}, dtype=torch.uint8, device='cuda'); print(flush=True)"
        take += "; input()"
        holder = subprocess.Popen(
            [sys.executable, "-c", take], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            holder.stdout.readline()
            with engine_client() as client:
                replies = Replies(trial, client, models.target, max_tokens=8)
                replies.run([Case("beside another program", "offload", ""), Case("auto beside it", "auto", "")])
        finally:
            holder.kill()
            holder.wait()
    failing("full", trial)


def killed(trial: Trial) -> None:
    """The engine's process is killed in the middle of a reply: words are kept, one sentence, the next starts anew."""
    models = make(trial.work / "shapes", "tiny")
    options = in_mode("offload", LoadOptions(model=str(models.target), context=2048))
    request = Generate(
        "1",
        options,
        raw_prompt=_WORDS,
        max_tokens=1500,
        sampling=SamplingOptions(temperature=0.0),
        stop_loops=False,
    )
    gpu = find_gpu()
    free = None if gpu is None else free_device_bytes(gpu)
    words, sentence, again = asyncio.run(_kill(trial, request))
    held = 0 if gpu is None or free is None else free - free_device_bytes(gpu)
    right = len(words) >= _KILLED_AFTER and again[: len(words)] == words and bool(sentence)
    trial.rows.add("killed in mid-reply", right, f"{len(words)} tokens kept; {sentence}")
    trial.rows.add("memory of the card afterwards", held < 64 << 20, f"{held / 1e6:.0f} MB less are free")


async def _kill(trial: Trial, request: Generate) -> tuple[list[int], str, list[int]]:
    """Tokens before the kill, the sentence, and the tokens of the same request to the next engine."""

    def start(on_event: Any, on_exit: Any) -> EngineProcess:
        with _environment(trial):
            return EngineProcess(_serve(), on_event, on_exit)

    link = EngineLink(start=start)
    found: list[list[int]] = []
    sentence = ""
    for kill in (True, False):
        answers, tokens = link.ask([request]), list[int]()
        found.append(tokens)
        while (event := await answers.next(60.0)) is not None:
            if isinstance(event[1], TokensAdded):
                tokens += event[1].token_ids
            if isinstance(event[1], Failed):
                sentence = sentence or event[1].error.message
            if isinstance(event[1], Failed | Finished) or (not kill and len(tokens) > 4 * _KILLED_AFTER):
                break
            if kill and len(tokens) >= _KILLED_AFTER and link.process_id is not None:
                os.kill(link.process_id, signal.SIGKILL)
                kill = False
    await link.close()
    return found[0], sentence, found[1]


PARTS: dict[str, Callable[[Trial], None]] = {
    "machine": machine,
    "small": small,
    "chip": chip,
    "tests": marked_tests,
    "llama-1b": partial(shape, "llama-1b"),
    "removed": partial(failing, "lost"),
    "full": full,
    "killed": killed,
    "llama-7b": partial(shape, "llama-7b"),
}


def main() -> None:
    """Run the part that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=list(PARTS))
    parser.add_argument("rows", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--stand-in", action="store_true")
    parser.add_argument("--model", type=Path)
    options = parser.parse_args()
    if options.stand_in:
        faults.use_stand_in()
    PARTS[options.part](Trial(Rows(options.rows), options.work, options.stand_in, options.model))


if __name__ == "__main__":
    main()
