"""Cards of models side by side: what a model would do on this computer, and the button that gets it or uses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.chat.model_entries import Fit, ListedModel, fit_of
from app.ui import figures
from app.ui.bars import ShareBar
from app.ui.models.wording import (
    about_words,
    best_mode,
    download_time,
    first_word,
    fit_title,
    gpu_words,
    joined,
    licence_title,
    memory_words,
    mixture_words,
    pace_in_words,
    speed_range,
)
from app.ui.painting import paint_box, paint_icon, paint_words, painted, smooth
from app.ui.parts import STRETCH, ElidedLabel, Flow, PlainLabel, filled, icon_button, in_columns, push_button
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import TextStyle, Theme, set_kind
from app.words import tr
from engine.messages import DownloadStatus, Prediction

Tone = Literal["quiet", "good", "warning", "bad"]
#: Fill, edge and text by tone, as roles of `Palette`.
_COLORS: dict[str, tuple[str, str, str]] = {
    "quiet": ("surf", "line", "sub"),
    "good": ("accs", "accs", "acct"),
    "warning": ("maps", "maps", "mapt"),
    "bad": ("reds", "reds", "red"),
}
_ICON_PX = 14
_SIDE_PX = 8
_LEAST_PX = 250
_GAP_PX = 16
_MOST_COLUMNS = 3


class Tag(QWidget):
    """Painted; elided where there is no room."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.text = ""
        self._icon = ""
        self._tone: Tone = "quiet"
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_words(self, text: str, tone: Tone = "quiet", icon: str = "", tip: str = "") -> None:
        """Show something; nothing at all where the text is empty."""
        self.text, self._tone, self._icon = text, tone, icon
        self.setAccessibleName(text)
        self.setToolTip(tip)
        self.setVisible(bool(text))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._theme.font(TextStyle.SMALL_MEDIUM))
        icon = _ICON_PX + 4 if self._icon else 0
        return QSize(2 * _SIDE_PX + icon + metrics.horizontalAdvance(self.text) + 1, self._theme.type.px(22))

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self.sizeHint().width(), self._theme.type.px(56)), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        fill, edge, words = _COLORS[self._tone]
        painter = smooth(self)
        paint_box(painter, self._theme, self.rect(), 6, fill, edge)
        left = _SIDE_PX
        if self._icon:
            paint_icon(painter, self._theme, self, self._icon, left, _ICON_PX, words)
            left += _ICON_PX + 4
        box = painted(self, left, 0, self.width() - left - _SIDE_PX + 2, self.height())
        style, elide = TextStyle.SMALL_MEDIUM, Qt.TextElideMode.ElideRight
        paint_words(painter, self._theme, box, self.text, style, words, elide=elide)


@dataclass(frozen=True)
class CardContent:
    """Content of a card."""

    model: ListedModel
    prediction: Prediction  # prediction for this machine
    badge: str  # the use that it is recommended for, in the window's language
    installed_ref: str = ""  # reference for `LoadOptions.model` if it is installed; empty if it is not
    download: DownloadStatus | None = None  # on its way; None where it is not
    draft_bytes: int = 0  # size of the draft that comes along; 0 for none
    to_take: bool = False  # True if it is the one for who has no wishes
    asked: bool = False  # True if the hub is being asked for it
    plainly: bool = False  # True if nothing is said of modes and experts, and its speed is a range
    connection_bytes_per_s: int = 0  # speed of the last download; 0 where there was none
    type: str = ""  # type of its weights, such as Q4_K_M

    @property
    def download_bytes(self) -> int:
        """Content of a download, as far as it is known."""
        return (self.model.size_bytes or 0) + self.draft_bytes


class ModelCard(QFrame):
    """Asks for what its button says; knows nothing of who answers."""

    get_requested = Signal(str)  # the model's reference
    retry_requested = Signal(str)  # name of a download that failed
    chat_requested = Signal(str)  # an installed model's reference
    details_requested = Signal(str)  # the model's reference

    def __init__(self, theme: Theme, content: CardContent, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.content: CardContent | None = None
        self.setProperty("kind", "model-card")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._title = ElidedLabel(kind="section", parent=self)
        self._badge = Tag(theme, self)
        self._subtitle = ElidedLabel(kind="small", parent=self)
        self._about = PlainLabel(self, kind="sub", wrap=True)
        self._speed = PlainLabel(self, kind="page-title")
        self._unit = ElidedLabel(kind="sub", parent=self)
        self._pace = PlainLabel(self, kind="label", wrap=True)
        self._fit = PlainLabel(self, kind="label")
        self._memory = PlainLabel(self, kind="sub")
        self._bar = ShareBar(theme, tr("Memory it would take"), self)
        self._mode = Tag(theme, self)
        self._draft = Tag(theme, self)
        self._mixture = Tag(theme, self)
        self._gpu = Tag(theme, self)
        self.button = push_button("", self, self._act)
        scale_icon(theme, self.button, 16)
        self.info = icon_button(theme, "info", "", self, self._show_details, side_px=24)
        self._time = PlainLabel(self, kind="small", wrap=True)
        self.progress = ShareBar(theme, tr("Download"), self)
        self.trouble = PlainLabel(self, kind="bad", wrap=True)
        head = filled(QHBoxLayout(), self._badge, STRETCH, self.info)
        speed = filled(
            QHBoxLayout(),
            (self._speed, 0, Qt.AlignmentFlag.AlignBaseline),
            (self._unit, 1, Qt.AlignmentFlag.AlignBaseline),
            spacing=8,
        )
        fit = filled(QHBoxLayout(), (self._fit, 1), self._memory)
        tags = Flow(6)
        for tag in (self._mode, self._draft, self._mixture, self._gpu):
            tags.addWidget(tag)
        filled(
            QVBoxLayout(self),
            *(head, 4, self._title, self._subtitle, 6, self._about, 6, speed, self._pace, 8, fit, 6, self._bar, 12),
            *(tags, STRETCH, 14, self.trouble, 6, self.button, self.progress, 6, self._time),
            margins=(16, 14, 16, 16),
            spacing=0,
        )
        self.show_content(content)

    def show_content(self, content: CardContent) -> None:
        """Show something else, or the same with more known of it."""
        if content == self.content:
            return
        self.content = content
        model, prediction = content.model, content.prediction
        self.setAccessibleName(model.title)
        self._title.setText(model.title)
        self._subtitle.setText(joined(content.type, licence_title(model.licence)))
        about = tr("About {title}", title=model.title)
        self.info.setAccessibleName(about)
        self.info.setToolTip(about)
        installed = bool(content.installed_ref)
        offered = content.to_take and not installed
        self._badge.show_words(
            tr("Installed") if installed else tr("Take this one") if offered else content.badge,
            "good" if installed or offered else "quiet",
            "check" if offered else "",
        )
        set_kind(self, "model-card-to-take" if offered else "model-card")
        tokens_per_second = prediction.tokens_per_second or 0.0
        number, _, unit = figures.speed(tokens_per_second).rpartition(" ")
        ranged = content.plainly and not installed and tokens_per_second >= 1
        self._speed.setText(speed_range(prediction) if ranged else number)
        self._unit.setText(tr("{speed} predicted", speed=unit))
        self._about.setText(about_words(model))
        self._about.setVisible(bool(self._about.text()))
        self._pace.setText(joined(pace_in_words(tokens_per_second), first_word(prediction)))
        self._fit.setText(fit_title(prediction))
        self._memory.setText(memory_words(prediction))
        tight = fit_of(prediction) in (Fit.DISK, Fit.NO)
        self._bar.show_share(prediction.memory_bytes / max(1, prediction.room_bytes), "map" if tight else "acc")
        fetched = content.download_bytes if not installed and content.download is None else 0
        self._time.setText(download_time(fetched, content.connection_bytes_per_s) if fetched else "")
        self._time.setVisible(bool(fetched))
        self._show_tags(content)
        self._show_button(content, installed)

    def _show_tags(self, content: CardContent) -> None:
        mode = "" if content.plainly else best_mode(content.prediction)
        self._mode.show_words(mode, icon="zap", tip=tr("The mode that is predicted to be fastest"))
        size, draft = figures.size(content.draft_bytes), ""
        if content.draft_bytes and content.plainly:
            draft = tr("With its small helper, {size}", size=size)
        elif content.draft_bytes:
            draft = tr("Draft paired, {size}", size=size)
        self._draft.show_words(draft, icon="link", tip=tr("A small model that guesses for this one, fetched along"))
        tip = tr("A mixture of experts: each token is computed with this part of its weights")
        self._mixture.show_words("" if content.plainly else mixture_words(content.model), tip=tip)
        self._gpu.show_words(gpu_words(content.prediction), icon="microchip")

    def _show_button(self, content: CardContent, installed: bool) -> None:
        download = None if installed else content.download
        failed = download is not None and download.state == "failed"
        self.trouble.setVisible(failed)
        self.button.setVisible(download is None or failed)
        self.progress.setVisible(download is not None and not failed)
        if download is not None and not failed:
            share = figures.percent(download.share)
            self.progress.show_share(download.share)
            self.progress.show_words(
                tr("Paused, {share}", share=share)
                if download.state == "paused"
                else tr("Downloading, {share}", share=share)
            )
            return
        primary = content.to_take and not installed
        set_kind(self.button, "primary" if primary else "")
        role = "onacc" if primary else "text"
        self.button.setIcon(themed_icon(self._theme, "message-square" if installed else "download", role))
        size = figures.size(content.download_bytes)
        words = tr("Chat with it") if installed else tr("Download {size}", size=size)
        title = content.model.title
        named = tr("Chat with {title}", title=title) if installed else tr("Download {title}", title=title)
        if download is not None:
            self.trouble.setText(download.message)
            self.button.setIcon(themed_icon(self._theme, "rotate-ccw", role))
            words, named = tr("Try again"), tr("Try {name} again", name=title)
        if content.asked:
            words = tr("Asking...")
        self.button.setText(f"  {words}")
        self.button.setAccessibleName(named)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Show the model in detail; buttons take their clicks themselves."""
        self._show_details()

    @Slot()
    def _show_details(self) -> None:
        assert self.content is not None
        self.details_requested.emit(self.content.model.reference)

    @Slot()
    def _act(self) -> None:
        content = self.content
        assert content is not None
        if content.installed_ref:
            self.chat_requested.emit(content.installed_ref)
        elif content.download is not None:
            self.retry_requested.emit(content.download.name)
        elif not content.asked:  # disabled instead, it would give the focus to the next button
            self.get_requested.emit(content.model.reference)


class CardGrid(QWidget):
    """Keeps a card as long as its model is shown, so that the keyboard's focus stays where it is."""

    get_requested = Signal(str)
    retry_requested = Signal(str)
    chat_requested = Signal(str)
    details_requested = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.cards: dict[str, ModelCard] = {}
        self.columns: int = 0  # number of cards in a row
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(_GAP_PX)

    def show_cards(self, contents: Sequence[CardContent]) -> None:
        """Show these."""
        wanted = [content.model.reference for content in contents]
        for reference in [known for known in self.cards if known not in wanted]:
            card = self.cards.pop(reference)
            card.hide()
            card.deleteLater()
        same = list(self.cards) == wanted
        for content in contents:
            card_shown = self.cards.get(content.model.reference)
            if card_shown is not None:
                card_shown.show_content(content)
                continue
            card = ModelCard(self._theme, content, self)
            card.get_requested.connect(self.get_requested)
            card.retry_requested.connect(self.retry_requested)
            card.chat_requested.connect(self.chat_requested)
            card.details_requested.connect(self.details_requested)
            self.cards[content.model.reference] = card
        if not same:
            self.cards = {reference: self.cards[reference] for reference in wanted}
            self.columns = 0
            self._arrange()
        self.setVisible(bool(contents))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        least = self._theme.type.px(_LEAST_PX)
        columns = max(1, min(_MOST_COLUMNS, (self.width() + _GAP_PX) // (least + _GAP_PX)))
        if columns == self.columns:
            return
        self.columns = columns
        in_columns(self._grid, self.cards.values(), columns)
        for column in range(len(self.cards), columns):
            self._grid.setColumnStretch(column, 1)  # a card is as wide where there are few
