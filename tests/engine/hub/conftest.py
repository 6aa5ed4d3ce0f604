"""A hub on this machine, the real client library in front of it, and a keyring that forgets."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from ipaddress import ip_address
from pathlib import Path

import huggingface_hub
import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError

from engine.hub.connection import Hub
from engine.hub.transfer import Patience
from tests.support.hub_server import HubServer

#: Attempts follow each other at once.
IMPATIENT = Patience(attempts=3, first_pause_s=0.0, longest_pause_s=5.0)


class MemoryKeyring(KeyringBackend):
    """Keeps passwords as long as a test runs."""

    priority = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError(username)


@pytest.fixture(autouse=True)
def _own_keyring(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A hub; HF_ENDPOINT names it."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with HubServer().running() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.address)
        yield running


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for this machine and its key, in one file."""
    x509 = pytest.importorskip("cryptography.x509", reason="no certificates without it")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    hosts = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    now = datetime.now(timezone.utc)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path_factory.mktemp("certificate") / "server.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return path


@pytest.fixture
def secure_server(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A hub that speaks TLS; HF_ENDPOINT names it."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with HubServer(certificate=certificate).running() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.address)
        yield running


@pytest.fixture
def hub(server: HubServer) -> Iterator[Hub]:
    """The way to `server`."""
    connection = Hub(stall_s=20.0)
    yield connection
    connection.close()


@pytest.fixture
def hurried(server: HubServer) -> Iterator[Hub]:
    """The same, with no patience for silence."""
    connection = Hub(stall_s=0.5)
    yield connection
    connection.close()
