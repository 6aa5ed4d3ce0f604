"""``tenon models servers``: the servers whose models are listed beside those of this machine."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from typing import Any

from engine.hub.endpoints import (
    KIND_TITLES,
    Endpoint,
    endpoints,
    forget_endpoint,
    free_name,
    keep_endpoint,
    read_address,
)


def run_servers(options: argparse.Namespace) -> int:
    """Change the servers as asked and list them; return the exit code."""
    if options.add is not None:
        warning = _add(options)
        if warning:
            print(warning, file=sys.stderr)
    if options.forget is not None:
        forget_endpoint(options.forget)
    servers = endpoints()
    if options.json:
        print(json.dumps({"servers": [_as_json(server) for server in servers]}, ensure_ascii=False))
        return 0
    if not servers:
        print("No server is added: `tenon models servers --add ADDRESS` adds one.")
    for server in servers:
        print(f"{server.name}: {KIND_TITLES[server.kind]}, {server.address}")
        for model in server.models:
            context = f", {model.context:,} tokens of context" if model.context else ""
            print(f"  {server.reference(model.name)}{context}")
    return 0


def _add(options: argparse.Namespace) -> str:
    """Ask a server for its models, and keep it; return a warning, or an empty text."""
    from engine.remote.probe import probe, unencrypted

    address = read_address(options.add)
    server = Endpoint(free_name(address, options.name or ""), address)
    key = None
    if options.key:
        key = getpass.getpass("Key: ") if sys.stdin.isatty() else sys.stdin.readline().strip()
    found = probe(server, key)
    if key:
        found.keep_key(key)
    keep_endpoint(found)
    return unencrypted(found, bool(found.key()))


def _as_json(server: Endpoint) -> dict[str, Any]:
    return {
        "name": server.name,
        "address": server.address,
        "kind": server.kind or None,
        "models": [
            {"reference": server.reference(model.name), "name": model.name, "context": model.context}
            for model in server.models
        ],
    }
