"""Refusals: one sentence for the client, in the form that its protocol has for errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.messages import ErrorReport

#: HTTP status of each kind of failure of the engine; the other kinds are the server's own.
_BY_KIND = {
    "EmptyPrompt": 400,
    "InvalidOption": 400,
    "PicturesUnseen": 400,
    "PromptTooLong": 400,
    "RequestTooLarge": 400,
    "UnsupportedModel": 400,
    "OutOfMemory": 503,
    "OutOfDeviceMemory": 503,
    "EngineStopped": 503,
}
_CODES = {"PromptTooLong": "context_length_exceeded", "EngineStopped": "engine_stopped"}
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}
OTHER_TYPE = "api_error"


class Refused(Exception):
    """Error of a request that is not answered."""

    def __init__(
        self, status: int, message: str, field: str = "", code: str = "", retry_after_s: int | None = None
    ) -> None:
        super().__init__(message)
        self.status = status  # status of HTTP
        self.message = message  # one sentence
        self.field = field  # field of the request that it is about; empty for none
        self.code = code  # word for programs; empty if the status says all
        self.retry_after_s = retry_after_s  # time after which to try again; None if that would not help

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the answer."""
        return {} if self.retry_after_s is None else {"Retry-After": str(self.retry_after_s)}


def refusal(error: ErrorReport, places: Mapping[str, str]) -> Refused:
    """Return the refusal that tells of a request's failure in the engine.

    Args:
        places: Field of the request for each part of it that an error may be about.
    """
    status, message, field = _BY_KIND.get(error.kind, 500), error.message, places.get(error.about, "")
    if error.kind == "EmptyPrompt":
        message = f"The field {field} asks for nothing: send a text in it."
    return Refused(status, message, field, _CODES.get(error.kind, ""))


def _with_field(refused: Refused) -> str:
    """Return the message for a protocol whose errors have no place for the field's name."""
    named = not refused.field or refused.field in refused.message
    return refused.message if named else f"In the field {refused.field}: {refused.message}"


def openai_error(refused: Refused) -> dict[str, Any]:
    """Return the body of an error for clients of OpenAI's protocols."""
    return {
        "error": {
            "message": refused.message,
            "type": _TYPES.get(refused.status, OTHER_TYPE),
            "param": refused.field or None,
            "code": refused.code or None,
        }
    }


def anthropic_error(refused: Refused) -> dict[str, Any]:
    """Return the body of an error for clients of Anthropic's protocol."""
    kind = _TYPES.get(refused.status, OTHER_TYPE)
    return {"type": "error", "error": {"type": kind, "message": _with_field(refused)}}


def ollama_error(refused: Refused) -> dict[str, Any]:
    """Return the body of an error for clients of Ollama's protocol."""
    return {"error": _with_field(refused)}


def error_body(path: str, refused: Refused) -> dict[str, Any]:
    """Return the body of an error for a client that asks for this path."""
    if path.startswith("/api/"):
        return ollama_error(refused)
    return (anthropic_error if path.startswith("/v1/messages") else openai_error)(refused)
