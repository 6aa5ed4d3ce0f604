"""A GGUF model with more units in its feed-forward networks that says what it said: real text at a large model's cost.

    python -m tests.benchmarks.widened_model --model FILE.gguf --parameters 1e9 --out FILE.gguf

Every block stays as it is. Gate and up get copies of their rows until there are as many as asked for, and down columns
of zeros beside its own: what the copies compute is read and computed, and then counts for nothing. The hidden size
stays, so a draft head of the small model runs on the large one as it is. A published model of as many parameters would
be wider there, and a head for it larger.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import gguf
import numpy

_WIDE, _DOWN = ("ffn_gate.weight", "ffn_up.weight"), "ffn_down.weight"
_UNITS = 256


def widen(model: Path, out: Path, parameters: float) -> int:
    """Write the wider model.

    Args:
        model: A Llama in GGUF whose down projections have blocks of 32 columns.
        out: The file to write.
        parameters: About how many it is to have.

    Returns:
        Number of its parameters.
    """
    reader = gguf.GGUFReader(model)
    architecture = reader.fields["general.architecture"].contents()
    field = f"{architecture}.feed_forward_length"
    units = int(reader.fields[field].contents())
    own = sum(int(tensor.n_elements) for tensor in reader.tensors)
    wide = sum(int(tensor.n_elements) for tensor in reader.tensors if tensor.name.endswith((*_WIDE, _DOWN)))
    wanted = round(units * (1 + (parameters - own) / wide) / _UNITS) * _UNITS
    if wanted < units:
        raise ValueError(f"the model has {own:.3g} parameters already")
    writer = gguf.GGUFWriter(out, architecture)
    for name, value in reader.fields.items():
        if name.startswith("GGUF.") or name == "general.architecture":
            continue
        kinds = value.types
        inner = kinds[-1] if kinds[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, wanted if name == field else value.contents(), kinds[0], inner)
    for tensor in reader.tensors:
        data = numpy.asarray(tensor.data)
        if tensor.name.endswith(_WIDE):
            data = data[numpy.arange(wanted) % units]
        elif tensor.name.endswith(_DOWN):
            # A block of zero bytes is one of zeros in every type.
            data = numpy.pad(data, ((0, 0), (0, data.shape[1] * (wanted - units) // units)))
        writer.add_tensor(tensor.name, data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return own + wide * (wanted - units) // units


def main() -> None:
    """Widen what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--parameters", type=float, default=1e9)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    count = widen(options.model, options.out, options.parameters)
    print(f"{count:,} parameters in {options.out}")


if __name__ == "__main__":
    main()
