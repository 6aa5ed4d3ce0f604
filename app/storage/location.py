"""Folder of the conversations."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def data_folder() -> Path:
    """TENON_DATA_DIR, else the system's place for a person's data."""
    override = os.environ.get("TENON_DATA_DIR")
    return Path(override) if override else Path(platformdirs.user_data_dir("tenon", appauthor=False))
