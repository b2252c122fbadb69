"""A client of Dormouse, a replicated store of AI agents' state."""

from .client import Changed, Client, Value
from .errors import Done, DormouseError, LostError, Refused, RefusedError, Unknown, UnknownError, settle
from .hold import Hold
from .http import Http, HttpxHttp, NotSentError, StandardHttp
from .transport import Answer, CallOptions, Fence, Transport
from .watch import Watch

__all__ = [
    "Answer",
    "CallOptions",
    "Changed",
    "Client",
    "Done",
    "DormouseError",
    "Fence",
    "Hold",
    "Http",
    "HttpxHttp",
    "LostError",
    "NotSentError",
    "Refused",
    "RefusedError",
    "StandardHttp",
    "Transport",
    "Unknown",
    "UnknownError",
    "Value",
    "Watch",
    "settle",
]
