"""Reading of requests: small bodies at once, others in a process with bounds of time and memory.

JSON of a few megabytes can have millions of values. Making them holds Python's lock for seconds, in which all answers
stand still.
"""

from __future__ import annotations

import asyncio
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import Cancelled, UnsupportedModel
from engine.preparer import Beyond, Preparer
from engine.server.exchange import Exchange, Served
from engine.server.fields import Fields
from engine.server.refusal import Refused

if TYPE_CHECKING:  # the process that reads needs none of it
    from starlette.requests import Request

#: Bytes of a body that is read at once, in 50 ms at most.
SMALL_BYTES = 64 << 10
READER = Preparer("tenon-read-request", 10.0, 1 << 30, 128 << 20, idle_s=60.0, nice=5)
_BEYOND = f"To read this request takes more than {READER.time_s:.0f} s or {READER.memory_bytes >> 20} MiB: send less."
_LEFT = "The request's sender left."

Read = TypeVar("Read")
_threads = ThreadPoolExecutor(1, "tenon-read-request")


async def read_request(request: Request, body: bytes, kind: Callable[[Fields, Served], Read], served: Served) -> Read:
    """Translate a request's body.

    Args:
        request: Request whose sender may leave meanwhile.
        body: Body of the request.
        kind: A function or class of a module that translates its fields.
        served: The model.

    Raises:
        Refused: The body is no request, or takes too much time or memory.
    """
    if len(body) <= SMALL_BYTES:
        return kind(Fields.of_body(body), served)
    question = pickle.dumps((kind, served, body), pickle.HIGHEST_PROTOCOL)
    left = threading.Event()
    reading: asyncio.Future[Any] = asyncio.ensure_future(
        asyncio.get_running_loop().run_in_executor(_threads, READER.ask, f"{__name__}:read", question, left.is_set)
    )
    leaving: asyncio.Future[Any] = asyncio.ensure_future(gone(request.receive))
    try:
        await asyncio.wait((reading, leaving), return_when=asyncio.FIRST_COMPLETED)
        left.set()
        found = _Unpickler(BytesIO(await reading)).load()
    except Beyond as error:
        raise Refused(413, _BEYOND) from error
    except Cancelled as error:
        raise Refused(400, _LEFT) from error  # nobody is there to read it
    except UnsupportedModel as error:  # there is no room for a process
        raise Refused(503, error.message) from error
    finally:
        left.set()
        reading.cancel()
        leaving.cancel()
        del (
            reading,
            leaving,
        )  # their exceptions would keep this frame, and the body, until garbage is collected
    if isinstance(found, tuple):
        raise Refused(*found)
    if isinstance(found, Exchange):
        found.served = served
    return found  # type: ignore[no-any-return]


def read(question: bytes) -> bytes:
    """Translate a request in a preparer's process into what `kind` makes of it, or into a refusal."""
    kind, served, body = pickle.loads(question)
    del question
    found: Any
    try:
        found = kind(Fields.of_body(body), served)
    except Refused as refused:
        found = refused.status, refused.message, refused.field, refused.code, refused.retry_after_s
    if isinstance(found, Exchange):
        del found.served  # which is there already
    return pickle.dumps(found, pickle.HIGHEST_PROTOCOL)


async def gone(receive: Callable[[], Any]) -> None:
    """Wait until the client hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass


class _Unpickler(pickle.Unpickler):
    """Unpickler that makes messages and exchanges alone."""

    def find_class(self, module: str, name: str) -> Any:
        ours = module.startswith(("engine.messages.", "engine.server."))
        found = super().find_class(module, name) if ours else None
        if not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a request")
        return found
