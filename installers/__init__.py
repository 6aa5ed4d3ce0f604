"""Installers: the app as one folder with everything inside, and the packages that people open by a double-click."""
