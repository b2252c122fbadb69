"""Claims and leases that this process holds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from .errors import DormouseError, LostError, RefusedError
from .problems import final
from .transport import CallOptions, Fence, Transport
from .wait import pause


def limits(ttl_ms: int) -> CallOptions:
    """Returns the limits of a renewal: it begins at a third of the ttl, and a silent node leaves time for others."""
    return {"timeout_ms": ttl_ms, "attempt_ms": ttl_ms // 6}


class Hold:
    """A claim or a lease that this process holds. A thread renews it at a third of its ttl.

    A renewal that fails is tried again at the next node until the ttl ends, unless a node says that
    the claim is not held. `lost` is set once it is lost, or can no longer be known to be held; `reason` then says why. The
    fence protects writes even if this process does not notice that it has lost the claim. As a
    context manager it is released at the end.
    """

    def __init__(
        self,
        transport: Transport,
        fence: Fence,
        ttl_ms: int,
        renew: Callable[[threading.Event], object],
        since: float,
        release: Callable[[], object] | None = None,
    ) -> None:
        self.fence = fence
        self.lost = threading.Event()
        self.reason: LostError | None = None  # set before lost
        self._transport = transport
        self._ttl, self._renew, self._release = ttl_ms / 1000, renew, release
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._until = since + self._ttl  # by time.monotonic; guarded by _lock
        self._ended = False  # whether the cluster has ended the holding; set before lost
        self._renewer = threading.Thread(target=self._run, name=f"dormouse-renew-{fence.claim}", daemon=True)
        self._watchdog = threading.Thread(target=self._expire, name=f"dormouse-expire-{fence.claim}", daemon=True)
        self._renewer.start()
        self._watchdog.start()

    def __enter__(self) -> Hold:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def check(self) -> None:
        """Raises a LostError if the claim is lost."""
        if self.lost.is_set():
            assert self.reason is not None
            raise self.reason

    def stop(self) -> None:
        """Stops renewing. The claim lapses by itself, unless it is released."""
        self._stopped.set()

    def release(self) -> None:
        """Stops renewing, and frees a claim for others. A claim that another has, or whose ttl is over, needs no release."""
        self.stop()
        if self._release is None or self._ended:
            return
        try:
            self._release()
        except RefusedError as refused:
            if refused.code != "fenced" and not self.lost.is_set():  # another holder has it already, or the loss says more
                raise

    def _run(self) -> None:
        failed, wait = 0, self._ttl / 3
        while not self._stopped.wait(wait):
            since = time.monotonic()
            try:
                self._renew(self._stopped)
                with self._lock:
                    self._until = since + self._ttl
                failed, wait = 0, self._ttl / 3
            except DormouseError as error:
                if isinstance(error, RefusedError) and final(error):
                    self._lose(f"{self.fence.claim} is lost: {error}", error.code == "fenced")
                    return
                self._transport.leave(self._transport.endpoint)
                failed += 1
                wait = pause(error, failed, len(self._transport.endpoints))

    def _expire(self) -> None:
        while True:
            with self._lock:
                left = self._until - time.monotonic()
            if left <= 0:
                self._lose(f"{self.fence.claim} could not be renewed in time", True)
            if self._stopped.wait(max(0, left)):
                return

    def _lose(self, detail: str, ended: bool) -> None:
        with self._lock:
            if self._stopped.is_set():
                return
            self.reason, self._ended = LostError(detail), ended
            self._stopped.set()
        self.lost.set()
