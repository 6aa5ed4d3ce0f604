"""Manifests for Flatpak, Arch Linux, Homebrew and winget, filled in for a release: `python -m installers.manifests`."""
