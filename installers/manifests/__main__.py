"""Fills the manifests in and packs them: ``python -m installers.manifests FOLDER``, which holds the release's files."""

from __future__ import annotations

import io
import re
import sys
import tarfile
from pathlib import Path

from app.version import HOMEPAGE
from installers.checksums import sha256
from installers.product import COMMAND, CONTACT, LICENCE, NAME, PUBLISHER, SUMMARY, version

TEMPLATES = Path(__file__).with_name("templates")
RELEASES = f"{HOMEPAGE}/releases"


def manifests(release: Path) -> dict[str, str]:
    """Return the manifests by their paths.

    Args:
        release: Folder with the release's files.

    Raises:
        FileNotFoundError: one that a manifest names is not there.
    """
    words = {
        "VERSION": version(), "RELEASES": RELEASES, "ADDRESS": f"{RELEASES}/v{version()}", "HOMEPAGE": HOMEPAGE,
        "NAME": NAME, "SUMMARY": SUMMARY, "PUBLISHER": PUBLISHER, "LICENCE": LICENCE, "CONTACT": CONTACT,
    }  # fmt: skip

    def filled(text: str) -> str:
        text = re.sub(r"@([A-Z]+)@", lambda found: words[found[1]], text)
        return re.sub(r"@SHA256 ([^@]+)@", lambda found: sha256(release / found[1]), text)

    return {
        path.relative_to(TEMPLATES).as_posix(): filled(path.read_text(encoding="utf-8"))
        for path in sorted(TEMPLATES.rglob("*"))
        if path.is_file()
    }


def main() -> None:
    """Write them into one archive beside the release's files, and print its name."""
    release = Path(sys.argv[1])
    target = release / f"{COMMAND}-{version()}-manifests.tar.gz"
    with tarfile.open(target, "w:gz") as archive:
        for name, text in manifests(release).items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode("utf-8"))
            archive.addfile(entry, io.BytesIO(text.encode("utf-8")))
    print(target)


if __name__ == "__main__":
    main()
