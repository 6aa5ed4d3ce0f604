"""The mirror and the proxy of the settings, for whatever goes to the network here and in the engine."""

from __future__ import annotations

import os

from app.settings.settings import Settings

_MIRROR = ("HF_ENDPOINT",)
# In both spellings: where a system has both, the small letters win.
_PROXY = ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy")


class Network:
    """Puts both into the environment, where the hub's client and its libraries look for them.

    The environment's values of the start come back once a setting is empty. Connections that are open keep to what
    they found, until they are made anew.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._found = {name: os.environ.get(name) for name in (*_MIRROR, *_PROXY)}
        self.apply()

    def apply(self) -> bool:
        """Take over what the settings say now; returns whether that is something else than before."""
        before = self._current()
        for names, chosen in ((_MIRROR, self._settings.hub_mirror), (_PROXY, self._settings.proxy)):
            for name in names:
                value = chosen or self._found[name]
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
        return self._current() != before

    def _current(self) -> dict[str, str | None]:
        return {name: os.environ.get(name) for name in self._found}
