"""Pictures of the user, decoded by Pillow in a process like the one that reads documents."""

from __future__ import annotations

import io
import json
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from engine.documents.reading import READER, on_one_line
from engine.errors import InvalidOption
from engine.files import read_file
from engine.json_text import read_json
from engine.messages import Picture
from engine.preparer import Died, TookTooLong, TookTooMuch
from engine.sentences import figure, mark

if TYPE_CHECKING:
    from PIL import Image

# With the bounds of documents; but a chat has many pictures, and to start a process takes half a second.
_READER = replace(READER, name="tenon-pictures", kept_bytes=256 << 20, idle_s=10.0)
MAX_PICTURE_BYTES = 64 << 20
#: Most pixels: in memory each takes three bytes, and turning and drawing on white make copies.
MAX_PIXELS = 100_000_000
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "HEIF")
_UNKNOWN, _DAMAGED, _TOO_MANY, _HEIC = "unknown", "damaged", "too many", "HEIC"
_REFUSALS = {
    _UNKNOWN: mark("{name} is no PNG, JPEG, WebP, GIF or HEIC picture: save it as one of these."),
    _DAMAGED: mark("{name} is damaged: open it in another program and save it again."),
    _HEIC: mark("{name} is a HEIC picture, which this installation cannot read: save it as JPEG."),
    _TOO_MANY: mark("{name} has more than {most} million pixels: make the picture smaller."),
}
_PROBE, _SCALE, _ENCODE = (f"{__name__}:{work}" for work in ("probe", "scale", "encode"))
_NAMES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".heic", ".heif", ".avif", ".bmp", ".ico", ".tif", ".tiff")
_BEGINNINGS = re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8|RIFF....WEBP|....ftyp(?:hei|hev|mif1|msf1)", re.DOTALL)
# Servers scale a larger one down themselves: https://platform.openai.com/docs/guides/images-vision
_MOST_SENT_SIDE, _QUALITY = 2048, 90


def is_picture(path: Path) -> bool:
    """Return whether a file is a picture by its name or its beginning, one that can be read or not."""
    try:
        return path.suffix.lower() in _NAMES or bool(_BEGINNINGS.match(read_file(path, 16)))
    except OSError:
        return False


def read_picture(
    source: Path | bytes, name: str = "", cancelled: Callable[[], bool] = lambda: False, at: int = 0
) -> Picture:
    """Check a picture to send: PNG, JPEG, WebP, a GIF's first frame, or HEIC. Takes up to a minute.

    Args:
        name: Name for messages; empty for the file's own.
        cancelled: True once nobody waits for it any more.
        at: Place of the picture in the message's text, in characters.

    Raises:
        InvalidOption: It cannot be read, or is no picture; the sentence names it.
        Cancelled: Nobody waits any more.
    """
    path, content = (source, b"") if isinstance(source, Path) else (None, source)
    name = on_one_line(name or (path.name if path else "")) or "picture"
    found = read_json(_asked(_PROBE, name, picture_content(path, content, name), {}, cancelled))
    size = int(found["width"]), int(found["height"])
    return Picture(str(found["sha256"]), *size, str(path or ""), content, name, at)


def scaled_picture(
    picture: Picture,
    sizes: Sequence[tuple[int, int]],
    resample: int = 3,
    cancelled: Callable[[], bool] = lambda: False,
    chained: bool = False,
) -> list[bytes]:
    """Return a picture in some sizes.

    Args:
        picture: The picture; one without a digest is taken as it is.
        sizes: Width and height of each size, in pixels.
        resample: Pillow's number of a filter: 1 for Lanczos, 2 for bilinear, 3 for bicubic.
        cancelled: True once nobody waits for it any more.
        chained: True if each size is made of the one before, and not of the picture.

    Returns:
        For each size its pixels row by row, in red, green and blue of 8 bits.

    Raises:
        InvalidOption: The picture cannot be read, or is another one than it was.
        Cancelled: Nobody waits any more.
    """
    name = picture.name or "picture"
    wanted = {"sizes": list(sizes), "resample": resample, "sha256": picture.sha256, "chained": chained}
    whole = memoryview(_asked(_SCALE, name, _file_of(picture), wanted, cancelled))
    ends = [0]
    for width, height in sizes:
        ends.append(ends[-1] + 3 * width * height)
    if len(whole) != ends[-1]:
        raise InvalidOption("{name} is another picture than it was: attach it again.", name=name)
    return [bytes(whole[begin:end]) for begin, end in pairwise(ends)]


def sent_picture(picture: Picture, cancelled: Callable[[], bool] = lambda: False) -> bytes:
    """Return a picture as servers of others get it: a PNG or JPEG file of pixels alone, without place and time.

    Raises:
        InvalidOption: The picture cannot be read.
        Cancelled: Nobody waits any more.
    """
    return _asked(_ENCODE, picture.name or "picture", _file_of(picture), {}, cancelled)


def _file_of(picture: Picture) -> bytes:
    path = Path(picture.path) if picture.path else None
    return picture_content(path, picture.content, picture.name or "picture")


def picture_content(path: Path | None, content: bytes, name: str) -> bytes:
    """Return the bytes of a picture's file, those given if there is no path.

    Raises:
        InvalidOption: The file cannot be read, or is too large.
    """
    try:
        content = content if path is None else read_file(path, MAX_PICTURE_BYTES + 1)
    except FileNotFoundError as error:
        raise InvalidOption("{name} is not there: choose the picture again.", name=name) from error
    except OSError as error:
        raise InvalidOption(
            "{name} cannot be read ({reason}): choose a picture that can be read.", name=name, reason=error.strerror
        ) from error
    if len(content) > MAX_PICTURE_BYTES:
        raise InvalidOption(
            "{name} has more than {most} MiB: make the picture smaller.", name=name, most=MAX_PICTURE_BYTES >> 20
        )
    return content


def _asked(work: str, name: str, content: bytes, wanted: dict[str, object], cancelled: Callable[[], bool]) -> bytes:
    try:
        answer = _READER.ask(work, json.dumps(wanted).encode() + b"\0" + content, cancelled)
    except (Died, RuntimeError) as error:
        raise InvalidOption(_REFUSALS[_DAMAGED], name=name) from error
    except (TookTooLong, TookTooMuch) as error:
        raise InvalidOption(
            "{name} takes more than {seconds} s or {most} MiB of memory to read: make the picture smaller.",
            name=name,
            seconds=figure(_READER.clock_s, ".0f"),
            most=_READER.memory_bytes >> 20,
        ) from error
    kind, answer = answer[:1], answer[1:]
    if kind == b"!":
        raise InvalidOption(_REFUSALS[answer.decode()], name=name, most=MAX_PIXELS // 1_000_000)
    return answer


# --- in the process ---------------------------------------------------------------------------------------------------


class _Refused(Exception):
    """Reason why a picture is not read."""


def probe(question: bytes) -> bytes:
    """Return the size of a picture and the digest of its pixels, as JSON."""
    try:
        image = _opened(question.partition(b"\0")[2])
    except _Refused as error:
        return b"!" + str(error).encode()
    found = {"width": image.width, "height": image.height, "sha256": _digest(image)}
    return b"=" + json.dumps(found).encode()


def scale(question: bytes) -> bytes:
    """Return a picture in some sizes; nothing if it has another digest."""
    from PIL import Image

    head, _, content = question.partition(b"\0")
    wanted = read_json(head)
    try:
        image = _opened(content)
    except _Refused as error:
        return b"!" + str(error).encode()
    if wanted["sha256"] and _digest(image) != wanted["sha256"]:
        return b"="
    parts = [b"="]
    for size in wanted["sizes"]:
        scaled = image.resize(tuple(size), Image.Resampling(wanted["resample"]))
        parts.append(scaled.tobytes())
        image = scaled if wanted["chained"] else image
    return b"".join(parts)


def encode(question: bytes) -> bytes:
    """Return a picture as a file for a server: what was without loss stays so."""
    content = question.partition(b"\0")[2]
    try:
        image = _opened(content)
    except _Refused as error:
        return b"!" + str(error).encode()
    image.thumbnail((_MOST_SENT_SIDE, _MOST_SENT_SIDE))
    file = io.BytesIO()
    lossless = content.startswith((b"\x89PNG", b"GIF8"))
    image.save(file, "PNG" if lossless else "JPEG", quality=_QUALITY)
    return b"=" + file.getvalue()


def _opened(content: bytes) -> Image.Image:
    """Return a picture as people see it: turned as EXIF says, its first frame, on white where it is transparent."""
    from PIL import Image, ImageFile, ImageOps, UnidentifiedImageError

    with suppress(ImportError):
        from pillow_heif import register_heif_opener

        register_heif_opener()
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    Image.MAX_IMAGE_PIXELS = None  # the size is looked at here, before anything is decoded
    Image.init()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image: Image.Image = Image.open(io.BytesIO(content), formats=[one for one in _FORMATS if one in Image.OPEN])
            if image.width * image.height > MAX_PIXELS:
                raise _Refused(_TOO_MANY)
            image.load()
            image = ImageOps.exif_transpose(image)
            if image.mode.startswith("I;16"):  # Pillow would cut off what is brighter than 255
                return image.point(lambda value: value / 256).convert("L").convert("RGB")
            if image.has_transparency_data:
                image = image.convert("RGBA")
                white = Image.new("RGB", image.size, "white")
                white.paste(image, mask=image.getchannel("A"))
                return white
            return image.convert("RGB")
    except UnidentifiedImageError:
        if not _BEGINNINGS.match(content):
            raise _Refused(_UNKNOWN) from None
        raise _Refused(_HEIC if content[4:8] == b"ftyp" and "HEIF" not in Image.OPEN else _DAMAGED) from None
    except MemoryError:
        raise
    except (OSError, SyntaxError, ValueError, TypeError, KeyError, IndexError, EOFError, OverflowError):
        raise _Refused(_DAMAGED) from None


def _digest(image: Image.Image) -> str:
    digest = sha256(f"{image.width}x{image.height}:".encode())
    for piece in _pieces(image):
        digest.update(piece)
    return digest.hexdigest()


def _pieces(image: Image.Image) -> Iterator[bytes]:
    rows = max(1, (1 << 22) // (3 * image.width))
    for top in range(0, image.height, rows):
        yield image.crop((0, top, image.width, min(image.height, top + rows))).tobytes()
