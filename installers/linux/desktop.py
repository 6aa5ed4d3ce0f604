"""Files that a Linux desktop reads about an application: its entry in menus, its page in shops, its file types."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from app.version import HOMEPAGE
from installers.icons import write_pngs
from installers.product import (
    CATEGORIES,
    COMMAND,
    DESCRIPTION,
    FILE_TYPES,
    IDENTIFIER,
    KEYWORDS,
    KIND,
    KINDS,
    LICENCE,
    NAME,
    PUBLISHER,
    SCREENSHOTS,
    SUMMARIES,
    SUMMARY,
    version,
)
from installers.release_notes import release_notes

# The server without a window, for ``systemctl --user enable --now tenon-serve``: its settings are options of ``tenon
# serve`` in TENON_SERVE, and wrong ones (exit code 2) are no cause to try again.
SERVICE = f"""[Unit]
Description={NAME} answers other programs of this computer

[Service]
EnvironmentFile=-%E/{COMMAND}/serve.conf
ExecStart={COMMAND} serve --key-file %E/{COMMAND}/serve.key $TENON_SERVE
Restart=on-failure
RestartSec=10
RestartPreventExitStatus=2

[Install]
WantedBy=default.target
"""


def write_share(share: Path, released: date) -> None:
    """Write everything of a ``share`` folder that is the same on each system."""
    page = gzip.compress(man_page(released).encode("utf-8"), mtime=0)
    for place, data in (
        (f"applications/{COMMAND}.desktop", desktop_entry().encode("utf-8")),
        (f"metainfo/{IDENTIFIER}.metainfo.xml", metainfo(released).encode("utf-8")),
        (f"mime/packages/{COMMAND}.xml", mime_types().encode("utf-8")),
        (f"man/man1/{COMMAND}.1.gz", page),
        (f"systemd/user/{COMMAND}-serve.service", SERVICE.encode("utf-8")),
    ):
        (share / place).parent.mkdir(parents=True, exist_ok=True)
        (share / place).write_bytes(data)
    write_pngs(share / "icons" / "hicolor", COMMAND)


def desktop_entry() -> str:
    """Return the file for menus and double-clicks, as freedesktop.org's Desktop Entry Specification has it."""
    values = {
        "Type": "Application",
        "Name": NAME,
        "GenericName": KIND,
        **{f"GenericName[{language}]": text for language, text in KINDS.items()},
        "Comment": SUMMARY,
        **{f"Comment[{language}]": text for language, text in SUMMARIES.items()},
        "Exec": f"{COMMAND} %f",
        "TryExec": COMMAND,
        "Icon": COMMAND,
        "Terminal": "false",
        "Categories": _list(CATEGORIES),
        "Keywords": _list(KEYWORDS),
        "MimeType": _list(kind.mime for kind in FILE_TYPES),
        "StartupNotify": "true",
        "StartupWMClass": COMMAND,
    }
    return "[Desktop Entry]\n" + "".join(f"{key}={value}\n" for key, value in values.items())


def _list(values: Iterable[str]) -> str:
    return "".join(f"{value};" for value in values)


def metainfo(released: date) -> str:
    """AppStream's description of the application."""
    root = Element("component", type="desktop-application")
    for tag, text in (
        ("id", IDENTIFIER),
        ("metadata_license", "CC0-1.0"),
        ("project_license", LICENCE),
        ("name", NAME),
        ("summary", SUMMARY),
    ):
        SubElement(root, tag).text = text
        if tag == "summary":
            for language, translated in SUMMARIES.items():
                SubElement(root, tag, {"xml:lang": language}).text = translated
    description = SubElement(root, "description")
    for paragraph in DESCRIPTION:
        SubElement(description, "p").text = paragraph
    SubElement(root, "launchable", type="desktop-id").text = f"{COMMAND}.desktop"
    SubElement(root, "icon", type="stock").text = COMMAND
    SubElement(SubElement(root, "developer", id=IDENTIFIER.rpartition(".")[0]), "name").text = PUBLISHER
    SubElement(root, "url", type="homepage").text = HOMEPAGE
    screenshots = SubElement(root, "screenshots")
    for number, (file, caption) in enumerate(SCREENSHOTS.items()):
        shown = SubElement(screenshots, "screenshot", {} if number else {"type": "default"})
        SubElement(shown, "caption").text = caption
        SubElement(shown, "image", type="source").text = f"{HOMEPAGE}/screenshots/{file}"
    categories = SubElement(root, "categories")
    for category in CATEGORIES:
        SubElement(categories, "category").text = category
    SubElement(root, "content_rating", type="oars-1.1")
    provides = SubElement(root, "provides")
    SubElement(provides, "binary").text = COMMAND
    for kind in FILE_TYPES:
        SubElement(provides, "mediatype").text = kind.mime
    keywords = SubElement(root, "keywords")
    for word in KEYWORDS:
        SubElement(keywords, "keyword").text = word
    releases = SubElement(root, "releases")
    release = SubElement(releases, "release", version=version(), date=released.isoformat())
    notes = SubElement(SubElement(release, "description"), "ul")
    for note in release_notes():
        SubElement(notes, "li").text = note
    return _document(root)


def mime_types() -> str:
    """Return the file types by suffix and first bytes, as freedesktop.org's shared MIME database takes them."""
    root = Element("mime-info", xmlns="http://www.freedesktop.org/standards/shared-mime-info")
    for kind in FILE_TYPES:
        entry = SubElement(root, "mime-type", type=kind.mime)
        SubElement(entry, "comment").text = kind.title
        magic = SubElement(entry, "magic", priority="60")
        SubElement(magic, "match", type="string", offset="0", value=kind.magic)
        SubElement(entry, "glob", pattern=f"*{kind.suffix}")
        SubElement(entry, "icon", name=COMMAND)
    return _document(root)


def _document(root: Element) -> str:
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def man_page(released: date) -> str:
    """Return the page that ``man tenon`` shows."""
    return f""".TH {COMMAND.upper()} 1 {released.isoformat()} "{NAME} {version()}" "User Commands"
.SH NAME
{COMMAND} \\- {SUMMARY[0].lower()}{SUMMARY[1:]}
.SH SYNOPSIS
.B {COMMAND}
.RI [ MODEL.gguf ]
.br
.B {COMMAND}
.I COMMAND
.RI [ OPTION ...]
.SH DESCRIPTION
Without arguments, or with the file of a model,
.B {COMMAND}
opens its window. Its commands do the same work in a terminal:
.TP
.B ask
Answer a question.
.TP
.B chat
Answer one message after another.
.TP
.B models
Find, download, import, list, verify and remove models.
.TP
.B plan
Say what each mode would do with a model on this machine.
.TP
.B bench
Measure it.
.TP
.B train
Train a draft head for a model.
.TP
.B serve
Answer other programs on this computer, in the protocols of OpenAI, Anthropic and Ollama.
.TP
.B doctor
Say what was found on this machine.
.TP
.B gpu
Say what GPU support there is for this machine; fetch or remove it.
.PP
.B {COMMAND}
.I COMMAND
.B \\-\\-help
lists the options of each.
.SH OPTIONS
.TP
.B \\-\\-version
Print the version.
.TP
.BR \\-\\-self\\-test " [" \\fIFILE\\fR ]
Open a window, ask the bundled model one question, print a report, and write it to
.I FILE
too. The exit status is 0 when there was an answer. Nothing is kept.
.SH FILES
.TP
.I ~/.local/share/{COMMAND}
Conversations and models.
.TP
.I ~/.config/{COMMAND}
Settings.
.TP
.I ~/.cache/{COMMAND}
What can be made again.
.TP
.I ~/.local/state/{COMMAND}/log
Logs, without a word of any chat.
.SH ENVIRONMENT
.TP
.BR TENON_DATA_DIR ", " TENON_CONFIG_DIR ", " TENON_CACHE_DIR ", " TENON_LOG_DIR
Other places for these.
"""
