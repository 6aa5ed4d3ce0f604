"""Tools that need no server: a folder, a page of the web, a search. They run in a process with limits."""

from __future__ import annotations

import codecs
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import psutil

from engine.errors import InvalidOption, TenonError
from engine.files import read_file
from engine.json_text import read_json
from engine.sentences import figure
from engine.tools.servers import Kind, KnownTool

_MOST_ENTRIES, _MOST_FOUND, _MOST_READ = 500, 50, 60_000
_SEARCHED_BYTES, _SEARCH_S = 2 << 20, 15.0
_MOST_PAGE_BYTES, _MOST_REDIRECTS, _PAGE_S = 5 << 20, 5, 20.0
_MOST_RESULTS = 8
#: Addresses of the services that search, as their documentation has them (2026).
_SERVICES = {"brave": "https://api.search.brave.com/res/v1/web/search", "tavily": "https://api.tavily.com/search"}
_KEY_REFUSED = (401, 403, 422)  # 422 is Brave's for a key that it does not know
#: Networks whose addresses stand for others, which may be private ones.
_TRANSLATED = tuple(map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96", "::ffff:0:0:0/96")))


def _tool(name: str, description: str, properties: dict[str, str], required: tuple[str, ...] = ()) -> KnownTool:
    line = {"type": "integer", "minimum": 1}
    described = {
        field: {**(line if field == "first_line" else {"type": "string"}), "description": words}
        for field, words in properties.items()
    }
    schema = {"type": "object", "properties": described, "required": list(required), "additionalProperties": False}
    return KnownTool(name, description, json.dumps(schema))


_FOLDER = "path within the folder; empty for the folder itself"
#: Descriptions for models, in English like those of all tools.
OWN_TOOLS: dict[Kind, tuple[KnownTool, ...]] = {
    "folder": (
        _tool("list_folder", "List the files and folders in the user's folder.", {"path": _FOLDER}),
        _tool(
            "read_file",
            "Read a file in the user's folder as text.",
            {"path": "path of the file within the folder", "first_line": "line to begin with, 1 by default"},
            ("path",),
        ),
        _tool(
            "search_files",
            "Find files in the user's folder whose name or text has some words.",
            {"words": "words to look for, exactly as they stand there", "path": _FOLDER},
            ("words",),
        ),
    ),
    "page": (_tool("fetch_page", "Get the text of a page of the web.", {"address": "its address"}, ("address",)),),
    "search": (_tool("search_web", "Search the web.", {"words": "words to look for"}, ("words",)),),
}


def answer(question: bytes) -> bytes:
    """Carry out a call: JSON with the tool's name and arguments, the place and the key."""
    import jsonschema  # type: ignore[import-untyped]

    asked = json.loads(question)
    schema = next(tool.parameters for tools in OWN_TOOLS.values() for tool in tools if tool.name == asked["name"])
    try:
        jsonschema.validate(asked["arguments"], json.loads(schema))
        said = {"text": _ACTS[asked["name"]](asked), "failed": False}
    except jsonschema.ValidationError as error:
        said = {"text": f"The arguments do not fit the tool's schema: {error.message[:500]}", "failed": True}
    except TenonError as error:
        said = {"text": error.message, "failed": True}
    except OSError as error:
        said = {"text": error.strerror or type(error).__name__, "failed": True}
    return json.dumps(said).encode()


# --- a folder -------------------------------------------------------------------------------------------------


def inside(folder: str, path: str) -> tuple[Path, Path]:
    """Return the folder and what a path in it leads to, both without links.

    Raises:
        InvalidOption: It is not there, or leads out of the folder.
    """
    base = Path(folder).resolve(strict=True)
    try:
        found = (base / path.strip()).resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as error:  # not there, no path at all, or links in a circle
        raise InvalidOption("{path} is not in the folder.", path=path[:200]) from error
    if found != base and base not in found.parents:
        raise InvalidOption("{path} leads out of the folder, which is not allowed.", path=path[:200])
    return base, found


def _list_folder(asked: dict[str, Any]) -> str:
    base, folder = inside(asked["place"], asked["arguments"].get("path", ""))
    entries = sorted(os.scandir(folder), key=lambda one: one.name)
    lines = [_line(base, one) for one in entries[:_MOST_ENTRIES]]
    left = len(entries) - len(lines)
    return "\n".join([*lines, *([f"... and {left} more"] if left else [])]) or "(empty)"


def _line(base: Path, entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return f"{entry.name} (link)"
    if entry.is_dir():
        return f"{entry.name}/"
    return f"{entry.name} ({figure(entry.stat(follow_symlinks=False).st_size, ',')} bytes)"


def _read_file(asked: dict[str, Any]) -> str:
    from engine.documents import read_attachment

    _, path = inside(asked["place"], asked["arguments"]["path"])
    lines = read_attachment(path).text.split("\n")
    first = max(1, int(asked["arguments"].get("first_line", 1)))
    taken, size = list[str](), 0
    for line in lines[first - 1 :]:
        size += len(line) + 1
        if size > _MOST_READ and taken:
            break
        taken.append(line[:_MOST_READ])
    end = first - 1 + len(taken)
    more = f"\n[The file has {len(lines)} lines; line {end + 1} is the next.]" if end < len(lines) else ""
    return "\n".join(taken) + more


def _search_files(asked: dict[str, Any]) -> str:
    base, folder = inside(asked["place"], asked["arguments"].get("path", ""))
    words = asked["arguments"]["words"].strip().casefold()
    if not words:
        raise InvalidOption("There are no words to look for.")
    until, found = time.monotonic() + _SEARCH_S, list[str]()
    for line in _found(base, folder, words):
        if len(found) == _MOST_FOUND or time.monotonic() > until:
            found.append("... and perhaps more")
            break
        found += [line] if line else []
    return "\n".join(found) or "Nothing was found."


def _found(base: Path, folder: Path, words: str) -> Iterator[str]:
    """Yield a line for each place with the words, and an empty one for each file without."""
    for place, folders, names in os.walk(folder):  # follows no links
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            shown = path.relative_to(base).as_posix()
            yield shown if words in name.casefold() else ""
            text = ""
            with suppress(OSError):
                if not path.is_symlink() and path.stat().st_size <= _SEARCHED_BYTES:
                    text = read_file(path).decode("utf-8", "replace")
            if "\0" not in text[:4096] and words in text.casefold():
                for number, line in enumerate(text.splitlines(), 1):
                    if words in line.casefold():
                        yield f"{shown}:{number}: {line.strip()[:200]}"


# --- the web --------------------------------------------------------------------------------------------------


def is_public(address: str) -> bool:
    """Return whether an address is of the public internet, not of this computer's network, and stands for no other."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        inner: IPv4Address | None = ip.ipv4_mapped or ip.sixtofour or (ip.teredo or (None, None))[1]
        if any(ip in network for network in _TRANSLATED):
            inner = IPv4Address(int(ip) & 0xFFFFFFFF)
        if ip.is_site_local or (inner is not None and not is_public(str(inner))):
            return False
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in _own_networks())


def _own_networks() -> Iterator[IPv4Network | IPv6Network]:
    """Yield the networks of this computer's addresses: behind a router each may have a public one by IPv6."""
    for one in chain.from_iterable(psutil.net_if_addrs().values()):
        if one.family in (socket.AF_INET, socket.AF_INET6):
            mask = int(ip_address((one.netmask or "::").partition("%")[0]))
            # Some systems tell no mask, or that of an address alone: a network by IPv6 is a /64.
            bits = min(mask.bit_count() or 64, 64) if one.family == socket.AF_INET6 else mask.bit_count() or 32
            yield ip_network((one.address.partition("%")[0], bits), strict=False)


def _public_address(host: str, port: int) -> str:
    """Return an address of a host, all of which are public: it may have others the next time it is asked for.

    Raises:
        InvalidOption: It has none, or one that is not.
    """
    try:
        found = [str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError) as error:
        raise InvalidOption("{host} is not on the internet, or the network is down.", host=host) from error
    if not found or not all(map(is_public, found)):
        raise InvalidOption("{host} is on a private network, which tools may not reach.", host=host)
    return min(found, key=lambda one: ":" in one)  # IPv6 is not everywhere


def get_public(
    address: str, accept: str = "text/html, text/*;q=0.9", most_bytes: int = _MOST_PAGE_BYTES
) -> tuple[str, Any]:
    """Return where a page was found, and the answer, by connections to the very addresses that were checked.

    Args:
        accept: Media types that are asked for.
        most_bytes: Most bytes of the answer.

    Raises:
        InvalidOption: It is no such address, a redirect leads to one that is none, or no page comes.
    """
    import httpx2

    from engine.bounded_http import Bound, BoundedClient

    place = ""
    with BoundedClient(timeout=_PAGE_S, follow_redirects=False, trust_env=False) as client:
        for _ in range(_MOST_REDIRECTS + 1):
            try:
                address = urljoin(address, place)
                url = httpx2.URL(address)
            except (httpx2.InvalidURL, ValueError):
                url = httpx2.URL()
            host = url.raw_host.decode()
            if url.scheme not in ("http", "https") or not host or url.userinfo:
                raise InvalidOption("{address} is no address of a page.", address=address[:200])
            pinned = url.copy_with(host=_public_address(host, url.port or 0))
            try:
                response = client.get(
                    pinned,
                    headers={"Host": url.netloc.decode(), "Accept": accept},
                    extensions={"sni_hostname": host, "bound": Bound(most_bytes, _PAGE_S)},
                )
            except httpx2.HTTPError as error:
                raise InvalidOption(
                    "{address} does not answer as a page does ({reason}).",
                    address=address[:200],
                    reason=str(error)[:200],
                ) from error
            if response.is_success:
                return address, response
            if not response.is_redirect:
                code = response.status_code
                raise InvalidOption("{address} answers with error {code}.", address=address[:200], code=code)
            place = response.headers.get("location", "")
    raise InvalidOption("{address} leads on and on.", address=address[:200])


def _fetch_page(asked: dict[str, Any]) -> str:
    from engine.documents.html import read_page
    from engine.documents.pages import Unreadable

    wanted = asked["arguments"]["address"].strip()
    address, response = get_public(wanted if "://" in wanted else f"https://{wanted}")
    kind = response.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
    if (kind.startswith("text/") and kind != "text/html") or kind in ("application/json", "application/xml"):
        return f"{address}\n\n{response.text}"
    if kind not in ("text/html", "application/xhtml+xml"):
        raise InvalidOption("{address} is no page, but {kind}.", address=address[:200], kind=kind[:60])
    content = response.content
    if response.charset_encoding:
        content = codecs.BOM_UTF8 + response.text.encode("utf-8", "replace")
    try:
        paragraphs, _ = read_page(content)
    except Unreadable as error:
        raise InvalidOption("{address} is no page that can be read.", address=address[:200]) from error
    return "\n\n".join([address, *(one.text for one in paragraphs)])


def _search_web(asked: dict[str, Any]) -> str:
    import httpx2

    from engine.bounded_http import Bound, BoundedClient

    place, key, words = asked["place"], asked["key"], asked["arguments"]["words"]
    common: dict[str, Any] = {"extensions": {"bound": Bound(_MOST_PAGE_BYTES, _PAGE_S)}}
    try:
        with BoundedClient(timeout=_PAGE_S, follow_redirects=False) as client:
            if place == "brave":
                plain = {"q": words, "count": _MOST_RESULTS, "text_decorations": "false"}  # else with marks of HTML
                token = {"X-Subscription-Token": key, "Accept": "application/json"}
                response = client.get(_SERVICES[place], params=plain, headers=token, **common)
            elif place == "tavily":
                wish = {"query": words, "max_results": _MOST_RESULTS}
                bearer = {"Authorization": f"Bearer {key}"}
                response = client.post(_SERVICES[place], json=wish, headers=bearer, **common)
            else:
                query = {"q": words, "format": "json"}
                response = client.get(f"{place.rstrip('/')}/search", params=query, **common)
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise InvalidOption("The search does not answer ({reason}).", reason=str(error)[:200]) from error
    if place in _SERVICES and response.status_code in _KEY_REFUSED:
        raise InvalidOption(
            "The search refuses the key (error {code}): set it again on the page Tools.", code=response.status_code
        )
    if not response.is_success:
        raise InvalidOption("The search answers with error {code}.", code=response.status_code)
    try:
        found = read_json(response.content)
        listed = (found.get("web") or {"results": ()} if place == "brave" else found)["results"]
        lines = [
            f"{one['title']}\n{one['url']}\n{one.get('description') or one.get('content') or ''}".strip()
            for one in listed[:_MOST_RESULTS]
        ]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidOption("The search answers with something else than results in JSON.") from error
    return "\n\n".join(lines) or "Nothing was found."


_ACTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "list_folder": _list_folder,
    "read_file": _read_file,
    "search_files": _search_files,
    "fetch_page": _fetch_page,
    "search_web": _search_web,
}
