"""Lists that a user has made: six processes at once, and files that a disk or an editor has damaged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import FileRefused, InvalidOption
from engine.hub.download import read_download
from engine.hub.endpoints import (
    Endpoint,
    ServedModel,
    endpoints,
    forget_endpoint,
    keep_endpoint,
    mend_endpoints,
    renew_endpoint,
)
from engine.hub.model_folders import ModelFolders, add_folder, data_folder, mend_folders, read_folders
from engine.json_text import readable_json

FOLDERS = {"own": "/mnt/large", "former": ["/home/me/models"], "added": ["/a", "/b/ä", "/c"]}
SERVERS = tuple(
    Endpoint(name, f"https://{name}", "vllm", (ServedModel("one", 32768, "switch"), ServedModel("two")))
    for name in ("first", "second", "third", "fourth")
)


@pytest.fixture
def folders() -> Path:
    path = data_folder() / "model-folders.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(FOLDERS, indent=1), encoding="utf-8")
    return path


@pytest.fixture
def servers() -> Path:
    for server in SERVERS:
        keep_endpoint(server)
    return data_folder() / "servers.json"


def aside(path: Path) -> list[bytes]:
    return [kept.read_bytes() for kept in path.parent.glob(f"{path.stem}-unreadable-*.json")]


def test_six_processes_at_once_and_all_six_are_kept() -> None:
    program = (
        "import sys; from pathlib import Path; from engine.hub.model_folders import add_folder\n"
        "from engine.hub.endpoints import Endpoint, keep_endpoint\n"
        "name = sys.argv[1]; print(flush=True); input(); add_folder(Path('/folders') / name)\n"
        "keep_endpoint(Endpoint(name, f'https://{name}'))"
    )
    names = [f"n{number}" for number in range(6)]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in names
    ]
    for each in running:
        each.stdout.readline()  # everything is imported
    for each in running:
        each.stdin.write("\n")
        each.stdin.flush()
    for each in running:
        each.communicate()
        assert each.returncode == 0
    assert sorted(Path(folder).name for folder in read_folders().added) == names
    assert sorted(server.name for server in endpoints()) == names
    assert not [path for path in data_folder().iterdir() if path.suffix == ".part"]


def test_what_is_left_of_a_list_that_was_cut_is_kept_and_it_is_said(
    folders: Path, servers: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = folders.read_bytes()
    cut = whole[: whole.index(b'"/c"')]
    folders.write_bytes(cut)
    assert read_folders() == ModelFolders("/mnt/large", ("/home/me/models",), ("/a", "/b/ä"))
    assert folders.read_bytes() == cut  # reading changes nothing
    add_folder(Path("/d"))
    assert read_folders() == ModelFolders("/mnt/large", ("/home/me/models",), ("/a", "/b/ä", "/d"))
    assert aside(folders) == [cut]
    whole = servers.read_bytes()
    cut = whole[: whole.index(b'"https://third"')]
    servers.write_bytes(cut)
    mend_endpoints()
    assert endpoints() == SERVERS[:2]
    assert aside(servers) == [cut]
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert all("was damaged" in sentence and "-unreadable-" in sentence for sentence in said)
    mend_folders()
    mend_endpoints()
    assert len(caplog.records) == 2


@pytest.mark.parametrize(
    ("content", "left"),
    [
        (b"", ()),
        (b"[]", ()),
        (b"null", ()),
        (b"\0" * 100, ()),
        (b"\xff\xfe{", ()),
        (b'{"added": ["/a", "/b",]}', ("/a", "/b")),
        (b'{"added": ["/a" "/b"]}', ("/a", "/b")),
        (b'{"added": ["/a", 5, "/b"]}', ("/a", "/b")),
        (b'{"own": 5, "added": ["/a"]}', ("/a",)),
        (b'{"added": ["/a", "/\xff", "/b"]}', ("/a", "/b")),
        (b'{"added": "/a"}', ()),
        (b'{"added": ["/a"], "former": ["/b"', ("/a",)),
    ],
)
def test_lists_that_an_editor_or_a_disk_has_damaged(content: bytes, left: tuple[str, ...], folders: Path) -> None:
    folders.write_bytes(content)
    assert read_folders().added == left
    add_folder(Path("/new"))
    assert read_folders().added == (*left, "/new")
    assert aside(folders) == [content]


@given(st.integers(0, 2000), st.integers(1, 80), st.booleans())
def test_no_damage_gives_a_server_another_ones_address(place: int, length: int, cut: bool) -> None:
    text = json.dumps(
        {"servers": [{"name": name, "address": f"https://{name}"} for name in ("a", "b", "c", "d", "e")]},
        indent=1,
    )
    place %= len(text)
    rest = "" if cut else "\0" * length + text[place + length :]
    for server in readable_json(text[:place] + rest).get("servers", []):
        if isinstance(server, dict) and {"name", "address"} <= server.keys():
            assert server["address"] == f"https://{server['name']}"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders")
def test_what_cannot_be_read_is_not_overwritten(folders: Path, caplog: pytest.LogCaptureFixture) -> None:
    folders.unlink()
    os.mkfifo(folders)
    assert read_folders() == ModelFolders()
    with pytest.raises(OSError, match="it is not a file"):
        add_folder(Path("/new"))
    mend_folders()
    assert folders.is_fifo()
    assert "cannot be read" in caplog.records[-1].getMessage()
    (data_folder() / "servers.json").mkdir()
    with pytest.raises(FileRefused, match="cannot be written"):
        keep_endpoint(SERVERS[0])


def test_a_server_is_never_put_in_the_place_of_another_one_nor_brought_back(servers: Path) -> None:
    with pytest.raises(InvalidOption, match="cannot be the server's name"):
        keep_endpoint(Endpoint("first", "https://elsewhere"))
    keep_endpoint(Endpoint("renamed", "https://second"))
    assert [server.name for server in endpoints()] == ["first", "renamed", "third", "fourth"]
    forget_endpoint("third")
    asked = Endpoint("third", "https://third", "vllm", (ServedModel("other"),))
    assert not renew_endpoint(SERVERS[2], asked)  # it was asked while it was forgotten
    assert [server.name for server in endpoints()] == ["first", "renamed", "fourth"]
    assert renew_endpoint(SERVERS[3], Endpoint("fourth", "https://fourth"))
    assert endpoints()[2].models == ()


def test_a_damaged_note_of_a_download_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    note = tmp_path / "download.json"
    note.write_text('{"version": 1, "plan": {"name": "sm')
    assert read_download(tmp_path) is None
    assert aside(note) == [b'{"version": 1, "plan": {"name": "sm']
    assert "was damaged" in caplog.records[-1].getMessage()
    assert not note.exists()
    note.write_text('{"version": 2}')  # of a later Tenon
    assert read_download(tmp_path) is None
    assert note.exists()
