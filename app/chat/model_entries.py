"""Models as the window shows them, in the catalogue, on the hub or on this computer, and those that are recommended."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Literal

from app.words import mark
from engine.hub.titles import title_of_model
from engine.messages import DownloadStatus, Prediction

_EASY_SHARE = 0.5

# Slower than this is slower than most people read.
_READING_TOKENS_PER_S = 5.0
# Slower than this is no conversation.
_BEARABLE_TOKENS_PER_S = 2.0
_LONGEST_FIRST_WORD_S = 10.0
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
    """A model that can be fetched: from the catalogue, or found on the hub."""

    reference: str  # name that fetches it: one of the catalogue, or ``owner/name``
    title: str  # for people
    owner: str  # who published it
    licence: str = ""  # licence as the hub names it; empty where it is not known
    size_bytes: int | None = None  # about how much is fetched; None while that is not known
    parameters: int | None = None  # number of weights, where it is known
    active_parameters: int | None = None  # parameters that a token takes in a mixture of experts, if known
    gated: bool = False  # True if terms have to be accepted first
    chat: bool = True  # True if it is made for conversations
    # Names of the catalogue's small models that can guess for it, smallest first
    drafts: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()  # repositories of draft heads that were made for it
    own_head: bool = False  # True if it comes with a layer that guesses for it (MTP)
    about: str = ""  # one sentence; empty where there is none
    sees: bool = False  # True if it takes pictures, as far as the catalogue knows
    catalogued: bool = False  # True if it is one of the catalogue's
    older: bool = False  # there are better ones of its size by now
    tried: bool = True  # Tenon's tests run files like its own
    problem: str = ""  # the reason why Tenon does not run it; empty where nothing speaks against it
    repos: tuple[str, ...] = ()  # repositories of its weights
    type: str = ""  # type of the weights that are fetched, such as Q4_K_M; empty where it is not known
    context: int | None = None  # tokens of its longest text; None where that is not known

    @property
    def has_draft(self) -> bool:
        """True if something that guesses for it is known."""
        return bool(self.own_head or self.drafts or self.heads)


@dataclass(frozen=True)
class InstalledEntry:
    """A model of this computer."""

    name: str
    ref: str  # value for `LoadOptions.model`
    kind: Literal["target", "draft", "head"] = "target"  # purpose
    type: str = ""  # type of its weights, such as Q4_K_M, or the format of its files; empty where that is not known
    size_bytes: int | None = None  # size of its files; None where that is not known
    licence: str = ""  # licence as the hub names it; empty where it is not known
    repo: str = ""  # repository on the hub; empty for an imported one
    catalogue_name: str = ""  # name in the catalogue; empty where it is not there
    in_place: bool = False  # True if its files are used where they are
    bundled: bool = False  # True if it ships with Tenon
    source: str = ""  # whose folder it lies in, where Tenon reads and never writes; empty for Tenon's own
    place: str = ""  # folder or file, or its server's address; empty where the reference says it
    server: str = ""  # the server that has it; empty for a model whose files are here
    recorded: bool = True  # True if its files can be checked against what they were
    problem: str = ""  # the reason why it cannot be used; empty where nothing is known to be wrong
    context: int | None = None  # tokens of its longest text; None where that is not known
    only_continues: bool = False  # True for a base model, which continues texts and was not made for chats
    sees: bool | None = None  # whether it takes pictures; None where only its server knows, or nobody yet
    # Loss of a copy that was made here: KL divergence in nats, tokens, and the text; and the original's name
    loss: tuple[float, int, str] | None = None
    made_from: str = ""

    @property
    def title(self) -> str:
        """Title that users see."""
        return title_of_model(self.ref or self.name)

    def comes_from(self, model: ListedModel) -> bool:
        """Return True if it is a copy of a model that can be fetched."""
        return model.reference == self.catalogue_name or (bool(self.repo) and self.repo in model.repos)


#: Type of the smaller copies that the window offers.
COPY_TYPE = "q4_k_m"
CopyStep = Literal["replies", "reading", "writing", "measuring"]
_COPIED_TYPES = ("F32", "F16", "BF16", "safetensors")
# A copy that is hardly faster is not worth its room.
_FASTER = 1.15


@dataclass(frozen=True)
class CopyStatus:
    """State of a smaller copy that is made or waits for its turn."""

    step: CopyStep | None = None  # what is done just now; None while it waits
    share: float = 0.0  # of that step


@dataclass(frozen=True)
class CopyOffer:
    """A smaller copy that could be made."""

    size_bytes: int  # about how large its file will be
    times: float | None  # how many times as fast it is predicted to be; None where the original cannot run
    pays: bool  # True if the original is too large or too slow here


def copy_reference(ref: str) -> str:
    """Return the name of a model's smaller copy in predictions."""
    return f"{ref}\n{COPY_TYPE}"


def may_copy(entry: InstalledEntry) -> bool:
    """Return True if a smaller copy of a model could be made, as far as its type says."""
    usable = entry.kind == "target" and bool(entry.ref) and not (entry.problem or entry.server or entry.bundled)
    return usable and entry.type in _COPIED_TYPES


def copy_offer(own: Prediction | None, copy: Prediction | None) -> CopyOffer | None:
    """Return what a smaller copy would bring by the predictions, or None if it cannot be made or runs no faster."""
    if own is None or copy is None or copy.problem or not copy.copy_bytes or not copy.tokens_per_second:
        return None
    speed = own.tokens_per_second or 0.0
    if own.problem or not speed:
        return CopyOffer(copy.copy_bytes, None, True)
    times = copy.tokens_per_second / speed
    slow = own.from_disk or speed < _READING_TOKENS_PER_S
    return CopyOffer(copy.copy_bytes, times, slow) if times >= _FASTER else None


@dataclass(frozen=True)
class ServerEntry:
    """A server that was asked and is kept."""

    name: str
    models: int  # number of its models
    warning: str = ""  # a sentence about a key that others can read on its way; empty for none


@dataclass(frozen=True)
class FolderEntry:
    """A folder that models lie in."""

    path: str
    source: str = ""  # the program whose it is; empty for Tenon's own, and for one that the user added
    own: bool = False  # True if it is Tenon's own
    missing: bool = False  # True if it is not there now

    @property
    def added(self) -> bool:
        """True if the user added it, and can take it out again."""
        return not (self.own or self.source)


@dataclass(frozen=True)
class Missed:
    """A download that did not come into the queue: the hub could not be asked, or there is no room."""

    model: ListedModel  # the model that was wanted
    with_draft: bool  # True if its first draft was to come along
    draft_for: str  # name of an installed model that it was to guess for; empty for none
    message: str  # the reason why it did not begin

    @property
    def entry(self) -> DownloadStatus:
        """Entry of the list of downloads."""
        repo = next(iter(self.model.repos), self.model.reference)
        return DownloadStatus(self.model.title, repo, "failed", 0, 0, message=self.message)


@dataclass(frozen=True)
class OfferEntry:
    """Content of a model's download, as the hub says it."""

    reference: str  # name that was asked for
    name: str  # name here
    repo: str  # repository
    licence: str  # licence as the hub names it; empty where it states none
    size_bytes: int  # size of its files
    gated: bool  # True if terms have to be accepted first
    page: str  # page on the hub
    quantization: str  # quantization of its weights; empty where they have none
    quantizations: tuple[str, ...]  # available quantizations, the smallest first
    drafts: tuple[DraftOffer, ...]  # drafts that could be fetched along
    free_bytes: int  # free bytes of the disk, without what is queued
    has_token: bool  # True if an access token is kept
    tower_bytes: int = 0  # size of its encoder of pictures among these; 0 if it has none of its own


@dataclass(frozen=True)
class DraftOffer:
    """A draft that could be fetched along with a model."""

    reference: str  # a name of the catalogue, or a head's repository
    title: str  # for people
    is_head: bool = False  # True if it is a head and no whole model
    size_bytes: int | None = None  # about how large it is; None where that is not known


@dataclass(frozen=True)
class ModelDetails:
    """Facts about a model in words, for a person who decides on it."""

    title: str
    about: str  # one sentence; empty where there is none
    facts: tuple[tuple[str, str], ...]  # name and words of each fact
    page: str  # address of its page on the hub; empty where it has none


@dataclass(frozen=True)
class RemovalEntry:
    """Consequences of removing a model."""

    name: str  # the model
    freed_bytes: int  # freed bytes of the disk
    kept_location: str  # place of files that are used in place and stay; empty where there are none
    # Drafts that belong to it and to no other installed model, with what removing them would free
    drafts: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class ImportEntry:
    """Content of an import of a folder or files."""

    paths: tuple[str, ...]  # the files that were chosen
    name: str  # name that it would get
    format: str  # format of its weights
    size_bytes: int  # size of its files, which a copy takes of the disk
    free_bytes: int  # free bytes of that disk


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


def one_to_take(found: Sequence[Recommendation]) -> str:
    """Return the reference of the recommendation for who has no wishes, or an empty text if there is none.

    It is the balanced one, else the most capable one that is as fast as people read.
    """
    order = (Strength.BALANCED, Strength.CAPABLE, Strength.FAST)
    return min(found, key=lambda one: order.index(one.strength)).model.reference if found else ""


def recommend(models: Sequence[ListedModel], predictions: Mapping[str, Prediction]) -> tuple[Recommendation, ...]:
    """Up to three models that fit in memory: the largest at reading speed, the fastest, and one between the two.

    Each is larger and slower than the next. Where fewer than three of them are large enough to be of use and fast
    enough to read along, larger ones come in while they are bearable, then smaller ones.

    A model of the catalogue without a prediction, by its reference, is not recommended; nor is one whose first word
    takes longer than 10 s, whose files are like none that the tests run, or of which there are better ones by now,
    where such a one fits.
    """

    def speed(model: ListedModel) -> float:
        return predictions[model.reference].tokens_per_second or 0.0

    def size(model: ListedModel) -> int:
        return model.parameters or 0

    fitting = [model for model in models if model.tried and suits(predictions.get(model.reference))]
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
    while fastest - largest + 1 < _MOST and largest > 0 and speed(ladder[largest - 1]) >= _BEARABLE_TOKENS_PER_S:
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


def suits(prediction: Prediction | None) -> bool:
    """Return True if a model is predicted to run from memory and to begin its replies soon."""
    return prediction is not None and fits(prediction) and prediction.first_word_s <= _LONGEST_FIRST_WORD_S
