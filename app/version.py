"""Versions of Tenon and of the packages that it runs with, and where its releases are."""

from __future__ import annotations

# Everything that names an address of Tenon's takes it from here. There is no public place yet, and names that end in
# .invalid never lead anywhere (RFC 2606).
HOMEPAGE = "https://tenon.invalid"

# minisign's public key, in base64; the secret one is with whoever releases. There is none yet, and without one no word
# of a newer version is believed.
RELEASES_KEY = ""

_FALLBACK = "0.1.0"


def version() -> str:
    """Tenon's version, as installed."""
    return version_of("tenon") or _FALLBACK


def version_of(package: str) -> str:
    """Return a package's version, or an empty text if it is not installed or no file can be opened now."""
    from importlib import metadata  # tens of milliseconds, which a start does without

    try:
        return metadata.version(package)
    except (metadata.PackageNotFoundError, OSError):
        return ""
