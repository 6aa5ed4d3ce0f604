"""Puts an ARM board's system into a folder, to try Tenon on it without the board.

``sudo python -m installers.boards.root FOLDER --system debian12 -- make run`` makes a Debian for arm64 there
(debootstrap), unless it is there already, copies this checkout into it, and runs the command in the copy as an ordinary
user. On another processor than ARM's its programs run under emulation: qemu-user-static and binfmt_misc. ``--remove``
deletes the folder. Raspberry Pi OS is Debian 12 or 13, with a desktop's libraries.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from installers.product import ROOT

MIRROR = "http://deb.debian.org/debian"
# Debian's name of each, and of its package of GLib.
SYSTEMS = {"debian12": ("bookworm", "libglib2.0-0"), "debian13": ("trixie", "libglib2.0-0t64")}
# Python, a C compiler and the libraries of Qt, as a board's own image has them.
PACKAGES = (
    "ca-certificates", "python3", "python3-venv", "make", "gcc", "libc6-dev", "libegl1", "libgl1",
    "libopengl0", "libdbus-1-3", "libfontconfig1", "libxkbcommon0", "libxkbcommon-x11-0", "libxcb-cursor0",
    "libxcb-icccm4", "libxcb-image0", "libxcb-keysyms1", "libxcb-render-util0", "libxcb-shape0", "libxcb-xkb1",
    "libsm6", "fonts-dejavu-core",
)  # fmt: skip
PERSON, PERSON_ID = "person", 1000
BINFMT = Path("/proc/sys/fs/binfmt_misc")
QEMU = Path("/usr/lib/binfmt.d/qemu-aarch64.conf")
# A Raspberry Pi 5's. QEMU's default has signed return addresses, which Debian 13's programs use and which it computes
# slowly: Python took 4.6 times as long.
QEMU_CPU = "cortex-a76"
# What a command inside is told of this machine's way to the net, by environment variable.
_PASSED_ON = ("http_proxy", "https_proxy", "no_proxy", "pip_", "qt_qpa_platform", "qemu_cpu", "tenon_cpu_cap")
_CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"


def no_rights() -> str | None:
    """Return a sentence that asks for root's rights; None where they are there."""
    return "A system in a folder needs root's rights: start this with sudo." if os.geteuid() else None


def trouble() -> str | None:
    """Return a sentence on what this machine lacks for a board's system; None where it lacks nothing."""
    if (said := no_rights()) is not None:
        return said
    missing = [tool for tool in ("debootstrap", "unshare", "chroot", "git") if shutil.which(tool) is None]
    if missing:
        return f"This needs {', '.join(missing)}, which your system's packages have."
    if not (ROOT / ".git").exists():
        return f"{ROOT} is no checkout of git, which says what of it belongs into the system: clone the repository."
    if platform.machine() in ("aarch64", "arm64") or emulated():
        return None
    return (
        "ARM's programs do not run here: install qemu-user-static (Debian, Ubuntu) on a system whose kernel has "
        "binfmt_misc, which some containers keep back."
    )


def emulated() -> bool:
    """Return True if ARM's programs run under emulation, after binfmt_misc was asked for it where nobody had."""
    entry = BINFMT / "qemu-aarch64"
    if not entry.exists() and QEMU.exists():
        if not (BINFMT / "register").exists():
            subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", str(BINFMT)], capture_output=True, check=False)
        with contextlib.suppress(OSError):  # it may keep that back, or have had it all along
            (BINFMT / "register").write_text(QEMU.read_text(encoding="utf-8").strip(), encoding="utf-8")
    # F: the kernel holds the emulator open, so that it need not be in the folder.
    return entry.exists() and "F" in entry.read_text(encoding="utf-8").partition("flags:")[2].partition("\n")[0]


def bootstrap(folder: Path, suite: str, mirror: str = MIRROR, *options: str) -> None:
    """Put a minimal Debian with an ordinary user into a folder that is not there yet; it appears once it is complete.

    Raises:
        CalledProcessError: debootstrap or one of its programs failed, and said why.
        OSError: the folder cannot be made.
    """
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    unfinished = work / folder.name
    # The script of all releases of today, which an older debootstrap does not know by their names.
    script = "/usr/share/debootstrap/scripts/sid"
    command = ["debootstrap", "--variant=minbase", *options, suite, str(unfinished), mirror, script]
    useradd = ["useradd", "--create-home", "--shell", "/bin/sh", "--uid", str(PERSON_ID), PERSON]
    try:
        subprocess.run(command, check=True)
        subprocess.run(["chroot", str(unfinished), *useradd], check=True)
        unfinished.rename(folder)
    finally:
        remove(work)


def run(folder: Path, command: Sequence[str]) -> int:
    """Run a command in a copy of this checkout in a system, as its ordinary user; return its exit code.

    What is mounted for it lies in a mount namespace of its own and goes away with it.
    """
    for name in ("etc/resolv.conf", "etc/hosts", _CERTIFICATES):  # a proxy's certificate too
        if Path("/", name).exists():
            shutil.copyfile(Path("/", name), folder / name)
    place = folder / "home" / PERSON / "tenon"
    place.mkdir(parents=True, exist_ok=True)
    # What git tracks or would add, so nothing that was built on this machine. Of an earlier copy in the folder stays
    # only what was built there.
    git = ["git", "-c", f"safe.directory={ROOT}", "-c", f"core.excludesFile={ROOT / '.gitignore'}"]
    cleaning = [*git, f"--git-dir={ROOT / '.git'}", f"--work-tree={place}", "clean", "-ffdq"]
    subprocess.run(cleaning, cwd=place, check=True)
    listing = [*git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, map(os.fsdecode, listed.split(b"\0"))):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    inside = f"/{place.relative_to(folder)}"
    subprocess.run(["chown", "-R", f"{PERSON_ID}:{PERSON_ID}", str(place)], check=True)
    variables = {"HOME": f"/home/{PERSON}", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **_passed_on()}
    mounts = "mount -t proc proc proc && mount -t sysfs -o ro sys sys && mount --rbind /dev dev"
    begun = inside_system(folder, PERSON_ID, variables, "sh", "-c", f'cd {inside} && exec "$@"', "sh", *command)
    script = f'cd "$0" && {mounts} && exec "$@"'
    return subprocess.run(["unshare", "--mount", "sh", "-c", script, str(folder), *begun], check=False).returncode


def inside_system(folder: Path, user: int, variables: Mapping[str, str], *command: str) -> list[str]:
    """Return the command line that runs a command in a system as a user, with these environment variables alone."""
    identity = [f"--userspec={user}:{user}", f"--groups={user}"]
    pairs = [f"{name}={value}" for name, value in {"QEMU_CPU": QEMU_CPU, **variables}.items()]
    return ["chroot", *identity, str(folder), "env", "-i", *pairs, *command]


def _passed_on() -> dict[str, str]:
    found = {name: value for name, value in os.environ.items() if name.lower().startswith(_PASSED_ON)}
    return {**found, "PIP_CERT": f"/{_CERTIFICATES}"} if Path("/", _CERTIFICATES).exists() else found


def remove(folder: Path) -> None:
    """Delete a system's folder, and nothing that is mounted in it."""
    subprocess.run(["rm", "--recursive", "--force", "--one-file-system", str(folder)], check=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make, use or remove a system, or say in one sentence why there can be none; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m installers.boards.root", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the system is, or will be")
    parser.add_argument("--system", choices=SYSTEMS, default="debian12", help="made there unless it is (debian12)")
    parser.add_argument("--mirror", default=MIRROR, help=f"where Debian comes from ({MIRROR})")
    parser.add_argument("--remove", action="store_true", help="delete the system")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="what to run in it, behind --")
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    said = no_rights() if options.remove else trouble()
    if said is None and folder.exists() and not (folder / "home" / PERSON).exists():
        said = f"{folder} is there already, and no system that this made: name another."
    if said is not None:
        print(said, file=sys.stderr)
        return 2
    if options.remove:
        remove(folder)
        return 0
    try:
        suite, glib = SYSTEMS[options.system]
        bootstrap(folder, suite, options.mirror, "--arch=arm64", f"--include={','.join((*PACKAGES, glib))}")
    except subprocess.CalledProcessError:
        print(f"Debian could not be put into {folder}; debootstrap says above why.", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{folder} cannot be made: {error.strerror}.", file=sys.stderr)
        return 1
    return run(folder, options.command) if options.command else 0


if __name__ == "__main__":
    sys.exit(main())
