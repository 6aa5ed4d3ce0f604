"""The file that windows read to hear of this version."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import minisign
import pytest

from app.bridge import update_check
from installers.latest import write_latest
from installers.product import version
from installers.release_notes import release_notes


def test_a_window_believes_what_was_written(tmp_path: Path) -> None:
    keys, other = minisign.KeyPair.generate(), minisign.KeyPair.generate()
    public = keys.public_key.to_base64().decode()
    write_latest(tmp_path, bytes(keys.secret_key).decode(), public)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(tmp_path)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        release = update_check.latest_release(f"http://127.0.0.1:{server.server_port}/latest.json", public)
    finally:
        server.shutdown()
        server.server_close()
    assert release is not None
    assert release.version == version()
    assert release.news.startswith("• ")
    assert (tmp_path / "latest.json").stat().st_size <= update_check._MOST_BYTES
    with pytest.raises(minisign.VerifyError):
        write_latest(tmp_path, bytes(other.secret_key).decode(), public)


def test_the_notes_are_whole_plain_sentences() -> None:
    notes = release_notes()
    assert 3 <= len(notes) <= 12
    assert all(note.endswith(".") and "`" not in note and "\n" not in note for note in notes)
