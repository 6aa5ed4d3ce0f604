"""One download against a hub with faults: whole and checked, or resumable, and never half a model."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import (
    AccessDenied,
    Cancelled,
    DownloadFailed,
    HubBusy,
    HubError,
    HubUnreachable,
    NotOnHub,
    OutOfDisk,
    TenonError,
)
from engine.hub import download as download_module
from engine.hub import model_folders, transfer
from engine.hub.connection import Hub
from engine.hub.download import Download, DownloadPlan, Progress
from engine.hub.installed import installed_model, remove, verify
from engine.hub.model_folders import INCOMING, models_folder
from engine.hub.offer import make_offer
from engine.hub.record import read_record
from engine.hub.repository import choose_files
from engine.hub.transfer import StopSignal
from tests.engine.hub.conftest import IMPATIENT
from tests.support import hub_faults as faults
from tests.support.hub_faults import large
from tests.support.hub_server import Fault, HubServer, Repo, tower_head

REPO = "someone/tiny-GGUF"
WEIGHTS = random.Random(1).randbytes(100_000)
FILES = {"README.md": b"read me", "tiny-Q4_K_M.gguf": WEIGHTS}


@pytest.fixture
def repo(server: HubServer) -> Repo:
    return server.add(REPO, dict(FILES))


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


def plan_of(hub: Hub, name: str = REPO) -> DownloadPlan:
    listing = hub.listing(name)
    chosen = choose_files(listing)
    return DownloadPlan("tiny", name, "main", listing.commit, chosen.format, chosen.files, chosen.quantization)


def fetch(hub: Hub, models: Path, progress: list[Progress] | None = None, stop: StopSignal | None = None) -> Path:
    seen: list[Progress] = [] if progress is None else progress
    download = Download(models, plan_of(hub))
    return download.run(hub, stop or StopSignal(), seen.append, IMPATIENT, reserve_bytes=0)


def assert_whole(models: Path) -> None:
    assert (models / "tiny" / "tiny-Q4_K_M.gguf").read_bytes() == WEIGHTS
    record = read_record(models / "tiny")
    assert [file.sha256 for file in record.files] == [hashlib.sha256(WEIGHTS).hexdigest()]
    assert list((models / INCOMING).glob("*/")) == []


def assert_nothing_there(models: Path) -> None:
    assert [path.name for path in models.iterdir() if path.name != INCOMING] == []


def test_a_model_arrives_whole_with_its_record(hub: Hub, repo: Repo, models: Path) -> None:
    progress: list[Progress] = []
    assert fetch(hub, models, progress) == models / "tiny"
    assert_whole(models)
    record = read_record(models / "tiny")
    assert (record.repo, record.revision, record.kind, record.format) == (REPO, repo.commit, "target", "gguf")
    assert (record.quantization, record.size_bytes) == ("Q4_K_M", len(WEIGHTS))
    assert {path.name for path in (models / "tiny").iterdir()} == {"tiny-Q4_K_M.gguf", "tenon-model.json"}
    done = [step.done_bytes for step in progress]
    assert (done, done[0], done[-1]) == (sorted(done), 0, len(WEIGHTS))
    assert len(set(done)) > 2


@pytest.mark.parametrize(
    ("fault", "requests"),
    [
        (faults.cut(0.5), 2),
        (faults.corrupt, 2),
        (faults.status(429, Retry_After="0"), 2),
        (faults.status(503), 2),
        (faults.status(403), 2),  # of the storage: its signed address has run out
        (faults.dribble(200), 1),
    ],
    ids=["cut", "corrupt", "429", "503", "expired", "slow"],
)
def test_a_fault_that_passes_is_got_over(
    fault: Fault, requests: int, hub: Hub, server: HubServer, repo: Repo, models: Path
) -> None:
    server.once(large(fault))
    progress: list[Progress] = []
    fetch(hub, models, progress)
    assert_whole(models)
    assert len(server.downloads()) == requests
    done = [step.done_bytes for step in progress]
    assert done == sorted(done)


@pytest.mark.parametrize(
    ("fault", "error", "sentence"),
    [
        (faults.cut(0.0), HubUnreachable, "broke off"),
        (faults.corrupt, DownloadFailed, "damaged twice"),
        (faults.status(403), AccessDenied, "refuses"),
        (faults.status(404), NotOnHub, "not on the hub any more"),
        (faults.status(429, Retry_After="3600"), HubBusy, "60 minutes"),
        (faults.status(429, Retry_After="0"), HubBusy, "too much to do"),
        (faults.status(503), HubBusy, "503"),
        (faults.status(418), HubError, "418"),
        (faults.wrong_length, DownloadFailed, "another length"),
        (faults.endless, DownloadFailed, "another length"),
        (faults.redirect_loop, HubError, "without end"),
    ],
    ids=["cut", "corrupt", "403", "404", "pause", "429", "503", "odd", "length", "endless", "loop"],
)
def test_a_fault_that_stays_is_one_sentence_and_can_be_resumed(
    fault: Fault,
    error: type[TenonError],
    sentence: str,
    hub: Hub,
    server: HubServer,
    repo: Repo,
    models: Path,
) -> None:
    server.faults.append(large(fault))
    with pytest.raises(error, match=sentence) as caught:
        fetch(hub, models)
    assert caught.value.message.count("\n") == 0
    assert_nothing_there(models)
    server.faults.clear()
    fetch(hub, models)
    assert_whole(models)


def test_a_stall_is_noticed_and_got_over(hurried: Hub, server: HubServer, repo: Repo, models: Path) -> None:
    server.once(large(faults.stall(0.5)))
    fetch(hurried, models)
    assert_whole(models)
    assert server.downloads()[:2] == [None, f"bytes={len(WEIGHTS) // 2}-"]


def test_a_stall_that_stays_is_one_sentence(hurried: Hub, server: HubServer, repo: Repo, models: Path) -> None:
    server.faults.append(large(faults.stall(0.0)))
    with pytest.raises(HubUnreachable, match="did not answer in time"):
        fetch(hurried, models)
    assert_nothing_there(models)
    assert len(server.downloads()) == IMPATIENT.attempts


def test_what_has_come_is_not_fetched_again(hub: Hub, server: HubServer, repo: Repo, models: Path) -> None:
    server.faults.append(large(faults.stall(0.5)))
    stop = StopSignal()
    half = len(WEIGHTS) // 2

    def halfway(progress: Progress) -> None:
        if progress.done_bytes >= half:
            stop.set()

    with pytest.raises(Cancelled):
        Download(models, plan_of(hub)).run(hub, stop, halfway, IMPATIENT, reserve_bytes=0)
    assert_nothing_there(models)
    server.faults.clear()
    came = Download(models, plan_of(hub)).done_bytes()
    assert 0 < came < len(WEIGHTS)
    fetch(hub, models)
    assert_whole(models)
    assert server.downloads() == [None, f"bytes={came}-"]


def test_a_stop_ends_the_wait_for_bytes_that_do_not_come(server: HubServer, repo: Repo, models: Path) -> None:
    server.faults.append(large(faults.stall(0.5)))
    hub = Hub(stall_s=60.0)
    stop = StopSignal()
    halfway = threading.Event()
    ended: list[BaseException] = []

    def run() -> None:
        try:
            Download(models, plan_of(hub)).run(
                hub,
                stop,
                lambda progress: halfway.set() if progress.done_bytes >= len(WEIGHTS) // 2 else None,
                IMPATIENT,
                reserve_bytes=0,
            )
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert halfway.wait(10)
    stop.set()
    thread.join(10)
    assert not thread.is_alive()
    assert [type(error) for error in ended] == [Cancelled]
    hub.close()


def test_a_server_without_ranges_starts_again(hub: Hub, server: HubServer, repo: Repo, models: Path) -> None:
    server.once(large(faults.cut(0.5)))
    server.faults.append(large(faults.no_ranges))
    progress: list[Progress] = []
    fetch(hub, models, progress)
    assert_whole(models)
    done = [step.done_bytes for step in progress]
    assert done == sorted(done)


def test_a_gated_model_names_the_page_and_a_token_opens_it(secure_server: HubServer, models: Path) -> None:
    secure_server.add(REPO, FILES).gated = True
    nobody, stranger, member = Hub(), Hub(token="hf_other"), Hub(token="hf_mine")
    with pytest.raises(AccessDenied, match=f"accept its terms at {secure_server.address}/{REPO}"):
        fetch(nobody, models)
    with pytest.raises(AccessDenied, match="has not been let in"):
        fetch(stranger, models)
    assert_nothing_there(models)
    secure_server.tokens.add("hf_mine")
    fetch(member, models)
    assert_whole(models)
    # The storage is another host: the token is none of its business.
    storage = {token for path, token in secure_server.authorizations if path.startswith("/storage/")}
    assert storage == {None}
    for hub in (nobody, stranger, member):
        hub.close()


def test_a_full_disk_pauses_and_goes_on(
    hub: Hub, server: HubServer, repo: Repo, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class FullDisk(transfer.FileIO):
        def write(self, data: object, /) -> int:
            if self.tell() >= 50_000:
                raise OSError(28, "No space left on device")
            return super().write(data)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(transfer, "FileIO", FullDisk)
        with pytest.raises(OutOfDisk, match="disk is full"):
            fetch(hub, models)
    assert_nothing_there(models)
    came = Download(models, plan_of(hub)).done_bytes()
    assert came > 49_000
    fetch(hub, models)
    assert_whole(models)
    assert server.downloads()[-1] == f"bytes={came}-"


def test_no_room_is_said_before_anything_is_fetched(
    hub: Hub, server: HubServer, repo: Repo, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_folders, "free_bytes", lambda folder: len(WEIGHTS) + 999)
    download = Download(models, plan_of(hub))
    for queued, reserve in ((0, 1000), (1000, 0)):
        with pytest.raises(OutOfDisk, match="free some room"):
            download.run(
                hub,
                StopSignal(),
                lambda progress: None,
                IMPATIENT,
                queued_bytes=lambda queued=queued: queued,
                reserve_bytes=reserve,
            )
    assert server.downloads() == []
    download.run(hub, StopSignal(), lambda progress: None, IMPATIENT, reserve_bytes=999)
    assert_whole(models)


def test_a_disk_that_others_fill_meanwhile_is_noticed_before_it_is_full(
    hub: Hub, server: HubServer, repo: Repo, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download_module, "_LOOK_AT_DISK_BYTES", 1000)
    free = [len(WEIGHTS) + 100]
    monkeypatch.setattr(model_folders, "free_bytes", lambda folder: free[0])

    def fill(progress: Progress) -> None:
        free[0] = 50

    with pytest.raises(OutOfDisk, match="free some room"):
        Download(models, plan_of(hub)).run(hub, StopSignal(), fill, IMPATIENT, reserve_bytes=100)
    assert_nothing_there(models)
    free[0] = 2 * len(WEIGHTS)
    fetch(hub, models)
    assert_whole(models)


def test_a_branch_that_was_written_anew_keeps_the_files_that_are_the_same(
    hub: Hub, server: HubServer, repo: Repo, models: Path
) -> None:
    plan = plan_of(hub)
    server.once(large(faults.cut(0.5)))
    server.faults.append(large(faults.cut(0.0)))
    with pytest.raises(HubError):
        fetch(hub, models)
    server.faults.clear()
    repo.commit = "2" * 40
    download = Download(models, plan)
    assert download.plan.commit == "1" * 40
    download.run(hub, StopSignal(), lambda progress: None, IMPATIENT, reserve_bytes=0)
    assert_whole(models)
    assert str(server.downloads()[-1]).startswith("bytes=")
    record = read_record(models / "tiny")
    assert record.revision == "2" * 40


def test_a_revision_that_was_renamed_is_one_sentence(hub: Hub, server: HubServer, repo: Repo, models: Path) -> None:
    plan = plan_of(hub)
    repo.commit, repo.branches = "2" * 40, ("trunk",)
    with pytest.raises(NotOnHub, match="no such revision any more"):
        Download(models, plan).run(hub, StopSignal(), lambda progress: None, IMPATIENT, reserve_bytes=0)
    assert_nothing_there(models)


def test_a_newer_revision_takes_the_place_of_an_older_one(
    hub: Hub, server: HubServer, repo: Repo, models: Path
) -> None:
    fetch(hub, models)
    repo.commit = "3" * 40
    repo.files["tiny-Q4_K_M.gguf"] = WEIGHTS[::-1]
    fetch(hub, models)
    assert (models / "tiny" / "tiny-Q4_K_M.gguf").read_bytes() == WEIGHTS[::-1]
    assert list((models / INCOMING).glob("*/")) == []


def test_other_files_under_the_same_name_leave_none_of_the_first(
    hub: Hub, server: HubServer, repo: Repo, models: Path
) -> None:
    server.faults.append(large(faults.status(404)))
    repo.files["tiny-Q8_0.gguf"] = WEIGHTS + WEIGHTS
    listing = hub.listing(REPO)
    larger = choose_files(listing, quantization="Q8_0")
    plan = DownloadPlan("tiny", REPO, "main", listing.commit, "gguf", larger.files, "Q8_0")
    server.once(large(faults.cut(0.5)))
    server.faults.reverse()
    with pytest.raises(NotOnHub):
        Download(models, plan).run(hub, StopSignal(), lambda progress: None, IMPATIENT, reserve_bytes=0)
    assert Download(models, plan).done_bytes() > 0
    server.faults.clear()
    fetch(hub, models)
    assert {path.name for path in (models / "tiny").iterdir()} == {"tiny-Q4_K_M.gguf", "tenon-model.json"}
    assert_whole(models)


@pytest.fixture
def seeing(server: HubServer) -> dict[str, bytes]:
    """Files of a model that sees, in two quantizations."""
    small, large, tower = (random.Random(seed).randbytes(50_000 + seed) for seed in (2, 3, 4))
    files = {"m-Q4_0.gguf": small, "m-Q8_0.gguf": large, "mmproj-F16.gguf": tower_head("gemma3") + tower}
    server.add("me/m", files)
    return files


def get(hub: Hub, type_: str, meet: Callable[[], object] = lambda: None) -> Path:
    plan = make_offer(hub, models_folder(), "me/m", quantization=type_).plan
    meet()
    return Download(models_folder(), plan).run(hub, StopSignal(), lambda _: None, IMPATIENT, reserve_bytes=0)


def test_quantizations_share_the_encoder_of_pictures(hub: Hub, server: HubServer, seeing: dict[str, bytes]) -> None:
    first = get(hub, "Q4_0", lambda: server.once(large(faults.cut(0.5)), times=2))
    # Of the second only its own file comes, for which alone there need be room.
    plan = make_offer(hub, models_folder(), "me/m", quantization="Q8_0").plan
    needed = Download(models_folder(), plan).remaining_bytes()
    assert (needed, plan.size_bytes) == (len(seeing["m-Q8_0.gguf"]), needed + len(seeing["mmproj-F16.gguf"]))
    server.requests.clear()
    second = get(hub, "Q8_0")
    asked = [path for _, path, _ in server.requests if path.startswith("/storage/")]
    assert asked == ["/storage/me/m/mmproj-F16.gguf", "/storage/me/m/m-Q8_0.gguf"]  # the first for the offer
    assert (first / "mmproj-F16.gguf").samefile(second / "mmproj-F16.gguf")
    for folder in (first, second):
        assert {check.state for check in verify(installed_model(folder.name))} == {"ok"}
        record = read_record(folder)
        assert "mmproj-F16.gguf" in {file.name for file in record.files}
    # It goes with the last of them.
    assert remove(first.name) < len(seeing["m-Q4_0.gguf"]) + len(seeing["mmproj-F16.gguf"])
    assert (second / "mmproj-F16.gguf").read_bytes() == seeing["mmproj-F16.gguf"]
    assert remove(second.name) > len(seeing["m-Q8_0.gguf"]) + len(seeing["mmproj-F16.gguf"])


@pytest.mark.parametrize("links", [True, False])
def test_a_model_that_came_without_an_encoder_gets_it_alone(
    hub: Hub, server: HubServer, seeing: dict[str, bytes], links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tower = seeing.pop("mmproj-F16.gguf")
    get(hub, "Q4_0")
    seeing["mmproj-F16.gguf"] = tower

    def refuse(*_: object) -> None:
        raise OSError("no links here")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    needed: list[int] = []
    monkeypatch.setattr("engine.hub.download.check_room", lambda _folder, needs, *_, **__: needed.append(needs))
    server.requests.clear()
    folder = get(hub, "Q4_0")
    assert {file.name for file in folder.glob("*.gguf")} == {"m-Q4_0.gguf", "mmproj-F16.gguf"}
    assert needed == [len(tower) + (0 if links else len(seeing["m-Q4_0.gguf"]))]
    assert any(path.endswith("/m-Q4_0.gguf") for _, path, _ in server.requests) is not links


def test_a_damaged_file_of_another_model_is_not_shared(hub: Hub, seeing: dict[str, bytes]) -> None:
    damaged = get(hub, "Q4_0") / "mmproj-F16.gguf"
    damaged.write_bytes(b"?" * len(seeing["mmproj-F16.gguf"]))
    assert (get(hub, "Q8_0") / "mmproj-F16.gguf").read_bytes() == seeing["mmproj-F16.gguf"]
    assert damaged.read_bytes().startswith(b"?")


def test_one_download_at_a_time_by_one_program(hub: Hub, server: HubServer, repo: Repo, models: Path) -> None:
    def again(progress: Progress) -> None:
        with pytest.raises(HubError, match="Another window or command"):
            Download(models, plan_of(hub)).run(hub, StopSignal(), lambda _: None, IMPATIENT, reserve_bytes=0)

    Download(models, plan_of(hub)).run(hub, StopSignal(), again, IMPATIENT, reserve_bytes=0)
    assert_whole(models)


def test_small_files_are_checked_by_gits_own_hash(hub: Hub, server: HubServer, models: Path) -> None:
    config = json.dumps({"architectures": ["LlamaForCausalLM"]}).encode()
    server.add(REPO, {"config.json": config, "model.safetensors": WEIGHTS, "model.bin": WEIGHTS})
    server.faults.append(lambda handler, name, content: name[-5:] == ".json" and faults.corrupt(handler, name, content))
    with pytest.raises(DownloadFailed, match=r"config.json .* damaged twice"):
        fetch(hub, models)
    server.faults.clear()
    fetch(hub, models)
    assert {path.name for path in (models / "tiny").iterdir()} == {
        "config.json",
        "model.safetensors",
        "tenon-model.json",
    }


_KILLED = """
import sys
from pathlib import Path
from engine.hub.connection import Hub
from engine.hub.download import Download
from engine.hub.transfer import StopSignal
from tests.engine.hub.download.test_download import plan_of
hub = Hub()
Download(Path(sys.argv[1]), plan_of(hub)).run(
    hub, StopSignal(), lambda progress: print(progress.done_bytes, flush=True), reserve_bytes=0
)
"""


def test_a_killed_program_resumes_where_it_was(hub: Hub, server: HubServer, repo: Repo, models: Path) -> None:
    server.faults.append(large(faults.stall(0.5)))
    root = Path(__file__).resolve().parents[4]
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "0",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }
    environment["PYTHONPATH"] = str(root)
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(models)],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        if int(line) >= len(WEIGHTS) // 2:
            break
    process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    process.communicate()
    assert_nothing_there(models)
    server.faults.clear()
    fetch(hub, models)
    assert_whole(models)
    assert server.downloads()[-1] == f"bytes={len(WEIGHTS) // 2}-"


def test_a_date_in_retry_after_is_understood(hub: Hub, server: HubServer, repo: Repo, models: Path) -> None:
    later = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 7200))
    server.faults.append(large(faults.status(429, Retry_After=later)))
    with pytest.raises(HubBusy, match=r"pause of 1(19|20) minutes"):
        fetch(hub, models)


@pytest.mark.parametrize("kind", ["dangling", "file", "folder inside", "link inside"])
def test_what_lies_in_the_way_makes_way(hub: Hub, repo: Repo, models: Path, tmp_path: Path, kind: str) -> None:
    download = Download(models, plan_of(hub))
    folder = models / INCOMING / download.plan.name
    if kind in ("dangling", "file"):
        folder.parent.mkdir(parents=True)
    if kind == "dangling":
        folder.symlink_to(tmp_path / "nowhere")
    elif kind == "file":
        folder.write_text("")
    elif kind == "folder inside":
        (folder / "model" / "stray" / "inner").mkdir(parents=True)
    else:
        (folder / "model").mkdir(parents=True)
        (folder / "model" / "stray").symlink_to(tmp_path / "nowhere")
    place = download.run(hub, StopSignal(), lambda progress: None, IMPATIENT, reserve_bytes=0)
    assert (place / "tiny-Q4_K_M.gguf").read_bytes() == WEIGHTS
    assert not (place / "stray").is_symlink()
    assert not (place / "stray").exists()


def test_what_came_into_a_part_between_two_attempts_is_cut_off(
    hub: Hub, server: HubServer, repo: Repo, models: Path
) -> None:
    """The same bytes are hashed and lie on the disk."""
    server.once(large(faults.cut(0.5)))
    part = models / INCOMING / "tiny" / "model" / "tiny-Q4_K_M.gguf.part"

    def spoil(step: Progress) -> None:
        if step.step == "waiting":
            with part.open("ab") as file:
                file.write(b"of somebody else's")

    Download(models, plan_of(hub)).run(hub, StopSignal(), spoil, IMPATIENT, reserve_bytes=0)
    assert_whole(models)


def test_another_part_of_the_file_than_was_asked_for_is_refused(
    hub: Hub, server: HubServer, repo: Repo, models: Path
) -> None:
    server.once(large(faults.cut(0.5)))
    server.once(large(faults.other_start))
    with pytest.raises(DownloadFailed, match=r"another length than 127\.0\.0\.1 says"):
        fetch(hub, models)
    assert_nothing_there(models)
    assert fetch(hub, models) == models / "tiny"
    assert_whole(models)


def test_each_file_is_on_the_disk_before_it_has_its_name(
    hub: Hub, repo: Repo, models: Path, unsynced: list[str]
) -> None:
    fetch(hub, models)
    assert unsynced == []
