"""Signs the application, puts it into a disk image and has that notarized."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from installers.product import COMMAND, NAME, architecture, version

ENTITLEMENTS = Path(__file__).with_name("entitlements.plist")

IDENTITY = "TENON_SIGNING_IDENTITY"
"""Environment variable with the name of a Developer ID Application certificate in the keychain; without it the
application is signed for this machine alone, and others are warned before they open it."""

NOTARY_PROFILE = "TENON_NOTARY_PROFILE"
"""Environment variable with the name under which ``xcrun notarytool store-credentials`` keeps an account."""


def build_dmg(application: Path, work: Path, dist: Path) -> Path:
    """Make the disk image from the ``.app``, as PyInstaller made it.

    Raises:
        CalledProcessError: a step failed.
    """
    identity = os.environ.get(IDENTITY)
    sign = ["codesign", "--force", "--deep", "--options", "runtime", "--entitlements", str(ENTITLEMENTS)]
    subprocess.run([*sign, *(["--timestamp"] if identity else []), "--sign", identity or "-", str(application)],
                   check=True)  # fmt: skip
    subprocess.run(["codesign", "--verify", "--deep", "--strict", str(application)], check=True)
    content = work / "dmg"
    shutil.rmtree(content, ignore_errors=True)
    content.mkdir(parents=True)
    subprocess.run(["ditto", str(application), str(content / application.name)], check=True)
    (content / "Applications").symlink_to("/Applications")  # where the user drags it
    target = dist / f"{COMMAND}-{version()}-macos-{architecture()}.dmg"
    subprocess.run(["hdiutil", "create", "-volname", NAME, "-srcfolder", str(content), "-format", "ULMO", "-ov",
                    str(target)], check=True)  # fmt: skip
    if identity:
        subprocess.run(["codesign", "--timestamp", "--sign", identity, str(target)], check=True)
    profile = os.environ.get(NOTARY_PROFILE)
    if identity and profile:
        subprocess.run(["xcrun", "notarytool", "submit", str(target), "--keychain-profile", profile, "--wait"],
                       check=True)  # fmt: skip
        subprocess.run(["xcrun", "stapler", "staple", str(target)], check=True)
    return target
