"""``tenon models``: search, fetch, import, list, check and remove models."""

from __future__ import annotations

import argparse
from typing import Any

from engine.cli.subcommand import add_json, count, named, path
from engine.gguf.mixtures import MIXTURES


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser's subcommands."""
    models = commands.add_parser(
        "models",
        help="search, download, import, list, check and remove models",
        description="The models on this machine, those of the hub, and those of servers.",
    )
    models.set_defaults(run=_run)
    actions = models.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    _add_search(actions)
    _add_list(actions)
    _add_get(actions)
    _add_import(actions)
    _add_convert(actions)
    _add_remove(actions)
    _add_verify(actions)
    _add_folders(actions)
    _add_token(actions)
    _add_servers(actions)


def _add_search(actions: Any) -> None:
    search = actions.add_parser("search", help="look in the catalogue and on the hub")
    search.add_argument("text", metavar="TEXT", nargs="*", help="words of the name; none lists the catalogue")
    search.add_argument(
        "--format",
        choices=("any", "gguf", "safetensors"),
        default="any",
        help="what the hub is asked for (default: %(default)s)",
    )
    search.add_argument("--author", metavar="NAME", help="a user or an organization of the hub")
    search.add_argument(
        "--limit", metavar="N", type=count, default=20, help="most results of the hub (default: %(default)s)"
    )
    search.add_argument("--offline", action="store_true", help="look in the catalogue alone")
    add_json(search)


def _add_list(actions: Any) -> None:
    list_ = actions.add_parser("list", help="the installed models and unfinished downloads")
    list_.add_argument(
        "--pairs",
        action="store_true",
        help="also say which drafts work with which models, and why others do not",
    )
    add_json(list_)


def _add_get(actions: Any) -> None:
    get = actions.add_parser(
        "get",
        help="download a model, or go on with an unfinished download",
        description="Download a model. Ctrl+C pauses; the same command goes on.",
    )
    get.add_argument(
        "model",
        metavar="MODEL",
        nargs="+",
        help="a name of the catalogue, owner/name, owner/name/FILE.gguf, or an unfinished one",
    )
    get.add_argument(
        "--format",
        choices=("auto", "gguf", "safetensors"),
        default="auto",
        help="auto takes GGUF where there is some (default: %(default)s)",
    )
    get.add_argument(
        "--quantization", metavar="Q", help="of a GGUF file, such as Q8_0 (default: Q4_K_M or the nearest)"
    )
    get.add_argument("--revision", metavar="REV", default="main", help="a branch, tag or commit (default: %(default)s)")
    _add_kind(get)
    get.add_argument("--name", metavar="NAME", type=named, help="what to call it (default: the repository's name)")
    get.add_argument("--dry-run", action="store_true", help="say what would be downloaded")
    add_json(get)


def _add_kind(action: argparse.ArgumentParser) -> None:
    kinds = ("target", "draft", "head")
    action.add_argument("--kind", choices=kinds, help="what it is for (default: found out)")


def _add_import(actions: Any) -> None:
    import_ = actions.add_parser("import", help="use a model that is on this machine already")
    import_.add_argument(
        "path", metavar="PATH", nargs="+", type=path, help="a folder, a GGUF file, or the files of one model"
    )
    import_.add_argument("--copy", action="store_true", help="copy the files (default: use them where they are)")
    import_.add_argument(
        "--name", metavar="NAME", type=named, help="what to call it (default: the folder's or file's name)"
    )
    _add_kind(import_)
    import_.add_argument(
        "--for",
        dest="belongs_to",
        metavar="MODEL",
        action="append",
        default=[],
        help="a model that it drafts for",
    )
    add_json(import_)


def _add_convert(actions: Any) -> None:
    convert = actions.add_parser(
        "convert",
        help="write a smaller copy of a model, and measure what it loses",
        description="Write a GGUF file in another type from a model in F16, BF16 or F32, safetensors or GGUF. Columns "
        "count by what they are multiplied with while the model reads a text. Ctrl+C stops; the same command goes on.",
    )
    convert.add_argument(
        "model", metavar="FILE_OR_MODEL", type=named, help="a folder, a GGUF file or an installed name"
    )
    convert.add_argument(
        "--to", metavar="TYPE", type=named, default="q4_k_m", help=f"{', '.join(MIXTURES)} (default: %(default)s)"
    )
    convert.add_argument(
        "--out", metavar="FILE", type=path, help="the GGUF file to write (default: it becomes an installed model)"
    )
    convert.add_argument(
        "--name", metavar="NAME", type=named, help="what to call it (default: the model's name and the type)"
    )
    convert.add_argument(
        "--calibrate",
        metavar="FILE",
        type=path,
        help="a text that shows what counts, and what the loss is measured on (default: the model's own replies)",
    )
    add_json(convert)


def _add_remove(actions: Any) -> None:
    remove = actions.add_parser("remove", help="remove models, or unfinished downloads")
    remove.add_argument("model", metavar="MODEL", nargs="+", help="an installed model's name")
    remove.add_argument("--drafts", action="store_true", help="also the drafts and heads that belong to it alone")
    remove.add_argument("--dry-run", action="store_true", help="say what would be removed, and what that frees")
    add_json(remove)


def _add_verify(actions: Any) -> None:
    verify = actions.add_parser("verify", help="hash the files again and compare")
    verify.add_argument("model", metavar="MODEL", nargs="*", help="installed models' names (default: all)")
    add_json(verify)


def _add_folders(actions: Any) -> None:
    folders = actions.add_parser(
        "folders",
        help="the folders that models lie in: add one, or move Tenon's own",
        description="Folders of other programs and added ones are read where they are, and never changed. Close "
        "Tenon's window before its own models are moved.",
    )
    one = folders.add_mutually_exclusive_group()
    one.add_argument("--add", metavar="FOLDER", type=path, help="read the models of another folder")
    one.add_argument("--forget", metavar="FOLDER", type=path, help="read an added folder no longer")
    folders.add_argument(
        "--move",
        metavar="FOLDER",
        type=path,
        help="move Tenon's own models to an empty folder; the same command goes on after a stop",
    )
    add_json(folders)


def _add_token(actions: Any) -> None:
    token = actions.add_parser(
        "token",
        help="keep an access token for gated models in the system's keyring",
        description="Reads the token from standard input, or asks for it without showing it.",
    )
    token.add_argument("--forget", action="store_true", help="remove it from the keyring")
    add_json(token)


def _add_servers(actions: Any) -> None:
    servers = actions.add_parser(
        "servers",
        help="the servers whose models are used like those of this machine: add one, or forget it",
        description="vLLM, SGLang, llama.cpp, Ollama, LM Studio, another Tenon, and whatever else speaks OpenAI's "
        "protocol. What you write to one of their models is sent to its address.",
    )
    one = servers.add_mutually_exclusive_group()
    one.add_argument(
        "--add", metavar="ADDRESS", help="ask a server for its models and keep it, such as http://desk:8000"
    )
    servers.add_argument("--name", metavar="NAME", type=named, help="what to call it (default: its host)")
    servers.add_argument(
        "--key",
        action="store_true",
        help="it wants a key, which is read from standard input, or asked for without showing it, and kept in the "
        "system's keyring",
    )
    one.add_argument("--forget", metavar="NAME", help="forget a server and its key")
    add_json(servers)


def _run(options: argparse.Namespace) -> int:
    # The hub's client library takes a while to import.
    from engine.cli import download, installed

    if options.action == "convert":  # imports torch
        from engine.cli.convert import run_convert

        return run_convert(options)
    module = download if options.action in ("search", "get") else installed
    return int(getattr(module, f"run_{options.action}")(options))
