"""The waits between the attempts of a call."""

from __future__ import annotations

import random
import threading
import time

from .errors import RefusedError


def pause(failure: Exception | None, attempt: int, endpoints: int) -> float:
    """Returns the wait in seconds after so many failed attempts: none while there are nodes to try, but at least as long as a refusal says."""
    named = (failure.problem.get("retry_after_ms") or 0) if isinstance(failure, RefusedError) else 0
    return max(float(named) / 1000, 0 if attempt < endpoints else backoff(attempt - 1))


def backoff(attempt: int) -> float:
    """Returns the wait in seconds before an attempt, counted from 0: doubled each time, with jitter."""
    most: float = min(1.0, 0.025 * 2 ** min(attempt, 6))
    return most / 2 + random.random() * most / 2


def sleep(cancelled: threading.Event | None, seconds: float) -> bool:
    """Waits, and reports whether the call was cancelled."""
    if cancelled is not None:
        return cancelled.wait(seconds)
    time.sleep(seconds)
    return False
