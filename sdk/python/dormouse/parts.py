"""What the subjects of a client share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from .transport import CallOptions

if TYPE_CHECKING:
    from .client import Client

#: A JSON object, as the OpenAPI document describes it.
Json = dict[str, Any]


class Part:
    """The calls of one subject."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def _json(self, method: str, path: str, **request: Any) -> Json:
        """Makes a call whose answer is a JSON object."""
        return cast(Json, self._client.call(method, path, **request).body)

    def _delete(self, path: str, params: Mapping[str, str], query: Mapping[str, Any], options: CallOptions) -> None:
        self._client.call("DELETE", path, params=params, query=query, **options)

    def _page(self, path: str, query: dict[str, Any]) -> Json:
        """Returns a page of a list. The query may have options of the call beside its parameters."""
        options = {name: query.pop(name) for name in list(query) if name in CallOptions.__annotations__}
        return cast(Json, self._client.call("GET", path, query=query, **cast(CallOptions, options)).body)
