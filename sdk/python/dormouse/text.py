"""Text and JSON as a node takes them."""

from __future__ import annotations

import json
from typing import Any, Literal

from .errors import refusal

#: What happens to half of a surrogate pair in a string, which UTF-8 cannot hold.
LoneSurrogates = Literal["replace", "refuse"]


def well_formed(text: str, policy: LoneSurrogates) -> str:
    """Returns the text with lone surrogates replaced by U+FFFD and pairs joined, or raises a refusal."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError as error:
        if policy == "refuse":
            shown = ascii(text[max(0, error.start - 20) : error.start + 20])
            raise refusal("invalid", f"the string {shown} has a lone surrogate, which UTF-8 cannot hold") from None
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def encode(value: Any, policy: LoneSurrogates) -> bytes:
    """Encodes a body as JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise refusal("invalid", f"the body is no JSON: {error}") from error
    return well_formed(text, policy).encode()
