"""Fetching an add-on from an index, and everything that can go wrong on the way."""

from __future__ import annotations

import errno
import hashlib
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.errors import (
    AddonUnusable,
    Cancelled,
    DownloadFailed,
    FileRefused,
    HubError,
    HubUnreachable,
    OutOfDisk,
)
from engine.gpu_addon import installation
from engine.gpu_addon.addon import Addon
from engine.gpu_addon.installation import AddonPlan, AddonProgress, Installation, make_plan
from engine.gpu_addon.installed_addon import (
    Outcome,
    altered_file,
    find_installed,
    gpu_folder,
    removable_bytes,
    remove_all,
)
from engine.gpu_addon.wheels import unpack
from engine.hub import transfer
from engine.hub.transfer import StopSignal
from tests.engine.gpu_addon.conftest import ADDON, BUNDLED, IMPATIENT
from tests.support.hub_faults import corrupt, cut, status
from tests.support.wheel_server import WheelServer, make_wheel, put_addon, torch_files

INCOMING = ".incoming"


@pytest.fixture(autouse=True)
def _unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the check pass: another file tests that it works."""
    monkeypatch.setattr(installation, "checked", lambda addon: Outcome("", None, ("Test GPU",)))


def plan_of(server: WheelServer) -> AddonPlan:
    return make_plan([ADDON], BUNDLED, server.index)


def install(plan: AddonPlan, stop: StopSignal | None = None, **more: Any) -> list[AddonProgress]:
    seen: list[AddonProgress] = []
    Installation(plan, stop or StopSignal(), seen.append, IMPATIENT, **more).run()
    return seen


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def test_it_arrives_whole_and_leaves_nothing_else(server: WheelServer) -> None:
    torch, library = put_addon(server)
    plan = plan_of(server)
    assert plan.size_bytes == len(server.wheels[torch]) + len(server.wheels[library])
    assert find_installed() is None
    seen = install(plan)
    addon = find_installed()
    assert (addon.name, addon.title, addon.torch, addon.python) == (
        "cuda-13.0",
        "CUDA 13.0",
        BUNDLED.version,
        f"cp{sys.version_info.major}{sys.version_info.minor}",
    )
    assert addon.wheels == {name: server.sha256(name) for name in (torch, library)}
    for path, content in torch_files().items():
        assert (addon.folder / path).read_bytes() == content
    assert (addon.folder / "nvidia/cublas/lib/libcublas.so.13").is_file()
    assert names(gpu_folder()) <= {"cuda-13.0", ".incoming.lock"}
    # The size that was said was right, but for the files that Tenon writes beside it.
    compiled = list(addon.folder.rglob("*.pyc"))
    assert {path.stem.partition(".")[0] for path in compiled} >= {path.stem for path in addon.folder.rglob("*.py")}
    more = [*compiled, addon.folder / "tenon-gpu.json"]
    assert addon.size_bytes == plan.unpacked_bytes + sum(path.stat().st_size for path in more)
    assert altered_file(addon.folder, frozenset()) is None
    (addon.folder / "nvidia/cublas/lib/libcublas.so.13").write_bytes(b"another")
    assert altered_file(addon.folder, frozenset()) == "nvidia/cublas/lib/libcublas.so.13"

    steps = [progress.step for progress in seen]
    assert list(dict.fromkeys(steps)) == ["receiving", "unpacking", "checking"]
    for step, total in (("receiving", plan.size_bytes), ("unpacking", plan.unpacked_bytes)):
        done = [progress.done_bytes for progress in seen if progress.step == step]
        assert done == sorted(done)
        assert done[-1] == total
        assert {progress.total_bytes for progress in seen if progress.step == step} == {total}


def test_the_first_build_that_the_index_has_is_taken(server: WheelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    put_addon(server)
    newest = Addon("cuda-99", "CUDA 99", "nvidia", ("Linux",), "cu990")
    addresses = {addon.name: f"{server.address}/whl/{addon.folder}" for addon in (newest, ADDON)}
    monkeypatch.setattr(installation, "index_address", lambda addon: addresses[addon.name])
    plan = make_plan([newest, ADDON], BUNDLED)
    assert (plan.addon, plan.address) == (ADDON, server.index)
    with pytest.raises(AddonUnusable, match=r"no torch 9.8.7 with CUDA 99 for this system and Python"):
        make_plan([newest], BUNDLED)


def test_an_add_on_without_an_index_of_its_own_asks_for_one(server: WheelServer) -> None:
    put_addon(server)
    jetson = Addon("jetson", "CUDA for Jetson", "jetson", ("Linux",), None, caution="NVIDIA keeps them apart.")
    with pytest.raises(AddonUnusable, match=r"needs the address of a package index: NVIDIA keeps them apart\."):
        make_plan([jetson], BUNDLED)
    assert make_plan([jetson], BUNDLED, server.index).addon == jetson


def test_a_wrong_hash_twice_ends_it_and_leaves_nothing_installed(server: WheelServer) -> None:
    torch, _ = put_addon(server)
    plan = plan_of(server)
    server.faults.append(corrupt)
    with pytest.raises(DownloadFailed, match=r"torch-9.*of the package index arrived damaged twice"):
        install(plan)
    assert [name for name, _ in server.fetched()] == [torch, torch]
    assert find_installed() is None
    assert not any((gpu_folder() / INCOMING).glob("*.whl"))
    server.faults.clear()
    install(plan)
    assert find_installed() is not None


def test_a_wheel_that_is_another_one_than_the_page_says_is_never_unpacked(server: WheelServer) -> None:
    torch, _ = put_addon(server)
    plan = plan_of(server)
    other = make_wheel("torch", "9.8.7", torch_files(before="import evil\n"))
    server.wheels[torch] = other[: plan.wheels[0].size_bytes].ljust(plan.wheels[0].size_bytes, b"\0")
    with pytest.raises(DownloadFailed):
        install(plan)
    assert find_installed() is None
    assert not (gpu_folder() / INCOMING / "unpacked").exists()


def test_a_connection_that_breaks_off_goes_on_where_it_was(server: WheelServer) -> None:
    torch, _ = put_addon(server)
    plan = plan_of(server)
    server.once(cut(0.5))
    install(plan)
    (first, again) = [range_ for name, range_ in server.fetched() if name == torch]
    assert first is None
    assert again == f"bytes={len(server.wheels[torch]) // 2}-"
    assert find_installed() is not None


def test_an_index_that_is_away_for_long_ends_it_with_a_sentence_of_its_own(server: WheelServer) -> None:
    put_addon(server)
    plan = plan_of(server)
    server.faults.append(status(503))
    with pytest.raises(HubError, match=r"^127\.0\.0\.1 has trouble \(503\)"):
        install(plan)
    server.faults[:] = [cut(0.0)]
    with pytest.raises(HubUnreachable, match=r"connection to 127\.0\.0\.1 broke off"):
        install(plan)
    server.faults[:] = [status(403)]
    with pytest.raises(HubError, match="The package index answered 403"):
        install(plan)


@pytest.mark.parametrize("step", ["receiving", "unpacking"])
def test_what_is_stopped_goes_on_later(step: str, server: WheelServer) -> None:
    torch, library = put_addon(server)
    plan = plan_of(server)
    stop = StopSignal()

    def at_half(progress: AddonProgress) -> None:
        if progress.step == step and progress.done_bytes > progress.total_bytes / 2:
            stop.set()

    with pytest.raises(Cancelled):
        Installation(plan, stop, at_half, IMPATIENT).run()
    assert find_installed() is None
    assert removable_bytes() > plan.size_bytes / 2
    before = len(server.fetched())
    install(plan)
    assert find_installed() is not None
    later = server.fetched()[before:]
    if step == "unpacking":
        assert later == []
    else:
        assert (torch, None) not in later
        assert library in [name for name, _ in later]


def test_a_newer_plan_takes_nothing_from_an_older_one(server: WheelServer) -> None:
    put_addon(server)
    (gpu_folder() / INCOMING / "unpacked").mkdir(parents=True)
    (gpu_folder() / INCOMING / "unpacked" / "old.py").write_text("")
    (gpu_folder() / INCOMING / "torch-1.0-py3-none-any.whl.part").write_text("")
    install(plan_of(server))
    addon = find_installed()
    assert not (addon.folder / "old.py").exists()


def test_a_disk_without_room_is_said_before_anything_is_fetched(
    server: WheelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_addon(server)
    plan = plan_of(server)
    free = plan.size_bytes + plan.unpacked_bytes
    usage = shutil.disk_usage(Path.home())._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(OutOfDisk, match="The download needs"):
        install(plan, reserve_bytes=1)
    assert server.fetched() == []
    install(plan, reserve_bytes=0)
    assert find_installed() is not None


def test_wheels_that_came_still_need_room_to_be_unpacked(server: WheelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    put_addon(server)
    plan = plan_of(server)
    with monkeypatch.context() as patched:
        patched.setattr(installation, "unpack", _full)
        with pytest.raises(OutOfDisk, match=r"incoming cannot be written, because the disk is full: free some room"):
            install(plan)
    assert find_installed() is None
    usage = shutil.disk_usage(Path.home())._replace(free=plan.unpacked_bytes - 1)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda folder: usage)
        with pytest.raises(OutOfDisk, match="The download needs"):
            install(plan, reserve_bytes=0)
    install(plan)
    assert find_installed() is not None


def _full(*arguments: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_disk_that_is_full_while_it_comes_keeps_what_there_is(
    server: WheelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch, _ = put_addon(server)
    plan = plan_of(server)
    left = [200_000]

    class Filling(transfer.FileIO):
        def write(self, content: Any) -> int:
            if left[0] <= 0:
                _full()
            left[0] -= len(content)
            return super().write(content)

    with monkeypatch.context() as patched:
        patched.setattr(transfer, "FileIO", Filling)
        with pytest.raises(OutOfDisk, match="part cannot be written, because the disk is full"):
            install(plan)
    kept = (gpu_folder() / INCOMING / f"{torch}.part").stat().st_size
    assert kept >= 200_000
    before = len(server.fetched())
    install(plan)
    assert server.fetched()[before] == (torch, f"bytes={kept}-")


def test_a_wheel_that_was_whole_and_is_damaged_is_fetched_again(server: WheelServer) -> None:
    torch, _ = put_addon(server)
    plan = plan_of(server)
    size_bytes = next(wheel.size_bytes for wheel in plan.wheels if wheel.file_name == torch)
    whole = gpu_folder() / INCOMING / torch
    whole.parent.mkdir(parents=True)
    whole.write_bytes(bytes(size_bytes))
    install(plan)
    assert torch in [name for name, _ in server.fetched()]


def test_a_folder_that_cannot_be_written_is_named(
    server: WheelServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_addon(server)
    plan = plan_of(server)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TENON_DATA_DIR", str(tmp_path / "file"))
    with pytest.raises(FileRefused, match="file stands in the way"):
        install(plan)


def test_two_at_once_exclude_each_other(server: WheelServer) -> None:
    put_addon(server)
    plan = plan_of(server)
    refusals: list[str] = []

    def second(progress: AddonProgress) -> None:
        if not refusals:
            with pytest.raises(HubError) as refusal:
                install(plan)
            refusals.append(refusal.value.message)

    Installation(plan, StopSignal(), second, IMPATIENT).run()
    assert refusals == ["Another window or command of Tenon is fetching GPU support: wait for it."]
    assert find_installed() is not None


def test_another_one_takes_its_place_and_removing_frees_all(server: WheelServer) -> None:
    put_addon(server)
    install(plan_of(server))
    other = make_plan([Addon("cuda-12.6", "CUDA 12.6", "nvidia", ("Linux",), "cu126")], BUNDLED, server.index)
    install(other)
    addon = find_installed()
    assert addon.name == "cuda-12.6"
    assert not (gpu_folder() / "cuda-13.0").exists()
    (gpu_folder() / INCOMING).mkdir()
    (gpu_folder() / INCOMING / "torch.whl.part").write_bytes(bytes(5000))
    expected = removable_bytes()
    assert expected > other.unpacked_bytes + 5000
    assert remove_all() == expected
    assert find_installed() is None
    assert removable_bytes() == 0
    assert remove_all() == 0


def test_one_that_is_in_use_stays_whole(server: WheelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows, where a folder whose libraries are loaded cannot be renamed."""
    put_addon(server)
    install(plan_of(server))
    addon = find_installed()
    before = addon.size_bytes
    replace = os.replace

    def held(source: Any, target: Any) -> None:
        if Path(source) == addon.folder:
            raise PermissionError(13, "in use")
        replace(source, target)

    monkeypatch.setattr(os, "replace", held)
    with pytest.raises(AddonUnusable, match="close every window of Tenon first"):
        remove_all()
    with pytest.raises(AddonUnusable, match="close every window of Tenon first"):
        install(plan_of(server))
    assert find_installed() == addon
    assert addon.size_bytes == before


def test_a_damaged_record_is_no_add_on_and_makes_way(server: WheelServer) -> None:
    put_addon(server)
    for text in ("", "[]", '{"version": 2}', '{"version": 1, "name": "x"}'):
        (gpu_folder() / "cuda-13.0").mkdir(parents=True, exist_ok=True)
        (gpu_folder() / "cuda-13.0" / "tenon-gpu.json").write_text(text)
        assert find_installed() is None
    install(plan_of(server))
    assert find_installed() is not None


def test_a_kill_in_the_middle_loses_nothing(server: WheelServer) -> None:
    put_addon(server)
    program = f"""
import os
from tests.engine.gpu_addon.test_gpu_installation import Installation, StopSignal, make_plan, ADDON, BUNDLED
def report(progress):
    if progress.step == "unpacking" and progress.done_bytes > progress.total_bytes / 2:
        os._exit(9)
Installation(make_plan([ADDON], BUNDLED, {server.index!r}), StopSignal(), report).run()
"""
    root = Path(__file__).resolve().parents[3]
    killed = subprocess.run([sys.executable, "-c", program], cwd=root, check=False)
    assert killed.returncode == 9
    assert find_installed() is None
    before = len(server.fetched())
    install(plan_of(server))
    assert find_installed() is not None
    assert len(server.fetched()) == before


@pytest.mark.parametrize("path", ["../outside.py", "/outside.py", "C:\\outside.py", "a\\..\\..\\outside.py"])
def test_no_file_leaves_the_folder(path: str, tmp_path: Path) -> None:
    wheel = tmp_path / "evil.whl"
    wheel.write_bytes(make_wheel("evil", "1", {"good.py": b"", path: b"outside"}))
    folder = tmp_path / "inner" / "folder"
    folder.mkdir(parents=True)
    with pytest.raises(DownloadFailed, match="outside of its folder"):
        unpack(wheel, folder, lambda size_bytes: None)
    assert not list(tmp_path.rglob("outside.py"))


def test_packages_of_a_data_folder_are_unpacked_and_programs_are_left_out(tmp_path: Path) -> None:
    wheel = tmp_path / "some.whl"
    content = {
        "some-1.data/purelib/some/a.py": b"a",
        "some-1.data/scripts/some": b"program",
        "some/tool": b"tool",
        "some/big": random.Random(1).randbytes(3_000_000),
    }
    wheel.write_bytes(make_wheel("some", "1", content, programs=["some/tool"]))
    sizes: list[int] = []
    hashes = unpack(wheel, tmp_path / "out", sizes.append)
    assert hashes["some/big"] == hashlib.sha256(content["some/big"]).hexdigest()
    out = tmp_path / "out"
    assert (out / "some/a.py").read_bytes() == b"a"
    assert (out / "some/big").read_bytes() == content["some/big"]
    assert {path.name for path in out.iterdir()} == {"some", "some-1.dist-info"}
    assert os.access(out / "some/tool", os.X_OK)
    assert os.name == "nt" or not os.access(out / "some/a.py", os.X_OK)
    assert sum(sizes) >= sum(map(len, content.values()))
    wheel.write_bytes(wheel.read_bytes()[:-40])
    with pytest.raises(DownloadFailed, match="cannot be unpacked"):
        unpack(wheel, out, sizes.append)
