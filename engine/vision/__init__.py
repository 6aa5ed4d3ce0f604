"""Towers, which turn pictures into rows for a decoder. Each family of towers is a file with a `Sight`."""

from __future__ import annotations

from engine.vision import gemma3, gemma4, lfm2, muse, pixtral, qwen, smolvlm
from engine.vision.tower import Sight

SIGHTS: dict[str, Sight] = {
    sight.projector: sight
    for sight in (
        *(module.SIGHT for module in (gemma3, gemma4, lfm2, muse, pixtral, qwen, smolvlm)),
        gemma4.UNIFIED,
    )
}
"""Families of towers by llama.cpp's names of their projectors, which families of decoders name (`Family.sights`)."""
