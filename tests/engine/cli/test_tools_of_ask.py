"""Tools of ``tenon ask``: named on the command line, asked for in a terminal, and called until the model answers."""

from __future__ import annotations

import argparse
import io
import json
import queue
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.cli.ask import _answered
from engine.cli.tool_calls import TerminalTools, add_tool_options, opened_tools
from engine.errors import InvalidOption, TenonError
from engine.messages import (
    Cancel,
    ChatMessage,
    Event,
    Finished,
    Generate,
    LoadOptions,
    Memory,
    Plan,
    Reply,
    StopReason,
    Timings,
    TokensAdded,
    ToolCall,
)
from engine.tools.acts import acts
from engine.tools.servers import KnownTool, ToolServer, servers

SERVERS = Path(__file__).parents[1] / "tools" / "mcp_servers.py"


class ScriptedEngine:
    """Says one text after the other."""

    def __init__(self, *texts: str, stop_reason: StopReason = "end") -> None:
        self.events: queue.Queue[Event] = queue.Queue()
        self.asked: list[Generate] = []
        self._texts = list(texts)
        self._stop_reason = stop_reason  # of the last text

    def submit(self, command: Generate | Cancel) -> None:
        assert isinstance(command, Generate)
        self.asked.append(command)
        text = self._texts.pop(0)
        for piece in (text[:9], text[9:]):
            self.events.put(TokensAdded("ask", piece, (1,)))
        plan = Plan("plain", "for the test")
        reason: StopReason = "end" if self._texts else self._stop_reason
        reply = Reply(text, (1,), (1,), "plain", "m", (), "fp32", {}, reason, plan, Timings(), Memory())
        self.events.put(Finished("ask", reply))


class Terminal(io.StringIO):
    """One that types and shows."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text("3 kg of flour")
    return tmp_path


def parsed(*line: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_tool_options(parser)
    return parser.parse_args([*line], argparse.Namespace(json=False, rounds=False))


def wish(tool: str = "read_file", **arguments: object) -> str:
    return f"<tool_call>\n{json.dumps({'name': tool, 'arguments': arguments})}\n</tool_call>"


def answered(engine: ScriptedEngine, tools: TerminalTools, options: argparse.Namespace) -> list[ChatMessage]:
    request = Generate("ask", LoadOptions(), (ChatMessage("user", "How much?"),))
    code, turns = _answered(engine, engine.events, request, options, tools)
    assert code == 0
    return turns


def test_a_tool_is_called_and_its_result_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = parsed("--tool", f"folder={folder}", "--allow", "read_file")
    engine = ScriptedEngine(f"I look.\n{wish(path='notes.txt')}", "3 kg.")
    with opened_tools(options) as tools:
        turns = answered(engine, tools, options)
    assert [(turn.role, turn.content) for turn in turns] == [
        ("assistant", "I look."), ("tool", "3 kg of flour"), ("assistant", "3 kg."),
    ]  # fmt: skip
    assert engine.asked[1].messages[1:] == tuple(turns[:2])
    assert [tool.name for tool in engine.asked[0].tools.offered] == ["list_folder", "read_file", "search_files"]
    out, err = capsys.readouterr()
    assert out == "I look.\n3 kg.\n"
    assert "[read_file, " in err
    assert [one.tool for one in acts()] == ["read_file"]


def test_nothing_is_called_without_a_terminal_to_ask_in(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = parsed("--tool", f"folder={folder}")
    with opened_tools(options) as tools:
        turns = answered(ScriptedEngine(wish(path="notes.txt"), "I may not."), tools, options)
    assert turns[1].content == "The user did not allow this call."
    assert "was not called" in capsys.readouterr().err
    assert acts() == []


def test_the_question_shows_what_a_terminal_would_obey(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("n\na\n"))
    said = Terminal()
    monkeypatch.setattr(sys, "stderr", said)
    options = parsed("--tool", f"folder={folder}")
    calls = "\n".join([wish(path="\x1b[2Jnotes.txt"), wish(path="notes.txt"), wish(path="notes.txt")])
    with opened_tools(options) as tools:
        turns = answered(ScriptedEngine(calls, "Done."), tools, options)
    results = [turn.content for turn in turns if turn.role == "tool"]
    assert results == ["The user did not allow this call.", "3 kg of flour", "3 kg of flour"]
    assert "\x1b" not in said.getvalue()
    assert "\\u001b[2Jnotes.txt" in said.getvalue()


@pytest.mark.parametrize("shadow", ["all", "folder"])
def test_no_tool_is_allowed_by_a_name_that_is_not_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch, shadow: str
) -> None:
    def answers(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", Terminal(text))

    monkeypatch.setattr(sys, "stderr", Terminal())
    own = replace(servers()[0], place=str(folder), on=True)
    other = ToolServer("other", "command", "no-program", on=True, tools=(KnownTool(shadow),))
    answers("n\n")
    tools = TerminalTools([own, other], ["folder"], 8)
    assert "not allow" in tools.results([ToolCall(shadow, "{}")])[0].content
    answers("a\nn\n")
    tools = TerminalTools([own, other], [], 8)
    assert "not allow" not in tools.results([ToolCall(shadow, "{}")])[0].content
    assert "not allow" in tools.results([ToolCall("list_folder", "{}")])[0].content
    assert "not allow" not in tools.results([ToolCall(shadow, "{}")])[0].content


def test_a_loop_ends(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = parsed("--tool", f"folder={folder}", "--allow", "all", "--tool-turns", "2")
    with opened_tools(options) as tools:
        wishes = [wish(path="notes.txt", first_line=line) for line in (1, 2, 3)]
        engine = ScriptedEngine(*wishes, "3 kg.")
        turns = answered(engine, tools, options)
    assert [turn.role for turn in turns] == ["assistant", "tool", "assistant", "tool", "assistant"]
    assert turns[-1].content == "3 kg."
    assert not engine.asked[-1].tools.offered
    assert "After 2 rounds" in capsys.readouterr().err


def test_a_model_that_asks_again_answers_without_tools(folder: Path) -> None:
    options = parsed("--tool", f"folder={folder}", "--allow", "all")
    with opened_tools(options) as tools:
        engine = ScriptedEngine(*[wish(path="notes.txt")] * 2, "3 kg.")
        turns = answered(engine, tools, options)
    assert [turn.role for turn in turns] == ["assistant", "tool", "assistant"]
    assert turns[-1].content == "3 kg."
    assert not engine.asked[-1].tools.offered


def test_a_call_in_the_place_of_the_answer_is_told_and_not_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = parsed("--tool", f"folder={folder}", "--allow", "all")
    bare = json.dumps({"name": "read_file", "arguments": {"path": "notes.txt"}})
    with opened_tools(options) as tools:
        turns = answered(ScriptedEngine(bare, bare, bare), tools, options)
    assert turns[-1] == ChatMessage("assistant", "")
    out, err = capsys.readouterr()
    assert out.strip() == ""
    assert "in place of an answer" in err


def test_a_call_that_fails_twice_alike_is_not_made_a_third_time(folder: Path) -> None:
    options = parsed("--tool", f"folder={folder}", "--allow", "all")
    with opened_tools(options) as tools:
        for _ in range(2):  # another message begins anew
            engine = ScriptedEngine(*[wish(path="none.txt")] * 3, "It is not there.")
            turns = answered(engine, tools, options)
            assert [turn.role for turn in turns].count("tool") == 2
            assert not engine.asked[-1].tools.offered


def test_a_call_is_repeated_after_another_one_and_for_another_message(folder: Path) -> None:
    options = parsed("--tool", f"folder={folder}", "--allow", "all")
    with opened_tools(options) as tools:
        there, read = wish("list_folder"), wish(path="notes.txt")
        turns = answered(ScriptedEngine(read, there, read, "3 kg."), tools, options)
        assert [turn.role for turn in turns].count("tool") == 3
        turns = answered(ScriptedEngine(read, "3 kg."), tools, options)
    assert [turn.role for turn in turns] == ["assistant", "tool", "assistant"]


def test_a_reply_that_was_stopped_does_not_go_on_without_tools(folder: Path) -> None:
    options = parsed("--tool", f"folder={folder}", "--allow", "all")
    engine = ScriptedEngine(wish(path="notes.txt"), "", stop_reason="cancelled")
    request = Generate("ask", LoadOptions(), (ChatMessage("user", "How much?"),))
    with opened_tools(options) as tools:
        code, _ = _answered(engine, engine.events, request, options, tools)
    assert (code, len(engine.asked)) == (130, 2)


def test_servers_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "servers.json"
    one = {"command": sys.executable, "args": [str(SERVERS), "good"], "env": {"MINE": "yes"}}
    file.write_text(json.dumps({"mcpServers": {"good": one}}))
    options = parsed("--mcp", str(file), "--allow", "good")
    with opened_tools(options) as tools:
        turns = answered(ScriptedEngine(wish("variable", name="MINE"), "Yes."), tools, options)
    assert turns[1].content == "yes"
    file.write_text("\ufeff" + json.dumps({"mcpServers": {"good": one}}))  # as an editor of Windows saves it
    with opened_tools(options) as tools:
        assert tools


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"no JSON", "no JSON of mcpServers"), (b"", "no JSON of mcpServers"), (b"[]", "no JSON of mcpServers"),
        (b'{"a": {"command": "b", "env": {"KEY": null}}}', "has null in the place of a text"),
        (b'{"a": {"command": "b", "args": [true]}}', "has true in the place of a text"),
        (b'{"mcpServers": ', "no JSON of mcpServers"), (b'{"mcpServers": {"a": {"command": 5}}}', "no JSON of mcpS"),
        (b"\xff\xfe{\0", "no text in UTF-8"), (b'{"mcpServers": {"\\u001b[2J": {"command": "a"}}}', "server's name"),
        (b'{"mcpServers": {"a": {"command": "no-such-program"}}}', "there is no program no-such-program"),
        (None, "cannot be read"),
    ],
)  # fmt: skip
def test_a_file_that_names_no_server_is_one_sentence(tmp_path: Path, content: bytes | None, words: str) -> None:
    file = tmp_path / "servers.json"
    file.mkdir() if content is None else file.write_bytes(content)
    with pytest.raises(TenonError, match=words) as refused, opened_tools(parsed("--mcp", str(file))):
        pass
    assert "\x1b" not in str(refused.value)
    assert str(file) in str(refused.value) or "program" in words


@pytest.mark.parametrize("name", ["nothing", "folder", "search", "folder=/nowhere/at/all"])
def test_a_tool_that_is_not_there_or_has_no_place_is_refused(name: str) -> None:
    with pytest.raises(InvalidOption), opened_tools(parsed("--tool", name)):
        pass


def test_a_server_can_be_pasted_in_many_ways() -> None:
    from engine.tools.servers import read_servers

    def read(text: str) -> list[Any]:
        return [(one.name, one.kind, one.place, one.arguments, secret) for one, secret in read_servers(text)]

    assert read("npx -y @scope/files '/my notes'")[0][1:4] == ("command", "npx", ("-y", "@scope/files", "/my notes"))
    assert read("https://tools.example.org/mcp")[0][:3] == (
        "tools.example.org", "address", "https://tools.example.org/mcp",
    )  # fmt: skip
    # A key in the query is part of no name.
    assert read("https://a.org?key=k") == [("a.org", "address", "https://a.org", (), {"?": "key=k"})]
    text = '{"mcpServers": {"a": {"url": "https://a.org", "headers": {"X-Key": "k"}}, "b": {"command": "b"}}}'
    assert read(text) == [("a", "address", "https://a.org", (), {"X-Key": "k"}), ("b", "command", "b", (), {})]
    for bad in ("{", '{"mcpServers": {}}', '{"mcpServers": {"a": 1}}', '{"mcpServers": {"a": {"args": []}}}', "'"):
        with pytest.raises(InvalidOption):
            read_servers(bad)
