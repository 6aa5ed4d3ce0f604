"""Phones that use the page: how one comes in, what is kept of it, and guesses at keys, few of which are looked at.

A phone comes in with a code that holds once and stands after the ``#`` of an address, which no browser sends along. It
gets a key of its own; a digest of the key is kept, so that no file and no keyring has the key itself.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from threading import Lock

import psutil

from engine.errors import InvalidOption, TenonError
from engine.files import file_trouble
from engine.hub.kept_list import change_list, read_list
from engine.hub.model_folders import data_folder
from engine.sentences import together

FILE_NAME = "phones.json"
MOST_PHONES = 32
_SECRET_BYTES = 24
_SEEN_S = 60.0  # a phone's last request is kept no more often
_SYSTEMS = ("iPhone", "iPad", "Android", "Windows", "Macintosh", "CrOS", "Linux")
# The names of others stand in what a browser calls itself, so the order decides.
_BROWSERS = {"Firefox": "Firefox", "FxiOS": "Firefox", "SamsungBrowser": "Samsung Internet", "Edg": "Edge",
             "OPR": "Opera", "CriOS": "Chrome", "Chrome": "Chrome", "Safari": "Safari"}  # fmt: skip
_MOST_ADDRESSES = 1024


@dataclass(frozen=True)
class Phone:
    """A browser that came in with a code."""

    digest: str  # SHA-256 of its key
    name: str  # system and browser, as it calls itself
    since: float = 0.0  # time at which it came in, seconds since 1970
    seen: float = 0.0  # time of its last request, to a minute
    address: str = ""  # address of its last request


@dataclass(frozen=True)
class _Phones:
    phones: tuple[Phone, ...] = ()


class Phones:
    """The list of phones, which all processes of Tenon share, and this one's code. For any thread."""

    def __init__(self) -> None:
        self._file = data_folder() / FILE_NAME
        self._lock = Lock()
        self.code = secrets.token_urlsafe(_SECRET_BYTES)  # code by which the next phone comes in
        self.removed: set[str] = set()  # digests of phones whose replies end now
        self.entered: Callable[[Phone], None] = lambda phone: None  # called with each phone that has come in

    def link(self, address: str, port: int) -> str:
        """Return the address with the code, which a phone opens."""
        return f"http://{address}:{port}/#{self.code}"

    def listed(self) -> tuple[Phone, ...]:
        """Return the phones in the order in which they came in."""
        return read_list(self._file, _Phones).phones

    def find(self, key: str) -> Phone | None:
        """Return the phone that has a key; comparing takes as long for each."""
        digest, found = _digest(key), None
        for phone in self.listed():
            if hmac.compare_digest(phone.digest.encode(), digest.encode()):
                found = phone
        return found

    def opens(self, code: str) -> bool:
        """Return whether a text is the code that lets the next phone in."""
        return hmac.compare_digest(code.encode("utf-8", "replace"), self.code.encode())

    def enter(self, code: str, agent: str, address: str) -> str:
        """Let a phone in and return its key; the code holds no more.

        Args:
            agent: Words by which its browser calls itself (``User-Agent``).

        Raises:
            InvalidOption: The code was used meanwhile, there are too many phones, or another process holds the list.
            TenonError: The list cannot be written.
        """
        with self._lock:
            if not self.opens(code):
                raise InvalidOption("This code was used already: scan the one that Tenon shows now.")
            self.code = secrets.token_urlsafe(_SECRET_BYTES)
        key, now = secrets.token_urlsafe(_SECRET_BYTES), time.time()
        phone = Phone(_digest(key), name_of(agent), now, now, address)

        def add(found: _Phones) -> _Phones:
            if len(found.phones) >= MOST_PHONES:
                raise InvalidOption("{number} phones came in already: remove one of them first.", number=MOST_PHONES)
            return _Phones((*found.phones, phone))

        self._change(add)
        self.entered(phone)
        return key

    def see(self, phone: Phone, address: str) -> None:
        """Keep time and address of a phone's request; a list that cannot be written stays as it is."""
        now = time.time()
        if now - phone.seen > _SEEN_S or phone.address != address:
            seen = replace(phone, seen=now, address=address)
            with suppress(TenonError):
                self._change(lambda found: _Phones(tuple(seen if one == phone else one for one in found.phones)))

    def remove(self, digest: str | None = None) -> None:
        """Remove a phone, or all of them with the code, and end their replies. Raises TenonError."""
        if digest is None:
            self.code = secrets.token_urlsafe(_SECRET_BYTES)
        gone = {phone.digest for phone in self.listed() if digest in (None, phone.digest)}
        self._change(lambda found: _Phones(tuple(one for one in found.phones if digest not in (None, one.digest))))
        self.removed |= gone

    def _change(self, change: Callable[[_Phones], _Phones]) -> None:
        try:
            change_list(self._file, _Phones, change)
        except OSError as error:
            raise file_trouble(error, self._file) from error


class Guesses:
    """Wrong keys by the address that sent them: after ten, one is looked at each ten seconds, and one a second in all.

    Keys of an address that has sent no wrong one lately are looked at whatever others send.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._all = _Bucket(60, 1.0)
        self._wrong: dict[str, _Bucket] = {}

    def admits(self, address: str) -> bool:
        """Return whether a key from this address is looked at now."""
        own, now_s = self._wrong.get(address), self._now_s()
        return own is None or not own.level(now_s) or (own.has_room(now_s) and self._all.has_room(now_s))

    def count(self, address: str) -> None:
        """Take note of a wrong key."""
        now_s = self._now_s()
        if len(self._wrong) >= _MOST_ADDRESSES:
            self._wrong = {one: bucket for one, bucket in self._wrong.items() if bucket.level(now_s) > 0}
        if len(self._wrong) >= _MOST_ADDRESSES:
            del self._wrong[next(iter(self._wrong))]
        self._wrong.setdefault(address, _Bucket(10, 0.1)).add(now_s)
        self._all.add(now_s)


class _Bucket:
    """Count that sinks as time goes by."""

    def __init__(self, most: int, per_s: float) -> None:
        self._most, self._per_s = most, per_s
        self._level, self._at_s = 0.0, 0.0

    def level(self, now_s: float) -> float:
        return max(0.0, self._level - (now_s - self._at_s) * self._per_s)

    def has_room(self, now_s: float) -> bool:
        return self.level(now_s) < self._most

    def add(self, now_s: float) -> None:
        self._level, self._at_s = self.level(now_s) + 1, now_s


def name_of(agent: str) -> str:
    """Return a short name for a browser by what it calls itself; two of a kind have the same."""
    system = next((name for name in _SYSTEMS if name in agent), "")
    browser = next((name for word, name in _BROWSERS.items() if word in agent), "")
    return ", ".join(filter(None, (system.replace("Macintosh", "Mac"), browser))) or "?"


def page_addresses(chosen: str) -> list[str]:
    """Return the addresses at which phones find the page: the chosen one, or all that this computer has.

    Raises:
        InvalidOption: The chosen one is not this computer's, or it is in no network.
    """
    here = local_addresses()
    if chosen in (*here, "127.0.0.1"):
        return [chosen]
    if chosen:
        raise InvalidOption(
            "This computer's addresses in local networks are {here}, and not {chosen}: name one of them, or none.",
            here=together((*here, "127.0.0.1")),
            chosen=chosen,
        )
    if not here:
        raise InvalidOption("This computer is in no local network: connect it to the network of the phone first.")
    return here


def local_addresses() -> list[str]:
    """Return this computer's addresses in local networks and VPNs; the one of the usual way out is first."""
    usual = ""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way_out:
        way_out.connect(("192.0.2.1", 9))  # nothing is sent: the system only chooses a way
        usual = way_out.getsockname()[0]
    found = {
        one.address
        for addresses in psutil.net_if_addrs().values()
        for one in addresses
        if one.family is socket.AF_INET and is_local(one.address) and not one.address.startswith("127.")
    }
    return sorted(found, key=lambda address: (address != usual, ipaddress.ip_address(address)))


def is_local(address: str) -> bool:
    """Return whether an address is of a local network, a VPN or this computer, and not of the internet."""
    try:
        return not ipaddress.ip_address(address).is_global
    except ValueError:
        return False


def _digest(key: str) -> str:
    return sha256(key.encode("utf-8", "replace")).hexdigest()
