"""Images in a reply's Markdown: shown as links, because nothing is fetched or opened that a person did not ask for."""

from __future__ import annotations

from PySide6.QtGui import QTextCharFormat, QTextCursor, QTextDocument, QTextFormat

OBJECT = "\ufffc"  # what stands for an image, or for another object, in a document's text


def images_as_links(document: QTextDocument) -> None:
    """Put each image's description in its place, as a link to the image."""
    if OBJECT not in document.toPlainText():
        return
    for position, shape in reversed(_images(document)):
        image = shape.toImageFormat()
        link = QTextCharFormat()
        link.setAnchor(True)
        link.setAnchorHref(image.name())
        words = str(image.property(QTextFormat.Property.ImageAltText) or "") or image.name()
        cursor = QTextCursor(document)
        cursor.setPosition(position)
        cursor.setPosition(position + 1, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(words, link)


def _images(document: QTextDocument) -> list[tuple[int, QTextCharFormat]]:
    found = []
    block = document.begin()
    while block.isValid():
        part = block.begin()
        while not part.atEnd():
            fragment = part.fragment()
            if fragment.charFormat().isImageFormat():
                found += [
                    (position, fragment.charFormat())
                    for position in range(fragment.position(), fragment.position() + fragment.length())
                ]
            part += 1
        block = block.next()
    return found
