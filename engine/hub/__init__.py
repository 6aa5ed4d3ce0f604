"""Models on this machine, and from the hub."""

import os
from urllib.parse import quote, urlsplit

# The hub's client library parses the address while it is imported, and fails if it cannot. Quoted, the address can
# be parsed, and `Hub` says that it is no address.
try:
    urlsplit(os.environ.get("HF_ENDPOINT", ""))
except ValueError:
    os.environ["HF_ENDPOINT"] = quote(os.environ["HF_ENDPOINT"], safe=":/")


def hub_endpoint() -> str:
    """Return the address of the hub: that of HF_ENDPOINT, else the public one's."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
