"""The help in the window: its page, the text of its articles, and the commands that lead to them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import groupby

from PySide6.QtCore import QObject, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QAction, QHideEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app.bridge.workspace import Workspace
from app.chat.engine_options import ADVISED, sampling_in_force
from app.help import Article, HelpFacts, HelpLibrary, help_library
from app.settings.pages import PAGES, Action
from app.settings.settings import Settings
from app.ui.commands import Command, CommandGroup, Commands
from app.ui.painting import place
from app.ui.parts import PlainLabel, push_button, search_field
from app.ui.place_page import PlacePage
from app.ui.places import HELP, PlaceStack
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import Theme
from app.ui.transcript.prose import ProseBlock
from app.version import version
from app.words import tr
from engine.messages import DEFAULT_MODEL
from engine.sentences import figure

# The kinds of placeholders that become links, and the schemes of these.
COMMAND, SETTING, ARTICLE = "do", "setting", "article"
_COLUMN_PX = 720
_MOST_FOUND = 12


_CONTENTS_COLUMN_PX = 290
_GAP_PX = 24
# Of what is typed into the palette: shorter words are commands' letters, and more articles would bury the commands.
_LEAST_LETTERS = 3
_MOST_IN_PALETTE = 4


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
    declared = Settings.declared()
    items = [item for page in PAGES for item in page.items()]
    actions = {item.name: item.title for item in items if isinstance(item, Action)}
    return {name: setting.title for name, setting in declared.items() if setting.title} | actions


class Contents(QWidget):
    """Columns of links, as high as the longest."""

    link_activated = Signal(QUrl)

    def __init__(self, theme: Theme, library: HelpLibrary, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.sections = []  # a text of links each
        for section, articles in groupby(library.articles, lambda article: article.section):
            links = "\n\n".join(map(article_link, articles))
            block = ProseBlock(theme, f"### {section}\n\n{links}", parent=self)
            block.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            block.setAccessibleName(section)
            block.link_activated.connect(self.link_activated)
            self.sections.append(block)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._arrange()

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        for block in self.sections:
            block.restyle()
            block.content_changed()
        self._arrange()

    def _arrange(self) -> None:
        """Each section goes below the shortest column so far."""
        columns = max(1, (self.width() + _GAP_PX) // (self._theme.type.px(_CONTENTS_COLUMN_PX) + _GAP_PX))
        width = (self.width() - (columns - 1) * _GAP_PX) // columns
        ends = [0] * columns
        for block in self.sections:
            column = ends.index(min(ends))
            height = block.fit(width)
            block.setFixedSize(width, height)
            place(block, column * (width + _GAP_PX), ends[column], width, height)
            ends[column] += height + _GAP_PX
        self.setFixedHeight(max(ends))


class HelpPage(PlacePage):
    """The contents or one text, whose links lead to articles, commands and settings."""

    link_followed = Signal(QUrl)  # to what is not of this page
    looked_at = Signal()  # what is known of this computer is going to be shown

    def __init__(self, theme: Theme, library: HelpLibrary, text: ArticleText) -> None:
        super().__init__(theme, tr("Help"))
        self._library = library
        self._text = text
        self._article: Article | None = None
        self.search = search_field(theme, tr("Search the help"), self)  # field for words to find
        self.search.textEdited.connect(self._searched)
        self.search.returnPressed.connect(self._open_best)
        # The way from an article to the contents
        self.back = push_button(tr("All articles"), self, self.show_contents, kind="link")
        self.back.setIcon(themed_icon(theme, "chevron-left", "acc"))
        self._heading = PlainLabel(self, kind="display", wrap=True)
        self.body = ProseBlock(theme, "", parent=self)  # an article, or the results of a search
        self.body.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.contents = Contents(theme, library, self)  # every article's title
        self.contents.link_activated.connect(self._follow)
        self.body.link_activated.connect(self._follow)
        for part in (self.search, self._heading, self.contents, self.body):
            self.column.addWidget(part)
        self.head.addWidget(self.back)
        self.column.addStretch(1)
        theme.changed.connect(self._restyle)
        self.show_contents()

    @property
    def article(self) -> str:
        """The article that is shown; empty where it is the contents or what a search found."""
        return "" if self._article is None else self._article.name

    @Slot()
    def show_contents(self) -> None:
        """Show every article's title."""
        self.search.clear()
        self._show(None, "", "")

    def show_article(self, name: str) -> None:
        """Show an article, filled in as things are now."""
        article = self._library[name]
        self.search.clear()
        self._show(article, article.title, self._text.of(article))
        self.looked_at.emit()

    @Slot()
    def refresh(self) -> None:
        """Fill the shown article in again: more may be known of this computer."""
        if self._article is not None and self.isVisible():
            self.body.set_text(self._text.of(self._article))
            self._fit_body()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()
        self.looked_at.emit()
        self.search.setFocus(Qt.FocusReason.OtherFocusReason)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():
            self.show_contents()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_body()

    def _show(self, article: Article | None, heading: str, markdown: str) -> None:
        self._article = article
        self._heading.setText(heading)
        for part in (self._heading, self.back, self.body):
            part.setVisible(bool(heading))
        self.contents.setVisible(not heading)
        self.body.setAccessibleName(heading or self.title.text())
        self.body.set_text(markdown)
        self._fit_body()
        self.area.verticalScrollBar().setValue(0)

    @Slot(str)
    def _searched(self, typed: str) -> None:
        if not typed.strip():
            self.show_contents()
            return
        found = self._library.search(typed, _MOST_FOUND)
        rows = "\n".join(f"- {article_link(article)} · {article.section}" for article in found)
        about = tr("Articles about {words}", words=typed.strip())
        heading = about if found else tr("Nothing found: try other words.")
        self._show(None, heading, rows)

    @Slot()
    def _open_best(self) -> None:
        found = self._library.search(self.search.text(), 1)
        if found:
            self.show_article(found[0].name)

    @Slot(QUrl)
    def _follow(self, url: QUrl) -> None:
        if url.scheme() == ARTICLE:
            self.show_article(url.path())
        else:
            self.link_followed.emit(url)

    @Slot()
    def _restyle(self) -> None:
        self.body.restyle()
        self.contents.restyle()
        self._fit_body()

    def _fit_body(self) -> None:
        margins = self.column.contentsMargins()
        room = self.width() - 2 * margins.left()  # the scroll bar stands in the right margin
        width = max(200, min(self._theme.type.px(_COLUMN_PX), room))
        for part in (self.search, self._heading):
            part.setFixedWidth(width)
        self.body.content_changed()
        self.body.setFixedSize(width, self.body.fit(width))


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
        self._found: dict[str, Command] = {}
        places.register(HELP, self._page)
        workspace.machine.changed.connect(self.offer)
        workspace.model.changed.connect(self.offer)

    def add_commands(self, commands: Commands) -> None:
        """Declare the command."""
        commands.add("help", tr("Help"), self.open, CommandGroup.HELP, ("F1",))

    @Slot()
    def offer(self) -> None:
        """Tell which articles a blank chat offers, as things are now."""
        bundled = self._workspace.settings.model == DEFAULT_MODEL
        report = self._workspace.machine.report
        card = report is not None and not all(gpu.by_shaders for gpu in report.gpus)
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
            action = QAction(article.title, self)
            action.triggered.connect(partial(self.open_article, article.name))
            self._found[article.name] = Command(f"help-{article.name}", CommandGroup.HELP, action)
        return self._found[article.name]

    def _page(self) -> HelpPage:
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
