"""Logits of packed models after a prompt, a tree and a chain, by whichever torch this process has.

python -m tests.support.packed_logits FILE   # without torch: prints a digest from memory and one from the disk
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path


def digest(path: Path, streams: bool = False) -> str:
    """A digest of all logits, or why the file needs torch; with weights from the disk where it ``streams``."""
    import torch

    from engine.model.config import read_config
    from engine.model.decoder import Decoder
    from engine.model.fused_layer import can_fuse
    from engine.model.packed_loader import load_packed
    from engine.model.token_tree import Draft
    from engine.model.weight_format import stored_format
    from engine.placement.layer_room import OnDisk
    from engine.placement.resident import Resident
    from engine.placement.streamed import Streamed
    from engine.placement.streamed_experts import StreamedExperts
    from engine.weights.checkpoint import Checkpoint

    checkpoint = Checkpoint(path)
    config = read_config(checkpoint)
    if not can_fuse(config) or config.computes_beside_layers:
        return "torch"
    format_ = stored_format(config)
    source: Streamed | StreamedExperts | Resident
    if not streams:
        source = Resident(load_packed(checkpoint, config, format_))
    elif config.mixture is not None:
        source = StreamedExperts(OnDisk(checkpoint, config, format_), 2)
    else:
        source = Streamed(OnDisk(checkpoint, config, format_), {config.layers - 1}, 1)
    decoder = Decoder(config, source)
    cache, found = decoder.new_cache(400), hashlib.sha256()
    prompt = [(7 * at) % 290 + 3 for at in range(60)]
    cache.begin(len(prompt))
    found.update(decoder.forward(torch.tensor(prompt), torch.arange(60), cache).logits.numpy().tobytes())
    cache.commit(range(60))
    tree = Draft((5, 6, 7, 8), (-1, -1, 0, 1))
    rows = torch.tensor([3, *tree.tokens])
    positions = torch.tensor(tree.row_depths) + 60
    found.update(decoder.forward(rows, positions, cache, tree.paths, slice(None)).logits.numpy().tobytes())
    cache.commit([0, 2, 4])
    chain = torch.tensor([at % 250 + 3 for at in range(300)])
    found.update(decoder.forward(chain, torch.arange(63, 363), cache, None, slice(-2, None)).logits.numpy().tobytes())
    cache.commit(range(300))
    cache.truncate(100)
    output = decoder.forward(chain[:2], torch.arange(100, 102), cache, None, torch.tensor([1]), hidden_layers=(1,))
    found.update(output.logits.numpy().tobytes() + output.layer_inputs[1].numpy().tobytes())
    source.release()
    return found.hexdigest()


if __name__ == "__main__":
    from engine import small_torch

    small_torch.install()
    print(digest(Path(sys.argv[1])), digest(Path(sys.argv[1]), streams=True))
