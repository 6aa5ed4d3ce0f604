"""Run llama.cpp's own converter on several checkpoints: ``python converter.py LLAMA_CPP JOBS``.

JOBS is a JSON file with a list of objects: ``folder``, ``out``, ``pre``, the converter's ``options``, and ``raw``, true
to read a config without transformers, which does not know it. The converter
tells a vocabulary by a digest of how it splits a text, so one that stands in for a family's own is told by ``pre``. It
reads SentencePiece's files with a package that is not here, so ``tokenizer.model`` is a JSON list of pieces, each with
its score and its kind.
"""

from __future__ import annotations

import importlib
import json
import sys
import types
from pathlib import Path
from typing import Any


class SentencePieceProcessor:
    """The calls that the converter makes of SentencePiece's own."""

    def LoadFromFile(self, path: str) -> None:
        self._pieces = json.loads(Path(path).read_text(encoding="utf-8"))

    def vocab_size(self) -> int:
        return len(self._pieces)

    def IdToPiece(self, index: int) -> str:
        return str(self._pieces[index][0])

    def GetScore(self, index: int) -> float:
        return float(self._pieces[index][1])

    def IsUnknown(self, index: int) -> bool:
        return bool(self._pieces[index][2] == 2)

    def IsControl(self, index: int) -> bool:
        return bool(self._pieces[index][2] == 3)

    def IsUnused(self, index: int) -> bool:
        return bool(self._pieces[index][2] == 5)

    def IsByte(self, index: int) -> bool:
        return bool(self._pieces[index][2] == 6)


def main(llama_cpp: str, jobs: str) -> None:
    # It looks for packages itself, and the stand-in is none.
    importlib.import_module("transformers").AutoConfig  # noqa: B018
    stand_in: Any = types.ModuleType("sentencepiece")
    stand_in.SentencePieceProcessor = SentencePieceProcessor
    sys.modules["sentencepiece"] = stand_in
    sys.path.insert(0, llama_cpp)
    import convert_hf_to_gguf
    from conversion import base
    from conversion.base import TextModel

    failed = []
    known = base.AutoConfig
    by_digest = TextModel.get_vocab_base_pre
    for job in json.loads(Path(jobs).read_text(encoding="utf-8")):

        def name(self: Any, tokenizer: Any, job: Any = job) -> str:
            return str(job["pre"] or by_digest(self, tokenizer))

        TextModel.get_vocab_base_pre = name
        base.AutoConfig = None if job.get("raw") else known
        sys.argv = ["convert_hf_to_gguf.py", job["folder"], "--outfile", job["out"], "--outtype", "bf16"]
        sys.argv += job.get("options", ())
        try:
            convert_hf_to_gguf.main()
        except Exception as error:  # the others are converted all the same
            failed.append(f"{job['folder']}: {error!r}")
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main(*sys.argv[1:])
