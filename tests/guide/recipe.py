"""The sizes and rates of the guide and its draft, and where their files are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import platformdirs

from engine.training.llama_network import Network, Shape
from engine.training.trainer import Schedule
from tests.guide.checkpoint_folder import read_weights

VOCABULARY_SIZE = 4096
CONTEXT = 2048
ASSETS = Path(__file__).parent / "models"
TARGET_FOLDER, DRAFT_FOLDER = "guide", "guide-draft"
TARGET = Shape(VOCABULARY_SIZE, 256, 768, 5, 4, 2, CONTEXT)
DRAFT = Shape(VOCABULARY_SIZE, 128, 384, 3, 4, 2, CONTEXT)
TOKENS_PER_BATCH = {"guide": 6000, "playground": 4500}
LOSS_SHARES = {"guide": 0.6, "playground": 0.4}
TARGET_MINUTES, DRAFT_MINUTES = 92.0, 11.0
# Of a model that learned nearly all of it before: the rates, as a share of the usual ones, and the time.
WARM_RATE = 0.5
WARM_TARGET_MINUTES, WARM_DRAFT_MINUTES = 50.0, 8.0
SEED = 1


def default_work_folder() -> Path:
    """Folder of checkpoints between runs."""
    return Path(platformdirs.user_cache_dir("tenon")) / "train-guide"


@dataclass(frozen=True)
class Work:
    """The work folder of one training.

    Attributes:
        folder: The folder of checkpoints.
        start_from: A folder of finished models to go on from; None starts at random.
    """

    folder: Path
    start_from: Path | None = None

    def schedule(self, minutes: float | None, cold: float, warm: float) -> Schedule:
        """Length and rates of training; ``minutes`` where it is given, else as the start asks for."""
        if self.start_from is None:
            return Schedule(minutes or cold)
        usual = Schedule(minutes or warm)
        return replace(
            usual, matrix_rate=usual.matrix_rate * WARM_RATE, other_rate=usual.other_rate * WARM_RATE
        )

    def begin(self, network: Network, model: str) -> None:
        """Give a network the weights to go on from, where there are any."""
        if self.start_from is not None:
            read_weights(network, self.start_from / model)

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
