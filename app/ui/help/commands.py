"""The ways to the help: its commands, articles in the palette, and where the links of an article lead."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal, Slot
from PySide6.QtGui import QAction

from app.bridge.workspace import Workspace
from app.help.library import Article, help_library
from app.ui.commands import Command, CommandGroup, Commands
from app.ui.help.article_text import COMMAND, SETTING, ArticleText, setting_titles
from app.ui.places import HELP, PlaceStack
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.words import tr
from engine.messages import DEFAULT_MODEL

if TYPE_CHECKING:
    from app.ui.help.page import HelpPage

# Of what is typed into the palette: shorter words are commands' letters, and more articles would bury the commands.
_LEAST_LETTERS = 3
_MOST_IN_PALETTE = 4


class HelpOpening(QObject):
    """Opens the page and follows its links.

    Args:
        workspace: Source of the facts about this computer in articles.
        places: Show the page.
        commands: Commands that articles name; read when they are shown.
        find_setting: Shows the settings that a text finds.
    """

    offered = Signal(object)  # the articles that a blank chat offers

    def __init__(
        self,
        theme: Theme,
        workspace: Workspace,
        places: PlaceStack,
        commands: Commands,
        find_setting: Callable[[str], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._workspace = workspace
        self._places = places
        self._commands = commands
        self._find_setting = find_setting
        self._icon = themed_icon(theme, "info")
        self._found: dict[str, Command] = {}
        places.register(HELP, self._page)
        workspace.machine.changed.connect(self.offer)
        workspace.model.changed.connect(self.offer)

    def add_commands(self, commands: Commands) -> None:
        """Declare the command."""
        commands.add("help", tr("Help"), self.open, CommandGroup.HELP, ("F1",), "info")

    @Slot()
    def offer(self) -> None:
        """Tell which articles a blank chat offers, as things are now."""
        bundled = self._workspace.settings.model == DEFAULT_MODEL
        report = self._workspace.machine.report
        card = report is not None and bool(report.gpus)
        names = ("size", "which-model" if bundled else "faster", "gpu" if card else "why-mode")
        self.offered.emit([help_library()[name] for name in names])

    @Slot()
    def open(self) -> None:
        """Show the contents."""
        self._places.go(HELP)

    @Slot(str)
    def open_article(self, name: str) -> None:
        """Show an article, or with no name the contents."""
        self._places.go(HELP)
        if name:
            self._shown().show_article(name)

    def for_palette(self, typed: str) -> list[Command]:
        """Return the articles to list below the commands for what was typed."""
        if len(typed.strip()) < _LEAST_LETTERS:
            return []
        return [self._command(article) for article in help_library().search(typed, _MOST_IN_PALETTE)]

    def _command(self, article: Article) -> Command:
        if article.name not in self._found:
            action = QAction(self._icon, article.title, self)
            action.setData(article.name)
            action.triggered.connect(self._open_found)
            self._found[article.name] = Command(f"help-{article.name}", CommandGroup.HELP, action)
        return self._found[article.name]

    @Slot()
    def _open_found(self) -> None:
        action = self.sender()
        assert isinstance(action, QAction)
        self.open_article(action.data())

    def _page(self) -> HelpPage:
        # Imported when it is shown first, so that the window is there sooner.
        from app.ui.help.page import HelpPage

        library = help_library()
        page = HelpPage(self._theme, library, ArticleText(self._workspace, self._commands, library))
        page.link_followed.connect(self._follow)
        page.looked_at.connect(self._look)
        machine, forecasts = self._workspace.machine, self._workspace.model_store.forecasts
        for told in (
            machine.changed,
            machine.plans.answered,
            forecasts.changed,
            self._workspace.model.changed,
        ):
            told.connect(page.refresh)
        return page

    def _shown(self) -> HelpPage:
        from app.ui.help.page import HelpPage

        page = self._places.page(HELP)
        assert isinstance(page, HelpPage)
        return page

    @Slot()
    def _look(self) -> None:
        """Ask for what articles say of this computer; each answer refreshes the one that is shown."""
        workspace = self._workspace
        workspace.machine.look()
        workspace.machine.plans.ask_for_chosen()
        workspace.model_store.forecasts.ask(workspace.model_store.offers.catalogue())

    @Slot(QUrl)
    def _follow(self, url: QUrl) -> None:
        if url.scheme() == COMMAND:
            self._commands[url.path()].trigger()
        elif url.scheme() == SETTING:
            self._find_setting(tr(setting_titles()[url.path()]))
