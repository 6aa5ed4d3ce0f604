"""The file that the update check reads, and its signature: ``python -m installers.latest FOLDER``.

The environment variable TENON_RELEASE_KEY holds minisign's secret key (the whole file, without a password), whose
public one is `app.version.RELEASES_KEY`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import minisign

from app.version import RELEASES_KEY
from installers.product import version
from installers.release_notes import release_notes

SECRET_KEY = "TENON_RELEASE_KEY"


def write_latest(folder: Path, secret_key: str, public_key: str = RELEASES_KEY) -> Path:
    """Write ``latest.json`` and ``latest.json.minisig``.

    Args:
        secret_key: Text of minisign's file.
        public_key: The one that windows check with, in base64.

    Raises:
        Error: minisign's; a key is none, or they do not belong together.
    """
    news = "\n".join(f"• {note}" for note in release_notes())
    data = json.dumps({"version": version(), "news": news}, ensure_ascii=False).encode("utf-8")
    signature = minisign.SecretKey.from_bytes(secret_key.encode("ascii")).sign(data)
    minisign.PublicKey.from_base64(public_key).verify(data, signature)
    target = folder / "latest.json"
    target.write_bytes(data)
    target.with_name("latest.json.minisig").write_bytes(bytes(signature))
    return target


if __name__ == "__main__":
    print(write_latest(Path(sys.argv[1]), os.environ[SECRET_KEY]))
