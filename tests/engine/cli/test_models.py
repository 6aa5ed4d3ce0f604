from __future__ import annotations

import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub
import keyring
import pytest
from keyring.backends import null

from engine.cli import main
from engine.hub import model_folders
from engine.hub.model_folders import models_folder
from tests.support import hub_faults as faults
from tests.support.hub_faults import large
from tests.support.hub_server import HubServer
from tests.support.toy import TOY_HEAD

ROOT = Path(__file__).resolve().parents[3]
WEIGHTS = random.Random(3).randbytes(60_000)
QWEN = "Qwen/Qwen3-0.6B-GGUF"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr("engine.hub.connection.get_token", lambda: None)
    before = keyring.get_keyring()
    keyring.set_keyring(null.Keyring())
    monkeypatch.setattr(model_folders, "free_bytes", lambda folder: 1 << 40)
    with HubServer().running() as running:
        running.add(QWEN, {"README.md": b"", "Qwen3-0.6B-Q8_0.gguf": WEIGHTS})
        monkeypatch.setenv("HF_ENDPOINT", running.address)
        yield running
    keyring.set_keyring(before)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run `tenon models ... --json`; the exit code and the object."""

    def call(*arguments: str) -> tuple[int, Any]:
        code = main(["models", *arguments, "--json"])
        out = capsys.readouterr().out
        assert out.count("\n") <= 1
        return code, json.loads(out) if out else None

    return call


def test_a_model_is_offered_fetched_listed_verified_and_removed(run: Any, server: HubServer) -> None:
    code, offered = run("get", "qwen3-0.6b", "--dry-run")
    assert (code, offered["models"][0]["state"], offered["models"][0]["size_bytes"]) == (
        0,
        "offered",
        len(WEIGHTS),
    )
    assert not models_folder().exists()
    code, got = run("get", "qwen3-0.6b")
    assert (code, got["models"][0]["state"], got["models"][0]["name"]) == (0, "installed", "Qwen3-0.6B-Q8_0")
    assert run("get", QWEN)[1]["models"][0]["state"] == "installed"
    assert len(server.downloads()) == 1
    _, listed = run("list")
    assert [(model["name"], model["record"]["repo"]) for model in listed["models"]] == [("Qwen3-0.6B-Q8_0", QWEN)]
    assert (listed["downloads"], listed["folder"]) == ([], str(models_folder()))
    code, verified = run("verify")
    assert (code, verified["models"][0]["files"][0]["state"]) == (0, "ok")
    (models_folder() / "Qwen3-0.6B-Q8_0" / "Qwen3-0.6B-Q8_0.gguf").write_bytes(b"x")
    code, verified = run("verify", "Qwen3-0.6B-Q8_0")
    assert (code, verified["models"][0]["files"][0]["state"]) == (1, "changed")
    _, would = run("remove", QWEN, "--dry-run")
    code, removed = run("remove", QWEN)
    assert (code, removed["removed"]) == (0, would["removed"])
    assert run("list")[1]["models"] == []


def test_folders_are_added_and_the_models_are_moved(run: Any, server: HubServer, tmp_path: Path) -> None:
    run("get", "qwen3-0.6b")
    others, target = tmp_path / "others", tmp_path / "large disk"
    others.mkdir()
    (others / "Other-Q8_0.gguf").write_bytes(WEIGHTS)
    code, found = run("folders", "--add", str(others), "--move", str(target))
    assert (code, found["own"], found["unfinished_move"]) == (0, str(target), None)
    assert found["others"] == [{"source": "", "path": str(others)}]
    listed = run("list")[1]
    assert [model["name"] for model in listed["models"]] == ["Qwen3-0.6B-Q8_0"]
    assert [model["reference"] for model in listed["others"]] == [str(others / "Other-Q8_0.gguf")]
    assert run("verify")[1]["models"][0]["files"][0]["state"] == "ok"
    assert run("folders", "--forget", str(others))[1]["others"] == []


def test_a_fetched_model_answers_by_its_name(
    run: Any, server: HubServer, llama_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.add("Qwen/Qwen3-0.6B", {path.name: path.read_bytes() for path in llama_folder.iterdir() if path.is_file()})
    code, got = run("get", "qwen3-0.6b", "--format", "safetensors")
    assert (code, got["models"][0]["name"]) == (0, "Qwen3-0.6B")
    ask = ["ask", "--max-tokens", "4", "--temperature", "0", "--json", "--model"]
    replies = []
    for name in ("Qwen3-0.6B", "qwen3-0.6b", "Qwen/Qwen3-0.6B", str(llama_folder)):
        assert main([*ask, name, "Hello"]) == 0
        replies.append(json.loads(capsys.readouterr().out)["token_ids"])
    assert replies == [replies[0]] * 4


def test_people_get_lines(server: HubServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "get", "qwen3-0.6b", "--dry-run"]) == 0
    offered = capsys.readouterr().out
    assert "60 kB in 1 file of Qwen/Qwen3-0.6B-GGUF, licence apache-2.0" in offered
    assert main(["models", "get", "qwen3-0.6b"]) == 0
    got = capsys.readouterr()
    assert "is installed in" in got.out
    assert "100%" in got.err
    assert main(["models", "list"]) == 0
    assert "Qwen3 0.6B, Q8_0, target, 60 kB, from Qwen/Qwen3-0.6B-GGUF" in capsys.readouterr().out
    assert main(["models", "verify"]) == 0
    assert "its file is what it was" in capsys.readouterr().out
    assert main(["models", "remove", "Qwen3-0.6B-Q8_0"]) == 0
    assert "freed" in capsys.readouterr().out
    assert main(["models", "verify"]) == 0
    assert capsys.readouterr().out == "No model is installed, so there is nothing to check.\n"


def test_a_failure_is_one_line_and_the_same_command_goes_on(
    run: Any, server: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.once(large(faults.cut(0.5)))
    server.once(large(faults.status(404)))
    assert main(["models", "get", "qwen3-0.6b"]) == 1
    error = capsys.readouterr().err.splitlines()
    assert error[-1].startswith("tenon: A file of Qwen/Qwen3-0.6B-GGUF is not on the hub")
    _, listed = run("list")
    assert [(entry["state"], entry["done_bytes"]) for entry in listed["downloads"]] == [("failed", 30_000)]
    assert run("get", "qwen3-0.6b")[0] == 0
    assert server.downloads()[-1] == "bytes=30000-"


def test_an_unfinished_download_is_removed(run: Any, server: HubServer) -> None:
    server.once(large(faults.cut(0.5)))
    server.once(large(faults.status(404)))
    code, failed = run("get", "qwen3-0.6b")
    assert (code, failed["models"][0]["state"]) == (1, "failed")
    assert run("remove", "Qwen3-0.6B-Q8_0")[1]["removed"][0]["freed_bytes"] == 30_000
    assert run("list")[1]["downloads"] == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows delivers no SIGINT to one child")
def test_control_c_pauses(server: HubServer, run: Any) -> None:
    server.once(large(faults.stall(0.5)))
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "0",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        "PYTHONPATH": str(ROOT),
    }
    program = "import sys; from engine.cli import main; sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "models", "get", "qwen3-0.6b"],
        env=environment,
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    while " 50%" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, error = process.communicate()
    assert (process.returncode, error.splitlines()[-1]) == (
        130,
        "Paused with 30 kB of 60 kB: the same command goes on.",
    )
    assert run("list")[1]["downloads"][0]["state"] == "paused"
    assert run("get", "Qwen3-0.6B-Q8_0")[1]["models"][0]["state"] == "installed"
    assert server.downloads() == [None, "bytes=30000-"]


def test_search_has_the_catalogue_and_the_hub(run: Any, server: HubServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.repos[QWEN].tags = ("text-generation", "gguf")
    code, found = run("search", "qwen3", "0.6b")
    assert (code, [model["name"] for model in found["catalogue"]]) == (0, ["qwen3-0.6b"])
    assert found["catalogue"][0]["parameters"] == pytest.approx(0.6e9, rel=0.01)
    assert run("search", "0.6B")[1]["hub"][0]["repo"] == QWEN
    _, everything = run("search")
    assert len(everything["catalogue"]) > 20
    assert everything["hub"] == []
    assert main(["models", "search", "qwen3-0.6"]) == 0
    assert "On the hub:" in capsys.readouterr().out
    server.api_status = 503
    assert main(["models", "search", "qwen3"]) == 0
    shown = capsys.readouterr()
    assert "qwen3-8b" in shown.out
    assert shown.err.startswith("\nOnly the catalogue was searched. 127.0.0.1 has trouble")
    assert "has trouble (503)" in shown.err
    code, found = run("search", "qwen3")
    assert (code, len(found["catalogue"]) > 3, found["hub"]) == (0, True, [])
    assert "has trouble (503)" in found["note"]
    assert main(["models", "search", "nothing like it"]) == 1
    assert run("search", "nothing like it", "--offline")[0] == 0


def test_control_c_while_searching_is_no_error(
    server: HubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("engine.cli.download.search", interrupted)
    assert main(["models", "search", "qwen3"]) == 130
    assert capsys.readouterr().err == ""


def test_import_and_pairs(run: Any, llama_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(llama_folder, folder)
    code, record = run("import", str(folder), "--name", "big")
    assert (code, record["name"], record["location"]) == (0, "big", str(folder))
    assert main(["models", "import", str(folder), "--name", "big"]) == 2
    assert "already" in capsys.readouterr().err
    assert run("import", str(folder), "--name", "small", "--kind", "draft", "--for", "big")[0] == 0
    assert run("import", str(TOY_HEAD), "--name", "head")[0] == 0
    _, listed = run("list", "--pairs")
    problems = {(pair["target"], pair["draft"]): pair["problem"] for pair in listed["pairs"]}
    assert "hidden size" in problems["big", "head"]
    assert main(["models", "remove", "big"]) == 0
    out = capsys.readouterr().out
    assert f"Its files stay in {folder}" in out
    assert "Its drafts stay: small" in out
    assert (folder / "model.safetensors").is_file()


def test_the_token_comes_from_standard_input(
    server: HubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.engine.hub.conftest import MemoryKeyring

    kept = MemoryKeyring()
    keyring.set_keyring(kept)
    monkeypatch.setattr(sys, "stdin", io.StringIO("hf_secret\n"))
    assert main(["models", "token"]) == 0
    assert list(kept.kept.values()) == ["hf_secret"]
    assert "hf_secret" not in capsys.readouterr().out
    assert main(["models", "token", "--forget"]) == 0
    assert kept.kept == {}


def test_a_model_larger_than_the_free_room_is_refused_before_it_is_fetched(
    server: HubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(model_folders, "free_bytes", lambda folder: model_folders.RESERVE_BYTES + len(WEIGHTS) - 1)
    assert main(["models", "get", "qwen3-0.6b"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("tenon: The download needs 60 kB and ")
    assert captured.err.count("\n") == 1
    assert server.downloads() == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["get", "no-such-model"], "The catalogue has no 'no-such-model'"),
        (["get", "gpt-oss"], "has no 'gpt-oss', but gpt-oss-20b and gpt-oss-120b: give one"),
        (["get", "qwen3-0.6b", "--quantization", "Q9"], "has no Q9"),
        (["get", "qwen3-0.6b", "--name", "a/b"], "cannot be called"),
        (["remove", "smollm2"], "ships with Tenon"),
        (["remove", "nothing"], "that are installed. `tenon models list` names the models that are here"),
        (["verify", "nothing"], "no installed model"),
        (["import", "/no/such/path"], "nothing at"),
        (["folders", "--add", "/no/such/path"], "no folder"),
        (["get"], "MODEL"),
        ([], "ACTION, one of search, list, get, import, convert, remove, verify, folders, token, servers."),
        (["import", ""], "argument PATH: it is empty"),
        (["import", ".", "--name", ""], "argument --name: it is empty"),
        (["import", __file__], "test_models.py holds no weights"),
        (
            ["get", "qwen3-0.6b", "--name", "smollm2"],
            "'smollm2' is a model that ships with Tenon: choose another",
        ),
        (["folders", "--add", ""], "argument --add: it is empty"),
        (["folders", "--forget", "/no/such/path"], "The folder /no/such/path was not added"),
        (["folders", "--add", "/a", "--forget", "/a"], "not allowed with argument --add"),
        (["servers", "--add", "a", "--forget", "a"], "not allowed with argument --add"),
        (["search", "--offline", "--limit", "-1"], "argument --limit: '-1' is no whole number from 1 on"),
    ],
)
def test_bad_usage_is_one_line(
    arguments: list[str], sentence: str, server: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", *arguments]) == 2
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert (captured.out, captured.err.count("\n")) == ("", 1)
