"""Help: short articles about Tenon, the search in them, and what they say of this computer. No model has a part in it.

The search is SQLite's over all articles, in memory, by a question's words: small words are left out, and mistyped ones
put right; a Chinese character is a word of its own. Sentences on this computer are made of what the engine reported, or
say that it has not yet.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path

from app.chat.model_entries import Fit, ListedModel, Recommendation, fit_of, fits
from app.chat.modes import mode_title
from app.words import mark, tr
from engine.messages import MachineReport, ModePrediction, PlanReport, Prediction
from engine.modes import MODES
from engine.sentences import figure, language, paragraph

FOLDER = Path(__file__).resolve().parents[1] / "assets" / "help"
_HEAD = re.compile(r"^## (?P<title>.+?) \{#(?P<name>[a-z-]+)\}$", re.MULTILINE)
_KEYWORDS = "Keywords: "
_PLACEHOLDER = re.compile(r"\{(?:(?P<kind>[a-z]+):)?(?P<name>[a-z_-]+)\}")
_CHINESE = "\u3400-\u9fff"
_WORD = re.compile(rf"[{_CHINESE}]|[^\W_{_CHINESE}]+(?:[-.'][^\W_{_CHINESE}]+)*|--[a-z][a-z-]+")
_SHORT = 4  # shorter words are too alike to be put right
_ALIKE = 0.75

# Words that say nothing about what is asked.
_STOP_WORDS = """
    tenon app program a about actually all also am an and any anything are as at be been being but by can cannot
    can't could did do does doesn't doing don't else ever every for from get gets give go going got had has have he
    help her here hi hello how i i'd i'm if in into is isn't it it's its just keep know let like lot make makes
    making many may me mean means more most much must my need no not now of off ok on one only or our out over
    please possible put really said say set shall she should show so some something still such take tell than thank
    thanks that that's the their them then there these they thing things this those through to too try trying up us
    use used uses using very want wants was way we well were what what's when where where's which while who why will
    with without won't would yes you your
    aber alle als am an auf aus bei bitte da das dass dein dem den der des die dir doch du durch ein eine einem
    einen einer eines er es etwas für geht gibt hat habe hier ich ihr im in ist ja kann kannst kein keine können man
    mehr mein meine meinem meinen meiner mich mir mit muss nach nicht noch nur oder ohne schon sein sich sie sind so
    um und uns vom von vor warum was wenn wer werden wie wieder will wird wo zu zum zur über
    的 了 吗 呢 是 我 你 您 在 有 和 与 或 把 被 这 那 个 什 么 怎 样 能 可 以 不 会 要 吧 啊 请 为 用 到 里
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

# Weights of a word in the title, in the keywords and in the text.
_WEIGHTS = (8.0, 4.0, 1.0)
_MOST_WORDS, _MOST_CHARACTERS = 20, 400  # longer ones bring a matter of their own

_CHAT = r"(?:(?:an?|the|this|that|my|these|all|all my|old|your) )?(?:chats?|conversations?|repl(?:y|ies)|chat history)"
_MODEL = r"(?:(?:an?|the|this|another|which|what) )?(?:\w+ )?(?:models?|llms?|gguf(?: files?)?)"
_HERE = r"(?:this|the|your|my) (?:app|program|window|chat app)"
_DEVICE = r"(?:my|this|the) (?:computer|laptop|machine|pc|mac|hardware|gpu|graphics card|ram|memory)"
_HOW = (
    r"(?:how (?:do|can|could|would|should) (?:i|you|we)|how to|can i|could i|where (?:do|can) i|is it possible to|"
    r"i want to)"
)

_ABOUT_TENON = (
    # The article's names, and terms of no other article.
    r"^(?!.*\b(?:wood|mortise|joint|router|saw|chisel|cut|glue|dowel)).*\btenon\b",  # and not the carpenter's
    r"\bllmcad\b|\btok/s\b|\b(?:lookup|dovetail|layer[- ]offload|partial[- ]offload|auto|plain) mode\b",
    r"\b(?:draft model|draft head|speculative decoding|context meter|command palette|token view|prompt lookup)\b",
    # Chats and replies.
    rf"^{_HOW} (?:delete|remove|rename|export|import|save|pin|archive|search|find|move|stop|cancel|restore|"
    rf"back ?up|regenerate|continue|undo|shorten|lengthen|speed up) {_CHAT}\b",
    rf"^where (?:are|is) {_CHAT} (?:saved|stored|kept)",
    rf"^(?:are|is|do|does|will) {_CHAT} (?:\w+ )?(?:encrypted|saved|stored|sent|uploaded|backed up|private)\b",
    r"^is (?:anything|something|what|everything) i (?:write|type|say|ask) (?:\w+ )?"
    r"(?:sent|saved|stored|private|uploaded)\b",
    r"\b(?:replies|answers|you|it) (?:faster|quicker|less slow)$",
    r"^why (?:are you|is it|is this|are the replies) so slow$",
    # Models and this computer.
    rf"^(?:how (?:big|large)|which|what(?: size of| is the (?:biggest|largest|best))?) {_MODEL} "
    rf"(?:can|could|should|does|do|fits?|runs?|will|for|on|are|is)\b.*(?:\bi (?:run|use|get|take|choose|load)\b|"
    rf"{_DEVICE}|\bhere\b)",
    rf"^(?:can|could|will|does) {_DEVICE} (?:run|hold|handle|fit|load) (?:an?|the|this)? ?(?:\S+ )?"
    r"(?:model|\d+ ?b\b)",
    rf"^{_HOW} (?:download|get|open|load|import|add|install|run|change|switch|choose|remove|update|unload) "
    rf"(?:to )?{_MODEL}"
    r"(?: here| in (?:this|the) app| file)?$",
    r"^(?:which|what) model (?:are you|is this|am i (?:using|talking to)|is (?:running|loaded|in use))",
    rf"^{_HOW} use {_DEVICE}(?: here| for this)$|^(?:do you|does it|does this) use {_DEVICE}",
    r"^(?:which|what) modes? (?:should i use|is (?:best|fastest|running)|are there|do you have)$",
    # Parts of the window.
    rf"\b(?:in|of|does|is|uninstall|update|close|quit|install|change) {_HERE}\b",
    rf"^{_HOW} (?:attach|upload|drop|send you|give you) (?:an?|the|my) (?:text |pdf )?(?:file|document|pdf)",
    rf"^{_HOW} (?:change|set|see|edit|find|open) (?:the |your |my )?(?:system prompt|context length|data folder|"
    r"settings|temperature setting|top[- ][pk]|theme|dark mode|font size|sampling)\b",
    r"^(?:what|which|are there|show me the|list the) (?:are )?(?:the )?(?:keyboard )?shortcuts(?: are there)?$",
    r"^where (?:is|are) (?:the|your|my) (?:data folder|models? folder|settings|logs?|backups?|models)$",
    # Abilities.
    r"^(?:can|could|do|are|will) you (?:able to )?(?:read|open|see|view|browse|access|look at|search|generate|draw|"
    r"make|hear|work|run|use|remember) (?:an? |the |my |any |on )?(?:\w+ )?"
    r"(?:pdfs?|word files?|docx|files?|documents?|images?|"
    r"pictures?|photos?|web|internet|offline|voice|gpu|graphics card|chats)(?: files?)?$",
)
# Slower than this is slower than most people read.
_READING_TOKENS_PER_S = 5.0
_LOOKING = mark("Tenon is looking at this computer; this page shows it in a moment.")
_PLANNING = mark("Tenon is working out what each mode does with the model in use; this page shows it in a moment.")
_FITTING = mark("Tenon is working out what fits here; this page shows it in a moment.")
_GUESSES = mark("The speeds of this computer were never measured: these may be far off.")


@dataclass(frozen=True)
class Article:
    """Something that a user may want to know about Tenon."""

    name: str  # name in links and code: ``context-full``
    title: str  # title as it is shown
    section: str  # the section that it stands in
    keywords: tuple[str, ...]  # other words that people use for it
    body: str  # Markdown with placeholders

    def filled(self, word_for: Callable[[str, str], str]) -> str:
        """Return the body with each placeholder replaced by the word for its kind and name."""
        return _PLACEHOLDER.sub(lambda found: word_for(found["kind"] or "", found["name"]), self.body)


def read_articles(spoken: str = "en") -> tuple[Article, ...]:
    """Every article in a language, section by section; in English if there are none in it.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file does not begin with its section's name, or an article without its keywords.
    """
    folder = FOLDER / spoken
    paths = sorted((folder if folder.is_dir() else FOLDER).glob("*.md"))
    return tuple(article for path in paths for article in _read(path))


def _read(path: Path) -> list[Article]:
    text = path.read_text(encoding="utf-8")
    parts = _HEAD.split(text)  # what stands before the first head, then title, name and text of each
    section = parts[0].strip()
    if not section.startswith("# "):
        raise ValueError(f"{path} does not begin with the name of its section")
    articles = []
    for title, name, rest in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        keywords, _, body = rest.strip().partition("\n")
        if not keywords.startswith(_KEYWORDS):
            raise ValueError(f"{path}: the article {name} does not begin with its keywords")
        words = tuple(word.strip() for word in keywords.removeprefix(_KEYWORDS).split(","))
        articles.append(Article(name, title, section.removeprefix("# "), words, body.strip()))
    return articles


def words_of(text: str) -> list[str]:
    """Words of a text in lower case, in their order, each once."""
    lower = text.lower().replace("\u2019", "'")
    return list(dict.fromkeys(found.group().removesuffix("'s") for found in _WORD.finditer(lower)))


def telling_words(text: str) -> list[str]:
    """Return the words that say what is asked, or all of them if none does."""
    words = words_of(text)
    return [word for word in words if word not in STOP_WORDS] or words


def corrected(word: str, known: Collection[str]) -> str:
    """Return the known word that a word was probably meant to be, or the word itself."""
    if len(word) < _SHORT or any(one.startswith(word) or _same_stem(one, word) for one in known):
        return word
    alike = get_close_matches(word, known, n=5, cutoff=_ALIKE)
    # Among words that are equally alike, one of the same letters in another order is taken.
    return next((one for one in alike if sorted(one) == sorted(word)), alike[0] if alike else word)


def _same_stem(one: str, other: str) -> bool:
    """Return True if they differ in their endings alone, as far as that can be said without a dictionary."""
    shared = min(len(one), len(other))
    return shared >= 5 and abs(len(one) - len(other)) <= 4 and one[: shared - 1] == other[: shared - 1]


class HelpLibrary:
    """All articles.

    Args:
        articles: In the order of the contents.
    """

    def __init__(self, articles: Sequence[Article]) -> None:
        self.articles = tuple(articles)
        self._by_name = {article.name: article for article in articles}

    def __getitem__(self, name: str) -> Article:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def search(self, text: str, most: int = 8) -> list[Article]:
        """Return the articles that match, the best first; words may be unfinished, inflected or mistyped."""
        words = [corrected(word, self._vocabulary) for word in telling_words(text)]
        if not words:
            return []
        if self._index is None:
            fitting = [(-len(set(words) & self._words_of(one)), one) for one in self.articles]
            return [one for score, one in sorted(fitting, key=lambda entry: entry[0]) if score][:most]
        wanted = " OR ".join(f'"{word}"*' for word in words)
        rows = self._index.execute(
            "SELECT name FROM help WHERE help MATCH ? ORDER BY bm25(help, 0, ?, ?, ?)", (wanted, *_WEIGHTS)
        )
        found = [self._by_name[name] for (name,) in rows]
        found.sort(key=lambda one: frozenset(words) not in self._names_of(one))
        return found[:most]

    @cached_property
    def _index(self) -> sqlite3.Connection | None:
        """Index of the articles, or None if this SQLite has no full-text search."""
        index = sqlite3.connect(":memory:")
        try:
            index.execute(
                "CREATE VIRTUAL TABLE help USING fts5("
                "name UNINDEXED, title, keywords, body, tokenize = 'porter unicode61', prefix = '2 3')"
            )
        except sqlite3.OperationalError:
            index.close()
            return None
        rows = ((one.name, *map(_apart, (one.title, ", ".join(one.keywords), one.body))) for one in self.articles)
        index.executemany("INSERT INTO help VALUES (?, ?, ?, ?)", rows)
        return index

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        return frozenset(word for article in self.articles for word in self._words_of(article))

    def _names_of(self, article: Article) -> set[frozenset[str]]:
        """Return the words of an article's title and of each keyword, by which a question names it."""
        return {frozenset(telling_words(name)) for name in (article.title, *article.keywords)}

    @staticmethod
    def _words_of(article: Article) -> set[str]:
        return set(words_of(" ".join((article.title, *article.keywords, article.body))))


def _apart(text: str) -> str:
    """Put room around each Chinese character: SQLite's tokenizer takes a run of them for one word."""
    return re.sub(f"([{_CHINESE}])", r" \1 ", text)


def help_library() -> HelpLibrary:
    """Return the articles that ship with Tenon, in the window's language, read at the first call."""
    return _library(language())


@cache
def _library(spoken: str) -> HelpLibrary:
    return HelpLibrary(read_articles(spoken))


def about_tenon(text: str) -> bool:
    """Return True if a question is plainly about Tenon and not about the world."""
    if len(text) > _MOST_CHARACTERS:
        return False
    plain = " ".join(text.lower().replace("\u2019", "'").split()).rstrip("?!. ")
    if not 0 < len(plain.split()) <= _MOST_WORDS or "\n" in text.strip():
        return False
    return any(re.search(pattern, plain) for pattern in _ABOUT_TENON)


@dataclass(frozen=True)
class HelpFacts:
    """Facts that are known when an article is shown."""

    version: str  # version of Tenon
    data_folder: str  # folder of chats and models
    model: str = ""  # the name of the model in use; empty where there is none
    report: MachineReport | None = None  # the computer; None before the engine has told
    plan: PlanReport | None = None  # plan of the model in use, or None
    models: Sequence[ListedModel] = ()  # models that could be fetched
    # Predictions for them here, by reference, as far as they are known
    predictions: Mapping[str, Prediction] = field(default_factory=dict)
    recommended: Sequence[Recommendation] = ()  # models among them for this computer
    sampling: Sequence[tuple[str, str]] = ()  # sampling in force: (title of the setting, value)

    def words(self, name: str) -> str:
        """Text for a placeholder without a kind.

        Raises:
            KeyError: there is none of that name.
        """
        return _WORDS[name](self)


def _computer(facts: HelpFacts) -> str:
    report = facts.report
    if report is None:
        return tr(_LOOKING)
    name = tr("This computer is a **{name}**.", name=report.machine) if report.machine else ""
    cores = tr("%n core(s)", report.processor.usable_cores)
    processor = tr("The processor is {name}, with {cores} to compute with.", name=report.processor.name, cores=cores)
    return paragraph(name, processor, _memory(facts), _graphics(facts), _disk(facts))


def _memory(facts: HelpFacts) -> str:
    report = facts.report
    if report is None:
        return tr(_LOOKING)
    total, free = _size(report.memory.total_bytes), _size(report.memory.available_bytes)
    return tr("This computer has **{total} of memory**, of which {free} are free now.", total=total, free=free)


def _graphics(facts: HelpFacts) -> str:
    report = facts.report
    if report is None:
        return tr(_LOOKING)
    if all(gpu.by_shaders for gpu in report.gpus):
        return tr("Tenon finds **no graphics card that it can use** here, so models run on the processor.")
    gpu = report.gpus[0]
    if gpu.unified:
        return tr("Tenon can use the graphics processor **{name}**, which shares the computer's memory.", name=gpu.name)
    total, free = _size(gpu.total_bytes), _size(gpu.free_bytes)
    return tr(
        "Tenon can use the graphics card **{name}** with {total}, of which {free} are free now.",
        name=gpu.name,
        total=total,
        free=free,
    )


def _disk(facts: HelpFacts) -> str:
    disk = None if facts.report is None else facts.report.disk("models")
    if disk is None:
        return ""
    return tr("The disk that models are kept on has {free} free.", free=_size(disk.free_bytes))


def _model(facts: HelpFacts) -> str:
    return tr("The one in use now is **{model}**.", model=facts.model) if facts.model else tr("No model is in use now.")


def _mode_here(facts: HelpFacts) -> str:
    plan = facts.plan
    if plan is None:
        return tr(_PLANNING)
    model = facts.model or plan.model
    assumed = "" if plan.measured else tr(_GUESSES)
    speeds = {mode.mode: mode.tokens_per_second for mode in plan.modes if not mode.refusal}
    chosen = speeds.get(plan.chosen)
    if chosen is None or chosen < max(speed or 0.0 for speed in speeds.values()):
        why = tr("With **{model}** on this computer: {reason}", model=model, reason=plan.reason)
        return paragraph(why, assumed)
    why = tr(
        "With **{model}** Auto takes **{mode}** on this computer, for it is predicted to be the fastest of the modes "
        "that can run: about {speed}.",
        model=model,
        mode=mode_title(plan.chosen),
        speed=_speed(chosen),
    )
    plain = speeds.get("plain")
    other = tr("Plain would write about {speed}.", speed=_speed(plain)) if plain and plan.chosen != "plain" else ""
    return paragraph(why, other, assumed)


def _modes(facts: HelpFacts) -> str:
    if facts.plan is None:
        return ""
    return "\n".join(f"- {_mode(mode)}" for mode in facts.plan.modes)


def _mode(mode: ModePrediction) -> str:
    title = mode_title(mode.mode)
    if mode.refusal or mode.tokens_per_second is None:
        return paragraph(tr("**{mode}** cannot run here.", mode=title), mode.refusal or "")
    said = tr("**{mode}**, about {speed}", mode=title, speed=_speed(mode.tokens_per_second))
    return f"{said}: {mode.summary}" if mode.summary else said


def _context(facts: HelpFacts) -> str:
    plan = facts.plan
    mode = None if plan is None else next((one for one in plan.modes if one.mode == plan.chosen), None)
    if plan is None or mode is None or mode.context is None:
        return ""
    return tr(
        "**{model}** has room for {context} tokens here, and can have {limit} at most.",
        model=facts.model or plan.model,
        context=figure(mode.context, ","),
        limit=figure(plan.context_limit, ","),
    )


def _largest(facts: HelpFacts) -> str:
    known = [
        (model.title, model.parameters, facts.predictions[model.reference])
        for model in facts.models
        if model.parameters and model.reference in facts.predictions
    ]
    if not known:
        return tr(_FITTING)

    def most(some: Iterable[tuple[str, int, Prediction]]) -> tuple[str, int, Prediction] | None:
        return max(some, key=lambda one: one[1], default=None)

    # A draft beside it may be one too many for what is free now.
    fitting = [one for one in known if fits(one[2]) and one[2].memory_bytes <= one[2].room_bytes]
    sentences = []
    largest = most(fitting)
    if largest is None:
        sentences.append(tr("No model of the catalogue fits into this computer's memory."))
    else:
        title, _, prediction = largest
        sentences.append(
            tr(
                "The largest model of the catalogue that fits into this computer's memory is **{model}**: it takes "
                "{needed} of the {room} that a model can have here, and writes {speed}.",
                model=title,
                needed=_size(prediction.memory_bytes),
                room=_size(prediction.room_bytes),
                speed=_predicted(prediction),
            )
        )
        swift = most(one for one in fitting if (one[2].tokens_per_second or 0.0) >= _READING_TOKENS_PER_S)
        if swift is not None and swift is not largest:
            said = tr(
                "The largest one that writes as fast as people read is **{model}**, with {speed}.",
                model=swift[0],
                speed=_predicted(swift[2]),
            )
            sentences.append(said)
    beyond = most(one for one in known if fit_of(one[2]) is Fit.DISK)
    if beyond is not None:
        speed = _predicted(beyond[2])
        sentences.append(
            tr("Read from the disk, **{model}** would run too, with {speed}.", model=beyond[0], speed=speed)
        )
    if any(prediction.basis == "guess" for _, _, prediction in known):
        sentences.append(tr(_GUESSES))
    return paragraph(*sentences)


def _recommended(facts: HelpFacts) -> str:
    found = facts.recommended
    if not found:
        return tr(_FITTING) if len(facts.predictions) < len(facts.models) else ""
    rows = "\n".join(
        f"- **{one.model.title}**, {tr(one.strength.value)}: {_predicted(facts.predictions[one.model.reference])}"
        for one in found
    )
    return f"{tr('For this computer:')}\n\n{rows}"


def _sampling(facts: HelpFacts) -> str:
    if not facts.sampling:
        return ""
    return tr("In force now: {values}.", values=", ".join(f"{title} {value}" for title, value in facts.sampling))


def _data_folder(facts: HelpFacts) -> str:
    return tr("Your data lie in `{folder}`.", folder=facts.data_folder)


def _predicted(prediction: Prediction) -> str:
    speed = (
        "" if prediction.tokens_per_second is None else tr("about {speed}", speed=_speed(prediction.tokens_per_second))
    )
    mode = "" if prediction.mode is None else tr("in {mode}", mode=mode_title(prediction.mode))
    return " ".join(part for part in (speed, mode) if part)


def _speed(tokens_per_second: float) -> str:
    if tokens_per_second < 1:
        return tr("{seconds} seconds for each token", seconds=figure(1 / tokens_per_second, ".1f"))
    return tr("{speed} tokens per second", speed=figure(tokens_per_second, ".0f" if tokens_per_second >= 20 else ".1f"))


def _size(size_bytes: int) -> str:
    if size_bytes < 999_500_000:
        return f"{size_bytes / 1e6:.0f} MB"
    return f"{figure(size_bytes / 1e9, '.3g')} GB"


_WORDS: dict[str, Callable[[HelpFacts], str]] = {
    "computer": _computer,
    "context": _context,
    "data-folder": _data_folder,
    "disk": _disk,
    "graphics": _graphics,
    "largest": _largest,
    "memory": _memory,
    "mode-here": _mode_here,
    "mode-helps": lambda facts: "\n".join(f"- **{tr(mode.title)}**: {tr(mode.help)}" for mode in MODES.values()),
    "mode-names": lambda facts: ", ".join(f"`{mode.name}`" for mode in MODES.values()),
    "model": _model,
    "modes": _modes,
    "recommended": _recommended,
    "sampling": _sampling,
    "version": lambda facts: facts.version,
}
