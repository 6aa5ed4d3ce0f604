"""Faults that the small hub can be told to have: each answers a request for a file's bytes in its own bad way."""

from __future__ import annotations

from tests.support.hub_server import LARGE_BYTES, Fault, Handler


def large(fault: Fault) -> Fault:
    """The fault, for large files alone."""
    return lambda handler, name, content: len(content) >= LARGE_BYTES and fault(handler, name, content)


def cut(share: float) -> Fault:
    """The connection ends after this share of what is left."""

    def fault(handler: Handler, name: str, content: bytes) -> bool:
        start = handler.start_of_range()
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        handler.send_header("Content-Length", str(len(content) - start))
        handler.end_headers()
        handler.wfile.write(content[start : start + int(share * (len(content) - start))])
        handler.wfile.flush()
        handler.hang_up()
        return True

    return fault


def corrupt(handler: Handler, name: str, content: bytes) -> bool:
    """The right length, and a wrong byte in the middle."""
    middle = len(content) // 2
    handler.send_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    return True


def status(code: int, **headers: str) -> Fault:
    """An answer that is no file."""

    def fault(handler: Handler, name: str, content: bytes) -> bool:
        handler.refuse(code, **headers)
        return True

    return fault


def stall(share: float) -> Fault:
    """This share of the file, and then silence with the connection open."""

    def fault(handler: Handler, name: str, content: bytes) -> bool:
        start = handler.start_of_range()
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        handler.send_header("Content-Length", str(len(content) - start))
        handler.end_headers()
        handler.wfile.write(content[start : start + int(share * (len(content) - start))])
        handler.wfile.flush()
        handler.hub.released.wait()
        handler.hang_up()
        return True

    return fault


def dribble(pieces: int) -> Fault:
    """The whole file, in small pieces that are sent one by one."""

    def fault(handler: Handler, name: str, content: bytes) -> bool:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        step = max(1, len(content) // pieces)
        for start in range(0, len(content), step):
            handler.wfile.write(content[start : start + step])
            handler.wfile.flush()
        return True

    return fault


def wrong_length(handler: Handler, name: str, content: bytes) -> bool:
    """A shorter file than the metadata say, whole in itself."""
    handler.send_bytes(content[: len(content) // 2])
    return True


def no_ranges(handler: Handler, name: str, content: bytes) -> bool:
    """A server, or a proxy between, that knows no ranges."""
    handler.send_bytes(content, ranges=False)
    return True


def redirect_loop(handler: Handler, name: str, content: bytes) -> bool:
    """Sent on to the same address, again and again."""
    handler.refuse(302, Location=handler.path)
    return True


def endless(handler: Handler, name: str, content: bytes) -> bool:
    """More bytes than the file has, without a length."""
    handler.send_response(200)
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.wfile.write(content + content)
    handler.hang_up()
    return True


def other_start(handler: Handler, name: str, content: bytes) -> bool:
    """As many bytes as were asked for, from another place."""
    start = handler.start_of_range()
    if not start:
        return False
    handler.send_response(206)
    handler.send_header("Content-Range", f"bytes 0-{len(content) - start - 1}/{len(content)}")
    handler.send_header("Content-Length", str(len(content) - start))
    handler.end_headers()
    handler.wfile.write(content[: len(content) - start])
    return True
