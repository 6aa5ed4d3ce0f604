"""Every word of generated documents of every kind comes out, in its order, or the reader says where text is missing."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random

import pytest

from engine.documents import docx, epub, html, pdf, read_attachment
from engine.documents.pages import Gap, Pages
from engine.documents.reading import text_attachment
from engine.errors import InvalidOption
from engine.messages import with_attachments
from tests.engine.documents.test_docx import box, control, field, paragraph, run, table
from tests.support.documents import write_docx_markup, write_epub, write_pdf
from tests.support.fast_cases import chosen

DOCUMENTS = 200
PICTURE = f'<img src="data:image/png;base64,{"A" * 11_000_000}">'  # more than libxml2 takes by itself
UNSEEN = (
    "<!-- no -->", "<script>if (no < 1) { no() }</script>", "<style>p { color: no }</style>", "<button>no</button>",
    "<select><option>no</select>", "<svg><title>no</title><path d='no'/></svg>", "<template>no</template>",
    "<noscript>no</noscript>", "<iframe>no</iframe>", "<?no no?>", "<img alt='no'>", "<input value=no>",
)  # fmt: skip
LETTERS = ("a", "é", "ß", "я", "漢", "ع", "𝒳", "😀", "x&amp;y", "&lt;b&gt;")
MEANT = {"x&amp;y": "x&y", "&lt;b&gt;": "<b>"}


class Words:
    """Makes words, none twice, and knows them in their order."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.told: list[str] = []
        self._number = count()

    def some(self, most: int = 5, letters: tuple[str, ...] = LETTERS) -> str:
        """One word or several, as markup."""
        made = [(f"w{next(self._number)}", self.random.choice(letters)) for _ in range(self.random.randint(1, most))]
        self.told += [number + MEANT.get(letter, letter) for number, letter in made]
        return " ".join(number + letter for number, letter in made)


def inline(words: Words, depth: int = 3) -> str:
    """Words in elements of a line, closed or not, with what nobody sees between them."""
    parts = []
    for _ in range(words.random.randint(1, 3)):
        kind = words.random.choice(("", "", "b", "a href='x'", "font size=2", "span", "my-own", "math", "br"))
        if kind and depth:
            end = words.random.choice(("", f"</{kind.split()[0]}>"))
            parts.append(f"<{kind}>{inline(words, depth - 1)}{end}")
        else:
            parts.append(words.some())
        parts.append(words.random.choice(("", words.random.choice(UNSEEN))))
    return " ".join(parts)


def blocks(words: Words, depth: int = 4) -> str:
    """Blocks in blocks, closed or not."""
    parts = []
    for _ in range(words.random.randint(1, 4)):
        tag = words.random.choice(("p", "div", "h1", "h2", "h4", "li", "blockquote", "pre", "center", "section"))
        if tag == "pre":
            parts.append(f"<pre>{words.some()}\n  {words.some()}</pre>")
        elif tag == "section" and depth:
            row = "".join(f"<td>{inline(words)}" for _ in range(3))
            parts.append(f"<table><tr>{row}</table>")
        elif depth and words.random.random() < 0.4:
            parts.append(f"<{tag}>{blocks(words, depth - 1)}" + words.random.choice(("", f"</{tag}>")))
        else:
            parts.append(f"<{tag}>{inline(words)}" + words.random.choice(("", f"</{tag}>")))
        parts.append(words.random.choice(("\n", words.random.choice(UNSEEN))))
    return "".join(parts)


def page(words: Words, number: int) -> str:
    """A page's body; some are deeper than a tree may be for libxml2, some hold a picture that is longer than a text."""
    made = blocks(words)
    if number % 10 == 0:
        made += "".join(f"<p><font size=2>{words.some()}" for _ in range(words.random.randint(200, 4000)))
    if number % 10 == 1:
        opened = words.random.randint(200, 4000)
        made += f"{'<div>' * opened}{words.some()}{'</div>' * opened}"
    if number % 50 == 2:
        made += PICTURE
    if number % 10 == 3:  # what a browser shows although it stands in something else
        made += words.random.choice(("<svg><p>", "<button><div>", "<object><p>", "<noscript><p>")) + words.some()
    return made + blocks(words)


def of_html(folder: Path, words: Words, number: int) -> Pages:
    whole = words.random.choice(("{}", "<html><body>{}</body></html>", "<head><title>no</title></head>{}", "<body>{}"))
    (folder / "a.html").write_text(whole.format(page(words, number)), encoding="utf-8")
    return html.read(folder / "a.html")


def of_epub(folder: Path, words: Words, number: int) -> Pages:
    chapters = [page(words, number if not at else -1) for at in range(words.random.randint(1, 4))]
    return epub.read(write_epub(folder / "a.epub", chapters))


def of_docx(folder: Path, words: Words, number: int) -> Pages:
    def some() -> str:
        return run(f"{words.some()} ")

    def wrapped(depth: int) -> str:
        """A block in other blocks. A box's words follow the paragraph that it is in."""
        if not depth:
            return paragraph(some())
        kind = words.random.randrange(5)
        if kind == 0:
            return control(wrapped(depth - 1))
        if kind == 1:
            return table([wrapped(depth - 1), paragraph(some())]) if depth == 1 else control(wrapped(depth - 1))
        if kind == 2:
            return paragraph(some(), box(wrapped(depth - 1)))
        if kind == 3:
            return paragraph(f"<w:ins>{some()}</w:ins>", f"<w:del>{run('no')}</w:del>", field("NO", some()))
        return paragraph(f"<w:hyperlink>{some()}</w:hyperlink>", end="<w:del/>") + paragraph(some())

    body = "".join(wrapped(words.random.randint(0, 4)) for _ in range(words.random.randint(1, 8)))
    if number % 10 == 0:
        body += control("") + "<w:sdt><w:sdtContent>" * 110 + paragraph(some()) + "</w:sdtContent></w:sdt>" * 110
    return docx.read(write_docx_markup(folder / "a.docx", body + paragraph(some())))


def of_pdf(folder: Path, words: Words, number: int) -> Pages:
    plain = ("a", "é", "ßß", "zaun", "übergroß", "island")
    pages = [
        "\n\n".join(words.some(40, plain) for _ in range(words.random.randint(1, 6)))
        for _ in range(words.random.randint(1, 4))
    ]
    return pdf.read(write_pdf(folder / "a.pdf", pages))


def of_text(folder: Path, words: Words, number: int) -> Pages:
    letters = tuple(MEANT.get(letter, letter) for letter in LETTERS)
    parting = words.random.choice(("\n", "\r\n", "\r", "\t", "\f", "  ", "\u2028", "\xa0"))
    text = parting.join(words.some(200, letters) for _ in range(words.random.randint(1, 50)))
    content = text.encode(words.random.choice(("utf-8", "utf-8-sig", "utf-16")))
    pages = Pages()
    pages.add([text_attachment("a.txt", content).text], as_written=True)
    return pages


KINDS: dict[str, Callable[[Path, Words, int], Pages]] = {
    "html": of_html,
    "epub": of_epub,
    "docx": of_docx,
    "pdf": of_pdf,
    "text": of_text,
}


@pytest.mark.parametrize("first", chosen(range(0, DOCUMENTS, 40), (0,)))
@pytest.mark.parametrize("kind", KINDS)
def test_every_word_comes_out_in_its_order(kind: str, first: int, tmp_path: Path) -> None:
    for number in range(first, first + 40):
        words = Words(Random(f"{kind} {number}"))
        pages = KINDS[kind](tmp_path, words, number)
        found = [word for word in pages.finish()[0].split() if word not in ("|", "—")]
        assert found == words.told, number
        assert pages.gaps == {}


def test_a_page_that_breaks_off_says_so() -> None:
    """Wherever it is cut, all words before are there, or their end is said to be missing."""
    whole = (
        "<p>one <b>two</b><!-- no --><script>no < no</script> three<p title='no'>four<textarea>five</textarea>"
        "<style>no</style> six<svg><title>no</title></svg> seven</p>"
    )
    hidden = 0
    for end in range(1, len(whole)):
        found, is_whole = html.read_page(whole[:end].encode())
        said = " ".join(one.text for one in found)
        words = ("one", "two", "three", "four", "five", "six", "seven")
        before = [word for word in words if whole.index(word) + len(word) <= end]
        assert " ".join(said.split()).startswith(" ".join(before)) or not is_whole, whole[:end]
        hidden += not is_whole
    assert hidden > whole.count("no")


@pytest.mark.parametrize(
    ("markup", "last"),
    [
        ("<p>one</p><!-- two <p>three</p>", "one"),
        ("<p>one</p><script>two <p>three</p>", "one"),
        ("<p>one</p><p title='two>three</p>", "one"),
        (f"<p>{'a' * 70}</p><title>two", "a" * 60),
    ],
)
def test_text_that_hides_in_what_never_ends_is_told_everywhere(tmp_path: Path, markup: str, last: str) -> None:
    sentence = f"The text after “{last}” is missing."
    (tmp_path / "a.html").write_text(markup)
    book = write_epub(tmp_path / "a.epub", [markup])
    for path in (tmp_path / "a.html", book):
        file = read_attachment(path)
        assert file.missing == sentence
        assert with_attachments("", [file]).startswith(f"File: {path.name}\n{sentence}\n```\n")
        assert sentence not in with_attachments("", [replace(file, missing="")])


def test_a_page_all_of_which_hides_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<!-- <p>all</p>")
    with pytest.raises(InvalidOption, match="is damaged"):
        read_attachment(tmp_path / "a.html")


def test_pages_and_chapters_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    book = write_epub(tmp_path / "a.epub", ["<p>one</p>", "<p>two</p>", "<p>three</p>", "<p>four</p>"])
    with zipfile.ZipFile(book) as archive:
        kept = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "b.epub", "w") as archive:
        for name, content in kept.items():
            if not name.endswith(("1.xhtml", "2.xhtml")):
                archive.writestr(name, content)
    file = read_attachment(tmp_path / "b.epub")
    assert (file.text, file.missing) == (
        "one\n\nfour", "Chapters that are damaged or not there are missing: 2–3."
    )  # fmt: skip


def test_embedded_documents_of_a_docx_are_told(tmp_path: Path) -> None:
    pages = docx.read(
        write_docx_markup(tmp_path / "a.docx", paragraph(run("one")) + '<w:altChunk r:id="x" xmlns:r="r"/>')
    )
    assert pages.gaps == {Gap.EMBEDDED: [""]}
