"""Articles as the window shows them: placeholders become its own words for commands and settings, and links to them."""

from __future__ import annotations

from typing import Any

from PySide6.QtGui import QKeySequence

from app.bridge.workspace import Workspace
from app.chat.engine_options import ADVISED, sampling_in_force
from app.help.facts import HelpFacts
from app.help.library import Article, HelpLibrary
from app.settings.pages import PAGES, Action
from app.settings.settings import Settings
from app.ui.commands import Commands
from app.version import version
from app.words import tr
from engine.sentences import figure

# The kinds of placeholders that become links, and the schemes of these.
COMMAND, SETTING, ARTICLE = "do", "setting", "article"


class ArticleText:
    """Fills articles in."""

    def __init__(self, workspace: Workspace, commands: Commands, library: HelpLibrary) -> None:
        self._workspace = workspace
        self._commands = commands
        self._library = library

    def of(self, article: Article) -> str:
        """Markdown, as things are now."""
        facts = self._facts()

        def word_for(kind: str, name: str) -> str:
            return self._link(kind, name) if kind else facts.words(name)

        return article.filled(word_for)

    def _link(self, kind: str, name: str) -> str:
        if kind == COMMAND:
            action = self._commands[name]
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            link = f"[{action.text().removesuffix('...')}]({kind}:{name})"
            return f"{link} (**{keys}**)" if keys else link
        if kind == ARTICLE:
            return article_link(self._library[name])
        return f"[{tr(setting_titles()[name])}]({kind}:{name})"

    def _facts(self) -> HelpFacts:
        workspace = self._workspace
        settings = workspace.settings
        own, advice = settings.of_model(settings.model), workspace.advice()
        chosen = {name: getattr(own, name) for name in ADVISED}
        in_force = {} if advice is None else sampling_in_force(chosen, advice)
        return HelpFacts(
            version(),
            str(workspace.diagnostics.data_folder),
            workspace.model.state.model_name,
            workspace.machine.report,
            workspace.machine.plans.chosen,
            workspace.model_store.offers.catalogue(),
            workspace.model_store.forecasts.known,
            workspace.model_store.recommended(),
            tuple((tr(setting_titles()[name]), figure(number.value, "g")) for name, number in in_force.items()),
        )


def article_link(article: Article) -> str:
    """Return a link to an article, in Markdown."""
    return f"[{article.title}]({ARTICLE}:{article.name})"


def setting_titles() -> dict[str, str]:
    """Titles of the dialog's rows, by name; marked, not translated."""
    declared: dict[str, Any] = Settings.declared()
    items = [item for page in PAGES for item in page.items()]
    actions = {item.name: item.title for item in items if isinstance(item, Action)}
    return {name: setting.title for name, setting in declared.items() if setting.title} | actions
