from __future__ import annotations

import io
import struct
import sys
import zlib
from pathlib import Path

import pytest
from PIL import Image

from engine.documents.pictures import MAX_PICTURE_BYTES, probe, read_picture, scaled_picture
from engine.errors import Cancelled, InvalidOption

pillow_heif = pytest.importorskip("pillow_heif")


def gradient(width: int = 40, height: int = 24) -> Image.Image:
    image = Image.new("RGB", (width, height))
    for x in range(width):
        for y in range(height):
            image.putpixel((x, y), (x * 255 // width, y * 255 // height, (x + y) % 256))
    return image


def encoded(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    data = io.BytesIO()
    if kind == "HEIF":
        pillow_heif.register_heif_opener()
    image.save(data, kind, **options)
    return data.getvalue()


def refusal(content: bytes) -> str:
    with pytest.raises(InvalidOption) as caught:
        read_picture(content, "my picture.png")
    assert caught.value.message.startswith("my picture.png ")
    assert "\n" not in caught.value.message
    return caught.value.message


def png_of(width: int, height: int) -> bytes:
    """A PNG that claims a size and has hardly any data."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "HEIF"])
def test_each_format_is_read(kind: str) -> None:
    found = read_picture(encoded(gradient(), kind), "a")
    assert (found.width, found.height, found.name) == (40, 24, "a")
    (pixels,) = scaled_picture(found, [(40, 24)])
    assert len(pixels) == 40 * 24 * 3


def test_one_picture_is_known_by_its_pixels_wherever_its_file_is(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(encoded(gradient()))
    here, there = read_picture(tmp_path / "a b.png"), read_picture(encoded(gradient(), compress_level=0))
    assert here.name == "a b.png"
    assert (here.sha256, here.path, here.content) == (there.sha256, str(tmp_path / "a b.png"), b"")
    assert read_picture(encoded(gradient(24, 40))).sha256 != here.sha256


@pytest.mark.parametrize("kind", ["PNG", "HEIF"])
@pytest.mark.parametrize(
    ("orientation", "turned"),
    [(3, Image.Transpose.ROTATE_180), (6, Image.Transpose.ROTATE_270), (7, Image.Transpose.TRANSVERSE)],
)
def test_a_camera_held_upright_gives_a_picture_that_is_upright(
    kind: str, orientation: int, turned: Image.Transpose
) -> None:
    """HEIC says it by a box of its own, and EXIF beside it must not turn the picture again."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    content = encoded(gradient(), kind, exif=exif.tobytes(), quality=100)
    assert kind != "HEIF" or b"irot" in content or b"imir" in content
    found = read_picture(content)
    expected = gradient().transpose(turned)
    assert (found.width, found.height) == expected.size
    (pixels,) = scaled_picture(found, [expected.size])
    furthest = max(abs(one - other) for one, other in zip(pixels, expected.tobytes(), strict=True))
    assert furthest <= (0 if kind == "PNG" else 60)  # HEVC blurs the colours of neighbours


def test_an_installation_without_its_library_says_so_of_heic(monkeypatch: pytest.MonkeyPatch) -> None:
    content = encoded(gradient(), "HEIF")
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    monkeypatch.setattr(Image, "OPEN", {name: how for name, how in Image.OPEN.items() if name != "HEIF"})
    assert probe(b"\0" + content) == b"!HEIC"
    assert probe(b"\0" + content.replace(b"ftyphei", b"ftypiso", 1)) == b"!unknown"


def test_what_is_transparent_is_white() -> None:
    found = read_picture(encoded(Image.new("RGBA", (2, 2), (0, 0, 0, 0))))
    assert scaled_picture(found, [(2, 2)]) == [b"\xff" * 12]


def test_grey_of_16_bits_keeps_its_shades() -> None:
    grey = Image.new("I;16", (3, 1))
    for x, value in enumerate((0, 0x8000, 0xFFFF)):
        grey.putpixel((x, 0), value)
    (pixels,) = scaled_picture(read_picture(encoded(grey)), [(3, 1)])
    assert list(pixels[::3]) == [0, 0x80, 0xFF]


@pytest.mark.parametrize("chained", [False, True])
def test_each_size_is_made_of_the_picture_or_of_the_one_before(chained: bool) -> None:
    first = gradient().resize((20, 12), Image.Resampling.LANCZOS)
    second = (first if chained else gradient()).resize((6, 6), Image.Resampling.LANCZOS)
    found = scaled_picture(read_picture(encoded(gradient())), [(20, 12), (6, 6)], 1, chained=chained)
    assert found == [first.tobytes(), second.tobytes()]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (png_of(100_000, 100_000), "more than 100 million pixels"),
        (png_of(50, 50), "is damaged"),
        (b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", "is no PNG"),
        (encoded(gradient(), "JPEG")[:-200], "is damaged"),
        (encoded(gradient(), "HEIF")[:-1], "is damaged"),
        (encoded(gradient(), "HEIF")[:400], "is damaged"),
        (encoded(gradient(), "HEIF")[:100], "is damaged"),
        (encoded(gradient())[:10], "is damaged"),
        (encoded(gradient(), "TIFF"), "is no PNG"),
        (b"", "is no PNG"),
        (b"x" * (MAX_PICTURE_BYTES + 1), "more than 64 MiB"),
    ],
)
def test_what_is_no_picture_is_refused_in_one_sentence(content: bytes, sentence: str) -> None:
    assert sentence in refusal(content)


def test_a_large_tiff_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.tiff"
    with path.open("wb") as file:
        file.write(b"II*\0")
        file.truncate(500 << 20)
    with pytest.raises(InvalidOption, match="more than 64 MiB"):
        read_picture(path)


def test_a_picture_that_was_changed_or_is_gone_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(encoded(gradient()))
    found = read_picture(path)
    path.write_bytes(encoded(gradient(41)))
    with pytest.raises(InvalidOption, match=r"a\.png is another picture"):
        scaled_picture(found, [(8, 8)])
    path.unlink()
    with pytest.raises(InvalidOption, match=r"a\.png is not there"):
        scaled_picture(found, [(8, 8)])


def test_reading_ends_when_nobody_waits() -> None:
    with pytest.raises(Cancelled):
        read_picture(encoded(gradient()), cancelled=lambda: True)
