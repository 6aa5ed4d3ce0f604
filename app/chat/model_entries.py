"""Models as the window shows them, in the catalogue, on the hub or on this computer, and those that are recommended."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Literal

from app.words import mark
from engine.messages import DownloadStatus, Prediction

_EASY_SHARE = 0.5

# Slower than this is slower than most people read.
_READING_TOKENS_PER_S = 5.0
# Slower than this is no conversation.
_BEARABLE_TOKENS_PER_S = 2.0
# Smaller models answer fast, and wrong too often to be recommended while a larger one runs.
_LEAST_PARAMETERS = 1_000_000_000
# A smaller model that is hardly faster is no choice of its own.
_WORTHWHILE = 1.15
_MOST = 3


def model_path(path: Path) -> Path | None:
    """Model to open for a file or a folder that somebody hands over; None where it is none."""
    kind = path.suffix.lower()
    try:
        if kind == ".safetensors" and path.is_file():
            return path.parent  # its config lies beside it
        return path if path.is_dir() or (kind == ".gguf" and path.is_file()) else None
    except (OSError, ValueError):  # a name that no file can have
        return None


class Fit(Enum):
    """Fit of a model in memory."""

    EASY = "easy"
    FITS = "fits"
    DISK = "disk"
    NO = "no"


def fit_of(prediction: Prediction) -> Fit:
    """Fit of a model in memory."""
    if prediction.problem or prediction.mode is None:
        return Fit.NO
    if prediction.from_disk:
        return Fit.DISK
    easy = prediction.memory_bytes <= _EASY_SHARE * prediction.room_bytes
    return Fit.EASY if easy else Fit.FITS


@dataclass(frozen=True)
class ListedModel:
    """A model that can be fetched: from the catalogue, or found on the hub.

    Attributes:
        reference: Name that fetches it: one of the catalogue, or ``owner/name``.
        title: For people.
        owner: Who published it.
        licence: Licence as the hub names it; empty where it is not known.
        size_bytes: About how much is fetched; None while that is not known.
        parameters: Number of weights, where it is known.
        active_parameters: Parameters that a token takes in a mixture of experts, if known.
        gated: True if terms have to be accepted first.
        chat: True if it is made for conversations.
        drafts: Names of the catalogue's small models that can guess for it, smallest first.
        heads: Repositories of draft heads that were made for it.
        about: One sentence; empty where there is none.
        catalogued: True if it is one of the catalogue's.
        older: There are better ones of its size by now.
        tried: Tenon's tests run files like its own.
        problem: The reason why Tenon does not run it; empty where nothing speaks against it.
        repos: Repositories of its weights.
    """

    reference: str
    title: str
    owner: str
    licence: str = ""
    size_bytes: int | None = None
    parameters: int | None = None
    active_parameters: int | None = None
    gated: bool = False
    chat: bool = True
    drafts: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    about: str = ""
    catalogued: bool = False
    older: bool = False
    tried: bool = True
    problem: str = ""
    repos: tuple[str, ...] = ()

    @property
    def has_draft(self) -> bool:
        """True if something that guesses for it is known."""
        return bool(self.drafts or self.heads)


@dataclass(frozen=True)
class InstalledEntry:
    """A model of this computer.

    Attributes:
        name: Name.
        ref: Value for `LoadOptions.model`.
        kind: Purpose.
        format: Format of its weights, or its quantization; empty where that is not known.
        size_bytes: Size of its files; None where that is not known.
        licence: Licence as the hub names it; empty where it is not known.
        repo: Repository on the hub; empty for an imported one.
        catalogue_name: Name in the catalogue; empty where it is not there.
        in_place: True if its files are used where they are.
        bundled: True if it ships with Tenon.
        source: Whose folder it lies in, where Tenon reads and never writes; empty for Tenon's own.
        place: Folder or file, or its server's address; empty where the reference says it.
        server: The server that has it; empty for a model whose files are here.
        recorded: True if its files can be checked against what they were.
        problem: The reason why it cannot be used; empty where nothing is known to be wrong.
    """

    name: str
    ref: str
    kind: Literal["target", "draft", "head"] = "target"
    format: str = ""
    size_bytes: int | None = None
    licence: str = ""
    repo: str = ""
    catalogue_name: str = ""
    in_place: bool = False
    bundled: bool = False
    source: str = ""
    place: str = ""
    server: str = ""
    recorded: bool = True
    problem: str = ""

    def comes_from(self, model: ListedModel) -> bool:
        """Return True if it is a copy of a model that can be fetched."""
        return model.reference == self.catalogue_name or (bool(self.repo) and self.repo in model.repos)


@dataclass(frozen=True)
class ServerEntry:
    """A server that was asked and is kept.

    Attributes:
        name: Name.
        models: Number of its models.
        warning: A sentence about a key that others can read on its way; empty for none.
    """

    name: str
    models: int
    warning: str = ""


@dataclass(frozen=True)
class FolderEntry:
    """A folder that models lie in.

    Attributes:
        path: Path.
        source: The program whose it is; empty for Tenon's own, and for one that the user added.
        own: True if it is Tenon's own.
        missing: True if it is not there now.
    """

    path: str
    source: str = ""
    own: bool = False
    missing: bool = False

    @property
    def added(self) -> bool:
        """True if the user added it, and can take it out again."""
        return not (self.own or self.source)


@dataclass(frozen=True)
class Missed:
    """A download that did not come into the queue: the hub could not be asked, or there is no room.

    Attributes:
        model: The model that was wanted.
        with_draft: True if its first draft was to come along.
        draft_for: Name of an installed model that it was to guess for; empty for none.
        message: The reason why it did not begin.
    """

    model: ListedModel
    with_draft: bool
    draft_for: str
    message: str

    @property
    def entry(self) -> DownloadStatus:
        """Entry of the list of downloads."""
        repo = next(iter(self.model.repos), self.model.reference)
        return DownloadStatus(self.model.title, repo, "failed", 0, 0, message=self.message)


@dataclass(frozen=True)
class OfferEntry:
    """Content of a model's download, as the hub says it.

    Attributes:
        reference: Name that was asked for.
        name: Name here.
        repo: Repository.
        licence: Licence as the hub names it; empty where it states none.
        size_bytes: Size of its files.
        gated: True if terms have to be accepted first.
        page: Page on the hub.
        quantization: Quantization of its weights; empty where they have none.
        quantizations: Available quantizations, the smallest first.
        drafts: Drafts that could be fetched along.
        free_bytes: Free bytes of the disk, without what is queued.
        has_token: True if an access token is kept.
    """

    reference: str
    name: str
    repo: str
    licence: str
    size_bytes: int
    gated: bool
    page: str
    quantization: str
    quantizations: tuple[str, ...]
    drafts: tuple[DraftOffer, ...]
    free_bytes: int
    has_token: bool


@dataclass(frozen=True)
class DraftOffer:
    """A draft that could be fetched along with a model.

    Attributes:
        reference: A name of the catalogue, or a head's repository.
        title: For people.
        is_head: True if it is a head and no whole model.
        size_bytes: About how large it is; None where that is not known.
    """

    reference: str
    title: str
    is_head: bool = False
    size_bytes: int | None = None


@dataclass(frozen=True)
class RemovalEntry:
    """Consequences of removing a model.

    Attributes:
        name: The model.
        freed_bytes: Freed bytes of the disk.
        kept_location: Place of files that are used in place and stay; empty where there are none.
        drafts: Drafts that belong to it and to no other installed model, with what removing them would free.
    """

    name: str
    freed_bytes: int
    kept_location: str
    drafts: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class ImportEntry:
    """Content of an import of a folder or files.

    Attributes:
        paths: The files that were chosen.
        name: Name that it would get.
        format: Format of its weights.
        size_bytes: Size of its files, which a copy takes of the disk.
        free_bytes: Free bytes of that disk.
    """

    paths: tuple[str, ...]
    name: str
    format: str
    size_bytes: int
    free_bytes: int


class Strength(Enum):
    """Reasons to recommend a model."""

    CAPABLE = mark("Most capable")
    BALANCED = mark("Balanced")
    FAST = mark("Fastest")


@dataclass(frozen=True)
class Recommendation:
    """A model for this computer."""

    model: ListedModel
    strength: Strength


def recommend(
    models: Sequence[ListedModel], predictions: Mapping[str, Prediction]
) -> tuple[Recommendation, ...]:
    """Up to three models that fit in memory: the largest at reading speed, the fastest, and one between the two.

    Each is larger and slower than the next. Where fewer than three of them are large enough to be of use and fast
    enough to read along, larger ones come in while they are bearable, then smaller ones.

    A model of the catalogue without a prediction, by its reference, is not recommended; nor is one whose files are like
    none that the tests run, or of which there are better ones by now, where such a one fits.
    """

    def speed(model: ListedModel) -> float:
        return predictions[model.reference].tokens_per_second or 0.0

    def size(model: ListedModel) -> int:
        return model.parameters or 0

    fitting = [model for model in models if model.tried and fits(predictions.get(model.reference))]
    fitting = [model for model in fitting if not model.older] or fitting
    ladder: list[ListedModel] = []  # from large and slow to small and fast
    for model in sorted(fitting, key=lambda model: (-size(model), -speed(model), model.reference)):
        if not ladder or speed(model) > _WORTHWHILE * speed(ladder[-1]):
            ladder.append(model)
    if not ladder:
        return ()
    last = len(ladder) - 1
    largest = next((at for at, model in enumerate(ladder) if speed(model) >= _READING_TOKENS_PER_S), last)
    useful = [at for at, model in enumerate(ladder) if size(model) >= _LEAST_PARAMETERS]
    fastest = max(largest, max(useful, default=last))
    while (
        fastest - largest + 1 < _MOST and largest > 0 and speed(ladder[largest - 1]) >= _BEARABLE_TOKENS_PER_S
    ):
        largest -= 1
    fastest = min(max(fastest, largest + _MOST - 1), last)
    capable, fast = ladder[largest], ladder[fastest]
    if largest == fastest:
        return (Recommendation(capable, Strength.CAPABLE),)
    middle = math.sqrt(max(speed(capable), 0.1) * max(speed(fast), 0.1))
    between = min(
        ladder[largest + 1 : fastest],
        key=lambda model: abs(math.log(max(speed(model), 0.1) / middle)),
        default=None,
    )
    found = [Recommendation(capable, Strength.CAPABLE), Recommendation(fast, Strength.FAST)]
    if between is not None:
        found.insert(1, Recommendation(between, Strength.BALANCED))
    return tuple(found)


def fits(prediction: Prediction | None) -> bool:
    """Return True if a model is predicted to run from memory."""
    return prediction is not None and fit_of(prediction) in (Fit.EASY, Fit.FITS)
