"""``tenon models list``, ``import``, ``remove``, ``verify``, ``folders`` and ``token``: the models on this machine."""

from __future__ import annotations

import argparse
import getpass
import sys
from dataclasses import asdict
from typing import Any

from engine.cli.download import ProgressLine
from engine.cli.subcommand import as_json, tell
from engine.errors import FileRefused, ModelNotFound
from engine.hub.bundled import bundled_models
from engine.hub.connection import forget_token, keep_token
from engine.hub.download_queue import stored_downloads
from engine.hub.endpoints import (
    KIND_TITLES,
    Endpoint,
    endpoints,
    forget_endpoint,
    free_name,
    keep_endpoint,
    read_address,
)
from engine.hub.installed import (
    InstalledModel,
    installed_model,
    installed_models,
    plan_removal,
    remove,
    verify,
)
from engine.hub.local_import import import_model
from engine.hub.model_folders import (
    add_folder,
    forget_folder,
    models_folder,
    other_folders,
    other_models,
    read_folders,
)
from engine.hub.model_move import move_models, unfinished_move
from engine.hub.record import loss_words, record_as_json
from engine.hub.titles import title_of_model, type_of_model
from engine.sentences import readable, say


def run_list(options: argparse.Namespace) -> int:
    """List models and unfinished downloads, and return the exit code."""
    installed, downloads = installed_models(), stored_downloads(models_folder())
    others = other_models()
    found: dict[str, Any] = {
        "folder": str(models_folder()),
        "bundled": [model.name for model in bundled_models()],
        "models": [_as_json(model) for model in installed],
        "others": [
            {
                "reference": model.reference,
                "source": model.source,
                "location": str(model.location),
                "size_bytes": model.size_bytes,
            }
            for model in others
        ],
        "remote": [
            {"reference": server.reference(model.name), "server": server.name, "context": model.context}
            for server in endpoints()
            for model in server.models
        ],
        "downloads": [
            {
                "name": download.plan.name,
                "repo": download.plan.repo,
                "state": download.stored.state,
                "done_bytes": download.done_bytes(),
                "size_bytes": download.plan.size_bytes,
                "message": download.stored.message,
            }
            for download in downloads
        ],
    }
    if options.pairs:
        from engine.planning.pairs import pairs

        found["pairs"] = [
            {**asdict(pair), "problem": pair.problem or None, "dear": pair.dear or None} for pair in pairs()
        ]
    if as_json(options, found):
        return 0
    for name in found["bundled"]:
        print(f"{name:<40} {title_of_model(name)}, bundled")
    for model in installed:
        print(f"{model.name:<40} {_described(model)}")
    for other in others:
        told = f"{_label(other.reference, other.format)}, {readable(other.size_bytes)}"
        print(f"{other.reference:<40} {told}, from {other.source}")
    for server in endpoints():
        for served in server.models:
            reference = server.reference(served.name)
            print(f"{reference:<40} {title_of_model(reference)}, on {server.address} ({KIND_TITLES[server.kind]})")
    for download in downloads:
        done = f"{readable(download.done_bytes())} of {readable(download.plan.size_bytes)}"
        print(
            f"{download.plan.name:<40} {download.stored.state}, {done}: `tenon models get {download.plan.name}` goes on"
        )
    for pair in found.get("pairs", ()):
        fits = f"fits. {pair['dear']}" if pair["dear"] else "fits"
        print(f"{pair['draft']} for {pair['target']}: {pair['problem'] or fits}")
    return 0


def run_import(options: argparse.Namespace) -> int:
    """Import a model and return the exit code."""
    line = ProgressLine(options.name or options.path[0].name, silent=options.json)
    try:
        record = import_model(
            models_folder(),
            options.path,
            copy=options.copy,
            name=options.name,
            kind=options.kind,
            belongs_to=tuple(options.belongs_to),
            progress=line.show,
        )
    except KeyboardInterrupt:
        print("tenon: Stopped; nothing was imported.", file=sys.stderr)
        return 130
    finally:
        line.end()
    if not as_json(options, record_as_json(record)):
        where = "copied" if record.location is None else f"used in place, from {record.location}"
        print(f"{record.name} is installed: {record.kind}, {readable(record.size_bytes)}, {where}")
    return 0


def run_remove(options: argparse.Namespace) -> int:
    """Remove models or unfinished downloads, and return the exit code."""
    unfinished = {download.plan.name: download for download in stored_downloads(models_folder())}
    results = []
    for name in options.model:
        if name in unfinished and name not in {model.name for model in installed_models()}:
            freed = unfinished[name].done_bytes()
            if not options.dry_run:
                unfinished[name].discard()
            results.append({"name": name, "freed_bytes": freed, "drafts_left": []})
            tell(options, f"{name}: {readable(freed)} of an unfinished download")
            continue
        removal = plan_removal(name)
        names = [removal.name, *(removal.drafts if options.drafts else ())]
        for each in names:
            freed = plan_removal(each).freed_bytes if options.dry_run else remove(each)
            left = [] if options.drafts or each != removal.name else list(removal.drafts)
            results.append({"name": each, "freed_bytes": freed, "drafts_left": left})
            tell(options, f"{each}: {readable(freed)} {'would be freed' if options.dry_run else 'freed'}")
        if removal.kept_location:
            tell(options, f"Its files stay in {removal.kept_location}.")
        if removal.drafts and not options.drafts:
            tell(options, f"Its drafts stay: {', '.join(removal.drafts)}; --drafts removes them too.")
    as_json(options, {"dry_run": options.dry_run, "removed": results})
    return 0


def run_verify(options: argparse.Namespace) -> int:
    """Check models' files; the exit code is 1 if one has changed."""
    named = [installed_model(name) for name in options.model] or [
        model for model in installed_models() if model.record is not None
    ]
    if not named and not options.json:
        print("No model is installed, so there is nothing to check.")
    results, sound = [], True
    for model in named:
        line = ProgressLine(model.name, silent=options.json)
        try:
            checks = verify(model, line.show)
        except KeyboardInterrupt:
            return 130
        finally:
            line.end()
        bad = [check for check in checks if check.state != "ok"]
        sound = sound and not bad
        results.append({"name": model.name, "files": [asdict(check) for check in checks]})
        for check in bad:
            tell(options, f"{model.name}: {check.name} is {check.state}; download or import it again.")
        if not bad:
            what = "its file is what it was" if len(checks) == 1 else f"all {len(checks)} files are what they were"
            tell(options, f"{model.name}: {what}.")
    as_json(options, {"models": results})
    return 0 if sound else 1


def run_folders(options: argparse.Namespace) -> int:
    """Change the folders as asked and list them; return the exit code."""
    try:
        if options.add is not None:
            if not options.add.expanduser().is_dir():
                raise ModelNotFound(say("There is no folder {path}: check the path.", path=options.add))
            add_folder(options.add)
        if options.forget is not None:
            forgotten = str(options.forget.expanduser().absolute())
            if forgotten not in read_folders().added:
                raise ModelNotFound(
                    "The folder {path} was not added: `tenon models folders` names those that were.",
                    path=options.forget,
                )
            forget_folder(forgotten)
    except OSError as error:
        raise FileRefused(say("The list of folders cannot be written ({reason}).", reason=error.strerror)) from error
    if options.move is not None:
        line = ProgressLine(str(options.move), silent=options.json)
        try:
            move_models(options.move, line.show)
        except KeyboardInterrupt:
            goes_on = " The same command goes on." if models_folder() != options.move.absolute() else ""
            print(f"tenon: Stopped; the models are in {models_folder()}.{goes_on}", file=sys.stderr)
            return 130
        finally:
            line.end()
    move = unfinished_move()
    found = {
        "own": str(models_folder()),
        "unfinished_move": None if move is None else str(move.target),
        "others": [{"source": folder.source, "path": str(folder.path)} for folder in other_folders()],
    }
    if as_json(options, found):
        return 0
    print(f"{found['own']}: Tenon's own models")
    if move is not None:
        print(f"  A move to {move.target} is not finished: move there again.")
    for folder in other_folders():
        print(f"{folder.path}: {folder.source or 'added'}")
    return 0


def run_token(options: argparse.Namespace) -> int:
    """Keep or forget the access token, and return the exit code."""
    if options.forget:
        text = "The access token is removed." if forget_token() else "There was no access token."
    else:
        token = getpass.getpass("Access token: ") if sys.stdin.isatty() else sys.stdin.readline()
        keep_token(token)
        text = "The access token is kept in the system's keyring."
    if not as_json(options, {"message": text}):
        print(text)
    return 0


def _as_json(model: InstalledModel) -> dict[str, Any]:
    record = None if model.record is None else record_as_json(model.record)
    return {"name": model.name, "location": str(model.location), "problem": model.problem, "record": record}


def _label(reference: str, type_: str) -> str:
    """Return a model's title, and the type of its weights by its name, else the given one."""
    return f"{title_of_model(reference)}, {type_of_model(reference) or type_}"


def _described(model: InstalledModel) -> str:
    if model.problem is not None:
        return model.problem
    if model.record is None:
        return "put there by hand"
    record = model.record
    label = _label(str(model.location), record.quantization or record.format)
    parts = [label, record.kind, readable(record.size_bytes)]
    if record.loss is not None:
        parts.append(loss_words(record.loss))
    if record.repo is not None:
        parts.append(f"from {record.repo}")
    if record.location is not None:
        parts.append(f"in place at {record.location}")
    return ", ".join(parts)


def run_servers(options: argparse.Namespace) -> int:
    """Change the servers as asked and list them; return the exit code."""
    if options.add is not None:
        warning = _add(options)
        if warning:
            print(warning, file=sys.stderr)
    if options.forget is not None:
        forget_endpoint(options.forget)
    servers = endpoints()
    if as_json(options, {"servers": [_server_as_json(server) for server in servers]}):
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


def _server_as_json(server: Endpoint) -> dict[str, Any]:
    return {
        "name": server.name,
        "address": server.address,
        "kind": server.kind or None,
        "models": [
            {"reference": server.reference(model.name), "name": model.name, "context": model.context}
            for model in server.models
        ],
    }
