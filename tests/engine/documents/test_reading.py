from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.documents import epub, html, read_attachment, reading
from engine.documents.pages import MAX_CHARACTERS, Pages, Problem, Unreadable
from engine.documents.reading import MAX_TEXT_BYTES, READER, text_attachment
from engine.errors import Cancelled, InvalidOption
from engine.messages import Attachment, Section
from tests.support.documents import write_docx, write_epub, write_pdf


def paragraphs(page: bytes) -> list[html.Paragraph]:
    """Paragraphs of a page that is read to its end."""
    found, is_whole = html.read_page(page)
    assert is_whole
    return found


def refusal(path: Path) -> str:
    """The one sentence that a file is refused with."""
    with pytest.raises(InvalidOption) as caught:
        read_attachment(path)
    sentence = caught.value.message
    assert sentence.startswith(path.name)
    assert "\n" not in sentence
    return sentence


# --- text -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "holds no text"),
        (b"text\0text", "holds no text"),
        ("Grüße".encode("latin-1"), "is not UTF-8 text"),
        ("text".encode("utf-16-le"), "holds no text"),
        (b"\xff\xfet\0\0\xd8", "holds no text"),
        (b"x" * (MAX_TEXT_BYTES + 1), "holds 4 MiB at most"),
    ],
)
def test_what_is_no_text_is_refused_in_one_sentence_that_names_the_file(content: bytes, sentence: str) -> None:
    with pytest.raises(InvalidOption, match=sentence) as caught:
        text_attachment("/folder/my file.txt", content)
    assert caught.value.message.startswith("my file.txt ")


def test_byte_order_mark_and_foreign_line_ends_are_taken_out() -> None:
    file = text_attachment("a\n b.txt", "\ufeffone\r\ntwo\rthree".encode())
    assert file == Attachment("a b.txt", 17, "one\ntwo\nthree")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_known_by_its_mark(encoding: str) -> None:
    """Windows calls it Unicode."""
    content = "\ufeffGrüße, 你好\r\n".encode(encoding)
    assert text_attachment("a.txt", content) == Attachment("a.txt", len(content), "Grüße, 你好\n")


@given(st.binary(max_size=200), st.text(max_size=20))
def test_any_bytes_are_taken_or_refused(content: bytes, name: str) -> None:
    refused = ""
    try:
        file = text_attachment(name, content)
    except InvalidOption as error:
        file, refused = Attachment("refused", len(content), ""), error.message
    assert "\n" not in refused
    assert file.size_bytes == len(content)
    assert file.name.strip()
    assert "\n" not in file.name


def test_a_text_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "Übung 1.txt").write_text("Grüße", encoding="utf-8")
    assert read_attachment(tmp_path / "Übung 1.txt") == Attachment("Übung 1.txt", 7, "Grüße")


def test_what_is_no_file_is_said_before_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "it is not a file" in refusal(tmp_path)
    assert "is not there: choose" in refusal(tmp_path / "gone.pdf")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.pdf")  # reading it would wait for ever
        assert "it is not a file" in refusal(tmp_path / "pipe.pdf")
    (tmp_path / "large.txt").write_bytes(b"x" * (5 << 20))
    assert "5.0 MiB" in refusal(tmp_path / "large.txt")

    def refuse(path: Path, most_bytes: int) -> bytes:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a.txt").write_text("x")
    monkeypatch.setattr(reading, "read_file", refuse)
    assert "cannot be read (Permission denied)" in refusal(tmp_path / "a.txt")


# --- documents --------------------------------------------------------------------------------------------------


def test_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    long = "This paragraph is long enough to fill more than one line of the page that it is printed on. " * 3
    path = write_pdf(tmp_path / "report.pdf", [f"{long}\n\nA short one.", "", "Grüße from page three."])
    file = read_attachment(path)
    assert (file.name, file.unit, file.size_bytes) == ("report.pdf", "page", path.stat().st_size)
    assert [section.label for section in file.sections] == ["1", "2", "3"]
    first, second, third = (section.start for section in file.sections)
    paragraphs = file.text[first:second].split("\n\n")
    assert " ".join(paragraphs[0].split()) == long.strip()
    assert paragraphs[1] == "A short one."
    assert second == third  # the picture's page has none
    assert file.text[third:] == "Grüße from page three."


def test_a_docx_is_read_in_its_order_with_tables_and_headings(tmp_path: Path) -> None:
    path = write_docx(
        tmp_path / "letter.docx",
        [
            ("Normal", "Before everything."),
            ("Heading 1", "Costs"),
            ("Normal", "All prices in euros."),
            [["Item", "Price"], ["Chair", "40"]],
            ("Heading 3", "Notes"),
            ("Heading 2", "Delivery"),
            ("List Bullet", "By train."),
        ],
    )
    file = read_attachment(path)
    assert file.text == (
        "Before everything.\n\nCosts\n\nAll prices in euros.\n\nItem | Price\nChair | 40\n\nNotes\n\nDelivery\n\n"
        "By train."
    )
    assert file.unit == "chapter"
    assert [(one.label, file.text[one.start :].split("\n")[0]) for one in file.sections] == [
        ("Costs", "Costs"),
        ("Delivery", "Delivery"),
    ]


def test_html_is_what_a_reader_sees(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<!doctype html><html><head><title>T</title><style>p{}</style></head><body><h1>Rivers &amp; lakes</h1>"
        "<script>alert('x')</script><p>The <b>Nile</b>\n  is   long.<br>Very.<!-- no --></p>"
        "<ul><li>one<li>two</ul><table><tr><th>a<th>b<tr><td>1<td>2</table><pre>x = 1\n  y</pre>"
        "<p>unclosed <div>block",
        encoding="utf-8",
    )
    file = read_attachment(path)
    assert file.text.split("\n\n") == [
        "Rivers & lakes", "The Nile is long.\nVery.", "one", "two", "a | b", "1 | 2", "x = 1\n  y", "unclosed", "block",
    ]  # fmt: skip
    assert file.sections == (Section("Rivers & lakes", 0),)


@pytest.mark.parametrize(
    ("head", "encoding"), [("", "utf-8"), ("<meta charset=iso-8859-15>", "iso-8859-15"), ("", "cp1252")]
)
def test_html_of_any_encoding(tmp_path: Path, head: str, encoding: str) -> None:
    path = tmp_path / "old.htm"
    path.write_bytes(f"<html><head>{head}</head><p>Grüße, 5 €</html>".encode(encoding))
    assert read_attachment(path).text == "Grüße, 5 €"


def test_an_epub_is_read_chapter_by_chapter(tmp_path: Path) -> None:
    path = write_epub(
        tmp_path / "book.epub",
        [
            "<h1>One</h1><p>It began.</p>",
            "<p></p>",
            "<p>No heading here.</p>",
            "<h2>End</h2><p>It ended.</p>",
        ],
    )
    file = read_attachment(path)
    assert file.unit == "chapter"
    assert [one.label for one in file.sections] == ["One", "3", "End"]
    assert file.text == "One\n\nIt began.\n\nNo heading here.\n\nEnd\n\nIt ended."


def test_a_document_is_known_by_what_it_is_and_not_by_its_name(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", ["Hello."])
    assert read_attachment(path.rename(tmp_path / "a.txt")).unit == "page"


# --- documents that cannot be read -------------------------------------------------------------------------------


def test_a_scan_says_that_it_is_one(tmp_path: Path) -> None:
    assert refusal(write_pdf(tmp_path / "scan.pdf", ["", ""])) == (
        "scan.pdf has no text: it is a scan, so have a program recognize its text (OCR) first."
    )


@pytest.mark.parametrize("suffix", [".pdf", ".docx", ".epub"])
def test_damaged_documents(tmp_path: Path, suffix: str) -> None:
    whole = {
        ".pdf": lambda path: write_pdf(path, ["Hello."]),
        ".docx": lambda path: write_docx(path, [("Normal", "Hello.")]),
        ".epub": lambda path: write_epub(path, ["<p>Hello.</p>"]),
    }[suffix](tmp_path / f"whole{suffix}")
    content = whole.read_bytes()
    for number, damaged in enumerate((content[: len(content) // 3], content[:200], b"no such thing")):
        path = tmp_path / f"{number}{suffix}"
        path.write_bytes(damaged)
        assert "is damaged, or no" in refusal(path)


def test_protected_documents(tmp_path: Path) -> None:
    book = write_epub(tmp_path / "book.epub", ["<p>x</p>"], "http://www.w3.org/2001/04/xmlenc#aes128-cbc")
    assert "book.epub is protected" in refusal(book)
    fonts = write_epub(tmp_path / "fonts.epub", ["<p>x</p>"], "http://www.idpf.org/2008/embedding")
    assert read_attachment(fonts).text == "x"
    locked = tmp_path / "locked.pdf"
    locked.write_bytes(_encrypted_pdf())
    assert "locked.pdf is protected" in refusal(locked)


def test_other_archives_are_no_documents(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "table.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    assert "holds no text that can be read" in refusal(tmp_path / "table.xlsx")


@pytest.mark.parametrize("name", ["bomb.docx", "bomb.epub"])
def test_an_archive_that_unpacks_without_end(tmp_path: Path, name: str) -> None:
    zipped = zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED)
    with zipped as archive, archive.open("word/document.xml", "w") as part:
        for _ in range(64):
            part.write(b" " * (1 << 20))
    assert (tmp_path / name).stat().st_size < 1 << 20
    assert "unpacks to far more" in refusal(tmp_path / name)


def test_entities_that_grow_and_entities_of_files_stay_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret words")
    grows = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "lol"}">' for n in range(9))
    path = tmp_path / "a.epub"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "META-INF/container.xml",
            f'<!DOCTYPE c [{grows}<!ENTITY f SYSTEM "{secret.as_uri()}">]><c><rootfile full-path="&f;&e8;"/></c>',
        )
    assert "is damaged" in refusal(path)


def test_too_much_text() -> None:
    pages = Pages("page")
    pages.begin("1")
    with pytest.raises(Unreadable) as caught:
        pages.add("x" * 1000 for _ in range(MAX_CHARACTERS // 1000 + 1))
    assert caught.value.problem is Problem.TOO_MUCH_TEXT


def test_a_reader_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_pdf(tmp_path / "slow.pdf", ["Hello."])
    monkeypatch.setattr(READER, "clock_s", 0.0)
    assert "took longer than" in refusal(path)
    with pytest.raises(Cancelled):
        read_attachment(path, cancelled=lambda: True)


def test_a_reader_that_takes_too_much_memory_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_pdf(tmp_path / "fat.pdf", ["Hello."])
    monkeypatch.setattr(READER, "memory_bytes", 1 << 20)
    assert "MiB of memory to read" in refusal(path)


def test_a_reader_that_dies_is_a_damaged_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_pdf(tmp_path / "crash.pdf", ["Hello."])
    monkeypatch.setattr(reading, "_WORK", f"{__name__}:die")
    assert "is damaged, or no PDF" in refusal(path)


def die(question: bytes) -> None:
    os._exit(11)


def _encrypted_pdf() -> bytes:
    """A PDF of one page whose security handler wants a password that no empty one is."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>",
        b"<</Filter/Standard/V 2/R 3/Length 128/P -1/O<" + b"41" * 32 + b">/U<" + b"42" * 32 + b">>>",
    ]
    content, places = b"%PDF-1.5\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(content))
        content += b"%d 0 obj" % number + one + b"endobj\n"
    table = b"xref\n0 5\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    ending = b"trailer<</Size 5/Root 1 0 R/Encrypt 4 0 R/ID[<61><61>]>>\nstartxref\n%d\n%%%%EOF" % len(content)
    return content + table + ending


# --- lines and encodings -----------------------------------------------------------------------------------------

CODE = "def f(x):\n    if x:\n\treturn 1\n\n    return  2"


@pytest.mark.parametrize(
    "markup",
    [
        "<pre><code>{}</code></pre>",
        "<pre>\n{}\n</pre>",
        "<textarea>{}</textarea>",
        "<pre><span>{}</span></pre>",
        '<div style="color: red; white-space: pre-wrap">{}</div>',
        "<table><tr><td><pre>{}</pre></td></tr></table>",
    ],
)
def test_lines_and_indentation_of_code_stay(tmp_path: Path, markup: str) -> None:
    body = f"<p>Before   it.</p>{markup.format(CODE)}<p>After\nit</p>"
    (tmp_path / "a.html").write_text(f"<html><body>{body}</body></html>")
    book = write_epub(tmp_path / "a.epub", [body])
    for pages in (html.read(tmp_path / "a.html"), epub.read(book)):
        assert pages.finish()[0] == f"Before it.\n\n{CODE}\n\nAfter it"


def test_breaks_in_code_are_lines(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<pre>  a<br>    <b>b</b> c<br/>d</pre>")
    assert read_attachment(tmp_path / "a.html").text == "  a\n    b c\nd"


@given(lines=st.lists(st.text("ab <&\t", max_size=8), min_size=1, max_size=6))
def test_any_lines_of_code_stay(lines: list[str]) -> None:
    source = "\n".join(lines).replace("&", "&amp;").replace("<", "&lt;")
    expected = "\n".join(line.rstrip() for line in lines).strip("\n")
    found = list(paragraphs(f"<body><pre>\n{source}</pre></body>".encode()))
    assert "\n".join(one.text for one in found) == expected


ENCODED = [
    ("iso-8859-1", "Grüße é"), ("windows-1252", "5 € – “x”"), ("windows-1251", "Привет"), ("koi8-r", "Привет"),
    ("shift_jis", "日本語"), ("euc-jp", "日本語"), ("iso-2022-jp", "日本語"), ("gb2312", "你好"), ("gbk", "你好"),
    ("big5", "你好"), ("euc-kr", "안녕"), ("iso-8859-2", "Łódź"), ("iso-8859-15", "5 €"), ("utf-8", "ü日本"),
    ("utf-16", "ü日本"),
]  # fmt: skip


@pytest.mark.parametrize(("encoding", "text"), ENCODED)
def test_the_encoding_that_a_page_declares_holds(tmp_path: Path, encoding: str, text: str) -> None:
    page = f'<html xmlns="http://www.w3.org/1999/xhtml"><body><p>{text}</p></body></html>'
    declared = f"<?xml version='1.0' encoding=\"{encoding.upper()}\"?>\n{page}".encode(encoding)
    contents = {"declared": declared}
    if encoding != "utf-16":
        contents["charset"] = f"<html><head><meta charset={encoding}></head><p>{text}</html>".encode(encoding)
    for name, content in contents.items():
        assert [one.text for one in paragraphs(content)] == [text], name
    assert epub.read(write_epub(tmp_path / "a.epub", [declared])).finish()[0] == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("head", ["", '<?xml version="1.0" encoding="iso-8859-1"?>'])
def test_a_mark_of_order_and_pairs_of_bytes_are_known(encoding: str, mark: str, head: str) -> None:
    content = f"{mark}{head}<html><p>Grüße 你好</html>".encode(encoding)
    assert [one.text for one in paragraphs(content)] == ["Grüße 你好"]


def test_a_charset_that_no_longer_holds_or_is_none_does_no_harm() -> None:
    for name in ("iso-8859-1", "hex", "utf-16", "no-such-thing", "rot13"):
        content = f"<html><head><meta charset={name}></head><p>Grüße 你好</html>".encode()
        assert [one.text for one in paragraphs(content)] == ["Grüße 你好"]


def test_rtf_is_called_that(tmp_path: Path) -> None:
    for name in ("a.rtf", "a.doc", "a.txt"):
        (tmp_path / name).write_bytes(rb"{\rtf1\ansi Hello\par}")
        assert "is RTF, which Tenon does not read" in refusal(tmp_path / name)
