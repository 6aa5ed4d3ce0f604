"""A small package index on 127.0.0.1, the wheels on it, and a stand-in for torch that a test can tell what to do."""

from __future__ import annotations

import hashlib
import io
import random
import sys
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote, unquote

from packaging.utils import canonicalize_name

from tests.support.hub_server import Handler, HubServer

#: The torch that Tenon is said to run on: a version that is nowhere real.
TORCH = "9.8.7"
PYTHON = f"cp{sys.version_info.major}{sys.version_info.minor}"

_TORCH = """
__version__ = "9.8.7+cu130"

class _Gpu:
    is_available = staticmethod(lambda: {available})
    device_count = staticmethod(lambda: 2)
    get_device_name = staticmethod(lambda index: f"Test GPU {{index}}")

class _NoGpu:
    is_available = staticmethod(lambda: False)

class _Ones:
    def __matmul__(self, other):
        return self
    def sum(self):
        return {total}

cuda, xpu = _Gpu, _NoGpu

def ones(*shape, device):
    {ones}
    return _Ones()
"""


def torch_files(
    before: str = "", available: bool = True, total: str = "64 ** 3", ones: str = "pass"
) -> dict[str, bytes]:
    """A package that looks like torch to whoever asks it for a GPU.

    Args:
        before: Python that runs first when it is imported.
        available: True if it sees a GPU.
        total: Sum of a product of ones.
        ones: Python that runs when the GPU is to hold something.
    """
    text = before + _TORCH.format(available=available, total=total, ones=ones)
    # A file that no compression makes small, so that a transfer takes more than a piece.
    library = random.Random(7).randbytes(400_000)
    return {"torch/__init__.py": text.encode(), "torch/lib/libtorch_cuda.so": library}


def make_wheel(
    name: str,
    version: str,
    files: Mapping[str, bytes],
    requires: Sequence[str] = (),
    programs: Sequence[str] = (),
) -> bytes:
    """The bytes of a wheel.

    Args:
        name: Of the package.
        version: Of it.
        files: By their paths in the wheel.
        requires: Lines of Requires-Dist.
        programs: Files that are marked as executable.
    """
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {line}\n" for line in requires)
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in {**files, f"{info}/METADATA": metadata.encode(), f"{info}/RECORD": b""}.items():
            entry = zipfile.ZipInfo(path)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if path in programs else 0o644) << 16
            archive.writestr(entry, text)
    return content.getvalue()


class WheelServer(HubServer):
    """The index.

    Attributes:
        wheels: Its wheels, by file name.
        attributes: More of a file's anchor, such as ``data-yanked=""``.
        unhashed: Files of which it does not say the SHA-256.
    """

    def __init__(self) -> None:
        super().__init__(_IndexHandler)
        self.wheels: dict[str, bytes] = {}
        self.attributes: dict[str, str] = {}
        self.unhashed: set[str] = set()

    @property
    def index(self) -> str:
        return f"{self.address}/whl/cu130"

    def put(
        self,
        name: str,
        version: str,
        files: Mapping[str, bytes] | None = None,
        requires: Sequence[str] = (),
        tag: str = "py3-none-any",
        programs: Sequence[str] = (),
    ) -> str:
        """Add a wheel; its file name."""
        file_name = f"{name.replace('-', '_')}-{version}-{tag}.whl"
        package = {f"{name.replace('-', '_')}/__init__.py": b""} if files is None else files
        self.wheels[file_name] = make_wheel(name, version, package, requires, programs)
        return file_name

    def sha256(self, file_name: str) -> str:
        return hashlib.sha256(self.wheels[file_name]).hexdigest()

    def page(self, project: str) -> bytes | None:
        lines = []
        for file_name in self.wheels:
            if canonicalize_name(file_name.partition("-")[0]) == project:
                hash_ = "" if file_name in self.unhashed else f"#sha256={self.sha256(file_name)}"
                more = self.attributes.get(file_name, "")
                # Files lie elsewhere than pages, and a plus is written as %2B.
                lines.append(f'<a href="/files/{quote(file_name)}{hash_}" {more}>{file_name}</a><br>')
        return f"<!DOCTYPE html><html><body>{''.join(lines)}</body></html>".encode() if lines else None

    def fetched(self) -> list[tuple[str, str | None]]:
        """Files that were asked for from some byte on, each with its Range."""
        return [
            (path.removeprefix("/files/"), range_)
            for method, path, range_ in self.requests
            if method == "GET" and path.startswith("/files/") and (range_ is None or range_.endswith("-"))
        ]


class _IndexHandler(Handler):
    """One connection to the index."""

    @property
    def index(self) -> WheelServer:
        found: WheelServer = self.server.hub  # type: ignore[attr-defined]
        return found

    def do_GET(self) -> None:
        path = unquote(self.path)
        self.hub.requests.append((self.command, path, self.headers.get("Range")))
        with suppress(ConnectionError):
            if path.startswith("/files/"):
                self._file(path.removeprefix("/files/"))
            else:
                self._page(path)

    def _page(self, path: str) -> None:
        folder, _, project = path.rstrip("/").rpartition("/")
        page = self.index.page(project) if folder == "/whl/cu130" else None
        if page is None:
            return self.refuse(404)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)
        return None

    def _file(self, name: str) -> None:
        content = self.index.wheels.get(name)
        if content is None:
            return self.refuse(404)
        end = self.headers.get("Range", "").rpartition("-")[2]
        if not end:
            # Faults are of the transfer, not of the looks into a wheel before it.
            if self.command == "HEAD" or not any(fault(self, name, content) for fault in self.hub.faults):
                self.send_bytes(content)
            return None
        start = self.start_of_range()
        piece = content[start : int(end) + 1]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{end}/{len(content)}")
        self.send_header("Content-Length", str(len(piece)))
        self.end_headers()
        self.wfile.write(piece)
        return None


def put_addon(server: WheelServer, **torch: Any) -> tuple[str, str]:
    """An add-on of two wheels, as an index would have it; the file names of torch and of a library."""
    needs = ["filelock", "nvidia-cublas==1.2.3; python_version >= '3'", "never-there; python_version < '3'"]
    name = server.put("torch", f"{TORCH}+cu130", torch_files(**torch), needs, f"{PYTHON}-none-any")
    library = server.put("nvidia-cublas", "1.2.3", {"nvidia/cublas/lib/libcublas.so.13": b"library" * 3000})
    return name, library
