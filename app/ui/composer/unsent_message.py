"""The message that is not sent yet: its text, which stays with its chat, and its files, picked, dropped or pasted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog

from app.bridge.engine_client import Question
from app.bridge.workspace import Workspace
from app.chat.attachment import Unsent
from app.chat.model_entries import model_path
from app.ui.composer.composer import Composer
from app.words import tr
from engine.errors import TenonError
from engine.json_text import whole_characters
from engine.messages import Attachment, with_attachments

_SHORT = 50_000  # characters that are read from the field at each key
_CHARACTERS_PER_MS = 2_500  # more are read when no key was pressed for so long
_REST_MS = 400
_COUNTED = range(400, 2_000_000)  # characters: less says nothing, more fits into no context


class UnsentText(QObject):
    """Tells the workspace of each change in the composer, and fills it with what a chat had."""

    def __init__(self, workspace: Workspace, composer: Composer) -> None:
        super().__init__(composer)
        self._kept = workspace.unsent
        self._composer = composer
        self.shown: int | None = None  # the chat whose content the composer has
        self._filling = False
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._keep)
        composer.prompt.textChanged.connect(self._keep_soon)
        composer.attachments.changed.connect(self._keep_soon)
        self._kept.writing.connect(self._catch_up)

    def add_file(self, conversation_id: int | None, attachment: Attachment) -> None:
        """Put a file beside the message of a chat, shown or not; one that is there already stays as it is."""
        if conversation_id == self.shown:
            row = self._composer.attachments
            if attachment not in row.attachments:
                row.set_attachments((*row.attachments, attachment))
            return
        unsent = self._kept.of(conversation_id)
        if attachment not in unsent.attachments:
            self._kept.keep(conversation_id, Unsent(unsent.text, (*unsent.attachments, attachment)))

    def show(self, conversation_id: int | None) -> None:
        """Another chat is shown, None for a blank one."""
        self._catch_up()
        self.shown = conversation_id
        unsent = self._kept.of(conversation_id)
        self._filling = True
        self.put_back(unsent.text, unsent.attachments)
        self._filling = False

    def put_back(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Fill the composer, with what it has given away and could not be sent for one."""
        self._composer.set_text(text)
        self._composer.attachments.set_attachments(attachments)

    def go_along(self, conversation_id: int) -> None:
        """Give the blank chat's unsent text to the chat that it became."""
        self._kept.keep(None, Unsent())
        self.shown = conversation_id
        self._keep()

    @Slot()
    def _keep_soon(self) -> None:
        length = self._composer.prompt.document().characterCount()
        if self._filling:
            return
        if length <= _SHORT:
            self._keep()
        else:
            self._timer.start(length // _CHARACTERS_PER_MS)

    @Slot()
    def _keep(self) -> None:
        self._timer.stop()
        content = Unsent(self._composer.text, self._composer.attachments.attachments)
        self._kept.keep(self.shown, content)

    @Slot()
    def _catch_up(self) -> None:
        if self._timer.isActive():
            self._keep()


class MessageSize(QObject):
    """Has the tokens of a long message, and of its files, counted when the typing rests."""

    def __init__(self, workspace: Workspace, composer: Composer) -> None:
        super().__init__(composer)
        self._model = workspace.model
        self._composer = composer
        self._question: Question | None = None
        self._timer = QTimer(self, singleShot=True, interval=_REST_MS)
        self._timer.timeout.connect(self._count)
        composer.prompt.textChanged.connect(self._changed)
        composer.attachments.changed.connect(self._changed)
        workspace.model.loaded.connect(self._changed)

    @Slot()
    def _changed(self) -> None:
        if self._question is not None:
            self._question.drop()
            self._question = None
        files = self._composer.attachments.attachments
        length = self._composer.prompt.document().characterCount() + sum(len(file.text) for file in files)
        pictures = any(one.picture is not None for one in files)  # whose tokens the model's encoder decides
        if not pictures and (length in _COUNTED or (files and length < _COUNTED.stop)):
            self._timer.start()
        else:
            self._timer.stop()
            self._composer.show_tokens(0)

    @Slot()
    def _count(self) -> None:
        text = with_attachments(self._composer.text, self._composer.attachments.attachments)
        self._question = self._model.count(whole_characters(text), self._composer.show_tokens)


@dataclass
class _Offer:
    """Files that were offered together: what is wrong with them is told at once."""

    waiting: int  # files that are still being read
    # Sentences of those that cannot be attached, or not whole
    refusals: list[str] = field(default_factory=list)


@dataclass
class _Reading:
    """A file that is being read."""

    name: str
    # The chat that it goes to, whichever is shown when it is there; None for the blank one
    conversation_id: int | None
    offer: _Offer  # the files that came with it
    give_up: Callable[[], None] = lambda: None  # ends it


class Attaching(QObject):
    """Has files read that the composer is offered, and puts them there."""

    said = Signal(str, bool)  # a sentence for the user, and whether it stays
    models_offered = Signal(object)  # list of Path: these are no attachments

    def __init__(self, workspace: Workspace, composer: Composer, unsent: UnsentText) -> None:
        super().__init__(composer)
        self._workspace = workspace
        self._composer = composer
        self._unsent = unsent
        self._readings: dict[int, _Reading] = {}
        self._offered = 0
        composer.attach_requested.connect(self._choose_files)
        composer.files_offered.connect(self.attach)
        composer.attachments.given_up.connect(self._give_up)
        composer.reading_send_refused.connect(self._explain_reading)

    @Slot(object)
    def attach(self, sources: Sequence[Path | QImage]) -> None:
        """Put files and pictures beside the message that is typed; what cannot be read is told, and left out."""
        models = [one for one in sources if isinstance(one, Path) and model_path(one) is not None]
        if models:
            self.models_offered.emit(models)
            sources = [one for one in sources if one not in models]
        offer = _Offer(len(sources))
        for one in sources:
            self._read(one, offer)
        self._composer.setFocus(Qt.FocusReason.OtherFocusReason)

    def show(self) -> None:
        """Another chat is shown, with its files that are still being read."""
        shown = self._unsent.shown
        pending = {key: one.name for key, one in self._readings.items() if one.conversation_id == shown}
        self._composer.attachments.set_pending(pending)

    def go_along(self, conversation_id: int) -> None:
        """Give the blank chat's attachments to the chat that it became."""
        for reading in self._readings.values():
            if reading.conversation_id is None:
                reading.conversation_id = conversation_id

    def _read(self, source: Path | QImage, offer: _Offer) -> None:
        self._offered += 1
        key = self._offered
        name = source.name if isinstance(source, Path) else tr("Pasted picture")
        reading = self._readings[key] = _Reading(name, self._unsent.shown, offer)

        def read(attachment: Attachment) -> None:
            self._unsent.add_file(reading.conversation_id, attachment)
            if attachment.missing:
                offer.refusals.append(f"{attachment.name}: {attachment.missing}")
            if attachment.name.lower().endswith(".svg"):
                offer.refusals.append(
                    tr("{name} goes along as text: save it as PNG for a model to see it.", name=attachment.name)
                )
            try:
                self._workspace.turns.check_sight((attachment,), self._workspace.open_chat.options())
            except TenonError as error:
                offer.refusals += [error.message] if error.message not in offer.refusals else []
            self._end(key)

        def refused(error: TenonError) -> None:
            if error.message not in offer.refusals:
                offer.refusals.append(error.message)
            self._end(key)

        reading.give_up = self._workspace.attachment_reader.read(source, read, refused)
        if key in self._readings:
            self.show()

    def _end(self, key: int) -> None:
        offer = self._readings.pop(key).offer
        self.show()
        offer.waiting -= 1
        if not offer.waiting and offer.refusals:
            self.said.emit("\n".join(offer.refusals), True)

    @Slot(int)
    def _give_up(self, key: int) -> None:
        self._readings[key].give_up()
        self._end(key)

    @Slot(str)
    def _explain_reading(self, name: str) -> None:
        self.said.emit(tr("{name} is still being read: send your message when it is there.", name=name), False)

    @Slot()
    def _choose_files(self) -> None:
        kinds = {
            tr("All files"): "*",
            tr("Pictures"): "*.png *.jpg *.jpeg *.webp *.gif *.heic *.heif",
            tr("Documents and text"): "*.pdf *.docx *.epub *.html *.htm *.txt *.md *.csv *.json",
        }
        filters = ";;".join(f"{kind} ({names})" for kind, names in kinds.items())
        chosen, _ = QFileDialog.getOpenFileNames(self._composer.window(), tr("Attach files"), "", filters)
        self.attach([Path(name) for name in chosen])
