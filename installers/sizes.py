"""Table of the space that the parts of a bundle take."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

_ROWS = 22


def part_of(place: str) -> str:
    """Which part of the bundle a file belongs to, by its path."""
    parts = place.split("/")
    if len(parts) == 1:
        return "the program, with all compiled Python modules"
    parts = parts[1:]  # _internal
    if parts[0] in ("torch", "PySide6") and len(parts) > 1:
        library = parts[-1].split(".")[0]
        if parts[-1].startswith(("libtorch_cpu", "torch_cpu", "libicu", "icu")):
            return f"{parts[0]}: {library}"
        return parts[0]
    if parts[0] == "assets":
        return "the bundled models, icons and catalogue"
    if len(parts) == 1 or parts[0].endswith(".dist-info"):
        return "system libraries, Python's own, metadata"
    return parts[0].removesuffix(".libs")


def sizes(bundle: Path) -> Counter[str]:
    """Bytes of every part."""
    counted: Counter[str] = Counter()
    for path in bundle.rglob("*"):
        if path.is_file() and not path.is_symlink():
            counted[part_of(path.relative_to(bundle).as_posix())] += path.stat().st_size
    return counted


def size_table(bundle: Path) -> str:
    """Return the largest parts with their megabytes, the rest in one line, and the sum."""
    counted = sizes(bundle)
    largest = counted.most_common(_ROWS)
    rest = sum(counted.values()) - sum(size for _, size in largest)
    rows = [*largest, ("everything else", rest), ("all of it", sum(counted.values()))]
    lines = ["| part | MB |", "|---|--:|"]
    lines += [f"| {name} | {size / 1e6:.1f} |" for name, size in rows]
    return "\n".join(lines)
