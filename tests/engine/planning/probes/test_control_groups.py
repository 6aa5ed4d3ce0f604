from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from engine.planning import hardware
from engine.planning.probes import host
from engine.planning.probes.host import GroupLimits, read_group_limits


def test_version_2_takes_the_tightest_of_the_groups_around(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    own = tmp_path / "own"
    own.write_text("0::/outer/inner\n")
    (tmp_path / "outer" / "memory.max").write_text("3000000\n")
    (tmp_path / "outer" / "memory.current").write_text("2500000\n")
    (tmp_path / "outer" / "memory.stat").write_text("anon 1\ninactive_file 200000\n")
    (inner / "memory.max").write_text("max\n")
    (inner / "cpu.max").write_text("150000 100000\n")
    assert read_group_limits(tmp_path, own) == GroupLimits(3_000_000, 700_000, 1.5)


def test_version_1_has_a_tree_for_each_controller(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("9:name=systemd:/\n4:memory:/box/job\n3:cpu,cpuacct:/box\n0::/\n")
    memory = tmp_path / "memory" / "box" / "job"
    memory.mkdir(parents=True)
    (memory / "memory.limit_in_bytes").write_text("8000\n")
    (memory / "memory.usage_in_bytes").write_text("6000\n")
    (memory / "memory.stat").write_text("inactive_file 1\ntotal_inactive_file 500\n")
    # The group around it has no limit, which version 1 writes as a number.
    (memory.parent / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    (memory.parent / "memory.usage_in_bytes").write_text("70000\n")
    shares = tmp_path / "cpu,cpuacct" / "box"
    shares.mkdir(parents=True)
    (shares / "cpu.cfs_quota_us").write_text("250000\n")
    (shares / "cpu.cfs_period_us").write_text("100000\n")
    (shares.parent / "cpu.cfs_quota_us").write_text("-1\n")
    (shares.parent / "cpu.cfs_period_us").write_text("100000\n")
    assert read_group_limits(tmp_path, own) == GroupLimits(8000, 2500, 2.5)


def test_without_groups_there_is_no_limit(tmp_path: Path) -> None:
    assert read_group_limits(tmp_path, tmp_path / "none") == GroupLimits()


def test_memory_and_cores_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = GroupLimits(memory_bytes=5_000_000, free_bytes=700_000, processors=1.9)
    monkeypatch.setattr(hardware, "read_group_limits", lambda: limits)
    monkeypatch.setattr(host, "read_group_limits", lambda: limits)
    found = hardware.read_host_memory()
    assert (found.total_bytes, found.available_bytes) == (5_000_000, 700_000)
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: 8)
    monkeypatch.setattr(host.os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    assert host.usable_cores() == 1
    monkeypatch.setattr(host, "read_group_limits", lambda: GroupLimits(processors=0.5))
    assert host.usable_cores() == 1
    monkeypatch.setattr(host, "read_group_limits", GroupLimits)
    monkeypatch.setattr(host.os, "sched_getaffinity", lambda pid: {1, 2, 3}, raising=False)
    assert host.usable_cores() == 3
