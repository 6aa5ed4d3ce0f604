"""Tries the package out on a bare system, as its users would.

Run ``sudo python -m tests.package_trials.debian [PACKAGE]``. Debian is put into a folder (debootstrap), the package is
installed there, and an ordinary user starts it under X and under Wayland; it is upgraded under an open window with a
chat in it, restarted there and removed; it answers in a terminal and as the service that its unit starts. With
``--offscreen --architecture arm64`` an ARM board's package is tried, under emulation on a PC, without displays and what
is done with keys. The displays are outside (Xvfb, weston), so that no library of theirs hides one
that the package forgot. Whatever is mounted lies in a mount namespace of its own and goes away with the program; the
folder stays, and each run begins with a fresh copy of the bare system in it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import Request, urlopen

from installers.boards.root import MIRROR, PERSON, PERSON_ID, bootstrap, inside_system, remove, trouble
from installers.linux.deb import debian_architecture
from installers.product import ROOT

TOOLS = ("debootstrap", "unshare", "dpkg-deb")
DISPLAY_TOOLS = ("Xvfb", "weston", "xdotool", "import")
COMMAND = "tenon"
QUESTION = "What is a tenon?"
SIMPLE_QUESTION, SIMPLE_ANSWER = "What is the capital of France?", "Paris"
SERVICE, PORT = "usr/share/systemd/user/tenon-serve.service", 18366
# Keys of what is imported when it is shown first: settings, models, this machine, help.
LATE_DIALOGS, LATE_PAGES = ("ctrl+comma", "F1"), ("ctrl+shift+m", "ctrl+shift+h")
# Rows of the screen that another page changes; a caret that blinks or a button in focus changes fewer.
CHANGED_ROWS = 150
DISPLAY = ":97"
SOCKETS = "/run/tenon-trial"
PATIENCE_S, EMULATED_PATIENCE_S = 180.0, 1800.0
WIDTH, HEIGHT = 1400, 900
RESTART_OFFER_S = 32.0  # the program looks for a new file each 15 s, and believes it the second time
# Its notice stands at the window's right; from that edge on: where nothing but the notice is, and where its button is.
NOTICE_FROM_PX, NOTICE_TO_PX, NOTICE_BUTTON_PX = 120, 20, 102


class Failed(Exception):
    """Something did not hold; the message says what."""


@dataclass
class Trial:
    """The bare system and what was found on it."""

    folder: Path  # the system's root
    pictures: Path | None = None  # folder for pictures of the screen
    rows: list[tuple[str, float, str]] = field(default_factory=list)  # steps: what, how long, what came of it
    held: bool = True
    patience_s: float = PATIENCE_S

    def step(self, name: str, work: Callable[[], str]) -> None:
        """Do something, and write down how it went; what follows an unheld step is tried all the same."""
        started = time.monotonic()
        try:
            result = work()
        except (Failed, subprocess.SubprocessError, OSError, sqlite3.Error) as error:
            self.held, result = False, f"FAILED: {error}"
        self.rows.append((name, time.monotonic() - started, result))
        print(f"{name}: {result}", flush=True)

    def table(self) -> str:
        """Return the steps in Markdown."""
        lines = ["| step | seconds | result |", "|---|--:|---|"]
        return "\n".join(lines + [f"| {name} | {seconds:.1f} | {result} |" for name, seconds, result in self.rows])

    def picture(self, name: str) -> None:
        """Save what the screen shows, where pictures are wanted."""
        if self.pictures:
            self.pictures.mkdir(parents=True, exist_ok=True)
            run(["import", "-display", DISPLAY, "-window", "root", str(self.pictures / f"{name}.png")])

    def inside(self, *command: str, user: int = 0, **variables: str) -> list[str]:
        """Return a command line that runs something there, as root where no other user is named."""
        environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
        }
        return inside_system(self.folder, user, {**environment, **variables}, *command)

    def as_person(self, *command: str, **display: str) -> list[str]:
        """Return a command line that runs something there as the ordinary user on a display."""
        home = f"/home/{PERSON}"
        variables = {"HOME": home, "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": f"{home}/.run", **display}
        return self.inside(*command, user=PERSON_ID, **variables)

    def apt(self, *arguments: str) -> str:
        """Have apt do something; its words are told where it refuses."""
        return run(self.inside("apt-get", "-q", "-y", *arguments))

    def packages(self) -> set[str]:
        """Names of the installed packages."""
        return set(run(self.inside("dpkg-query", "-W", "-f", "${Package}\n")).split())

    def install(self, package: Path) -> str:
        """Install a file with apt and nothing that is only recommended."""
        before = self.packages()
        shutil.copyfile(package, self.folder / "package.deb")
        self.apt("install", "--no-install-recommends", "/package.deb")
        (self.folder / "package.deb").unlink()
        size = run(self.inside("dpkg-query", "-W", "-f", "${Version}, ${Installed-Size}", COMMAND))
        return f"{package.stat().st_size / 1e6:.1f} MB, {size} KiB, {len(self.packages() - before)} packages with it"


def run(command: list[str], timeout_s: float = 3600.0) -> str:
    """Run a program to its end.

    Raises:
        Failed: it ended badly; its last words are in the message.
    """
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    if done.returncode:
        words = " / ".join((done.stdout + done.stderr).strip().splitlines()[-3:])
        raise Failed(f"{' '.join(command[-4:])} ended with {done.returncode}: {words}")
    return done.stdout


def wait_for(what: str, condition: Callable[[], object]) -> None:
    """Wait until something holds.

    Raises:
        Failed: it does not in time.
    """
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise Failed(f"{what} did not happen in {PATIENCE_S:.0f} s")
        time.sleep(0.2)


def make_system(trial: Trial, suite: str, mirror: str, architecture: str) -> str:
    """Give a minimal Debian the mounts of a running system."""
    base = trial.folder.with_name(f"{suite}-{architecture}.bare")
    bootstrap(base, suite, mirror, f"--arch={architecture}")
    remove(trial.folder)
    run(["cp", "--archive", str(base), str(trial.folder)])
    for place in ("proc", "sys", "dev", "tmp/.X11-unix", SOCKETS[1:]):
        (trial.folder / place).mkdir(parents=True, exist_ok=True)
    run(["mount", "-t", "proc", "proc", str(trial.folder / "proc")])
    run(["mount", "-t", "sysfs", "-o", "ro", "sys", str(trial.folder / "sys")])
    for place in ("/dev", "/tmp/.X11-unix", SOCKETS):
        Path(place).mkdir(exist_ok=True)
        run(["mount", "--rbind", place, str(trial.folder / place[1:])])
    home = trial.folder / "home" / PERSON / ".run"
    home.mkdir(exist_ok=True, mode=0o700)
    os.chown(home, PERSON_ID, PERSON_ID)
    trial.apt("update")
    return f"Debian {(trial.folder / 'etc/debian_version').read_text().strip()}, {len(trial.packages())} packages"


def start_displays() -> list[subprocess.Popen[bytes]]:
    """Start an X server and a Wayland compositor that everybody may use."""
    Path("/tmp/.X11-unix").mkdir(exist_ok=True)
    Path(SOCKETS).mkdir(exist_ok=True)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    x = subprocess.Popen(["Xvfb", DISPLAY, "-ac", "-nolisten", "tcp", "-screen", "0", f"{WIDTH}x{HEIGHT}x24"], **quiet)  # type: ignore[call-overload]
    weston = subprocess.Popen(
        ["weston", "--backend=headless-backend.so", "--shell=kiosk-shell.so", "--socket=tenon", "--idle-time=0"],
        env={**os.environ, "XDG_RUNTIME_DIR": SOCKETS}, **quiet,  # type: ignore[call-overload]
    )  # fmt: skip
    sockets = [Path(f"/tmp/.X11-unix/X{DISPLAY[1:]}"), Path(SOCKETS, "tenon")]
    wait_for("a display", lambda: all(socket.exists() for socket in sockets))
    sockets[1].chmod(0o777)
    return [x, weston]


def screen_rows() -> list[bytes]:
    """Return the rows of pixels on the X server's screen."""
    command = ["import", "-display", DISPLAY, "-window", "root", "-depth", "8", "rgb:-"]
    pixels = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    return [pixels[start : start + 3 * WIDTH] for start in range(0, 3 * WIDTH * HEIGHT, 3 * WIDTH)]


def self_test(trial: Trial, **display: str) -> str:
    """Run the program's own test: window, engine, answer.

    Raises:
        Failed: it did, or there is something to tell, such as that the kernels do not fit.
    """
    said = run(trial.as_person(COMMAND, "--self-test", **display), trial.patience_s)
    if notice := re.search(r"(?m)^notice +(.+)$", said):
        raise Failed(notice[1])
    times = dict(re.findall(r"^(window|engine|first token) +([\d.]+) s", said, re.MULTILINE))
    return "passed: " + ", ".join(f"{name} {seconds} s" for name, seconds in times.items())


def ask(trial: Trial) -> str:
    """Ask in a terminal.

    Raises:
        Failed: it was no answer.
    """
    said = run(trial.as_person(COMMAND, "ask", SIMPLE_QUESTION), trial.patience_s).strip()
    if SIMPLE_ANSWER not in said:
        raise Failed(f"it said {said}")
    return said.splitlines()[0]


def serve(trial: Trial) -> str:
    """Start the service's command twice as systemd would, and ask each over HTTP.

    Raises:
        Failed: it gave no answer, did not end when told, or showed its key another time than at the first start.
    """
    found = re.search(r"(?m)^ExecStart=(.+)$", (trial.folder / SERVICE).read_text(encoding="utf-8"))
    assert found is not None
    command = found[1].replace("%E", f"/home/{PERSON}/.config").replace("$TENON_SERVE", f"--port {PORT}").split()
    key, answers = "", []
    body = json.dumps({"messages": [{"role": "user", "content": SIMPLE_QUESTION}], "max_tokens": 16}).encode()
    for first in (True, False):
        process = subprocess.Popen(trial.as_person(*command), stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            said = ""
            while "Ctrl+C" not in said:
                if not (line := process.stdout.readline()):
                    raise Failed(f"it ended with {process.wait()}: {said}")
                said += line
            shown = re.search(r"(?m)^Key: (\S+)$", said)
            if (shown is not None) != first:
                raise Failed(f"at the {'first' if first else 'second'} start it said {said}")
            key = shown[1] if shown else key
            headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
            request = Request(f"http://127.0.0.1:{PORT}/v1/chat/completions", body, headers)
            with urlopen(request, timeout=trial.patience_s) as answer:
                answers.append(json.load(answer)["choices"][0]["message"]["content"])
        finally:
            process.terminate()
            code = process.wait(trial.patience_s)
        if code or SIMPLE_ANSWER not in answers[-1]:
            raise Failed(f"it answered {answers[-1]} and ended with {code}")
    return f"{answers[0]} The key was shown at the first of two starts."


class OpenWindow:
    """The program under X, driven by keys.

    Raises:
        Failed: no window came.
    """

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._process = subprocess.Popen(trial.as_person(COMMAND, DISPLAY=DISPLAY), start_new_session=True)
        try:
            self._wait_for_window()
        except Failed:
            self.close()
            raise

    def _wait_for_window(self) -> None:
        found: list[str] = []

        def there() -> bool:
            with contextlib.suppress(Failed):  # there is none
                found.extend(self._tell("search", "--onlyvisible", "--name", "Tenon").split())
            return bool(found)

        wait_for("a window", there)
        self._window = found[0]
        self._tell("windowfocus", self._window)

    def _tell(self, *arguments: str) -> str:
        return run(["env", f"DISPLAY={DISPLAY}", "xdotool", *arguments])

    def ask(self, question: str) -> str:
        """Type a question, and wait until the reply is on the disk."""
        before = len(self.replies())
        self._tell("type", "--delay", "30", question)
        self._tell("key", "Return")
        wait_for("a reply", lambda: len(self.replies()) > before)
        return f"{len(self.replies()[-1])} characters"

    def replies(self) -> list[str]:
        """Return the whole replies in the user's database."""
        file = self._trial.folder / f"home/{PERSON}/.local/share/{COMMAND}/tenon.sqlite3"
        if not file.exists():
            return []
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT content FROM messages WHERE role = 'assistant' AND state = 'complete'")
            return [row[0] for row in rows]

    def show_late_pages(self) -> None:
        """Open what is imported only then, and go back to the chat.

        Raises:
            Failed: a key changes nothing on the screen, or a mistake came of it.
        """
        for key in LATE_DIALOGS:
            self._open(key)
            self._tell("key", "Escape")
            time.sleep(2)
        for key in LATE_PAGES:
            self._open(key)
        self._open("Escape")

    def restart(self, before: list[bytes]) -> str:
        """Press the button of the notice that has come on the screen, and wait for the new window.

        Args:
            before: The screen's rows without the notice.

        Raises:
            Failed: there is no notice, a process of the old window is left, or there is no new one.
        """
        geometry = self._tell("getwindowgeometry", "--shell", self._window)
        right = int(found[1]) if (found := re.search(r"WIDTH=(\d+)", geometry)) else WIDTH
        part = slice(3 * (right - NOTICE_FROM_PX), 3 * (right - NOTICE_TO_PX))
        rows = zip(before, screen_rows(), strict=True)
        changed = [number for number, (old, new) in enumerate(rows) if old[part] != new[part]]
        if not changed:
            raise Failed("no notice came")
        old = self._children()
        middle = (changed[0] + changed[-1]) // 2
        self._tell("mousemove", str(right - NOTICE_BUTTON_PX), str(middle), "click", "1")
        wait_for("the end of the old window's processes", lambda: not old & self._children())
        self._wait_for_window()
        return f"its {len(old)} processes are gone"

    def _children(self) -> set[int]:
        found = set()
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # it has ended
                parent = stat.read_text(errors="replace").rpartition(")")[2].split()[1]
                if int(parent) == self._process.pid:
                    found.add(int(stat.parent.name))
        return found

    def _open(self, key: str) -> None:
        self._tell("windowfocus", "--sync", self._window)  # nobody else gives it back behind a dialog
        before = screen_rows()
        self._tell("key", key)
        time.sleep(3)
        self._trial.picture(f"after-{key}")
        changed = sum(old != new for old, new in zip(before, screen_rows(), strict=True))
        if changed < CHANGED_ROWS:
            raise Failed(f"{key} changed {changed} rows of the screen")
        self.check()

    def check(self) -> None:
        """Look whether it still runs, and whether its logs tell of a mistake.

        Raises:
            Failed: it does not, or they do.
        """
        if self._process.poll() is not None:
            raise Failed(f"the window ended with {self._process.returncode}")
        for log in (self._trial.folder / f"home/{PERSON}").rglob("*.log"):
            mistakes = [line for line in log.read_text(errors="replace").splitlines() if "Error" in line]
            if mistakes:
                raise Failed(f"{log.name} says {mistakes[0]}")

    def close(self) -> str:
        """End it as a desktop does when the user logs out."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
        return f"ended with {self._process.wait(60)}"


def variant(package: Path, work: Path, number: int, stand_in: bool) -> Path:
    """Make the package as a later version, with a shell script in the program's place if asked."""
    tree = work / "variant"
    if not tree.exists():
        run(["dpkg-deb", "--raw-extract", str(package), str(tree)])
    program, kept = tree / f"usr/lib/{COMMAND}/{COMMAND}", work / "program"
    if not kept.exists():
        shutil.copy2(program, kept)
    program.unlink()
    if stand_in:
        program.write_text("#!/bin/sh\nexit 3\n")
        program.chmod(0o755)
    else:
        shutil.copy2(kept, program)
    control = tree / "DEBIAN" / "control"
    control.write_text(re.sub(r"(?m)^Version: ([^+\n]+).*", rf"Version: \1+trial{number}", control.read_text()))
    target = work / f"later{number}.deb"
    run(["dpkg-deb", "-Znone", "--root-owner-group", "--build", str(tree), str(target)])
    return target


def leftovers(trial: Trial) -> str:
    """Remove the package; what is left of it must be the user's own.

    Raises:
        Failed: something else is.
    """
    trial.apt("purge", COMMAND)
    places = [str(trial.folder / place) for place in ("etc", "usr", "var/lib")]
    left = run(["find", *places, "-xdev", "-iname", f"*{COMMAND}*"]).splitlines()
    if left:
        raise Failed(f"left behind: {' '.join(left[:5])}")
    data = sum(path.stat().st_size for path in (trial.folder / "home" / PERSON).rglob("tenon.sqlite3"))
    return f"nothing left but the person's data ({data} bytes of chats)"


def try_out(trial: Trial, package: Path, work: Path, options: argparse.Namespace) -> None:
    """Run all the steps in order."""
    suite = options.suite
    trial.step(f"bare {suite}", lambda: make_system(trial, suite, options.mirror, options.architecture))
    trial.step("install", lambda: trial.install(package))
    if options.offscreen:
        trial.step("self-test offscreen", lambda: self_test(trial, QT_QPA_PLATFORM="offscreen"))
    else:
        trial.step("self-test under X", lambda: self_test(trial, DISPLAY=DISPLAY))
        trial.step("self-test on Wayland alone", lambda: self_test(trial, WAYLAND_DISPLAY=f"{SOCKETS}/tenon"))
    trial.step("question in a terminal", lambda: ask(trial))
    trial.step("service", lambda: serve(trial))
    if not options.offscreen:
        try_window(trial, package, work)
    trial.step("removal", lambda: leftovers(trial))


def try_window(trial: Trial, package: Path, work: Path) -> None:
    """Use, upgrade and restart an open window."""
    windows: list[OpenWindow] = []
    screens: list[list[bytes]] = []

    def opened() -> str:
        windows.append(OpenWindow(trial))
        time.sleep(2)
        trial.picture("window")
        return "there"

    def asked() -> str:
        result = windows[0].ask(QUESTION)
        screens.append(screen_rows())
        trial.picture("question")
        return result

    def upgraded() -> str:
        later = variant(package, work, 1, stand_in=True)
        result = trial.install(later)
        windows[0].show_late_pages()  # what is imported now comes from a file that is no more
        time.sleep(RESTART_OFFER_S)
        trial.picture("offer-to-restart")
        return f"the open window goes on; {result}"

    def asked_after() -> str:
        trial.install(variant(package, work, 2, stand_in=False))
        result = windows[0].ask("And a mortise?")
        trial.picture("question-after-it")
        return result

    def restarted() -> str:
        before = windows[0].replies()
        result = windows[0].restart(screens[0])
        time.sleep(5)
        windows[0].check()
        trial.picture("new-version")
        if windows[0].replies() != before or not before:
            raise Failed(f"{len(before)} replies before, {len(windows[0].replies())} after")
        windows[0].ask("And a dovetail?")
        windows[0].close()
        return f"{result}; {len(before)} replies as before, and a new one"

    trial.step("window", opened)
    if windows:
        trial.step("question in it", asked)
        trial.step("upgrade under it", upgraded)
        trial.step("question after it", asked_after)
        trial.step("restart by its button", restarted)


def main() -> int:
    """Build where no package is given, try it out, and print the table; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.package_trials.debian")
    parser.add_argument("package", type=Path, nargs="?", help="a .deb (default: one is built)")
    parser.add_argument("--suite", default="bookworm", help="Debian's release (default: bookworm)")
    parser.add_argument("--mirror", default=MIRROR, help=f"where it comes from (default: {MIRROR})")
    parser.add_argument("--pictures", type=Path, help="folder for pictures of the screen")
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp/tenon-trial"), help="for the system's files")
    parser.add_argument("--architecture", default=debian_architecture(), help="Debian's name of it (this machine's)")
    parser.add_argument("--offscreen", action="store_true", help="without displays and what is done with keys")
    options = parser.parse_args()
    tools = TOOLS if options.offscreen else TOOLS + DISPLAY_TOOLS
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing or os.geteuid():
        print(f"This needs root's rights and {', '.join(missing or tools)}.", file=sys.stderr)
        return 2
    foreign = options.architecture != debian_architecture()
    if foreign and (said := trouble()) is not None:
        print(said, file=sys.stderr)
        return 2
    if "TENON_TRIAL_MOUNTS" not in os.environ:  # from here on in a mount namespace of its own
        os.environ["TENON_TRIAL_MOUNTS"] = "own"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, "-m", __spec__.name, *sys.argv[1:]])
    package = options.package
    if package is None:
        run([sys.executable, str(ROOT / "installers" / "build.py")], 3600)
        package = max((ROOT / "dist").glob("*.deb"), key=lambda path: path.stat().st_mtime)
    work = options.folder.resolve() / "work"
    work.mkdir(parents=True, exist_ok=True)
    patience_s = EMULATED_PATIENCE_S if foreign else PATIENCE_S
    trial = Trial(options.folder.resolve() / "root", options.pictures, patience_s=patience_s)
    displays = [] if options.offscreen else start_displays()
    try:
        try_out(trial, package.resolve(), work, options)
    finally:
        for display in displays:
            display.terminate()
        shutil.rmtree(work, ignore_errors=True)  # the system's own folder holds mounts until this program ends
    print(trial.table())
    return 0 if trial.held else 1


if __name__ == "__main__":
    sys.exit(main())
