"""Words for figures and names of models."""

from __future__ import annotations

from app.chat.model_entries import CopyOffer, CopyStatus, CopyStep, Fit, InstalledEntry, ListedModel, fit_of
from app.chat.modes import mode_title
from app.ui import figures
from app.words import mark, tr
from engine.hub.titles import type_of_model
from engine.messages import Basis, DownloadStatus, Prediction

_FITS = {
    Fit.EASY: mark("Fits easily"),
    Fit.FITS: mark("Fits"),
    Fit.DISK: mark("From disk"),
    Fit.NO: mark("Cannot run"),
}
_WORDS_PER_TOKEN = 0.75
# 238 words a minute: Brysbaert 2019, "How many words do we read per minute?", silent reading of English non-fiction.
_READING_WORDS_PER_S = 238 / 60
_SOURCES: dict[Basis, str] = {
    "guess": mark("predicted, since this machine is not measured yet"),
    "busy": mark("predicted from measurements made while other programs were busy"),
    "rest": mark("predicted from measurements made here"),
}
# Half the width of the range around a predicted speed, as a share of it. Chosen and not measured: too few machines have
# both predictions and measurements to derive a width. Its order says which source to trust less.
_ERRORS: dict[Basis, float] = {"guess": 0.5, "busy": 0.3, "rest": 0.2}
# 50 Mbit/s, in bytes.
_USUAL_BYTES_PER_S = 6_250_000
_COPY_STEPS: dict[CopyStep, str] = {
    "replies": mark("Smaller copy: lets the model reply, {share}"),
    "reading": mark("Smaller copy: reads the model, {share}"),
    "writing": mark("Smaller copy: writes the file, {share}"),
    "measuring": mark("Smaller copy: measures what it loses, {share}"),
}
_KINDS = {"draft": mark("Draft"), "head": mark("Draft head")}
#: Names of licences on the hub, and for people.
_LICENCES = {
    "apache-2.0": "Apache 2.0",
    "mit": "MIT",
    "gemma": "Gemma",
    "llama2": "Llama 2",
    "llama3": "Llama 3",
    "llama3.1": "Llama 3.1",
    "llama3.2": "Llama 3.2",
    "llama3.3": "Llama 3.3",
    "lfm1.0": "LFM 1.0",
    "cc-by-4.0": "CC BY 4.0",
    "cc-by-nc-4.0": "CC BY-NC 4.0",
    "bsd-3-clause": "BSD 3-Clause",
}


def licence_title(licence: str) -> str:
    """Return a licence as people write it, or an empty text if it is not known."""
    return "" if licence in ("other", "unknown") else _LICENCES.get(licence, licence)


def fit_title(prediction: Prediction) -> str:
    """Fit of a model in memory, in a word or two."""
    return tr(_FITS[fit_of(prediction)])


def kind_title(entry: InstalledEntry) -> str:
    """Purpose of an installed model, where that is not answering."""
    return tr(_KINDS[entry.kind]) if entry.kind in _KINDS else ""


def memory_words(prediction: Prediction) -> str:
    """Memory that it takes of what there is, with an empty and with a full context: "7.4–8.1 of 13.6 GB"."""
    taken = figures.gigabytes_from(prediction.memory_bytes, prediction.memory_bytes + prediction.text_bytes)
    return tr("{taken} of {room} GB", taken=taken, room=figures.gigabytes(prediction.room_bytes))


def gpu_words(prediction: Prediction) -> str:
    """Memory that it takes of the GPU's: "3.6 GB on the GPU"; empty for none."""
    if not prediction.gpu_bytes:
        return ""
    size = figures.gigabytes_from(prediction.gpu_bytes, prediction.gpu_bytes + prediction.gpu_text_bytes)
    return tr("{size} GB on the GPU", size=size)


def mixture_words(model: ListedModel) -> str:
    """Weights of a mixture that each token takes: "3.6 of 21 billion active"; empty for others."""
    if model.active_parameters is None or model.parameters is None:
        return ""
    active, whole = (figures.digits(count / 1e9, 2) for count in (model.active_parameters, model.parameters))
    return tr("{active} of {whole} billion active", active=active, whole=whole)


def pace_in_words(tokens_per_second: float) -> str:
    """Return the speed compared with reading: 14.2 -> "Faster than you read"."""
    words_per_second = tokens_per_second * _WORDS_PER_TOKEN
    if words_per_second < _READING_WORDS_PER_S / 1.4:
        return tr("Slower than you read")
    if words_per_second <= _READING_WORDS_PER_S * 1.4:
        return tr("About as fast as you read")
    return tr("Faster than you read")


def first_word(prediction: Prediction) -> str:
    """Time to the first word after a short question: "first word after about 1.4 s"; empty if it is not known."""
    time = figures.duration(1000 * prediction.first_word_s)
    return tr("first word after about {time}", time=time) if prediction.first_word_s else ""


def speed_range(prediction: Prediction) -> str:
    """Return the speeds to expect as a range without the unit: "12 to 17"."""
    speed, error = prediction.tokens_per_second or 0.0, _ERRORS[prediction.basis]
    least, most = (figures.digits(speed * share, 2) for share in (1 - error, 1 + error))
    return least if least == most else tr("{least} to {most}", least=least, most=most)


def download_time(size_bytes: int, bytes_per_s: int) -> str:
    """Return the time of a download: at the connection's speed as it was measured, else at a usual one, named as such.

    Args:
        bytes_per_s: Speed of the last download here; 0 if there was none.
    """
    speed = bytes_per_s or _USUAL_BYTES_PER_S
    time, rate = figures.rough_time(size_bytes / speed), figures.bit_rate(speed)
    if bytes_per_s:
        return tr("About {time} at {rate}, as in your last download", time=time, rate=rate)
    return tr("About {time} at {rate} (your connection is not measured yet)", time=time, rate=rate)


def source_of(basis: Basis) -> str:
    """Say what a predicted speed comes from."""
    return tr(_SOURCES[basis])


def best_mode(prediction: Prediction) -> str:
    """Return the mode it would run in, or an empty text if it cannot."""
    return mode_title(prediction.mode) if prediction.mode else ""


def joined(*words: str) -> str:
    """Return the facts that are not empty, joined."""
    return ", ".join(word for word in words if word)


def about_words(model: ListedModel) -> str:
    """Return what a model is for, and that it sees pictures; empty where nothing is known."""
    return " ".join(
        filter(None, (tr(model.about) if model.about else "", tr("It sees pictures.") if model.sees else ""))
    )


def copy_words(offer: CopyOffer) -> str:
    """Return what a smaller copy would be: "4.9 GB, predicted 2.1 times as fast"."""
    size = figures.size(offer.size_bytes)
    if offer.times is None:
        return tr("{size}, which runs here", size=size)
    times = figures.digits(offer.times, 2)
    return tr("{size}, predicted {times} times as fast", size=size, times=times)


def copying_words(status: CopyStatus) -> str:
    """State of a smaller copy in words."""
    if status.step is None:
        return tr("Smaller copy: waits for its turn")
    share = figures.percent(status.share)
    return tr(_COPY_STEPS[status.step], share=share)


def loss_words(entry: InstalledEntry) -> str:
    """Return what a copy that was made here has lost; empty for other models."""
    if entry.loss is None:
        return ""
    kl, tokens, text = entry.loss
    loss, count = figures.digits(kl, 2), figures.whole(tokens)
    if text:
        return tr(
            "KL {loss} from {name} on {count} tokens of {file}", loss=loss, name=entry.made_from, count=count, file=text
        )
    return tr(
        "KL {loss} from {name} on {count} tokens of its own replies", loss=loss, name=entry.made_from, count=count
    )


def download_words(entry: DownloadStatus) -> str:
    """State of a download in words."""
    done, total = figures.size(entry.done_bytes), figures.size(entry.total_bytes)
    here = joined(type_of_model(entry.name), tr("{done} of {total}", done=done, total=total))
    if entry.state == "receiving":
        speed = figures.rate(entry.bytes_per_s) if entry.bytes_per_s else ""
        left = figures.time_left(entry.seconds_left) if entry.seconds_left is not None else ""
        return joined(here, speed, left)
    if entry.state == "paused":
        return joined(here, tr("paused"))
    if entry.state == "queued":
        return joined(here, tr("waits for its turn"))
    if not entry.total_bytes:
        return entry.message
    return tr("{here}. {message}", here=here, message=entry.message) if entry.message else here
