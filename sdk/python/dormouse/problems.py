"""What the problem of an answer says about the outcome of a call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .errors import RefusedError
from .operations import ON_INSTANCES

# Codes after which another attempt may succeed. The refused attempt was not applied.
TRANSIENT = frozenset({"overloaded", "unavailable", "not_owner"})

# Codes after which a write may have been applied, as after "unknown".
UNDECIDED = frozenset({"internal", "request_expired"})

# Codes of nodes that are about this attempt only: an earlier one may have been applied.
_INCONCLUSIVE = frozenset({"read_only", "unauthenticated", "forbidden", "quota_exceeded", "corrupt"})

# The type of the problem of an answer that is not of a node.
_FOREIGN = "about:blank"


def inconclusive(call: str, refused: RefusedError) -> bool:
    """Reports whether a refusal of a call says nothing of earlier attempts: by the call or its code, or because it is a proxy's or this client's."""
    if refused.code in TRANSIENT:
        return False
    return call in ON_INSTANCES or refused.code in _INCONCLUSIVE or refused.status == 0 or refused.problem.get("type") == _FOREIGN


def final(refused: RefusedError) -> bool:
    """Reports whether a node refused a call by what it calls on: no node would do it. A refusal of a proxy, or for the caller's token, may pass."""
    return 400 <= refused.status < 500 and refused.code not in TRANSIENT | _INCONCLUSIVE and refused.problem.get("type") != _FOREIGN


def problem_of(status: int, body: bytes) -> Mapping[str, Any]:
    """Returns the problem of an answer. An answer of a proxy may have none: with 5xx it does not say whether a node had the call."""
    try:
        problem = json.loads(body)
        if isinstance(problem, dict) and isinstance(problem.get("code"), str):
            return problem
    except ValueError:
        pass  # not JSON
    code = "overloaded" if status == 429 else "unknown" if status >= 500 else "invalid"
    detail = f"the answer has status {status} and no code: it is not of a node"
    return {"type": _FOREIGN, "title": "The answer is not a problem document", "status": status, "detail": detail, "code": code}
