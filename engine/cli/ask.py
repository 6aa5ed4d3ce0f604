"""``tenon ask`` and ``tenon chat``: answer one prompt, or one message after another, in the terminal."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import queue
import sys
from contextlib import closing, suppress
from dataclasses import asdict, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from engine.cli.subcommand import (
    add_json,
    add_load_options,
    add_mode_option,
    add_threads_option,
    load_options,
    not_empty,
    on_interrupt,
    path,
    read_ahead,
    told,
)
from engine.cli.tool_calls import TerminalTools, add_tool_options, opened_tools
from engine.documents import read_attachment
from engine.documents.pictures import read_picture
from engine.errors import InvalidOption
from engine.messages import (
    Attachment,
    Cancel,
    ChatMessage,
    ContextTrimmed,
    Event,
    Failed,
    Finished,
    Generate,
    ModelLoaded,
    ModeOption,
    Notice,
    OptionValue,
    Picture,
    Reply,
    RoundRecord,
    SamplingOptions,
    StatisticsUpdated,
    Thinking,
    TokensAdded,
    ToolCall,
    ToolUse,
)
from engine.modes import MODES, check_options, mode_options

if TYPE_CHECKING:
    from engine import Engine

_TEMPERATURE = (
    "0 is greedy: always the likeliest token (default: what the model's makers advise; where they advise nothing, 0.8 "
    "with top-k 40, top-p 0.95, min-p 0.05 and in a chat a repetition penalty of 1.1)"
)
_NUMBERS = (
    ("--max-tokens", "N", int, "the reply's limit (default: the context's end)"),
    ("--temperature", "T", float, _TEMPERATURE),
    ("--top-p", "P", float, "keep the likeliest tokens up to this probability"),
    ("--top-k", "K", int, "keep the K likeliest tokens; 0 keeps all"),
    ("--min-p", "P", float, "keep tokens of at least this share of the best one's"),
    ("--repetition-penalty", "R", float, "makes the last 64 tokens less likely; 1 does nothing"),
    ("--seed", "S", int, "the same seed gives the same text"),
    (
        "--gpu-layers",
        "N",
        int,
        "most layers of the model in the GPU's memory (default: all that its budget takes)",
    ),
)
_LOOPED = (
    "tenon: The reply was stopped, because it began to repeat itself; --no-loop-guard lets it go on, and a higher "
    "--temperature or --repetition-penalty makes it less likely."
)
_VERIFY = "how guesses are checked: sample-and-match, or typical, which is lossy (default: %(default)s)"


def add_to(commands: Any) -> None:
    """Add the subcommands to the parser's subcommands."""
    ask = commands.add_parser("ask", help="answer one prompt in the terminal", description="Answer one prompt.")
    ask.set_defaults(run=_ask)
    ask.add_argument("prompt", metavar="PROMPT", help="the question; - reads standard input")
    _add_reply_options(ask)
    ask.add_argument("--raw", action="store_true", help="continue PROMPT as it is, without a chat template")
    add_json(ask)
    ask.add_argument(
        "--rounds",
        action="store_true",
        help="in --json, each round too: its tree, the nodes that its probes follow, what held, and its times",
    )
    chat = commands.add_parser(
        "chat",
        help="talk with a model in the terminal",
        description="Answer one message after another, a line each. Ctrl+C stops a reply, Ctrl+D ends the chat.",
    )
    chat.set_defaults(run=_chat, raw=False, json=False, rounds=False)
    _add_reply_options(chat)


def _add_reply_options(parser: argparse.ArgumentParser) -> None:
    """Add what says how a reply is written."""
    add_load_options(parser)
    add_mode_option(parser)
    add_threads_option(parser)
    _add_mode_options(parser)
    parser.add_argument("--verify", default="sample-and-match", metavar="RULE", help=_VERIFY)
    for flag, metavar, kind, text in _NUMBERS:
        parser.add_argument(flag, metavar=metavar, type=kind, help=text)
    parser.add_argument(
        "--thinking",
        choices=("on", "off"),
        help="whether a model thinks before it answers, where its chat template knows that (default: its own)",
    )
    parser.add_argument(
        "--reasoning-effort",
        choices=("low", "medium", "high"),
        help="how much it thinks, where its chat template knows that (default: its own)",
    )
    parser.add_argument(
        "--no-loop-guard",
        dest="stop_loops",
        action="store_false",
        help="let a reply that repeats itself go on",
    )
    parser.add_argument(
        "--stop",
        metavar="TEXT",
        type=not_empty,
        action="append",
        default=[],
        help="end the reply here; may be repeated",
    )
    parser.add_argument("--system", metavar="TEXT", help="the system prompt")
    parser.add_argument(
        "--file",
        metavar="FILE",
        type=path,
        action="append",
        default=[],
        help="text, PDF, DOCX, HTML or EPUB that the question is about; may be repeated",
    )
    add_tool_options(parser)
    parser.add_argument(
        "--image",
        metavar="FILE",
        type=path,
        action="append",
        default=[],
        help="PNG, JPEG, WebP, GIF or HEIC picture that the question is about; may be repeated",
    )


def _add_mode_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("options of modes")
    for option in mode_options().values():
        if option.is_switch:
            switch = argparse.BooleanOptionalAction
            group.add_argument(_flag(option), action=switch, help=_help(option))
        else:
            group.add_argument(
                _flag(option),
                metavar="N",
                type=partial(_value, option),
                help=f"{_help(option)} ({option.least} to {option.most}; default: {_defaults(option)})",
            )


def _flag(option: ModeOption) -> str:
    return f"--{option.name.replace('_', '-')}"


def _value(option: ModeOption, text: str) -> int | str:
    """Return the value of an option as it was typed; a refused value is named by the name that was typed."""
    value: int | str = text
    with suppress(ValueError):
        value = int(text)
    try:
        check_options({option.name: value})
    except InvalidOption as error:
        raise argparse.ArgumentTypeError(error.message.removesuffix(".")) from error
    return value


def _given_mode_options(options: argparse.Namespace) -> dict[str, OptionValue]:
    known = mode_options()
    return {name: value for name, value in vars(options).items() if name in known and value is not None}


def _help(option: ModeOption) -> str:
    return option.help.removesuffix(".").replace("%", "%%")


def _defaults(option: ModeOption) -> str:
    """Return the default, or that of each mode if they differ."""
    if option.default is not None:
        return str(option.default)
    own = {mode.name: mode.values({}).get(option.name) for mode in MODES.values()}
    return ", ".join(f"{value} in {name}" for name, value in own.items() if value is not None)


def _ask(options: argparse.Namespace) -> int:
    if options.rounds and not options.json:
        raise InvalidOption("--rounds adds to what --json prints: give --json too, or leave it out.")
    for option in ("system", "file", "image", "thinking", "reasoning_effort", "tool", "mcp"):
        if options.raw and getattr(options, option):
            raise InvalidOption(
                "--raw continues a text without a chat template, so it has no place for {option}: leave one of them "
                "out.",
                option="--" + option.replace("_", "-"),
            )
    prompt = _read_standard_input() if options.prompt == "-" else options.prompt
    request = replace(_request(options), raw_prompt=prompt if options.raw else None)
    if not options.raw:
        attachments, pictures = _given(options)
        turn = ChatMessage("user", prompt, attachments, pictures)
        request = replace(request, messages=(*request.messages, turn))
    read_ahead(options.model)
    from engine import Engine

    events: queue.Queue[Event] = queue.Queue()
    with opened_tools(options) as tools, closing(Engine(events.put)) as engine:
        return _answered(engine, events, request, options, tools)[0]


def _chat(options: argparse.Namespace) -> int:
    """Answer messages until the input ends; return the last one's exit code. A refused one is forgotten."""
    request = _request(options)
    attachments, pictures = _given(options)
    read_ahead(options.model)
    from engine import Engine

    events: queue.Queue[Event] = queue.Queue()
    code = 0
    with opened_tools(options) as tools, closing(Engine(events.put)) as engine:
        while (text := _typed_message()) is not None:
            asked = (*request.messages, ChatMessage("user", text, attachments, pictures))
            code, turns = _answered(engine, events, replace(request, messages=asked), options, tools)
            if turns:
                attachments, pictures = (), ()
                request = replace(request, messages=(*asked, *turns))
    return code


def _typed_message() -> str | None:
    """Return the next line that is not empty; None at the end of the input."""
    with suppress(ImportError):  # packages leave it out
        import_module("readline")  # input() edits its line and remembers the lines before
    try:
        while not (text := input("> " if sys.stdin.isatty() else "")).strip():
            pass
    except (EOFError, KeyboardInterrupt):
        print()
        return None
    except UnicodeDecodeError as error:
        raise InvalidOption("Standard input is not UTF-8 text: convert it to UTF-8 first.") from error
    return text


def _answered(
    engine: Engine, events: queue.Queue[Event], request: Generate, options: argparse.Namespace, tools: TerminalTools
) -> tuple[int, list[ChatMessage]]:
    """Print a reply as it comes, or its JSON at the end; return the exit code, and the turns where a reply came."""
    stream, turns = None if options.json else sys.stdout, list[ChatMessage]()
    request = replace(request, verify=Generate.verify if tools else request.verify)
    bare = False  # the model is to answer from what tools have told it
    for round_ in itertools.count():
        with on_interrupt(lambda: engine.submit(Cancel(request.request_id))):
            offered = ToolUse() if bare else tools.use
            engine.submit(replace(request, messages=(*request.messages, *turns), tools=offered))
            code, reply, calls = _follow(events, stream, options.rounds, tools)
        if reply is None:
            return code, []
        if tools and not bare and reply.stop_reason in ("end", "stop") and tools.ended(calls, round_, reply.text):
            bare = True
            continue
        if bare and calls:
            print("tenon: The model asked for a tool again in place of an answer.", file=sys.stderr)
            calls = []
        turns.append(ChatMessage("assistant", reply.text, calls=tuple(calls)))
        if not calls or reply.stop_reason not in ("end", "stop"):
            return code, turns
        turns += tools.results(calls)
    raise AssertionError


def _follow(
    events: queue.Queue[Event], stream: TextIO | None, with_rounds: bool, tools: TerminalTools
) -> tuple[int, Reply | None, list[ToolCall]]:
    """Print a turn as it comes (to ``stream``) or its JSON at the end (without one), with its rounds or without.

    Returns:
        The exit code, the reply without its calls, and the calls.
    """
    rounds: list[RoundRecord] = []
    spoken, text = tools.spoken("") if tools else None, ""
    while True:
        event = events.get()
        if isinstance(event, ModelLoaded):
            tools.take_form(event.report.advice.tools)
            spoken = tools.spoken("") if tools else None
        elif isinstance(event, TokensAdded):
            added = event.text if spoken is None else spoken.add(event.text)
            text += added
            if stream is not None:
                stream.write(added)
                stream.flush()
        elif isinstance(event, StatisticsUpdated):
            rounds += event.rounds
        elif isinstance(event, Notice):
            print(event.text, file=sys.stderr)
        elif isinstance(event, ContextTrimmed):
            print(f"The oldest {event.messages_left_out} messages were left out.", file=sys.stderr)
        elif isinstance(event, Failed):
            print(f"tenon: {told(event.error.kind, event.error.message)}", file=sys.stderr)
            return event.error.exit_code, None, []
        elif isinstance(event, Finished):
            reply, calls = event.reply, list[ToolCall]()
            if spoken is not None:
                rest = spoken.end(reply.stop_reason == "length")
                reply, calls = replace(reply, text=text + rest), spoken.calls
                if stream is not None:
                    stream.write(rest)
            if stream is None:
                whole = reply.as_json()
                if spoken is not None:
                    whole["calls"] = [{"name": one.name, "arguments": one.arguments} for one in calls]
                if with_rounds:
                    whole["rounds"] = list(map(asdict, rounds))
                print(json.dumps(whole, ensure_ascii=False))
            else:
                stream.write("\n" if reply.text or not calls else "")
                if stream.isatty():
                    print(_summary(reply), file=sys.stderr)
            if reply.stop_reason == "loop":
                print(_LOOPED, file=sys.stderr)
            return 130 if reply.stop_reason == "cancelled" else 0, reply, calls


def _request(options: argparse.Namespace) -> Generate:
    """Return what a command line asks for, without the question."""
    return Generate(
        request_id="ask",
        round_texts=options.rounds,
        verify=options.verify,
        options=load_options(
            options,
            mode_options=_given_mode_options(options),
            threads=options.threads,
            gpu_layers=options.gpu_layers,
        ),
        messages=(ChatMessage("system", options.system),) if options.system else (),
        max_tokens=options.max_tokens,
        sampling=SamplingOptions(
            temperature=options.temperature,
            top_k=options.top_k,
            top_p=options.top_p,
            min_p=options.min_p,
            repetition_penalty=options.repetition_penalty,
            seed=options.seed,
        ),
        stop=tuple(options.stop),
        stop_loops=options.stop_loops,
        thinking=Thinking(None if options.thinking is None else options.thinking == "on", options.reasoning_effort),
    )


def _given(options: argparse.Namespace) -> tuple[tuple[Attachment, ...], tuple[Picture, ...]]:
    """Read the files and the pictures to ask about."""
    for file in options.image:
        _check_file(file, "--image")
    return tuple(map(_attached, options.file)), tuple(read_picture(file.resolve()) for file in options.image)


def _check_file(file: Path, option: str) -> None:
    """Refuse what is no file; the sentence has its path as it was typed."""
    if os.path.exists(file) and not file.is_file():
        raise InvalidOption(
            "{path} is a folder, a pipe or a device: name a file behind {option}, once for each.",
            path=file,
            option=option,
        )
    if not file.is_file():
        raise InvalidOption("There is no file {path}: check the path behind {option}.", path=file, option=option)


def _attached(file: Path) -> Attachment:
    """Read a file to ask about."""
    _check_file(file, "--file")
    attachment = read_attachment(file)
    if attachment.missing:
        print(f"{attachment.name}: {attachment.missing}", file=sys.stderr)
    return attachment


def _read_standard_input() -> str:
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InvalidOption("Standard input is not UTF-8 text: convert it to UTF-8 first.") from error


def _summary(reply: Reply) -> str:
    timings = reply.timings
    parts = [reply.mode, f"{timings.predicted_n} tokens"]
    if timings.predicted_per_second is not None:
        parts.append(f"{timings.predicted_per_second:.3g} tok/s")
    if timings.time_to_first_token_ms is not None:
        parts.append(f"first token {timings.time_to_first_token_ms / 1e3:.2g} s")
    if timings.acceptance_rate is not None:
        parts.append(f"{timings.acceptance_rate:.0%} accepted")
    if reply.mode == "remote" and timings.mean_acceptance_length is not None:
        whose = " of all users" if timings.shared else ""
        parts.append(f"{timings.mean_acceptance_length:.2f} tokens per step{whose}")
    return f"[{', '.join(parts)}]"
