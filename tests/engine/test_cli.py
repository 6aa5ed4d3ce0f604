from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.cli import main
from engine.cli.subcommand import size
from engine.decoding.worth import Worth
from engine.json_text import from_plain
from engine.kernels import library
from engine.messages import ChatMessage
from engine.messages.machine import MachineReport, Power
from engine.model.config import read_config
from engine.model.weight_format import weight_format
from engine.placement.plan import Sizes
from engine.placement.streamed import StreamedPlan
from engine.planning import hardware
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.engine_client import engine_client
from tests.support.prompt_tokens import write_prompt_tokens
from tests.support.toy import TOY_DRAFT

ROOT = Path(__file__).resolve().parents[2]


def test_json_is_one_object_and_nothing_else(llama_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--max-tokens", "6", "--temperature", "0", "--json", "--mode", "plain"]
    code = main(["ask", "--model", str(llama_folder), *options, "Hello"])
    captured = capsys.readouterr()
    reply = json.loads(captured.out)
    assert (code, captured.err) == (0, "")
    assert captured.out.count("\n") == 1
    assert len(reply["token_ids"]) == 6
    assert (reply["mode"], reply["stop_reason"], reply["drafts"]) == ("plain", "length", [])
    assert reply["devices"] == {"target": "cpu", "draft": None}
    assert reply["timings"]["mean_acceptance_length"] == 1.0
    assert reply["timings"]["load_ms"] > 0


def test_a_benchmark_of_no_tokens_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], llama_folder: Path
) -> None:
    monkeypatch.setattr(hardware, "measure_report", lambda told: pytest.fail("it measured"))
    assert main(["bench", "--model", str(llama_folder), "--max-tokens", "0"]) == 2
    assert capsys.readouterr().err == "tenon: The limit of tokens is 0, but it must be at least 1.\n"


def test_a_chat_answers_line_by_line_and_knows_what_was_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], llama_folder: Path
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"Hello\n \n{'long ' * 2000}\nAnd you?\n"))
    code = main(
        ["chat", "--model", str(llama_folder), "--max-tokens", "6", "--temperature", "0", "--system", "Be kind."]
    )
    printed = capsys.readouterr()
    system = ChatMessage("system", "Be kind.")
    with engine_client() as client:
        turns = [system, ChatMessage("user", "Hello")]
        first = client.answer(turns, llama_folder, max_tokens=6).text
        turns += [ChatMessage("assistant", first), ChatMessage("user", "And you?")]
        second = client.answer(turns, llama_folder, max_tokens=6).text
    assert (code, printed.out) == (0, f"{first}\n{second}\n\n")
    assert "tokens long" in printed.err  # the long message, which is left out of what follows


def test_text_streams_and_ends_with_a_line_break(llama_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["ask", "--model", str(llama_folder), "--max-tokens", "6", "--temperature", "0", "Hello"]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    main([*arguments, "--json"])
    assert text == json.loads(capsys.readouterr().out)["text"] + "\n"


def test_standard_input_raw_and_system_prompts(
    llama_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["ask", "--model", str(llama_folder), "--max-tokens", "2", "--json"]

    def prompt_of(*more: str, stdin: str = "") -> list[int]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        assert main([*arguments, *more]) == 0
        found: list[int] = json.loads(capsys.readouterr().out)["prompt_ids"]
        return found

    assert prompt_of("-", stdin="Hello") == prompt_of("Hello")
    assert len(prompt_of("--raw", "Hello")) < len(prompt_of("Hello")) < len(prompt_of("--system", "Be brief.", "Hello"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ask"], "PROMPT"),
        (["ask", "--temperature", "hot", "x"], "invalid float value: 'hot'"),
        (["plan", "--mode", "minions"], "unrecognized arguments: --mode minions"),
        (["ask", "--ram-budget", "lots", "x"], "'lots' is no size"),
        (["ask", "--model", "/no/such/folder", "x"], "no model '/no/such/folder'"),
        (
            ["ask", "--model", "gpt-oss-20", "x"],
            "is not on this computer. The catalogue has gpt-oss-20b: download",
        ),
        (["ask", "--model", "{model}", "--temperature", "-2", "x"], "temperature is -2"),
        (["ask", "--model", "{model}", "--mode", "fast", "x"], "no mode 'fast'"),
        (
            ["bench", "--model", "{model}", "--modes", "plain", "fast"],
            "argument --modes: invalid choice: 'fast'",
        ),
        (
            ["ask", "--model", "{model}", "--draft-nodes", "1.5", "x"],
            "choose a whole number from 1 to 64, not '1.5'",
        ),
        (["ask", "--model", "{model}", "  "], "message is empty"),
        (["ask", "--raw", "--system", "a", "x"], "no place for --system"),
        (["ask", "--raw", "--file", "a", "x"], "no place for --file"),
        (["ask", "--raw", "--thinking", "on", "x"], "no place for --thinking"),
        (["ask", "--raw", "--tool", "page", "x"], "no place for --tool"),
        (["ask", "--raw", "--mcp", "a", "x"], "no place for --mcp"),
        (["ask", "--raw", "--reasoning-effort", "low", "x"], "no place for --reasoning-effort"),
        (["ask", "--stop", "", "x"], "argument --stop: it is empty"),
        (["ask", "--draft", "", "x"], "argument --draft: it is empty"),
        (["ask", "--file", "", "x"], "argument --file: it is empty"),
        (["ask", "--file", "/no/such/file.txt", "x"], "There is no file /no/such/file.txt: check"),
        (["ask", "--file", "/", "x"], "/ is a folder, a pipe or a device: name a file"),
        (
            ["ask", "--draft-width", "wide", "x"],
            "argument --draft-width: Width of drafts: choose a whole number",
        ),
        (["plan", "--machine", ""], "argument --machine: it is empty"),
        (["train", "draft", "--out", ""], "argument --out: it is empty"),
        (["train"], "required: WHAT, one of draft, tree."),
        (["dance"], "dance"),
        ([], "COMMAND"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(
    arguments: list[str], sentence: str, llama_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([argument.format(model=llama_folder) for argument in arguments])
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert sentence in captured.err
    assert captured.err.count("\n") == 1


def test_a_mode_that_gains_nothing_runs_and_says_so(llama_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["ask", "--model", str(llama_folder), "--draft", str(llama_folder), "--vram-budget", "0"]
    assert main([*arguments, "--mode", "llmcad", "--max-tokens", "2", "x"]) == 0
    assert (
        "Disk was chosen for the model and gains nothing here. It is for models larger than memory, and this one "
        "fits.\n" in capsys.readouterr().err
    )


def test_of_several_drafts_a_mode_says_which_one_it_would_take(
    llama_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (tmp_path / name for name in ("first", "second"))
    for folder in (first, second):
        shutil.copytree(llama_folder, folder)
    drafts = ["--draft", str(first), "--draft", str(second), "--max-tokens", "2", "x"]
    assert main(["ask", "--model", str(llama_folder), "--mode", "dovetail", *drafts]) == 2
    assert f"The mode Dovetail drafts with {first} alone: leave out {second}.\n" in capsys.readouterr().err
    assert main(["ask", "--model", str(llama_folder), "--mode", "minions", *drafts]) == 0


def test_of_several_drafts_the_one_that_does_not_fit_is_named(
    llama_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drafts = ["--draft", str(llama_folder), "--draft", str(TOY_DRAFT)]
    assert main(["ask", "--model", str(llama_folder), "--mode", "minions", *drafts, "x"]) == 2
    assert f"tenon: {TOY_DRAFT}: The draft was made for another vocabulary" in capsys.readouterr().err


def test_too_little_memory_is_exit_code_1_with_the_numbers(
    llama_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", "--model", str(llama_folder), "--ram-budget", "100K", "x"]) == 1
    error = capsys.readouterr().err
    assert "Tenon itself takes" in error
    assert "100 kB" in error


def test_a_missing_chat_template_is_said_on_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_checkpoint(tmp_path / "model", chat_template=False)
    assert main(["ask", "--model", str(folder), "--max-tokens", "2", "--json", "Hello"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["text"] is not None
    assert "no chat template" in captured.err


def test_doctor_measures_once_and_prints_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["doctor", "--json"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert second["speeds"] == first["speeds"] is not None
    assert from_plain(MachineReport, first).processor.usable_cores >= 1
    assert main(["doctor", "--measure", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["speeds"]["host"] != first["speeds"]["host"]


def test_doctor_says_what_holds_a_board_down(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hardware, "read_power", lambda: Power(True, None, held_down=("heat",)))
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "The board is hot, so it is slower" in lines[1 + next(n for n, line in enumerate(lines) if "mains" in line)]


@pytest.mark.skipif(library.available() is None, reason=library.reason())
def test_doctor_says_what_multiplies_and_that_a_processor_without_avx2_is_slow(
    capsys: pytest.CaptureFixture[str], llama_folder: Path
) -> None:
    in_use = library.available()
    assert main(["doctor"]) == 0
    usual = capsys.readouterr().out
    library.select("portable")
    try:
        assert main(["doctor"]) == 0
        plain = capsys.readouterr().out
        arguments = ["ask", "--model", str(llama_folder), "--max-tokens", "2", "--weights", "q8_0", "Hello"]
        assert main(arguments) == 0
    finally:
        library.select(in_use)
    assert f"kernels    {in_use} (this machine runs portable" in usual
    assert "choice     bf16 " in usual
    assert "GB/s of weights" in usual or "MB/s of weights" in usual
    assert "kernels    portable" in plain
    assert "slow" in plain
    assert "slow" not in usual
    assert "q8_0 weights will be slow" in capsys.readouterr().err


def test_doctor_without_the_library_says_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "_load", lambda: library._Loaded(None, "it was not built."))
    assert main(["doctor"]) == 0
    assert "torch's own operators alone: it was not built." in capsys.readouterr().out


def test_sizes() -> None:
    assert [size(text) for text in ("6G", "512MiB", "1.5 gb", "1000", "2Ti")] == [
        6_000_000_000, 512 << 20, 1_500_000_000, 1000, 2 << 40
    ]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is sent otherwise on Windows")
def test_ctrl_c_stops_the_reply_in_order(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "model", num_hidden_layers=24)
    program = "import sys; from engine.cli import main; sys.exit(main(sys.argv[1:]))"
    arguments = ["ask", "--model", str(folder), "--temperature", "1", "Hello"]
    child = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    child.stdout.read(1)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=30)
    assert child.returncode in (130, 0)  # 0: the reply was over before the signal came
    assert b"Traceback" not in errors


# More than a draft of one layer takes.
_DRAFT_BYTES = 24_000_000
_SLOW_DISK = """
import sys, time
from engine.cli import main
from engine.planning import hardware
from engine.weights.direct_reader import DirectReader

read = DirectReader._read_block

def slow(reader, *arguments):
    time.sleep(0.05)
    read(reader, *arguments)

DirectReader._read_block = slow
hardware.process_bytes = lambda: 0
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is sent otherwise on Windows")
def test_ctrl_c_while_the_disk_is_read_keeps_what_there_is(tmp_path: Path) -> None:
    """LLMCad with a target of which each forward takes more than a second: the reply has far to go yet."""
    folder = write_checkpoint(tmp_path / "model", num_hidden_layers=32, intermediate_size=2048)
    config, weights = read_config(Checkpoint(folder)), weight_format("fp32")
    draft = write_checkpoint(tmp_path / "draft", num_hidden_layers=1)
    sizes = Sizes(config, weights, 128)
    budget = StreamedPlan.least_bytes(sizes) + _DRAFT_BYTES + 2 * sizes.read_layer
    arguments = ["ask", "--model", str(folder), "--draft", str(draft), "--mode", "llmcad", "--raw", "Hello"]
    arguments += ["--context", "128", "--weights", "fp32", "--ram-budget", str(budget), "--vram-budget", "0"]
    arguments += ["--temperature", "0"]
    child = subprocess.Popen(
        [sys.executable, "-c", _SLOW_DISK, *arguments],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    first = child.stdout.read(1)
    child.send_signal(signal.SIGINT)
    rest, errors = child.communicate(timeout=30)
    assert (child.returncode, first != b"", rest[-1:]) == (130, True, b"\n"), errors
    assert b"read from the disk" in errors
    assert b"Traceback" not in errors


def test_a_draft_and_its_tree_settings(llama_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["ask", "--model", str(llama_folder), "--max-tokens", "12", "--json", "--raw", "Hello"]
    arguments += ["--temperature", "0"]
    assert main([*arguments, "--mode", "plain"]) == 0
    plain = json.loads(capsys.readouterr().out)
    tree = ["--draft-width", "2", "--draft-depth", "4", "--draft-nodes", "6"]
    assert main([*arguments, "--mode", "dovetail", "--draft", str(llama_folder), *tree, "--vram-budget", "0"]) == 0
    captured = capsys.readouterr()
    reply = json.loads(captured.out)
    assert reply["token_ids"] == plain["token_ids"]
    assert (reply["mode"], reply["drafts"]) == ("dovetail", [str(llama_folder)])
    assert reply["devices"] == {"target": "cpu", "draft": "cpu"}
    assert reply["timings"]["acceptance_rate"] == 1.0
    assert "the draft runs on the CPU" in captured.err
    assert main([*arguments, "--draft", str(llama_folder), "--draft-depth", "17"]) == 2
    assert capsys.readouterr().err == (
        "tenon ask: argument --draft-depth: Depth of drafts: choose a whole number from 1 to 16, not 17. "
        "See `tenon ask --help`.\n"
    )


def test_rounds_are_told_with_their_probes(
    llama_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 20)  # random prompt tokens are worth none
    tokens = str(write_prompt_tokens(tmp_path / "set"))
    arguments = ["ask", "--model", str(llama_folder), "--max-tokens", "12", "--raw", "Hello", "--rounds"]
    arguments += ["--mode", "ppd", "--draft", tokens, "--temperature", "0"]
    assert main([*arguments, "--json"]) == 0
    reply = json.loads(capsys.readouterr().out)
    rounds = reply["rounds"]
    assert len(rounds) == reply["timings"]["target_forwards"]
    assert sum(len(each["probes"]) for each in rounds) == reply["timings"]["probe_n"] > 0
    assert [token for each in rounds for token in each["emitted"]] == reply["token_ids"][1:]
    assert set(rounds[0]["probes"]) == {-1}, "the first round has nothing to guess with yet"
    assert any(node >= 0 for each in rounds for node in each["probes"])
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("tenon: --rounds adds to what --json prints")


def test_a_mode_runs_as_its_paper_says(llama_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["ask", "--model", str(llama_folder), "--max-tokens", "12", "--json", "--raw", "Hello"]
    arguments += ["--temperature", "0", "--vram-budget", "0"]
    assert main([*arguments, "--mode", "plain"]) == 0
    plain = json.loads(capsys.readouterr().out)
    for mode in ("llmcad", "dovetail", "minions"):
        assert main([*arguments, "--draft", str(llama_folder), "--mode", mode, "--as-published"]) == 0
        reply = json.loads(capsys.readouterr().out)
        assert (reply["mode"], reply["token_ids"]) == (mode, plain["token_ids"])
        assert reply["timings"]["acceptance_rate"] == 1.0
