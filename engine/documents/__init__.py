"""Files as text for a model: plain text, PDF, DOCX, HTML and EPUB.

Files other than plain text are read by a library in a process of its own, with a limit of time and memory: a document
comes from anywhere, and neither a hang nor a crash in it may reach whoever reads it.
"""

from engine.documents.reading import read_attachment

__all__ = ["read_attachment"]
