"""Tensors in pieces: what was read for one layer is not kept while the next is read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

ROOT = Path(__file__).resolve().parents[3]
# Layer after layer as a load does, with what stays of each between the pieces of one and the next.
PROGRAM = """
import sys
from pathlib import Path
import psutil, torch
from engine.weights.checkpoint import Checkpoint
from engine.weights.direct_reader import read_pieces

checkpoint = Checkpoint(Path(sys.argv[1]))
process, kept, names = psutil.Process(), [], sorted(checkpoint.names)
sizes = []
for name in names:
    for piece in read_pieces(checkpoint.files, [checkpoint.stored(name)], lambda: None):
        kept.append(torch.empty(2048, dtype=torch.uint8))
    sizes.append(process.memory_info().rss)
print(sizes[-1] - sizes[2])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="how glibc's heap grows")
def test_a_load_of_many_layers_takes_no_more_memory_than_one(tmp_path: Path) -> None:
    layers = {f"layers.{index}.weight": torch.zeros(3000 + 8 * index, 1024) for index in range(24)}
    save_file(layers, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"architectures": ["LlamaForCausalLM"]}', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 24e6
