"""Makes a large model that computes what a small one computes, so that speed can be measured on real replies.

    python -m tests.benchmarks.inflate --model FOLDER --parameters 1e9 --out FOLDER
    python -m tests.benchmarks.inflate --model DRAFT --target INFLATED --out FOLDER    # its head or prompt tokens

The result has the sizes, the bytes and the cost of a real model and says word for word what the small one says.
Layers are added that write nothing, the feed-forward network and the attention get units and heads that nobody reads,
and the residual stream gets channels that stay zero (`inflate_tensor`). Norm weights are stored in float32, so a
model whose weights were bfloat16 loses nothing in a bfloat16 file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from engine.errors import TenonError
from engine.hub.installed import find_model
from engine.model.config import read_config
from engine.weights.checkpoint import Checkpoint
from tests.benchmarks.inflate_draft import inflate_draft
from tests.benchmarks.inflate_model import inflate_model
from tests.benchmarks.inflate_shape import choose_shape, parameter_count

DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}


def main(arguments: list[str] | None = None) -> int:
    """Inflate what the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.inflate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--model", required=True, help="a checkpoint's folder or name")
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--parameters", type=float, help="how many the result is to have, such as 1e9")
    size.add_argument("--target", type=Path, help="inflate a head or prompt tokens for this inflated model")
    parser.add_argument("--out", type=Path, required=True, help="the result's folder")
    parser.add_argument(
        "--dtype", choices=DTYPES, default="bf16", help="of the matrices (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    dtype = DTYPES[options.dtype]
    try:
        folder = find_model(options.model)
        if options.target is not None:
            count = inflate_draft(folder, options.target, options.out, dtype)
        else:
            shape = choose_shape(read_config(Checkpoint(folder)), options.parameters)
            count = parameter_count(inflate_model(folder, options.out, shape, dtype))
    except TenonError as error:
        print(f"inflate: {error.message}", file=sys.stderr)
        return error.exit_code
    print(f"{count:,} parameters in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
