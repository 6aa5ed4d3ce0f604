"""Content of an index, and the wheels of it that an add-on takes."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from engine.errors import AddonUnusable, DownloadFailed, HubUnreachable, InvalidOption, NotOnHub
from engine.gpu_addon.wheels import WheelIndex, choose_wheels
from tests.engine.gpu_addon.conftest import BUNDLED
from tests.support.wheel_server import PYTHON, TORCH, WheelServer, make_wheel, put_addon, torch_files


@pytest.fixture
def index(server: WheelServer) -> Iterator[WheelIndex]:
    connection = WheelIndex(server.index, stall_s=20.0)
    yield connection
    connection.close()


def test_torch_comes_with_what_its_gpu_build_needs_and_nothing_that_is_there(
    server: WheelServer, index: WheelIndex
) -> None:
    torch, library = put_addon(server)
    chosen = choose_wheels(index, BUNDLED)
    assert [wheel.file_name for wheel in chosen] == [torch, library]
    assert [(wheel.name, wheel.version) for wheel in chosen] == [
        ("torch", f"{TORCH}+cu130"),
        ("nvidia-cublas", "1.2.3"),
    ]
    for wheel in chosen:
        assert wheel.sha256 == server.sha256(wheel.file_name)
        assert wheel.size_bytes == len(server.wheels[wheel.file_name])
    assert chosen[0].unpacked_bytes > sum(map(len, torch_files().values()))
    # Nothing was fetched for that but the ends of files.
    assert server.fetched() == []


def test_what_a_library_needs_is_followed_with_its_extras(server: WheelServer, index: WheelIndex) -> None:
    server.put("torch", TORCH, torch_files(), ["cuda-toolkit[cublas,nvrtc]==13.0.2"])
    server.put(
        "cuda-toolkit",
        "13.0.2",
        requires=[
            "nvidia-cublas==1.*; extra == 'cublas'",
            "nvidia-nvrtc; extra == 'nvrtc'",
            "nvidia-nvcc; extra == 'all'",
        ],
    )
    server.put("nvidia-cublas", "1.0.9")
    server.put("nvidia-cublas", "1.2.0")
    server.put("nvidia-cublas", "2.0.0")
    server.put("nvidia-nvrtc", "7", requires=["nvidia-cublas", "SymPy"])
    names = [(wheel.name, wheel.version) for wheel in choose_wheels(index, BUNDLED)]
    assert names == [
        ("torch", TORCH),
        ("cuda-toolkit", "13.0.2"),
        ("nvidia-cublas", "1.2.0"),
        ("nvidia-nvrtc", "7"),
    ]


@pytest.mark.parametrize(
    ("version", "tag"),
    [
        (TORCH, "cp27-cp27m-any"),
        (TORCH, f"{PYTHON}-{PYTHON}-{'win_amd64' if sys.platform != 'win32' else 'manylinux_2_28_x86_64'}"),
        ("9.8.8", "py3-none-any"),
    ],
)
def test_no_torch_for_this_python_system_or_version_is_none(
    version: str, tag: str, server: WheelServer, index: WheelIndex
) -> None:
    server.put("torch", version, torch_files(), tag=tag)
    assert choose_wheels(index, BUNDLED) == ()


def test_an_index_without_torch_is_none(server: WheelServer, index: WheelIndex) -> None:
    assert choose_wheels(index, BUNDLED) == ()


def test_a_file_that_was_withdrawn_or_is_for_other_pythons_is_not_taken(server: WheelServer, index: WheelIndex) -> None:
    server.put("torch", TORCH, torch_files(), ["helper-library"])
    for version, attribute in (
        ("1.0", ""),
        ("1.1", 'data-requires-python="&lt;3"'),
        ("1.2", 'data-yanked=""'),
    ):
        server.attributes[server.put("helper-library", version)] = attribute
    server.wheels["helper_library-nonsense.whl"] = b""
    assert [wheel.version for wheel in choose_wheels(index, BUNDLED)] == [TORCH, "1.0"]


def test_a_library_that_is_not_there_is_named(server: WheelServer, index: WheelIndex) -> None:
    server.put("torch", TORCH, torch_files(), ["nvidia-cudnn-cu13==9.20.0.48"])
    with pytest.raises(AddonUnusable, match=r"no nvidia-cudnn-cu13==9.20.0.48 for this system and Python"):
        choose_wheels(index, BUNDLED)


def test_versions_that_exclude_each_other_are_refused(server: WheelServer, index: WheelIndex) -> None:
    server.put("torch", TORCH, torch_files(), ["one==1", "two"])
    server.put("one", "1")
    server.put("two", "1", requires=["one==2"])
    with pytest.raises(AddonUnusable, match="contradicts itself about one"):
        choose_wheels(index, BUNDLED)


def test_a_wheel_without_a_hash_is_refused(server: WheelServer, index: WheelIndex) -> None:
    server.unhashed.add(server.put("torch", TORCH, torch_files()))
    with pytest.raises(DownloadFailed, match="no SHA-256"):
        choose_wheels(index, BUNDLED)


@pytest.mark.parametrize("content", [b"no archive", make_wheel("torch", "1", {})[:-30], b""])
def test_what_is_no_wheel_is_refused(content: bytes, server: WheelServer, index: WheelIndex) -> None:
    server.wheels[f"torch-{TORCH}-py3-none-any.whl"] = content
    with pytest.raises(DownloadFailed, match="is no wheel"):
        choose_wheels(index, BUNDLED)


@pytest.mark.parametrize(
    "address", ["download.example", "http://[::1", "https://a:b", "https://a b", f"https://{'a' * 64}.example"]
)
def test_addresses_that_are_none_are_refused(address: str) -> None:
    with pytest.raises(InvalidOption, match="no address of a package index"):
        WheelIndex(address)


def test_servers_that_are_away_are_named() -> None:
    index = WheelIndex("http://127.0.0.1:9/whl", connect_s=2.0)
    with pytest.raises(HubUnreachable, match=r"127\.0\.0\.1 cannot be reached"):
        index.links("torch")
    with pytest.raises(HubUnreachable, match=r"127\.0\.0\.1 cannot be reached"):
        index.size_bytes("http://127.0.0.1:9/torch.whl")
    index.close()


def test_a_file_that_went_away_after_the_page_was_read(server: WheelServer, index: WheelIndex) -> None:
    name = server.put("torch", TORCH, torch_files())
    (link,) = index.links("torch")
    del server.wheels[name]
    with pytest.raises(NotOnHub, match="The package index has no"):
        index.size_bytes(link.url)
