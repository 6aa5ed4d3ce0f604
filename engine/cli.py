"""The command line: a second front end, and the proof that the engine needs no window."""

from __future__ import annotations

import argparse
import json
import queue
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, TextIO

from engine.errors import InvalidOption, TenonError
from engine.messages import (
    Cancel,
    ChatMessage,
    ContextTrimmed,
    Event,
    Failed,
    Finished,
    Generate,
    LoadOptions,
    Notice,
    Reply,
    SamplingOptions,
    TokensAdded,
)

_UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}


_WIDTH = "guesses that are followed at each level of the draft's tree; 1 is a chain (default: %(default)s)"
_DEPTH = "the longest run of guesses (default: %(default)s)"
_NODES = "guesses that the model checks in one pass, beside the token before them (default: %(default)s)"
_VERIFY = (
    "how guesses are checked: sample-and-match, residual (the draft then draws its guesses), residual-replacement (its "
    "guesses for one place may repeat), or typical, which is lossy (default: %(default)s)"
)


class _Parser(argparse.ArgumentParser):
    """Bad usage is one line on standard error and exit code 2, without the usage text before it."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}. See `{self.prog} --help`.", file=sys.stderr)
        raise SystemExit(2)


def main(arguments: list[str]) -> int:
    """Run a subcommand.

    Args:
        arguments: What follows ``tenon`` on the command line.

    Returns:
        0 when it worked, 2 for bad usage or input, 1 for any other failure, 130 when interrupted.
    """
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as exit_:
        return int(exit_.code or 0)
    for stream in (sys.stdout, sys.stderr):
        # A reply may hold any character, whatever encoding the terminal or the pipe claims.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        return int(options.run(options))
    except TenonError as error:
        print(f"tenon: {error.message}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # The reader (head, say) has seen enough.
        sys.stderr.close()
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="tenon",
        description="Language models on this machine. Without a subcommand, `tenon` opens the window.",
        epilog="`tenon --version` prints the version.",
    )
    commands = parser.add_subparsers(title="subcommands", metavar="COMMAND", required=True)
    ask = commands.add_parser(
        "ask", help="answer one prompt in the terminal", description="Answer one prompt."
    )
    ask.set_defaults(run=_ask)
    ask.add_argument("prompt", metavar="PROMPT", help="the question; - reads standard input")
    ask.add_argument(
        "--model", metavar="REF", default="guide", help="a folder, an installed model's name, or guide"
    )
    ask.add_argument(
        "--draft",
        metavar="REF",
        help="what guesses: a small model of the same vocabulary, such as guide-draft, or a head that was trained for "
        "the model, such as guide-gated-fusion",
    )
    ask.add_argument("--draft-width", metavar="N", type=int, default=LoadOptions.draft_width, help=_WIDTH)
    ask.add_argument("--draft-depth", metavar="N", type=int, default=LoadOptions.draft_depth, help=_DEPTH)
    ask.add_argument("--draft-nodes", metavar="N", type=int, default=LoadOptions.draft_nodes, help=_NODES)
    ask.add_argument(
        "--mode",
        default="auto",
        help="auto, plain, lookup, dovetail, offload or layer-offload (default: %(default)s)",
    )
    ask.add_argument("--verify", default="sample-and-match", metavar="RULE", help=_VERIFY)
    ask.add_argument(
        "--weights", default="auto", help="auto, fp32, bf16, int8 or int4 (default: %(default)s)"
    )
    ask.add_argument(
        "--max-tokens", metavar="N", type=int, help="the reply's limit (default: the context's end)"
    )
    ask.add_argument("--temperature", metavar="T", type=float, help="0 is greedy (default: the model's own)")
    ask.add_argument(
        "--top-p", metavar="P", type=float, help="keep the likeliest tokens up to this probability"
    )
    ask.add_argument("--top-k", metavar="K", type=int, help="keep the K likeliest tokens; 0 keeps all")
    ask.add_argument(
        "--min-p", metavar="P", type=float, help="keep tokens of at least this share of the best one's"
    )
    ask.add_argument("--repetition-penalty", metavar="R", type=float, help="1 does nothing")
    ask.add_argument("--seed", metavar="S", type=int, help="the same seed gives the same text")
    ask.add_argument(
        "--stop", metavar="TEXT", action="append", default=[], help="end the reply here; may be repeated"
    )
    ask.add_argument(
        "--threads", metavar="N", type=int, help="CPU threads (default: the usable physical cores)"
    )
    ask.add_argument("--context", metavar="N", type=int, help="tokens of context")
    ask.add_argument(
        "--ram-budget", metavar="SIZE", type=_size, help="most memory to use, such as 6G or 512MiB"
    )
    ask.add_argument(
        "--vram-budget", metavar="SIZE", type=_size, help="the same for a GPU; 0 leaves it alone"
    )
    ask.add_argument(
        "--gpu-layers",
        metavar="N",
        type=int,
        help="most layers of the model in the GPU's memory (default: all that its budget takes)",
    )
    ask.add_argument("--system", metavar="TEXT", help="the system prompt")
    ask.add_argument("--raw", action="store_true", help="continue PROMPT as it is, without a chat template")
    ask.add_argument("--json", action="store_true", help="print one JSON object at the end and nothing else")
    _add_train(commands)
    doctor = commands.add_parser("doctor", help="say what Tenon found on this machine")
    doctor.set_defaults(run=_doctor)
    return parser


def _add_train(commands: Any) -> None:
    train = commands.add_parser("train", help="train a draft for a model", description="Train a draft.")
    kinds = train.add_subparsers(title="what to train", metavar="WHAT", required=True)
    draft = kinds.add_parser(
        "draft",
        help="a draft that guesses a model's next tokens",
        description="Train a feature draft for a model, on texts or chats or on the model's own replies. "
        "Ctrl+C ends it early and keeps the best so far.",
    )
    draft.set_defaults(run=_train_draft)
    draft.add_argument(
        "--kind", choices=("gated-fusion",), default="gated-fusion", help="(default: %(default)s)"
    )
    draft.add_argument(
        "--model", metavar="REF", default="guide", help="a folder, an installed model's name, or guide"
    )
    draft.add_argument(
        "--data", metavar="FILE", type=Path, help="a JSON object with a text or a chat on each line"
    )
    draft.add_argument(
        "--generate",
        metavar="N",
        type=int,
        help="learn from N replies of the model itself, to the prompts of --data or to invented ones",
    )
    draft.add_argument(
        "--blocks", metavar="M", type=int, default=4, help="transformer blocks, 1 to 6 (default: %(default)s)"
    )
    draft.add_argument(
        "--fusion",
        choices=("gated", "concat"),
        default="gated",
        help="how features and tokens are joined; concat is EAGLE-2's (default: %(default)s)",
    )
    draft.add_argument("--out", metavar="FOLDER", type=Path, required=True, help="the draft's folder")
    draft.add_argument(
        "--minutes", metavar="T", type=float, default=30.0, help="training time (default: %(default)g)"
    )
    draft.add_argument(
        "--threads", metavar="N", type=int, help="CPU threads (default: the usable physical cores)"
    )
    draft.add_argument("--seed", metavar="S", type=int, default=1, help="the same seed starts the same way")


def _train_draft(options: argparse.Namespace) -> int:
    from engine.training.draft.making import TrainRequest, run

    request = TrainRequest(
        model=options.model,
        data=options.data,
        generate=options.generate,
        blocks=options.blocks,
        fusion=options.fusion,
        out=options.out,
        minutes=options.minutes,
        threads=options.threads,
        seed=options.seed,
    )
    try:
        return 0 if run(request, sys.stderr) else 130
    except KeyboardInterrupt:
        print("tenon: Stopped before there was anything to keep.", file=sys.stderr)
        return 130


def _doctor(options: argparse.Namespace) -> int:
    import torch

    from engine.hub.installed import cache_folder
    from engine.kernels import library
    from engine.planning.hardware import available_memory_bytes, find_gpu, free_device_bytes, usable_cores
    from engine.planning.kernel_table import describe

    in_use = library.available()
    gpu = find_gpu()
    print(f"cores      {usable_cores()}")
    print(f"memory     {available_memory_bytes() / 1e9:.3g} GB available")
    print(f"gpu        {'none' if gpu is None else f'{gpu}, {free_device_bytes(gpu) / 1e9:.3g} GB free'}")
    print(f"torch      {torch.__version__}")
    if in_use is None:
        print(f"kernels    torch's own operators alone: {library.reason()}")
    else:
        usable = [name for name, runs in library.instruction_sets().items() if runs]
        print(f"kernels    {in_use} (this machine runs {', '.join(usable)})")
        if in_use == "portable":
            print("           slow: they are made for AVX2, AVX-512, AMX or ARM's dot products")
        print(f"choice     {describe(cache_folder())}")
    return 0


def _ask(options: argparse.Namespace) -> int:
    request = _request(options)
    from engine.engine import Engine

    events: queue.Queue[Event] = queue.Queue()
    engine = Engine(events.put)
    previous = _on_interrupt(lambda: engine.submit(Cancel(request.request_id)))
    try:
        engine.submit(request)
        return _follow(events, None if options.json else sys.stdout)
    finally:
        engine.close()
        signal.signal(signal.SIGINT, previous)


def _follow(events: queue.Queue[Event], stream: TextIO | None) -> int:
    """Print a reply as it comes (to ``stream``) or its JSON at the end (without one)."""
    while True:
        event = events.get()
        if isinstance(event, TokensAdded) and stream is not None:
            stream.write(event.text)
            stream.flush()
        elif isinstance(event, Notice):
            print(event.text, file=sys.stderr)
        elif isinstance(event, ContextTrimmed):
            print(f"The oldest {event.messages_left_out} messages were left out.", file=sys.stderr)
        elif isinstance(event, Failed):
            print(f"tenon: {event.error.message}", file=sys.stderr)
            return event.error.exit_code
        elif isinstance(event, Finished):
            if stream is None:
                print(json.dumps(event.reply.as_json(), ensure_ascii=False))
            else:
                stream.write("\n")
                if stream.isatty():
                    print(_summary(event.reply), file=sys.stderr)
            return 130 if event.reply.stop_reason == "cancelled" else 0


def _request(options: argparse.Namespace) -> Generate:
    if options.raw and options.system:
        raise InvalidOption(
            "--raw applies no chat template, so it has no place for --system: leave one of them out."
        )
    prompt = _read_standard_input() if options.prompt == "-" else options.prompt
    turns = [ChatMessage("system", options.system)] if options.system else []
    return Generate(
        request_id="ask",
        verify=options.verify,
        options=LoadOptions(
            model=options.model,
            draft=options.draft,
            draft_width=options.draft_width,
            draft_depth=options.draft_depth,
            draft_nodes=options.draft_nodes,
            mode=options.mode,
            weights=options.weights,
            threads=options.threads,
            context=options.context,
            ram_budget_bytes=options.ram_budget,
            vram_budget_bytes=options.vram_budget,
            gpu_layers=options.gpu_layers,
        ),
        messages=() if options.raw else (*turns, ChatMessage("user", prompt)),
        raw_prompt=prompt if options.raw else None,
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
    )


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
    return f"[{', '.join(parts)}]"


def _size(text: str) -> int:
    """Bytes of a size such as 6G, 512MiB or 1000000."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?i?)b?", text.strip().lower())
    if match is None or match[2] not in _UNITS:
        raise argparse.ArgumentTypeError(f"{text!r} is no size: write it like 6G, 512MiB or 1000000")
    return int(float(match[1]) * _UNITS[match[2]])


def _on_interrupt(action: Callable[[], None]) -> Callable[[int, FrameType | None], object] | int | None:
    """Let Ctrl+C stop the reply in order, instead of tearing the program down."""

    def handle(_signal: int, _frame: FrameType | None) -> None:
        action()

    return signal.signal(signal.SIGINT, handle)
