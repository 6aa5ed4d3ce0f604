"""The sizes and rates of the guide and its draft, and where their files are kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import platformdirs

from engine.training.network import Shape

VOCABULARY_SIZE = 4096
CONTEXT = 2048
ASSETS = Path(__file__).parents[3] / "assets" / "models"
TARGET_FOLDER, DRAFT_FOLDER = "guide", "guide-draft"
TARGET = Shape(VOCABULARY_SIZE, 256, 768, 5, 4, 2, CONTEXT)
DRAFT = Shape(VOCABULARY_SIZE, 128, 384, 3, 4, 2, CONTEXT)
TOKENS_PER_BATCH = {"guide": 6000, "playground": 4500}
LOSS_SHARES = {"guide": 0.6, "playground": 0.4}
TARGET_MINUTES, DRAFT_MINUTES = 92.0, 11.0
SEED = 1


def default_work_folder() -> Path:
    """Where checkpoints are kept between runs."""
    return Path(platformdirs.user_cache_dir("tenon")) / "train-guide"


@dataclass(frozen=True)
class Work:
    """The work folder of one training."""

    folder: Path

    @property
    def tokenizer(self) -> Path:
        """The learned tokenizer."""
        return self.folder / "tokenizer.json"

    @property
    def target(self) -> Path:
        """The target's checkpoint."""
        return self.folder / "target.pt"

    @property
    def draft(self) -> Path:
        """The draft's checkpoint."""
        return self.folder / "draft.pt"
