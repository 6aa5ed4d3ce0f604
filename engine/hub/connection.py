"""The hub, by its own client library, with Tenon's time limits and sentences: questions, search, access token.

huggingface_hub's own retries sleep where nobody can cancel them, and its requests have no time limit of their own.
The HTTP client that it is given here has limits, and raises Tenon's errors, which that library does not retry.
httpx2 takes proxies from the environment (or the system's settings) and certificates from the system's own store.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, TypeVar
from urllib.request import getproxies

# Before the library is imported: a windowed program has no standard error for its bars.
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")

import httpx2
from huggingface_hub import HfApi, get_token, hf_hub_url, is_offline_mode, set_client_factory
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

from engine.bounded_http import Bound, BoundedClient
from engine.errors import HubUnreachable, InvalidOption, NotOnHub, TokenNotKept
from engine.families import GGUF, SUPPORTED
from engine.gguf.files import PROJECTOR_KEYS
from engine.hub import hub_endpoint
from engine.hub.file_server import (
    BUSY,
    FileServer,
    access_error,
    busy,
    raise_for_status,
    unreachable,
    usable_scheme,
)
from engine.hub.repository import HubFile, Listing
from engine.json_text import read_json
from engine.kept_secret import NoKeyring, find_secret, forget_secret, keep_secret
from engine.sentences import say

_ACCOUNT = "hugging-face-token"
_LARGEST_FILE = 1 << 50
# Bytes at the beginning of a GGUF file that hold a picture encoder's metadata, and the type that precedes a string.
_HEAD_BYTES = 1 << 16
_STRING = (8).to_bytes(4, "little")

Result = TypeVar("Result")
_bound_of_question: ContextVar[Bound | None] = ContextVar("bound", default=None)
SearchFormat = Literal["any", "gguf", "safetensors"]

# Fields asked for with every result; the hub leaves out fields that it does not know.
_FIELDS: Any = ["downloads", "likes", "gated", "tags", "lastModified", "config", "gguf", "safetensors"]
# The hub tells the architecture of GGUF files as they do.
_GGUF_ARCHITECTURES = {name for key, form in GGUF.items() for name in (key, *form.other_names)}
_QUANTIZED_TAGS = ("exl2", "exl3")


def find_token() -> str | None:
    """Return the token to send: HF_TOKEN, else the keyring's, else the one kept by the hub's own client library."""
    return os.environ.get("HF_TOKEN", "").strip() or find_secret(_ACCOUNT) or get_token()


def keep_token(token: str) -> None:
    """Keep a token in the system's keyring.

    Raises:
        InvalidOption: The text cannot be a token.
        TokenNotKept: There is no keyring.
    """
    token = token.strip()
    if not token or not token.isascii() or any(character.isspace() for character in token):
        raise InvalidOption("This is not an access token: copy it whole from the hub's settings; it starts with hf_.")
    try:
        keep_secret(_ACCOUNT, token)
    except NoKeyring as error:
        raise _no_keyring(error) from error


def forget_token() -> bool:
    """Remove the token from the keyring; return False if there was none.

    Raises:
        TokenNotKept: There is no keyring.
    """
    try:
        return forget_secret(_ACCOUNT)
    except NoKeyring as error:
        raise _no_keyring(error) from error


def _no_keyring(error: NoKeyring) -> TokenNotKept:
    return TokenNotKept(
        "This system has no keyring that Tenon can keep the access token in: set one up, or use models that need none.",
        details=str(error),
    )


class Hub(FileServer):
    """A hub at one address, seen with one access token.

    Args:
        endpoint: Address of the hub; None takes HF_ENDPOINT, else the public hub.
        token: An access token; None looks in HF_TOKEN, the system's keyring and the client library's own file. None is
            sent to an address without TLS.
        connect_s: Limit of making a connection.
        stall_s: Limit of silence.
    """

    def __init__(
        self,
        endpoint: str | None = None,
        token: str | None = None,
        connect_s: float = 10.0,
        stall_s: float = 30.0,
    ) -> None:
        self.endpoint = endpoint.rstrip("/") if endpoint else hub_endpoint()
        scheme = usable_scheme(self.endpoint)
        if not scheme:
            raise InvalidOption(
                "{endpoint} is not the address of a hub: it must look like https://huggingface.co.",
                endpoint=repr(self.endpoint),
            )
        self.stall_s = stall_s
        super().__init__(self.endpoint, connect_s, stall_s, event_hooks={"request": [_stay_offline]})
        _share_metadata_client(self.options, (connect_s, stall_s))
        # On the way to another host, or out of TLS, the HTTP client takes the token away itself.
        self._token = (token or find_token()) if scheme == "https" else None
        if self._token:
            self._headers["Authorization"] = f"Bearer {self._token}"
        # False, and not None: which token is sent is decided here and nowhere else.
        self.api = HfApi(endpoint=self.endpoint, token=self._token or False)

    def listing(self, repo: str, revision: str = "main") -> Listing:
        """Return the files of a repository, with sizes and hashes.

        Raises:
            HubError: The hub does not answer, or refuses; the kind of error says which.
        """

        def read() -> Listing:
            info = self.api.model_info(repo, revision=revision, files_metadata=True, timeout=self.stall_s)
            files = tuple(
                HubFile(
                    sibling.rfilename,
                    _size(sibling.size),
                    None if sibling.lfs is None else sibling.lfs.sha256,
                    sibling.blob_id,
                )
                for sibling in info.siblings or ()
            )
            if not all(isinstance(file.name, str) for file in files):
                raise ValueError("a name that is none")
            tags = tuple(tag for tag in info.tags or () if isinstance(tag, str))
            licence = next((tag.partition(":")[2] for tag in tags if tag.startswith("license:")), None)
            return Listing(repo, revision, str(info.sha), files, bool(info.gated), licence, tags)

        return self.ask(repo, read)

    def read_config(self, repo: str, commit: str, name: str = "config.json") -> dict[str, Any]:
        """Read a small JSON file of a repository.

        Raises:
            HubError: The hub does not answer, or refuses; the kind of error says which.
        """
        try:
            found = read_json(self._read(repo, commit, name))
        except ValueError as error:
            raise NotOnHub("{name} of {repo} is no JSON: choose another model.", name=name, repo=repo) from error
        if not isinstance(found, dict):
            raise NotOnHub("{name} of {repo} is no config: choose another model.", name=name, repo=repo)
        return found

    def read_projector(self, repo: str, commit: str, name: str) -> str:
        """Return the kind of a GGUF file's encoder of pictures, as llama.cpp calls it; empty if the file names none.

        Raises:
            HubError: The hub does not answer, or refuses; the kind of error says which.
        """
        head = self._read(repo, commit, name, _HEAD_BYTES)
        for key in PROJECTOR_KEYS:
            _, _, said = head.partition(key.encode() + _STRING)
            if said:
                return said[8 : 8 + int.from_bytes(said[:8], "little")].decode(errors="replace")
        return ""

    def _read(self, repo: str, commit: str, name: str, most_bytes: int | None = None) -> bytes:
        """Read a file of a repository, or the beginning of it."""
        part = {} if most_bytes is None else {"Range": f"bytes=0-{most_bytes - 1}"}
        content = b""
        try:
            with self.stream(self.file_url(repo, commit, name), 0, None, **part) as response:
                self.judge(response, repo)
                for piece in response.iter_bytes():
                    content += piece
                    if most_bytes is not None and len(content) >= most_bytes:  # the server knows no ranges
                        break
        except httpx2.HTTPError as error:
            raise unreachable(error, self.name) from error
        return content

    def file_url(self, repo: str, commit: str, name: str) -> str:
        """Return the address of a file of one commit."""
        return hf_hub_url(repo, name, revision=commit, endpoint=self.endpoint)

    @contextmanager
    def stream(
        self, url: str, offset: int = 0, bound: Bound | None = None, **headers: str
    ) -> Iterator[httpx2.Response]:
        """Stream a file as every server does; raise HubUnreachable in offline mode."""
        try:
            with super().stream(url, offset, bound, **headers) as response:
                yield response
        except OfflineModeIsEnabled as error:
            raise _offline() from error

    def judge(self, response: httpx2.Response, repo: str) -> None:
        raise_for_status(response, repo, self.has_token)

    @property
    def has_token(self) -> bool:
        """True if requests carry an access token."""
        return bool(self._token)

    def ask(self, repo: str, question: Callable[[], Result]) -> Result:
        """Ask the client library by a call of ``self.api``, and turn its errors into Tenon's about ``repo``.

        All pages of the answer together have one bound, since a page may name the next one without end.
        """
        _bound_of_question.set(Bound())
        try:
            return question()
        except OfflineModeIsEnabled as error:
            raise _offline() from error
        except HFValidationError as error:
            raise InvalidOption(
                "{repo} is no repository of the hub: write it like owner/name.", repo=repr(repo)
            ) from error
        except HfHubHTTPError as error:
            raise access_error(error, repo, self.has_token, self.endpoint) from error
        except httpx2.HTTPError as error:
            raise unreachable(error, self.name) from error
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise HubUnreachable(
                "The server at {endpoint} is not a hub: check the mirror, the proxy, or a sign-in page of the network.",
                endpoint=self.endpoint,
                details=repr(error),
            ) from error


def _size(said: object) -> int:
    """Read a file's size as the hub gives it. Raises ValueError if it is no size."""
    size_bytes = 0 if said is None else said
    if not isinstance(size_bytes, int) or isinstance(size_bytes, bool) or not 0 <= size_bytes < _LARGEST_FILE:
        raise ValueError(f"a size of {said!r}")
    return size_bytes


def _offline() -> HubUnreachable:
    return HubUnreachable(
        "Tenon was started in offline mode, so the hub is not asked: start it without to search and download."
    )


class _Metadata(BoundedClient):
    """A client that raises Tenon's errors for no answer, and for "come back later": nobody retries those unasked."""

    def request(self, method: str, url: httpx2.URL | str, **options: Any) -> httpx2.Response:
        options["extensions"] = {"bound": _bound_of_question.get()}
        try:
            response = super().request(method, url, **options)
        except httpx2.HTTPError as error:
            raise unreachable(error, httpx2.URL(url).host) from error
        if response.status_code in BUSY:
            raise busy(response)
        return response


_shared_lock = Lock()
_shared_for: tuple[Any, ...] | None = None


def _share_metadata_client(options: dict[str, Any], limits: tuple[float, float]) -> None:
    """Set the options of the library's one client if they differ from those that it has.

    The library closes the client that it has, and with it what another thread is asking at the moment: a window
    looks for models while it downloads one.
    """
    global _shared_for
    certificates = (os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    wanted = (limits, certificates, tuple(sorted(getproxies().items())))
    with _shared_lock:
        if wanted != _shared_for:
            set_client_factory(lambda: _Metadata(**options))
            _shared_for = wanted


def _stay_offline(request: httpx2.Request) -> None:
    if is_offline_mode():
        raise OfflineModeIsEnabled(say("Offline mode is on, so {url} is not asked.", url=request.url))


@dataclass(frozen=True)
class FoundModel:
    """A repository that the hub found."""

    repo: str
    format: Literal["gguf", "safetensors", "other"]
    licence: str | None
    gated: bool  # True if terms have to be accepted first
    downloads: int | None  # number of downloads in the last month
    likes: int | None
    parameters: int | None  # number of weights, as far as the hub knows it
    context_length: int | None
    architecture: str | None
    changed: str | None  # the day of its last change, ISO 8601
    problem: str | None  # reason why Tenon cannot run it, or None if nothing speaks against it
    has_template: bool = False  # True if the hub knows of a chat template in its files


def search(
    hub: Hub, text: str, wish: SearchFormat = "any", limit: int = 20, author: str | None = None
) -> tuple[FoundModel, ...]:
    """Ask the hub for repositories whose names hold all words of a text, most downloaded first.

    Raises:
        HubError: The hub cannot be asked.
    """
    filters = ["text-generation", *([] if wish == "any" else [wish])]
    found = hub.ask(
        text,
        lambda: list(
            hub.api.list_models(
                search=text or None,
                author=author,
                filter=filters,
                sort="downloads",
                limit=limit,
                expand=_FIELDS,
            )
        ),
    )
    return tuple(_found(model) for model in found)


def _found(model: Any) -> FoundModel:
    tags = tuple(model.tags or ())
    quantized = model.gguf or {}
    config = model.config or {}
    architecture = quantized.get("architecture") or next(iter(config.get("architectures") or ()), None)
    format_: Literal["gguf", "safetensors", "other"]
    format_ = "gguf" if "gguf" in tags else "safetensors" if "safetensors" in tags else "other"
    parameters = quantized.get("total") or (model.safetensors.total if model.safetensors else None)
    return FoundModel(
        repo=model.id,
        format=format_,
        licence=next((tag.partition(":")[2] for tag in tags if tag.startswith("license:")), None),
        gated=bool(model.gated),
        downloads=model.downloads,
        likes=model.likes,
        parameters=parameters,
        context_length=quantized.get("context_length"),
        architecture=architecture,
        changed=None if model.last_modified is None else model.last_modified.date().isoformat(),
        problem=_problem(format_, architecture, tags),
        has_template=bool(
            quantized.get("chat_template") or (config.get("tokenizer_config") or {}).get("chat_template")
        ),
    )


def _problem(format_: str, architecture: str | None, tags: tuple[str, ...]) -> str | None:
    if format_ == "other":
        return say("It holds neither GGUF nor safetensors files.")
    if format_ == "gguf":
        supported = architecture is None or architecture in _GGUF_ARCHITECTURES
        return None if supported else say("Tenon does not run {architecture}.", architecture=architecture)
    method = next((tag for tag in tags if tag in _QUANTIZED_TAGS), None)
    if method is not None:
        return say("It is quantized with {method}; take the original or a GGUF version.", method=method)
    if architecture is not None and architecture not in SUPPORTED:
        return say("Tenon does not run {architecture}.", architecture=architecture)
    return None
