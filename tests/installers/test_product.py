"""What every installer says of the product."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import app.version
from engine.hub.bundled import bundled_model
from installers import product
from installers.icons import png, write_icns, write_ico

FOLDER = product.ROOT / "installers"


def test_there_is_one_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", product.version())
    assert product.version() == app.version._FALLBACK


def test_formats_that_take_numbers_alone_get_them() -> None:
    assert [product.numbers(own) for own in ("0.2.0", "0.2.0rc1", "1.0.0a12")] == ["0.2.0", "0.2.0", "1.0.0"]


def test_icons_and_pages_about_the_models_are_there() -> None:
    assert product.ICON.is_file()
    assert product.SMALL_ICON.is_file()
    for name in product.MODELS:
        model = bundled_model(name)
        assert model is not None
        assert not model.is_there or (model.folder / "README.md").is_file()


def test_file_types_are_whole() -> None:
    for kind in product.FILE_TYPES:
        assert kind.suffix.startswith(".")
        assert re.fullmatch(r"[a-z]+/[a-z0-9.+-]+", kind.mime)
        assert kind.title
        assert kind.magic


def test_icons_have_the_sizes_that_they_say(tmp_path: Path) -> None:
    for size_px in (16, 48):
        data = png(size_px)
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        assert (int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")) == (size_px, size_px)
    write_ico(tmp_path / "a.ico")
    ico = (tmp_path / "a.ico").read_bytes()
    count = int.from_bytes(ico[4:6], "little")
    assert ico[:4] == b"\0\0\1\0"
    for number in range(count):
        entry = ico[6 + 16 * number : 22 + 16 * number]
        length, offset = int.from_bytes(entry[8:12], "little"), int.from_bytes(entry[12:16], "little")
        image = ico[offset : offset + length]
        assert image.startswith(b"\x89PNG")
        assert image[19] or image[18] == 1
        assert entry[0] == image[19]  # the side, of which 256 is 0
    write_icns(tmp_path / "a.icns")
    icns = (tmp_path / "a.icns").read_bytes()
    assert icns[:4] == b"icns"
    assert int.from_bytes(icns[4:8], "big") == len(icns)


def test_no_registry_is_named() -> None:
    hosts = re.compile(r"pypi\.org|pythonhosted|download\.pytorch|conda\.anaconda|index-url=https?:", re.IGNORECASE)
    named = [
        path.name
        for path in (*FOLDER.rglob("*"), product.ROOT / ".github" / "workflows" / "release.yml")
        if path.is_file() and path.suffix != ".pyc" and hosts.search(path.read_text(encoding="utf-8"))
    ]
    assert named == []


def test_the_tests_run_without_pyinstaller() -> None:
    # The hooks import it, and nothing else may: the fast tests have no build environment.
    importers = [
        path.name
        for path in FOLDER.glob("*.py")
        if re.search(r"^(from|import) PyInstaller", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert importers == []
    assert find_spec("installers.build") is not None
