"""config.json and generation_config.json of several families."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from engine.errors import TenonError
from engine.model.config import read_config
from engine.weights.checkpoint import CheckpointOutline
from tests.fuzz.asked_engine import AskedEngine
from tests.fuzz.models import VARIANTS, write_small
from tests.fuzz.mutation import damaged_json
from tests.fuzz.sentence import check_sentence


class Target:
    """One damaged config in an otherwise good folder."""

    def __init__(self, folder: Path) -> None:
        self._folders = [write_small(folder / variant, variant) for variant in VARIANTS]
        self._configs = [_json(place / "config.json") for place in self._folders]
        self._generation = _json(self._folders[0] / "generation_config.json") | {
            "do_sample": True, "temperature": 0.7, "top_k": 20, "top_p": 0.9, "eos_token_id": [2, 5],
        }  # fmt: skip
        self._engine = AskedEngine(folder / "models")
        assert all(self._engine.ask(place) for place in self._folders)

    def run(self, random: Random) -> None:
        number = random.randrange(len(self._folders))
        place, config = self._folders[number], self._configs[number]
        which = random.randrange(8)
        changed = json.dumps(config).encode() if which == 0 else damaged_json(random, config)
        (place / "config.json").write_bytes(changed)
        settings = json.dumps(self._generation).encode() if which > 1 else damaged_json(random, self._generation)
        (place / "generation_config.json").write_bytes(settings)
        try:
            read_config(CheckpointOutline(place))
        except TenonError as error:
            check_sentence(error)
        self._engine.ask(place)

    def close(self) -> None:
        self._engine.close()


def _json(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))
