"""File descriptors of this process: how many the system allows, of which sockets, pipes and files all take some."""

from __future__ import annotations

from contextlib import suppress

#: The system's own limit where it says that there is none: macOS's OPEN_MAX.
_OPEN_MAX = 10_240


def raise_descriptor_limit() -> None:
    """Raise the limit of this process, and of those that it starts, as far as the system allows."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for most in (hard, _OPEN_MAX):
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            return


def descriptor_limit() -> int | None:
    """Return the number of descriptors that this process may have open at once, or None if there is no limit."""
    try:
        import resource
    except ImportError:
        return None
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if soft == resource.RLIM_INFINITY else soft
