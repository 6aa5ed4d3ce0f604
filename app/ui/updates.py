"""Notices of newer versions: one that was published, and one that was put in the place of the one that runs."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox

from app.bridge.update_check import ProgramWatch, Release, UpdateCheck, installed_by_dpkg
from app.ui.main_window import MainWindow
from app.ui.parts import PlainQuestion
from app.version import HOMEPAGE, version
from app.words import tr

_MOST_NEWS = 1_500


class Updates(QObject):
    """Tells of both in the window's toast, and installs nothing."""

    def __init__(self, check: UpdateCheck, watch: ProgramWatch, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._watch = watch
        self._check = check
        # True once the user has asked for a restart, and the window closes for it
        self.restart_wanted = False
        check.found.connect(self._tell_release)
        watch.replaced.connect(self._offer_restart)

    @Slot()
    def begin(self) -> None:
        """Ask and look from now on."""
        self._check.begin()
        self._watch.begin()

    @Slot(object)
    def _tell_release(self, release: Release) -> None:
        self._window.toast.say(_sentence(release), tr("What is new"), partial(self._show, release), True)

    def _show(self, release: Release) -> None:
        box = PlainQuestion(tr("What is new"), _sentence(release), self._window)
        by_system = installed_by_dpkg()
        way = (
            tr("Your system installs it with its other updates: `sudo apt update && sudo apt install tenon`.")
            if by_system
            else tr("Download it at {address} and install it over this one.", address=HOMEPAGE)
        )
        news = release.news[:_MOST_NEWS].rstrip()
        box.setInformativeText(f"{news}\n\n{way}" if news else way)
        if not by_system:
            opening = box.addButton(tr("Open page"), QMessageBox.ButtonRole.AcceptRole)
            opening.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(HOMEPAGE)))
        box.addButton(tr("Close"), QMessageBox.ButtonRole.RejectRole)
        box.open()

    @Slot()
    def _offer_restart(self) -> None:
        sentence = tr("Tenon was updated while it was open. Restart it to use the new version.")
        self._window.toast.say(sentence, tr("Restart"), self._restart, True)

    def _restart(self) -> None:
        self.restart_wanted = True
        self._window.close()


def _sentence(release: Release) -> str:
    return tr("Tenon {latest} is available; this is {own}.", latest=release.version, own=version())
