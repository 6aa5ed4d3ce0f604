"""What a reader sees of a DOCX: every word of the finished text once, and none that is deleted or an instruction."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.documents import docx, read_attachment
from engine.errors import InvalidOption
from tests.support.documents import write_docx_markup
from tests.support.fast_cases import examples


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*inside: str, end: str = "") -> str:
    return f"<w:p>{f'<w:pPr><w:rPr>{end}</w:rPr></w:pPr>' if end else ''}{''.join(inside)}</w:p>"


def field(instruction: str, result: str) -> str:
    sign = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'.format
    return f"{sign('begin')}<w:r><w:instrText>{instruction}</w:instrText></w:r>{sign('separate')}{result}{sign('end')}"


def box(blocks: str) -> str:
    inside = f"<w:txbxContent>{blocks}</w:txbxContent>"
    return (
        f'<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx>{inside}</wps:txbx></w:drawing>'
        f"</mc:Choice><mc:Fallback><w:pict><v:textbox>{inside}</v:textbox></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )


def control(inside: str) -> str:
    return f'<w:sdt><w:sdtPr><w:alias w:val="no"/></w:sdtPr><w:sdtContent>{inside}</w:sdtContent></w:sdt>'


def table(*rows: list[str]) -> str:
    made = ["".join(f"<w:tc><w:tcPr/>{cell}</w:tc>" for cell in row) for row in rows]
    return f"<w:tbl><w:tblPr/>{''.join(f'<w:tr>{row}</w:tr>' for row in made)}</w:tbl>"


def text_of(path: Path, body: str, **parts: str) -> str:
    return docx.read(write_docx_markup(path / "a.docx", body, **parts)).finish()[0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (paragraph(run("Kept "), f"<w:ins>{run('in')}</w:ins>", f"<w:del>{run('out')}</w:del>"), "Kept in"),
        (paragraph(run("a "), f"<w:moveTo>{run('b')}</w:moveTo>", f"<w:moveFrom>{run('b')}</w:moveFrom>"), "a b"),
        (paragraph(run("one "), end="<w:del/>") + paragraph(run("two")), "one two"),
        (control(paragraph(run("block"))) + paragraph(control(run("inline"))), "block\n\ninline"),
        (paragraph(run("See "), f"<w:smartTag><w:hyperlink>{run('here')}</w:hyperlink></w:smartTag>"), "See here"),
        (paragraph(run("Box:"), box(paragraph(run("words")))), "Box:\n\nwords"),
        (paragraph(run("on "), f'<w:fldSimple w:instr="PAGE">{run("7")}</w:fldSimple>'), "on 7"),
        (paragraph(field(" REF _a \\h ", run("Chapter 2"))), "Chapter 2"),
        (paragraph(field(f"IF {field('X', run('no'))}", run("yes"))), "yes"),
        (paragraph('<w:r><w:fldChar w:fldCharType="begin"/></w:r>', run("never ended")), "never ended"),
        (paragraph("<w:r><w:t>a</w:t><w:tab/><w:noBreakHyphen/><w:br/><w:t>b</w:t></w:r>"), "a -\nb"),
        (paragraph(f"<w:ruby><w:rt>{run('kan')}</w:rt><w:rubyBase>{run('漢')}</w:rubyBase></w:ruby>"), "漢(kan)"),
        (paragraph("<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>", run("seen")), "seen"),
        (paragraph('<w:r><w:sym w:font="Segoe UI Symbol" w:char="2611"/></w:r>', run(" done")), "\u2611 done"),
        (paragraph('<w:r><w:sym w:font="Wingdings" w:char="F0E0"/></w:r>', run(" on")), "\u2022 on"),
        (
            paragraph(
                '<w:r><mc:AlternateContent><mc:Choice Requires="wnew"><w:t>no</w:t></mc:Choice>'
                "<mc:Fallback><w:t>old way</w:t></mc:Fallback></mc:AlternateContent></w:r>"
            ),
            "old way",
        ),
        (paragraph(run("x = "), "<m:oMath><m:r><m:t>a+b</m:t></m:r></m:oMath>"), "x = a+b"),
        (paragraph("<w:commentRangeStart/>", run("said"), '<w:r><w:commentReference w:id="1"/></w:r>'), "said"),
        (table([paragraph(run("a")), control(paragraph(run("b")))]), "a | b"),
        (table([paragraph(run("a")) + table([paragraph(run("deep"))])]), "a\n\ndeep"),
        ("<w:tbl>" + control(f"<w:tr>{control('<w:tc>' + paragraph(run('i')) + '</w:tc>')}</w:tr>") + "</w:tbl>", "i"),
        ("<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc>" + paragraph(run("gone")) + "</w:tc></w:tr></w:tbl>"
         + paragraph(run("stays")), "stays"),
        (f"<w:customXml>{paragraph(run('of a form'))}</w:customXml>", "of a form"),
    ],
)  # fmt: skip
def test_what_is_seen_is_told_and_nothing_else(tmp_path: Path, body: str, expected: str) -> None:
    assert text_of(tmp_path, body) == expected


def test_notes_stand_behind_their_paragraph(tmp_path: Path) -> None:
    def reference(kind: str, number: int) -> str:
        return f'<w:r><w:{kind}Reference w:id="{number}"/></w:r>'

    body = paragraph(run("First"), reference("footnote", 2), run(" and more.")) + paragraph(
        run("Second"), reference("endnote", 2)
    )
    footnotes = "".join(
        f'<w:footnote w:id="{number}">{paragraph(run(text))}</w:footnote>'
        for number, text in ((0, "---"), (2, "below"))
    )
    endnotes = f'<w:endnote w:id="2">{paragraph(run("at the end"))}{paragraph(run("of all"))}</w:endnote>'
    comments = f'<w:comment w:id="2">{paragraph(run("about it"))}</w:comment>'
    text = text_of(tmp_path, body, footnotes=footnotes, endnotes=endnotes, comments=comments)
    assert text == "First[1] and more.\n\n[1] below\n\nSecond[2]\n\n[2] at the end\n\nof all"


def test_documents_with_macros_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.docm"
    write_docx_markup(path, paragraph(run("Hello")), "application/vnd.ms-word.document.macroEnabled.main+xml")
    assert read_attachment(path).text == "Hello"


def test_the_strict_standard_has_other_names(tmp_path: Path) -> None:
    footnotes = f'<w:footnote w:id="2">{paragraph(run("below"))}</w:footnote>'
    styles = '<w:style w:styleId="H"><w:name w:val="heading 1"/></w:style>'
    heading = f'<w:p><w:pPr><w:pStyle w:val="H"/></w:pPr>{run("Costs")}</w:p>'
    body = heading + paragraph(run("a"), '<w:r><w:footnoteReference w:id="2"/></w:r>')
    usual = write_docx_markup(tmp_path / "usual.docx", body, footnotes=footnotes, styles=styles)
    strict = tmp_path / "strict.docx"
    with zipfile.ZipFile(usual) as source, zipfile.ZipFile(strict, "w") as made:
        for name in source.namelist():
            content = source.read(name).decode()
            for word in ("officeDocument", "wordprocessingml"):
                own = rf"http://schemas.openxmlformats.org/{word}/(2006/)?"
                content = re.sub(own, f"http://purl.oclc.org/ooxml/{word}/", content)
            made.writestr(name, content)
    for path in (usual, strict):
        text, unit, sections = docx.read(path).finish()
        assert (text, unit) == ("Costs\n\na[1]\n\n[1] below", "chapter")
        assert [section.label for section in sections] == ["Costs"]


@pytest.mark.parametrize(
    ("stream", "sentence"),
    [
        ("EncryptedPackage", "is protected: save it without a password"),
        ("WordDocument", "was saved by Word before 2007: save it as DOCX"),
        ("Workbook", "holds no text that can be read"),
    ],
)
def test_files_of_the_compound_format_are_told_apart(tmp_path: Path, stream: str, sentence: str) -> None:
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
    for name in ("a.docx", "a"):
        (tmp_path / name).write_bytes(head + f"{stream}\0".encode("utf-16-le") + bytes(512))
        with pytest.raises(InvalidOption, match=sentence):
            read_attachment(tmp_path / name)


_NUMBERS = count()


@st.composite
def _inline(draw: st.DrawFn, depth: int = 0) -> tuple[str, list[str]]:
    """Markup inside of a paragraph, and its words that are seen."""
    word, other = f"w{next(_NUMBERS)}x", f"w{next(_NUMBERS)}x"
    plain = run(f"{word} ")
    kinds: dict[str, Any] = {
        "run": (plain, [word]),
        "deleted": (f"<w:del><w:r><w:delText>{word}</w:delText></w:r></w:del>", []),
        "moved away": (f"<w:moveFrom>{plain}</w:moveFrom>", []),
        "instruction": (field(word, run(f"{other} ")), [other]),
    }
    around = {
        "inserted": "<w:ins>{}</w:ins>",
        "moved here": "<w:moveTo>{}</w:moveTo>",
        "control": control("{}"),
        "tag": "<w:smartTag><w:smartTagPr/>{}</w:smartTag>",
        "link": "<w:hyperlink>{}</w:hyperlink>",
        "simple field": '<w:fldSimple w:instr="no">{}</w:fldSimple>',
        "field": field("no", "{}"),
        "box": box(paragraph("{}")),
    }
    kind = draw(st.sampled_from([*kinds, *(around if depth < 3 else ())]))
    if kind in kinds:
        return tuple(kinds[kind])
    parts = draw(st.lists(_inline(depth + 1), min_size=1, max_size=3))
    return around[kind].replace("{}", "".join(part for part, _ in parts)), [
        word for _, words in parts for word in words
    ]


@st.composite
def _block(draw: st.DrawFn, depth: int = 0) -> tuple[str, list[str]]:
    kind = draw(st.sampled_from(["paragraph", "paragraph", *(["table", "control", "xml"] if depth < 3 else ())]))
    if kind == "paragraph":
        parts = draw(st.lists(_inline(), max_size=4))
        return paragraph(*(part for part, _ in parts)), [word for _, words in parts for word in words]
    parts = draw(st.lists(_block(depth + 1), min_size=1, max_size=3))
    words = [word for _, found in parts for word in found]
    inside = "".join(part for part, _ in parts)
    if kind == "table":
        return table([part for part, _ in parts]), words
    return (control(inside) if kind == "control" else f"<w:customXml>{inside}</w:customXml>"), words


@settings(
    max_examples=examples(50),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(blocks=st.lists(_block(), min_size=1, max_size=4))
def test_every_word_that_is_seen_is_told_once(tmp_path: Path, blocks: list[tuple[str, list[str]]]) -> None:
    body = paragraph(run("begin")) + "".join(block for block, _ in blocks)
    found = re.findall(r"w\d+x", text_of(tmp_path, body))
    assert Counter(found) == Counter(word for _, words in blocks for word in words)
