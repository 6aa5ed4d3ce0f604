"""A repository of the hub, as the hub describes it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HubFile:
    """A file of a repository, as the hub describes it.

    Attributes:
        name: Its path in the repository.
        size_bytes: Its size.
        sha256: Of its content, where the hub keeps it as a large file.
        git_oid: SHA-1 of git's blob, which is what the hub knows of a small one.
    """

    name: str
    size_bytes: int
    sha256: str | None
    git_oid: str | None

    @property
    def local_name(self) -> str:
        """Its name here, without the repository's folders."""
        return self.name.rpartition("/")[2]


@dataclass(frozen=True)
class Listing:
    """A repository at one commit.

    Attributes:
        revision: The branch, tag or commit that was asked for.
        commit: Its present meaning.
        gated: Its owner wants terms accepted first.
    """

    repo: str
    revision: str
    commit: str
    files: tuple[HubFile, ...]
    gated: bool
    licence: str | None
    tags: tuple[str, ...]
