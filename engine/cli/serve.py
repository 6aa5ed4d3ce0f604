"""``tenon serve``: answer other programs of this computer over HTTP."""

from __future__ import annotations

import argparse
import json
import sys
from io import StringIO
from pathlib import Path
from time import localtime, strftime
from typing import TYPE_CHECKING, Any

from engine.cli.subcommand import (
    add_load_options,
    add_mode_option,
    add_threads_option,
    load_options,
    read_ahead,
    show_status,
)
from engine.messages import SERVER_PORT, Event, LoadProgress, Notice

if TYPE_CHECKING:
    from engine.server.phones import Phones


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser's subcommands."""
    serve = commands.add_parser(
        "serve",
        help="answer other programs of this computer over HTTP",
        description="Answer other programs of this computer over HTTP: the protocols of OpenAI, Anthropic and Ollama.",
    )
    serve.set_defaults(run=_serve)
    add_load_options(serve)
    add_mode_option(serve)
    add_threads_option(serve)
    serve.add_argument(
        "--port", metavar="N", type=int, default=SERVER_PORT, help="0 takes a free one (default: %(default)s)"
    )
    keys = serve.add_mutually_exclusive_group()
    keys.add_argument(
        "--key",
        metavar="K",
        help="to be sent by clients (default: one that is made and kept in the system's keyring)",
    )
    keys.add_argument(
        "--key-file",
        metavar="FILE",
        type=Path,
        help="the file that has it, made and the key shown at the first start: for systems without a keyring",
    )
    keys.add_argument(
        "--no-key",
        action="store_true",
        help="let every program of this computer in, for those that send no key",
    )
    serve.add_argument(
        "--parse-special",
        action="store_true",
        help="take control tokens in raw completions for what they are, and not for words, as older programs need it",
    )
    serve.add_argument(
        "--guess-from-replies",
        action=argparse.BooleanOptionalAction,
        help="guess words from earlier replies to all clients too, kept in memory alone: what was said before "
        "comes faster, so a client can tell that another asked the same (default: on with a key, off with --no-key)",
    )
    serve.add_argument(
        "--picture-addresses",
        action="store_true",
        help="fetch pictures that requests name by http or https address: from the internet, which learns of it, and "
        "never from private networks",
    )
    serve.add_argument(
        "--page",
        metavar="ADDRESS",
        nargs="?",
        const="",
        help="serve a page for the browsers of phones too, at the port after N, unencrypted: in the local network, or "
        "at one address of this computer, such as that of a VPN",
    )
    serve.add_argument("--forget-phones", action="store_true", help="let no phone in that came in before")
    serve.add_argument(
        "--json",
        action="store_true",
        help="print one line of JSON once it listens: address, key, model, and the link of the page",
    )


def _serve(options: argparse.Namespace) -> int:
    # Here and not above: the other subcommands need no server.
    from engine.server.guard import checked_key, key_in_file, own_key
    from engine.server.phones import Phones, page_addresses
    from engine.server.serving import EVERYWHERE, serve

    addresses = [] if options.page is None else page_addresses(options.page)
    phones = Phones() if addresses else None
    if options.forget_phones:
        Phones().remove()
    read_ahead(options.model)
    kept = True
    if options.no_key:
        key = None
    elif options.key is not None:
        key = checked_key(options.key)
    elif options.key_file is not None:
        key, _, new = key_in_file(options.key_file)
        if new and not options.json:  # now, for the next start would not show the key of one that fails
            print(f"Key: {key}", flush=True)
    else:
        key, kept, _ = own_key()

    def ready(address: str, model: str, page_port: int) -> None:
        show_status()
        if options.json:
            page = {} if phones is None else {"page": phones.link(addresses[0], page_port)}
            print(json.dumps({"address": address, "key": key, "model": model, **page}), flush=True)
            return
        print(f"Tenon serves {model} at {address}/v1", flush=True)
        if key is not None:
            print(f"The key is in {options.key_file}" if options.key_file else f"Key: {key}", flush=True)
        if not kept:
            print(
                "This system has no keyring: the next start has another key, unless --key gives one.",
                flush=True,
            )
        if phones is not None:
            for phone in phones.listed():
                seen = strftime("%Y-%m-%d %H:%M", localtime(phone.seen))
                print(f"Comes in without a code: {phone.name}, last seen {seen}")
            print("What phones write and read goes through the network unencrypted.")
            phones.entered = lambda phone: _show_code(f"{phone.name} came in.", phones, addresses, page_port)
            _show_code("", phones, addresses, page_port)
        print("Ctrl+C stops it.", flush=True)

    def progress(event: Event) -> None:
        if isinstance(event, LoadProgress):
            show_status(f"Loading: {event.done_bytes / max(event.total_bytes, 1):.0%}")
        elif isinstance(event, Notice):
            print(event.text, file=sys.stderr)

    serve(
        load_options(options, threads=options.threads),
        options.port,
        key,
        ready,
        progress,
        options.parse_special,
        key is not None if options.guess_from_replies is None else options.guess_from_replies,
        phones,
        options.page or EVERYWHERE,
        options.picture_addresses,
    )
    return 0


def _show_code(before: str, phones: Phones, addresses: list[str], port: int) -> None:
    """Show the code for the next phone, as a picture too if a terminal takes it."""
    import segno

    links = [phones.link(address, port) for address in addresses]
    if sys.stdout.isatty():
        drawn = StringIO()
        segno.make(links[0], error="m").terminal(drawn, compact=True)
        # White on black, whatever the terminal's own colours are: some cameras read no code in reverse.
        print("\n".join(f"\033[97;40m{line}\033[0m" for line in drawn.getvalue().splitlines()))
    print(f"{before} Page for the next phone: {' or '.join(links)}".strip(), flush=True)
