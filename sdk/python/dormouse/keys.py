"""Which calls have an Idempotency-Key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .operations import IDEMPOTENT

_CREATE_TOKEN = "POST /v1/tokens"


def takes_key(call: str, body: Any, given: str | None) -> bool:
    """Reports whether a call has an Idempotency-Key, and so may be sent again.

    To create a token without a hash has none, unless the caller gives one: the node makes the secret
    and does not keep it, so another attempt would make another token.
    """
    if call == _CREATE_TOKEN and not given:
        return isinstance(body, Mapping) and bool(body.get("hash"))
    return call in IDEMPOTENT
