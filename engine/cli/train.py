"""``tenon train``: train a draft for a model, or search the tree of its Medusa heads or prompt tokens."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from engine.cli.subcommand import add_model_option, add_threads_option, path

if TYPE_CHECKING:
    from engine.training.making import TextRequest

R = TypeVar("R", bound="TextRequest")


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser's subcommands."""
    train = commands.add_parser("train", help="train a draft for a model", description="Train a draft.")
    kinds = train.add_subparsers(title="what to train", metavar="WHAT", required=True)
    draft = kinds.add_parser(
        "draft",
        help="a draft that guesses a model's next tokens",
        description="Train a feature draft, Medusa heads, prompt tokens or a small model for a model, on its own "
        "replies or on texts and chats. Ctrl+C ends it early and keeps the best so far.",
    )
    draft.set_defaults(run=_train_draft)
    _add_texts(draft, 30.0)
    draft.add_argument(
        "--kind",
        choices=("feature", "medusa", "prompt-tokens", "small"),
        default="feature",
        help="feature guesses step by step, medusa all tokens at once, prompt-tokens within the model's own pass, "
        "small is a model of its own (default: %(default)s)",
    )
    draft.add_argument(
        "--heads",
        metavar="K",
        type=int,
        help="of medusa and prompt-tokens: tokens ahead, 1 to 16 (default: 4 and 3)",
    )
    draft.add_argument(
        "--head",
        choices=("own", "shared"),
        default="shared",
        help="of medusa: output maps of their own, which are large, or the model's (default: %(default)s)",
    )
    draft.add_argument(
        "--members",
        metavar="N",
        type=int,
        default=1,
        help="of prompt-tokens: embeddings of each, whose guesses are averaged, 1 to 31 (default: %(default)s)",
    )
    draft.add_argument(
        "--mask",
        choices=("ensemble", "decoder", "encoder"),
        default="ensemble",
        help="of prompt-tokens: which of these embeddings see each other (default: %(default)s)",
    )
    draft.add_argument(
        "--loss",
        choices=("forward", "reverse", "hard"),
        default="forward",
        help="of prompt-tokens: the divergence from the model's predictions, either way round, or from its words "
        "(default: %(default)s)",
    )
    draft.add_argument(
        "--blocks",
        metavar="M",
        type=int,
        default=1,
        help="transformer blocks, or residual blocks of each head of medusa, 1 to 6 (default: %(default)s)",
    )
    draft.add_argument(
        "--width",
        metavar="N",
        type=int,
        default=128,
        help="of small: its hidden size, a multiple of 64 (default: %(default)s)",
    )
    draft.add_argument(
        "--fusion",
        choices=("dovetail", "eagle"),
        default="eagle",
        help="of feature: eagle concatenates features and tokens, dovetail has a gate (default: %(default)s)",
    )
    draft.add_argument(
        "--vocabulary",
        metavar="N",
        type=int,
        default=8192,
        help="draft the N most frequent tokens only, 0 for all (default: %(default)s)",
    )
    draft.add_argument(
        "--out",
        metavar="FOLDER",
        type=path,
        required=True,
        help="the draft's folder; goes on from a draft of this shape",
    )
    tree = kinds.add_parser(
        "tree",
        help="the tree of guesses that a model checks at once, for its Medusa heads or prompt tokens",
        description="Search the tree that the modes ghidorah and ppd follow, on the model's own replies or on chats, "
        "and keep it for this model and this draft.",
    )
    tree.set_defaults(run=_search_tree)
    _add_texts(tree, 5.0)
    tree.add_argument(
        "--draft",
        metavar="MODEL",
        required=True,
        help="Medusa heads or prompt tokens: a folder, or an installed name",
    )


def _add_texts(parser: argparse.ArgumentParser, minutes: float) -> None:
    add_model_option(parser)
    parser.add_argument(
        "--data",
        metavar="FILE",
        type=path,
        help="a JSON object with a text or a chat on each line (default: the model writes all of them itself)",
    )
    parser.add_argument(
        "--generate",
        metavar="N",
        type=int,
        help="let the model write at most N texts itself, to the requests of --data where that is given",
    )
    parser.add_argument(
        "--texts",
        metavar="FOLDER",
        type=path,
        help="keep what the model writes, and take what was kept before",
    )
    parser.add_argument(
        "--minutes",
        metavar="T",
        type=float,
        default=minutes,
        help="time for writing and what follows together (default: %(default)g)",
    )
    add_threads_option(parser)
    parser.add_argument("--seed", metavar="S", type=int, default=1, help="the same seed starts the same way")


def _request(kind: type[R], options: argparse.Namespace) -> R:
    """Return a request whose fields have the options' names."""
    return kind(**{field.name: getattr(options, field.name) for field in fields(kind)})


def _search_tree(options: argparse.Namespace) -> int:
    from engine.training.calibration import TreeRequest, run

    try:
        run(_request(TreeRequest, options), sys.stderr)
    except KeyboardInterrupt:
        print("tenon: Stopped; the tree is as it was before.", file=sys.stderr)
        return 130
    return 0


def _train_draft(options: argparse.Namespace) -> int:
    from engine.training.making import TrainRequest, run

    try:
        return 0 if run(_request(TrainRequest, options), sys.stderr) else 130
    except KeyboardInterrupt:
        print("tenon: Stopped before there was anything to keep.", file=sys.stderr)
        return 130
