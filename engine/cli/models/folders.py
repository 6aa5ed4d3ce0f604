"""``tenon models folders``: where models lie."""

from __future__ import annotations

import argparse
import json
import sys

from engine.cli.models.progress import ProgressLine
from engine.errors import OutOfDisk
from engine.hub.model_folders import add_folder, forget_folder, models_folder
from engine.hub.model_move import finish_move, move_models, unfinished_move
from engine.hub.other_programs import other_folders
from engine.sentences import say


def run_folders(options: argparse.Namespace) -> int:
    """Settle what was asked for and list the folders; the exit code."""
    finish_move()
    try:
        if options.add is not None:
            add_folder(options.add)
        if options.forget is not None:
            forget_folder(str(options.forget.expanduser().absolute()))
    except OSError as error:
        raise OutOfDisk(
            say("The list of folders cannot be written ({reason}).", reason=error.strerror)
        ) from error
    if options.move is not None:
        line = ProgressLine(str(options.move), silent=options.json)
        try:
            move_models(options.move, line.show)
        except KeyboardInterrupt:
            print(
                "tenon: Stopped; the models are where they were. The same command goes on.", file=sys.stderr
            )
            return 130
        finally:
            line.end()
    move = unfinished_move()
    found = {
        "own": str(models_folder()),
        "unfinished_move": None if move is None else str(move.target),
        "others": [{"source": folder.source, "path": str(folder.path)} for folder in other_folders()],
    }
    if options.json:
        print(json.dumps(found, ensure_ascii=False))
        return 0
    print(f"{found['own']}: Tenon's own models")
    if move is not None:
        print(f"  A move to {move.target} is not finished: move there again.")
    for folder in other_folders():
        print(f"{folder.path}: {folder.source or 'added'}")
    return 0
