"""Bad input of prompt tokens as a person meets it: one sentence and exit code 2, or plain decoding's own text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cli import main
from engine.decoding.worth import Worth
from tests.support.prompt_tokens import write_prompt_tokens

CLI = pytest.CaptureFixture[str]
Folder = Callable[[str], Path]


def refusal(capsys: CLI, *arguments: object) -> str:
    """The one sentence that a command says before it ends with exit code 2."""
    capsys.readouterr()
    try:
        code = main([str(each) for each in arguments])
    except SystemExit as end:  # of the parser
        code = int(end.code or 0)
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    (said,) = captured.err.strip().splitlines()[-1:]
    assert "Traceback" not in captured.err
    return said


@pytest.mark.parametrize(
    ("config", "width", "sentence"),
    [
        ({}, 32, "hidden size 32, and this model's is 64"),
        ({"num_layers": 5}, 64, "for a model of 5 layers and 4 attention heads, and this one has 3 and 4"),
        (
            {"num_attention_heads": 8},
            64,
            "for a model of 3 layers and 8 attention heads, and this one has 3 and 4",
        ),
        ({"vt_attention_type": "diagonal"}, 64, "an attention mask named 'diagonal', and Tenon knows"),
    ],
)
def test_a_set_for_another_model_or_of_an_unknown_mask(
    config: dict[str, object], width: int, sentence: str, llama_folder: Path, tmp_path: Path, capsys: CLI
) -> None:
    folder = write_prompt_tokens(tmp_path / "set", hidden_size=width, **config)
    for command in (("ask", "--mode", "ppd", "Hello"), ("train", "tree")):
        said = refusal(capsys, *command, "--model", llama_folder, "--draft", folder)
        assert said.startswith("tenon: ")
        assert sentence in said


def test_more_prompt_tokens_than_the_context_has_room_for(llama_folder: Path, tmp_path: Path, capsys: CLI) -> None:
    many = write_prompt_tokens(tmp_path / "many", members=30)
    ask = ("ask", "--mode", "ppd", "--model", llama_folder, "--draft", many, "--raw", "one")
    said = refusal(capsys, *ask, "--context", 64)
    assert said.startswith("tenon: There are 90 prompt tokens, and the context has room for 64 tokens")


@pytest.mark.parametrize(
    ("family", "options"),
    [
        # The context ends while probes stand behind its last tokens.
        ("llama", ("--context", 48, "--max-tokens", 200)),
        # Keys are rotated otherwise from token 96 on.
        ("phi3-longrope", ("--context", 192, "--max-tokens", 130)),
    ],
)
def test_what_ends_or_changes_within_the_probes_leaves_the_text_as_it_is(
    family: str,
    options: tuple[object, ...],
    checkpoint_of: Folder,
    tmp_path: Path,
    capsys: CLI,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Worth, "_choose", lambda schedule: 20)  # random prompt tokens are worth none
    folder = checkpoint_of(family)
    tokens = write_prompt_tokens(tmp_path / "set", members=2)
    said = []
    for mode in (("plain",), ("ppd", "--draft", tokens)):
        ask = ("ask", "--model", folder, "--raw", "four three two one", "--json", "--no-loop-guard")
        arguments = (*ask, "--weights", "fp32", "--temperature", 0, *options, "--mode", *mode)
        assert main([str(each) for each in arguments]) == 0
        said.append(json.loads(capsys.readouterr().out))
    plain, drafted = said
    assert drafted["timings"]["probe_n"] > 20
    assert drafted["token_ids"] == plain["token_ids"]
    assert drafted["stop_reason"] == plain["stop_reason"]
    if family == "llama":
        assert len(drafted["prompt_ids"]) + len(drafted["token_ids"]) >= 48
    else:
        assert len(drafted["prompt_ids"]) + len(drafted["token_ids"]) > 100
