from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.attachment import MAX_BYTES, Attachment, attachment_of, with_attachments
from engine.errors import InvalidOption


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "is not a text file"),
        (b"text\0text", "is not a text file"),
        ("Grüße".encode("latin-1"), "is not UTF-8 text"),
        ("text".encode("utf-16-le"), "is not a text file"),
        (b"\xff\xfet\0\0\xd8", "is not a text file"),
        (b"x" * (MAX_BYTES + 1), "holds 1 MiB at most"),
    ],
)
def test_what_is_no_text_is_refused_in_one_sentence_that_names_the_file(
    content: bytes, sentence: str
) -> None:
    with pytest.raises(InvalidOption, match=sentence) as caught:
        attachment_of("/folder/my file.txt", content)
    assert caught.value.message.startswith("my file.txt ")


def test_byte_order_mark_and_foreign_line_ends_are_taken_out() -> None:
    file = attachment_of("a\n b.txt", "\ufeffone\r\ntwo\rthree".encode())
    assert file == Attachment("a b.txt", 17, "one\ntwo\nthree")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_known_by_its_mark(encoding: str) -> None:
    """Windows calls it Unicode."""
    content = "\ufeffGrüße, 你好\r\n".encode(encoding)
    assert attachment_of("a.txt", content) == Attachment("a.txt", len(content), "Grüße, 你好\n")


@given(st.binary(max_size=200), st.text(max_size=20))
def test_any_bytes_are_taken_or_refused(content: bytes, name: str) -> None:
    refusal = ""
    try:
        file = attachment_of(name, content)
    except InvalidOption as error:
        file, refusal = Attachment("refused", len(content), ""), error.message
    assert "\n" not in refusal
    assert file.size_bytes == len(content)
    assert file.name.strip()
    assert "\n" not in file.name


@given(st.lists(st.text("`\na ", min_size=1), min_size=1, max_size=3), st.text("`a\n "))
def test_a_file_cannot_end_its_own_block(texts: list[str], prompt: str) -> None:
    rendered = with_attachments(prompt, [Attachment("f", 1, text) for text in texts])
    for text in texts:
        _head, fence, rest = re.match(r"(File: f\n)(`{3,})\n(.*)", rendered, re.DOTALL).groups()  # type: ignore[union-attr]
        body = text if text.endswith("\n") else text + "\n"
        assert rest.startswith(body + fence)
        assert fence not in text
        rendered = rest[len(body) + len(fence) :].removeprefix("\n\n")
    assert rendered == (prompt if prompt.strip() else "")


def test_without_files_the_text_stays_as_it_is() -> None:
    assert with_attachments(" text ", []) == " text "
