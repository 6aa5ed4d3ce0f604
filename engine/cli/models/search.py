"""``tenon models search``: the catalogue's matches, then the hub's."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import Any

from engine.errors import HubError
from engine.hub.catalogue import Q4_K_M_BITS, CatalogueModel, catalogue, search_catalogue
from engine.hub.connection import FoundModel, Hub, search
from engine.sizes import readable


def run(options: argparse.Namespace) -> int:
    """Run the action; the exit code."""
    text = " ".join(options.text)
    listed = search_catalogue(text) if text else catalogue()
    found: tuple[FoundModel, ...] = ()
    note = ""
    if (text or options.author) and not options.offline:
        hub = Hub()
        try:
            found = search(hub, text, options.format, options.limit, options.author)
        except HubError as error:
            if not listed:
                raise
            note = f"Only the catalogue was searched. {error.message}"
        finally:
            hub.close()
    if options.json:
        print(
            json.dumps(
                {
                    "catalogue": [_as_json(model) for model in listed],
                    "hub": [asdict(model) for model in found],
                    "note": note,
                },
                ensure_ascii=False,
            )
        )
        return 0
    for model in listed:
        size = readable(model.typical_bytes(Q4_K_M_BITS))
        print(f"{model.name:<26} {_count(model.parameters):>6}  about {size} in 4 bits  {model.licence}")
        print(f"{'':<26} {model.about}")
    if found:
        print("\nOn the hub:")
    for other in found:
        size = "" if other.parameters is None else _count(other.parameters)
        notes = [other.format, other.licence or "no licence stated", *(["gated"] if other.gated else [])]
        print(
            f"{other.repo:<52} {size:>6}  {', '.join(notes)}{f'  ({other.problem})' if other.problem else ''}"
        )
    if note:
        print(f"\n{note}", file=sys.stderr)
    elif not listed and not found:
        print("Nothing found: try fewer words.", file=sys.stderr)
    return 0


def _as_json(model: CatalogueModel) -> dict[str, Any]:
    return {**asdict(model), "parameters": model.parameters, "context_length": model.context_length}


def _count(parameters: int) -> str:
    return f"{parameters / 1e9:.1f}B" if parameters >= 999.5e6 else f"{parameters / 1e6:.0f}M"
