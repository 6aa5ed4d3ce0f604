"""Qt's ICU with less data."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import PySide6
import pytest

from installers.linux.icu import cut_down, slim, wanted

LIBRARIES = sorted(Path(PySide6.__file__).parent.glob("Qt/lib/libicudata.so.*"))

_USE = """
from PySide6.QtCore import QCollator, QLocale, QTimeZone
for language, words in (("de_DE", ["Zug", "Äpfel", "Apfel", "Birne"]), ("zh_CN", ["重庆", "北京", "安徽"]),
                        ("sv_SE", ["b", "a", "c"])):
    collator = QCollator(QLocale(language))
    print(*sorted(words, key=collator.sortKey))
assert QTimeZone(b"Europe/Berlin").isValid()
"""


@pytest.mark.parametrize(
    ("name", "stays"),
    [
        ("de.res", True),
        ("zh_Hans_CN.res", True),
        ("coll/zh.res", True),
        ("coll/root.res", True),
        ("coll/ucadata.icu", True),
        ("root.res", True),
        ("supplementalData.res", True),
        ("nfkc.nrm", True),
        ("fr.res", False),
        ("coll/fr_CA.res", False),
        ("lang/de.res", False),
        ("brkitr/cjdict.dict", False),
        ("euc-jp-2007.cnv", False),
    ],
)
def test_entries_that_stay(name: str, stays: bool) -> None:
    assert wanted(name) is stays


def test_other_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="no data of ICU"):
        cut_down(bytes(200))


@pytest.mark.skipif(
    not LIBRARIES or shutil.which("cc") is None, reason="Qt brings no ICU here, or there is no compiler"
)
def test_qt_sorts_as_before_with_a_quarter_of_it(tmp_path: Path) -> None:
    library = tmp_path / LIBRARIES[0].name
    shutil.copyfile(LIBRARIES[0], library)
    slim(library)
    assert library.stat().st_size < LIBRARIES[0].stat().st_size / 4
    said = []
    for preloaded in ("", str(library)):
        environment = {**os.environ, "LD_PRELOAD": preloaded, "LANG": "C.UTF-8"}
        done = subprocess.run(
            [sys.executable, "-c", _USE],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, "")
        said.append(done.stdout)
    assert said[0] == said[1]
    assert said[0].splitlines()[:2] == ["Apfel Äpfel Birne Zug", "安徽 北京 重庆"]
